"""Arrays of a file: each is taken by its type and shape, and all of them."""

import numpy as np
import pytest

from rosenblatt.storage.schema import StrictArrays


def test_arrays_are_taken_by_type_and_shape_and_all():
    given = {"w": np.ones((2, 3)), "n": np.arange(4)}
    arrays = StrictArrays(given)
    taken = arrays.take("w", "f4 f8", (2, None))
    taken[:] = 0.0
    assert (given["w"] == 1.0).all()
    for types, shape in (("f8", (4,)), ("i8", (None, 4)), ("i8", (3,)), ("i4", (4,))):
        with pytest.raises(ValueError, match="the array 'n' of shape"):
            arrays.take("n", types, shape)
    with pytest.raises(ValueError, match="there is no array 'x'"):
        arrays.take("x", "f8", (None,))


def test_arrays_left_over_are_refused():
    arrays = StrictArrays({"a": np.ones(1), "b": np.ones(1), "last.a": np.zeros(1)})
    arrays.take("a", "f8", (1,))
    with pytest.raises(ValueError, match="unknown array 'b'"):
        arrays.end()
    arrays.take("b", "f8", (1,))
    assert arrays.under("last.").take("a", "f8", (1,)) == 0.0
    assert arrays.under("last.").take("b", "f8", (1,)) == 1.0, "the same as the one without the prefix"
    arrays.end()
