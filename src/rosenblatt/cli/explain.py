"""``rosenblatt explain``: what a model has learned."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

from rosenblatt.cli.output import emit, print_table
from rosenblatt.cli.predict import model_and_rows
from rosenblatt.training.plurals import count_of


def explain(path: str, top: int, row: str | None, options: Mapping[str, Any], as_json: bool) -> None:
    """Print the largest and smallest weights, of features or of support rows, or why one row is predicted as it is."""
    import rosenblatt

    if row is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the table's notes say it
            model = rosenblatt.load(path, max_features=None)
            table = _not_zero(rosenblatt.explain(model, _names(model), top=top))
    else:
        model, x = rosenblatt.load(path, max_features=None), _one_row(path, row, options)
        table = rosenblatt.contributions(model, x, _names(model), top=top)
    if as_json:
        emit({"title": table.title, "rows": list(table), "notes": list(table.notes)})
    else:
        print_table(table)


def _not_zero(table: Any) -> Any:
    """Return the table without the weights that are 0, which fill it up where fewer than were asked for are not."""
    rows = [row for row in table if row.get("weight", row.get("coefficient"))]
    if not rows or len(rows) == len(table):
        return table
    notes = (*table.notes, "The others are 0.")
    return type(table)({name: [row[name] for row in rows] for name in table.columns}, table.title, notes)


def _names(model: Any) -> list[str] | None:
    """Return names for features that the model has none for: their numbers in the files; None for support rows."""
    from rosenblatt.data.preparations import is_preparation
    from rosenblatt.inspection.support import is_kernel_model

    preparation = getattr(model, "preparation_", {})
    if not is_preparation(preparation) or hasattr(model, "feature_names_in_") or is_kernel_model(model):
        return None
    if preparation["format"] != "svmlight":
        return [f"#{i}" for i in range(model.n_features_in_)]
    first = 0 if preparation["zero_based"] else 1
    return [f"feature {i}" for i in range(first, first + model.n_features_in_)]


def _one_row(path: str, row: str, options: Mapping[str, Any]) -> Any:
    match = re.fullmatch(r"(.+):(\d+)", row)
    if not match:
        raise ValueError(f"--row expects FILE:NUMBER, such as new.csv:17, got {row!r}.")
    number = int(match[2])
    _, rows = model_and_rows(path, [match[1]], labels=False, **options)
    seen = 0
    for block in rows:
        numbers = range(block.first, block.first + len(block)) if block.numbers is None else block.numbers.tolist()
        if number in numbers:
            return block.X[[list(numbers).index(number)]]
        seen += len(block)
    if number < seen + rows.skipped.rows:
        raise ValueError(f"row {number:,} of {match[1]} is among those that cannot be read, so it is left out.")
    raise ValueError(f"{match[1]} has {count_of(seen, 'row')}, numbered from 0, so there is no row {number:,}.")
