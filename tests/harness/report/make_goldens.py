"""Feedback on typical submissions, as it is committed: `python -m tests.harness.report.make_goldens [--check]`.

With `--grade` the submissions of `EXAMPLES` are first graded anew, in a real sandbox, and their reports written to
`graded/`; without, the feedback is made from those.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from grader import grading, intake
from grader.fingerprint import ROOT
from grader.report.feedback import Detail, Style, feedback, feedback_html
from grader.report.yaml import dump_report, load_report
from grader.stubs import release_stubs
from grader.submission import CANONICAL
from grader.verdict import Environment, Report, SubmissionReport

GOLDENS, GRADED = Path(__file__).with_name("goldens"), Path(__file__).with_name("graded")
SECRET = b"the seed of the examples, 32 bytes"
NOWHERE = Environment(grader="", python="", numpy="", torch="", sandbox="", rubric="", seed="")
"""Stands for what differs from machine to machine and from version to version."""

Change = tuple[str, str, str]
"""File, a text that stands in the solution once, and what stands there instead."""

NN, BASIC, TRANSFORMER, TRANSLATION = CANONICAL
NO_SCALE = (TRANSFORMER, "q @ kT * head_size**-0.5", "q @ kT")
MEMORY = "[0.0] * (10 * 2**30 // 8)"

EXAMPLES: Mapping[str, tuple[str, tuple[Change, ...]]] = {
    "complete": ("zoe", ()),
    "no_scale": ("anna", (NO_SCALE,)),
    "many_mistakes": (
        "ben",
        (
            (NN, "return (input - largest).exp().sum(dim).log() + largest", "return input.exp().sum(dim).log()"),
            (NN, ".view(examples)  # (N, 1) -> (N,)", ".sum() / examples"),
            (BASIC, "keep * (1 / (1 - self.p_dropout))", "keep"),
            (BASIC, "+ self.eps) ** -0.5", ") ** -0.5"),
            NO_SCALE,
            (TRANSFORMER, "(keys > queries) * HIDDEN", "(keys >= queries) * HIDDEN"),
            (TRANSFORMER, "GELU(self.linear_in(x))", "self.linear_in(x).relu()"),
            (TRANSFORMER, "y: Tensor = x + self.ff(self.ln_2(x))", "y: Tensor = self.ff(self.ln_2(x))"),
            (TRANSLATION, "weights.sum()", "rows"),
        ),
    ),
    "three_faults": (
        "cleo",
        (
            (NN, "(logsumexp(logits, dim=1) - chosen)", "(chosen - logsumexp(logits, dim=1))"),
            (BASIC, "(x.var(dim=last) + self.eps) ** -0.5", "x.var(dim=last) ** -0.5"),
            NO_SCALE,
        ),
    ),
    "exception": (
        "chen",
        (
            (
                BASIC,
                "        if not self.training or",
                "        assert x.shape[0] == 1\n        if not self.training or",
            ),
            (TRANSFORMER, "side_by_side.view(batch, seq_len, n_head * head_size)", "side_by_side.view(batch, n_head)"),
            (TRANSFORMER, "linear_out(GELU(self.linear_in(x)))", "linear_out(gelu(self.linear_in(x)))"),
            (TRANSLATION, "    model_max_length: int,\n", "    model_max_length: int,\n    beam: int,\n"),
        ),
    ),
    "blank": ("bo", ()),
    "slow": (
        "dai",
        (
            (NN, "    largest = input", "    while True:\n        pass\n    largest = input"),
            (BASIC, "        y = x @ self.w", f"        cache = {MEMORY}\n        y = x @ self.w"),
            (
                BASIC,
                "        return one_hot(x",
                "        while True:\n            print('x' * 100000)\n        return one_hot(x",
            ),
            (TRANSLATION, "    was_training = m", "    import os\n    os.abort()\n    was_training = m"),
        ),
    ),
    "unnamed": (
        "eve",
        (
            (NN, "return (input - largest).exp().sum(dim).log()", "return (input - largest).exp().mean(dim).log()"),
            (NN, ".view(examples)  # (N, 1) -> (N,)", ""),
            (BASIC, "return one_hot(x, self.num_embeddings) @ self.weights.value", "return None"),
            (BASIC, "self.bias = Parameter(zeros((dim,)", "self.shift = Parameter(zeros((dim,)"),
            (BASIC, "normal * self.weights.value + self.bias.value", "normal * self.weights.value + self.shift.value"),
            (TRANSFORMER, "heads = weights @ v ", "heads = (weights * weights) @ v "),
            (TRANSFORMER, "class FeedForward(Module)", "class Feedforward(Module)"),
            (TRANSLATION, "if token == end:", "if len(ids) > 5:"),
        ),
    ),
    "hidden": (
        "fay",
        (
            (BASIC, "backend=x.backend) > self.p_dropout", "backend=x.backend) < self.p_dropout"),
            (BASIC, "standard_normal((num_embeddings, embedding_dim))", "random((num_embeddings, embedding_dim)) ** 2"),
            (TRANSFORMER, "pad_mask.view(batch, 1, 1, seq_len) * HIDDEN", "pad_mask.view(batch, 1, 1, seq_len)"),
        ),
    ),
    "ungradable": ("gus", ((NN, '"""', '# Zoë\n"""'),)),
}
"""Name of an example -> the student's, and how what they hand in differs from the solution."""


def handed_in(name: str) -> dict[str, bytes]:
    """The files of an example.

    Raises:
        ValueError: a text to replace does not stand in the solution exactly once.
    """
    if name == "blank":
        return dict(release_stubs())
    files = {file: (ROOT / "solution" / file).read_text("utf-8") for file in CANONICAL}
    for file, old, new in EXAMPLES[name][1]:
        if files[file].count(old) != 1 and name != "ungradable":
            raise ValueError(
                f"{name}: expected this once in solution/{file}, found it {files[file].count(old)}x: {old}"
            )
        files[file] = files[file].replace(old, new, 1)
    encoding = "latin-1" if name == "ungradable" else "utf-8"
    return {file: text.encode(encoding, "replace") for file, text in files.items()}


def graded(names: Sequence[str] = tuple(EXAMPLES), only: Sequence[str] = ()) -> dict[str, Report]:
    """The examples' reports, from a real sandbox, without what differs from machine to machine.

    Args:
        names: of the examples.
        only: patterns of the checks; none: all.
    """
    bench = grading.prepare(SECRET, "auto", only)
    reports = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            student = Path(folder) / EXAMPLES[name][0]
            student.mkdir()
            for file, content in handed_in(name).items():
                (student / file).write_bytes(content)
        submissions = {submission.id: submission for submission in intake.collect(Path(folder))}
    for name in names:
        report = bench.grade_one(submissions[EXAMPLES[name][0]]).report
        reports[name] = msgspec.structs.replace(report, environment=NOWHERE, submission=_without_hashes(report))
    return reports


def _without_hashes(report: Report) -> SubmissionReport:
    """What was received, with hashes that do not change with every comment in the solution."""
    files = {name: f"sha256:{hashlib.sha256(name.encode()).hexdigest()}" for name in report.submission.files}
    return msgspec.structs.replace(report.submission, sha256="sha256:", files=files)


def committed() -> dict[str, Report]:
    """The examples' reports as they lie there."""
    return {name: load_report((GRADED / f"{name}.yaml").read_bytes()) for name in EXAMPLES}


def made() -> dict[str, bytes]:
    """File name -> what it must hold."""
    reports = committed()
    files = {f"{name}.en.md": feedback(report, Style()) for name, report in reports.items()}
    files |= {f"{name}.zh.md": feedback(report, Style("zh")) for name, report in reports.items()}
    remarks = ["transformer.py was taken from <b>modules_transfomer.py</b>"]
    review = msgspec.structs.replace(reports["no_scale"], needs_review=True, remarks=remarks)
    return files | {
        "no_scale.hint.en.md": feedback(reports["no_scale"], Style(detail=Detail.HINT)),
        "review.score.en.md": feedback(review, Style(detail=Detail.SCORE)),
        "no_scale.en.html": feedback_html(reports["no_scale"], Style()),
        "many_mistakes.zh.html": feedback_html(reports["many_mistakes"], Style("zh")),
    }


def main(arguments: list[str]) -> int:
    """Writes the files, or with `--check` says which are not as they would be written."""
    if "--grade" in arguments:
        GRADED.mkdir(exist_ok=True)
        for name, report in graded().items():
            (GRADED / f"{name}.yaml").write_bytes(dump_report(report))
    present = {path.name: path.read_bytes() for path in GOLDENS.iterdir()} if GOLDENS.is_dir() else {}
    wanted = made()
    if arguments == ["--check"]:
        odd = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
        if odd:
            sys.stderr.write(f"not as written now: {odd}; run: python -m tests.harness.report.make_goldens\n")
        return int(bool(odd))
    GOLDENS.mkdir(exist_ok=True)
    for name in present.keys() - wanted.keys():
        (GOLDENS / name).unlink()
    for name, content in wanted.items():
        (GOLDENS / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
