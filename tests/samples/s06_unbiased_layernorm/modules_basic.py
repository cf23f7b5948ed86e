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
        backend = backend or default_backend()
        bound = in_size**-0.5
        self.weights = Parameter((rand((in_size, out_size), backend=backend) * 2 - 1) * bound)
        self.bias = Parameter((rand((out_size,), backend=backend) * 2 - 1) * bound) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., in_size) to (..., out_size)."""
        y = x @ self.weights.value  # (..., in_size) @ (in_size, out_size) -> (..., out_size)
        return y if self.bias is None else y + self.bias.value


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
        backend = backend or default_backend()
        self.num_embeddings = num_embeddings
        values = backend.generator.standard_normal((num_embeddings, embedding_dim))
        self.weights = Parameter(tensor_from_numpy(values, backend=backend))

    def forward(self, x: Tensor) -> Tensor:
        """Look up ids x (B, S): vectors (B, S, embedding_dim)."""
        return one_hot(x, self.num_embeddings) @ self.weights.value  # (B, S, N) @ (N, D) -> (B, S, D)


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
        self.p_dropout = p_dropout

    def forward(self, x: Tensor) -> Tensor:
        """Drop entries of x, of any shape, when `self.training`."""
        if not self.training or self.p_dropout == 0:
            return x
        keep = rand(x.shape, backend=x.backend) > self.p_dropout  # 1.0 with probability 1 - p, else 0.0
        return x * (keep * (1 / (1 - self.p_dropout)))


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
        backend = backend or default_backend()
        self.eps = eps
        self.weights = Parameter(ones((dim,), backend=backend))
        self.bias = Parameter(zeros((dim,), backend=backend))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., dim) along its last axis."""
        last = x.dims - 1
        centred = x - x.mean(dim=last)  # mean and var keep the dimension: (..., 1)
        normal = centred * ((centred * centred).sum(dim=last) * (1 / (x.shape[last] - 1)) + self.eps) ** -0.5
        return normal * self.weights.value + self.bias.value
