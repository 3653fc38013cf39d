"""Preparation of tables for models that were trained from files; a `Block` contains rows that are prepared already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.blocks import Block, as_file_stream, as_labels
from rosenblatt.data.preparation import is_preparation
from rosenblatt.messages import count_of, list_some, warn_user
from rosenblatt.training.rows import known_class_numbers

if TYPE_CHECKING:
    from rosenblatt.data.prepared import PreparedRows
    from rosenblatt.splits import Split

_MOST_NAMED = 10
"""The maximum number of columns that a message names."""


def rows_of_tables(model: Any) -> PreparedRows | None:
    """Return the object that converts tables to rows for a model, or None if the model was not trained from a table."""
    preparation: Any = getattr(model, "preparation_", None)
    if not is_preparation(preparation):
        return None
    kept = getattr(model, "_rows_of_tables", None)
    if kept is not None and kept[0] is preparation:
        rows: PreparedRows | None = kept[1]
        return rows
    from rosenblatt.data.prepared import PreparedRows, is_of_table

    rows = PreparedRows(preparation) if is_of_table(preparation) else None
    if rows is not None and rows.n_features not in (0, model.n_features_in_):
        raise ValueError(
            f"this model is inconsistent: it has {model.n_features_in_:,} features, but its preparation_ makes "
            f"{rows.n_features:,}. Train it again."
        )
    vars(model)["_rows_of_tables"] = preparation, rows
    return rows


def prepare(model: object, X: Any) -> Any:
    """Return a table as a `Block` of rows that are prepared as in training; return any other input unchanged.

    Raises
    ------
    ValueError
        If the model was trained from a table or on scaled rows, and ``X`` is neither a table nor a `Block`.
    """
    preparation: Any = getattr(model, "preparation_", None)
    if isinstance(X, Block) or not is_preparation(preparation):
        return X
    rows = rows_of_tables(model)
    if rows is not None and isinstance(X, list | tuple) and not X:
        raise ValueError(f"expected at least one row with {_columns(rows.columns)}, got an empty list: give a row.")
    if rows is not None and _is_table(X):
        return Block(rows.features(X), is_validated=True)
    if rows is not None and not preparation.get("lists"):
        raise ValueError(
            f"this model was trained from a table: expected a table with {_columns(rows.columns)}, got "
            f"{_unnamed(X)}. Give a data frame, an Arrow table, a dictionary or a list of dictionaries; or, if these "
            "rows are prepared already, rosenblatt.data.Block(X)."
        )
    if preparation.get("scale") is not None:
        raise ValueError(
            f"this model was trained on scaled rows: expected rows that are known to be scaled alike, got {_kind(X)}. "
            "Give the blocks of data.open(..., preparation=model.preparation_); or, if these rows are scaled already, "
            "rosenblatt.data.Block(X)."
        )
    return X


def prepare_labelled(
    model: object, X: Any, y: Any, sample_weight: Any = None, *, weighted: bool = True, fresh: bool = False
) -> tuple[Any, Any, Any]:
    """Return (X, y, sample_weight), where a table is converted, as in training, to a `Block` with labels and weights.

    If ``y`` is None, the labels are read from the table or block. If ``sample_weight`` is None and ``weighted`` is
    True, the weights are read from it too. Rows of a table without a label are left out. Any other ``X`` is returned
    unchanged, or raises the error of `prepare`. If training begins ``fresh``, tables are not converted either.
    """
    if isinstance(X, Block):
        labelled = X.y.dtype.kind != "f" or not np.isnan(X.y).any()
        y = X.y if y is None and labelled else y
        return X, y, X.weight if sample_weight is None and weighted else sample_weight
    rows = None if fresh else rows_of_tables(model)
    if rows is None or not _is_table(X):
        return X if fresh else prepare(model, X), y, sample_weight
    block = rows.labelled(X, y, sample_weight, weighted)
    return block, block.y, block.weight


def check_known_labels(model: Any, y: Any) -> None:
    """Check the labels of test rows for a model that was trained from a table; other models are not checked.

    Raise a ValueError if no label is a class of the model, and warn if some are not.
    """
    if rows_of_tables(model) is None:
        return
    y = as_labels(y)
    if (known_class_numbers(y, model.classes_) < 0).any():
        check_label_counts(model, *np.unique(y, return_counts=True))


def check_label_counts(model: Any, labels: np.ndarray, counts: np.ndarray) -> None:
    """Do what `check_known_labels` does, given the different labels and the number of rows of each."""
    are_new = known_class_numbers(labels, model.classes_) < 0
    count = int(counts[are_new].sum())
    if not count:
        return
    strange = labels[are_new].tolist()
    new = f"expected the classes {list_some(model.classes_)}, got {list_some(strange)}: {_AS_IN_TRAINING}"
    if are_new.all():
        raise ValueError(f"no label is a class of the model, {new}.")
    are = "has a label that is" if count == 1 else "have a label that is"
    warn_user(f"{count_of(count, 'row')} {are} not a class of the model, so counted as wrong; {new}.", UserWarning)


def warn_of_new_classes(model: Any, classes: Any) -> None:
    """Warn if training on adds ``classes`` to a model that was trained from a table."""
    if rows_of_tables(model) is None:
        return
    new = np.setdiff1d(classes, model.classes_).tolist()
    if new:
        warn_user(
            f"the model learns new classes, expected {list_some(model.classes_)}, got {list_some(new)}: "
            f"{_AS_IN_TRAINING}, or name new classes with partial_fit(..., classes=...).",
            UserWarning,
        )


_AS_IN_TRAINING = "write labels as in the training data"


def check_prepared_alike(model: object, blocks: object, split: Split | None = None) -> None:
    """Raise a ValueError unless the rows of ``blocks`` are prepared in the same way as the model's training rows.

    If the preparation of ``blocks`` is not known yet, it is made from the rows that ``split`` does not hold out.
    """
    preparation, stream = getattr(model, "preparation_", None), as_file_stream(blocks)
    if preparation is not None and stream is not None:
        stream.fit_scale(split)
    of_table = stream is None and rows_of_tables(model) is not None
    if of_table or (preparation is not None and stream is not None and stream.preparation != preparation):
        raise ValueError(
            "the rows of this stream are not prepared like those that the model was trained on: open it with "
            "data.open(..., preparation=model.preparation_), which also takes tables in memory."
        )


def _is_table(X: object) -> bool:
    from rosenblatt.data.tables.frames import is_table

    return is_table(X)


def _columns(names: list[str]) -> str:
    return f"the column{'' if len(names) == 1 else 's'} {list_some(names, _MOST_NAMED)}"


def _unnamed(X: object) -> str:
    """Return what ``X`` is, in words; a row of a data frame has names, but is not a table."""
    if type(X).__name__ == "Series":
        return "a Series (one row of a data frame is a table as frame.iloc[[0]], or as a dictionary)"
    return f"{_kind(X)} without their names"


def _kind(X: object) -> str:
    name = "array" if isinstance(X, np.ndarray) else type(X).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
