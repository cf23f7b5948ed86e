"""How a case becomes calls: objects built, parameters set, inputs made, arrays gathered."""

import numpy as np
import pytest

from grader.case import Call, Case, Input, Mode, Role, Status

SOURCE = {
    "nn": """
import random
import numpy as np
from assignment.framework import Module, Parameter, default_backend, rand, tensor_from_numpy, zeros, ones

class Linear(Module):
    def __init__(self, size, bias=True, backend=None):
        super().__init__()
        self.weights = Parameter(rand((size, size), backend=backend), "weights")
        self.bias = Parameter(zeros((size,), backend=backend), "bias") if bias else None
    def forward(self, x):
        y = x @ self.weights.value
        return y if self.bias is None else y + self.bias.value
    def twice(self, x):
        return self(self(x))

class Pair(Module):
    def __init__(self, backend=None):
        super().__init__()
        self.first, self.second, self.unused = (Linear(2, backend=backend) for _ in range(3))
    def forward(self, x):
        return self.second(self.first(x))

class Bare(Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
    def forward(self, x):
        return x * self.size

class Failing(Module):
    def __init__(self, backend=None):
        super().__init__()
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        if self.calls == 2:
            raise ValueError("the second call")
        return x * self.calls

class Modes(Module):
    def __init__(self, backend=None):
        super().__init__()
    def forward(self, x):
        return x * (2 if self.training else 1)

def scale(x, factor, *, shift=0):
    return x * factor + shift
def cut(x):
    return tensor_from_numpy(x.to_numpy())
def array(x):
    return x.to_numpy()
def single(x):
    return x.to_numpy().astype("float32")
def half(x):
    return x.to_numpy().astype("float16")
def objects(x):
    return np.array([None, x], dtype=object)
def masked(x):
    return np.ma.masked_array(x.to_numpy(), mask=[True, False])
def view(x):
    return np.arange(12.0).reshape(3, 4).T
def nothing(x):
    return None
def text(x):
    return "1.0"
def pair(x):
    return x, x
def truth(x):
    return x > 1
def names(x, word, none, flag):
    return x if (word, none, flag) == ("w", None, True) else None
def total(x):
    return x.sum()
def mutate(x):
    x.array[...] = 0
    return x * 1
def dtype_of(x):
    return np.array([x.dtype.itemsize, x.backend.dtype.itemsize])
def draws(x):
    ours = default_backend().generator.random(), rand((1,), backend=x.backend).item()
    return np.array([random.random(), np.random.random(), *ours])
random.seed(5); np.random.seed(5)
""",
    "translation": """
def generate(model, examples, src_key, tgt_key, tokenizer, model_max_length, backend, desc):
    sentences = []
    if desc == "test":
        model.eval()
    for example in examples:
        ids = tokenizer(f"{example[src_key]}<eos_{src_key}>")["input_ids"]
        start = len(ids)
        from assignment.framework import tensor
        while len(ids) <= model_max_length:
            logits = model(idx=tensor([ids], backend=backend)).to_numpy()
            ids.append(int(logits[0, -1].argmax()))
            if ids[-1] == tokenizer.vocab[f"<eos_{tgt_key}>"]:
                ids.pop()
                break
        sentences.append(tokenizer.decode(ids[start:]))
    return sentences

def loss_fn(batch, model):
    logits = model(idx=batch["input_ids"])
    return (logits.sum(2) * batch["label_token_weights"].view(*batch["labels"].shape, 1)).sum()
""",
}
X = np.array([[1.0, 2.0], [3.0, 4.0]])
W = np.array([[1.0, 2.0], [0.5, -1.0]])
B = np.array([0.25, -0.5])


def _call(x=X, cotangent=None, **more):
    return Call({"x": Input(np.asarray(x))}, cotangent=cotangent, **more)


@pytest.fixture(scope="module")
def run(run_all):
    def run_one(case: Case):
        (answer,) = run_all(SOURCE, case)
        return answer

    return run_one


def test_given_parameters_are_loaded_and_every_gradient_comes_back(run):
    cotangent = np.array([[1.0, 0.0], [2.0, -1.0]])
    answer = run(Case("nn.Linear", (_call(cotangent=cotangent),), {"size": 2}, {"weights": W, "bias": B}))
    assert answer.status is Status.OK
    assert (answer.absent, answer.surplus, answer.reshaped) == ((), (), ())
    np.testing.assert_allclose(answer.arrays["0.out"], X @ W + B, rtol=1e-15)
    np.testing.assert_allclose(answer.arrays["0.grad.x"], cotangent @ W.T, rtol=1e-15)
    np.testing.assert_allclose(answer.arrays["0.grad.param.weights"], X.T @ cotangent, rtol=1e-15)
    np.testing.assert_allclose(answer.arrays["0.grad.param.bias"], cotangent.sum(0), rtol=1e-15)
    assert set(answer.arrays) == {"0.out", "0.grad.x", "0.grad.param.weights", "0.grad.param.bias"}


def test_own_parameters_are_reported_as_they_were_at_the_first_call(run):
    answer = run(Case("nn.Linear", (_call(),), {"size": 2}, seed=3))
    assert answer.arrays["param.bias"].tolist() == [0.0, 0.0]
    expected = np.random.default_rng(3).random((2, 2))
    np.testing.assert_array_equal(answer.arrays["param.weights"], expected)
    np.testing.assert_allclose(answer.arrays["0.out"], X @ expected, rtol=1e-15)


def test_parameters_that_do_not_fit_are_named_and_keep_the_students_value(run):
    given = {"weights": np.ones((2, 3)), "scale": np.ones(2)}
    answer = run(Case("nn.Linear", (_call(),), {"size": 2}, given))
    assert (answer.absent, answer.surplus, answer.reshaped) == (("scale",), ("bias",), ("weights",))
    assert answer.arrays["param.weights"].shape == (2, 2)
    assert answer.arrays["param.bias"].tolist() == [0.0, 0.0]


def test_a_parameter_that_receives_no_gradient_has_none(run):
    answer = run(Case("nn.Pair", (_call(cotangent=np.ones((2, 2))),)))
    gradients = {name for name in answer.arrays if ".grad.param." in name}
    assert gradients == {
        f"0.grad.param.{layer}.{kind}" for layer in ("first", "second") for kind in ("weights", "bias")
    }


def test_gradients_are_of_one_call_each(run):
    call = _call(cotangent=np.ones((2, 2)))
    answer = run(Case("nn.Linear", (call, call), {"size": 2}, {"weights": W, "bias": B}))
    np.testing.assert_array_equal(answer.arrays["0.grad.param.weights"], answer.arrays["1.grad.param.weights"])


def test_a_method_can_be_called_by_name(run):
    answer = run(Case("nn.Linear", (_call(method="twice"),), {"size": 2, "bias": False}, {"weights": W}))
    np.testing.assert_allclose(answer.arrays["0.out"], X @ W @ W, rtol=1e-14)


def test_a_method_that_does_not_exist_is_missing(run):
    answer = run(Case("nn.Linear", (_call(method="thrice"),), {"size": 2}))
    assert (answer.calls[0].status, answer.calls[0].trouble.text) == (Status.MISSING, "nn.Linear has no method thrice")


def test_a_constructor_without_backend_is_not_given_one(run):
    answer = run(Case("nn.Bare", (_call(),), {"size": 3}))
    assert answer.arrays["0.out"].tolist() == [[3.0, 6.0], [9.0, 12.0]]


def test_a_constructor_that_lacks_an_argument_is_missing_it(run):
    answer = run(Case("nn.Bare", (_call(),), {"size": 3, "eps": 1.0}))
    assert (answer.status, answer.trouble.text) == (Status.MISSING, "Bare.__init__ takes no argument eps")


def test_a_call_that_raises_ends_only_itself(run):
    answer = run(Case("nn.Failing", (_call(), _call(), _call())))
    assert [call.status for call in answer.calls] == [Status.OK, Status.RAISED, Status.OK]
    assert answer.calls[1].trouble.text == "the second call"
    np.testing.assert_array_equal(answer.arrays["2.out"], 3 * X)


def test_the_mode_is_set_before_each_call(run):
    answer = run(Case("nn.Modes", (_call(mode=Mode.TRAIN), _call(mode=Mode.EVAL), _call(mode=Mode.TRAIN))))
    assert [answer.arrays[f"{index}.out"][0, 0] for index in range(3)] == [2.0, 1.0, 2.0]


def test_plain_values_and_keywords_arrive_as_they_are(run):
    inputs = {"x": Input(X), "factor": Input(3, Role.PLAIN)}
    answer = run(Case("nn.scale", (Call(inputs, keywords={"shift": 0.5}),)))
    np.testing.assert_array_equal(answer.arrays["0.out"], 3 * X + 0.5)
    words = {"x": Input(X), "a": Input("w", Role.PLAIN), "b": Input(None, Role.PLAIN), "c": Input(True, Role.PLAIN)}
    assert run(Case("nn.names", (Call(words),))).calls[0].status is Status.OK


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing", "returned NoneType; expected a Tensor"),
        ("text", "returned str; expected a Tensor"),
        ("pair", "returned tuple; expected a Tensor"),
        ("half", "an array of float16; expected float64 or float32"),
        ("objects", "an array of object; expected float64 or float32"),
    ],
)
def test_what_is_no_tensor_of_numbers_is_a_bad_value(run, name, text):
    outcome = run(Case(f"nn.{name}", (_call(np.ones(2)),))).calls[0]
    assert (outcome.status, outcome.trouble.text) == (Status.BAD_VALUE, text)


@pytest.mark.parametrize(("name", "dtype"), [("array", "float64"), ("single", "float32"), ("masked", "float64")])
def test_numpy_arrays_come_back_in_their_own_type_without_a_gradient(run, name, dtype):
    answer = run(Case(f"nn.{name}", (_call(np.ones(2), np.ones(2)),)))
    assert answer.calls[0].status is Status.OK
    assert answer.arrays["0.out"].dtype == dtype
    assert set(answer.arrays) == {"0.out"}


def test_arrays_come_back_owned_native_and_in_order(run):
    array = run(Case("nn.view", (_call(),))).arrays["0.out"]
    np.testing.assert_array_equal(array, np.arange(12.0).reshape(3, 4).T)
    assert array.flags.c_contiguous
    assert array.flags.owndata
    assert array.flags.writeable


def test_an_output_without_history_has_no_gradients(run):
    answer = run(Case("nn.cut", (_call(cotangent=np.ones((2, 2))),)))
    assert answer.calls[0].status is Status.OK
    assert set(answer.arrays) == {"0.out"}


def test_a_cotangent_is_cut_to_an_output_of_another_shape(run):
    answer = run(Case("nn.total", (_call(cotangent=np.array([[3.0, 4.0], [5.0, 6.0]])),)))
    assert answer.calls[0].status is Status.OK
    np.testing.assert_array_equal(answer.arrays["0.grad.x"], np.full((2, 2), 3.0))


def test_the_cotangent_of_a_single_number_may_have_any_shape_of_one(run):
    answer = run(Case("nn.total", (_call(cotangent=np.array(2.0)),)))
    np.testing.assert_array_equal(answer.arrays["0.grad.x"], np.full((2, 2), 2.0))


def test_an_input_changed_in_place_is_fresh_for_the_next_call(run):
    answer = run(Case("nn.mutate", (_call(), _call())))
    assert answer.arrays["1.out"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    answer = run(Case("nn.scale", (Call({"x": Input(X), "f": Input(1, Role.PLAIN)}),)))
    np.testing.assert_array_equal(answer.arrays["0.out"], X)


@pytest.mark.parametrize(("dtype", "size"), [("float64", 8), ("float32", 4)])
def test_the_backend_has_the_dtype_of_the_case(run, dtype, size):
    answer = run(Case("nn.dtype_of", (_call(),), dtype=dtype))
    assert answer.arrays["0.out"].tolist() == [size, size]


def test_every_source_of_random_numbers_is_seeded_by_the_case_alone(run_all):
    cases = [Case("nn.draws", (_call(),), seed=seed) for seed in (1, 2, 1)]
    first, second, third = (answer.arrays["0.out"] for answer in run_all(SOURCE, *cases))
    assert (first == third).all()
    assert (first != second).all()
    assert first[2] == np.random.default_rng(1).random()


def test_a_batch_and_a_table_model_take_the_place_of_data_and_model(run):
    table = np.arange(9.0).reshape(3, 3)
    batch = np.array([[[0, 2]], [[1, 1]], [[1, 0]]], dtype=np.float64)
    inputs = {"batch": Input(batch, Role.BATCH), "model": Input(table, Role.TABLE_MODEL)}
    answer = run(Case("translation.loss_fn", (Call(inputs, cotangent=np.ones(1)),)))
    assert answer.calls[0].status is Status.OK, answer.calls[0].trouble
    assert answer.arrays["0.out"].item() == 3.0  # row 0 of the table, once
    np.testing.assert_array_equal(answer.arrays["0.grad.model"], [[1, 1, 1], [0, 0, 0], [0, 0, 0]])


def _generate(desc: str) -> Case:
    words = ["<eos_de>", "<eos_en>", "ein", "a", "tree"]
    table = np.zeros((5, 5))
    table[0, 3] = table[3, 4] = table[4, 1] = 1.0  # <eos_de> -> a -> tree -> <eos_en>
    inputs = {
        "model": Input(table, Role.TABLE_MODEL),
        "examples": Input([{"de": "ein", "en": "a"}, {"de": "ein ein ein ein", "en": "a"}], Role.EXAMPLES),
        "src_key": Input("de", Role.PLAIN),
        "tgt_key": Input("en", Role.PLAIN),
        "tokenizer": Input(words, Role.TOKENIZER),
        "model_max_length": Input(5, Role.PLAIN),
        "backend": Input(None, Role.BACKEND),
        "desc": Input(desc, Role.PLAIN),
    }
    return Case("translation.generate", (Call(inputs),))


def test_generated_sentences_come_back_as_padded_ids(run):
    answer = run(_generate("test"))
    assert answer.calls[0].status is Status.OK, answer.calls[0].trouble
    assert answer.arrays["0.out"].tolist() == [[3, 4], [3, -1]]


def test_a_model_that_generates_in_training_mode_reads_the_row_after_the_right_one(run):
    # After <eos_de>, row 0 of the table, it reads row 1, which is all zero: the first word is taken, <eos_de> again.
    answer = run(_generate("in training"))
    assert answer.calls[0].status is Status.OK, answer.calls[0].trouble
    assert answer.arrays["0.out"].tolist() == [[0, 0, 0, 0], [0, -1, -1, -1]]
