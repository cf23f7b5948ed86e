"""What waits, what is computed when, and what is kept: results are the same as at once (see conftest's two modes)."""

import numpy as np
import pytest

from assignment.framework import Parameter, blocks, ones, tensor, trace_shapes
from assignment.framework.elementwise import Exp
from assignment.framework.operations import MatMul

pytestmark = pytest.mark.usefixtures("on_cpu")

WHOLE = np.random.default_rng(0).uniform(-1, 1, (6, 3, 4))


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blocks, "BLOCK", 24)  # two rows of three


@pytest.fixture
def computed(monkeypatch):
    """The number of rows of each computation of an exponential."""
    rows, forward = [], Exp.forward

    def counted(ctx, a):
        rows.append(len(a))
        return forward(ctx, a)

    monkeypatch.setattr(Exp, "forward", staticmethod(counted))
    return rows


def test_an_expression_waits_and_is_computed_in_blocks_of_rows(computed):
    x = tensor(WHOLE)
    y = (x * 2).exp() + 1
    assert y.shape == (6, 3, 4)
    assert computed == []
    np.testing.assert_allclose(y.to_numpy(), np.exp(WHOLE * 2) + 1)
    assert computed == [2, 2, 2]
    assert y.to_numpy() is y.to_numpy()


def test_backward_computes_each_block_again_from_the_inputs(computed):
    x = tensor(WHOLE, requires_grad=True)
    ((x * 2).exp() + 1).backward(np.ones_like(WHOLE))
    assert computed == [2] * 6
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * np.exp(WHOLE * 2))


def test_what_a_second_expression_needs_is_kept_from_then_on(computed):
    x = tensor(WHOLE, requires_grad=True)
    stream = (x * 2).exp()
    results = [stream + 1, stream + 2, stream + 3, stream + 4]
    for result in results:
        result.array  # noqa: B018  # looks at it
    assert computed == [2] * 3 + [2] * 3  # on the way to the first, and for the second
    sum(result.sum() for result in results).backward()
    np.testing.assert_allclose(x.grad.to_numpy(), 8 * np.exp(WHOLE * 2))


def test_an_operation_across_rows_sees_finished_elements():
    x = tensor(WHOLE, requires_grad=True)
    y = (x * 2).exp() * 3
    for across in (y.sum(0), y.sum(), y.permute(1, 0, 2), y.view(-1), y[1:3], y @ y.permute(0, 2, 1)):
        assert not across.is_waiting
    assert y.sum(1).is_waiting
    assert y.max(-1).is_waiting


def test_an_argument_that_is_the_same_for_all_rows_collects_its_gradient_over_them():
    x, scale, shift = (
        tensor(WHOLE),
        tensor([2.0, 3.0, 4.0, 5.0], requires_grad=True),
        ones((1, 3, 1), requires_grad=True),
    )
    ((x * scale + shift) ** 2).backward(np.ones_like(WHOLE))
    slope = 2 * (WHOLE * [2.0, 3.0, 4.0, 5.0] + 1)
    np.testing.assert_allclose(scale.grad.to_numpy(), (slope * WHOLE).sum((0, 1)))
    np.testing.assert_allclose(shift.grad.to_numpy(), slope.sum((0, 2), keepdims=True))


def test_an_input_that_is_only_looked_at_as_a_constant_gets_no_gradient():
    x, y = tensor(WHOLE, requires_grad=True), tensor(WHOLE, requires_grad=True)
    (x * (y * 2).detach()).backward(np.ones_like(WHOLE))
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * WHOLE)
    assert y.grad is None


def test_a_gradient_can_be_asked_for_of_something_that_waits():
    leaf = (tensor(WHOLE) * 2).requires_grad_()
    (leaf * leaf * 1.5).sum().backward()
    np.testing.assert_allclose(leaf.grad.to_numpy(), 6 * WHOLE)
    parameter = Parameter(tensor(WHOLE) * 2)
    assert not parameter.value.is_waiting


def test_a_sum_that_waits_is_viewed_as_a_matrix_without_being_computed():
    x, bias = tensor(WHOLE, requires_grad=True), tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    logits = x + bias
    rows = logits.view(-1, 4)
    assert rows.is_waiting
    assert logits.is_waiting
    assert not logits.view(6, 12).is_waiting
    np.testing.assert_array_equal(rows.to_numpy(), (WHOLE + np.array([1.0, 2.0, 3.0, 4.0])).reshape(18, 4))
    weights = np.arange(72.0).reshape(18, 4)
    (rows * 1).backward(weights)
    np.testing.assert_array_equal(x.grad.to_numpy(), weights.reshape(6, 3, 4))
    np.testing.assert_array_equal(bias.grad.to_numpy(), weights.sum(0))


def test_an_endless_expression_is_computed_in_parts():
    x = tensor(WHOLE, requires_grad=True)
    y = x
    for _ in range(3000):
        y = y + x
    np.testing.assert_allclose(y.to_numpy(), 3001 * WHOLE)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.to_numpy(), np.full_like(WHOLE, 3001))


def test_one_operation_alone_is_computed_in_one_piece(computed):
    tensor(WHOLE).exp().to_numpy()
    assert computed == [6]


def test_nothing_waits_while_shapes_are_traced():
    lines = []
    with trace_shapes(lines.append):
        y = tensor(WHOLE).exp() + 1
    assert not y.is_waiting
    assert lines == ["Exp (6, 3, 4) -> (6, 3, 4)", "Add (6, 3, 4) -> (6, 3, 4)"]


def test_errors_come_where_they_are_made_and_not_later():
    with pytest.raises(ValueError, match=r"shapes \(6, 3, 4\) and \(5, 4\) do not fit together"):
        tensor(WHOLE) + ones((5, 4))


def test_a_product_of_matrices_does_not_wait():
    assert MatMul.rowwise_shape(ones((2, 2)), ones((2, 2))) is None
