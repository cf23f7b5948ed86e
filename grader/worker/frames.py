"""The worker's end of the frames: a request in, one reply out.

Both are a 4-byte little-endian length, a JSON header of that length, and the arrays' raw little-endian bytes one after
the other. `grader.protocol` is the trusted end, and describes the headers.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .case import Answer, Argument, Array, Call, Case, Outcome, Trouble
from .troubles import BadValueError

MAX_REPLY_BYTES = 64 * 1024 * 1024
"""Of arrays, unless the ask allows more."""
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|b1")
"""What an array in a reply may be made of."""


@dataclass(frozen=True)
class Request:
    """One request, decoded."""

    nonce: str
    cases: tuple[Case, ...]


def decode_request(frame: bytes) -> Request:
    """Reads a request; it comes from the trusted process, so a malformed one is simply an exception."""
    length = int.from_bytes(frame[:4], "little")
    header = json.loads(frame[4 : 4 + length])
    arrays: list[Array] = []
    offset = 4 + length
    for dtype, shape in header["arrays"]:
        count = math.prod(shape)
        flat = np.frombuffer(frame, dtype=dtype, count=count, offset=offset)
        arrays.append(flat.reshape(shape).astype(np.dtype(dtype).newbyteorder("="), copy=True))  # (*shape)
        offset += flat.nbytes
    return Request(header["nonce"], tuple(_case(entry, arrays) for entry in header["cases"]))


def _case(entry: dict[str, Any], arrays: list[Array]) -> Case:
    parameters = entry["parameters"]
    return Case(
        target=entry["target"],
        calls=tuple(_call(call, arrays) for call in entry["calls"]),
        arguments=entry["arguments"],
        parameters=None if parameters is None else {name: arrays[index] for name, index in parameters.items()},
        seed=entry["seed"],
        dtype=entry["dtype"],
        masks=entry["masks"],
        rebind=tuple(entry["rebind"]),
        device=entry["device"],
    )


def _call(entry: dict[str, Any], arrays: list[Array]) -> Call:
    return Call(
        arguments=tuple(Argument(name, role, _value(value, arrays)) for name, role, value in entry["inputs"]),
        mode=entry["mode"],
        cotangent=None if entry["cotangent"] is None else arrays[entry["cotangent"]],
        method=entry["method"],
        keywords=entry["keywords"],
        state=entry["state"],
    )


def _value(entry: dict[str, Any], arrays: list[Array]) -> Any:
    if "arrays" in entry:
        return {name: arrays[index] for name, index in entry["arrays"].items()}
    return arrays[entry["array"]] if "array" in entry else entry["json"]


def sendable(array: Array) -> Array:
    """The array as a plain, contiguous one of a whitelisted type; raises BadValueError for any other type."""
    plain = np.array(array, order="C", copy=True, subok=False)
    little = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if little.dtype.str not in DTYPES:
        raise BadValueError(f"an array of {plain.dtype}; expected float64 or float32")
    return little


def encode_reply(nonce: str, answers: list[Answer], most: int = MAX_REPLY_BYTES) -> bytes:
    """One frame with every answer. An answer whose arrays would exceed the limit is sent without them, as bad value."""
    words: dict[str, int] = {}
    listed: list[list[Any]] = []
    buffers: list[bytes] = []
    entries = []
    room = most
    for number, answer in enumerate(answers):
        needed = sum(array.nbytes for array in answer.arrays.values())
        if needed > room:
            text = f"returned more than {most // 2**20} MiB of numbers"
            entries.append(_entry(Answer(Outcome("bad_value", Trouble(text=text)))))
            continue
        room -= needed
        entries.append(_entry(answer))
        for name, array in answer.arrays.items():
            call, _, rest = name.partition(".")
            index, word = (int(call), rest) if call.isdigit() else (-1, name)
            place = words.setdefault(word, len(words))
            listed.append([number, index, place, array.dtype.str, list(array.shape)])
            buffers.append(array.tobytes())
    header = json.dumps(
        {"nonce": nonce, "answers": entries, "words": list(words), "arrays": listed}, separators=(",", ":")
    ).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *buffers])


def _entry(answer: Answer) -> dict[str, Any]:
    return {
        **_outcome(answer.outcome),
        "calls": [_outcome(outcome) for outcome in answer.calls],
        "absent": answer.absent,
        "surplus": answer.surplus,
        "reshaped": answer.reshaped,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    entry: dict[str, Any] = {"status": outcome.status}
    given = {name: value for name, value in vars(outcome.trouble).items() if value}
    if given:
        entry["trouble"] = given
    return entry
