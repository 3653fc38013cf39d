"""What users bring, checked by scikit-learn's rules and in the layout that the engine takes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from rosenblatt.blocks import Block, as_file_stream
from rosenblatt.training.rows import Matrix, VectorLike, check_sparse

MatrixLike: TypeAlias = Any
"""Rows as users bring them: arrays, sparse matrices, data frames, lists of lists, tensors."""

# Arrays of PyTorch as input and output, under scikit-learn's array API dispatch.


def tensor_device(X: MatrixLike) -> str | None:
    """Return the device of a tensor of PyTorch, None for anything else, or where scikit-learn's dispatch is off.

    >>> tensor_device([[1.0]])
    """
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    if torch is None or not isinstance(X, torch.Tensor) or not get_config()["array_api_dispatch"]:
        return None
    return str(X.device)


def as_numpy(X: MatrixLike) -> Any:
    """Return a tensor as an array of NumPy; anything else as it is.

    >>> as_numpy([[1.0]])
    [[1.0]]
    """
    return X if tensor_device(X) is None else X.detach().cpu().numpy()


def like_input(found: Any, X: MatrixLike) -> Any:
    """Return an array of NumPy as a tensor on the device of ``X``, if that is one; words stay as they are.

    >>> like_input(5, [[1.0]])
    5
    """
    device = tensor_device(X)
    if device is None or found.dtype.kind not in "biuf":
        return found
    return sys.modules["torch"].asarray(found, device=device)


_LAYOUT = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C"}


def attach_preparation(model: Any, blocks: Any) -> None:
    """Give a model what files say of their rows: how they are prepared, and what their features are called.

    With it, a saved model reads files by itself, as those of the command do.
    """
    files = as_file_stream(blocks)
    if files is None:
        return
    model.preparation_, names = files.preparation, files.feature_names
    if names is not None and len(names) == model.n_features_in_ and not all(name.startswith("#") for name in names):
        model.feature_names_in_ = np.array(names, object)


@contextmanager
def _names_from_files(model: Any) -> Iterator[None]:
    """Let rows of files come without names to a model that has the names from its files."""
    if not hasattr(model, "preparation_"):
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


@contextmanager
def _advice_on_strings() -> Iterator[None]:
    """Add what to do to scikit-learn's error about a column of strings."""
    try:
        yield
    except ValueError as fault:
        if not str(fault).startswith("could not convert string to float"):
            raise
        raise ValueError(
            f"{fault}. Make numbers of strings first: with OneHotEncoder in a pipeline, or train on the file with "
            "fit_stream(data.open(...)), which does."
        ) from fault


def validate_matrix(model: Any, X: MatrixLike, *, reset: bool) -> Matrix:
    """Return ``X`` as a C-ordered or CSR matrix of float32 or float64; a copy only where its layout asks for one."""
    X = as_numpy(X)
    _check_structure(X)
    with _names_from_files(model), _advice_on_strings():
        return _aligned(validate_data(model, X, reset=reset, **_LAYOUT))


def validate_pair(
    model: Any, X: MatrixLike, y: VectorLike, *, reset: bool, finite: bool = True
) -> tuple[Matrix, NDArray[Any]]:
    """Return ``X`` as ``validate_matrix`` does, and the labels; unless ``finite``, NaN in ``X`` is looked for later."""
    X, y = as_numpy(X), as_numpy(y)
    _check_structure(X)
    with _names_from_files(model), _advice_on_strings():
        X, y = validate_data(model, X, y, reset=reset, ensure_all_finite=finite, **_LAYOUT)
    if y.dtype.kind not in "biuUS":  # integers and words are classes; asking would sort them
        _check_classes(y)
    return _aligned(X), y


def _check_classes(y: NDArray[Any]) -> None:
    """Raise a ValueError for labels that are no classes."""
    try:
        check_classification_targets(y)
    except ValueError as fault:
        if y.dtype.kind != "f":
            raise
        value = float(y[y != np.trunc(y)][0])
        raise ValueError(
            f"Unknown label type: expected classes, got numbers such as {value:g}, as for a regression: make classes "
            "of them first, for instance y > a limit, or use a regressor."
        ) from fault


def _check_structure(X: MatrixLike) -> None:
    """Raise a ValueError for a CSC matrix that cannot be converted; CSR rows are checked by the engine."""
    if sp.issparse(X) and X.format == "csc":
        check_sparse(X)


def _aligned(X: MatrixLike) -> Matrix:
    return X if sp.issparse(X) else np.require(np.asarray(X), requirements=["C", "A"])


def block_validator(model: Any, reset: bool) -> Callable[[Block], tuple[Matrix, NDArray[Any]]]:
    """Return what checks the blocks of a stream; the first sets the features of ``model`` if ``reset``."""
    if reset:
        for name in ("n_features_in_", "feature_names_in_"):
            vars(model).pop(name, None)

    def validate(block: Block) -> tuple[Matrix, NDArray[Any]]:
        X, y = block.X, block.y
        known = getattr(model, "n_features_in_", None)
        if sp.issparse(X) and known is not None and X.shape[1] > known:
            model.n_features_in_ = known = X.shape[1]
        classes = y.dtype.kind != "f" or np.array_equal(y, np.trunc(y))
        if block.is_validated and classes and X.shape[1] == known:
            return X, y
        return validate_pair(model, X, y, reset=known is None)

    return validate
