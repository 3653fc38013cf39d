"""The options of ``data.open``, and the base class of row sources, which yield the blocks of a stream.

A source can be iterated as often as its files can be read. It counts the rows that it leaves out, and the unseen and
missing values in the rows that it yields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError, with_numbers
from rosenblatt.data.io.bytes import TABLES, TEXTS
from rosenblatt.data.io.lines import LineSource
from rosenblatt.messages import Message, ParameterError, shorten, show_text

if TYPE_CHECKING:
    from rosenblatt.data.tables.reader import TableChunk
    from rosenblatt.scaling import ColumnSums

VERSION = 1
"""The version of the layout of preparations."""
FIRST_ROWS = 10_000
"""The default number of rows from which the schema of a table is inferred."""
FILLS = ("error", "zero", "mean")
"""The treatments of missing numbers: raise an error, fill with 0, or fill with the mean."""
ON_AMBIGUOUS = ("error", "drop", "note")
"""The treatments of columns whose kind is ambiguous."""
DIALECT = ("header", "delimiter", "quote")
"""The options that describe how CSV and TSV files are written."""
LABEL, TEXT = "label", "text"
"""The columns of lines that start with their label."""
_WITH_COLUMNS = tuple(kind for kind in TABLES if kind != "fasttext")
"""The formats of tables whose columns have names and kinds of their own."""
_KEPT_MESSAGES = 10
FEW_WORDS = 10_000
"""With ``keep_words="few"``, words are kept unless they are in more hashed columns than this."""

Preparation: TypeAlias = dict[str, Any]
"""Plain data that defines how rows are made from files, and that JSON can represent."""
ColumnEntry: TypeAlias = dict[str, Any]
"""An entry of "columns" in a preparation, which defines how one column of a table becomes features."""
Select: TypeAlias = Callable[[Iterable[Block]], Iterable[Block]]
"""A function that yields the training rows of blocks, or marks the rows that are held out."""
Record: TypeAlias = Callable[[Generator[Block, None, None]], Generator[Block, None, None]]
"""A function that yields blocks and stores them, if all of them are read."""
Facts: TypeAlias = dict[str, Any]
"""The results of a complete pass as plain data: counts, the number of columns, and the names of hashed columns."""


@dataclass
class Growth:
    """The features that a table which is read once gets on the way: for new categories, and new fields of JSON lines.

    They come after all features of the first rows, in the order in which they come up.
    """

    most: int = 1_000_000
    """The largest number of features; values that would need more are ignored, as unseen values are."""
    features: list[tuple[str, str | None]] = field(default_factory=list)
    """The column of each feature, and its category; None for a column of numbers. Features are appended."""


def _option(default: object = None, *formats: str) -> Any:
    """Return a dataclass field for an option that applies only to some formats, by default to tables."""
    return field(default=default, metadata={"formats": formats or _WITH_COLUMNS})


@dataclass
class OpenRequest:
    """The arguments of ``data.open``, which documents them; fields with ``_option`` apply only to some formats."""

    files: LineSource
    format: str
    preparation: Preparation | None = None
    """If it is given, it defines how rows are made, and the options are ignored."""
    given: frozenset[str] = frozenset()
    """The names of the ``_option`` fields that were given."""
    labels: bool = True
    optional_labels: bool = False
    """Whether rows without a label are kept."""
    grow: Growth | None = None
    """The features that are added on the way; None if there are none."""
    skip: bool = False
    threads: int = 0
    first_rows: int = FIRST_ROWS
    all_rows: bool = True
    """Whether the schema of the first rows is completed from all rows, if the input can be read twice."""
    on_ambiguous: str = "error"
    target: str | int | None = _option(None, *_WITH_COLUMNS, "npz")
    columns: Sequence[str] | None = _option()
    drop: Sequence[str] = _option(())
    keep: Sequence[str] = _option(())
    column_types: Mapping[str, str | Sequence[str]] = field(default_factory=dict, metadata={"formats": _WITH_COLUMNS})
    categories: str = _option("onehot")
    bits: int = _option(18, *TABLES, "vw")
    ngrams: int = _option(1, *TABLES)
    characters: Sequence[int] | None = _option(None, *TABLES)
    label_first: bool = _option(False, "fasttext")
    missing: str = _option("error", *_WITH_COLUMNS, "npz")
    missing_values: Sequence[str] = _option(())
    weight: str | int | None = _option()
    header: bool | None = _option(None, "csv", "tsv")
    delimiter: str | None = _option(None, "csv", "tsv")
    quote: str | None = _option(None, "csv", "tsv")
    encoding: str | None = _option(None, *TEXTS)
    skip_rows: int = _option(0, *TEXTS)
    sheet: str | None = _option(None, "csv")
    zero_based: bool | None = _option(None, "svmlight")
    n_features: int | None = _option(None, "svmlight")
    keep_words: bool | str = _option(False, *TABLES, "vw")
    passthrough: Sequence[str] = _option((), *TABLES)

    @property
    def file(self) -> str:
        """The name of the first file, as shown in messages."""
        return self.files.display_name(0)

    def setting(self, name: str) -> Any:
        """Return the value of an option; it is taken from the preparation if there is one."""
        return getattr(self, name) if self.preparation is None else self.preparation.get(name)


OPTION_FORMATS: dict[str, tuple[str, ...]] = {
    option.name: option.metadata["formats"] for option in fields(OpenRequest) if option.metadata
}
"""For each option that applies only to some formats, the names of these formats."""


class RowSource:
    """Base class of row sources, which read files and yield blocks of rows.

    Attributes
    ----------
    files : LineSource
        The files: ``files.names``, ``files.size`` in bytes, ``files.rereadable``.
    labelled : bool
        Whether rows have labels.
    fixed_width : bool
        Whether the number of columns is known before the last row.
    share : float
        The share of the input that has been read in this pass, from 0 to 1.
    skipped : int
        The number of rows left out in this pass.
    messages : list of str
        The reasons why the first ten of these rows were left out.
    unseen : Counter
        For each column, the number of values that are not known categories.
    unlabelled : Counter
        For each text in place of a label, such as "NA", the number of rows that were left out.
    filled : Counter
        For each column of a table, the number of missing values in rows that were not left out.
    hashed_names : dict
        The first word that was hashed to each column, if words are kept.
    has_many_words : bool
        Whether words are not kept because there are too many.
    extra_columns : list of str
        Columns found so far that the preparation does not name.
    excluded : dict
        The columns that were left out automatically, not by an option, mapped to the reasons.
    notes : list of Message
        Notes about how the files are read.
    """

    skips = False
    """Whether rows that cannot be read are left out."""
    depends_on_training = False
    """Whether `fit_schema` must still make the schema, unless all rows are training rows and it is not provisional."""
    is_provisional = False
    """Whether `fit_schema` must still read all rows to complete the schema."""

    def __init__(self, files: LineSource, labelled: bool, fixed_width: bool = True) -> None:
        self.files, self.labelled, self.fixed_width = files, labelled, fixed_width
        self.hashed_names: dict[int, str] = {}
        self.has_many_words = False
        self.extra_columns: list[str] = []
        self.excluded: dict[str, str] = {}
        self.notes: list[Message] = []
        self.reset_counts()

    def reset_counts(self) -> None:
        """Reset the counts before a new pass."""
        self.share, self.skipped = 0.0, 0
        self.messages: list[str] = []
        self.unlabelled: Counter[str] = Counter()
        self.unseen: Counter[str] = Counter()
        self.filled: Counter[str] = Counter()

    def take_counts(self, other: RowSource) -> None:
        """Take over the counts of a source that has read the same rows."""
        self.share, self.skipped, self.messages = other.share, other.skipped, other.messages
        self.unlabelled, self.unseen, self.filled = other.unlabelled, other.unseen, other.filled

    def record_fault(self, message: str) -> None:
        """Count a row that is left out, and keep the message if it is one of the first ten."""
        self.skipped += 1
        if len(self.messages) < _KEPT_MESSAGES:
            self.messages.append(message)

    @property
    def has_named_features(self) -> bool:
        """Whether a feature has a name other than ``#`` and its number."""
        return bool(self.hashed_names)

    def add_words(self, words: Mapping[int, str]) -> None:
        """Store the word of each hashed column in ``words``, unless the column has a word already."""
        for column, word in words.items():
            self.hashed_names.setdefault(column, word)

    def drop_words(self) -> None:
        """Delete all words, and keep none from now on, because there are too many."""
        self.has_many_words, self.hashed_names = True, {}

    def facts(self) -> Facts:
        """Return the counts, the number of columns and the names of hashed columns; call this after the last row."""
        return {
            "skipped": self.skipped,
            "complaints": self.messages,
            "unlabelled": dict(self.unlabelled),
            "unseen": dict(self.unseen),
            "filled": dict(self.filled),
            "n_features": self.n_features,
            "words": None if self.has_many_words else [list(pair) for pair in self.hashed_names.items()],
        }

    def restore(self, facts: Facts) -> None:
        """Restore the counts and the words with which an earlier complete pass ended."""
        self.skipped, self.messages = int(facts["skipped"]), [str(message) for message in facts["complaints"]]
        self.unlabelled = Counter(facts["unlabelled"])
        self.unseen, self.filled = Counter(facts["unseen"]), Counter(facts["filled"])
        if facts["words"] is None:
            self.drop_words()
        else:
            self.add_words({int(column): str(word) for column, word in facts["words"]})

    @property
    def n_features(self) -> int:
        """The number of columns of the blocks found so far, or the total number if it is known."""
        raise NotImplementedError

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each feature; None if features have no names."""
        return None

    @property
    def number_columns(self) -> np.ndarray | None:
        """The indices of the features that are columns of numbers in a table; None for other formats."""
        return None

    @property
    def preparation(self) -> Preparation:
        """Plain data that defines how rows are made from the files."""
        raise NotImplementedError

    @property
    def recipe(self) -> Preparation:
        """The preparation, without the number of columns if that is known only after the last row."""
        return self.preparation | ({} if self.fixed_width else {"n_features": None})

    def for_other_rows(self) -> RowSource:
        """Return a source whose schema `fit_schema` can make from other rows; by default this source."""
        return self

    def fit_schema(
        self, select: Select, are_held_out: bool, summed: bool, record: Record | None = None
    ) -> tuple[ColumnSums | None, bool]:
        """Make the schema from the rows that ``select`` keeps; requires that ``depends_on_training`` is True.

        ``are_held_out`` tells whether ``select`` does not keep all rows. ``record`` stores blocks for later passes, if
        the rows that are read for the schema are the same. Return sums of the columns if ``summed`` and all rows were
        read, or None, and whether rows will be sparse.
        """
        raise NotImplementedError

    def head(self, rows: int | None = None) -> tuple[TableChunk, bool, str] | None:
        """Return the first rows of a table, whether its format has types, and a title; None for other formats.

        By default these are the rows from which the schema was inferred.
        """
        return None

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the start."""
        raise NotImplementedError


class _MoreRows(Exception):
    """Raised after the first blocks of a stream, because a rule that selects rows may count them at the end."""


def kept_rows(select: Select, first: Iterable[Block]) -> np.ndarray:
    """Return the indices, among all rows of the files, of the rows that ``select`` keeps of the first blocks."""
    kept = [np.empty(0, np.int64)]

    def some() -> Generator[Block, None, None]:
        yield from first
        raise _MoreRows

    with suppress(_MoreRows):
        for block in map(with_numbers, select(some())):
            numbers = np.asarray(block.numbers)
            kept.append(numbers if block.held_out is None else numbers[~block.held_out])
    return np.concatenate(kept)


def add_facts(parts: Sequence[Facts]) -> Facts:
    """Combine the facts of several sources, each of which has read one part of the rows."""
    unlabelled: Counter[str] = Counter()
    unseen: Counter[str] = Counter()
    filled: Counter[str] = Counter()
    words: dict[int, str] = {}
    has_many_words = any(part["words"] is None for part in parts)
    for part in parts:
        unlabelled.update(part["unlabelled"])
        unseen.update(part["unseen"])
        filled.update(part["filled"])
        words = dict(part["words"] or ()) | words
    return {
        "skipped": sum(part["skipped"] for part in parts),
        "complaints": [message for part in parts for message in part["complaints"]][:_KEPT_MESSAGES],
        "unlabelled": dict(unlabelled),
        "unseen": dict(unseen),
        "filled": dict(filled),
        "n_features": max(part["n_features"] for part in parts),
        "words": None if has_many_words else [list(pair) for pair in words.items()],
    }


def check_missing(missing: object) -> None:
    """Raise a ParameterError unless ``missing`` is one of ``FILLS``."""
    if missing not in FILLS:
        raise ParameterError("{missing} must be 'error', 'zero', 'mean' or 'auto', got {got}.", got=shorten(missing))


@contextmanager
def rename_errors(file: str, format: str, *errors: type[Exception]) -> Generator[None, None, None]:
    """Replace exceptions of the given types, or a MemoryError, with a ``DataError`` that names the file."""
    try:
        yield
    except DataError:
        raise
    except MemoryError:
        what = "{file} needs more memory than there is: is it damaged? Copy it again, or give the process more memory."
        raise DataError(what, file=file) from None
    except errors as error:
        reason = show_text(str(error).strip().partition("\n")[0], 200)
        what = "{file} cannot be read as {kind} ({reason}): copy it again, or give its true {format}."
        raise DataError(what, file=file, kind=format, reason=reason) from None


def fit_columns(X: sp.csr_array, width: int) -> tuple[sp.csr_array, int]:
    """Cut or widen a CSR array to ``width`` columns; also return the number of entries that were cut off.

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
