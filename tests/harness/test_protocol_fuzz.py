"""Ten thousand frames that are nearly right: each is refused, or read as what it says, word for word and byte for byte.

What a frame says is read a second time here, by a reader that shares nothing with `grader.protocol`.
"""

from __future__ import annotations

import json
import random
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
import pytest

from grader.case import Answer, Call, Case, Input, Mode
from grader.errors import ProtocolError
from grader.protocol import DTYPES, decode_reply
from grader.worker import case as mirror
from grader.worker import frames

NONCE = "0123456789abcdef"
FRAMES, ROUNDS = 10_000, 20
X = np.arange(6.0).reshape(2, 3)
CASES = (
    Case(
        "transformer.Block",
        (Call({"x": Input(X), "pad": Input(X)}, Mode.TRAIN, X), Call({"x": Input(X)}), Call({})),
        masks=True,
    ),
    Case("nn.f", (Call({"x": Input(X)}),)),
    Case("nn.g", (Call({}),)),
)
TROUBLE = mirror.Trouble("ValueError", "shapes <object at 0x7f00c0ffee00> differ", "nn.py", 3, "y = x @ x")
ANSWERS = [
    mirror.Answer(
        calls=[mirror.Outcome(), mirror.Outcome("raised", TROUBLE), mirror.Outcome()],
        arrays={
            "0.out": X,
            "0.grad.x": X.astype("f4"),
            "0.grad.param.a.weights": np.array([1, -1]),
            "0.changed.pad": np.array([[7]], dtype="i4"),
            "0.mask.a.dropout.0": np.array([True, False]),
            "0.mask..1": np.array(2.0),
            "2.out": np.zeros((0, 4)),
            "param.a.weights": X.T.copy(),
        },
        absent=["a.bias"],
        surplus=["b"],
        reshaped=["a.weights"],
    ),
    mirror.Answer(calls=[mirror.Outcome()], arrays={"0.out": np.array([0.5]), "0.grad.x": X}),
    mirror.Answer(mirror.Outcome("missing", mirror.Trouble(text="nn.py defines no g"))),
]
GOOD = frames.encode_reply(NONCE, ANSWERS)
HEADER = json.loads(GOOD[4 : 4 + int.from_bytes(GOOD[:4], "little")])
BUFFERS = GOOD[4 + int.from_bytes(GOOD[:4], "little") :]

HUGE = 2**31 - 1
DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, -2, 0.0, 1.0, 2.5, float("nan"), float("inf"), -0.0, 1e300),
    *(HUGE, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**40, "0", "", "ok", "raised", "memory", "passed", "out", "grad.x"),
    *(
        "grad.pad",
        "mask.a.0",
        "mask.a.00",
        "changed.x",
        "param.a",
        "param.",
        "1.out",
        "<f8",
        "<f4",
        "<i8",
        "|b1",
        ">f8",
    ),
    *("|O", "<c16", "V8", "\ud800", "\u202e", "\x00", "\x1b[2J", "nn.py", "../nn.py", "x" * 2000, "é", [], {}, DEEP),
    *([0], [1], [6], [3, 2], [2, 3], [HUGE, HUGE, 0], [HUGE] * 16, [0] + [HUGE] * 15, [2**31, 0], [0] * 17, [-1, -6]),
    *([65536, 65536], [2**16, 2**16, 2**16, 2**16], [True], ["2"], [0, 1, 2, "<f8", [1]], {"status": "ok"}),
)

Mutation = Callable[[random.Random], bytes]


def frame_of(header: Any, buffers: bytes) -> bytes:
    data = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return len(data).to_bytes(4, "little") + data + buffers


def places(value: Any, above: Any = None, key: Any = None) -> list[tuple[Any, Any]]:
    """Every place in a header that holds something: what it is in, and its key or index there."""
    found = [] if above is None else [(above, key)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, inner in items for place in places(inner, value, key)]


def edited(chance: random.Random) -> bytes:
    """A header with a value of another kind, one more, one less, or two in each other's place."""
    header = json.loads(json.dumps(HEADER))
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        above, key = chance.choice(places(header))
        match chance.choice(("other", "other", "other", "gone", "twice", "swapped", "extra")):
            case "other":
                above[key] = chance.choice(VALUES)
            case "gone":
                del above[key]
            case "twice" if isinstance(above, list):
                above.insert(chance.randrange(len(above) + 1), above[key])
            case "swapped":
                place, other = chance.choice(places(header))
                above[key], place[other] = deepcopy(place[other]), deepcopy(above[key])
            case _ if isinstance(above, dict):
                above[chance.choice(("score", "x", "", "status", "trouble", "\ud800"))] = chance.choice(VALUES)
    return frame_of(header, BUFFERS)


def reshaped(chance: random.Random) -> bytes:
    """Arrays of other shapes and types than the worker gave, often with bytes to fit, so that many are right again."""
    header, buffers = json.loads(json.dumps(HEADER)), BUFFERS
    for _ in range(chance.choice((1, 2, 3))):
        entry = chance.choice(header["arrays"])
        match chance.choice(("type", "shape", "shape", "one more", "order", "zero")):
            case "type":
                entry[3] = chance.choice((*DTYPES, ">f8", "<f2", "|u1", "f8", ""))
            case "shape":
                entry[4] = [chance.choice((0, 1, 2, 3, 6, 2**16, HUGE, 2**31)) for _ in range(chance.randrange(18))]
            case "one more":
                entry[4] = [*entry[4], 1]
            case "order":
                entry[4] = entry[4][::-1]
            case "zero":
                entry[4] = [0, *chance.choices((0, 1, 1000, 2**16, HUGE), k=chance.randrange(17))]
    size = sum(size_of(dtype, shape) for *_, dtype, shape in header["arrays"])
    if chance.random() < 0.8 and size < 10**6:
        buffers = bytes(chance.choice((0, 1, 1, 255)) for _ in range(size)) if chance.random() < 0.5 else bytes(size)
    return frame_of(header, buffers)


def size_of(dtype: str, shape: list[int]) -> int:
    return {"<f8": 8, "<i8": 8, "<f4": 4, "<i4": 4, "|b1": 1}.get(dtype, 0) * reduce(mul, shape, 1)


def rewritten(chance: random.Random) -> bytes:
    """The header's text said otherwise: the same in JSON's eyes, something else, or no JSON at all."""
    text = json.dumps(HEADER, separators=(",", ":")).encode()
    for _ in range(chance.choice((1, 1, 2))):
        old = chance.choice(list(REWRITINGS))
        new = chance.choice(REWRITINGS[old])
        spots = [found.start() for found in re.finditer(re.escape(old), text)]
        if spots:
            at = chance.choice(spots)
            text = text[:at] + new + text[at + len(old) :]
    return frame_of(text, BUFFERS)


REWRITINGS: dict[bytes, tuple[bytes, ...]] = {
    b"{": (b'{"nonce":"0",', b'{"status":"ok",', b'{"calls":[],', b'{"":1,', b"[", b"\xef\xbb\xbf{"),
    b"}": (b',"nonce":"0123456789abcdef"}', b',"words":[]}', b',"status":"ok"}', b",}", b"}\n", b"}{}"),
    b"[": (b"[" * 5000, b"[["),
    b",": (b", ", b",,", b"/**/,", b":"),
    b":": (b" :\t",),
    b"0": (b"0.0", b"-0", b"00", b"NaN", b"null"),
    b"1": (b"1e0", b"01", b"9" * 5000, b"-1", b"0x1", b"1_0", b"true", b"10E-1"),
    b"2": (b"2E400", b'"2"', b"2.0", b"Infinity", b"2147483648"),
    b"out": (b"o\\u0075t", b"o\\ud800t", b"OUT", b"\\u0000"),
    b"ok": (b"\\u006fk", b"Ok", b"ok "),
    b"a": (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\0"),
    b"e": (b"\\n", b"\n", b"\xe2\x80\xae", b"\\u200f", b"\xc3\xa9", b"\\"),
}
"""Pieces of the header's text, and what may stand in their place: said otherwise, said twice, wrong, or no JSON."""


def damaged(chance: random.Random) -> bytes:
    """Bits turned, bytes lost, added and moved, anywhere."""
    frame = bytearray(GOOD)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, other = chance.randrange(len(frame) or 1), chance.randrange(len(frame) or 1)
        first, last = min(at, other), max(at, other)
        match chance.choice(("bit", "bit", "byte", "lost", "added", "cut", "moved", "again", "longer")):
            case "bit" if frame:
                frame[at] ^= 1 << chance.randrange(8)
            case "byte" if frame:
                frame[at] = chance.randrange(256)
            case "lost":
                del frame[at : at + chance.choice((1, 1, 8, 100))]
            case "added":
                frame[at:at] = chance.randbytes(chance.choice((1, 1, 8, 100)))
            case "cut":
                del frame[at:]
            case "moved":
                frame = frame[last:] + frame[first:last] + frame[:first]
            case "again":
                frame += frame[first:last]
            case "longer":
                frame[:4] = chance.choice((0, 1, len(frame), len(frame) - 4, 2**16, 2**31, 2**32 - 1)).to_bytes(
                    4, "little"
                )
    return bytes(frame)


MUTATIONS: tuple[Mutation, ...] = (edited, reshaped, rewritten, damaged)


def outcome_of(frame: bytes) -> tuple[Answer, ...] | None:
    try:
        return decode_reply(frame, NONCE, CASES)
    except ProtocolError as error:
        text = str(error)
    assert text.isprintable()
    assert len(text) < 400
    return None


def check_is_what_it_says(answers: tuple[Answer, ...], frame: bytes) -> None:
    """What a second reader finds in the frame. Of a key that stands twice both take the last, as JSON's readers do."""
    length = int.from_bytes(frame[:4], "little")
    header = json.loads(frame[4 : 4 + length].decode("utf-8"), parse_constant=pytest.fail)
    assert (header["nonce"], sorted(header)) == (NONCE, ["answers", "arrays", "nonce", "words"])
    buffers, found = frame[4 + length :], [dict[str, Any]() for _ in CASES]
    for case, call, word, dtype, shape in header["arrays"]:
        assert {type(number) for number in (case, call, word, *shape)} == {int}
        assert min(case, call + 1, word, *shape) >= 0
        name, size = header["words"][word], size_of(dtype, shape)
        name = name if call == -1 else f"{call}.{name}"
        assert ALLOWED[case].fullmatch(name)
        assert name not in found[case]
        found[case][name] = (dtype, shape, buffers[:size])
        buffers = buffers[size:]
    assert buffers == b""
    assert [{name: seen(array) for name, array in answer.arrays.items()} for answer in answers] == found
    # As text, so that 1, 1.0 and true are three different things.
    assert json.dumps([told(answer) for answer in answers]) == json.dumps([filled(a) for a in header["answers"]])


ALLOWED = [
    re.compile(
        r"param(\.\w+)+|[0-2]\.(out|grad\.param(\.\w+)+|mask\.([\w.]*\.)?\d+)|0\.(grad|changed)\.(x|pad)|1\.(grad|changed)\.x"
    ),
    re.compile(r"param(\.\w+)+|0\.(out|grad\.param(\.\w+)+|(grad|changed)\.x)"),
    re.compile(r"param(\.\w+)+|0\.(out|grad\.param(\.\w+)+)"),
]
"""The names that the arrays of each case may have."""


def seen(array: Any) -> tuple[str, list[int], bytes]:
    assert type(array) is np.ndarray
    assert array.flags.owndata
    assert array.flags.c_contiguous
    return array.dtype.str, list(array.shape), array.tobytes()


def told(answer: Answer) -> dict[str, Any]:
    calls = [{"status": call.status.value, "trouble": vars(call.trouble)} for call in answer.calls]
    lists = {"absent": list(answer.absent), "surplus": list(answer.surplus), "reshaped": list(answer.reshaped)}
    return {"status": answer.status.value, "trouble": vars(answer.trouble), "calls": calls, **lists}


def filled(answer: Any) -> dict[str, Any]:
    """An answer as the header has it, in the order of `told`, what it leaves out filled in, and anything else kept."""
    calls = [{"status": call.pop("status"), "trouble": trouble(call), **call} for call in answer["calls"]]
    lists = {name: answer.pop(name) for name in ("absent", "surplus", "reshaped")}
    del answer["calls"]
    return {"status": answer.pop("status"), "trouble": trouble(answer), "calls": calls, **lists, **answer}


def trouble(holder: dict[str, Any]) -> dict[str, Any]:
    given = holder.pop("trouble", {})
    text = re.sub("0x[0-9a-fA-F]{5,}", "0x…", given.pop("text", ""))
    place = {"file": given.pop("file", ""), "line": given.pop("line", 0), "source": given.pop("source", "")}
    return {"kind": given.pop("kind", ""), "text": text, **place, **given}


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_frame_that_is_nearly_right_is_refused_or_read_as_what_it_says(seed):
    chance, outcomes = random.Random(seed), Counter[tuple[str, bool]]()
    for _ in range(FRAMES // ROUNDS // len(MUTATIONS)):
        for mutate in MUTATIONS:
            frame = mutate(chance)
            answers = outcome_of(frame)
            if answers is not None:
                check_is_what_it_says(answers, frame)
            outcomes[mutate.__name__, answers is not None] += 1
    # Each kind of change gives frames of both kinds: else it would show nothing.
    assert len(outcomes) == 2 * len(MUTATIONS), outcomes


def test_no_frame_takes_more_memory_than_a_few_times_its_size():
    chance = random.Random(0)
    many = [mutate(chance) for mutate in MUTATIONS for _ in range(100)]
    tracemalloc.start()
    try:
        for frame in many:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            outcome_of(frame)
            assert tracemalloc.get_traced_memory()[1] - before < 20 * len(frame) + 2**16
    finally:
        tracemalloc.stop()
