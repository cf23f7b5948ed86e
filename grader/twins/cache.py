"""Results by the hash of what they were computed from: where a class gets the same case, torch computes it once."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.case import Array

Arrays = dict[str, "Array"]


class Cache:
    """The results used last, up to a number of bytes; any number of threads may ask at once."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._results: OrderedDict[object, Arrays] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: object, compute: Callable[[], Arrays]) -> Arrays:
        """Return the arrays stored under `key`, or compute and store them. They are shared, hence read-only."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return dict(self._results[key])
        # Outside the lock: two threads may compute the same thing, but none waits for another's torch.
        result = compute()
        for array in result.values():
            array.setflags(write=False)
        with self._lock:
            if key not in self._results:
                self._results[key] = result
                self._bytes += size(result)
                while self._bytes > self.max_bytes:
                    _, oldest = self._results.popitem(last=False)
                    self._bytes -= size(oldest)
        return dict(result)


def size(arrays: Arrays) -> int:
    """Count the bytes of these arrays."""
    return sum(array.nbytes for array in arrays.values())


def digest(*values: Any) -> bytes:
    """Hash plain data: dataclasses, mappings, sequences, enums, arrays, text, numbers, None."""
    state = hashlib.sha256()
    for tag, content in flatten(values):
        # With its length before it, no content can be read as the beginning of what follows.
        state.update(f"{tag}:{len(content)}:".encode())
        state.update(content)
    return state.digest()


def flatten(value: Any) -> Iterator[tuple[str, bytes]]:
    """Yield plain data piece by piece, each with what it is.

    Raises:
        TypeError: there is something else in it.
    """
    if isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape}", value.tobytes()
    elif isinstance(value, enum.Enum):
        yield "enum", str(value).encode()
    elif isinstance(value, str | int | float | None):
        yield type(value).__name__, repr(value).encode()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from flatten([getattr(value, item.name) for item in dataclasses.fields(value)])
    elif isinstance(value, Mapping):
        yield from flatten([part for item in value.items() for part in item])
    elif isinstance(value, list | tuple):
        yield f"sequence {len(value)}", b""
        for item in value:
            yield from flatten(item)
    else:
        raise TypeError(f"cannot hash a {type(value).__name__}; expected plain data")
