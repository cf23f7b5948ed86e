"""A case, and what came back for it: plain data that passes between the rooms.

A case says what to build and call in a submission, in terms of arrays and names only. The worker interprets it on the
student's code, `grader.twins` on torch, and both answer with arrays of the same names:

    ======================= =========================================================================
    ``param.<name>``        a parameter as the student's module held it when the first call began
    ``<i>.out``             what call ``i`` returned
    ``<i>.grad.<input>``    the gradient of the input of that name after call ``i``'s backward pass
    ``<i>.grad.param.<n>``  the gradient of parameter ``<n>``
    ``<i>.changed.<input>`` an input that call ``i`` wrote into, as it was afterwards; absent for all others
    ``<i>.mask.<path>.<k>`` the factors (0 or 1/(1-p)) of the ``k``-th use of the Dropout at ``<path>``
    ``<i>.state.<name>``    an array of the state that call ``i`` returned, in place of ``<i>.out``
    ======================= =========================================================================
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

PARAMETERS_OWN = None
"""`Case.parameters` when the student's own initial values are to be used and reported."""


GREEDILY = "greedily"
"""`Call.method` of a translation by the worker, with the model and without its `generate`."""


class Mode(enum.Enum):
    """What is called on a module before a call: `module.train()` or `module.eval()`."""

    TRAIN = "train"
    EVAL = "eval"


class Role(enum.Enum):
    """What an input becomes in the worker."""

    VARIABLE = "variable"
    """A framework tensor that requires a gradient."""
    CONSTANT = "constant"
    """A framework tensor without one: token ids, targets, masks (1.0 where true)."""
    PLAIN = "plain"
    """A Python value: `dim`, `None`."""
    TABLE_MODEL = "table_model"
    """A language model given by a table `(V, V)`: logits after token `t` are row `t`; stands for the student's own."""
    BATCH = "batch"
    """`{"input_ids", "labels", "label_token_weights"}` from one array `(3, B, S)`."""
    EXAMPLES = "examples"
    """Sentence pairs, as the Python value; see `grader.worker.vocabulary`."""
    TOKENIZER = "tokenizer"
    """The worker's word tokenizer over the list of words that is the value."""
    BACKEND = "backend"
    """The framework backend of the case; the value is unused."""
    STATE = "state"
    """Arrays by name, such as an earlier call with `Call.state` returned them."""


@dataclass(frozen=True)
class Input:
    """One argument of a call, passed by position in the order of `Call.inputs`."""

    value: Array | Json | Mapping[str, Array]
    role: Role = Role.VARIABLE


@dataclass(frozen=True)
class Call:
    """One call of the case's target.

    Args:
        inputs: name -> argument, in positional order; names are the grader's own.
        mode: train or eval, set before the call (ignored for functions).
        cotangent: dL/d(out), same shape as the output; None: no backward pass.
        method: the method to call; "" calls the object itself; `GREEDILY` is the worker's own.
        keywords: arguments passed by name.
        state: it returns arrays by name, not one tensor.
    """

    inputs: Mapping[str, Input]
    mode: Mode = Mode.EVAL
    cotangent: Array | None = None
    method: str = ""
    keywords: Mapping[str, Json] = field(default_factory=dict)
    state: bool = False


@dataclass(frozen=True)
class Case:
    """One seeded set of inputs for one thing that a student wrote.

    Args:
        target: "<file>.<name>", such as "nn.logsumexp" or "transformer.MultiHeadAttention".
        calls: made one after the other on one object; a call that raises ends only itself.
        arguments: the constructor's keyword arguments, for a class; `backend` is added by the worker.
        parameters: name -> value, loaded before the first call; None: the student's own initial values, reported back.
        seed: public; for `random`, `numpy.random` and the framework's generator in the worker.
        dtype: of the backend, "float64" or "float32".
        masks: record every Dropout's factors in train mode.
        rebind: targets that are bound to the definitions in the module `rebound` before anything is built.
        device: of the backend, "cpu" or "cuda".
    """

    target: str
    calls: tuple[Call, ...] = ()
    arguments: Mapping[str, Json] = field(default_factory=dict)
    parameters: Mapping[str, Array] | None = PARAMETERS_OWN
    seed: int = 0
    dtype: str = "float64"
    masks: bool = False
    rebind: tuple[str, ...] = ()
    device: str = "cpu"


class Status(enum.Enum):
    """How the worker got on with a case or a call."""

    OK = "ok"
    MISSING = "missing"
    """The target, a constructor argument or a parameter does not exist."""
    UNWRITTEN = "unwritten"
    """NotImplementedError: still a stub."""
    RAISED = "raised"
    """Any other exception of the student's code."""
    BAD_VALUE = "bad_value"
    """Something was returned that is not a tensor of numbers, or a gradient is missing."""
    MEMORY = "memory"
    """MemoryError."""


@dataclass(frozen=True)
class Trouble:
    """Why a status is not OK, for staff and (checked, capped) for the student; untrusted text."""

    kind: str = ""
    """The exception's class name."""
    text: str = ""
    file: str = ""
    """The student's own file, "transformer.py", innermost frame; "" when there is none."""
    line: int = 0
    source: str = ""
    """That line of their source."""


@dataclass(frozen=True)
class CallOutcome:
    """One call's status; its arrays are in `Answer.arrays` under `<i>.…`."""

    status: Status
    trouble: Trouble = Trouble()


@dataclass(frozen=True)
class Answer:
    """What the worker says of one case. Arrays are native NumPy, checked and owned by the trusted process.

    Args:
        status: OK when the object was built and loaded; each call has its own status.
        arrays: see the module's table.
        absent: given parameters that the student's module does not have.
        surplus: parameters of the student's module that were not given.
        reshaped: given parameters whose shape in the student's module differs; they keep the student's own value,
            which is then in `arrays` as `param.<name>`.
    """

    status: Status
    calls: tuple[CallOutcome, ...] = ()
    arrays: Mapping[str, Array] = field(default_factory=dict)
    trouble: Trouble = Trouble()
    absent: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    reshaped: tuple[str, ...] = ()


class FaultKind(enum.Enum):
    """Why there is no answer at all to a request: the submission's doing, never the grader's."""

    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    """Printed more than the limit."""
    DIED = "died"
    """Ended without an answer: a signal, or exit()."""
    PROTOCOL = "protocol"
    """Answered with something that is no valid frame."""


@dataclass(frozen=True)
class Fault:
    """A request that failed as a whole. `text` is deterministic and names the limit: "memory limit 1 GiB"."""

    kind: FaultKind
    text: str


MIB_IN_GIB = 1024


@dataclass(frozen=True)
class Limits:
    """What one request may use: seconds on the clock, seconds of processor time, MiB of address space, of reply."""

    wall_s: float = 20.0
    cpu_s: int = 10
    memory_mib: int = 1024
    reply_mib: int = 64

    @property
    def time_text(self) -> str:
        """One text for both clocks: which of them a loop meets first depends on how busy the machine is."""
        return f"time limit {self.cpu_s} s ({self.wall_s:g} s on the clock)"

    @property
    def memory_text(self) -> str:
        """The memory limit in words, in whole units where it has them."""
        whole = self.memory_mib % MIB_IN_GIB == 0
        return f"memory limit {self.memory_mib // MIB_IN_GIB} GiB" if whole else f"memory limit {self.memory_mib} MiB"


@dataclass(frozen=True)
class Budget:
    """What all requests for one submission may take together, but for those that train it on a text."""

    requests: int = 150
    seconds: float = 600.0

    @property
    def requests_text(self) -> str:
        """The number of requests in words."""
        return f"limit of {self.requests} requests for all checks together, met before this one"

    @property
    def seconds_text(self) -> str:
        """The time in words."""
        return f"time limit {self.seconds:g} s for all checks together, met before this one"
