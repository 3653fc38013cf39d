"""The protocol with learners that are its definition: rows in one order, moments of one run."""

from functools import partial

import numpy as np
import pytest

from helpers import slow_dual
from helpers.idx_files import write_mnist
from rosenblatt import visiting_order
from rosenblatt.reproductions.freund_schapire import Images, degree_runs, epochs_up_to, images_of, scaled, visits_of
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import Kernel


@pytest.fixture
def digits(tmp_path):
    write_mnist(tmp_path)
    return images_of(tmp_path, small=False)


def slow_runs(images, degrees, epochs, seed=0):
    train = partial(slow_dual.train, epochs=epochs)
    return list(degree_runs(images, degrees, epochs, seed, train, slow_dual.scores_at))


def test_epochs_are_those_of_the_paper_and_the_last():
    assert epochs_up_to(1) == [0.1, 1]
    assert epochs_up_to(5) == [0.1, 1, 2, 3, 4, 5]
    assert epochs_up_to(10) == [0.1, 1, 2, 3, 4, 10]
    assert epochs_up_to(12) == [0.1, 1, 2, 3, 4, 10, 12]


def test_a_tenth_of_an_epoch_is_a_visit_or_more():
    assert [visits_of(0.1, n) for n in (1, 40, 1198)] == [1, 4, 120]


def explicit_run(X, y, X_test, y_test, visits):
    """Degree 1 by weights: test errors of last, average and vote after so many visits, mistakes, support vectors."""
    Z, Z_test = (np.column_stack([A.astype(np.int64), np.ones(len(A), np.int64)]) for A in (X, X_test))
    classes = np.unique(y)
    scores, mistakes, rows = np.zeros((3, len(y_test), len(classes))), 0, set()
    for k, one in enumerate(classes):
        w = np.zeros(Z.shape[1], np.int64)
        for t in range(visits):
            i = t % len(Z)
            sign = 1 if y[i] == one else -1
            if sign * (Z[i] @ w) <= 0:
                w, mistakes = w + sign * Z[i], mistakes + 1
                rows.add(i)
            scores[1, :, k] += Z_test @ w
            scores[2, :, k] += np.sign(Z_test @ w)
        scores[0, :, k] = Z_test @ w
    errors = [100 * int((classes[one.argmax(axis=1)] != y_test).sum()) / len(y_test) for one in scores]
    return [*errors, mistakes, len(rows)]


@pytest.mark.parametrize("seed", [0, 1])
def test_degree_one_is_a_perceptron_on_the_pixels_as_they_are(digits, seed):
    order = visiting_order(40, seed)
    (run,) = slow_runs(digits, [1], 3, seed)
    assert [moment.epoch for moment in run.moments] == [0.1, 1, 2, 3]
    for moment, visits in zip(run.moments, [4, 40, 80, 120], strict=True):
        X, y = digits.X_train[order], digits.y_train[order]
        expected = explicit_run(X, y, digits.X_test, digits.y_test, visits)
        assert [moment.last, moment.average, moment.vote, moment.mistakes, moment.supports] == expected


def test_a_long_run_was_the_short_one_at_first(digits):
    long, short = slow_runs(digits, [2], 3), slow_runs(digits, [2], 1)
    assert long[0].moments[:2] == short[0].moments


def test_machines_that_stop_early_count_on():
    X = np.repeat(np.eye(3, dtype=np.uint8), 4, axis=0)
    y = np.repeat([1, 2, 3], 4)
    (run,) = slow_runs(Images("apart", X, y, X, y, brightest=1), [1], 10)
    last = run.moments[-1]
    assert (last.epoch, last.last, last.average, last.vote) == (10, 0.0, 0.0, 0.0)
    assert last.mistakes == run.moments[-2].mistakes
    X, y = X[visiting_order(12, 0)], y[visiting_order(12, 0)]
    assert explicit_run(X, y, X, y, 120)[:3] == [0.0, 0.0, 0.0]


def test_every_degree_gets_the_rows_in_one_order_and_its_scale(digits):
    given = {}

    def train(X, y, degree):
        given[degree] = X, y
        return DualState.zeros(3, 6, kernel=Kernel("poly", degree), direct=False)

    runs = list(degree_runs(digits, [1, 2, 3], 2, 5, train, slow_dual.scores_at))
    order = visiting_order(40, 5)
    for degree, (X, y) in given.items():
        assert X.dtype == np.float64
        assert np.array_equal(X, digits.X_train[order] / (1 if degree == 1 else 255))
        assert np.array_equal(y, digits.y_train[order])
    # nothing was learned: all scores are 0, and the first of equals is class 0
    share = 100 * int(np.count_nonzero(digits.y_test)) / 30
    assert {(m.last, m.average, m.vote, m.mistakes, m.supports) for run in runs for m in run.moments} == {
        (share, share, share, 0, 0)
    }


def test_pixels_are_divided_once():
    pixels = np.array([[1, 51, 255]], np.uint8)
    assert scaled(pixels, 255, 4).tolist() == [[1 / 255, 51 / 255, 1.0]]
    assert scaled(pixels, 255, 1).tolist() == [[1.0, 51.0, 255.0]]
