"""Modules: what is registered, in which order, and what hooks, modes and states do."""

import numpy as np
import pytest

from assignment.framework import Module, Parameter, TensorBackend, ones, tensor, zeros


class Scale(Module):
    def __init__(self, size, bias=True):
        super().__init__()
        self.weights = Parameter(ones((size,)))
        self.bias = Parameter(zeros((size,)), "bias") if bias else None

    def forward(self, x):
        return x * self.weights.value if self.bias is None else x * self.weights.value + self.bias.value


class Pair(Module):
    def __init__(self):
        super().__init__()
        self.first = Scale(2)
        self.second = Scale(2, bias=False)
        self.add_parameter("offset", tensor([5.0]))

    def forward(self, x):
        return self.second(self.first(x)) + self.offset.value


def test_parameters_are_named_by_their_path():
    assert [name for name, _ in Pair().named_parameters()] == [
        "offset",
        "first.weights",
        "first.bias",
        "second.weights",
    ]
    assert len(Pair().parameters()) == 4


def test_modules_are_named_by_their_path_with_the_module_itself_first():
    pair = Pair()
    assert pair.named_modules() == [("", pair), ("first", pair.first), ("second", pair.second)]
    assert pair.modules() == [pair, pair.first, pair.second]
    assert list(pair._modules) == ["first", "second"]
    assert list(pair.first._parameters) == ["weights", "bias"]


def test_a_parameter_used_twice_is_listed_once():
    pair = Pair()
    pair.second.weights = pair.first.weights
    assert len(pair.named_parameters()) == 4
    assert len(pair.parameters()) == 3


def test_an_attribute_can_change_its_kind():
    scale = Scale(2)
    scale.bias = None
    assert scale.bias is None
    assert [name for name, _ in scale.named_parameters()] == ["weights"]
    scale.bias = Parameter(zeros((2,)))
    assert [name for name, _ in scale.named_parameters()] == ["weights", "bias"]
    del scale.bias
    assert not hasattr(scale, "bias")


def test_training_mode_reaches_every_module():
    pair = Pair()
    assert pair.training
    pair.eval()
    assert not any(module.training for module in pair.modules())
    pair.train()
    assert all(module.training for module in pair.modules())


def test_a_parameters_value_always_requires_a_gradient_and_has_no_history():
    parameter = Parameter(tensor([1.0], requires_grad=True) * 2)
    assert (parameter.value.requires_grad, parameter.value.is_leaf()) == (True, True)
    parameter.value -= 0.5
    assert (parameter.value.item(), parameter.value.is_leaf()) == (1.5, True)
    parameter.update(tensor([7.0]))
    assert (parameter.value.item(), parameter.value.requires_grad, parameter.grad) == (7.0, True, None)
    with pytest.raises(TypeError, match="a Parameter got float; expected a Tensor"):
        Parameter(1.0)


def test_gradients_reach_parameters_and_are_forgotten_on_request():
    pair = Pair()
    pair(ones((3, 2))).sum().backward()
    assert pair.first.bias.grad.to_numpy().tolist() == [3.0, 3.0]
    assert pair.offset.grad.item() == 6.0
    pair.zero_grad()
    assert [parameter.grad for parameter in pair.parameters()] == [None] * 4


def test_forward_hooks_see_the_call_may_replace_the_output_and_can_be_removed():
    scale, seen = Scale(1), []
    remove = scale.register_forward_hook(lambda module, inputs, output: seen.append((module, inputs, output)))
    remove_double = scale.register_forward_hook(lambda _module, _inputs, output: output * 2)
    x = tensor([3.0])
    assert scale(x).item() == 6.0
    ((module, inputs, output),) = seen
    assert (module is scale, inputs[0] is x, output.item()) == (True, True, 3.0)
    remove()
    remove_double()
    assert scale(x).item() == 3.0
    assert len(seen) == 1


def test_a_state_goes_out_and_in_as_arrays():
    source, target = Pair(), Pair()
    source.first.weights.update(tensor([2.0, 3.0]))
    state = source.state()
    target.load_state(state)
    assert target.first.weights.value.to_numpy().tolist() == [2.0, 3.0]
    state["first.weights"][0] = 99
    assert source.first.weights.value.to_numpy().tolist() == [2.0, 3.0]
    assert target.first.weights.value.to_numpy().tolist() == [2.0, 3.0]


def test_a_state_keeps_the_dtype_of_the_module():
    scale = Module()
    scale.weights = Parameter(ones((2,), TensorBackend(dtype="float32")))
    scale.load_state({"weights": np.array([0.1, 0.2])})
    assert scale.weights.value.to_numpy().dtype == "float32"


def test_a_state_that_does_not_fit_is_refused():
    pair = Pair()
    state = pair.state()
    with pytest.raises(KeyError, match=r"missing \['offset'\] and unknown \['extra'\]"):
        pair.load_state({**{k: v for k, v in state.items() if k != "offset"}, "extra": np.ones(1)})
    with pytest.raises(ValueError, match=r"offset arrived with shape \(2,\); expected \(1,\)"):
        pair.load_state({**state, "offset": np.ones(2)})


def test_forgetting_the_super_call_is_said():
    class Forgetful(Module):
        def __init__(self):
            self.size = 3

    with pytest.raises(AttributeError, match=r"before super\(\).__init__\(\); call that first"):
        Forgetful()


def test_missing_attributes_and_methods_are_said():
    with pytest.raises(AttributeError, match="Scale has no attribute 'wieghts'"):
        _ = Scale(1).wieghts
    with pytest.raises(AttributeError, match="Scale has no attribute 'wieghts'"):
        del Scale(1).wieghts
    with pytest.raises(NotImplementedError, match=r"Module\.forward"):
        Module()(1)
