"""Files as streams of rows: what a user opens, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from rosenblatt.data.cache.row_cache import Kept
from rosenblatt.data.io.fingerprint import fingerprint
from rosenblatt.data.io.formats import told
from rosenblatt.data.io.lines import Paths, Source
from rosenblatt.data.io.prefetch import processors
from rosenblatt.data.opening import Request, origin_of
from rosenblatt.data.sources import VERSION, Origin
from rosenblatt.data.stream import Stream, stream_from

__all__ = ["Stream", "open"]


def open(
    path: Paths,
    target: str | int | None = None,
    *,
    format: str | None = None,
    preparation: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    categories: str | None = None,
    bits: int | None = None,
    ngrams: int | None = None,
    missing: str | None = None,
    missing_values: Sequence[str] | None = None,
    weight: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    zero_based: bool | None = None,
    labels: bool = True,
    names: bool = False,
    on_error: str = "raise",
    block_rows: int | None = None,
    threads: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Stream:
    """Open files of examples as a stream of blocks, without reading more than their first rows.

    Tables (CSV, TSV, Parquet, Feather and Arrow, JSON lines) need a ``target``, the column with the labels. In
    svmlight (LIBSVM) and Vowpal Wabbit text each line holds its label. Of .npz files, ``X`` and ``y`` are read, or a
    sparse matrix as SciPy saves it and ``y``. Text may be compressed by gz, bz2, xz or zstd. Memory is bounded whatever
    the size of the files (but sparse .npz files are read at once), and rows are the same however files are compressed
    or cut into blocks.

    What a table's columns are is decided from its first 10,000 rows, written down in ``stream.preparation``, and the
    same for all rows:

    - numbers are a feature as they are, as the nearest float64, truth values as 0 and 1. Blanks around them do not
      count;
    - strings of few different values (up to 1000, most of which come twice) are categories: a feature ``colour=red``
      for each that occurs in these rows. One that turns up later is 0 in all of them and counted in ``stream.unseen``;
    - strings of three words or more on average, mostly different, are text: its words are counted in ``2**bits``
      columns by a hash, and the counts of a row have length 1. An empty text has no words;
    - about dates, nested values and strings that are nearly all different you are asked.

    Tables of numbers come as dense rows; tables with categories too if a quarter of these rows' features are not 0;
    others as CSR.

    Parameters
    ----------
    path : str, path, or a list of them
        Files, patterns such as ``part-*.csv.gz``, or "-" for standard input, which can be read once.
    target : str or int, optional
        The column with the labels, by its name or its place (-1 is the last). For .npz files, the name of that array.
        Whole numbers become int64, other numbers float64, truth values bool, and everything else strings.
    format : str, optional
        "csv", "tsv", "parquet", "arrow" (or "feather"), "jsonl", "svmlight" (or "libsvm"), "vw" or "npz". By default
        the file's content, name or first line tells.
    preparation : dict, optional
        The ``preparation`` of another stream: make rows exactly as that does. The target may be missing then.
    columns, drop : list of str, optional
        The columns to make features of, and those to leave out.
    kinds : dict, optional
        What columns are, where the first rows tell it wrong: "number", "boolean", "category", "text", or
        a list of all categories.
    categories : "onehot" or "hash", default "onehot"
        Whether each category has its own feature, or all of them share the hashed columns with the words.
    bits : int, default 18
        Hashed columns are ``2**bits``, also those of Vowpal Wabbit text.
    ngrams : int, default 1
        Count up to this many words in a row as one.
    missing : "error", "zero" or "mean", default "error"
        What to do about a number that is missing, or NaN: it is an error, or 0 or the mean of the first 10,000 rows is
        put in its place. A missing category is an error, or 0 in all its features.
    missing_values : list of str, optional
        What stands for a missing value, besides nothing at all; for numbers also ``?``, ``NA``, ``nan``, ``null`` and
        the like.
    weight : str or int, optional
        The column that says how much a row counts.
    header : bool, optional
        Whether CSV has the names of its columns in the first line. By default it has unless a cell there is a
        number. Without names columns are c1, c2, ...
    delimiter : str, optional
        What stands between cells: by default the first of comma, semicolon, tab and bar that the first line has.
    quote : str, optional
        What stands around cells with separators or newlines in them: by default ``"`` for CSV, "" (nothing) for TSV.
    zero_based : bool, optional
        Whether the first index of svmlight text is 0. By default it is if 0 occurs in the first megabyte.
    labels : bool
        Whether each row must have a label. With False those of tables are not read.
    names : bool
        Whether to keep the words that are hashed, for ``stream.feature_names``. This is slower.
    on_error : "raise" or "skip"
        Whether a row that cannot be read is a ``DataError``, or left out and counted in ``stream.skipped``.
    block_rows : int, optional
        Rows in a block. The rows are the same.
    threads : int, optional
        Threads that read ahead, by default one for each processor, at most four. The rows are the same.
    cache : bool, str or path
        Whether to keep the rows of the first pass for further ones, which are many times faster than parsing text: in
        memory while they are few, else in a temporary file; or in the file that is named, which serves later runs on
        the same data too. It is uncompressed Arrow, 12 bytes for each number that is not zero, or 8 if rows are dense.
        What can be read only once is not kept.

    Returns
    -------
    Stream
        Iterate over it for blocks with ``X`` and ``y``, give it to ``fit_stream``, or call ``read()`` for all rows.

    Raises
    ------
    DataError
        A ValueError whose sentence names the file, and the line or row, that is not as expected.

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
    options = {
        "target": target,
        "columns": columns,
        "drop": drop,
        "kinds": kinds,
        "categories": categories,
        "bits": bits,
        "ngrams": ngrams,
        "missing": missing,
        "missing_values": missing_values,
        "weight": weight,
        "header": header,
        "delimiter": delimiter,
        "quote": quote,
        "zero_based": zero_based,
    }
    if on_error not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise" or "skip", got {on_error!r}.')
    for name, value, least in (("block_rows", block_rows, 1), ("threads", threads, 0)):
        if value is not None and value < least:
            raise ValueError(f"{name} must be {least} or more, got {value}.")
    source = Source(path)
    request = Request(
        source=source,
        kind=told(source.label(0), source.head(), format),
        given={name: value for name, value in options.items() if value is not None},
        prepared=None if preparation is None else dict(preparation),
        labels=labels,
        names=names,
        skip=on_error == "skip",
        threads=min(4, processors()) if threads is None else threads,
    )
    origin = origin_of(request)
    return stream_from(origin, block_rows, _kept(request, origin, cache) if cache and source.rereadable else None)


def _kept(request: Request, origin: Origin, cache: bool | str | os.PathLike[str]) -> Kept:
    """Return where the rows are kept, or the rows of another run."""
    path = None if isinstance(cache, bool) else os.fspath(cache)
    if path is not None and any(os.path.exists(path) and os.path.samefile(path, name) for name in origin.source.names):
        raise ValueError(f"cache must be another file than those that are read, got {path}.")
    way = [VERSION, origin.way, request.labels, request.names, request.skip]
    key = fingerprint(origin.source.names, way, dated=True)
    return Kept(path, key, origin.facts)
