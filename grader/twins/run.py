"""A case computed by the twins: the arrays that a right submission returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from grader.case import Case, Mode, Role
from grader.errors import UsageError

from .cache import Cache, digest
from .learning import Learner, SentenceClassifier, Translator
from .loading import copy_from, effective_parameters
from .masks import MaskBook, hand_out
from .parts import Part, Parts, RefusalError
from .right import RIGHT
from .translation import TableModel, WordTokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from grader.case import Answer, Array, Call, Input

MASK = ".mask."
CACHE = Cache(max_bytes=64 * 2**20)

TARGETS = {
    "nn.logsumexp": "logsumexp",
    "nn.softmax_loss": "softmax_loss",
    "modules_basic.Linear": "linear",
    "modules_basic.Embedding": "embedding",
    "modules_basic.Dropout": "dropout",
    "modules_basic.LayerNorm1d": "layer_norm",
    "transformer.MultiHeadAttention": "attention",
    "transformer.FeedForward": "feed_forward",
    "transformer.TransformerLayer": "layer",
    "transformer.DecoderLM": "lm",
    "translation.loss_fn": "loss_fn",
    "translation.generate": "generate",
}
"""`Case.target` -> which of `Parts` is its twin."""

LEARNERS: dict[str, type[Learner]] = {
    "training.SentenceClassifier": SentenceClassifier,
    "training.Translator": Translator,
}
"""`Case.target` -> its twin, for what is given to students and built of their modules."""


def run(case: Case, answer: Answer, parts: Parts = RIGHT, *, calls: Collection[int] | None = None) -> dict[str, Array]:
    """Compute what a right submission returns for the case: `<i>.out`, `<i>.grad.<input>`, `<i>.grad.param.<name>`.

    A call of a method other than the object itself has no arrays, nor has one that a right submission refuses.

    Args:
        case: what is called on which inputs.
        answer: the submission's; its parameters, where the case leaves them to it, and its dropout masks are used.
        parts: the twins to compute with; wrong ones for a misconception.
        calls: the numbers of the calls to make; None: all. The others have no arrays.

    Returns:
        Read-only arrays in float64 (int64 for the ids of `generate`: one row for each example, filled with -1).

    Raises:
        IncomparableError: the submission's parameters have impossible shapes.
        UnmatchedMasksError: dropout is on and was used elsewhere than in the twin.
        UsageError: the case's target has no twin.
    """
    try:
        part = make(case, parts)
    except RefusalError:
        return {}
    values = effective_parameters(case, answer, part)
    masks = {name: array for name, array in answer.arrays.items() if case.masks and MASK in name}
    wanted = sorted(range(len(case.calls)) if calls is None else calls)

    def compute() -> dict[str, Array]:
        copy_from(part, values)
        if isinstance(part, Learner):
            part.held = values.keys()
        arrays: dict[str, Array] = {}
        for number in wanted:
            call = case.calls[number]
            book = MaskBook(number, masks) if call.mode is Mode.TRAIN else None
            knows = not call.method or (isinstance(part, Learner) and call.method in part.methods)
            found = run_call(part, call, book, values) if knows else {}
            arrays |= {f"{number}.{name}": array for name, array in found.items()}
        return arrays

    return CACHE.get((parts, digest(case, values, masks, wanted)), compute)


def make(case: Case, parts: Parts) -> Part:
    """Build the twin of the case's target, without values."""
    arguments: dict[str, Any] = dict(case.arguments)
    if case.target in LEARNERS:
        return LEARNERS[case.target](parts, **arguments)
    if case.target not in TARGETS:
        known = ", ".join([*TARGETS, *LEARNERS])
        raise UsageError(f"the target {case.target!r} has no twin; expected one of {known}")
    part: Part = getattr(parts, TARGETS[case.target])(parts, **arguments)
    return part


def run_call(part: Part, call: Call, masks: MaskBook | None, values: Collection[str]) -> dict[str, Array]:
    """Make one call and, where it has a cotangent, its backward pass; the gradients of earlier calls are forgotten.

    Parameters that are not among `values`, such as biases that the submission does not have, get no gradient array.
    """
    part.zero_grad(set_to_none=True)
    part.train(call.mode is Mode.TRAIN)
    hand_out(masks, part)
    leaves: dict[str, Tensor] = {}
    arguments = [argument(name, given, leaves) for name, given in call.inputs.items()]
    try:
        function = getattr(part, call.method) if call.method else part
        out: Tensor = function(*arguments, **call.keywords)
    except RefusalError:
        return {}
    if masks is not None:
        masks.close()
    arrays = {"out": out.detach().numpy().copy()}
    if call.cotangent is not None and out.requires_grad:
        torch.autograd.backward(out, torch.tensor(np.resize(call.cotangent, out.shape), dtype=torch.float64))
        leaves |= {f"param.{name}": parameter for name, parameter in part.named_parameters() if name in values}
        arrays |= {f"grad.{name}": leaf.grad.numpy() for name, leaf in leaves.items() if leaf.grad is not None}
    return arrays


def constant(value: Array) -> Tensor:
    """Make a tensor without gradient."""
    return torch.tensor(value, dtype=torch.float64)


def batch(value: Array) -> Mapping[str, Tensor]:
    """Name the three layers of an array (3, B, S)."""
    keys = ("input_ids", "labels", "label_token_weights")
    return {key: constant(layer) for key, layer in zip(keys, value, strict=True)}


MAKERS: Mapping[Role, Callable[[Any], Any]] = {
    Role.VARIABLE: lambda leaf: leaf,
    Role.TABLE_MODEL: TableModel,
    Role.CONSTANT: constant,
    Role.BATCH: batch,
    Role.TOKENIZER: WordTokenizer,
    Role.BACKEND: lambda _: None,
    Role.PLAIN: lambda value: value,
    Role.EXAMPLES: lambda value: value,
    Role.STATE: lambda value: value,
}


def argument(name: str, given: Input, leaves: dict[str, Tensor]) -> Any:
    """Make what is passed for an input; a tensor whose gradient is wanted is entered in `leaves`."""
    value: Any = given.value
    if given.role in {Role.VARIABLE, Role.TABLE_MODEL}:
        value = leaves[name] = constant(value).requires_grad_()
    return MAKERS[given.role](value)
