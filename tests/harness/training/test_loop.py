"""A training run: its learning rates, its checkpoints, and that a stopped one ends as if nothing had happened."""

import importlib.util
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from assignment.framework import TensorBackend, default_backend, tensor, warmup_learning_rate
from assignment.training import batches, checkpoint, grammar, loop, report
from assignment.training.checkpoint import Identity
from assignment.training.errors import TrainingError
from assignment.training.recipe import Recipe
from assignment.training.terminal import Display, duration
from assignment.training.words import Words
from grader.fingerprint import ROOT
from solution.transformer import DecoderLM
from solution.translation import generate

pytestmark = pytest.mark.usefixtures("reference")

RECIPE = Recipe(n_embd=8, n_head=2, n_layer=1, dropout=0.2, model_max_length=21, batch=7, epochs=3, lr=0.01, warmup=3)
PAIRS = grammar.pairs(np.random.default_rng(0), 40)
WORDS = Words(grammar.vocabulary(np.random.default_rng(1)))


@pytest.fixture
def make_trainer(tmp_path):
    """Makes a trainer as a new process would; keywords change the recipe."""

    def make(folder="run", data="text", **changes):
        recipe = replace(RECIPE, **changes)
        (tmp_path / folder).mkdir(exist_ok=True)
        backend = TensorBackend(dtype="float32", seed=recipe.seed)
        default_backend().generator = np.random.default_rng(5)
        sequences, _ = batches.encode(PAIRS, WORDS, recipe.model_max_length)
        model = DecoderLM(
            len(WORDS.vocab),
            recipe.n_embd,
            recipe.n_head,
            recipe.model_max_length,
            recipe.dropout,
            backend=backend,
            n_layer=recipe.n_layer,
        )
        identity = Identity(recipe, data)
        return loop.Trainer(model, identity, sequences[:30], sequences[30:], 0, backend, tmp_path / folder)

    return make


def train(trainer, **limits):
    """Runs to the end; returns what was shown."""
    stream = io.StringIO()
    ended = trainer.run(Display(trainer.steps, stream), lambda: ("score", 50.0), **limits)
    return ended, stream.getvalue()


def results(trainer):
    epochs = [(epoch.number, epoch.train_loss, epoch.valid_loss, epoch.score) for epoch in trainer.place.curve]
    return trainer.model.state(), trainer.optimizer.moments, epochs


def assert_same(ours, theirs):
    assert ours[0].keys() == theirs[0].keys()
    for name in ours[0]:
        np.testing.assert_array_equal(ours[0][name], theirs[0][name], strict=True)
    for index, (count, mean, square) in ours[1].items():
        assert count == theirs[1][index][0]
        np.testing.assert_array_equal(mean, theirs[1][index][1], strict=True)
        np.testing.assert_array_equal(square, theirs[1][index][2], strict=True)
    assert ours[2] == theirs[2]


def test_training_goes_through_all_epochs_and_the_losses_fall(make_trainer):
    trainer = make_trainer()
    ended, shown = train(trainer)
    assert ended
    assert (trainer.place.epoch, trainer.place.taken, trainer.steps) == (3, 15, 15)
    losses = [(epoch.train_loss, epoch.valid_loss) for epoch in trainer.place.curve]
    assert losses[2][0] < losses[0][0]
    assert losses[2][1] < losses[0][1]
    assert [line.split(":")[0] for line in shown.splitlines()] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]


def test_a_run_that_is_stopped_after_every_step_ends_bit_for_bit_as_one_that_is_not(make_trainer):
    whole = make_trainer("whole")
    train(whole)
    processes, ended = 0, False
    while not ended:
        trainer = make_trainer("stopped")
        assert trainer.resume() is (processes > 0)
        trainer.estimate()
        ended, _ = train(trainer, limit_seconds=0)
        processes += 1
        assert trainer.place.taken == processes
    assert processes == 15
    assert_same(results(trainer), results(whole))


@pytest.mark.parametrize("every_steps", [1, 4])
def test_a_run_goes_on_from_its_last_checkpoint_when_later_steps_are_lost(make_trainer, monkeypatch, every_steps):
    whole = make_trainer("whole")
    train(whole)
    lost = make_trainer("lost")
    step = lost.step

    def step_or_die(chosen):
        if lost.place.taken == 8:
            raise KeyboardInterrupt
        return step(chosen)

    monkeypatch.setattr(lost, "step", step_or_die)
    with pytest.raises(KeyboardInterrupt):
        train(lost, every_steps=every_steps)
    again = make_trainer("lost")
    assert again.resume()
    assert again.place.taken == 8
    train(again)
    assert_same(results(again), results(whole))


def test_a_checkpoint_is_written_after_every_epoch_and_the_one_before_is_deleted(make_trainer):
    trainer = make_trainer()
    train(trainer)
    assert sorted(path.name for path in trainer.folder.iterdir()) == ["arrays-00000015.npz", "checkpoint.json"]


def test_a_finished_run_has_nothing_to_go_on_with(make_trainer):
    train(make_trainer())
    again = make_trainer()
    before = (again.resume(), results(again))
    assert train(again) == (True, "")
    assert_same(results(again), before[1])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lr": 0.02}, "--lr 0.01, not 0.02"),
        ({"n_embd": 16}, "--n-embd 8, not 16"),
        ({"seed": 1, "dropout": 0.0}, "--dropout 0.2, not 0.0; --seed 0, not 1"),
        ({"data": "other"}, "another text"),
    ],
)
def test_a_checkpoint_of_other_options_or_text_is_refused_in_one_line(make_trainer, changes, said):
    train(make_trainer(), limit_seconds=0)
    with pytest.raises(TrainingError) as failure:
        make_trainer(**changes).resume()
    assert said in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_checkpoint_of_another_model_is_refused(make_trainer, monkeypatch):
    train(make_trainer(), limit_seconds=0)
    trainer = make_trainer()
    monkeypatch.setattr(trainer.model, "lm_head", None)
    with pytest.raises(TrainingError, match="does not fit this model"):
        trainer.resume()


@pytest.mark.parametrize("damage", ["record", "arrays", "gone", "format"])
def test_a_damaged_checkpoint_is_told_in_one_line(make_trainer, damage):
    trainer = make_trainer()
    train(trainer, limit_seconds=0)
    record = trainer.folder / "checkpoint.json"
    (packed,) = trainer.folder.glob("*.npz")
    if damage == "record":
        record.write_text(record.read_text()[:-50])
    elif damage == "arrays":
        packed.write_bytes(packed.read_bytes()[:-100])
    elif damage == "gone":
        packed.unlink()
    else:
        record.write_text(json.dumps(json.loads(record.read_text()) | {"format": "hw3-checkpoint/9"}))
    with pytest.raises(TrainingError, match=r"checkpoint\.json") as failure:
        make_trainer().resume()
    assert "\n" not in str(failure.value)


def test_a_checkpoint_holds_no_pickled_object(make_trainer):
    trainer = make_trainer()
    train(trainer, limit_seconds=0)
    (packed,) = trainer.folder.glob("*.npz")
    found = checkpoint.read_arrays(packed)
    assert {array.dtype.kind for array in found.values()} == {"f"}
    assert {name.partition(".")[0] for name in found} == {"parameter", "mean", "square"}


def test_the_estimate_takes_no_step_and_draws_no_random_number(make_trainer):
    trainer = make_trainer()
    state, drawn = trainer.model.state(), checkpoint.random_states(trainer.backend)
    assert trainer.estimate() > 0
    assert checkpoint.random_states(trainer.backend) == drawn
    assert not trainer.optimizer.moments
    for name, array in trainer.model.state().items():
        np.testing.assert_array_equal(array, state[name])


def test_the_average_is_of_the_last_epochs(make_trainer):
    trainer = make_trainer(average=2)
    states = []
    for _ in range(3):
        train(trainer, limit_seconds=0) if trainer.place.epoch < 3 else None
        while trainer.place.step:
            train(trainer, limit_seconds=0)
        states.append(trainer.model.state())
    found = trainer.final_state()
    for name in found:
        np.testing.assert_allclose(found[name], (states[1][name] + states[2][name]) / 2, rtol=1e-6)
    assert sorted(path.name for path in trainer.folder.glob("epoch-*")) == ["epoch-0002.npz", "epoch-0003.npz"]


def test_averages_of_an_earlier_run_are_not_taken(make_trainer):
    trainer = make_trainer(average=2)
    checkpoint.write_arrays(trainer.folder / "epoch-0009.npz", {"other": np.zeros(1)})
    assert not trainer.resume()
    assert list(trainer.folder.iterdir()) == []
    assert trainer.final_state().keys() == trainer.model.state().keys()


def test_a_loss_that_is_no_number_ends_the_run_before_it_is_saved(make_trainer):
    trainer = make_trainer()
    trainer.model.ln.bias.value.array[:] = np.nan
    with pytest.raises(TrainingError, match="the loss is nan at step 1"):
        train(trainer, every_steps=1)
    assert list(trainer.folder.iterdir()) == []


def test_the_validation_loss_is_the_mean_over_target_tokens_without_dropout(make_trainer, monkeypatch):
    trainer = make_trainer()
    monkeypatch.setattr(loop, "EVALUATION_BATCH", 3)
    in_parts = trainer.valid_loss()
    monkeypatch.setattr(loop, "EVALUATION_BATCH", 100)
    assert trainer.valid_loss() == pytest.approx(in_parts, rel=1e-5)
    assert trainer.model.training


def test_a_run_on_a_device_that_refuses_numpy_arrays_is_trained_saved_and_resumed(make_trainer, monkeypatch):
    spec = importlib.util.spec_from_file_location("refusing", ROOT / "tests" / "harness" / "framework" / "refusing.py")
    refusing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(refusing)
    monkeypatch.setattr(TensorBackend.__init__, "__defaults__", (refusing.MODULE, "float64", None))
    monkeypatch.setattr(default_backend(), "xp", refusing.MODULE)
    monkeypatch.setattr(default_backend(), "on_cpu", False)
    whole = make_trainer("whole", label_smoothing=0.1, epochs=1)
    train(whole)
    texts = generate(whole.model, PAIRS[30:], "de", "en", WORDS, 21, whole.backend, "")
    early = make_trainer("stopped", label_smoothing=0.1, epochs=1)
    train(early, limit_seconds=0)
    later = make_trainer("stopped", label_smoothing=0.1, epochs=1)
    assert later.resume()
    train(later)
    assert generate(later.model, PAIRS[30:], "de", "en", WORDS, 21, later.backend, "") == texts
    for name, array in later.model.state().items():
        np.testing.assert_array_equal(array, whole.model.state()[name])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda loss: tensor([1.0, 2.0]) * loss, "loss_fn returned a tensor of shape (2,); expected a tensor of one"),
        (lambda loss: loss.item(), "loss_fn returned float; expected a tensor of one number"),
        (lambda _: None, "loss_fn returned NoneType; expected"),
        (lambda loss: loss.detach(), "loss_fn returned a number that no gradient leads back from"),
    ],
)
def test_a_loss_that_nothing_can_be_learned_from_is_told_in_a_line(wrong, said, make_trainer, monkeypatch):
    right = loop.loss_fn
    monkeypatch.setattr(loop, "loss_fn", lambda batch, model: wrong(right(batch, model)))
    with pytest.raises(TrainingError) as failure:
        make_trainer().estimate()
    assert said in str(failure.value)


@pytest.mark.parametrize(
    ("returned", "got"), [(None, "NoneType"), ("the house", "str"), (["a"], "a list of 1"), ([1, 2], "a list of 2")]
)
def test_translations_that_are_none_are_told_in_a_line(returned, got, make_trainer, monkeypatch):
    monkeypatch.setattr(report, "generate", lambda *_: returned)
    trainer = make_trainer()
    with pytest.raises(TrainingError) as failure:
        report.translated(trainer.model, PAIRS[:2], WORDS, 21, trainer.backend)
    assert str(failure.value) == f"generate returned {got}; expected a list of 2 texts, one for each example"


def test_label_smoothing_takes_the_place_of_the_loss(make_trainer):
    plain, smoothed = make_trainer(dropout=0.0), make_trainer(dropout=0.0, label_smoothing=0.3)
    batch = plain.batch(plain.train[:4])
    low, high = plain.loss_of(batch).item(), smoothed.loss_of(batch).item()
    assert low != high
    assert smoothed.valid_loss() == plain.valid_loss()


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]),
        ("linear", [0.25, 0.5, 0.75, 1, 4 / 5, 3 / 5, 2 / 5, 1 / 5]),
    ],
)
def test_the_learning_rate_rises_to_its_value_and_stays_or_falls_in_a_line(schedule, expected):
    recipe = Recipe(schedule=schedule, warmup=3, lr=2.0)
    assert [recipe.learning_rate(step, 8) / 2 for step in range(1, 9)] == pytest.approx(expected)


def test_the_learning_rate_of_the_paper_is_the_frameworks():
    recipe = Recipe(schedule="paper", warmup=10, lr=2.0, n_embd=64)
    assert recipe.learning_rate(7, 100) == 2 * warmup_learning_rate(7, 64, 10)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"batch": 0}, "--batch 0; expected 1 or more"),
        ({"lr": -1.0}, "--lr -1.0; expected 0 or more"),
        ({"lr": float("nan")}, "--lr nan; expected 0 or more"),
        ({"dropout": float("nan")}, "--dropout nan; expected 0 or more"),
        ({"dropout": 1.0}, "--dropout 1.0; expected less than 1"),
        ({"schedule": "cosine"}, "--schedule cosine; expected one of constant, linear, paper"),
        ({"n_embd": 30, "n_head": 4}, "--n-embd 30 with --n-head 4"),
    ],
)
def test_a_recipe_that_no_run_can_have_is_refused(changes, said):
    with pytest.raises(TrainingError) as failure:
        Recipe(**changes)
    assert said in str(failure.value)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_loss_speed_and_time_left_on_one_line_that_moves():
    stream = Terminal()
    display = Display(100, stream)
    display.step(10, 1, loss=2.5, tokens=4000, seconds=2.0)
    display.step(11, 1, loss=2.5, tokens=4000, seconds=2.0)
    assert "\n" not in stream.getvalue()
    assert "step 11/100, epoch 1: loss 2.500, 2,000 tokens/s, 3 min left" in stream.getvalue()
    display.line("epoch 1")
    assert stream.getvalue().endswith("\n")


def test_elsewhere_there_are_plain_lines_and_few():
    stream = io.StringIO()
    display = Display(100, stream)
    for step in range(1, 50):
        display.step(step, 1, loss=2.5, tokens=10, seconds=0.1)
    display.line("epoch 1")
    assert stream.getvalue() == "epoch 1\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (89, "89 s"), (100, "2 min"), (3600, "60 min"), (7800, "2 h 10 min")]
)
def test_a_time_is_written_for_people(seconds, text):
    assert duration(seconds) == text
