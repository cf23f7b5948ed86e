import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import protocol
from grader.worker import frames, text


@given(st.text(st.characters(codec=None)), st.integers(1, 50))
def test_cleaned_text_is_what_the_trusted_end_accepts(raw, limit):
    cleaned = text.clean(raw, limit)
    assert len(cleaned) <= limit
    assert protocol.plain(cleaned) == cleaned
    assert cleaned == text.clean(cleaned, limit)


def test_lines_are_joined_and_control_characters_dropped():
    assert text.clean("a\n\tb\x1b[0m\u202ec\ud800", 20) == "a b[0mc?"


def test_a_string_that_lies_about_itself_is_taken_at_its_bytes():
    class Liar(str):
        __slots__ = ()

        def __getitem__(self, key):
            return "x" * 10**6

        def encode(self, *_):
            return b"lie"

    assert text.clean(Liar("truth"), 10) == "truth"


@pytest.mark.parametrize("width", range(8, 24))
def test_a_message_is_the_same_wherever_its_objects_lie_and_it_is_cut(width):
    one, other = (f"<Tensor at {address}>" for address in ("0x7f3a2b9c1d30", "0x7ffe0123abcd"))
    assert text.message(one, width, {}) == text.message(other, width, {})


def test_a_number_in_a_message_is_no_address():
    assert text.message("mask 0xff, 0x1F", 50, {}) == "mask 0xff, 0x1F"


def test_both_ends_forbid_the_same_characters_and_allow_the_same_types():
    assert text.FORBIDDEN == protocol.FORBIDDEN
    assert set(frames.DTYPES) == set(protocol.DTYPES)
    assert frames.MAX_REPLY_BYTES == protocol.MAX_ARRAY_BYTES
