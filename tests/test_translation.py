"""Problem 4: `loss_fn` and `generate` of `translation.py`.

The model in these tests is a table: the logits after word t are row t of it, whatever came before. So Problem 4 is
tested without Problem 3, and what `generate` must answer can be read off. `fixture(name)` reads
`tests/fixtures/<name>.npz`: the batch and the table, and the loss and gradient that they must give.
"""

import numpy as np
import package_under_test as hw3
import pytest
from comparing import assert_close, assert_texts
from fixture_files import fixture
from hints import told

from assignment.framework import Module, Parameter, TensorBackend, one_hot, tensor_from_numpy

BACKEND = TensorBackend(seed=4)
LOSS_TOLERANCE = 2e-8  # a 1e-8 added to the sum of the weights is right too


class TableModel(Module):
    def __init__(self, table):
        super().__init__()
        self.table = Parameter(tensor_from_numpy(table, backend=BACKEND))

    def forward(self, idx):
        self.was_training = self.training
        return one_hot(idx, len(self.table.value)) @ self.table.value  # (B, S, V) @ (V, V) -> (B, S, V)


def batch_of(input_ids, labels, weights):
    return {
        "input_ids": tensor_from_numpy(input_ids, backend=BACKEND),
        "labels": tensor_from_numpy(labels, backend=BACKEND),
        "label_token_weights": tensor_from_numpy(weights, backend=BACKEND),
    }


@pytest.mark.points("p4.loss")
def test_the_loss_is_one_number():
    batch = batch_of(np.ones((2, 3)), np.zeros((2, 3)), np.ones((2, 3)))
    assert hw3.translation.loss_fn(batch, TableModel(np.zeros((5, 5)))).size == 1


@pytest.mark.points("p4.loss")
@pytest.mark.parametrize("name", ["loss_fn_3_sequences", "loss_fn_1_sequence"])
def test_the_loss_is_the_mean_over_target_tokens(name):
    saved = fixture(name)
    input_ids, labels, weights = saved.inputs["batch"]  # each (B, S); labels are input_ids shifted by one
    loss = hw3.translation.loss_fn(batch_of(input_ids, labels, weights), TableModel(saved.inputs["table"]))
    assert_close(np.array([loss.item()]), saved.out, "the loss", LOSS_TOLERANCE)


@pytest.mark.points("p4.loss")
@pytest.mark.parametrize("name", ["loss_fn_3_sequences", "loss_fn_1_sequence"])
def test_the_gradient_of_the_loss_reaches_the_model(name):
    saved = fixture(name)
    model = TableModel(saved.inputs["table"])
    hw3.translation.loss_fn(batch_of(*saved.inputs["batch"]), model).backward()
    assert_close(model.table.grad, saved.gradients["table"], "the gradient of the model's table", LOSS_TOLERANCE)


@pytest.mark.points("p4.loss")
def test_labels_of_source_tokens_do_not_count():
    saved = fixture("loss_fn_3_sequences")
    input_ids, labels, weights = saved.inputs["batch"]
    model = TableModel(saved.inputs["table"])
    other_labels = np.where(weights == 0, (labels + 1) % 9, labels)
    loss = hw3.translation.loss_fn(batch_of(input_ids, labels, weights), model)
    other = hw3.translation.loss_fn(batch_of(input_ids, other_labels, weights), model)
    assert_close(np.array(other.item()), loss.item(), "the loss with other labels of weight 0", LOSS_TOLERANCE)


WORDS = ["<pad>", "<eos_de>", "<eos_en>", "hund", "katze", "the", "dog", "saw", "a", "cat"]


class WordTokenizer:
    vocab = {word: number for number, word in enumerate(WORDS)}  # noqa: RUF012 - it is never changed

    def __call__(self, text):
        return {"input_ids": [self.vocab[word] for word in text.replace("<", " <").split()]}

    def decode(self, token_ids):
        return " ".join(WORDS[int(number)] for number in token_ids)


def model_that_says(*words):
    """Make a model whose likeliest next word leads from <eos_de> to the first of `words`, and from each to the next."""
    table = np.zeros((len(WORDS), len(WORDS)))
    for word, following in zip(("<eos_de>", *words), words, strict=False):
        table[WORDS.index(word), WORDS.index(following)] = 1.0
    return TableModel(table)


def translations(model, sources, limit):
    return hw3.translation.generate(
        model=model,
        examples=[{"de": source, "en": "a decoy"} for source in sources],
        src_key="de",
        tgt_key="en",
        tokenizer=WordTokenizer(),
        model_max_length=limit,
        backend=BACKEND,
        desc="test",
    )


@pytest.mark.points("p4.generate")
def test_generate_returns_one_text_for_each_example():
    texts = translations(model_that_says("dog", "<eos_en>"), ["hund", "hund katze"], limit=20)
    assert [type(text) for text in texts] == [str, str]


@pytest.mark.points("p4.generate")
def test_generate_follows_the_likeliest_word_up_to_the_end_of_the_translation():
    model = model_that_says("the", "dog", "saw", "a", "cat", "<eos_en>")
    texts = translations(model, ["hund katze", "katze"], limit=20)
    assert_texts(texts, ["the dog saw a cat", "the dog saw a cat"])


@pytest.mark.points("p4.generate")
def test_generate_returns_the_empty_text_where_the_translation_ends_at_once():
    assert_texts(translations(model_that_says("<eos_en>"), ["hund"], limit=20), [""])


@pytest.mark.points("p4.generate")
def test_generate_asks_the_model_in_evaluation_mode():
    model = model_that_says("dog", "<eos_en>")
    model.train()
    translations(model, ["hund"], limit=20)
    assert not model.was_training, f"the model was in training mode{told('generate.in_training')}"


@pytest.mark.points("p4.generate")
@pytest.mark.parametrize("source", ["hund", "hund katze hund"])
def test_generate_stops_at_the_length_limit(source):
    model = model_that_says("the", "dog", "saw", "a", "cat", "the")  # and so on, without an end
    (text,) = translations(model, [source], limit=6)
    room = 6 - len(source.split()) - 1  # <eos_de> takes a place too
    endless = ["the", "dog", "saw", "a", "cat"]
    # One word more than fits is right as well: nobody asks what follows it.
    assert text.split() in (endless[:room], endless[: room + 1])
