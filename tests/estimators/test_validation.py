"""What users bring: layouts, frames, labels of any type, and one clear sentence for what cannot be."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from rosenblatt import Perceptron
from rosenblatt.estimators.validation import validate_matrix
from rosenblatt.training.rows import as_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def reference():
    X, y = small_set("halves", seed=1)
    return X, y, Perceptron(max_iter=5, random_state=0).fit(X, y)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.bsr_array])
def test_sparse_formats(reference, make):
    X, y, model = reference
    other = Perceptron(max_iter=5, random_state=0).fit(make(X), y)
    assert other.coef_.tobytes() == model.coef_.tobytes()
    assert other.predict(make(X)).tolist() == model.predict(X).tolist()


def test_unsorted_and_duplicate_entries(reference):
    X, y, model = reference
    rng = np.random.default_rng(0)
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    rows, columns, values = np.r_[rows, rows], np.r_[columns, columns], np.r_[values, values] / 2
    mixed = rng.permutation(len(rows))
    mixed = mixed[np.argsort(rows[mixed], kind="stable")]
    indptr = np.searchsorted(rows[mixed], np.arange(len(y) + 1))
    messy = sp.csr_array((values[mixed], columns[mixed], indptr), shape=X.shape)
    before = messy.copy()
    assert Perceptron(max_iter=5, random_state=0).fit(messy, y).coef_.tobytes() == model.coef_.tobytes()
    assert np.array_equal(messy.indices, before.indices), "the caller's matrix is not ours to sort"
    assert np.array_equal(messy.data, before.data)


def test_explicit_zeros_and_empty_rows(reference):
    X, y, model = reference
    full = sp.csr_array(X)
    dense = sp.csr_array((X.ravel(), np.tile(np.arange(5), len(X)), np.arange(0, X.size + 1, 5)), shape=X.shape)
    assert dense.nnz > full.nnz
    assert Perceptron(max_iter=5, random_state=0).fit(dense, y).coef_.tobytes() == model.coef_.tobytes()
    empty = sp.csr_array((2, 5))
    assert Perceptron(fit_intercept=False, max_iter=3).fit(empty, [0, 1]).coef_.tolist() == [[0.0] * 5]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(reference, frame):
    X, y, model = reference
    table = frame({f"feature {j}": X[:, j] for j in range(5)})
    other = Perceptron(max_iter=5, random_state=0).fit(table, y)
    assert other.feature_names_in_.tolist() == [f"feature {j}" for j in range(5)]
    assert other.coef_.tobytes() == model.coef_.tobytes()
    assert other.predict(table).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [-1, 1],
        [2.0, 7.0],
        np.array([3, 200], dtype=np.uint8),
        np.array(["a", "b"], dtype=object),
        pd.Series(["x", "y"]),
        pl.Series(["x", "y"]),
    ],
)
def test_labels_of_any_type(reference, labels):
    X, numbers, model = reference
    y = labels[numbers] if isinstance(labels, np.ndarray) else [labels[int(k)] for k in numbers]
    if isinstance(labels, pd.Series | pl.Series):
        y = type(labels)(y)
    other = Perceptron(max_iter=5, random_state=0).fit(X, y)
    assert other.coef_.tobytes() == model.coef_.tobytes()
    assert other.predict(X).tolist() == [other.classes_.tolist()[k] for k in model.predict(X)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_copy_of_a_layout_that_can_be_used(dtype):
    X = np.ones((4, 3), dtype)
    assert np.shares_memory(as_rows(validate_matrix(Perceptron(), X, reset=True)).parts[0], X)
    S = sp.csr_array(X)
    parts = as_rows(validate_matrix(Perceptron(), S, reset=True)).parts
    assert np.shares_memory(parts[0], S.data)
    assert np.shares_memory(parts[1], S.indices)


def test_read_only_swapped_and_strided_arrays(reference):
    X, y, model = reference
    frozen = X.copy()
    frozen.flags.writeable = False
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    for other in (frozen, strided, X.astype(">f8"), unaligned, X[::-1][::-1], X.tolist()):
        assert Perceptron(max_iter=5, random_state=0).fit(other, y).coef_.tobytes() == model.coef_.tobytes()


def test_a_hostile_matrix_is_refused():
    for change in ("indices", "negative", "indptr", "order"):
        X = sp.csr_array(np.eye(4))
        if change == "indices":
            X.indices[2] = 1_000_000
        elif change == "negative":
            X.indices[2] = -5
        elif change == "indptr":
            X.indptr[-1] = 1_000_000
        else:
            X.indptr[2] = 4
            X.indptr[3] = 1
        X.has_canonical_format = True
        with pytest.raises(ValueError, match=r"valid CSR matrix|index pointer|indices|indptr"):
            Perceptron().fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"multi_class": "direct"}, {"warm_start": True}])
def test_nan_and_infinity_are_refused_and_nothing_is_lost(bad, layout, options):
    X, y = small_set("gauss", n=60, classes=3, seed=2)
    model = Perceptron(max_iter=3, random_state=0, **options).fit(X, y)
    before = model.coef_
    X = X.copy()
    X[57, 3] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.fit(layout(X), y)
    assert model.coef_.tobytes() == before.tobytes()
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(layout(X))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda X, y: Perceptron().fit(X, np.ones(len(y))),
            r"at least two classes, got one class: every label is 1\.0",
        ),
        (lambda X, y: Perceptron().fit(X, y, sample_weight=(y == 1) * 1.0), "got one class among the rows"),
        (lambda X, y: Perceptron().fit(X, y, sample_weight=np.zeros(len(y))), "every row has weight zero"),
        (
            lambda X, y: Perceptron().fit(X, y, sample_weight=np.ones(3)),
            r"one sample weight for each of the 40 rows",
        ),
        (lambda X, y: Perceptron().fit(X, y, sample_weight=-np.ones(40)), "must be finite and not negative"),
        (lambda X, y: Perceptron(class_weight="even").fit(X, y), "class_weight must be a dictionary"),
        (
            lambda X, y: Perceptron(class_weight={0: -1}).fit(X, y),
            "class weights must be finite and not negative",
        ),
        (lambda X, y: Perceptron(class_weight={7: 2}).fit(X, y), r"names 7, which is none of the classes \[0, 1\]"),
        (lambda X, y: Perceptron(hypothesis="best").fit(X, y), "hypothesis must be 'last' or 'average'"),
        (
            lambda X, y: Perceptron(max_iter=0).fit(X, y),
            "max_iter must be an integer of at least 1, got 0",
        ),
        (lambda X, y: Perceptron(max_iter=2.5).fit(X, y), "max_iter must be an integer"),
        (
            lambda X, y: Perceptron(max_updates=0).fit(X, y),
            "max_updates must be an integer of at least 1 or None",
        ),
        (
            lambda X, y: Perceptron(shuffle="twice").fit(X, y),
            "shuffle must be True or False or 'once', got 'twice'",
        ),
        (lambda X, y: Perceptron(multi_class="ovo").fit(X, y), "multi_class must be 'ovr' or 'direct'"),
        (
            lambda X, y: Perceptron(validation_fraction=1.0).fit(X, y),
            "validation_fraction must be a number between",
        ),
        (
            lambda X, y: Perceptron(early_stopping=True).fit(X[:3], y[:3]),
            "early stopping cannot hold out 0.1 of these 3",
        ),
        (lambda X, y: Perceptron(n_iter_no_change=0).fit(X, y), "n_iter_no_change must be an integer"),
        (lambda X, y: Perceptron(fit_intercept="yes").fit(X, y), "fit_intercept must be True or False"),
        (lambda X, y: Perceptron(random_state=-1).fit(X, y), "random_state must be an integer of at least 0"),
        (lambda X, y: Perceptron().fit(X, X[:, 0]), "Unknown label type"),
        (lambda X, y: Perceptron().fit(X[:0], y[:0]), "0 sample"),
        (lambda X, y: Perceptron().fit(X[:, :0], y), "0 feature"),
    ],
)
def test_one_clear_sentence(call, match):
    X, y = small_set("gauss", seed=3)
    with pytest.raises(ValueError, match=match):
        call(X, y)


def test_one_feature_and_zero_rows():
    model = Perceptron(shuffle=False).fit([[1.0], [0.0], [2.0]], [1, 0, 1])
    assert model.converged_
    zeros = Perceptron(max_iter=3, shuffle=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert not zeros.converged_
    assert zeros.coef_.tolist() == [[0.0, 0.0]]
