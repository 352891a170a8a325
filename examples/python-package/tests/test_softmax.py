import numpy as np
import pytest
from row_softmax import softmax


@pytest.mark.parametrize("shape", [(1, 1), (2, 31), (3, 300), (0, 5), (5, 0)])
def test_rows_become_their_softmax(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    found = np.full(shape, np.nan, np.float32)
    softmax(x, found)
    powers = np.exp(x)
    np.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


def test_shapes_must_agree() -> None:
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"x has the shape \(2, 3\), out has \(3, 2\)"):
        softmax(x, x.T)


def test_another_type_is_refused_by_name() -> None:
    x = np.ones((2, 3))
    with pytest.raises(Exception, match="`x` is an array of f32"):
        softmax(x, x.astype(np.float32))
