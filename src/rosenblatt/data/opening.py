"""``data.open``, which opens files of any supported format as a stream of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.cache import RowCache
from rosenblatt.data.io.bytes import TABLES, BinaryFile, detect_format, format_of_name, is_binary
from rosenblatt.data.io.decoding import Decoding
from rosenblatt.data.io.lines import LONGEST_LINE, LineSource, Paths
from rosenblatt.data.io.prefetch import processor_count
from rosenblatt.data.preparation import check_character, check_preparation
from rosenblatt.data.scaling import SCALES, StreamScale
from rosenblatt.data.source import (
    DIALECT,
    FIRST_ROWS,
    ON_AMBIGUOUS,
    OPTION_FORMATS,
    VERSION,
    Growth,
    OpenRequest,
    Preparation,
    RowSource,
)
from rosenblatt.data.stream import Stream
from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer, shorten
from rosenblatt.scaling import ColumnScale
from rosenblatt.splits import Rule

if TYPE_CHECKING:
    from rosenblatt.data.tables.frames import MemoryTable

Table: TypeAlias = Any
"""A table in memory, such as a data frame."""
_FEW_ROWS = 1 << 14
"""Tables in memory with at most this many rows are read without threads."""
_WITH_LISTS = ("parquet", "arrow")
"""Formats that can store sparse rows as columns of lists."""


def check_options(request: OpenRequest) -> None:
    """Raise a ParameterError if ``request`` has an option that does not apply to its format."""
    for name, formats in OPTION_FORMATS.items():
        if name in request.given and request.format not in formats:
            why = "each line holds its label" if name == "target" else "{option} has no meaning (it is for {others})"
            raise ParameterError(
                "{file} is read as {kind}, where " + why + ": leave {option} out, or give another {format}.",
                file=request.file,
                kind=request.format,
                option=Setting(name),
                others="tables" if len(formats) >= len(TABLES) - 1 else ", ".join(formats),
            )
    for name in ("delimiter", "quote"):
        if name in request.given:
            check_character(name, getattr(request, name))


def check_formats(request: OpenRequest) -> None:
    """Raise a DataError if the names of the files imply different formats."""
    names = [name for name in request.files.names if isinstance(name, str)]
    if len(names) < 2 or format_of_name(names[0]) not in (None, request.format):
        return
    for k, name in enumerate(names):
        other = format_of_name(name)
        if other not in (None, request.format):
            raise DataError(
                "{first} is {kind} and {second} is {other}, expected files of one format: "
                "convert one, or read them one after the other.",
                first=request.file,
                kind=request.format,
                second=request.files.display_name(k),
                other=other,
            )


def check_given_preparation(request: OpenRequest, preparation: Preparation) -> None:
    """Raise a ParameterError unless ``preparation`` is valid, fits the files' format and conflicts with no option."""
    try:
        check_preparation(preparation)
    except ValueError as fault:
        what = "{preparation} must be the preparation of a stream, made by data.open of this version: {fault}"
        raise ParameterError(what, fault=fault) from None
    family = preparation["format"]
    for name in OPTION_FORMATS.keys() & request.given - {*DIALECT, *Decoding._fields, "keep_words", "passthrough"}:
        raise conflict_with_preparation(name)
    alike = _WITH_LISTS if preparation.get("lists") else TABLES
    if family != request.format and not (family in alike and request.format in alike):
        what = "{file} is read as {kind}, but the training files were {family}: "
        what += "convert it, or give {format=family} if it has that format."
        raise ParameterError(what, file=request.file, kind=request.format, family=family)


def conflict_with_preparation(name: str) -> ParameterError:
    """Return the error for an option that is given together with a preparation."""
    what = "{preparation} defines how rows are made, so {option} cannot be given as well: leave out one of the two."
    return ParameterError(what, option=Setting(name))


class SinglePassStream(Stream):
    """A stream that can be read only once: standard input, a pipe or a file object."""

    def __init__(self, source: RowSource, block_rows: int | None = None, scale: StreamScale | None = None) -> None:
        super().__init__(source, block_rows, scale=scale)
        self._rest, self._ended = self._blocks(), False

    def part(self, split: Rule, held: bool, scaled_as: Stream | None = None) -> Stream:
        """Raise a DataError, because each part would need its own pass over the input."""
        raise self._error("so its rows cannot be split into parts: save them to a file.")

    def unscaled(self) -> Stream:
        """Return the stream itself; raise a DataError if it is scaled."""
        if self.scale is None:
            return self
        raise self._error("and is scaled as it is read, so the unscaled rows are lost: save them to a file.")

    def _error(self, what: str) -> DataError:
        return DataError("{files} can be read only once, " + what, files=", ".join(self._source.files.names))

    def __iter__(self) -> Iterator[Block]:
        """Return the stream itself, an iterator that continues where reading stopped."""
        return self

    def __next__(self) -> Block:
        """Return the next block; raise a DataError if the stream has already been read to its end."""
        if self._ended:
            raise self._error("and has been read to its end: open it again, or save it to a file.")
        try:
            return next(self._rest)
        except StopIteration:
            self._ended = True
            raise


def open(
    path: Paths | BinaryFile | Table,
    target: str | int | None = None,
    *,
    format: str | None = None,
    preparation: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    on_ambiguous: str = "error",
    column_types: Mapping[str, str | Sequence[str]] | None = None,
    categories: str | None = None,
    bits: int | None = None,
    ngrams: int | None = None,
    characters: Sequence[int] | None = None,
    label_first: bool = False,
    missing: str | None = None,
    missing_values: Sequence[str] | None = None,
    weight: str | int | None = None,
    scale: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    skip_rows: int = 0,
    sheet: str | None = None,
    quote: str | None = None,
    zero_based: bool | None = None,
    n_features: int | None = None,
    passthrough: Sequence[str] | None = None,
    labels: bool | str = True,
    keep_words: bool | str | None = None,
    on_error: str = "raise",
    max_line_bytes: int = LONGEST_LINE,
    first_rows: int | None = None,
    block_rows: int | None = None,
    threads: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    grow: Growth | None = None,
) -> Stream:
    """Open files of examples, or a table in memory, as a stream of blocks. Only the first rows are read immediately.

    Tables (CSV, TSV, workbooks, Parquet, Feather and Arrow, JSON lines) need a ``target``, the column with the labels.
    A sheet of a workbook (.xlsx, .xls, .ods) is read as CSV. Data frames (pandas, polars, and others that export Arrow
    data), Arrow tables and lists of dictionaries are read like a Parquet file with the same columns. The index of a
    pandas data frame is ignored. In svmlight (LIBSVM) and Vowpal Wabbit text, each line holds its label. An .npz file
    holds an array ``X``, or a CSR matrix as SciPy saves it, and the labels ``y``. Text may be compressed with gz, bz2,
    xz or zstd. Memory is bounded for files of any size. The rows depend neither on the compression of the files nor on
    the size of the blocks.

    The schema of a table is inferred from its first 10,000 rows. If there are more rows, one pass over all rows
    completes the schema. It determines categories, means for missing values, and the kinds of columns that look like
    numbers or categories at first. Input that can be read only once keeps the schema of its first rows, and
    ``stream.notes`` says so. Rows that are held out of training take no part, except that they show how cells are read.
    The schema is stored in ``stream.preparation`` and applied to all rows, in this way:

    - A column of numbers becomes one feature, rounded to the nearest float64. Booleans become 0 and 1. Whitespace
      around values is ignored.
    - Strings with few distinct values are categories. Few means at most 1000 values, and at most half the number of
      rows; up to 20 values are always allowed. Categories are one-hot encoded, with a feature such as ``colour=red``
      for each value. Any other value is 0 in all these features and counted in ``stream.unseen``. An example is a
      value that occurs only in held-out rows.
    - Strings that average at least three words and mostly differ are text. The words are hashed into ``2**bits``
      columns and counted. The counts of each text are scaled to Euclidean norm 1. An empty text has no words.
    - Numbers may have a decimal comma (3,14 or 1.234,56) or commas between thousands (1,234.56), if the first rows show
      which of the two formats is used. Amounts in one unit ($1,234.50, 60,92 €, 12.5%) and negative numbers in
      parentheses are numbers, too.
    - Dates, nested values and strings that nearly all differ are ambiguous. One error lists everything that is
      ambiguous in a file, with advice. With ``on_ambiguous="drop"`` such columns are left out.
    - With ``on_ambiguous="drop"``, columns that look like ids are left out as well. These are consecutive integers in
      any order, integers that rise or fall from row to row, and strings that differ in nearly every row. Integers that
      differ in nearly every row look like ids, too, if the column has no name, or is called ``Unnamed: 0``, ``index``,
      ``id``, ``customer_id`` or ``CustomerId``.

    Tables of numbers become dense rows. So do tables with categories if at least a quarter of all feature values in the
    rows are nonzero. Other tables become CSR rows.

    From standard input, pipes and file objects, rows are returned as soon as their lines arrive. For a table, the first
    10,000 rows must arrive before any row is returned, or the number of rows given as ``first_rows``. If there are
    fewer, all rows must arrive.

    Parameters
    ----------
    path : str, path, a list of them, a binary file object, or a table in memory
        File names, patterns such as ``part-*.csv.gz``, "-" for standard input, or an open binary file such as
        ``sys.stdin.buffer`` or an ``io.BytesIO``. Standard input and open files can be read only once. An open file is
        not closed. A table in memory is a data frame, an Arrow table or record batch, a dictionary (one row), or a list
        of dictionaries. It must not be changed while it is read.
    target : str or int, optional
        The column with the labels: its name, or its position, counted from 0 (-1 is the last). For .npz files, the name
        of the array with the labels, by default "y". Integer labels become int64, other numbers float64, booleans bool,
        and everything else strings. Labels of 2**53 or more in absolute value raise an error, because float64 may round
        them. If ``column_types`` makes the column a category, they are strings instead. Numbers that look like a
        regression target raise an error unless ``column_types`` names the column. These are very many distinct
        integers, or more than a few distinct fractions. Rows without a label are left out and counted in
        ``stream.unlabelled``. Words such as ``NA`` are not labels, unless ``column_types`` names the column.
    format : str, optional
        "csv", "tsv", "parquet", "arrow" (or "feather"), "jsonl", "fasttext" (lines that start with ``__label__`` and
        a label), "svmlight" (or "libsvm"), "vw" or "npz". By default it is detected from the first bytes of the file,
        its name or its first lines.
    preparation : dict, optional
        The ``preparation`` of another stream, to make rows in exactly the same way. The target column may then be
        missing, and a table may be in another table format. Columns that the preparation does not name are ignored and
        listed in ``stream.extra_columns``.
    columns, drop : list of str, optional
        The columns to use as features, by default all, and the columns to leave out, by default none.
    keep : list of str, optional
        Columns to use even if they are ambiguous or look like ids. Dates become days, integer ids become numbers, and
        strings are treated as text.
    on_ambiguous : "error", "drop" or "note", default "error"
        The treatment of ambiguous columns. "error" raises an error. "drop" leaves them out, together with columns that
        look like ids, and lists the reasons in ``stream.excluded``; strings with more than 1000 distinct values, most
        of which repeat, become hashed categories. Two kinds of columns raise an error even with "drop". These are
        numbers mixed with words, and numbers whose commas may be decimal commas or thousands separators. "note", which
        is meant for ``stream.describe``, leaves out such columns as well and lists everything ambiguous in
        ``stream.notes``.
    column_types : dict, optional
        The kinds of columns by name, instead of the inferred kinds: "number", "boolean", "category", "text", "date",
        "decimal-comma", "thousands-comma", or a list of all categories. A date becomes the number of days since
        1970-01-01, with the time of day in UTC as a fraction. Dates have the form 1912-08-05, optionally with a time
        and a UTC offset. 30.05.1912 and 5/30/1912 are also dates if the first rows show which number is the day.
        Durations are converted to days.
    categories : "onehot" or "hash", default "onehot"
        Whether each category has its own feature or is hashed into the columns that words share.
    bits : int, default 18
        Words, hashed categories and the features of Vowpal Wabbit text share ``2**bits`` columns.
    ngrams : int, default 1
        The maximum number of words in an n-gram; all n-grams of 1 to ``ngrams`` words are counted.
    characters : (int, int), optional
        The smallest and the largest number of characters in an n-gram. Such n-grams are counted instead of words, as by
        `TextHasher` with ``analyzer="char_wb"``: inside the parts of a text between whitespace, which get a space at
        each end. They suit short texts, misspelled words, and telling languages.
    label_first : bool, default False
        Whether each line is a label, which is its first word, and a text. The columns are called label and text.
    missing : "error", "zero", "mean" or "auto", default "error"
        Whether a missing value or NaN in a column of numbers raises an error, or is replaced by 0 or by the mean of the
        column in the first rows. A missing category raises an error with "error"; otherwise all features of its column
        are 0. "auto" is "mean" for tables and .npz files, and has no effect on other formats.
    missing_values : list of str, optional
        Strings that denote a missing value, in addition to the empty cell. In columns of numbers and among labels,
        ``?``, ``NA``, ``nan``, ``null`` and similar texts always do.
    weight : str or int, optional
        The column with the sample weights: its name, or its position, counted from 0. By default all weights are 1.
    scale : "none", "standard", "maxabs" or "auto", default "none"
        The scaling of columns of numbers: none, centring at the mean and division by the standard deviation, or
        division by the largest absolute value. "auto" is "standard" for tables in which some columns are more than
        three times as large as others or as the bias feature 1, else "none". Means and deviations are computed from
        exact sums over all rows and rounded once, as in `ExactScaler`. All rows are therefore read once before the
        first is returned. ``stream.preparation`` stores the scale. Features of categories and words are not scaled. In
        sparse rows, columns that are mostly 0 are not centred.
    header : bool, optional
        Whether the first line of CSV or TSV names the columns. By default it does if one of its cells is the
        ``target``, or if none of its cells is a number. It also does if the cells count the columns from 0 or from 1,
        as the default names of pandas do. If such a line may also be data, ``stream.notes`` says so. Columns without
        names are called c1, c2, and so on.
    delimiter : str, optional
        The character between cells. By default it is a tab for TSV. For CSV it is a comma, semicolon, tab or vertical
        bar that occurs in the first line. Of these, it is the one with which the most of the first 20 lines have as
        many cells as the first. If several are equally good, a comma is the last choice.
    encoding : str, optional
        The encoding of the text, such as "cp1252" or "utf-16". By default it is UTF-8, unless a byte order mark shows
        that it is UTF-16 or UTF-32.
    skip_rows : int, default 0
        The number of lines to leave out at the start of each file of text, such as a title above the header.
    sheet : str, optional
        The sheet of a workbook to read; by default the first one that is visible and not empty.
    quote : str, optional
        The character around cells that contain delimiters or newlines; by default ``"`` for CSV, "" (none) for TSV.
    zero_based : bool, optional
        Whether the indices of svmlight text start at 0 instead of 1. By default they do if an index 0 occurs in the
        first megabyte.
    n_features : int, optional
        The number of columns of svmlight text. Entries in later columns are left out and counted in ``stream.unseen``.
        By default the largest index determines it. An index beyond 2**26 columns then raises an error, because training
        would take 5 GB.
    passthrough : list of str, optional
        Columns of a table whose values are returned in ``block.passthrough``, whether or not they are features. Text
        is returned as it is written, other values as they are stored.
    labels : bool or "optional", default True
        Whether each row must have a label. With False, the labels of tables and .npz files are not read. With
        "optional", rows without a label are not left out, and ``block.has_label`` tells which rows have one.
    keep_words : bool or "few", optional
        Whether to keep the words that are hashed, so that ``stream.feature_names`` can name them. This is slower. For
        tables the default is "few", or False with a ``preparation``. With "few", all words are dropped as soon as they
        are in more than 10,000 columns. For Vowpal Wabbit text the default is False.
    on_error : "raise" or "skip", default "raise"
        Whether a row that cannot be read raises a ``DataError``, or is left out and counted in ``stream.skipped``.
    max_line_bytes : int, default 64,000,000
        The largest size in bytes of a line of text, or of a CSV record of several lines. A longer line counts as a row
        that cannot be read, and takes no more memory than this.
    first_rows : int, optional
        The number of rows from which the schema of a table and the means for missing values are computed. By default
        all rows are read for this, or the first 10,000 if the input can be read only once.
    block_rows : int, optional
        The number of rows in a block; by default the format determines it. It does not change the rows.
    threads : int, optional
        The number of threads that read ahead. By default there is one for each processor, at most four. File objects
        have none: they are read only when a block is requested. It does not change the rows.
    cache : bool, str or path, default False
        Whether to cache the rows of the first pass for later passes, which then run many times faster than if they
        parsed text. True keeps small data in memory and larger data in a temporary file. A path names a cache file that
        later runs on the same data reuse. The cache takes 12 bytes for each nonzero value of sparse rows, or 8 for each
        value of dense rows. Input that can be read only once is not cached. If a cache cannot be written, a warning is
        issued.
    grow : data.source.Growth, optional
        For a table that can be read only once: new categories, and new fields of JSON lines, become new features, which
        are appended to ``grow.features``. Rows are sparse from the first new feature on.

    Returns
    -------
    Stream
        Iterate over it for blocks with ``X`` and ``y``, pass it to ``fit_stream``, or call ``read()`` for all rows.

    Raises
    ------
    DataError
        If the files cannot be read. It is a ValueError whose message names the file, and the line or row if known.

    See Also
    --------
    rosenblatt.data.Stream : The stream that is returned.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rosenblatt import data
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "train.csv").write_text("weight,colour,fruit\\n150,red,apple\\n8,red,cherry\\n90,green,apple\\n")
    >>> train = data.open(folder / "train.csv", target="fruit")
    >>> X, y = train.read()
    >>> X
    array([[150.,   0.,   1.],
           [  8.,   0.,   1.],
           [ 90.,   1.,   0.]])
    >>> _ = (folder / "new.csv").write_text("colour,weight\\nyellow,120\\n")
    >>> new = data.open(folder / "new.csv", preparation=train.preparation)
    >>> new.read()[0], new.unseen
    (array([[120.,   0.,   0.]]), {'colour': 1})
    """
    arguments = locals().copy()
    table = _table_in_memory(path)
    check_choice("on_error", on_error, ("raise", "skip"))
    if not isinstance(labels, bool):
        check_choice("labels", labels, ("optional",))
    check_choice("on_ambiguous", on_ambiguous, ON_AMBIGUOUS)
    if not isinstance(preparation, Mapping | None):
        what = "{preparation} must be a dictionary, the preparation of a stream, got {got}: give stream.preparation."
        raise ParameterError(what, got=shorten(preparation))
    if first_rows is not None:
        check_integer("first_rows", first_rows, 1)
    if block_rows is not None:
        check_integer("block_rows", block_rows, 1)
    if threads is None:
        at_once = isinstance(path, BinaryFile) if table is None else table.n <= _FEW_ROWS
        threads = 0 if at_once else min(4, processor_count())
    if scale is not None:
        check_choice("scale", scale, SCALES)
        if preparation is not None:
            raise conflict_with_preparation("scale")
    decoding = Decoding(encoding, skip_rows, sheet).check()
    files = table or LineSource(cast(Paths, path), max_line_bytes=max_line_bytes, decoding=decoding)
    kind = _format_in_memory(format) if table else _format_of(files, format, label_first, preparation)
    if files.is_workbook:
        for name, value in (("format", format), ("delimiter", delimiter), ("quote", quote)):
            if value not in (None, "csv"):
                what = "{file} is a workbook, where {option} has no meaning: leave it out."
                raise ParameterError(what, file=files.display_name(0), option=Setting(name))
        kind, arguments["delimiter"], arguments["quote"] = "csv", ",", '"'
    if keep_words is None and preparation is None and kind in TABLES:
        arguments["keep_words"] = "few"
    elif isinstance(keep_words, str) and (keep_words != "few" or kind not in TABLES):
        what = "{keep_words} must be a boolean or, for tables, 'few', got {got}."
        raise ParameterError(what, got=shorten(keep_words))
    if missing == "auto":
        arguments["missing"] = "mean" if kind in OPTION_FORMATS["missing"] else None
    given = {name: arguments[name] for name in OPTION_FORMATS if arguments[name] is not None}
    no_default = ("keep_words", "label_first", "passthrough", "skip_rows")
    given = {name: value for name, value in given.items() if value or name not in no_default}
    request = OpenRequest(
        files=files,
        format=kind,
        preparation=None if preparation is None else dict(preparation),
        given=frozenset(given),
        labels=bool(labels),
        optional_labels=labels == "optional",
        grow=grow,
        skip=on_error == "skip",
        threads=check_integer("threads", threads, 0),
        first_rows=FIRST_ROWS if first_rows is None else first_rows,
        all_rows=first_rows is None,
        on_ambiguous=on_ambiguous,
        **given,
    )
    if format is None:
        check_formats(request)
    check_options(request)
    if request.preparation is not None:
        check_given_preparation(request, request.preparation)
    stored = None if request.preparation is None else request.preparation.pop("scale", None)
    try:
        source = _make_source(request)
    except ParameterError as error:
        if not (notes := files.notes()):
            raise
        # Perhaps another sheet of the workbook holds the table.
        raise type(error)("{error} {note}", error=error.message, note=notes[-1]) from None
    source.skips, numbers = request.skip, source.number_columns
    source.notes = [*files.notes(), *source.notes]
    if scale == "auto" and (numbers is None or not len(numbers) or not files.rereadable):
        scale = "none"
    if scale not in (None, "none") and not files.rereadable:
        what = "{scale=method} is computed from all rows, and {file} can be read only once: "
        raise ParameterError(what + "save it to a file, or give {scale='none'}.", method=scale, file=request.file)
    scaled = StreamScale(scale or "none", None if stored is None else ColumnScale.from_plain(stored))
    if not files.rereadable:
        return SinglePassStream(source, block_rows, scaled)
    return Stream(source, block_rows, partial(_make_cache, request, cache) if cache else None, scaled)


def _table_in_memory(path: object) -> MemoryTable | None:
    """Return a table in memory, or None if ``path`` names files or is an open file."""
    if isinstance(path, str | bytes | os.PathLike):
        return None
    from rosenblatt.data.tables.frames import MemoryTable, is_table

    return path if isinstance(path, MemoryTable) else MemoryTable(path) if is_table(path) else None


def _format_in_memory(format: str | None) -> str:
    """Return the format of tables in memory; raise a ParameterError if another one is given."""
    if format not in (None, "arrow"):
        raise ParameterError("{format} is for files, and a table in memory was given: leave it out.")
    return "arrow"


def _format_of(files: LineSource, format: str | None, label_first: bool, preparation: Mapping[str, Any] | None) -> str:
    """Return the format of files. Lines of text for a model of such lines show no format, and have no need to."""
    of_lines = label_first or (preparation is not None and preparation.get("format") == "fasttext")
    if format is None and of_lines and format_of_name(files.names[0]) is None and not is_binary(files.head()):
        return "fasttext"
    return detect_format(files.display_name(0), files.head(), format)


def _make_source(request: OpenRequest) -> RowSource:
    """Return the source that reads the files; only the reader for their format is imported."""
    if request.format in TABLES:
        from rosenblatt.data.tables.source import open_table

        return open_table(request)
    if request.format == "npz":
        from rosenblatt.data.npz import NpzSource

        return NpzSource(request)
    common = {"n_features": request.setting("n_features"), "skip": request.skip, "threads": request.threads}
    common["optional_labels"] = request.optional_labels
    if request.format == "vw":
        from rosenblatt.data.text.formats import VwReader

        return VwReader(
            request.files, request.labels, bits=request.setting("bits"), keep_words=bool(request.keep_words), **common
        )
    from rosenblatt.data.text.formats import SvmlightReader

    zero_based = request.setting("zero_based")
    return SvmlightReader(
        request.files, request.labels, zero_based="auto" if zero_based is None else zero_based, **common
    )


def _make_cache(
    request: OpenRequest, cache: bool | str | os.PathLike[str], source: RowSource, made_from: list[object]
) -> RowCache:
    """Return the cache for the rows. A named file that already contains the same rows is reused.

    ``made_from`` identifies the rows from which the schema is made, if it is not made from the first rows.
    """
    path = None if isinstance(cache, bool) else os.fspath(cache)
    if path is not None and source.files.reads(path):
        raise ParameterError("{cache} must not be one of the files that are read, got {path}.", path=path)
    if request.passthrough:
        raise ParameterError("{passthrough} and {cache} cannot be combined: leave out one of the two.")
    recipe = [
        VERSION,
        source.recipe,
        request.labels,
        request.optional_labels,
        request.keep_words,
        request.skip,
        *made_from,
    ]
    if request.preparation is not None:  # the dialect of these files may differ from its dialect
        recipe.append([getattr(request, name) for name in DIALECT])
    is_known = source.fixed_width and not source.is_provisional and not made_from
    width = source.n_features if is_known else None
    return RowCache(path, source.files.fingerprint(recipe, dated=True), source.facts, width)
