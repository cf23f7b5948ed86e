"""One-hot tensors behave as the dense ones and are never built unless somebody looks."""

import numpy as np
import pytest

from assignment.framework import OneHot, TensorBackend, one_hot, tensor

IDS = np.array([[0, 2], [2, 3]])
TABLE = np.arange(12.0).reshape(4, 3)


def built(x):
    return "array" in x.__dict__


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_with_a_matrix_looks_up_and_its_gradient_adds_up_rows(dtype):
    backend = TensorBackend(dtype=dtype)
    rows, table = one_hot(tensor(IDS, backend), 4), tensor(TABLE, backend, requires_grad=True)
    looked_up = rows @ table
    assert not built(rows)
    np.testing.assert_array_equal(looked_up.to_numpy(), TABLE[IDS])
    weights = np.random.default_rng(0).uniform(size=(2, 2, 3)).astype(dtype)
    looked_up.backward(weights)
    dense = np.eye(4, dtype=dtype)[IDS]
    np.testing.assert_allclose(table.grad.to_numpy(), np.einsum("bsv,bsd->vd", dense, weights), rtol=1e-6)
    assert table.grad.to_numpy().dtype == dtype


def test_the_sum_of_a_product_with_logits_picks_and_its_gradient_is_put_back():
    logits = tensor(TABLE.T, requires_grad=True)  # (3, 4)
    targets = one_hot(tensor([3, 0, 1]), 4)
    for product in (targets * logits, logits * targets):
        picked = product.sum(dim=1)
        assert not built(targets)
        assert picked.to_numpy().tolist() == [[9.0], [1.0], [5.0]]
        logits.zero_grad_()
        picked.backward(np.array([[1.0], [2.0], [3.0]]))
        assert logits.grad.to_numpy().tolist() == [[0, 0, 0, 1], [2, 0, 0, 0], [0, 3, 0, 0]]


def test_the_product_with_logits_is_still_there_for_other_uses():
    logits = tensor(TABLE.T, requires_grad=True)
    product = one_hot(tensor([3, 0, 1]), 4) * logits
    dense = np.eye(4)[[3, 0, 1]]
    np.testing.assert_array_equal((product + 1).to_numpy(), dense * TABLE.T + 1)
    np.testing.assert_array_equal(product.sum(0).to_numpy(), (dense * TABLE.T).sum(0, keepdims=True))
    (product * product).sum().backward()
    np.testing.assert_array_equal(logits.grad.to_numpy(), 2 * dense * TABLE.T)


@pytest.mark.parametrize(
    "use", [lambda x: x.to_numpy(), lambda x: (x * 1).to_numpy(), lambda x: x.view(2, 8).to_numpy()]
)
def test_any_other_use_sees_the_dense_form(use):
    rows = one_hot(tensor(IDS), 4)
    assert isinstance(rows, OneHot)
    assert rows.shape == (2, 2, 4)
    assert rows.size == 16
    np.testing.assert_array_equal(use(rows).reshape(2, 2, 4), np.eye(4)[IDS])


def test_a_stack_of_matrices_is_multiplied_as_by_the_dense_form():
    table = np.arange(24.0).reshape(2, 4, 3)
    rows = one_hot(tensor(IDS), 4)
    np.testing.assert_array_equal((rows @ tensor(table)).to_numpy(), np.eye(4)[IDS] @ table)
    with pytest.raises(ValueError, match="last dim of the left must equal"):
        rows @ tensor(np.ones((5, 3)))


@pytest.mark.parametrize("ids", [[0, 4], [-1, 0], [0.5, 1]])
def test_ids_that_are_no_class_are_refused(ids):
    with pytest.raises(ValueError, match="expected whole numbers from 0 to 3"):
        one_hot(tensor(ids), 4)
