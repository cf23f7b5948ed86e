"""The twins that are right."""

from __future__ import annotations

from .attention import MultiHeadAttention
from .functions import LogSumExp, SoftmaxLoss
from .layers import Dropout, Embedding, LayerNorm1d, Linear
from .model import DecoderLM, FeedForward, TransformerLayer
from .parts import Parts
from .translation import Generate, LossFn

RIGHT = Parts(
    logsumexp=LogSumExp,
    softmax_loss=SoftmaxLoss,
    linear=Linear,
    embedding=Embedding,
    dropout=Dropout,
    layer_norm=LayerNorm1d,
    attention=MultiHeadAttention,
    feed_forward=FeedForward,
    layer=TransformerLayer,
    lm=DecoderLM,
    loss_fn=LossFn,
    generate=Generate,
)
