"""What is asked of a submission while it trains: some steps, a look at the validation pairs, translations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from grader.case import GREEDILY, Answer, Array, Call, Case, Fault, Input, Json, Limits, Role
from grader.checks.trial import NOTHING, Trial
from grader.errors import GraderError
from grader.exhausted import named
from grader.judge import Finding, unanswered
from grader.student import Student
from grader.unanswered import NO_ANSWER
from grader.verdict import Verdict

from .lesson import TARGET, Lesson
from .state import State, flaw, state_of

NOTHING_MORE = -1
"""Fills the rows of translations; see `grader.worker.vocabulary`."""

Rows: TypeAlias = list[list[int]]
"""Pieces of each sentence, by their ids in the worker."""


class FailedError(GraderError):
    """The submission's training has ended through its own fault."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Asker:
    """Asks one submission.

    Args:
        student: the submission.
        lesson: what is learned.
        limits: of each request.
        device: where the model is, "cpu" or "cuda".
    """

    def __init__(self, student: Student, lesson: Lesson, limits: Limits, device: str) -> None:
        self._student, self._lesson, self._limits, self._device = student, lesson, limits, device

    def learn(
        self, state: State, batches: Sequence[Array], rates: Sequence[float], taken: int
    ) -> tuple[State, list[float]]:
        """Some steps more.

        Args:
            state: before them.
            batches: (3, B, S) each.
            rates: a learning rate for each.
            taken: steps before them.

        Returns:
            The state after them, and their losses.

        Raises:
            FailedError: the submission gave no usable answer.
        """
        resumed = [Call({"state": Input(state.moments, Role.STATE)}, method="go_on")] if state.moments else []
        steps = [
            Call({"batches": Input(batch[None], Role.CONSTANT)}, method="learn", keywords={"lr": rate})  # (1, 3, B, S)
            for batch, rate in zip(batches, rates, strict=True)
        ]
        case = self._case(state, taken, *resumed, *steps, Call({}, method="learned", state=True))
        answer = self._answer(case)
        last = len(case.calls) - 1
        text = flaw(case, answer, last, taken + len(steps))
        if text:
            raise FailedError(Finding(Verdict.FAILED, f"{TARGET}: {text}"))
        return state_of(answer, last), [_loss(answer, len(resumed) + number) for number in range(len(steps))]

    def measure(self, state: State, taken: int) -> tuple[float, Rows]:
        """The mean loss of the validation pairs' targets, and what the model makes of the first of them.

        Raises:
            FailedError: the submission gave no usable answer.
        """
        parts = self._lesson.validation()
        calls = [Call({"batch": Input(batch, Role.CONSTANT)}, method="measure") for batch, _ in parts]
        prompts, _ = self._lesson.material.watched
        answer = self._answer(self._case(state, taken, *calls, self._asked(prompts, GREEDILY)))
        weighed = [_loss(answer, number) * targets for number, (_, targets) in enumerate(parts)]
        return sum(weighed) / sum(targets for _, targets in parts), self._rows(answer, len(parts), len(prompts))

    def translate(self, state: State, taken: int) -> tuple[Rows, Rows]:
        """What the submission's `generate` makes of the test sentences, and what its model does without it.

        Raises:
            FailedError: the submission gave no usable answer.
        """
        prompts = self._lesson.material.prompts
        calls = (self._asked(prompts, method) for method in ("translate", GREEDILY))
        answer = self._answer(self._case(state, taken, *calls))
        return self._rows(answer, 0, len(prompts)), self._rows(answer, 1, len(prompts))

    def _asked(self, prompts: Sequence[Sequence[int]], method: str) -> Call:
        sources, decoys = self._lesson.named(prompts), self._lesson.decoys(len(prompts))
        examples: list[Json] = [{"de": de, "en": en} for de, en in zip(sources, decoys, strict=True)]
        words: list[Json] = [*self._lesson.words]
        inputs = {
            "examples": Input(examples, Role.EXAMPLES),
            "tokenizer": Input(words, Role.TOKENIZER),
            "model_max_length": Input(self._lesson.recipe.model_max_length, Role.PLAIN),
        }
        return Call(inputs, method=method)

    def _case(self, state: State, taken: int, *calls: Call) -> Case:
        return Case(
            TARGET,
            calls,
            self._lesson.arguments,
            state.parameters,
            self._lesson.seed(taken),
            dtype="float32",
            device=self._device,
        )

    def _answer(self, case: Case) -> Answer:
        answers = self._student.run([case], self._limits)
        if isinstance(answers, Fault):
            raise FailedError(Finding(NO_ANSWER[answers.kind], answers.text))
        finding = unanswered(Trial(case, NOTHING), answers[0])
        if finding:
            raise FailedError(named(finding, self._limits))
        return answers[0]

    def _rows(self, answer: Answer, call: int, sentences: int) -> Rows:
        """The sentences of a call, no longer than the model can be; one with a word that is none is empty.

        Raises:
            FailedError: there are more or fewer.
        """
        rows = answer.arrays[f"{call}.out"]
        if rows.ndim != 2 or len(rows) != sentences or rows.dtype.kind != "i":  # noqa: PLR2004  # (sentences, pieces)
            got = len(np.atleast_1d(rows))
            raise FailedError(Finding(Verdict.FAILED, f"{TARGET}: {sentences} sentences went in, {got} came out"))
        longest, known = self._lesson.recipe.model_max_length + 1, len(self._lesson.words)
        found = []
        for row in rows[:, :longest]:
            said = row[row != NOTHING_MORE]
            found.append(said.tolist() if ((said >= 0) & (said < known)).all() else [])
        return found


def _loss(answer: Answer, call: int) -> float:
    """The loss that a call returned.

    Raises:
        FailedError: it is no number.
    """
    loss = answer.arrays[f"{call}.out"]
    if loss.shape != (1,) or loss.dtype.kind != "f" or not np.isfinite(loss).all():
        raise FailedError(Finding(Verdict.FAILED, f"{TARGET}: the loss is no finite number while it trains"))
    return float(loss[0])
