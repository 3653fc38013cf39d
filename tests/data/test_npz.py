"""Rows of .npz files that are not as expected."""

import numpy as np
import pytest

from rosenblatt import data


def outcome(path, target="y", **options):
    """What a file gives: rows and labels, or the sentence of the error without the folder."""
    try:
        X, y = data.open(path, target, **options).read()
    except ValueError as error:
        return str(error).replace(f"{path.parent}/", "")
    return (X if isinstance(X, np.ndarray) else X.toarray()).tolist(), y.tolist()


def test_arrays_that_are_not_as_expected(tmp_path):
    def saved(**arrays):
        np.savez(tmp_path / "a.npz", **arrays)
        return outcome(tmp_path / "a.npz", None)

    X, y = np.array([[1.0, np.nan], [3.0, 4.0], [np.inf, 2.0]]), np.array([0, 1, 1])
    ok = "X holds NaN or an infinite number, expected finite numbers"
    assert saved(X=X, y=y) == f"a.npz, row 1: {ok}."
    assert outcome(tmp_path / "a.npz", None, on_error="skip") == ([[3.0, 4.0]], [1])
    assert outcome(tmp_path / "a.npz", "y", on_error="skip", missing="mean") == ([[1.0, 3.0], [3.0, 4.0]], [0, 1])
    assert saved(X=X[1:2], y=y) == "a.npz has 1 rows in X, but 3 labels in y."
    assert saved(X=X, y=y[:1]) == "a.npz has more rows in X than labels in y, which has 1."
    assert saved(X=X[1:2], y=np.array(["u"])) == ([[3.0, 4.0]], ["u"])
    assert saved(X=X[1:2].astype(np.int8), y=np.array([b"u"])) == ([[3.0, 4.0]], ["u"])
    assert saved(X=X[1:2], y=np.array([None])).startswith(
        "a.npz: the labels in y would have to be unpickled, which is not"
    )
    assert saved(X=np.array([[None]]), y=y[:1]).startswith("a.npz: expected X of numbers, got object")
    assert saved(X=X[0], y=y) == "a.npz: expected X with rows and columns, got shape (2,)."
    assert saved(X=X, y=X) == "a.npz: expected one label a row, got y of shape (3, 2)."
    assert saved(Z=X, y=y) == "a.npz holds Z, y, expected X and y, or a matrix that scipy.sparse.save_npz saved and y."
    assert saved(X=X[1:2], y=np.array([np.nan])) == "a.npz, row 1: the label is not a finite number."
    assert saved(X=X[1:2].astype(np.float32), y=y[:1]) == ([[3.0, 4.0]], [0])
    assert data.open(tmp_path / "a.npz").read()[0].dtype == np.float32
    other = data.open(tmp_path / "a.npz").preparation
    np.savez(tmp_path / "b.npz", X=np.ones((2, 3)), y=[0, 1])
    with pytest.raises(data.DataError, match=r"b.npz has 3 columns, expected 2 as before."):
        data.open(tmp_path / "b.npz", preparation=other)
