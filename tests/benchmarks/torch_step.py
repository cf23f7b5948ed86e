"""A training step in torch eager: with its fused functions, or with the primitives that students use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .frame import print_peak_memory
from .size import FULL, LEARNING_RATE, Size


@dataclass(frozen=True)
class Kit:
    """What torch has fused and students compose."""

    layer_norm: Callable[[int], nn.Module]
    gelu: Callable[[Tensor], Tensor]
    softmax: Callable[[Tensor], Tensor]
    loss: Callable[[Tensor, Tensor], Tensor]


class ComposedLayerNorm(nn.LayerNorm):
    """A layer norm of primitives."""

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        variance = x.var(-1, unbiased=False, keepdim=True)
        normal: Tensor = centred * (variance + self.eps) ** -0.5 * self.weight + self.bias
        return normal


def composed_gelu(x: Tensor) -> Tensor:
    """x sigmoid(2 u)."""
    u = (x + x**3 * 0.044715) * math.sqrt(2 / math.pi)
    return x * (u * 2).sigmoid()


def composed_softmax(x: Tensor) -> Tensor:
    """exp(x - max) / sum."""
    exponentials = (x - x.detach().amax(-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


def composed_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean of logsumexp(z) - z_y."""
    largest = logits.detach().amax(-1, keepdim=True)
    logsumexp = (logits - largest).exp().sum(-1, keepdim=True).log() + largest
    return (logsumexp - logits.gather(-1, labels[:, None])).mean()


FUSED = Kit(
    layer_norm=nn.LayerNorm,
    gelu=lambda x: functional.gelu(x, approximate="tanh"),
    softmax=lambda x: functional.softmax(x, dim=-1),
    loss=functional.cross_entropy,
)
COMPOSED = Kit(ComposedLayerNorm, composed_gelu, composed_softmax, composed_loss)


class Attention(nn.Module):
    """Causal self-attention with several heads."""

    def __init__(self, n_embd: int, n_head: int, kit: Kit) -> None:
        super().__init__()
        self.kit = kit
        self.q_projection, self.k_projection = nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)
        self.v_projection, self.out_projection = nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)
        self.n_head = n_head

    def forward(self, x: Tensor) -> Tensor:
        batch, seq, width = x.shape
        split = (batch, seq, self.n_head, width // self.n_head)
        q = self.q_projection(x).view(split).permute(0, 2, 1, 3)  # (B, h, S, Dh)
        kT = self.k_projection(x).view(split).permute(0, 2, 3, 1)  # (B, h, Dh, S)  # noqa: N806
        v = self.v_projection(x).view(split).permute(0, 2, 1, 3)  # (B, h, S, Dh)
        mask = torch.full((seq, seq), -1e9, dtype=x.dtype).triu(1)
        weights = self.kit.softmax(q @ kT * split[3] ** -0.5 + mask)  # (B, h, S, S)
        out: Tensor = self.out_projection((weights @ v).permute(0, 2, 1, 3).reshape(batch, seq, width))  # (B, S, D)
        return out


class FeedForward(nn.Module):
    """Two linear maps with a GELU between them."""

    def __init__(self, n_embd: int, kit: Kit) -> None:
        super().__init__()
        self.kit = kit
        self.linear_in, self.linear_out = nn.Linear(n_embd, 4 * n_embd), nn.Linear(4 * n_embd, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear_out(self.kit.gelu(self.linear_in(x)))
        return out


class Layer(nn.Module):
    """A Pre-LN block."""

    def __init__(self, n_embd: int, n_head: int, kit: Kit) -> None:
        super().__init__()
        self.ln_1, self.attention = kit.layer_norm(n_embd), Attention(n_embd, n_head, kit)
        self.ln_2, self.ff = kit.layer_norm(n_embd), FeedForward(n_embd, kit)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.ln_1(x))
        out: Tensor = x + self.ff(self.ln_2(x))
        return out


class TorchLM(nn.Module):
    """The decoder-only language model, with the modules' names as in the assignment."""

    def __init__(self, size: Size, kit: Kit) -> None:
        super().__init__()
        self.token_embeddings = nn.Embedding(size.n_vocab, size.n_embd)
        self.position_embeddings = nn.Embedding(size.seq, size.n_embd)
        self.layers = [f"t_layer_{number}" for number in range(1, size.n_layer + 1)]
        for name in self.layers:
            self.add_module(name, Layer(size.n_embd, size.n_head, kit))
        self.ln, self.lm_head = kit.layer_norm(size.n_embd), nn.Linear(size.n_embd, size.n_vocab)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token_embeddings(ids) + self.position_embeddings(torch.arange(ids.shape[1]))  # (B, S, D)
        for name in self.layers:
            x = getattr(self, name)(x)
        logits: Tensor = self.lm_head(self.ln(x))  # (B, S, V)
        return logits

    def copy_from(self, state: Mapping[str, Any]) -> None:
        """Take the parameters of the assignment's model."""
        for path, module in self.named_modules():
            if f"{path}.weights" in state:
                weights = torch.tensor(state[f"{path}.weights"])
                module.weight.data = weights.T.contiguous() if isinstance(module, nn.Linear) else weights
                if f"{path}.bias" in state:
                    module.bias.data = torch.tensor(state[f"{path}.bias"])


def torch_step(size: Size, dtype: str, kit: Kit = FUSED, state: Mapping[str, Any] | None = None) -> Callable[[], float]:
    """The step (forward, loss, backward, Adam), which returns its loss; from these parameters, or from torch's own."""
    torch.set_num_threads(1)
    model = TorchLM(size, kit).to(getattr(torch, dtype))
    model.copy_from(state or {})
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    words, labels = size.ids()
    x, y = torch.tensor(words), torch.tensor(labels.reshape(-1))  # (B, S), (B S,)

    def step() -> float:
        optimiser.zero_grad()
        loss = kit.loss(model(x).view(-1, size.n_vocab), y)  # (B, S, V) -> (B S, V)
        torch.autograd.backward(loss)
        optimiser.step()
        return float(loss.item())

    return step


if __name__ == "__main__":
    print_peak_memory(torch_step(FULL, "float32"))
