"""A mismatch in words: which array, what is wrong with it, and how its numbers are related to the right ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.report.page import Line, Text, sentence
from grader.report.text import one_line
from grader.report.voice import Voice
from grader.verdict import CheckReport, Mismatch

_ARRAY = re.compile(r"\d+\.(?P<kind>out|grad\.param|grad)(?:\.(?P<name>.+))?|(?P<given>param)\.(?P<parameter>.+)")
_BARE = {"value": "error_value_short", "finite": "error_finite_somewhere"}
_WITH_PLACE = {"finite": "error_finite", "property": "error_property_at"}
_ITS_OWN_WORDS = frozenset({"property", "dtype"})
"""Kinds of which the grader's own sentence says more than the kind does."""
WORDS = 300
"""The most characters of one text that came from elsewhere."""


def told(check: CheckReport, error: Mismatch, voice: Voice, *, asks: bool = True) -> Iterator[Text]:
    """The sentences about a public check's mismatch; without numbers where the style has none.

    Args:
        check: it.
        error: its mismatch.
        voice: says them.
        asks: whether a question is to follow where the mistake has no name.
    """
    yield Text(sentence(_kind(check, error, voice)))
    if not voice.full:
        return
    parameter_shape = error.kind == "shape" and error.wanted is None
    if check.message and (error.kind in _ITS_OWN_WORDS or parameter_shape):
        yield Text(voice.line("in_words", text=one_line(voice.told(check.message), WORDS)))
    if check.diagnosis is None and (asks or error.relation):
        yield Text(_question(check, error, voice))


def _question(check: CheckReport, error: Mismatch, voice: Voice) -> Line:
    """What to ask oneself where no mistake has a name: how the numbers are related, else what shows such a mismatch."""
    if error.relation:
        return voice.line(f"relation_{error.relation}", **_factor(error))
    if error.what.startswith("param.") and error.kind in {"missing", "shape"}:
        return voice.line("hint_names", **voice.place(check))
    if error.kind == "missing" and ".grad." not in error.what:
        return voice.line("hint_returned")
    if _counts_texts(check, error, voice):
        return voice.line("ask_texts")
    return voice.line(f"ask_{error.kind}")


def _factor(error: Mismatch) -> dict[str, str]:
    return {} if error.factor is None else {"factor": _short(error.factor)}


def _counts_texts(check: CheckReport, error: Mismatch, voice: Voice) -> bool:
    """Whether a wrong shape is that of texts, as rows of ids: their number, and the length of the longest."""
    guide = voice.guide(check)
    of_texts = guide is not None and guide.where == "translation.generate"
    return of_texts and error.kind == "shape" and error.got is not None and len(error.got) == 2  # noqa: PLR2004


def _kind(check: CheckReport, error: Mismatch, voice: Voice) -> Line:
    if voice.full and error.got and _counts_texts(check, error, voice):
        texts, tokens = error.got
        return voice.line("error_texts", texts=texts, tokens=tokens)
    key, values = (_numbers(error) if voice.full else None) or (_BARE.get(error.kind, f"error_{error.kind}"), {})
    return voice.line(key, what=_what(error.what, voice), **values)


def _numbers(error: Mismatch) -> tuple[str, dict[str, str]] | None:
    """The message that has this mismatch's numbers, and these; None where there are none."""
    at, sizes = {"at": _tuple(error.at)}, {"max_abs": error.max_abs, "max_rel": error.max_rel}
    match error.kind:
        case "value" if None not in sizes.values() and error.tolerance is not None:
            return "error_value", at | {k: _short(v) for k, v in (sizes | {"tolerance": error.tolerance}).items()}
        case "finite" | "property" if error.at:
            return _WITH_PLACE[error.kind], at
        case "shape" if error.got is not None and error.wanted is not None:
            return "error_shape_both", {"got": _tuple(error.got), "wanted": _tuple(error.wanted)}
        case "shape" if error.got is not None:
            return "error_shape_got", {"got": _tuple(error.got)}
    return None


def _tuple(numbers: list[int]) -> str:
    return str(tuple(numbers))


def _short(value: float | None) -> str:
    """Two digits, and an exponent without its leading zero: 0.31, 1e-9."""
    return f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e+")


def _what(array: str, voice: Voice) -> Line:
    """The name of an array of `grader.case` in words: `0.grad.param.weights` is a gradient of a parameter."""
    match = _ARRAY.fullmatch(array)
    if match is None:
        return voice.line("what_other", name=one_line(array, 80))
    if match["given"]:
        return voice.line("what_param", name=one_line(match["parameter"], 80))
    if match["kind"] == "out":
        return voice.line("what_out")
    key = "what_grad_param" if match["kind"] == "grad.param" else "what_grad_input"
    return voice.line(key, name=one_line(match["name"] or "", 80))
