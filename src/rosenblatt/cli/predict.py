"""``rosenblatt predict``: what a saved model says about files: one label a line, CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from rosenblatt.cli.inputs import Predictor, check_out, model_and_rows
from rosenblatt.cli.options import FILES, MODEL, FileOptions, command, option
from rosenblatt.cli.output import (
    ProgressBar,
    as_text,
    cli_message,
    emit,
    enable_gc,
    finite_or_null,
    on_terminal,
    say_counts,
    say_extra_columns,
)
from rosenblatt.messages import plain_label
from rosenblatt.storage.container import write_atomically

Columns: TypeAlias = dict[str, list[Any]]
"""Answers for some rows, column by column. The first ones that are written have all columns and no rows."""
_OTHERS = (".xlsx", ".xls", ".ods", ".json", ".tsv", ".feather", ".arrow", ".npz", ".gz", ".zip")
"""Endings of formats that answers are not written in."""
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}


@command
def predict(
    *,
    model: str = MODEL,
    data: list[str] = FILES,
    out: Path | None = option(
        None, "FILE", "Where to write; .csv, .jsonl and .parquet are written as such.", "--out -o"
    ),
    id: list[str] | None = option(None, "COL", "A column to write beside the labels; repeat for more."),
    scores: bool = option(False, None, "Write CSV with the scores beside the labels."),
    as_json: bool = option(
        False, None, "Print JSON lines of predictions; with -o, one line of JSON with counts.", "--json"
    ),
    files: FileOptions,
) -> None:
    """Write one label a line, in the order of the rows. The label column may be missing, others may be new.

    With --id or --scores, CSV with a header; -o answers.csv, .jsonl or .parquet writes that format. With --on-error
    skip, a first column `row` says which row each answer is for, counted from 0.

    \b
    Example:
      rosenblatt predict adult.model new.csv -o answers.txt
      rosenblatt predict titanic.model new.csv --id PassengerId -o answers.csv
    """
    if str(out) == "-":
        out = None  # standard output
    ids, skip = list(dict.fromkeys(id or ())), files.on_error == "skip"
    form = form_of(out, bool(ids) or scores or skip, as_json)
    check_out(out, [model, *data], replaced=form == "parquet")
    predictor, rows = model_and_rows(model, data, labels=False, passthrough=ids, **files.to_open())
    say_extra_columns(rows, used=ids)
    enable_gc()
    counts: Counter[str] = Counter()
    with ProgressBar("predicting", data, shown=out is not None or not on_terminal()) as bar:
        write(out, form, _answers(predictor, bar.track(rows), ids, scores, skip, counts))
    say_counts(rows)
    if as_json and out is not None:
        known = {as_text(label): counts[as_text(label)] for label in predictor.classes.tolist()}
        facts = {"rows": sum(counts.values()), "classes": known, "out": str(out)}
        emit(facts | {"skipped": rows.skipped.rows, "unseen": rows.unseen})


def _answers(
    model: Predictor, rows: Iterable[Any], ids: Sequence[str], scores: bool, skip: bool, counts: Counter[str]
) -> Iterator[Columns]:
    """Yield the columns of the answers, first without rows, then block by block, and count the labels."""
    names = ["score"] if len(model.classes) < 3 else [f"score {as_text(label)}" for label in model.classes.tolist()]
    row_name, label_name, *score_names = [_free(name, ids) for name in ("row", "label", *names)]
    columns = [*([row_name] if skip else []), *ids, label_name, *(score_names if scores else [])]
    headed = False
    try:
        for block in rows:
            if not len(block):
                continue
            if not headed:
                yield {name: [] for name in columns}
                headed = True
            answers: Columns = {row_name: block.numbers.tolist()} if skip else {}
            answers |= block.passthrough or {}
            answers[label_name] = [plain_label(label) for label in model.predict(block.X).tolist()]
            counts.update(map(as_text, answers[label_name]))
            if scores:
                values = model.decision_function(block.X).reshape(len(block), -1).T.tolist()
                answers |= dict(zip(score_names, values, strict=True))
            yield answers
        if not headed:
            yield {name: [] for name in columns}
    except OSError as fault:  # about what is read: who writes these answers takes every OSError for its own
        raise ValueError(cli_message(fault)) from fault


def _free(name: str, taken: Sequence[str]) -> str:
    """Return a name for a column of answers that no column which comes along has.

    >>> _free("label", ["id"]), _free("label", ["label"])
    ('label', 'predicted label')
    """
    return f"predicted {name}" if name in taken else name


# How answers are written.


def form_of(out: Path | None, several_columns: bool, as_json: bool) -> str:
    """Return how answers are written: as the name of the file says, or one label a line if they have no other column.

    >>> form_of(Path("a.parquet"), False, False), form_of(None, True, False), form_of(None, False, False)
    ('parquet', 'csv', 'lines')
    """
    if out is None:
        return "jsonl" if as_json else "csv" if several_columns else "lines"
    ending = out.suffix.lower()
    if ending in _OTHERS:
        raise ValueError(f"answers are not written as {ending[1:]}: name a file that ends in .csv, .jsonl or .parquet.")
    return _ENDINGS.get(ending, "csv" if several_columns else "lines")


def write(out: Path | None, form: str, answers: Iterable[Columns]) -> None:
    """Write answers: a file is replaced as a whole or not at all, anything else gets them as they come."""
    parts = _FORMS[form](answers)
    if out is None:
        sys.stdout.writelines(part.decode() for part in parts)
        sys.stdout.flush()
    elif out.is_file() or not out.exists():
        write_atomically(out, parts)
    else:
        try:
            with out.open("wb") as file:
                file.writelines(parts)
        except BrokenPipeError:
            raise
        except OSError as fault:
            words = f"could not be written, {str(fault.strerror).lower()}: write elsewhere"
            raise OSError(fault.errno, words, str(out)) from None


def _lines(answers: Iterable[Columns]) -> Iterator[bytes]:
    for columns in answers:
        (labels,) = columns.values()
        yield "".join(f"{as_text(label)}\n" for label in labels).encode()


def _csv(answers: Iterable[Columns]) -> Iterator[bytes]:
    for number, columns in enumerate(answers):
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        if number == 0:
            writer.writerow(columns)
        writer.writerows(zip(*(map(_cell, values) for values in columns.values()), strict=True))
        yield file.getvalue().encode()


def _cell(value: Any) -> str:
    """Return a value as a cell: the label 7.0 as 7, a score with all its digits, nothing for what is missing."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _json_lines(answers: Iterable[Columns]) -> Iterator[bytes]:
    for columns in answers:
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        yield "".join(f"{_json(row)}\n" for row in rows).encode()


def _json(row: dict[str, Any]) -> str:
    """Return a row as JSON, which has no numbers that are not finite: they become null.

    >>> _json({"id": float("nan"), "label": "yes"})
    '{"id": null, "label": "yes"}'
    """
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(finite_or_null(row), ensure_ascii=False, allow_nan=False, default=str)


def _parquet(answers: Iterable[Columns]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file, those of one row group after the other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    answers = iter(answers)
    empty = next(answers)
    first = next(answers, empty)
    schema = pa.schema([(name, _arrow_type(values)) for name, values in first.items()])
    sink = _Sink()
    with pq.ParquetWriter(sink, schema) as writer:
        for columns in itertools.chain([first], answers):
            arrays = [_array(name, columns[name], schema.field(name).type) for name in schema.names]
            writer.write_table(pa.table(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _arrow_type(values: list[Any]) -> Any:
    """Return the type of a column, given its first values: that of all of them, or text."""
    import pyarrow as pa

    known: dict[type, Callable[[], Any]] = {int: pa.int64, float: pa.float64, bool: pa.bool_}
    kinds = {type(value) for value in values if value is not None}
    return known.get(kinds.pop(), pa.string)() if len(kinds) == 1 else pa.string()


def _array(name: str, values: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_string(kind):
        values = [None if value is None else as_text(value) for value in values]
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError):
        what = f"column {name!r} has values of several types, for which Parquet has no place"
        raise ValueError(f"{what}: write .csv or .jsonl instead.") from None


class _Sink(io.RawIOBase):
    """A file in memory that is emptied on the way."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


_FORMS: dict[str, Callable[[Iterable[Columns]], Iterator[bytes]]] = {
    "lines": _lines,
    "csv": _csv,
    "jsonl": _json_lines,
    "parquet": _parquet,
}
