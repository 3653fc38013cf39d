"""Validation of inputs with scikit-learn's checks, and conversion to the memory layout that training uses."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from rosenblatt.blocks import Block, as_file_stream, check_labels_kept
from rosenblatt.estimators.prepared import prepare
from rosenblatt.messages import warn_user
from rosenblatt.training.rows import Labels, Matrix, VectorLike, check_sparse, pad_columns

MatrixLike: TypeAlias = Any
"""Rows in any supported form, such as an array, a sparse matrix, a data frame, a list of lists or a tensor."""

# PyTorch tensors as input and output, under scikit-learn's array API dispatch.


def tensor_device(X: MatrixLike) -> str | None:
    """Return the device of a PyTorch tensor, or None for other inputs or if scikit-learn's array API dispatch is off.

    >>> tensor_device([[1.0]])
    """
    torch = sys.modules.get("torch")  # unless torch is imported, there are no tensors
    if torch is None or not isinstance(X, torch.Tensor) or not get_config()["array_api_dispatch"]:
        return None
    return str(X.device)


def as_numpy(X: MatrixLike) -> MatrixLike:
    """Return a tensor as a NumPy array, and any other object unchanged.

    >>> as_numpy([[1.0]])
    [[1.0]]
    """
    return X if tensor_device(X) is None else X.detach().cpu().numpy()


def like_input(found: NDArray[Any], X: MatrixLike) -> MatrixLike:
    """Return a numeric array as a tensor on the device of ``X`` if ``X`` is a tensor; otherwise return it unchanged.

    >>> like_input(np.array([5]), [[1.0]])
    array([5])
    """
    device = tensor_device(X)
    if device is None or found.dtype.kind not in "biuf":
        return found
    return sys.modules["torch"].asarray(found, device=device)


_LAYOUT = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C"}


class Trained(Protocol):
    """A model with ``n_features_in_``, the attribute that the validation of blocks reads and sets."""

    n_features_in_: int


def attach_preparation(model: Trained, blocks: Iterable[object], warm: bool = False) -> None:
    """Set ``preparation_`` and ``feature_names_in_`` of a model that was trained on a stream of files.

    With ``preparation_`` the model converts further files and tables to rows in the same way. If the blocks do not come
    from files, the preparation of earlier training is removed, unless ``warm`` is True and that training continues.
    """
    files = as_file_stream(blocks)
    if files is None:
        if not warm:
            vars(model).pop("preparation_", None)
        return
    names = files.feature_names
    vars(model)["preparation_"] = files.preparation
    if names is not None and len(names) == model.n_features_in_ and not all(name.startswith("#") for name in names):
        vars(model)["feature_names_in_"] = np.array(names, object)


@contextmanager
def _names_are_known(model: object, X: MatrixLike) -> Iterator[None]:
    """Suppress scikit-learn's warning about missing feature names for a `Block`, or for a model trained on files."""
    if not (hasattr(model, "preparation_") or isinstance(X, Block)):
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


_NO_PREPARATION = (
    "This is a copy of a model that was trained from a table, as clone and cross_val_score make it, and copies do not "
    "have its preparation: train it with fit_stream(data.open(table, target=...)), or cross-validate with the "
    "folds of rosenblatt train."
)


def _is_copy_of_table_model(model: object) -> bool:
    return getattr(model, "_is_copy_of_table_model", False)


@contextmanager
def _advice_on_strings(model: object) -> Iterator[None]:
    """Add advice to scikit-learn's error about strings that are not numbers."""
    try:
        yield
    except ValueError as fault:
        if not str(fault).startswith("could not convert string to float"):
            raise
        advice = (
            "Encode strings as numbers first: with OneHotEncoder in a pipeline, or by training on the file with "
            "fit_stream(data.open(...))."
        )
        if _is_copy_of_table_model(model):
            advice = _NO_PREPARATION
        raise ValueError(f"{fault}. {advice}") from fault


def validate_matrix(model: object, X: MatrixLike, *, reset: bool, finite: bool = True) -> Matrix:
    """Return ``X`` as a C-ordered or CSR matrix of float32 or float64, copied only if its layout or type differs.

    ``finite=False`` allows NaN and infinity.
    """
    given = X = as_numpy(X) if reset else prepare(model, as_numpy(X))
    if isinstance(X, Block):
        if _is_ready(model, X, reset):
            return X.X
        X = _matrix(model, X, reset)
    if not reset and _is_small_and_valid(model, X):
        return X
    _check_structure(X)
    with _names_are_known(model, given), _advice_on_strings(model):
        return _aligned(validate_data(model, X, reset=reset, ensure_all_finite=finite, **_LAYOUT))


def validate_pair(
    model: object, X: MatrixLike, y: VectorLike, *, reset: bool, finite: bool = True
) -> tuple[Matrix, Labels]:
    """Return ``X`` as `validate_matrix` does, and the checked labels; ``finite=False`` allows NaN and infinity."""
    given = X = as_numpy(X) if reset else prepare(model, as_numpy(X))
    y = as_numpy(y)
    if isinstance(X, Block) and _is_ready(model, X, reset) and y is X.y and y.dtype.kind != "f":
        X = X.X
    elif reset or not (_is_small_and_valid(model, X) and _are_labels(y, len(X))):
        X = _matrix(model, X, reset) if isinstance(X, Block) else X
        _check_structure(X)
        with _names_are_known(model, given), _advice_on_strings(model):
            X, labels = validate_data(model, X, y, reset=reset, ensure_all_finite=finite, **_LAYOUT)
        check_labels_kept(y, labels)
        y = labels
        if reset and _is_copy_of_table_model(model) and not isinstance(given, Block):
            warn_user(f"{_NO_PREPARATION} A Block holds rows that are prepared already.", UserWarning)
    if y.dtype.kind not in "biuUS":  # integers and strings are always classes
        _check_classes(y)
    return _aligned(X), y


_SMALL = 10_000
"""The most numbers of an array that is validated here, because scikit-learn would take longer than the learner."""


def _is_small_and_valid(model: Any, X: MatrixLike) -> bool:
    """Return whether a small array has the layout, the width and the finite numbers that the model expects."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and 0 < X.size <= _SMALL
        and X.shape[1] == model.n_features_in_
        and not hasattr(model, "feature_names_in_")
        and X.flags.c_contiguous
        and X.flags.aligned
        and bool(np.isfinite(X).all())
    )


def _are_labels(y: VectorLike, n: int) -> bool:
    """Return whether ``y`` is an array of ``n`` integers, booleans or strings."""
    return type(y) is np.ndarray and y.shape == (n,) and y.dtype.kind in "biuU"


def _is_ready(model: Any, block: Block, reset: bool) -> bool:
    """Return whether a block needs no validation: a reader validated it, and its columns match the model's features."""
    return not reset and block.is_validated and len(block) > 0 and block.X.shape[1] == model.n_features_in_


def _matrix(model: Any, block: Block, reset: bool) -> Matrix:
    """Return the rows of a block; pad sparse rows with zeros to the model's number of features."""
    return block.X if reset or not sp.issparse(block.X) else pad_columns(block.X, model.n_features_in_)


def _check_classes(y: Labels) -> None:
    """Raise a ValueError for labels that are not classes, such as the targets of a regression."""
    if y.dtype.kind != "f":
        check_classification_targets(y)
    elif (fractions := y[y != np.trunc(y)]).size:  # scikit-learn also takes integers beyond int64 for fractions
        raise ValueError(
            f"Unknown label type: expected classes, got numbers such as {float(fractions[0]):g}, which look like a "
            "regression target: convert them to classes first, for instance y > threshold, or use a regressor."
        )


def _check_structure(X: MatrixLike) -> None:
    """Raise a ValueError for an invalid CSC matrix, which cannot be converted to CSR; training checks CSR matrices."""
    if sp.issparse(X) and X.format == "csc":
        check_sparse(X)


def _aligned(X: MatrixLike) -> Matrix:
    return X if sp.issparse(X) else np.require(np.asarray(X), requirements=["C", "A"])


def block_validator(model: Trained, reset: bool) -> Callable[[Block], tuple[Matrix, Labels]]:
    """Return a function that validates a block of a stream; with ``reset`` the first block determines the features."""
    if reset:
        for name in ("n_features_in_", "feature_names_in_"):
            vars(model).pop(name, None)

    def validate(block: Block) -> tuple[Matrix, Labels]:
        X, y = block.X, block.y
        known = getattr(model, "n_features_in_", None)
        if sp.issparse(X) and known is not None and X.shape[1] > known:
            model.n_features_in_ = known = X.shape[1]
        classes = y.dtype.kind != "f" or np.array_equal(y, np.trunc(y))
        if block.is_validated and classes and X.shape[1] == known:
            return X, y
        return validate_pair(model, block, y, reset=known is None)

    return validate
