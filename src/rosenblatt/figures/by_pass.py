"""Errors after each pass, on the rows that a model learns from and on others: what figures 4.3 and 4.4 share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Rows: TypeAlias = tuple[np.ndarray, np.ndarray]  # and their labels


def errors_by_pass(model: Any, training: Rows, test: Rows, passes: int) -> np.ndarray:
    """Return a line of training errors and one of test errors, in percent, after each of so many passes.

    Where a pass makes no mistake, nothing changes from there on.

    >>> from rosenblatt import Perceptron
    >>> rows = np.array([[1.0], [0.0]]), np.array([1, -1])
    >>> errors_by_pass(Perceptron(shuffle=False, max_iter=5), rows, rows, passes=5)
    array([[ 0., 50.,  0.,  0.,  0.],
           [ 0., 50.,  0.,  0.,  0.]])
    """
    table = model.score_by_pass(*training, *test)
    errors = 100 * np.array([table["training_error"], table["test_error"]])
    return np.pad(errors, ((0, 0), (0, passes - len(table))), mode="edge")
