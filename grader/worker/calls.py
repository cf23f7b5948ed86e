"""One call of a case: its inputs made, the call, the backward pass, and every array that comes of it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from . import dropout
from .case import Answer, Argument, Array, Call, Case, Framework
from .construct import parameters_of
from .frames import sendable
from .greedy import METHOD, Greedy
from .table_model import table_model
from .troubles import BadValueError, MissingError
from .vocabulary import PADDING, WordTokenizer

BATCH = ("input_ids", "labels", "label_token_weights")

Variables = dict[str, Callable[[], Any]]
"""Input name -> how to get its gradient, a tensor or None."""


class Caller:
    """Makes the calls of one case on one object."""

    def __init__(self, case: Case, subject: Any, framework: Framework, backend: Any, answer: Answer) -> None:
        self._case, self._subject, self._framework, self._backend = case, subject, framework, backend
        self._answer = answer

    def make(self, index: int, call: Call) -> None:
        """Makes call `index`; what it gives is put into the answer as it comes, so that a later failure keeps it.

        Raises:
            MissingError: the object has no such method.
            BadValueError: it returned something that is no tensor of numbers.
            BaseException: whatever the student's code raised.
        """
        parameters = parameters_of(self._subject)
        self._prepare(call, parameters)
        variables: Variables = {}
        inputs = [self._input(argument, variables) for argument in call.arguments]
        recording = (
            dropout.recorded(self._subject, index, self._answer) if self._case.masks else contextlib.nullcontext()
        )
        with recording:
            output = self._function(call)(*inputs, **copy.deepcopy(call.keywords))
        self._put_changed(index, call, inputs)
        if any(isinstance(given, WordTokenizer) for given in inputs):
            self._answer.arrays[f"{index}.out"] = _token_ids(output, inputs)
            return
        if call.state:
            self._put_state(index, output)
            return
        self._answer.arrays[f"{index}.out"] = array = self._numbers(output)
        if call.cotangent is None or not self._propagate(output, array, call.cotangent):
            return
        for name, gradient in variables.items():
            self._put_gradient(f"{index}.grad.{name}", gradient())
        for name, parameter in parameters.items():
            self._put_gradient(f"{index}.grad.param.{name}", parameter.value.grad)

    def _prepare(self, call: Call, parameters: dict[str, Any]) -> None:
        """Mode and clean gradients, for what is a module."""
        switch = getattr(self._subject, call.mode, None)
        if parameters or callable(getattr(self._subject, "named_parameters", None)):
            if callable(switch):
                switch()
            for parameter in parameters.values():
                parameter.value.zero_grad_()

    def _function(self, call: Call) -> Callable[..., Any]:
        if call.method == METHOD:
            return Greedy(self._subject, self._framework, self._backend)
        found = getattr(self._subject, call.method, None) if call.method else self._subject
        if not callable(found):
            raise MissingError(f"{self._case.target} has no method {call.method}")
        return cast("Callable[..., Any]", found)

    def _input(self, argument: Argument, variables: Variables) -> Any:
        """The argument as the student's code receives it; what is mutable is its own copy."""
        match argument.role:
            case "backend":
                made: Any = self._backend
            case "tokenizer":
                made = WordTokenizer(cast("list[str]", argument.value))
            case "plain" | "examples" | "state":
                made = copy.deepcopy(argument.value)
            case "constant":
                made = self._tensor(argument.value)
            case "batch":
                made = dict(zip(BATCH, map(self._tensor, cast("Array", argument.value)), strict=True))  # (B, S) each
            case "variable":
                made = self._tensor(argument.value, requires_grad=True)
                variables[argument.name] = lambda: made.grad
            case "table_model":
                table = cast("Array", argument.value)
                drops = self._case.target == "translation.generate"
                made = table_model(table, self._framework, self._backend, drops=drops)
                variables[argument.name] = lambda: made.table.value.grad
            case role:
                raise ValueError(f"unknown role {role}")
        return made

    def _tensor(self, array: Any, *, requires_grad: bool = False) -> Any:
        return self._framework.tensor_from_numpy(array, backend=self._backend, requires_grad=requires_grad)

    def _numbers(self, output: Any) -> Array:
        """The returned tensor, or NumPy array, as an array that can be sent."""
        if isinstance(output, self._framework.Tensor):
            output = output.to_numpy()
        if not isinstance(output, np.ndarray):
            raise BadValueError(f"returned {type(output).__name__}; expected a Tensor")
        return sendable(output)

    def _propagate(self, output: Any, array: Array, cotangent: Array) -> bool:
        """Whether there was a backward pass: the output must have a history.

        Where the output has another shape than it should, the cotangent is repeated or cut to it, as the twins do, so
        that the gradients of a wrong reduction can still be told from others.
        """
        if not isinstance(output, self._framework.Tensor) or not output.requires_grad:
            return False
        output.backward(self._tensor(np.resize(cotangent, array.shape)))  # (*out)
        return True

    def _put_changed(self, index: int, call: Call, inputs: list[Any]) -> None:
        """Inputs that the call wrote into, as they are now."""
        for argument, given in zip(call.arguments, inputs, strict=True):
            if argument.role in {"variable", "constant"}:
                now = self._numbers(given)
                if not np.array_equal(now, cast("Array", argument.value), equal_nan=True):
                    self._answer.arrays[f"{index}.changed.{argument.name}"] = now

    def _put_state(self, index: int, output: Any) -> None:
        """Arrays by name; a name that is none stops at the frame's other end."""
        if type(output) is not dict or not output or not all(type(name) is str for name in output):
            raise BadValueError(f"returned {type(output).__name__}; expected arrays by name")
        for name, array in output.items():
            self._answer.arrays[f"{index}.state.{name}"] = self._numbers(array)

    def _put_gradient(self, name: str, gradient: Any) -> None:
        if gradient is not None:
            self._answer.arrays[name] = self._numbers(gradient)


def _token_ids(sentences: Any, inputs: list[Any]) -> Array:
    """The sentences that `generate` returned as ids, one row each, padded on the right."""
    if not isinstance(sentences, list) or not all(type(sentence) is str for sentence in sentences):
        raise BadValueError(f"returned {type(sentences).__name__}; expected a list of strings")
    tokenizer = next(value for value in inputs if isinstance(value, WordTokenizer))
    rows = [tokenizer.ids(sentence) for sentence in sentences]
    ids = np.full((len(rows), max(map(len, rows), default=0)), PADDING, dtype=np.int64)  # (examples, longest)
    for row, found in zip(ids, rows, strict=True):
        row[: len(found)] = found
    return ids
