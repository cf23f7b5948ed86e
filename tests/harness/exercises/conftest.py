"""Forms filled in rightly, but for what a test changes."""

from collections.abc import Callable

import pytest

from grader.exercises import form
from grader.rubric import load

WANTED = [line.id for line in load().exercise_lines]


@pytest.fixture
def filled() -> Callable[..., bytes]:
    """Makes a right form in which pieces of text are replaced: `filled(("masked: 8128", "masked: 1"))`."""

    def make(*replacements: tuple[str, str]) -> bytes:
        text = form.filled()
        for old, new in replacements:
            assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the form"
            text = text.replace(old, new)
        return text.encode()

    return make
