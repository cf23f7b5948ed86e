"""Whatever student code raises becomes a word and plain text: nothing that it raises escapes."""

import pytest

from grader.worker.troubles import BadValueError, Guard, MissingError


class SilentError(Exception):
    def __str__(self):
        raise SystemExit("this is no message")


class SilentMissingError(SilentError, MissingError):
    pass


class SilentBadValueError(SilentError, BadValueError):
    pass


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "word"),
    [(SilentError(), "raised"), (SilentMissingError(), "missing"), (SilentBadValueError(), "bad_value")],
)
def test_an_exception_that_cannot_be_printed_is_named_all_the_same(error, word):
    _, outcome = Guard("/package").run(raising(error))
    assert outcome.status == word
    assert "__str__ raised" in outcome.trouble.text


def test_code_whose_file_name_misbehaves_is_code_of_nobody():
    class Name(str):
        __slots__ = ()

        def removeprefix(self, *_):
            raise KeyboardInterrupt

    def action():
        raise ValueError("wrong")

    action.__code__ = action.__code__.replace(co_filename=Name("/package/nn.py"))
    _, outcome = Guard("/package").run(action)
    assert (outcome.status, outcome.trouble.text, outcome.trouble.file) == ("raised", "wrong", "")


def test_a_message_does_not_depend_on_where_its_objects_lie():
    texts = [Guard("/package").run(raising(ValueError(str(object())))) for _ in range(2)]
    assert [outcome.trouble.text for _, outcome in texts] == ["<object object at 0x…>"] * 2


@pytest.mark.parametrize("root", ["", "/tmp/hw3-sandbox-1", "/tmp/hw3-sandbox-2"])
def test_a_message_does_not_depend_on_where_the_package_lies(root):
    folder = f"{root}/submission/assignment"
    error = ImportError(f"no x in nn ({folder}/nn.py), no y in numpy ({root}/packages/numpy/__init__.py), see http://z")
    _, outcome = Guard(folder).run(raising(error))
    assert outcome.trouble.text == "no x in nn (nn.py), no y in numpy (/packages/numpy/__init__.py), see http://z"
