"""The digits that are learned: MNIST from a folder or from OpenML, or the small ones that scikit-learn brings."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_digits

from rosenblatt.parameters import ParameterError
from rosenblatt.reproductions.idx import WHERE, Bytes, read_mnist

_MNIST_TRAINING_ROWS, _MNIST_ROWS = 60_000, 70_000
_LEAST_CLASSES = 3  # two share one machine


@dataclass(frozen=True)
class Images:
    """Images to train on and to test on, a row of pixels each, from 0 to ``brightest``, and their labels."""

    name: str
    X_train: Bytes
    y_train: NDArray[np.int64]
    X_test: Bytes
    y_test: NDArray[np.int64]
    brightest: int = 255

    @property
    def are_mnist(self) -> bool:
        """Whether there are as many as in MNIST, so that the paper's numbers can stand beside theirs."""
        return self.X_train.shape == (_MNIST_TRAINING_ROWS, 784) and self.X_test.shape == (10_000, 784)


def images_of(data: str | os.PathLike[str] | None, small: bool) -> Images:
    """Return scikit-learn's digits if they are to be ``small``, else MNIST from the folder ``data`` or from OpenML.

    Examples
    --------
    >>> digits = images_of(None, small=True)
    >>> digits.X_train.shape, digits.X_test.shape
    ((1198, 64), (599, 64))
    """
    if small:
        return _small_digits()
    if data is None:
        return _openml_mnist()
    parts = read_mnist(data)
    (X_train, y_train), (X_test, y_test) = parts["train"], parts["test"]
    found = Images("MNIST", X_train, y_train.astype(np.int64), X_test, y_test.astype(np.int64))
    if len(np.unique(found.y_train)) < _LEAST_CLASSES:
        raise ParameterError(
            f"the images of {os.fspath(data)} must be of {_LEAST_CLASSES} classes or more, "
            f"got {len(np.unique(found.y_train))}.",
            *WHERE,
        )
    return found


def _small_digits() -> Images:
    """Return 1,797 digits of 8 x 8 pixels from 0 to 16; every third is for testing."""
    digits = load_digits()
    X, y = digits.data.astype(np.uint8), digits.target.astype(np.int64)
    test = np.arange(len(X)) % 3 == 2
    return Images("scikit-learn's digits", X[~test], y[~test], X[test], y[test], brightest=16)


def _openml_mnist() -> Images:
    """Return MNIST as OpenML has it, in the order of the four files; scikit-learn keeps a copy."""
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of each attempt
            X, y = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False, parser=parser, n_retries=1)
    except (OSError, ValueError) as fault:
        raise ParameterError(
            f"MNIST could not be had from OpenML ({' '.join(str(fault).split()) or type(fault).__name__}).", *WHERE
        ) from fault
    if X.shape != (_MNIST_ROWS, 784):
        raise ParameterError(f"OpenML's MNIST must be {_MNIST_ROWS:,} x 784 numbers, got {X.shape}.", *WHERE)
    X, y = X.astype(np.uint8), y.astype(np.int64)
    cut = _MNIST_TRAINING_ROWS
    return Images("MNIST", X[:cut], y[:cut], X[cut:], y[cut:])
