"""``rosenblatt explain``: the largest weights of a model, or the contributions to one prediction."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.inputs import model_and_rows
from rosenblatt.cli.options import AS_JSON, MODEL, FileOptions, command, option
from rosenblatt.cli.output import print_json, print_table
from rosenblatt.messages import count_of, escape_unprintable, label_text

if TYPE_CHECKING:
    from rosenblatt.blocks import Block
    from rosenblatt.tables import Table

_WIDTH = 80
_SHORTEST = 12  # names are truncated so that lines fit, but never to fewer characters than this


@command
def explain(
    *,
    model: str = MODEL,
    top: int = option(10, "N", "Number of largest and smallest weights to show."),
    label: list[str] | None = option(None, "CLASS", "Show the weights of this class only. Repeatable."),
    row: str | None = option(None, "FILE:N", "Explain the prediction for row N of a file, counted from 0."),
    as_json: bool = AS_JSON,
    files: FileOptions,
) -> None:
    """Print the features with the largest weights, or explain the prediction for one row.

    \b
    Examples:
      rosenblatt explain adult.model --row new.csv:17
      rosenblatt explain digits.model --label 7
    """
    import rosenblatt

    if row is not None and label:
        raise ValueError("--label selects the classes whose weights are shown, and --row explains a row: use only one.")
    learned = rosenblatt.load(model, max_features=None)
    names = _names(learned)
    if row is None:
        table = _weights(learned, names, top, label, as_json)
    else:
        table = rosenblatt.contributions(learned, _one_row(model, row, files, _categorical(learned)), names, top=top)
    if as_json:
        print_json({"title": table.title, "rows": list(table), "notes": list(table.notes)})
    else:
        print_table(_within_width(_with_note_on_words(learned, table)))


def _weights(model: Any, names: list[str] | None, top: int, labels: Sequence[str] | None, as_json: bool) -> Table:
    """Return a table of the largest and smallest weights of the classes ``labels``.

    Without ``labels``, the table shows all classes if there are at most three or if ``as_json`` is True.
    Otherwise the table is a summary.
    """
    from rosenblatt.inspection.explain import explanation
    from rosenblatt.inspection.support import Words

    words = Words(
        scale="train it again with rosenblatt train --scale standard.",
        one_class=lambda label: f"--label {shlex.quote(label_text(label))}",
    )
    asked = list(labels) if labels else list(model.classes_) if as_json else None
    table, _ = explanation(model, names, top, asked, words)  # the table has the returned warning in its notes as well
    return _not_zero(table)


def _not_zero(table: Table) -> Table:
    """Return the table without its zero weights, or unchanged if all weights are zero.

    The table contains zero weights if there are fewer non-zero weights than requested.
    """
    rows = [row for row in table if row.get("weight", row.get("coefficient"))]
    if not rows or len(rows) == len(table):
        return table
    notes = (*table.notes, "The other weights are 0.")
    return type(table)({name: [row[name] for row in rows] for name in table.columns}, table.title, notes)


def _with_note_on_words(model: Any, table: Table) -> Table:
    """Return the table, with a note if it shows numbers such as #17 in place of hashed words that were not stored."""
    from rosenblatt.data.preparation import is_preparation

    preparation = getattr(model, "preparation_", {})
    hashed = is_preparation(preparation) and "bits" in preparation
    cells = [cell for row in table for cell in row.values() if isinstance(cell, str)]
    if not hashed or not any(re.search(r"(^|, )#\d+(:|$)", cell) for cell in cells):
        return table
    note = "A name such as #17 stands for hashed words: rosenblatt train --names stores the words."
    return type(table)(table.to_dict(), table.title, (*table.notes, note))


def _within_width(table: Table) -> Table:
    """Return the table with long feature names truncated so that its lines fit in 80 columns."""
    columns = table.to_dict()
    names = [escape_unprintable(name) for name in columns.get("feature", [])]
    wide = max(map(len, type(table)(columns).to_text().splitlines()), default=0) - _WIDTH
    most = max(_SHORTEST, max(map(len, names), default=0) - wide)
    if wide <= 0 or not names:
        return table
    columns["feature"] = [name if len(name) <= most else name[: most - 3] + "..." for name in names]
    return type(table)(columns, table.title, table.notes)


def _names(model: Any) -> list[str] | None:
    """Return names for the features of a model without feature names, made from the feature numbers in the files.

    Returns None if the model has feature names, uses support vectors, or was not trained on files.
    """
    from rosenblatt.data.preparation import is_preparation, number_of_feature
    from rosenblatt.inspection.support import is_kernel_model

    preparation = getattr(model, "preparation_", {})
    if not is_preparation(preparation) or hasattr(model, "feature_names_in_") or is_kernel_model(model):
        return None
    return [number_of_feature(preparation, i) for i in range(model.n_features_in_)]


def _categorical(model: Any) -> list[str]:
    """Return the columns whose categories are features of the model."""
    columns = (getattr(model, "preparation_", None) or {}).get("columns", ())
    return [column["name"] for column in columns if "categories" in column]


def _one_row(model: str, row: str, files: FileOptions, passthrough: list[str]) -> Block:
    """Return one row of a file as a block, with the values of the columns ``passthrough`` as the file has them."""
    from rosenblatt.blocks import slice_block

    match = re.fullmatch(r"(.+):(\d+)", row)
    if not match:
        raise ValueError(f"--row expects FILE:NUMBER, such as new.csv:17, got {row!r}.")
    number = int(match[2])
    _, rows = model_and_rows(model, [match[1]], labels=False, passthrough=passthrough, **files.to_open())
    seen = 0
    for block in rows:
        numbers = range(block.first, block.first + len(block)) if block.numbers is None else block.numbers.tolist()
        if number in numbers:
            place = list(numbers).index(number)
            return slice_block(block, place, place + 1)
        seen += len(block)
    if number < seen + rows.skipped.rows:
        raise ValueError(f"row {number:,} of {match[1]} cannot be read, so it was skipped: choose another row.")
    raise ValueError(f"{match[1]} has {count_of(seen, 'row')}, numbered from 0: there is no row {number:,}.")
