"""Label smoothing: a little of the target's probability goes to the other classes (Vaswani et al. 2017, section 5.4).

Two conventions share the name, and differ in where the mass eps goes:

- "all": evenly over all C classes, the right one too (Szegedy et al. 2016, section 7; torch's CrossEntropyLoss). The
  target has 1 - eps + eps/C at the right class, eps/C elsewhere.
- "others": evenly over the C - 1 wrong classes: 1 - eps at the right one, eps/(C - 1) elsewhere.

With eps = 0 both are the plain cross-entropy. "others" with eps is "all" with eps C/(C - 1).

The cross-entropy of logits z and a target distribution t is lse(z) - sum(t z), for the entries of t sum to 1. So
smoothing over all classes adds eps (z_y - mean(z)) to the loss of an example with the right class y: no more than the
logits is needed, and the loss itself stays your `loss_fn`.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignment.framework import Module, Tensor, tensor_from_numpy
from assignment.nn import one_hot
from assignment.translation import loss_fn

from .recipe import CONVENTIONS


def smoothed_loss(batch: Mapping[str, Tensor], model: Module, eps: float, convention: str = "all") -> Tensor:
    """Compute a batch's mean loss with smoothed targets: your `loss_fn`, and what the smoothing adds to it.

    Args:
        batch: as for `loss_fn`.
        model: ids (B, S) -> logits (B, S, V), two classes V or more.
        eps: mass that is moved, 0 <= eps < 1.
        convention: where it goes, "all" or "others".

    Raises:
        ValueError: `eps` or `convention` is none of these.
    """
    if convention not in CONVENTIONS or not 0 <= eps < 1:
        raise ValueError(f"label smoothing {eps} over {convention!r}; expected 0 <= eps < 1 over all or others")
    heard: list[Tensor] = []
    remove = model.register_forward_hook(lambda _module, _inputs, logits: heard.append(logits))
    loss = loss_fn(batch, model)
    remove()
    return loss + addition(heard[-1], batch["labels"], batch["label_token_weights"], eps, convention)


def addition(logits: Tensor, target: Tensor, weights: Tensor, eps: float, convention: str) -> Tensor:
    """Compute what smoothing adds to a mean of cross-entropies: the weighted mean of eps (z_y - mean(z)).

    Shapes: logits (..., V), target and weights (...) -> (1,).
    """
    last, classes = len(logits.shape) - 1, logits.shape[-1]
    moved = eps if convention == "all" else eps * classes / (classes - 1)
    share = weights.to_numpy() * (moved / weights.to_numpy().sum())  # (...)
    lead = (logits * one_hot(target, classes)).sum(last) - logits.mean(last)  # (..., 1)
    return (lead * tensor_from_numpy(share[..., None], backend=logits.backend)).sum()  # (..., 1) -> (1,)
