"""Frames, the trusted end: a request made from cases, a reply checked to the last byte.

Both are a 4-byte little-endian length, a JSON header of that length, and the arrays' raw little-endian bytes one after
the other, and nothing behind. What comes back is hostile until `decode_reply` has returned: no pickle, no `.npy`, each
field of a known kind, each size computed here.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from .case import Answer, Array, Call, CallOutcome, Case, Input, Role, Status, Trouble
from .errors import ProtocolError

MAX_HEADER_BYTES = 64 * 1024
MAX_ARRAY_BYTES = 64 * 1024 * 1024
"""Unless a request allows more."""
DTYPES = {name: np.dtype(name) for name in ("<f8", "<f4", "<i8", "<i4", "|b1")}
MAX_DIMS = 16

FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that text from a worker may not hold: control, right-to-left marks, surrogates, line ends."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")

Word = Annotated[str, msgspec.Meta(max_length=240)]
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class _Trouble(msgspec.Struct, forbid_unknown_fields=True):
    """A Trouble on the wire."""

    kind: Annotated[str, msgspec.Meta(max_length=100)] = ""
    text: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    file: Annotated[str, msgspec.Meta(max_length=100)] = ""
    line: Count = 0
    source: Annotated[str, msgspec.Meta(max_length=200)] = ""


class _Outcome(msgspec.Struct, forbid_unknown_fields=True):
    """A call's status."""

    status: Status
    trouble: _Trouble = msgspec.field(default_factory=_Trouble)


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    """One case's status, its calls', and how its parameters fit."""

    status: Status
    calls: list[_Outcome]
    absent: list[Word]
    surplus: list[Word]
    reshaped: list[Word]
    trouble: _Trouble = msgspec.field(default_factory=_Trouble)


class _Entry(msgspec.Struct, forbid_unknown_fields=True, array_like=True):
    """One array: which case's, which call's (-1: none), the place of its name in `words`, its type and shape."""

    case: Count
    call: Annotated[int, msgspec.Meta(ge=-1, lt=2**31)]
    word: Count
    dtype: str
    shape: Annotated[list[Count], msgspec.Meta(max_length=MAX_DIMS)]


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """All that a reply says besides numbers."""

    nonce: str
    answers: list[_Answer]
    words: list[Word]
    arrays: list[_Entry]


def encode_request(cases: Sequence[Case], nonce: str) -> bytes:
    """One frame that asks for the cases.

    Args:
        cases: a check's, all together.
        nonce: fresh and random; the reply must repeat it.
    """
    arrays: list[Array] = []
    entries = [_case(case, arrays) for case in cases]
    listed = [[array.dtype.str, list(array.shape)] for array in arrays]
    header = json.dumps({"nonce": nonce, "cases": entries, "arrays": listed}, allow_nan=False).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *(array.tobytes() for array in arrays)])


def _case(case: Case, arrays: list[Array]) -> dict[str, Any]:
    parameters = case.parameters
    return {
        "target": case.target,
        "calls": [_call(call, arrays) for call in case.calls],
        "arguments": dict(case.arguments),
        "parameters": None if parameters is None else {name: _put(value, arrays) for name, value in parameters.items()},
        "seed": case.seed,
        "dtype": case.dtype,
        "masks": case.masks,
        "rebind": list(case.rebind),
        "device": case.device,
    }


def _call(call: Call, arrays: list[Array]) -> dict[str, Any]:
    return {
        "inputs": [[name, given.role.value, _value(given, arrays)] for name, given in call.inputs.items()],
        "mode": call.mode.value,
        "cotangent": None if call.cotangent is None else _put(call.cotangent, arrays),
        "method": call.method,
        "keywords": dict(call.keywords),
        "state": call.state,
    }


def _value(given: Input, arrays: list[Array]) -> dict[str, Any]:
    value = given.value
    if given.role is Role.STATE and isinstance(value, Mapping):
        return {"arrays": {name: _put(array, arrays) for name, array in value.items()}}
    return {"array": _put(value, arrays)} if isinstance(value, np.ndarray) else {"json": value}


def _put(value: Any, arrays: list[Array]) -> int:
    array = np.array(value, order="C")
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if little.dtype.str not in DTYPES:
        raise TypeError(f"a case holds an array of {array.dtype}; expected one of {', '.join(DTYPES)}")
    arrays.append(little)
    return len(arrays) - 1


def decode_reply(frame: bytes, nonce: str, cases: Sequence[Case], most: int = MAX_ARRAY_BYTES) -> tuple[Answer, ...]:
    """The answers in a frame that came from a worker, one for each case that was asked.

    Args:
        frame: as it came.
        nonce: of the request.
        cases: that were asked.
        most: bytes of all arrays together.

    Raises:
        ProtocolError: the frame is not exactly one valid reply to this very request.
    """
    length = int.from_bytes(frame[:4], "little")
    if len(frame) < 4 or length > min(MAX_HEADER_BYTES, len(frame) - 4):  # noqa: PLR2004 - the width of the length
        raise ProtocolError(
            f"a frame of {len(frame)} bytes with a header of {length}; at most {MAX_HEADER_BYTES} and whole"
        )
    try:
        header = msgspec.json.decode(frame[4 : 4 + length], type=_Header)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ProtocolError(f"the header is not what a worker writes: {plain(str(error))[:200]}") from None
    if header.nonce != nonce:
        raise ProtocolError("the nonce is that of another request")
    if len(header.answers) != len(cases):
        raise ProtocolError(f"{len(header.answers)} answers; expected {len(cases)}")
    arrays = _arrays(header, memoryview(frame)[4 + length :], cases, most)
    return tuple(
        _checked(answer, case, found) for answer, case, found in zip(header.answers, cases, arrays, strict=True)
    )


def _arrays(header: _Header, buffers: memoryview, cases: Sequence[Case], most: int) -> list[dict[str, Array]]:
    """Every case's arrays by name; the buffers must be used up to the last byte."""
    sizes = [_size(entry) for entry in header.arrays]
    if sum(sizes) != len(buffers) or len(buffers) > most:
        raise ProtocolError(f"{len(buffers)} bytes of arrays; the header speaks of {sum(sizes)}, and {most} is most")
    found: list[dict[str, Array]] = [{} for _ in cases]
    offset = 0
    for entry, size in zip(header.arrays, sizes, strict=True):
        if entry.case >= len(cases) or entry.word >= len(header.words):
            raise ProtocolError(f"an array of case {entry.case}, word {entry.word}; there are fewer")
        name = _array_name(entry, header.words[entry.word], cases[entry.case])
        if name in found[entry.case]:
            raise ProtocolError(f"two arrays named {plain(name)}")
        found[entry.case][name] = _array(buffers[offset : offset + size], entry)
        offset += size
    return found


def _size(entry: _Entry) -> int:
    if entry.dtype not in DTYPES:
        raise ProtocolError(f"an array of dtype {plain(entry.dtype)[:20]}; expected one of {', '.join(DTYPES)}")
    if 0 in entry.shape and math.prod(filter(None, entry.shape)) > MAX_ARRAY_BYTES:
        raise ProtocolError(f"an empty array of shape {entry.shape}, which is more than NumPy can count")
    return math.prod(entry.shape) * DTYPES[entry.dtype].itemsize


def _array(data: memoryview, entry: _Entry) -> Array:
    """An owned, native, C-contiguous copy."""
    dtype = DTYPES[entry.dtype]
    if dtype.kind == "b" and np.frombuffer(data, dtype=np.uint8).max(initial=0) > 1:
        raise ProtocolError("a boolean that is neither 0 nor 1")
    flat = np.frombuffer(data, dtype=dtype)
    return flat.reshape(entry.shape).astype(dtype.newbyteorder("="), order="C", copy=True)  # (*shape)


def _array_name(entry: _Entry, word: str, case: Case) -> str:
    """The name in `Answer.arrays`, of the forms in `grader.case` only."""
    if entry.call == -1:
        if word.startswith("param.") and _is_dotted(word.removeprefix("param.")):
            return word
    elif entry.call < len(case.calls):
        kind, _, rest = word.partition(".")
        path, _, count = rest.rpartition(".")
        call = case.calls[entry.call]
        if (
            (word == "out" and not call.state)
            or (kind == "state" and call.state and _is_dotted(rest))
            or (kind == "changed" and rest in call.inputs)
            or (kind == "grad" and (rest in call.inputs or (rest.startswith("param.") and _is_dotted(rest))))
            or (
                kind == "mask" and case.masks and (not path or _is_dotted(path)) and count.isascii() and count.isdigit()
            )
        ):
            return f"{entry.call}.{word}"
    raise ProtocolError(f"an array named {plain(word)[:60]!r} for call {entry.call}; the case has no such thing")


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() or (part.isascii() and part.isdigit()) for part in name.split("."))


def _checked(answer: _Answer, case: Case, arrays: Mapping[str, Array]) -> Answer:
    expected = len(case.calls) if answer.status is Status.OK else 0
    if len(answer.calls) != expected:
        raise ProtocolError(
            f"{len(answer.calls)} calls in an answer of status {answer.status.value}; expected {expected}"
        )
    for number, call in enumerate(answer.calls):
        is_there = any(name.startswith(f"{number}.state.") for name in arrays) or f"{number}.out" in arrays
        if call.status is Status.OK and not is_there:
            raise ProtocolError(f"call {number} is said to have succeeded, and nothing that it returned is there")
    for name in (*answer.absent, *answer.surplus, *answer.reshaped):
        if not _is_dotted(name):
            raise ProtocolError(f"a parameter named {plain(name)[:60]!r}")
    return Answer(
        status=answer.status,
        calls=tuple(CallOutcome(call.status, _trouble(call.trouble)) for call in answer.calls),
        arrays=arrays,
        trouble=_trouble(answer.trouble),
        absent=tuple(answer.absent),
        surplus=tuple(answer.surplus),
        reshaped=tuple(answer.reshaped),
    )


def _trouble(trouble: _Trouble) -> Trouble:
    """Checked text, with memory addresses made equal: a report is the same to the byte the next time."""
    for text in (trouble.kind, trouble.text, trouble.file, trouble.source):
        if plain(text) != text:
            raise ProtocolError("text with control characters, direction marks or surrogates")
    stem = trouble.file.removesuffix(".py")
    if trouble.file and not (stem != trouble.file and all(part.isidentifier() for part in stem.split("/"))):
        raise ProtocolError("a place that is no file of the package")
    if trouble.kind and not trouble.kind.isidentifier():
        raise ProtocolError("an exception whose class has no proper name")
    return Trouble(
        kind=trouble.kind,
        text=_ADDRESS.sub("0x…", trouble.text),
        file=trouble.file,
        line=trouble.line,
        source=trouble.source,
    )


def plain(text: str) -> str:
    """`text` without the characters that no text from a worker may hold."""
    return "".join(character for character in text if unicodedata.category(character) not in FORBIDDEN)
