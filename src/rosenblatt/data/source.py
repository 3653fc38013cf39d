"""Row sources: where the blocks of a stream come from, whatever the format, and what ``data.open`` was asked for.

A source yields its blocks as often as its files can be read. Meanwhile it counts what it reads and leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.io.bytes import TABLES
from rosenblatt.data.io.lines import LineSource
from rosenblatt.messages import ParameterError, Phrase, Setting, shorten, show_text

VERSION = 1
"""Version of preparations."""
FIRST_ROWS = 10_000
"""Rows from which the columns of a table are inferred."""
FILLS = ("error", "zero", "mean")
"""What can be done about missing numbers."""
ON_AMBIGUOUS = ("error", "drop", "note")
"""What can be done about columns whose kind is unclear."""
DIALECT = ("header", "delimiter", "quote")
"""The options that say how CSV and TSV are written."""
_KEPT_MESSAGES = 10

Preparation: TypeAlias = dict[str, Any]
"""How rows are made from a file, as plain data that JSON can hold."""
Facts: TypeAlias = dict[str, Any]
"""What is known about rows after the last of them, as plain data that JSON can hold."""


def _option(default: Any = None, *formats: str) -> Any:
    """Return a field for an option that has a meaning for some formats only: tables, if none is named."""
    return field(default=default, metadata={"formats": formats or TABLES})


@dataclass
class OpenRequest:
    """What ``data.open``, which documents its options, is asked for.

    Each option that says how rows are made knows the formats that it is for.
    """

    files: LineSource
    format: str
    preparation: Preparation | None = None
    """What says how rows are made in place of the options, where it is given."""
    given: frozenset[str] = frozenset()
    """The names of those options below that were given."""
    labels: bool = True
    skip: bool = False
    threads: int = 0
    first_rows: int = FIRST_ROWS
    on_ambiguous: str = "error"
    target: str | int | None = _option(None, *TABLES, "npz")
    columns: Sequence[str] | None = _option()
    drop: Sequence[str] = _option(())
    keep: Sequence[str] = _option(())
    column_types: Mapping[str, str | Sequence[str]] = field(default_factory=dict, metadata={"formats": TABLES})
    categories: str = _option("onehot")
    bits: int = _option(18, *TABLES, "vw")
    ngrams: int = _option(1)
    missing: str = _option("error", *TABLES, "npz")
    missing_values: Sequence[str] = _option(())
    weight: str | int | None = _option()
    header: bool | None = _option(None, "csv", "tsv")
    delimiter: str | None = _option(None, "csv", "tsv")
    quote: str | None = _option(None, "csv", "tsv")
    zero_based: bool | None = _option(None, "svmlight")
    n_features: int | None = _option(None, "svmlight")
    keep_words: bool = _option(False, *TABLES, "vw")
    passthrough: Sequence[str] = _option(())

    @property
    def file(self) -> str:
        """The first file, as messages name it."""
        return self.files.display_name(0)

    def setting(self, name: str) -> Any:
        """Return what the preparation says, or the option where there is none."""
        return getattr(self, name) if self.preparation is None else self.preparation.get(name)


OPTION_FORMATS: dict[str, tuple[str, ...]] = {
    option.name: option.metadata["formats"] for option in fields(OpenRequest) if option.metadata
}
"""For each option that says how rows are made, the formats that it is for."""


class RowSource:
    """What all sources of rows have in common.

    Attributes
    ----------
    files : LineSource
        The files: ``files.names``, ``files.size`` in bytes, ``files.rereadable``.
    labelled : bool
        Whether rows have labels.
    fixed_width : bool
        Whether the number of columns is known before the last row.
    share : float
        How much of the input has been read in this pass, from 0 to 1.
    skipped : int
        Rows left out in this pass.
    messages : list of str
        What was wrong with the first ten of them.
    unseen : Counter
        For each column, how many values are none of its known categories.
    filled : Counter
        For each column of a table, how many values are missing in rows that are kept.
    hashed_names : dict
        The words that were hashed, by column, if they are kept.
    extra_columns : list of str
        Columns that the preparation says nothing of, so far.
    excluded : dict
        The columns that were left out unasked, and why.
    notes : list of tuples
        What should be said about how the files are read: sentences, each as its pieces.
    """

    skips = False
    """Whether rows that cannot be read are left out."""

    def __init__(self, files: LineSource, labelled: bool, fixed_width: bool = True) -> None:
        self.files, self.labelled, self.fixed_width = files, labelled, fixed_width
        self.hashed_names: dict[int, str] = {}
        self.extra_columns: list[str] = []
        self.excluded: dict[str, str] = {}
        self.notes: list[tuple[Phrase, ...]] = []
        self.reset_counts()

    def reset_counts(self) -> None:
        """Forget what was counted, before a new pass."""
        self.share, self.skipped = 0.0, 0
        self.messages: list[str] = []
        self.unseen: Counter[str] = Counter()
        self.filled: Counter[str] = Counter()

    def record_fault(self, message: str) -> None:
        """Count a row that is left out."""
        self.skipped += 1
        if len(self.messages) < _KEPT_MESSAGES:
            self.messages.append(message)

    def facts(self) -> Facts:
        """Return what is known after the last row."""
        counted = {"skipped": self.skipped, "complaints": self.messages, "unseen": dict(self.unseen)}
        counted["filled"] = dict(self.filled)
        return counted | {"n_features": self.n_features, "words": [list(pair) for pair in self.hashed_names.items()]}

    def restore(self, facts: Facts) -> None:
        """Set the counts to those of an earlier pass over all rows."""
        self.skipped, self.messages = int(facts["skipped"]), [str(message) for message in facts["complaints"]]
        self.unseen, self.filled = Counter(facts["unseen"]), Counter(facts["filled"])
        self.hashed_names.update((int(column), str(word)) for column, word in facts["words"])

    @property
    def n_features(self) -> int:
        """Columns of the blocks, as far as they are known."""
        raise NotImplementedError

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column, None where there are none."""
        return None

    @property
    def number_columns(self) -> np.ndarray | None:
        """The features that are columns of numbers in a table; None where all features are alike."""
        return None

    @property
    def preparation(self) -> Preparation:
        """How rows are made."""
        raise NotImplementedError

    @property
    def recipe(self) -> Preparation:
        """The preparation without what is only known after the last row."""
        return self.preparation | ({} if self.fixed_width else {"n_features": None})

    def head(self) -> tuple[Any, bool, str] | None:
        """Return the first rows of a table as stored, whether they have types, and a title; None where it is none."""
        return None

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the start."""
        raise NotImplementedError


def add_facts(parts: Sequence[Facts]) -> Facts:
    """Return what is known after several sources, each of which has read a part of the rows."""
    unseen: Counter[str] = Counter()
    filled: Counter[str] = Counter()
    words: dict[int, str] = {}
    for part in parts:
        unseen.update(part["unseen"])
        filled.update(part["filled"])
        words = dict(part["words"]) | words
    return {
        "skipped": sum(part["skipped"] for part in parts),
        "complaints": [message for part in parts for message in part["complaints"]][:_KEPT_MESSAGES],
        "unseen": dict(unseen),
        "filled": dict(filled),
        "n_features": max(part["n_features"] for part in parts),
        "words": [list(pair) for pair in words.items()],
    }


def check_missing(missing: Any) -> None:
    """Raise a ParameterError unless this says what to do about missing numbers."""
    if missing not in FILLS:
        raise ParameterError(Setting("missing"), f" must be 'error', 'zero', 'mean' or 'auto', got {shorten(missing)}.")


@contextmanager
def rename_errors(file: str, format: str, *errors: type[Exception]) -> Generator[None, None, None]:
    """Replace these errors, and those of memory, by a ``DataError``: the file is not of its format."""
    try:
        yield
    except DataError:
        raise
    except MemoryError:
        what = f"{file} asks for more memory than there is"
        raise DataError(f"{what}: is it damaged? Copy it again, or give the process more memory.") from None
    except errors as error:
        reason = show_text(str(error).strip().partition("\n")[0], 200)
        hint = "copy it again, or give its true ", Setting("format"), "."
        raise DataError(f"{file} cannot be read as {format} ({reason}): ", *hint) from None


def fit_columns(X: sp.csr_array, width: int) -> tuple[sp.csr_array, int]:
    """Return a CSR array with ``width`` columns, and how many of its entries were beyond them.

    Examples
    --------
    >>> X, beyond = fit_columns(sp.csr_array([[1.0, 0.0, 2.0]]), 2)
    >>> X.toarray(), beyond
    (array([[1., 0.]]), 1)
    """
    beyond = 0
    if X.shape[1] > width:
        beyond = int((X.indices >= width).sum())
        X = X[:, :width]
    elif X.shape[1] < width:
        X.resize(X.shape[0], width)
    return X, beyond
