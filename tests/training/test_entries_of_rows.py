"""Sparse rows whose entries are in any order, as vectorizers of text return them, or repeat a column."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, VotedPerceptron
from rosenblatt.kernels.compiler import Kernel
from rosenblatt.training import rows
from rosenblatt.training.predict import activations, best_classes, predicted
from rosenblatt.training.rows import FeatureRanges, as_rows


def sparse(seed, n=60, d=40, share=0.5):
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.normal(size=(n, d)) * (rng.random((n, d)) < share)), rng


def shuffled_entries(X, rng):
    """Return the same matrix with the entries of each row in any order."""
    order = np.concatenate([start + rng.permutation(stop - start) for start, stop in zip(X.indptr, X.indptr[1:])])  # noqa: B905
    return sp.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def repeated_entries(X, rng):
    """Return a matrix that has entries of columns drawn at random, some of them twice in a row."""
    return sp.csr_array((X.data, rng.integers(0, X.shape[1], X.nnz).astype(np.int32), X.indptr), shape=X.shape)


@pytest.fixture
def examined(monkeypatch):
    """Have duplicates looked for among few entries, too."""
    monkeypatch.setattr(rows, "_MANY_ENTRIES", 0)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, PassiveAggressive, AROW, VotedPerceptron])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_order_of_entries_does_not_change_a_model(learner, classes, examined):
    X, rng = sparse(classes)
    y = np.arange(60) % classes
    other = shuffled_entries(X, rng)
    ours, theirs = (learner(max_iter=3, random_state=0).fit(rows, y) for rows in (X, other))
    assert ours.last_coef_.tobytes() == theirs.last_coef_.tobytes()
    assert ours.average_coef_.tobytes() == theirs.average_coef_.tobytes()
    assert ours.decision_function(X).tobytes() == ours.decision_function(other).tobytes()
    assert (ours.predict(X) == ours.predict(other)).all()
    dense = learner(max_iter=3, random_state=0).fit(X.toarray(), y)
    assert ours.last_coef_.tobytes() == dense.last_coef_.tobytes()


@pytest.mark.skipif(Kernel.interpreted_only, reason="duplicates are looked for by compiled code alone")
def test_rows_without_duplicates_are_not_copied_to_train(examined):
    X, rng = sparse(0)
    other = shuffled_entries(X, rng)
    assert np.shares_memory(as_rows(other, "distinct").parts[0], other.data)
    assert not np.shares_memory(as_rows(other).parts[0], other.data)
    twice = repeated_entries(X, rng)
    assert as_rows(twice, "distinct").matrix.has_canonical_format
    assert np.shares_memory(as_rows(twice, "given").parts[0], twice.data)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix])
def test_sorted_rows_are_recognized_as_by_scipy(form):
    found = set()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(1, 6, 2)
        counts = rng.integers(0, 3, n)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        parts = np.ones(counts.sum()), rng.integers(0, d, counts.sum()).astype(np.int32), indptr
        one, other = (form(parts, shape=(n, d)) for _ in range(2))
        found.add(rows._is_canonical(one))
        assert rows._is_canonical(one) == other.has_canonical_format
    assert found == {True, False}


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("seed", range(30))
def test_predictions_are_exact_for_entries_that_repeat_a_column(seed, classes):
    X, rng = sparse(seed, 20, 8)
    unit = (0.5, 1.0, 2.0**30)[seed % 3]  # integers below and above what float64 sums exactly, and halves
    if seed % 5:
        X.data = rng.integers(-2, 3, X.nnz) * unit + (0.0 if unit < 2.0 else 1.0)  # ties
    w, b = rng.integers(-2, 3, (classes, 8)) * unit, rng.integers(-1, 2, classes) / 1.0
    twice = repeated_entries(X, rng)
    for matrix in (X, twice, X.toarray()):
        whole = as_rows(matrix)
        expected = activations(whole, w, b)[:, 0] > 0 if classes == 1 else best_classes(whole, w, b)[0]
        assert (predicted(as_rows(matrix, "given"), w, b) == expected).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_row_that_holds_no_number_gets_no_prediction(form, classes, bad):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % classes
    model = AveragedPerceptron(max_iter=2).fit(X, y)
    X[7, 2] = bad
    with pytest.raises(ValueError, match=r"^Input X contains (NaN|infinity)"):
        model.predict(form(X))


def test_ranges_of_sparse_features_are_those_of_dense_ones():
    for seed in range(20):
        X, _ = sparse(seed, 5, 12, 0.7)
        for given in (X, X.astype(np.float32)):
            found, dense = FeatureRanges.of(given), given.toarray()
            assert found.ranges.tobytes() == FeatureRanges.of(dense).ranges.tobytes()
            assert (found.are_frequent == (2 * (dense != 0).sum(axis=0) > len(dense))).all()
