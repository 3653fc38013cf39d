"""``rosenblatt predict``: predictions of a saved model, written as one label per line, CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rosenblatt.cli.inputs import Predictor, best_classes, check_out, load_model, open_data
from rosenblatt.cli.options import FILES, MODEL, TOP, FileOptions, command, option
from rosenblatt.cli.output import (
    ProgressBar,
    enable_gc,
    error_text,
    finite_or_null,
    note_counts,
    note_extra_columns,
    note_preparation,
    on_terminal,
    print_json,
    print_note,
)
from rosenblatt.messages import check_integer, count_of, label_text, plain_label
from rosenblatt.storage.container import write_atomically

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

    from rosenblatt.blocks import Block
    from rosenblatt.data import Stream

Columns: TypeAlias = dict[str, list[Any]]
"""Predictions for a block of rows, as a dictionary of columns. An output starts with a block of empty columns."""
_UNSUPPORTED = (".xlsx", ".xls", ".ods", ".json", ".tsv", ".feather", ".arrow", ".npz", ".gz", ".zip")
"""Extensions of formats in which predictions cannot be written."""
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}


@command
def predict(
    *,
    model: str = MODEL,
    data: list[str] = FILES,
    out: Path | None = option(
        None,
        "FILE",
        "Write to this file, or to a file for each input in this folder; .csv, .jsonl and .parquet select the format.",
        "--out -o",
    ),
    id: list[str] | None = option(None, "COL", "Column of the input to copy to the output. Repeatable."),
    scores: bool = option(False, None, "Also write the scores of each row."),
    top: int | None = TOP,
    proba: bool = option(False, None, "Also write the probability of each class. The model must be calibrated."),
    as_json: bool = option(
        False, None, "Print predictions as JSON lines; with -o, print one line of JSON with counts.", "--json"
    ),
    files: FileOptions,
) -> None:
    """Write the predicted label of each row, one per line.

    The input needs no labels. Columns that the model does not use are left out.

    With --id, --scores, --proba or --on-error skip, the output is CSV with a header. It is JSON lines or Parquet
    if -o names a .jsonl or .parquet file, and JSON lines if --json is given without -o. --on-error skip adds a first
    column `row`: the number of the row in the input, counted from 0.

    With --top K, a row has its K best labels, each followed by its score and its probability if --scores or --proba is
    given. Unless -o names another format, there is a line for each row, with tabs between its parts and no header.

    If -o names a folder, each input file has its own output there, under its name and in its format if that is CSV,
    JSON lines or Parquet. Files whose output is there are left out, so a command that was stopped can be run again.

    \b
    Examples:
      rosenblatt predict adult.model new.csv -o answers.txt
      rosenblatt predict titanic.model new.csv --id PassengerId -o answers.csv
      rosenblatt predict news.model texts.txt --top 3 --scores
      rosenblatt predict news.model "part-*.parquet" -o answers/
    """
    if str(out) == "-":
        out = None  # standard output
    ids, skip = list(dict.fromkeys(id or ())), files.on_error == "skip"
    if top is not None:
        check_integer("top", top, 1)
    several = top is None and (bool(ids) or scores or proba or skip)
    parts: list[tuple[list[str], Path | None]] = [(data, out)]
    if out is not None and out.is_dir():
        parts = outputs_in(out, data, several)
    for _, target in parts:
        check_out(target, [model, *data], replaced=form_of(target, several, as_json) == "parquet")
    predictor = load_model(model)
    if proba and predictor.calibration is None:
        raise ValueError(
            f"{model} has scores but no probabilities: train it with --calibrate, or calibrate it in Python with "
            "rosenblatt.calibrated. Training a model further removes its probabilities."
        )
    for names, target in parts:
        options = {**files.to_open(), "preparation": predictor.preparation, "labels": False, "passthrough": ids}
        rows = open_data(names, None, options)
        note_preparation(rows)
        note_extra_columns(rows, used=ids)
        made = _Columns(predictor, ids, row=skip, top=top, scores=scores, proba=proba)
        _predict_rows(made, rows, names, target, form_of(target, several, as_json), as_json)


def outputs_in(folder: Path, data: Sequence[str], several_columns: bool) -> list[tuple[list[str], Path | None]]:
    """Return pairs of an input file, in a list, and its output in ``folder``, for the outputs that are not there yet.

    An output has the name of its input. Unless that names a format of predictions, an ending is added.
    """
    from rosenblatt.data.io.lines import file_names

    found: dict[Path, str] = {}
    for name in file_names(list(data)):
        target = folder / Path(name).name
        if target.suffix.lower() not in _ENDINGS:
            target = target.with_name(target.name + (".csv" if several_columns else ".txt"))
        if found.setdefault(target, name) != name:
            raise ValueError(f"{found[target]} and {name} would both be written to {target}: use a folder for each.")
    return [([name], target) for target, name in found.items() if not target.exists()]


def _predict_rows(
    made: _Columns, rows: Stream, data: Sequence[str], out: Path | None, form: str, as_json: bool
) -> None:
    """Write the predictions for the rows of some files, and what there is to say about them."""
    predictor = made.model
    enable_gc()
    counts: Counter[str] = Counter()
    with ProgressBar("predicting", data, shown=out is not None or not on_terminal()) as bar:
        write(out, form, _predictions(made, bar.track(rows), counts))
    note_counts(rows)
    if made.unlikely:
        print_note(
            f"{made.unlikely:,} of {count_of(counts.total(), 'label')} {'is' if made.unlikely == 1 else 'are'} not the "
            "class of the largest probability, because labels are the decisions of the model itself."
        )
    if as_json and out is not None:
        known = {label_text(label): counts[label_text(label)] for label in predictor.classes.tolist()}
        facts = {"rows": sum(counts.values()), "classes": known, "out": str(out)}
        print_json(facts | {"skipped": rows.skipped.rows, "unseen": rows.unseen})


class _Columns:
    """The columns of the output, computed from blocks of rows.

    They are the row number, the input columns ``ids``, the predicted label, the scores and the probabilities. The row
    number, scores and probabilities are included only if ``row``, ``scores`` and ``proba`` are True. With ``top``,
    there are that many labels, each with its score and its probability.
    """

    def __init__(
        self, model: Predictor, ids: Sequence[str], *, row: bool, top: int | None, scores: bool, proba: bool
    ) -> None:
        self.model, self.proba, self.top = model, proba, top
        self.unlikely = 0
        """The number of labels that are not the class of the largest probability."""
        classes = [label_text(label) for label in model.classes.tolist()]
        taken = set(ids)

        def free(names: Iterable[str], other: str) -> list[str]:
            """Return column names that are not used yet; a used name is replaced by ``other.format(name)``."""
            found = []
            for name in names:
                while name in taken:
                    name = other.format(name)
                taken.add(name)
                found.append(name)
            return found

        self.row = free(["row"] if row else [], "predicted {}")
        (self.label,) = free(["label"], "predicted {}")
        self.ranked: list[list[str]] = []
        """With ``top``, the names of the label, score and probability of each rank."""
        if top is not None:
            kinds = ["label", *["score"] * scores, *["probability"] * proba]
            self.ranked = [[self.label, *free(kinds[1:], "predicted {}")]]
            for k in range(2, min(top, len(classes)) + 1):
                self.ranked.append(free([f"{kind} {k}" for kind in kinds], "predicted {}"))
            self.scores, self.probabilities = [], []
            self.names = [*self.row, *ids, *chain.from_iterable(self.ranked)]
            return
        shown = classes if len(classes) != 2 else classes[1:]  # the score of two classes is positive for the second
        self.scores = free([f"score {name}" for name in shown] if scores else [], "predicted {}")
        self.probabilities = free(classes if proba else [], "probability {}")
        self.names = [*self.row, *ids, self.label, *self.scores, *self.probabilities]

    def of(self, block: Block) -> Columns:
        """Return the columns for a block of rows."""
        model = self.model
        columns: Columns = {name: block.numbers.tolist() for name in self.row if block.numbers is not None}
        columns |= {name: list(cells) for name, cells in (block.passthrough or {}).items()}
        if self.top is not None:
            return columns | self._best(block)
        predicted = model.predict(block.X)
        columns[self.label] = [plain_label(label) for label in predicted.tolist()]
        if self.scores:
            scores = model.decision_function(block.X).reshape(len(block), -1).T.tolist()
            columns |= dict(zip(self.scores, scores, strict=True))
        if self.proba:
            found = model.predict_proba(block.X)
            columns |= dict(zip(self.probabilities, found.T.tolist(), strict=True))
            own = found[model.classes[None, :] == predicted[:, None]]
            self.unlikely += int((own < found.max(axis=1)).sum())
        return columns

    def _best(self, block: Block) -> Columns:
        """Return the columns of the best classes."""
        labels = [plain_label(label) for label in self.model.classes.tolist()]
        best, scores = best_classes(self.model, block.X, len(self.ranked))
        probabilities = self.model.predict_proba(block.X) if self.proba else None
        columns: Columns = {}
        for names, numbers in zip(self.ranked, best.T, strict=True):
            values: list[list[Any]] = [[labels[number] for number in numbers.tolist()]]
            for table in (scores if len(names) > 1 + self.proba else None, probabilities):
                if table is not None:
                    values.append(table[range(len(table)), numbers].tolist())
            columns |= dict(zip(names, values, strict=True))
        return columns


def _predictions(made: _Columns, rows: Iterable[Block], counts: Counter[str]) -> Iterator[Columns]:
    """Yield predictions block by block, after a first block of empty columns; count the labels in ``counts``."""
    headed = False
    try:
        for block in rows:
            if not len(block):
                continue
            if not headed:
                yield {name: [] for name in made.names}
                headed = True
            columns = made.of(block)
            counts.update(map(label_text, columns[made.label]))
            yield columns
        if not headed:
            yield {name: [] for name in made.names}
    except OSError as error:  # raised by reading; the caller would take an OSError for a failure to write
        raise ValueError(error_text(error)) from error


# Output formats.


def form_of(out: Path | None, several_columns: bool, as_json: bool) -> str:
    """Return the output format that the extension of ``out`` selects.

    For other extensions, the format is CSV if there are several columns, and one label per line otherwise. The same
    applies to standard output, unless ``as_json`` selects JSON lines.

    >>> form_of(Path("a.parquet"), False, False), form_of(None, True, False), form_of(None, False, False)
    ('parquet', 'csv', 'lines')
    """
    if out is None:
        return "jsonl" if as_json else "csv" if several_columns else "lines"
    ending = out.suffix.lower()
    if ending in _UNSUPPORTED:
        raise ValueError(
            f"predictions cannot be written as {ending[1:]}: choose a file name that ends in .csv, .jsonl or .parquet."
        )
    return _ENDINGS.get(ending, "csv" if several_columns else "lines")


def write(out: Path | None, form: str, predictions: Iterable[Columns]) -> None:
    """Write predictions. A regular file is replaced atomically; any other output is written block by block."""
    parts = _FORMS[form](predictions)
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
        except OSError as error:
            text = f"could not be written, {str(error.strerror).lower()}: write to another place"
            raise OSError(error.errno, text, str(out)) from None


def _lines(predictions: Iterable[Columns]) -> Iterator[bytes]:
    for columns in predictions:
        cells = (map(_cell, values) for values in columns.values())
        yield "".join("\t".join(row) + "\n" for row in zip(*cells, strict=True)).encode()


def _csv(predictions: Iterable[Columns]) -> Iterator[bytes]:
    for number, columns in enumerate(predictions):
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        if number == 0:
            writer.writerow(columns)
        writer.writerows(zip(*(map(_cell, values) for values in columns.values()), strict=True))
        yield file.getvalue().encode()


def _cell(value: object) -> str:
    """Return the text of a CSV cell: a score with all its digits, or "" for a missing value."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _json_lines(predictions: Iterable[Columns]) -> Iterator[bytes]:
    for columns in predictions:
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        yield "".join(f"{_json(row)}\n" for row in rows).encode()


def _json(row: dict[str, object]) -> str:
    """Return a row as JSON; infinities and NaN, which JSON does not have, become null.

    >>> _json({"id": float("nan"), "label": "yes"})
    '{"id": null, "label": "yes"}'
    """
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(finite_or_null(row), ensure_ascii=False, allow_nan=False, default=str)


def _parquet(predictions: Iterable[Columns]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file, one row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    predictions = iter(predictions)
    empty = next(predictions)
    first = next(predictions, empty)
    schema = pa.schema([(name, _arrow_type(values)) for name, values in first.items()])
    sink = _Sink()
    with pq.ParquetWriter(sink, schema) as writer:
        for columns in itertools.chain([first], predictions):
            arrays = [_array(name, columns[name], schema.field(name).type) for name in schema.names]
            writer.write_table(pa.table(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _arrow_type(values: list[object]) -> pa.DataType:
    """Return the Arrow type of a column, given its first values: their common type, or string if their types differ."""
    import pyarrow as pa

    known: dict[type, Callable[[], Any]] = {int: pa.int64, float: pa.float64, bool: pa.bool_}
    kinds = {type(value) for value in values if value is not None}
    return known.get(kinds.pop(), pa.string)() if len(kinds) == 1 else pa.string()


def _array(name: str, values: list[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_string(kind):
        values = [None if value is None else label_text(value) for value in values]
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError):
        raise ValueError(
            f"column {name!r} has values of several types, which Parquet cannot hold: write .csv or .jsonl instead."
        ) from None


class _Sink(io.RawIOBase):
    """An in-memory file whose method `taken` returns the bytes written since its last call."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


_FORMS: dict[str, Callable[[Iterable[Columns]], Iterator[bytes]]] = {
    "lines": _lines,
    "csv": _csv,
    "jsonl": _json_lines,
    "parquet": _parquet,
}
