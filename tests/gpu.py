"""`python -m tests.gpu`: is everything the same on a GPU as on the CPU, and how fast does a model learn there?

Not run by pytest: it needs CuPy (`pip install cupy-cuda12x`) and a GPU. It compares the framework's operations and the
reference's modules with NumPy, in both dtypes, values and gradients; trains a translator of the small grammar for an
epoch; and times the large training step beside torch's. Exit status: 0 all is the same; 1 something is not; 3 nothing
was compared, for there is no GPU or no CuPy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assignment.framework import Adam, DeviceError, Module, Tensor, TensorBackend, backend_for, one_hot, tensor
from assignment.training import grammar
from assignment.training.words import Words
from solution import modules_basic, nn, transformer, translation

NOTHING_COMPARED = 3
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}
"""Allowed difference, relative to the largest output or the largest gradient: sums come in another order on a GPU."""

B, S, D, V = 3, 6, 8, 11
IDS = np.random.default_rng(1).integers(0, V, (B, S))
POSITIVE = np.random.default_rng(0).uniform(0.3, 2, (B, S, D))
FACTOR, MATRIX = np.random.default_rng(2).uniform(0.3, 2, (S, 1)), np.random.default_rng(3).normal(size=(D, V))

OPERATIONS: Mapping[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    # of x (B, S, D) > 0, y (S, 1) > 0 and m (D, V)
    "x + y": lambda x, y, _: x + y,
    "x - y": lambda x, y, _: x - y,
    "x * y": lambda x, y, _: x * y,
    "x / y": lambda x, y, _: x / y,
    "x ** y": lambda x, y, _: x**y,
    "x ** 3": lambda x, *_: x**3,
    "x ** -0.5": lambda x, *_: x**-0.5,
    "x ** 2.3": lambda x, *_: x**2.3,
    "1 / x": lambda x, *_: 1 / x,
    "exp": lambda x, *_: x.exp(),
    "log": lambda x, *_: x.log(),
    "tanh": lambda x, *_: x.tanh(),
    "sigmoid": lambda x, *_: (x * 200 - 200).sigmoid() + x.sigmoid(),
    "relu": lambda x, *_: (x - 1).relu(),
    "sum": lambda x, *_: x.sum(),
    "sum over a dim": lambda x, *_: x.sum(1),
    "mean": lambda x, *_: x.mean(2),
    "var": lambda x, *_: x.var(2),
    "max": lambda x, *_: x.max() + x.max(0),
    "comparison": lambda x, *_: (x > 1) * x,
    "permute and view": lambda x, *_: x.permute(2, 0, 1).contiguous().view(D, -1),
    "slice": lambda x, *_: x[:, 1::2, -1],
    "index by ids": lambda x, *_: x[tensor([2, 0, 2], x.backend)],
    "index by an array": lambda x, *_: x[1, np.array([5, 5, 0])],
    "x @ m": lambda x, _, m: x @ m,
    "x @ x": lambda x, *_: x @ x.permute(0, 2, 1),
    "one_hot @ m": lambda _x, _y, m: one_hot(tensor(IDS % D, m.backend), D) @ m,
    "GELU": lambda x, *_: nn.GELU(x - 1),
    "softmax": lambda x, *_: nn.softmax(x, 2),
    "logsumexp": lambda x, *_: nn.logsumexp(x * 100, 1),
    "softmax_loss": lambda x, *_: nn.softmax_loss(x.view(B * S, D), tensor(IDS.reshape(-1) % D, x.backend)),
}
MODULES: Mapping[str, tuple[Callable[[TensorBackend], Module], Any]] = {  # how it is made on a backend, its input
    "Linear": (lambda b: modules_basic.Linear(D, 5, backend=b), POSITIVE),
    "Embedding": (lambda b: modules_basic.Embedding(V, D, b), IDS),
    "LayerNorm1d": (lambda b: modules_basic.LayerNorm1d(D, backend=b), POSITIVE),
    "FeedForward": (lambda b: transformer.FeedForward(D, p_dropout=0.0, backend=b), POSITIVE),
    "MultiHeadAttention": (lambda b: transformer.MultiHeadAttention(D, 2, p_dropout=0.0, backend=b), POSITIVE),
    "TransformerLayer": (lambda b: transformer.TransformerLayer(D, 2, p_dropout=0.0, backend=b), POSITIVE),
    "DecoderLM": (lambda b: transformer.DecoderLM(V, D, 2, S, p_dropout=0.0, backend=b, n_layer=2), IDS),
}
"""Without dropout: a GPU draws other random numbers than the CPU."""


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Args:
        what: was compared.
        dtype: in which type.
        difference: between the two devices, relative.
        allowed: the largest difference that is none.
    """

    what: str
    dtype: str
    difference: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether the two are the same; a NaN is not."""
        return self.difference <= self.allowed

    def __str__(self) -> str:
        verdict = "same" if self.holds else "DIFFERENT"
        return f"{self.what:20} {self.dtype:8} {self.difference:9.1e} {self.allowed:9.1e}  {verdict}"


def operations(cpu: TensorBackend, gpu: TensorBackend) -> Iterator[Row]:
    """Each operation on the same numbers."""
    for name, function in OPERATIONS.items():
        results = []
        for backend in (cpu, gpu):
            inputs = [tensor(array, backend, requires_grad=True) for array in (POSITIVE, FACTOR, MATRIX)]
            output = function(*inputs)
            results.append(outputs_and_gradients(output, dict(zip("xym", inputs, strict=True))))
        yield Row(name, cpu.dtype.name, difference(*results), TOLERANCE[cpu.dtype.name])


def modules(cpu: TensorBackend, gpu: TensorBackend) -> Iterator[Row]:
    """Each module of the reference, with the same parameters on the same input, before and after a step of Adam."""
    for name, (make, array) in MODULES.items():
        state, results = make(cpu).state(), []
        for backend in (cpu, gpu):
            module = make(backend)
            module.load_state(state)
            x = tensor(array, backend, requires_grad=array is not IDS)
            first = outputs_and_gradients(module(x), {"x": x, **values(module)})
            Adam(module.parameters(), lr=1e-3).step()
            results.append(first | {"out after a step": module(x).to_numpy()})
        yield Row(name, cpu.dtype.name, difference(*results), TOLERANCE[cpu.dtype.name])


def values(module: Module) -> dict[str, Tensor]:
    """The parameters' tensors by name."""
    return {name: parameter.value for name, parameter in module.named_parameters()}


def outputs_and_gradients(output: Tensor, inputs: Mapping[str, Tensor]) -> dict[str, Any]:
    """The output and, under fixed weights, the gradients of the inputs that have one, as NumPy arrays."""
    output.backward(np.cos(np.arange(output.size)).reshape(output.shape))
    found = {f"grad of {name}": value.grad for name, value in inputs.items() if value.grad is not None}
    return {"out": output.to_numpy()} | {name: grad.to_numpy() for name, grad in found.items()}


def difference(cpu: Mapping[str, Any], gpu: Mapping[str, Any]) -> float:
    """The largest difference of two results, relative to the largest number of its kind: output or gradient."""
    if {name: array.shape for name, array in cpu.items()} != {name: array.shape for name, array in gpu.items()}:
        return float("inf")
    largest = {kind: max(abs(cpu[name]).max() for name in cpu if name.startswith(kind)) for kind in ("out", "grad")}
    return float(np.max([abs(cpu[name] - gpu[name]).max() / largest[name.split()[0]] for name in cpu]))


def training(
    cpu: TensorBackend, gpu: TensorBackend, *, steps: int = 150, batch: int = 64, held_out: int = 20, width: int = 64
) -> Iterator[Row]:
    """An epoch of grammar translation: the first losses as on the CPU, and sentences that it has not seen."""
    lesson = grammar.draw(np.random.default_rng(0), steps=steps, batch=batch, held_out=held_out)

    def model_on(backend: TensorBackend) -> Module:
        return transformer.DecoderLM(
            len(lesson.words), width, 4, grammar.LENGTH, p_dropout=0.0, backend=backend, n_layer=2
        )

    twins = [model_on(cpu), model_on(gpu)]
    twins[1].load_state(twins[0].state())
    few = 5
    here, there = learn(twins[0], lesson.batches[:few], cpu), learn(twins[1], lesson.batches, gpu)
    loss_difference = float(abs(here / there[:few] - 1).max())
    yield Row(f"first {few} losses", cpu.dtype.name, loss_difference, TOLERANCE[cpu.dtype.name] * 10)
    texts = translation.generate(
        twins[1], lesson.held_out, "de", "en", Words(lesson.words), grammar.LENGTH, gpu, "translate"
    )
    wrong = sum(text != pair["en"] for text, pair in zip(texts, lesson.held_out, strict=True))
    yield Row("translated wrongly", cpu.dtype.name, wrong / len(texts), 0.1)


def learn(model: Module, batches: Any, backend: TensorBackend) -> Any:
    """One step of Adam for each batch; the losses."""
    optimiser, losses = Adam(model.parameters(), lr=3e-3), []
    for arrays in batches:
        names = ("input_ids", "labels", "label_token_weights")
        batch = {name: tensor(array, backend) for name, array in zip(names, arrays, strict=True)}  # each (B, S)
        optimiser.zero_grad()
        loss = translation.loss_fn(batch, model)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return np.array(losses)


def speed(gpu: TensorBackend) -> str:
    """Tokens per second of the large training step in float32, here and in torch, on the GPU if torch has one."""
    import torch  # noqa: PLC0415  # seconds that nobody waits for who has no GPU

    from .benchmarks.our_step import our_step  # noqa: PLC0415
    from .benchmarks.size import FULL  # noqa: PLC0415
    from .benchmarks.torch_step import torch_step  # noqa: PLC0415

    ours = tokens_per_second(our_step(FULL, "float32", gpu)[0], FULL.batch * FULL.seq, steps=20)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_default_device(device)
    theirs = tokens_per_second(torch_step(FULL, "float32"), FULL.batch * FULL.seq, steps=20 if device == "cuda" else 2)
    beside = "the same GPU" if device == "cuda" else "one thread of the CPU: this torch has no CUDA"
    return f"{ours:,.0f} tokens/s; torch eager on {beside}: {theirs:,.0f} tokens/s; ratio {ours / theirs:.2f}"


def tokens_per_second(step: Callable[[], float], tokens: int, steps: int) -> float:
    """Measured after two steps that are not counted; a step returns its loss, so it has ended when it returns."""
    for _ in range(2):
        step()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return tokens * steps / (time.perf_counter() - start)


def compared(dtype: str, gpu: TensorBackend) -> Iterator[Row]:
    """Every row of one dtype."""
    cpu = backend_for("cpu", dtype, seed=0)
    yield from operations(cpu, gpu)
    yield from modules(cpu, gpu)
    if dtype == "float32":
        yield from training(cpu, gpu)


def main() -> int:
    """Print the table, then the speed."""
    try:
        gpus = {dtype: backend_for("cuda", dtype, seed=0) for dtype in TOLERANCE}
    except DeviceError as error:
        sys.stdout.write(f"tests.gpu compared nothing: {error}\n")
        return NOTHING_COMPARED
    failed = 0
    sys.stdout.write(f"{'what':20} {'dtype':8} {'differs':>9} {'allowed':>9}\n")
    for dtype, gpu in gpus.items():
        for row in compared(dtype, gpu):
            failed += not row.holds
            sys.stdout.write(f"{row}\n")
    sys.stdout.write(f"{failed} different\n" if failed else "all the same\n")
    sys.stdout.write(f"{speed(gpus['float32'])}\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
