"""The public checks with their points, and the table that closes a run of the tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

PROBLEMS = {
    "p1": "Softmax loss",
    "p2": "Basic modules",
    "p3": "Decoder-only Transformer",
    "p4": "Translation",
}


@dataclass(frozen=True)
class Check:
    """Something that earns points: what it is worth, and which function or class it asks for."""

    points: int
    subject: str


CHECKS = {
    "p1.lse.value": Check(4, "logsumexp"),
    "p1.lse.stable": Check(4, "logsumexp"),
    "p1.lse.grad": Check(3, "logsumexp"),
    "p1.loss.value": Check(4, "softmax_loss"),
    "p1.loss.grad": Check(3, "softmax_loss"),
    "p2.linear.forward": Check(3, "Linear"),
    "p2.embedding.forward": Check(2, "Embedding"),
    "p2.dropout.eval": Check(1, "Dropout"),
    "p2.layernorm.forward": Check(4, "LayerNorm1d"),
    "p3.mha.heads": Check(4, "MultiHeadAttention"),
    "p3.mha.scale": Check(3, "MultiHeadAttention"),
    "p3.mha.causal": Check(4, "MultiHeadAttention"),
    "p3.ffn": Check(3, "FeedForward"),
    "p3.layer": Check(4, "TransformerLayer"),
    "p3.lm.forward": Check(5, "DecoderLM"),
    "p3.lm.limit": Check(1, "DecoderLM"),
    "p4.loss": Check(3, "loss_fn"),
    "p4.generate": Check(3, "generate"),
}

WIDTH = 80
NOTE = (
    "A check gives its points when all of its tests here pass. The grade itself comes",
    "from the same checks on secret inputs, and from hidden checks too.",
)


@dataclass
class Scoreboard:
    """What became of the public tests of one run: for each check, how many tests had each outcome.

    An outcome is "passed", "failed", "unwritten" (the code asked for is still a stub) or "waiting" (other code is).
    """

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    stubs: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, check: str, outcome: str, stub: str = "") -> None:
        """Note the outcome of one test, with the stub, or the file that cannot be imported, that it met."""
        self.outcomes.setdefault(check, Counter())[outcome] += 1
        if stub:
            self.stubs.setdefault(outcome, Counter())[stub] += 1

    def lines(self) -> list[str]:
        """Write the table, and below it what cannot be imported or is not written yet."""
        rows = [self._row(f"Problem {key[1:]}: {title}", f"{key}.") for key, title in PROBLEMS.items()]
        rows = [row for row in rows if row]
        head = f"{'':<38}{'tests':>10}{'points':>12}{'waiting':>12}"
        total = [self._row("All", "")] if len(rows) > 1 else []
        kinds = {"failed": "Cannot be imported:", "unwritten": "Not written yet:", "waiting": "Waiting for:"}
        lists = [line for outcome, title in kinds.items() for line in self._stubs(outcome, title)]
        return [head, *rows, *total, "", *NOTE, *lists]

    def markdown(self) -> str:
        """Write the table for the summary of a run on GitHub."""
        rows = [self._counts(f"{key}.") for key in PROBLEMS]
        titles = [f"Problem {key[1:]}: {title}" for key, title in PROBLEMS.items()]
        named = [(title, row) for title, row in zip(titles, rows, strict=True) if row]
        named += [("**All**", total)] if len(named) > 1 and (total := self._counts("")) else []
        lines = ["| | tests | points | waiting |", "| --- | ---: | ---: | ---: |"]
        lines += [f"| {title} | {' | '.join(row)} |" for title, row in named]
        return "\n".join([*lines, "", " ".join(NOTE), ""])

    def _row(self, title: str, prefix: str) -> str:
        counts = self._counts(prefix)
        return f"{title:<38}{counts[0]:>10}{counts[1]:>12}{counts[2]:>12}".rstrip() if counts else ""

    def _counts(self, prefix: str) -> tuple[str, str, str] | None:
        """Count what ran of the checks that begin so: tests passed, points reached, tests that wait."""
        ran = {check: counts for check, counts in self.outcomes.items() if check.startswith(prefix)}
        if not ran:
            return None
        tests = sum((counts for counts in ran.values()), Counter())
        reached = sum(CHECKS[check].points for check, counts in ran.items() if counts["passed"] == counts.total())
        available = sum(CHECKS[check].points for check in ran)
        waiting = str(tests["waiting"] or "")
        return f"{tests['passed']} / {tests.total()}", f"{reached} / {available}", waiting

    def _stubs(self, outcome: str, title: str) -> list[str]:
        counts = sorted(self.stubs.get(outcome, {}).items())
        lines = [f"  {stub:<60}{count:>4} test{'' if count == 1 else 's'}" for stub, count in counts]
        return ["", title, *lines] if lines else []
