"""Which of a student's files is which of the four: by name, then by almost the name, then by what is defined in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.errors import UngradableError
from grader.intake.tree import shown
from grader.submission import CANONICAL

SIGNATURES: Mapping[str, frozenset[str]] = {
    "nn.py": frozenset({"logsumexp", "softmax_loss"}),
    "modules_basic.py": frozenset({"Linear", "Embedding", "Dropout", "LayerNorm1d"}),
    "transformer.py": frozenset({"MultiHeadAttention", "FeedForward", "TransformerLayer", "DecoderLM"}),
    "translation.py": frozenset({"loss_fn", "generate"}),
}
"""What a student writes in each file; the names are the course's contract."""

_DEFINED = re.compile(rb"^(?:class|def)[ \t]+(\w+)", re.MULTILINE)
_COPY = re.compile(r"^copy of |[ _-]*(\(\d+\)|copy( \d+)?|副本( ?\d+)?)$|-\d+$")
_MISSPELT = {"modules_transfomer": "transformer", "transfomer": "transformer", "module_basic": "modules_basic"}
_EXACT, _CASE, _COPIED, _AKIN, _CONTENT = range(5)


@dataclass(frozen=True)
class Choice:
    """The files of a submission as the package `assignment` will hold them, and what was unusual about them."""

    files: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    used: Mapping[str, str] = field(default_factory=dict)  # canonical name -> the path that it was taken from


def targets_defined(source: bytes) -> dict[str, int]:
    """Give which of the four files the definitions of a source belong to, and how many of them."""
    names = {name.decode() for name in _DEFINED.findall(source)}
    return {target: len(names & wanted) for target, wanted in SIGNATURES.items() if names & wanted}


def target_named(path: str) -> tuple[str, int] | None:
    """Give the one of the four that a path's last part names, and how far the name is from it."""
    name = PurePosixPath(path).name
    if name.lower() in CANONICAL:
        return name.lower(), _EXACT if name in CANONICAL else _CASE
    if not name.lower().endswith(".py"):
        return None
    stem = re.sub(r"[ -]+", "_", _COPY.sub("", name.lower().removesuffix(".py")))
    stem = _MISSPELT.get(stem, stem)
    if f"{stem}.py" in CANONICAL:
        return f"{stem}.py", _COPIED
    for target in CANONICAL:
        wanted = target.removesuffix(".py")
        if not stem.startswith("test_") and (stem.endswith(f"_{wanted}") or stem.startswith(f"{wanted}_")):
            return target, _AKIN
    return None


def is_canonical(path: str) -> bool:
    """Say whether a path's last part is one of the four names, letter case and the mark of a copy aside."""
    named = target_named(path)
    return named is not None and named[1] < _AKIN


def choose(sources: Mapping[str, bytes]) -> Choice:
    """Decide which of the sources of one folder is which of the four files.

    Raises:
        UngradableError: two different files are equally likely, or none is any of the four.
    """
    used: dict[str, str] = {}
    for target in CANONICAL:
        ranked = _ranked(target, sources)
        best = [path for rank, path in ranked if rank == ranked[0][0]]
        if len({sources[path] for path in best}) > 1:
            found = " and ".join(shown(path) for path in best)
            raise UngradableError(f"expected one {target}, found {found}: hand in one of them under the name {target}")
        if best:
            used[target] = best[0]
    # A file with a name of its own stands for one that is missing if it defines what belongs there.
    for target in [target for target in CANONICAL if target not in used]:
        counts = {path: targets_defined(content).get(target, 0) for path, content in sources.items()}
        counts = {path: count for path, count in counts.items() if count and target_named(path) is None}
        best = sorted(path for path, count in counts.items() if count == max(counts.values()))
        if len({sources[path] for path in best}) > 1:
            found = " and ".join(shown(path) for path in best)
            raise UngradableError(
                f"expected one {target}, found its classes in {found}: hand in one of them as {target}"
            )
        if best:
            used[target] = best[0]
    if not used:
        raise UngradableError(f"expected {' or '.join(CANONICAL)}, found {_list(sources)}")
    remarks = [f"{target} was taken from {shown(path)}" for target, path in used.items() if path != target]
    return Choice(dict(_with_helpers(sources, used)), tuple(remarks), used)


def _ranked(target: str, sources: Mapping[str, bytes]) -> list[tuple[int, str]]:
    ranked = []
    for path, content in sources.items():
        named = target_named(path) if "/" not in path else None
        if named is None or named[0] != target:
            continue
        # `nn_helpers.py` is nn.py only if it defines what belongs there.
        if named[1] < _AKIN or target in targets_defined(content):
            ranked.append((named[1], path))
    return sorted(ranked)


def _with_helpers(sources: Mapping[str, bytes], used: Mapping[str, str]) -> Iterable[tuple[str, bytes]]:
    for target, path in used.items():
        yield target, sources[path]
    for path, content in sorted(sources.items()):
        parts = path.removesuffix(".py").split("/")
        if path in used or not path.endswith(".py") or not all(part.isidentifier() for part in parts):
            continue  # a file whose name cannot be imported is nobody's helper
        if path == "__init__.py":
            continue  # the package's own is the grader's
        renamed = path in used.values()
        if not renamed or _imported(parts[-1], (other for name, other in sources.items() if name != path)):
            yield path, content


def _imported(module: str, sources: Iterable[bytes]) -> bool:
    line = re.compile(rb"^[ \t]*(?:from|import)\b.*\b" + re.escape(module.encode()) + rb"\b", re.MULTILINE)
    return any(line.search(source) for source in sources)


def _list(sources: Mapping[str, bytes]) -> str:
    names = sorted(sources)
    return ", ".join(shown(name) for name in names[:5]) + (" and more" if names[5:] else "") if names else "nothing"
