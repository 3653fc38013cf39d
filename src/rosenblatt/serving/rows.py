"""Rows of requests: a line of JSON becomes a sparse row of the model, with an id, a label and a weight."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.prepared import PreparedRows, is_of_table
from rosenblatt.estimators.online import record_features
from rosenblatt.messages import count_of, escape_unprintable, plain_label, shorten
from rosenblatt.serving.limits import Limits
from rosenblatt.training.groups import csr
from rosenblatt.training.model_file import TrainedModel

Record = dict[str, Any]
ID = "id"
"""The field with the client's name for a row."""
_LARGEST_INT = 2**63
_MANY = 8
"""At least this many records are encoded faster together than one by one."""


class RowError(ValueError):
    """Raised for a row that cannot be used; the message is a sentence for the client."""


def _refuse_constant(word: str) -> float:
    raise RowError(f"expected numbers as JSON has them, got {word}: write null for a missing value.")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class SparseRow(NamedTuple):
    """A row: increasing column numbers, and the value in each of these columns."""

    columns: list[int]
    values: list[float]


def parse_line(line: bytes, limits: Limits) -> Record:
    """Return the object in a line of JSON; raise a RowError if there is none.

    >>> parse_line(b'{"age": 31}', Limits())
    {'age': 31}
    >>> parse_line(b'[31]', Limits())
    Traceback (most recent call last):
    rosenblatt.serving.rows.RowError: expected an object with the columns of a row by name, got [31]: write one object
    on each line.
    """
    if len(line) > limits.line:
        raise RowError(f"expected a row of at most {limits.line:,} bytes, got {len(line):,}: send less in a row.")
    try:
        record = _DECODER.decode(line.decode())
    except RowError:
        raise
    except (ValueError, RecursionError) as fault:
        why = "very deep nesting" if isinstance(fault, RecursionError) else shorten(line.decode("utf-8", "replace"))
        raise RowError(f"expected a row as an object in JSON, got {why}: write one object on each line.") from None
    if type(record) is not dict:
        raise RowError(
            f"expected an object with the columns of a row by name, got {shorten(record)}: write one object on each "
            "line."
        )
    if len(record) > limits.fields:
        raise RowError(f"expected at most {limits.fields:,} columns in a row, got {len(record):,}: send fewer.")
    return record


def id_of(record: Record, limits: Limits) -> str:
    """Return the id of a record as JSON text, or "" if it has none; raise a RowError if it is not valid.

    >>> id_of({"id": "a"}, Limits()), id_of({"id": 7}, Limits()), id_of({}, Limits())
    ('"a"', '7', '')
    """
    given = record.get(ID)
    if given is None:
        return ""
    valid = (type(given) is str and len(given) <= limits.id) or (type(given) is int and abs(given) < _LARGEST_INT)
    if not valid:
        raise RowError(
            f"expected an id that is a string of at most {limits.id} characters or an integer of at most 64 bits, got "
            f"{shorten(given)}: give another id."
        )
    return json.dumps(given)


def sentence(error: BaseException) -> str:
    """Return the message of an error as one printable line."""
    text = " ".join(escape_unprintable(str(error)).split())
    return text if len(text) <= 1000 else text[:997] + "..."


def fault_of_row(fault: Exception) -> str:
    """Return what is wrong with a row as a sentence; whatever a row holds, it must not stop the thread that reads it.

    >>> fault_of_row(RowError("expected a row, got none: send one."))
    'expected a row, got none: send one.'
    """
    if isinstance(fault, UnicodeError):
        return "expected text in Unicode, got half of a surrogate pair: send both halves, or leave it out."
    if isinstance(fault, ValueError | TypeError):
        return sentence(fault)
    return f"this row could not be read ({type(fault).__name__}): send it as the training data have it."


class RowReader:
    """Convert records to rows of a model.

    A model that was trained from a table takes its columns, and prepares them as in training. A model that learned from
    named columns takes these names; if it learns, it gets new columns for new names. Columns without names are called
    x0, x1 and so on.

    Parameters
    ----------
    model : TrainedModel
        The model.
    limits : Limits
        The limits on names and classes.
    target : str, optional
        The field with the label. By default it is the target of the training table, or else "label".
    weight : str, optional
        The field with the weight of a row. By default it is the column of weights of the training table, or else
        "weight" if the model has no column of this name.
    """

    def __init__(
        self, model: TrainedModel, limits: Limits, target: str | None = None, weight: str | None = None
    ) -> None:
        self._limits = limits
        preparation = model.preparation
        self._prepared = PreparedRows(preparation) if is_of_table(preparation) and preparation is not None else None
        if preparation is not None and self._prepared is None:
            raise ValueError(
                f"this model was trained on {preparation['format']} text, whose columns have no names that JSON could "
                "use: train it on a table (CSV, JSON lines, Parquet) to serve it."
            )
        self._preparation = preparation
        self._positional = preparation is None and model.feature_names is None
        self._columns: dict[str, int] = {}
        self.grows = False
        """Whether the model gets a new column for each new name."""
        if self._prepared is None:
            names = [f"x{j}" for j in range(model.n_features)] if model.feature_names is None else model.feature_names
            self._columns = {str(name): column for column, name in enumerate(names)}
            self.grows = model.feature_names is not None and model.options.is_linear
            if len(self._columns) < len(names):
                raise ValueError("this model has two columns of one name, so a row cannot say which it means.")
        self.is_sparse = self.grows if self._prepared is None else self._prepared.is_sparse
        """Whether the model learns from sparse rows, as ``partial_fit`` does with these rows in tables."""
        self.target = target or (self._prepared and self._prepared.target) or "label"
        used = (preparation or {}).get("weight")
        self.weight = weight or used or ("weight" if "weight" not in self.columns else None)
        """The field with the weight of a row; None if there is none, because "weight" is a column of the model."""
        for name, option in ((ID, "the id of rows"), (self.target, "--target"), (self.weight, "--weight")):
            if name in self.columns:
                raise ValueError(
                    f"{shorten(name)} is {option}, and also a column of this model: "
                    + ("rename the column." if name == ID else f"give another name with {option}.")
                )
        self._fields = {ID, self.target, self.weight}
        self._labels: dict[tuple[type, object], Any] = {}
        self._classes = set(model.classes.tolist())

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self._columns] if self._prepared is None else self._prepared.columns

    @property
    def is_positional(self) -> bool:
        """Whether the columns have no names of their own."""
        return self._positional

    def kinds(self) -> list[tuple[str, str]]:
        """Return the name of each column and its type in the Open Inference Protocol."""
        numbers: dict[str, str] = {}
        if self._preparation is not None:
            columns = self._preparation["columns"]
            numbers = {column["name"]: column["kind"] for column in columns}
        types = {"number": "FP64", "boolean": "BOOL"}
        return [(name, types.get(numbers.get(name, "number"), "BYTES")) for name in self.columns]

    # the parts of a record

    def is_label_alone(self, record: Record) -> bool:
        """Return whether a record has no columns, so that it is the label of an earlier row."""
        return self._fields.issuperset(record)

    def weight_of(self, record: Record) -> float:
        """Return the weight of a record, by default 1; raise a RowError if it is not valid."""
        given = 1.0 if self.weight is None else record.get(self.weight, 1.0)
        if type(given) is int and given.bit_length() < 1000:
            given = float(given)
        if type(given) is not float or not 0.0 <= given < math.inf:
            raise RowError(
                f"expected a weight that is a number of at least 0, got {shorten(given)}: leave it out for 1."
            )
        return given

    def label_of(self, record: Record) -> Any:
        """Return the label of a record as in training; raise a RowError if it is missing or not allowed."""
        if self.target not in record:
            raise RowError(f"expected a label, got none: add the field {self.target!r}.")
        given = record[self.target]
        try:
            return self._labels[type(given), given]
        except (KeyError, TypeError):
            pass
        label = self._label_as_in_training(given)
        if label not in self._classes and len(self._classes) >= self._limits.classes:
            known = ", ".join(shorten(plain_label(one)) for one in sorted(self._classes)[:6])
            raise RowError(
                f"expected a class of the model ({known}{', ...' if len(self._classes) > 6 else ''}), got "
                f"{shorten(plain_label(label))}: write labels as in training, or start the server with --max-classes."
            )
        if label in self._classes and len(self._labels) < 10_000:
            self._labels[type(given), given] = label
        return label

    def _label_as_in_training(self, given: Any) -> Any:
        if type(given) not in (str, int, float, bool) or len(str(given)) > self._limits.id:
            raise RowError(
                f"expected a label that is a string, a number or a boolean of at most {self._limits.id} characters, "
                f"got {shorten(given)}: write labels as in training."
            )
        if self._prepared is not None:
            return self._prepared.label(given).tolist()[0]
        str(given).encode()
        kinds = {type(label) for label in self._classes}
        same = type(given) in kinds or (type(given) in (int, float) and kinds <= {int, float})
        if not same or (type(given) is float and not given.is_integer()):
            raise RowError(
                f"expected a label like {shorten(next(iter(self._classes)))}, got {shorten(given)}: write labels as in "
                "training."
            )
        return given

    def add_class(self, label: Any) -> None:
        """Accept a label that is about to be learned as one of the classes."""
        self._classes.add(label)

    def set_classes(self, classes: np.ndarray) -> None:
        """Set the classes to those of the model."""
        self._classes = set(classes.tolist())

    def row(self, record: Record, learning: bool = False) -> SparseRow:
        """Return the row of a record; raise an error if it is not valid.

        A name without a column is ignored. But if the model gets new columns and is ``learning``, the name gets the
        next one.
        """
        if self._prepared is not None:
            return SparseRow(*self._prepared.record_lists(record))
        return self._named_row(record, learning and self.grows)

    def rows(self, records: list[Record]) -> list[SparseRow] | None:
        """Return the rows of several records at once; None if `row` has to be called for each."""
        if self._prepared is None or len(records) < _MANY:
            return None
        found = self._prepared.many_record_lists(records)
        return None if found is None else [SparseRow(*row) for row in found]

    def _named_row(self, record: Mapping[str, Any], learning: bool) -> SparseRow:
        features = record_features({name: value for name, value in record.items() if name not in self._fields})
        new = [name for name in features if name not in self._columns] if learning else []
        if len(self._columns) + len(new) > self._limits.names:
            raise RowError(
                f"expected names of the {len(self._columns):,} columns that the model may have, got {shorten(new[0])}: "
                "leave it out, or start the server with a larger --max-names."
            )
        for name in new:
            name.encode()
        for name in new:
            self._columns[name] = len(self._columns)
        found = sorted((self._columns[name], value) for name, value in features.items() if name in self._columns)
        return SparseRow([column for column, _ in found], [value for _, value in found])

    # names

    @property
    def n_names(self) -> int:
        """The number of columns of a model that learns by name."""
        return len(self._columns)

    def names_from(self, first: int) -> list[str]:
        """Return the names of the columns from number ``first`` on."""
        return list(self._columns)[first:] if first < len(self._columns) else []

    def add_names(self, names: list[str]) -> None:
        """Append columns for names that the log has."""
        for name in names:
            self._columns[name] = len(self._columns)

    def forget_names(self, n: int) -> None:
        """Forget all columns but the first ``n``, because no row with them was learned."""
        while len(self._columns) > n:
            self._columns.popitem()


def matrix_of(rows: list[SparseRow], width: int) -> sp.csr_array:
    """Return sparse rows as a CSR matrix; entries in columns from ``width`` on are left out.

    >>> matrix_of([SparseRow([0, 7], [2.0, 1.0])], 3).toarray()
    array([[2., 0., 0.]])
    """
    columns, values, lengths = stacked(rows)
    X = csr(values, columns, lengths, max(width, int(columns.max(initial=-1)) + 1))
    return X if X.shape[1] == width else X[:, :width]


def stacked(rows: list[SparseRow]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns and values of all rows one after the other, and the number of entries of each row."""
    lengths = np.fromiter((len(row.columns) for row in rows), np.int64, len(rows))
    n = int(lengths.sum())
    columns = np.fromiter(chain.from_iterable(row.columns for row in rows), np.int32, n)
    return columns, np.fromiter(chain.from_iterable(row.values for row in rows), np.float64, n), lengths


def lines_of(body: bytes, limits: Limits) -> list[bytes]:
    """Return the lines of a body without empty ones; raise a RowError if there are too many or none.

    >>> lines_of(b'{"a": 1}\\r\\n\\n{"a": 2}\\n', Limits())
    [b'{"a": 1}', b'{"a": 2}']
    """
    if body.count(b"\n") > 2 * limits.rows:
        raise RowError(_too_many(limits))
    lines = [line for line in map(bytes.strip, body.split(b"\n")) if line]
    if len(lines) > limits.rows:
        raise RowError(_too_many(limits))
    if not lines:
        raise RowError("expected at least one row, got an empty body: write one object on each line.")
    return lines


def _too_many(limits: Limits) -> str:
    return f"expected at most {count_of(limits.rows, 'row')} in a request, got more: send several requests."
