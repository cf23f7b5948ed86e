"""Problem 2: the four small modules that a Transformer is built of.

A module keeps what it learns in `Parameter` attributes and computes in `forward`. Assigning a `Parameter` (or another
module) to an attribute registers it, so that the optimiser finds it. Use only the framework's tensor operations, so
that the gradients come by themselves.
"""

from __future__ import annotations

from assignment.framework import (
    Module,
    Parameter,
    Tensor,
    TensorBackend,
    default_backend,
    ones,
    rand,
    tensor_from_numpy,
    zeros,
)

from .nn import one_hot


class Linear(Module):
    """An affine map of the last axis: y = x W + b.

    Shapes: x (..., in_size) -> y (..., out_size).

    Args:
        in_size: size of the last axis of the input.
        out_size: size of the last axis of the output.
        bias: whether to add b; without it, the attribute `bias` is None.
        backend: where the parameters live; None: the default backend.

    Attributes:
        weights: `Parameter` (in_size, out_size), initially uniform in [-1/sqrt(in_size), 1/sqrt(in_size)].
        bias: `Parameter` (out_size,), initially from the same distribution; or None.
    """

    def __init__(self, in_size: int, out_size: int, bias: bool = True, backend: TensorBackend | None = None) -> None:
        super().__init__()
        raise NotImplementedError("Problem 2: Linear.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., in_size) to (..., out_size)."""
        raise NotImplementedError("Problem 2: Linear.forward is not written yet")


class Embedding(Module):
    """A table of vectors, looked up by token id.

    A look-up is a product with one-hot vectors: row t of the table is onehot(t) W. Written so, its gradient comes by
    itself: it adds up over all places where the same id stands.

    Shapes: ids (B, S) -> vectors (B, S, embedding_dim). Ids are whole numbers held in an ordinary tensor.

    Args:
        num_embeddings: number of rows; ids go from 0 to num_embeddings - 1.
        embedding_dim: size of each vector.
        backend: where the parameters live; None: the default backend.

    Attributes:
        weights: `Parameter` (num_embeddings, embedding_dim), initially from the standard normal distribution N(0, 1).
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, backend: TensorBackend | None = None) -> None:
        super().__init__()
        raise NotImplementedError("Problem 2: Embedding.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Look up ids x (B, S): vectors (B, S, embedding_dim)."""
        raise NotImplementedError("Problem 2: Embedding.forward is not written yet")


class Dropout(Module):
    """Zero entries at random while training, and scale the rest so that the mean stays.

    In training each entry is kept with probability 1 - p and then multiplied by 1/(1 - p), or else set to 0; every
    call draws anew. In evaluation, and for p = 0, the input is returned as it is. `self.training` says which.

    Shapes: x of any shape -> the same shape.

    Args:
        p_dropout: probability p of zeroing an entry, 0 <= p < 1.

    Source: Srivastava et al. (2014), "Dropout: A Simple Way to Prevent Neural Networks from Overfitting"; lecture 6,
    section 7.2.
    """

    def __init__(self, p_dropout: float = 0.1) -> None:
        super().__init__()
        raise NotImplementedError("Problem 2: Dropout.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Drop entries of x, of any shape, when `self.training`."""
        raise NotImplementedError("Problem 2: Dropout.forward is not written yet")


class LayerNorm1d(Module):
    """Normalise each vector along the last axis, then scale and shift it.

    y = (x - mean) / sqrt(var + eps) * weights + bias, where mean and var are those of the last axis, and var is the
    biased one (divided by dim, not by dim - 1).

    Shapes: x (..., dim) -> the same shape.

    Args:
        dim: size of the last axis.
        eps: added to the variance, inside the root.
        backend: where the parameters live; None: the default backend.

    Attributes:
        weights: `Parameter` (dim,), initially 1.
        bias: `Parameter` (dim,), initially 0.

    Source: Ba et al. (2016), "Layer Normalization", equation 4; lecture 6, section 5.3.
    """

    def __init__(self, dim: int, eps: float = 1e-5, backend: TensorBackend | None = None) -> None:
        super().__init__()
        raise NotImplementedError("Problem 2: LayerNorm1d.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., dim) along its last axis."""
        raise NotImplementedError("Problem 2: LayerNorm1d.forward is not written yet")
