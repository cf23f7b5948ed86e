"""Label smoothing: a little of the target's probability goes to the other classes (Vaswani et al. 2017, section 5.4).

Two conventions share the name, and differ in where the mass eps goes:

- "all": evenly over all C classes, the right one too (Szegedy et al. 2016, section 7; torch's CrossEntropyLoss). The
  target has 1 - eps + eps/C at the right class, eps/C elsewhere.
- "others": evenly over the C - 1 wrong classes: 1 - eps at the right one, eps/(C - 1) elsewhere.

With eps = 0 both are the plain cross-entropy. "others" with eps is "all" with eps C/(C - 1).
"""

from __future__ import annotations

from collections.abc import Mapping

from assignment.framework import Module, Tensor
from assignment.nn import logsoftmax, one_hot

CONVENTIONS = ("all", "others")


def smoothed_losses(logits: Tensor, target: Tensor, eps: float, convention: str = "all") -> Tensor:
    """Compute each example's cross-entropy of softmax(logits) and its smoothed target.

    Shapes: logits (N, C) and target (N,), class ids 0 ... C - 1 -> losses (N,).

    Args:
        logits: C of them, two or more, for each example.
        target: the right classes.
        eps: mass that is moved, 0 <= eps < 1.
        convention: where it goes, "all" or "others".

    Raises:
        ValueError: `eps` or `convention` is none of these.
    """
    if convention not in CONVENTIONS or not 0 <= eps < 1:
        raise ValueError(f"label smoothing {eps} over {convention!r}; expected 0 <= eps < 1 over all or others")
    count, classes = logits.shape
    log_p = logsoftmax(logits, 1)  # (N, C)
    right = (log_p * one_hot(target, classes)).sum(1)  # (N, 1)
    share = eps / classes if convention == "all" else eps / (classes - 1)
    rest = log_p.sum(1) if convention == "all" else log_p.sum(1) - right  # (N, 1)
    return (right * (eps - 1) - rest * share).view(count)  # (N, 1) -> (N,)


def smoothed_loss(batch: Mapping[str, Tensor], model: Module, eps: float, convention: str = "all") -> Tensor:
    """Compute the mean smoothed loss of a batch's target tokens; what `loss_fn` is without smoothing.

    This stands in for your `loss_fn` as a whole while training with label smoothing; validation stays with yours.
    """
    scores = model(batch["input_ids"])  # (B, S, V)
    shares = batch["label_token_weights"] * (1 / batch["label_token_weights"].sum().item())  # (B, S), sum 1
    flat = scores.view(-1, scores.shape[2])  # (B, S, V) -> (B S, V)
    each = smoothed_losses(flat, batch["labels"].contiguous().view(-1), eps, convention)  # (B S,)
    return (each * shares.contiguous().view(-1)).sum()  # (B S,) -> (1,)
