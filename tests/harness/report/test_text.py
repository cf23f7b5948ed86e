"""Text of a submission does no harm in YAML, CSV, Markdown or a terminal."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.report.text import cell, clean, code_block, markdown, one_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "�[31mred"),
        ("a\ud800b", "a�b"),
        ("a\u202eb", "a�b"),
        ("a\u200bb\xad\U000e0041", "a�b��"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\tb", "a    b"),
        ("<Tensor object at 0x7f3a2b9c1d30>", "<Tensor object at 0x…>"),
        ("mask 0xff is kept", "mask 0xff is kept"),
        ("张伟 😀", "张伟 😀"),
    ],
)
def test_text_is_cleaned(text, expected):
    assert clean(text) == expected


def test_long_text_is_cut_and_shows_it():
    assert clean("x" * 10_000_000, 10) == "x" * 9 + "…"
    assert clean("x" * 10, 10) == "x" * 10


@given(st.text(alphabet=st.characters()), st.integers(1, 50))
def test_cleaned_text_is_short_printable_and_stays_as_it_is(text, limit):
    once = clean(text, limit)
    assert len(once) <= limit
    assert clean(once, limit) == once
    assert all(character == "\n" or ord(character) >= 32 for character in once)
    once.encode()


def test_one_line_has_no_newline():
    assert one_line(" a\n\n b\t c ") == "a b c"


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", "\uff1d1"])
def test_a_cell_is_no_formula(text):
    assert cell(text).startswith("'")


@given(st.text())
def test_a_cell_survives_a_csv_file_and_is_no_formula(text):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow([cell(text)])
    assert list(csv.reader(io.StringIO(out.getvalue()))) == [[cell(text)]]
    assert not cell(text).startswith(("=", "+", "-", "@"))


def test_markdown_shows_text_literally():
    assert markdown("<b>*x* [a](b) `c` | @team & #1 _d_ e_f \\") == (
        "&lt;b&gt;\\*x\\* \\[a\\](b) \\`c\\` \\| &#64;team &amp; \\#1 \\_d\\_ e_f \\\\"
    )
    assert markdown("- a - b") == "\\- a - b"


@pytest.mark.parametrize("address", ["http://a.example/b", "https://a.example", "www.a.example", "WWW.a.example"])
def test_an_address_is_no_link_in_markdown(address):
    shown = markdown(f"see {address}")
    assert address not in shown
    assert shown.replace("\\", "") == f"see {address}"


def test_a_code_block_has_no_fence_to_close():
    assert code_block("a\n```\n<b>") == "    a\n    ```\n    <b>"
