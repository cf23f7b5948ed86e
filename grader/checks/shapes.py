"""The names and shapes of the parameters of what a student builds: the contract of the assignment, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.case import Json

Shapes = dict[str, tuple[int, ...]]


def linear(in_size: int, out_size: int, *, bias: bool = True) -> Shapes:
    """`weights` (in, out), `bias` (out,)."""
    return {"weights": (in_size, out_size)} | ({"bias": (out_size,)} if bias else {})


def embedding(num_embeddings: int, embedding_dim: int) -> Shapes:
    """`weights` (num_embeddings, embedding_dim)."""
    return {"weights": (num_embeddings, embedding_dim)}


def layer_norm(dim: int) -> Shapes:
    """`weights` and `bias`, (dim,)."""
    return {"weights": (dim,), "bias": (dim,)}


def attention(n_embd: int, *, bias: bool = True) -> Shapes:
    """Four projections, (D, D) each."""
    return _under(
        q_projection=linear(n_embd, n_embd, bias=bias),
        k_projection=linear(n_embd, n_embd, bias=bias),
        v_projection=linear(n_embd, n_embd, bias=bias),
        out_projection=linear(n_embd, n_embd, bias=bias),
    )


def feed_forward(n_embd: int, middle_dim: int | None = None, *, bias: bool = True) -> Shapes:
    """D -> middle -> D; the lecture's width is 4 D."""
    middle = 4 * n_embd if middle_dim is None else middle_dim
    return _under(
        linear_in=linear(n_embd, middle, bias=bias),
        linear_out=linear(middle, n_embd, bias=bias),
    )


def layer(n_embd: int, *, bias: bool = True) -> Shapes:
    """The Pre-LN block."""
    return _under(
        ln_1=layer_norm(n_embd),
        ln_2=layer_norm(n_embd),
        attention=attention(n_embd, bias=bias),
        ff=feed_forward(n_embd, bias=bias),
    )


def decoder_lm(n_vocab: int, n_embd: int, n_positions: int, n_layer: int, *, bias: bool = True) -> Shapes:
    """Two embeddings, N layers, the final LayerNorm and the head."""
    layers = {f"t_layer_{i + 1}": layer(n_embd, bias=bias) for i in range(n_layer)}
    return _under(
        token_embeddings={"weights": (n_vocab, n_embd)},
        position_embeddings={"weights": (n_positions, n_embd)},
        **layers,
        ln=layer_norm(n_embd),
        lm_head=linear(n_embd, n_vocab, bias=bias),
    )


def classifier(n_vocab: int, n_embd: int, n_positions: int, n_layer: int, *, positions: bool = True) -> Shapes:
    """The given classifier: embeddings, N layers and a head of two classes."""
    placed = {"position_embeddings": embedding(n_positions, n_embd)} if positions else {}
    layers = {f"t_layer_{i + 1}": layer(n_embd) for i in range(n_layer)}
    return _under(token_embeddings=embedding(n_vocab, n_embd), **placed, **layers, head=linear(n_embd, 2))


def translator(n_vocab: int, n_embd: int, n_positions: int, n_layer: int) -> Shapes:
    """The given translator: a language model."""
    return _under(model=decoder_lm(n_vocab, n_embd, n_positions, n_layer))


def of(target: str, arguments: Mapping[str, Json]) -> Shapes:
    """The shapes of the parameters of a case's target, built with the case's arguments; none for a function."""
    if target not in _BUILDERS:
        return {}
    build, names = _BUILDERS[target]
    return build(**{name: arguments[name] for name in names if name in arguments})


def masks(target: str, arguments: Mapping[str, Json], batch: int, length: int) -> Shapes:
    """Path of every Dropout that the twin applies in one training call -> shape of its mask; each is used once."""
    if not target.startswith("transformer."):
        return {}
    width, heads, layers = (int(str(arguments.get(name, 4))) for name in ("n_embd", "n_head", "n_layer"))
    hidden, scores = (batch, length, width), (batch, heads, length, length)  # (B, S, D), (B, h, S, S)
    inside: Shapes = {"attention.dropout": scores, "ff.dropout": hidden}
    table: dict[str, Shapes] = {
        "transformer.MultiHeadAttention": {"dropout": scores},
        "transformer.FeedForward": {"dropout": hidden},
        "transformer.TransformerLayer": inside,
        "transformer.DecoderLM": {"dropout": hidden}
        | {f"t_layer_{i + 1}.{path}": shape for i in range(layers) for path, shape in inside.items()},
    }
    return table[target]


def misfit(target: str, arguments: Mapping[str, Json], held: Shapes) -> tuple[str, str] | None:
    """The first parameter that a right module would hold otherwise, and what is wrong with it in words; or None.

    Free are: a head without bias, no biases where `bias=False`, surplus parameters, and the width of a feed-forward
    network that was asked for without `middle_dim`.
    """
    if target not in _BUILDERS:
        return None
    for name, wanted in of(target, arguments).items():
        if name not in held:
            if name.endswith("lm_head.bias"):
                continue
            return name, f"there is no parameter {name}"
        shape = wanted if arguments.get("middle_dim") is not None else _widened(name, wanted, held)
        if held[name] != shape:
            return name, f"parameter {name} has shape {held[name]}, expected {shape}"
    return None


def _widened(name: str, shape: tuple[int, ...], held: Shapes) -> tuple[int, ...]:
    """`shape` with the middle width M that the student's own `linear_in.weights` (D, M) has."""
    path, _, parameter = name.rpartition("linear_")
    middle = held.get(f"{path}linear_in.weights", ())[1:2]
    if not middle:
        return shape
    if parameter == "in.weights":
        return (shape[0], *middle)  # (D, M)
    if parameter == "in.bias":
        return middle  # (M,)
    if parameter == "out.weights":
        return (*middle, shape[1])  # (M, D)
    return shape


def _under(**modules: Shapes) -> Shapes:
    return {f"{path}.{name}": shape for path, shapes in modules.items() for name, shape in shapes.items()}


_BUILDERS: dict[str, tuple[Callable[..., Shapes], tuple[str, ...]]] = {
    "modules_basic.Linear": (linear, ("in_size", "out_size", "bias")),
    "modules_basic.Embedding": (embedding, ("num_embeddings", "embedding_dim")),
    "modules_basic.LayerNorm1d": (layer_norm, ("dim",)),
    "transformer.MultiHeadAttention": (attention, ("n_embd", "bias")),
    "transformer.FeedForward": (feed_forward, ("n_embd", "middle_dim", "bias")),
    "transformer.TransformerLayer": (layer, ("n_embd", "bias")),
    "transformer.DecoderLM": (decoder_lm, ("n_vocab", "n_embd", "n_positions", "n_layer", "bias")),
    "training.SentenceClassifier": (classifier, ("n_vocab", "n_embd", "n_positions", "n_layer", "positions")),
    "training.Translator": (translator, ("n_vocab", "n_embd", "n_positions", "n_layer")),
}
"""Target -> its shapes, and the constructor arguments that they depend on."""
