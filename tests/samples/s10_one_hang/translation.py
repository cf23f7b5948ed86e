"""Problem 4: translation with a language model.

Source and target are one sequence, and one causal model reads the first and writes the second:

    <source words> <eos_de> <target words> <eos_en> <pad> ...

While training, the label of a position is the token after it, and only tokens of the target count. To translate, the
model gets the source up to <eos_de> and adds one token after the other.

Source: lecture 6, sections 6.3 and 7.1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from assignment.framework import Module, Tensor, TensorBackend, tensor

from .nn import softmax_loss


class Tokenizer(Protocol):
    """What `generate` needs of a tokenizer: text to ids, ids to text, and the id of a special token."""

    vocab: Mapping[str, int]
    """Token -> id; the special tokens such as "<eos_en>" are in it."""

    def __call__(self, text: str) -> Mapping[str, list[int]]:
        """Tokenize; the ids are under "input_ids"."""

    def decode(self, ids: Sequence[int]) -> str:
        """Join the tokens of these ids to a text."""


def progress(examples: Sequence[Any], desc: str) -> Iterator[Any]:
    """Yield the examples, with a counter on standard error where a person is watching it."""
    watched = sys.stderr.isatty()
    for number, example in enumerate(examples, start=1):
        yield example
        if watched:
            end = "\n" if number == len(examples) else ""
            sys.stderr.write(f"\r{desc}: {number}/{len(examples)}{end}")
            sys.stderr.flush()


def loss_fn(batch: Mapping[str, Tensor], model: Module) -> Tensor:
    """Compute the mean loss of a batch's target tokens: sum(w l) / sum(w).

    Here l is the `softmax_loss` of a position's logits `model(batch["input_ids"])` (B, S, V) and its label, and w is
    its weight. The labels are already shifted: label [b, s] is what comes after input [b, s].

    Args:
        batch: three tensors (B, S): "input_ids"; "labels"; "label_token_weights", which is 1 where the label is a
            target token and 0 where it is of the source or padding.
        model: a language model: ids (B, S) -> logits (B, S, V).

    Returns:
        The loss, one number, ready for `backward()`.
    """
    logits = model(batch["input_ids"])  # (B, S, V)
    batch_size, seq_len, n_vocab = logits.shape
    rows = batch_size * seq_len
    labels = batch["labels"].view(rows)  # (B S,)
    weights = batch["label_token_weights"].view(rows)  # (B S,)
    losses = softmax_loss(logits.view(rows, n_vocab), labels)  # (B S, V) and (B S,) -> (B S,)
    return (losses * weights).sum() / weights.sum()


def generate(
    model: Module,
    examples: Sequence[Mapping[str, str]],
    src_key: str,
    tgt_key: str,
    tokenizer: Tokenizer,
    model_max_length: int,
    backend: TensorBackend,
    desc: str,
) -> list[str]:
    """Translate each example greedily: the likeliest token is added, and the next one is asked for.

    For each example, the prompt is the text of `example[src_key]` followed directly by "<eos_{src_key}>". As long as
    the sequence (prompt included) is not longer than `model_max_length`, run the model on it as a batch of one and
    take the token with the largest logit at the last position. "<eos_{tgt_key}>" ends the translation and is no part
    of it. A prompt longer than `model_max_length` gets the empty translation.

    The model is in evaluation mode meanwhile; afterwards it is in the mode in which it came.

    Args:
        model: a language model: ids (1, S) -> logits (1, S, V), for S up to `model_max_length`.
        examples: dictionaries with a text under `src_key`; what stands under `tgt_key` must not be looked at.
        src_key: language of the source, such as "de".
        tgt_key: language of the target, such as "en".
        tokenizer: text to ids and back.
        model_max_length: longest sequence that the model can take.
        backend: where to make the tensor of ids.
        desc: what to write beside the progress: `progress(examples, desc)` yields the examples and shows it.

    Returns:
        One decoded text for each example, in order.
    """
    was_training = model.training
    model.eval()
    end = tokenizer.vocab[f"<eos_{tgt_key}>"]
    translations = []
    for example in progress(examples, desc):
        ids = list(tokenizer(f"{example[src_key]}<eos_{src_key}>")["input_ids"])
        prompt_length = len(ids)
        while len(ids) <= model_max_length:
            logits = model(tensor([ids], backend=backend))  # (1, S) -> (1, S, V)
            token = int(logits.to_numpy()[0, -1].argmax())
            if token == end:
                break
            ids.append(token)
        translations.append(tokenizer.decode(ids[prompt_length:]))
    if was_training:
        model.train()
    return translations


if __name__ == "__main__":
    from assignment.training.script import main

    sys.exit(main())
