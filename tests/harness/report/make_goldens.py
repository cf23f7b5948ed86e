"""Feedback on typical submissions, as it is committed: `python -m tests.harness.report.make_goldens [--check]`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from grader.report.feedback import Detail, Style, feedback, feedback_html
from grader.verdict import (
    SCHEMA,
    CheckReport,
    Diagnosis,
    Environment,
    Mismatch,
    Points,
    ProblemReport,
    Raised,
    Report,
    Status,
    SubmissionReport,
    Verdict,
    Visibility,
)

GOLDENS = Path(__file__).with_name("goldens")
CHECKS = {
    "p1": ("Softmax loss", ("p1.lse.value", "logsumexp over any dimension", 4), ("p1.loss.stable", "Finite", -2)),
    "p2": (
        "Basic modules",
        ("p2.linear.forward", "Linear computes x W + b", 3),
        ("p2.dropout.train", "Dropout zeroes and rescales", -3),
    ),
    "p3": (
        "Decoder-only Transformer",
        ("p3.mha.heads", "Attention splits into heads", 4),
        ("p3.mha.scale", "Attention scores are divided by the square root of the head dimension", 3),
        ("p3.mha.grad", "Gradients of attention", -3),
        ("p3.layer", "The layer is Pre-LN", 4),
    ),
    "p4": ("Translation", ("p4.generate", "Generation is greedy", 3), ("p4.iwslt.run", "IWSLT", 2)),
}
"""Problem -> its title and checks: id, title, points (negative: hidden)."""
OFF = Mismatch(what="0.out", kind="value", max_abs=0.51, max_rel=0.31, at=[0, 1, 0], tolerance=1e-9)
NO_SCALE = Diagnosis(misconception="mha.no_scale", match="exact", hint="for staff")
FILES = {"nn.py": "sha256:1e5", "transformer.py": "sha256:0f"}


def report(identifier: str, **changes: dict[str, object]) -> Report:
    """A report in which every check passed but for these: id with `_` for `.` -> fields of its CheckReport."""
    problems = [_problem(name, changes) for name in CHECKS]
    return Report(
        schema=SCHEMA,
        submission=SubmissionReport(
            id=identifier, members=[identifier], source=f"{identifier}.zip", layout="plain", sha256="sha256:ab",
            files=FILES,
        ),
        status=Status.GRADED,
        score=sum(problem.score for problem in problems),
        max_score=sum(problem.max_score for problem in problems),
        pending=sum(problem.pending for problem in problems),
        problems=problems,
        needs_review=False,
        message="",
        remarks=[],
        environment=Environment(grader="", python="", numpy="", torch="", sandbox="", rubric="", seed=""),
    )  # fmt: skip


def _problem(name: str, changes: dict[str, dict[str, object]]) -> ProblemReport:
    title, *lines = CHECKS[name]
    checks = [_check(*line, dict(changes.get(line[0].replace(".", "_"), {}))) for line in lines]
    return ProblemReport(
        id=name,
        title=title,
        score=sum(check.points.earned + check.points.carried_forward for check in checks),
        max_score=sum(check.points.available for check in checks),
        pending=sum(check.points.available for check in checks if check.verdict is Verdict.PENDING),
        checks=checks,
    )


def _check(identifier: str, title: str, points: int, change: dict[str, object]) -> CheckReport:
    usual = Verdict.PENDING if "iwslt" in identifier else Verdict.PASSED
    verdict, carried = change.pop("verdict", usual), bool(change.get("carried_from"))
    earned = abs(points) if verdict is Verdict.PASSED else 0
    return CheckReport(
        id=identifier,
        title=title,
        visibility=Visibility.PUBLIC if points > 0 else Visibility.HIDDEN,
        verdict=verdict,
        points=Points(earned=earned, available=abs(points), carried_forward=abs(points) if carried else 0),
        **change,
    )


def wrong(**fields: object) -> dict[str, object]:
    """The fields of a check that failed by a value."""
    return {"verdict": Verdict.FAILED, "error": OFF, **fields}


def made() -> dict[str, bytes]:
    """File name -> what it must hold."""
    carried = wrong(diagnosis=NO_SCALE, carried_from=["p3.mha.scale"])
    no_scale = report(
        "anna",
        p3_mha_heads=carried,
        p3_mha_scale=wrong(diagnosis=NO_SCALE),
        p3_mha_grad=carried,
        p3_layer=carried,
    )
    unwritten, skipped = {"verdict": Verdict.ERROR, "unwritten": True}, {"verdict": Verdict.SKIPPED}
    blank = report(
        "bo",
        p1_lse_value=unwritten, p1_loss_stable=skipped, p2_linear_forward=unwritten, p2_dropout_train=unwritten,
        p3_mha_heads=unwritten, p3_mha_scale=skipped, p3_mha_grad=skipped, p3_layer=skipped, p4_generate=unwritten,
    )  # fmt: skip
    text, source = "cannot view <Tensor> | as (2, 3)", "x = x.view(2, 3)"
    raised = Raised(kind="ValueError", text=text, file="transformer.py", line=52, source=source)
    crash = {"verdict": Verdict.ERROR, "raised": raised, "message": "transformer.MultiHeadAttention: ValueError"}
    broken = report("chen", p3_mha_heads=crash, p3_mha_scale=skipped, p3_mha_grad=skipped, p3_layer=crash)
    syntax = Raised(kind="SyntaxError", text="expected ':'", file="nn.py", line=3, source="def f()")
    slow = report(
        "dai",
        p1_lse_value={"verdict": Verdict.TIMEOUT, "message": "time limit 10 s (20 s on the clock)"},
        p2_linear_forward={"verdict": Verdict.MEMORY, "message": "memory limit 1 GiB"},
        p4_generate={"verdict": Verdict.ERROR, "message": "the program was killed by SIGSEGV"},
        p3_layer={"verdict": Verdict.ERROR, "raised": syntax},
    )
    unnamed = report(
        "eve",
        p1_lse_value=wrong(error=Mismatch(what="0.out", kind="shape", got=[3], wanted=[3, 1])),
        p2_linear_forward=wrong(
            error=Mismatch(
                what="0.grad.param.weights", kind="value", max_abs=2.5, max_rel=3.0, at=[0, 0], tolerance=1e-9,
                relation="batch_times",
            ),
        ),
        p3_mha_heads=wrong(error=Mismatch(what="1.out", kind="finite", at=[0, 2])),
        p3_layer=wrong(error=Mismatch(what="param.ln_1.weights", kind="missing"), message="there is no ln_1.weights"),
        p4_generate=wrong(
            error=Mismatch(what="0.out", kind="property", at=[1]), message="translation.generate: it never ends"
        ),
    )  # fmt: skip
    dropout = Diagnosis(misconception="dropout.inverted", match="exact", hint="for staff")
    pair = Diagnosis(misconception="mha.no_scale + mha.mask_missing", match="exact", hint="for staff")
    hidden = report(
        "fay",
        p2_dropout_train=wrong(diagnosis=dropout, message="a share of 0.123 is kept"),
        p3_mha_grad=wrong(message="secret"),
        p3_mha_heads=wrong(diagnosis=pair),
        p3_layer=wrong(diagnosis=pair),
    )
    message = "expected a whole .zip archive, found half of one"
    ungradable = msgspec.structs.replace(report("gus"), status=Status.UNGRADABLE, message=message)
    remarks = ["transformer.py was taken from <b>modules_transfomer.py</b>"]
    review = msgspec.structs.replace(no_scale, needs_review=True, remarks=remarks)
    hint, score = Style(detail=Detail.HINT), Style(detail=Detail.SCORE)
    return {
        "complete.en.md": feedback(report("zoe"), Style()),
        "no_scale.en.md": feedback(no_scale, Style()),
        "no_scale.zh.md": feedback(no_scale, Style("zh")),
        "no_scale.en.html": feedback_html(no_scale, Style()),
        "blank.en.md": feedback(blank, Style()),
        "exception.en.md": feedback(broken, Style()),
        "slow.zh.md": feedback(slow, Style("zh")),
        "unnamed.en.md": feedback(unnamed, Style()),
        "hidden.en.md": feedback(hidden, Style()),
        "hidden.zh.html": feedback_html(hidden, Style("zh")),
        "ungradable.zh.md": feedback(ungradable, Style("zh")),
        "review.score.en.md": feedback(review, score),
        "no_scale.hint.en.md": feedback(no_scale, hint),
    }


def main(arguments: list[str]) -> int:
    """Writes the files, or with `--check` says which are not as they would be written."""
    present = {path.name: path.read_bytes() for path in GOLDENS.iterdir()} if GOLDENS.is_dir() else {}
    if arguments == ["--check"]:
        odd = sorted(name for name in made().keys() | present.keys() if made().get(name) != present.get(name))
        if odd:
            sys.stderr.write(f"not as written now: {odd}; run: python -m tests.harness.report.make_goldens\n")
        return int(bool(odd))
    GOLDENS.mkdir(exist_ok=True)
    for name in present.keys() - made().keys():
        (GOLDENS / name).unlink()
    for name, content in made().items():
        (GOLDENS / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
