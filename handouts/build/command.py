"""Makes the handouts, or says which of them are not what their sources give."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from nbformat import NotebookNode

from grader.atomic import write_together
from grader.manifest import CLOSED_LABS
from grader.submission import CANONICAL

from . import document, homework, page
from .errors import UsageError
from .execution import run_labs
from .notebook import compose, difference, from_bytes, to_bytes
from .source import LANGUAGES, SOURCE_NAME, Lab, read_lab
from .stamp import stamp_in

HOMEWORK = "hw3.ipynb"
DOCUMENTS = {f"hw3.{lang}.pdf": lang for lang in LANGUAGES}


@dataclass(frozen=True)
class Made:
    """A file that a source gives.

    Attributes:
        path: where it stands.
        stale: in what it differs from what its source gives now; "" where it does not.
        make: gives its content now.
        target: what `--only` calls it.
    """

    path: Path
    stale: str
    make: Callable[[], bytes]
    target: str


@dataclass(frozen=True)
class Project:
    """Where things are.

    Attributes:
        root: the project's folder.
    """

    root: Path

    @property
    def handouts(self) -> Path:
        """The folder of the homework's text and of what is made of it."""
        return self.root / "handouts"

    @property
    def built(self) -> Path:
        """The folder of what is made of the labs."""
        return self.handouts / "labs" / "built"

    @property
    def lab_sources(self) -> list[Path]:
        """The labs, in order."""
        return sorted(path for path in (self.handouts / "labs").glob("*.py") if SOURCE_NAME.fullmatch(path.name))

    @property
    def targets(self) -> list[str]:
        """What there is to make."""
        return [*(path.stem for path in self.lab_sources), HOMEWORK, *DOCUMENTS]


def build(root: Path, only: Sequence[str], *, check: bool) -> int:
    """Make or check handouts.

    Args:
        root: the project's folder.
        only: names of targets, or patterns such as "0*"; empty: all.
        check: compare and write nothing.

    Returns:
        The exit status: 0, or 1 when a file is stale.

    Raises:
        BuildError: a source is malformed or a lab does not run; nothing was written.
        UsageError: there is no such target, or a package is missing.
    """
    project = Project(root)
    chosen = choose(project.targets, only)
    labs = [read_lab(path) for path in project.lab_sources if path.stem in chosen]
    made = [*of_labs(project, labs, pixels=not check)]
    if HOMEWORK in chosen:
        made.append(of_homework(project))
    made += [of_document(project, name) for name in DOCUMENTS if name in chosen and has_text(project, name)]
    orphans = [] if only else without_source(project)
    stale = [file for file in made if file.stale]
    if check:
        return report(project, stale, orphans)
    contents = {file.path: file.make() for file in stale}
    for path in contents:
        path.parent.mkdir(exist_ok=True)
    write_together(contents)
    for path in orphans:
        path.unlink()
    for path in sorted([*contents, *orphans]):
        print(f"{'wrote' if path in contents else 'removed'} {path.relative_to(root)}")  # noqa: T201 - what the command says
    print(f"{len(made) - len(stale)} of {len(made)} files were up to date")  # noqa: T201
    return 0


def choose(targets: Sequence[str], only: Sequence[str]) -> set[str]:
    """Choose targets by name or pattern.

    Raises:
        UsageError: a name matches none.
    """
    for pattern in only:
        if not any(fnmatch(target, pattern) for target in targets):
            raise UsageError(f"--only {pattern}: there is no such handout; there are {', '.join(targets)}")
    return {target for target in targets if not only or any(fnmatch(target, pattern) for pattern in only)}


def of_labs(project: Project, labs: Sequence[Lab], *, pixels: bool) -> Iterator[Made]:
    """Run labs; give what each comes to.

    Raises:
        BuildError: some did not come to their end.
    """
    results = run_labs(labs, project.root, jobs=cores())
    for lab, outputs in zip(labs, results, strict=True):
        for lang in LANGUAGES:
            yield from of_lab(project, lab, lang, compose(lab, outputs, lang), pixels=pixels)


def cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def of_lab(project: Project, lab: Lab, lang: str, fresh: NotebookNode, *, pixels: bool) -> Iterator[Made]:
    """Compare a lab that was run with its notebook in one language, and with its page where it has one."""
    path = project.built / f"{lab.name}.{lang}.ipynb"
    there = from_bytes(path.read_bytes()) if path.is_file() else None
    stale = "all of it" if there is None else difference(fresh, there, pixels=pixels)
    yield Made(path, stale, lambda: to_bytes(fresh), lab.name)
    if lab.name in CLOSED_LABS:
        shown = fresh if there is None or stale else there  # what volatile cells show is the same in both
        old = stamped(path.with_suffix(".html"))
        stale = stale or ("its text or outputs" if old != page.stamp(shown, project.root) else "")
        yield Made(path.with_suffix(".html"), stale, lambda: page.page(shown, lang, project.root), lab.name)


def of_homework(project: Project) -> Made:
    """Compare the homework's notebook with the stubs and the text."""
    stubs = {name: (project.root / "assignment" / name).read_text(encoding="utf-8") for name in CANONICAL}
    text = project.handouts / "hw3.en.md"
    content = to_bytes(homework.notebook(stubs, text.read_text(encoding="utf-8") if text.is_file() else ""))
    path = project.handouts / HOMEWORK
    same = path.is_file() and path.read_bytes() == content
    return Made(path, "" if same else "its cells", lambda: content, HOMEWORK)


def of_document(project: Project, name: str) -> Made:
    """Compare a PDF of the homework with its text."""
    path = project.handouts / name
    text = path.with_suffix(".md").read_bytes()
    same = stamped(path) == document.stamp(text, project.root)
    return Made(
        path, "" if same else "its text or layout", lambda: document.pdf(text, DOCUMENTS[name], project.root), name
    )


def has_text(project: Project, name: str) -> bool:
    """Whether there is a text to make a PDF of; says so where there is none."""
    text = (project.handouts / name).with_suffix(".md")
    if not text.is_file():
        sys.stderr.write(f"{text.relative_to(project.root)} is not there, so there is no {name}\n")
    return text.is_file()


def stamped(path: Path) -> str:
    """Read what a file says that it was made of."""
    return stamp_in(path.read_bytes()) if path.is_file() else ""


def without_source(project: Project) -> list[Path]:
    """Find what is left of labs that are no more."""
    names = {path.stem for path in project.lab_sources}
    return sorted(path for path in project.built.glob("*") if path.name.partition(".")[0] not in names)


def report(project: Project, stale: Sequence[Made], orphans: Sequence[Path]) -> int:
    """Say in a line each which files are stale; give the exit status."""
    for file in stale:
        path = file.path.relative_to(project.root)
        sys.stderr.write(f"{path} is stale ({file.stale}); run: python -m handouts.build --only {file.target}\n")
    for path in orphans:
        sys.stderr.write(f"{path.relative_to(project.root)} has no source any more; run: python -m handouts.build\n")
    return 1 if stale or orphans else 0
