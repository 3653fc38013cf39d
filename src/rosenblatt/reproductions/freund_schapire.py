"""Freund and Schapire 1999, Large Margin Classification Using the Perceptron Algorithm: their table of MNIST."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.parameters import ParameterError, Setting, check_boolean, check_integer, shorten
from rosenblatt.reproductions.images import images_of
from rosenblatt.reproductions.memory import free_cache_size
from rosenblatt.reproductions.protocol import Floats, degree_runs
from rosenblatt.reproductions.result import Reproduction, reproduction
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.voting import scores_at


def freund_schapire_1999(
    data: str | os.PathLike[str] | None = None,
    degrees: Iterable[int] = (1, 2, 3, 4),
    epochs: int = 10,
    small: bool = False,
    device: str | None = None,
    cache_size: float | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Reproduction:
    """Train voted kernel perceptrons on MNIST as Freund and Schapire did, and return their table with ours.

    Ten one-vs-rest machines with K(x, x') = (1 + x . x')^d start at zero and make ``epochs`` passes over the rows in
    one random order, degree 1 on pixels from 0 to 255 and the others on pixels from 0 to 1. Test errors of the last
    weights, of their average and of the vote are those after 0.1, 1, 2, 3, 4 and 10 epochs, from one run for each
    degree.

    Parameters
    ----------
    data : path or None
        A folder with the four files of MNIST, compressed or not; None gets them by scikit-learn's ``fetch_openml``,
        which needs a network the first time.
    degrees : iterable of int
        Degrees of the kernel, from 1 on.
    epochs : int
        Passes over the rows.
    small : bool
        Whether to learn scikit-learn's 1,797 digits instead, two of three to train on: this takes seconds, and the
        paper has no numbers for it.
    device : str or None
        A device of PyTorch, such as "cuda"; None for NumPy.
    cache_size : float or None
        Megabytes of kernel values that are kept from epoch to epoch; None for 8,000, or half of the memory that is free
        where that is less. It changes nothing but the time.
    random_state : int
        The rows are visited in the order ``visiting_order(n, random_state)``.
    verbose : int
        1 shows progress on standard error.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> found = freund_schapire_1999(small=True, degrees=(2, 3), epochs=1)
    >>> found.table["degree"], found.table["epoch"]
    ([2, 2, 3, 3], [0.1, 1, 0.1, 1])
    >>> all(error < 6 for error in found.table["vote"][1::2])
    True
    """
    wanted = _checked_degrees(degrees)
    epochs, seed = check_integer("epochs", epochs, 1), check_integer("random_state", random_state, 0)
    check_boolean("small", small)
    if small and data is not None:
        raise ParameterError(
            Setting("small"),
            " learns digits that come with scikit-learn, so it does not go with ",
            Setting("data"),
            ".",
        )
    images = images_of(data, small)
    cache_size = free_cache_size() if cache_size is None else cache_size

    def train(X: Floats, y: NDArray[np.int64], degree: int) -> DualState:
        if verbose:
            print(f"degree {degree}: {len(X):,} rows, {epochs} epochs", file=sys.stderr, flush=True)
        model = KernelPerceptron(
            kernel="poly",
            degree=degree,
            gamma=1.0,
            coef0=1.0,
            hypothesis="vote",
            shuffle=False,
            max_iter=epochs,
            cache_size=cache_size,
            device=device,
            verbose=verbose,
        )
        return model.fit(X, y).state_

    runs = list(degree_runs(images, wanted, epochs, seed, train, scores_at))
    title = f"{images.name}: {len(images.X_train):,} rows to train on, {len(images.X_test):,} to test on."
    return reproduction(title, runs, with_paper=images.are_mnist)


def _checked_degrees(degrees: Iterable[int]) -> list[int]:
    if isinstance(degrees, str | bytes) or not isinstance(degrees, Iterable):
        raise ParameterError(Setting("degrees"), f" must be integers such as (1, 2, 3), got {shorten(degrees)}.")
    wanted = list(dict.fromkeys(check_integer("degrees", degree, 1) for degree in degrees))
    if not wanted:
        raise ParameterError(Setting("degrees"), " must be one integer or more, got none.")
    return wanted
