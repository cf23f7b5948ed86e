"""The register of misconceptions: a wrong twin is one small change with a name and a price."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from grader.twins import RIGHT, Parts
from grader.twins.parts import Part

Twin = TypeVar("Twin", bound=type[Part])


@dataclass(frozen=True)
class Misconception:
    """One common mistake.

    Args:
        id: "<module>.<mistake>", with "/<variant>" where one mistake has several forms; its texts are in
            `grader/messages` under the name.
        part: the field of `Parts` that it changes; "" for one that only a property can see.
        twin: the wrong twin: a subclass of the right one that overrides one step. None for one without arrays.
        blames: the check whose points the mistake costs; other checks that it alone breaks are carried forward.
        section: of the lecture, to reread.
        says: what is done instead, in one sentence for staff.
        hides: whether no gradient comes past it, so that a twin with it looks the same over a right module as over one
            that has no gradient itself; what stands above is judged over the reference's module too.
    """

    id: str
    part: str
    twin: type[Part] | None
    blames: str
    section: str
    says: str
    hides: bool = False

    @property
    def name(self) -> str:
        """The id without the variant."""
        return self.id.partition("/")[0]


_KNOWN: dict[str, Misconception] = {}


def misconception(
    identifier: str, part: str, *, blames: str, section: str, hides: bool = False
) -> Callable[[Twin], Twin]:
    """Register a subclass of a right twin as a misconception.

    Raises:
        ValueError: the id is taken.
        TypeError: the class is no subclass of the part's right twin.
    """

    def register(twin: Twin) -> Twin:
        if not issubclass(twin, getattr(RIGHT, part)):
            raise TypeError(f"{identifier}: {twin.__name__} is no subclass of the right twin of {part!r}")
        _add(Misconception(identifier, part, twin, blames, section, (twin.__doc__ or "").strip(), hides))
        return twin

    return register


def seen_by_property(identifier: str, *, blames: str, section: str, says: str) -> None:
    """Register a misconception that shows in a property (a distribution, a factor of dropout)."""
    _add(Misconception(identifier, "", None, blames, section, says))


def known() -> tuple[Misconception, ...]:
    """All misconceptions, in the order in which they are defined."""
    return tuple(_KNOWN.values())


def find(identifier: str) -> Misconception:
    """The misconception of that id."""
    return _KNOWN[identifier]


@functools.cache
def parts_with(*mistakes: Misconception) -> Parts:
    """The twins with these mistakes made; two mistakes in one part are made together."""
    changes: dict[str, list[type[Part]]] = {}
    for mistake in mistakes:
        if mistake.twin is not None:
            changes.setdefault(mistake.part, []).append(mistake.twin)
    twins: dict[str, Any] = {part: _both(tuple(found)) for part, found in changes.items()}
    return replace(RIGHT, **twins)


def _both(twins: tuple[type[Part], ...]) -> type[Part]:
    """One class that makes all these changes; of two of which one extends the other, the further one."""
    furthest = tuple(t for t in twins if not any(t is not other and issubclass(other, t) for other in twins))
    return furthest[0] if len(furthest) == 1 else type("And".join(t.__name__ for t in furthest), furthest, {})


def _add(mistake: Misconception) -> None:
    if mistake.id in _KNOWN:
        raise ValueError(f"misconception {mistake.id!r} is registered twice; ids are unique, rename one")
    _KNOWN[mistake.id] = mistake
