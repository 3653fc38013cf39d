"""Where a stream's blocks come from: a table that is prepared, or text with a label on each line.

An origin can be asked for its blocks as often as its files can be read. It counts as it goes, for whoever watches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.io.lines import Source
from rosenblatt.data.io.prefetch import in_order
from rosenblatt.data.tables.encoder import Encoder, Rows
from rosenblatt.data.tables.list_columns import cut_to
from rosenblatt.data.tables.reader import TableReader
from rosenblatt.data.text.reader import TextReader
from rosenblatt.data.text.vw import VwReader

__all__ = ["VERSION", "Origin", "TableOrigin", "TextOrigin"]

VERSION = 1
"""Of preparations."""
_KEPT_COMPLAINTS = 10


class Origin:
    """What every origin has.

    Attributes
    ----------
    source : Source
        The files.
    labelled : bool
        Whether rows have labels.
    share : float
        How much of the input has been read in this pass, from 0 to 1.
    skipped : int
        Rows left out in this pass.
    complaints : list of str
        What was wrong with the first ten of them.
    unseen : Counter
        How many values of each column are none of the categories known.
    fixed : bool
        Whether the number of columns is known before the last row.
    """

    def __init__(self, source: Source, labelled: bool, fixed: bool = True) -> None:
        self.source, self.labelled, self.fixed = source, labelled, fixed
        self.restart()

    def restart(self) -> None:
        """Forget what was counted."""
        self.share, self.skipped = 0.0, 0
        self.complaints: list[str] = []
        self.unseen: Counter[str] = Counter()

    def complain(self, sentence: str) -> None:
        """Count a row that is left out."""
        self.skipped += 1
        if len(self.complaints) < _KEPT_COMPLAINTS:
            self.complaints.append(sentence)

    def facts(self) -> dict[str, Any]:
        """Return what is known after the last row, as plain data."""
        counted = {"skipped": self.skipped, "complaints": self.complaints, "unseen": dict(self.unseen)}
        return counted | {"n_features": self.n_features, "words": [list(pair) for pair in self._words().items()]}

    def recall(self, facts: dict[str, Any]) -> None:
        """Know what ``facts`` said when all rows had been read."""
        self.skipped, self.complaints = int(facts["skipped"]), [str(sentence) for sentence in facts["complaints"]]
        self.unseen = Counter(facts["unseen"])
        self._words().update((int(column), str(word)) for column, word in facts["words"])

    def _words(self) -> dict[int, str]:
        """Return the words that were hashed, by column, as far as they are kept."""
        return {}

    @property
    def n_features(self) -> int:
        """Columns of the blocks, as far as they are known."""
        raise NotImplementedError

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column, None where there are none."""
        return None

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are prepared, as plain data."""
        raise NotImplementedError

    @property
    def way(self) -> dict[str, Any]:
        """How rows are prepared, but for what is only known after the last of them."""
        return self.preparation | ({} if self.fixed else {"n_features": None})

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the start."""
        raise NotImplementedError


class TableOrigin(Origin):
    """The rows of a table."""

    def __init__(self, reader: TableReader, encoder: Encoder, threads: int) -> None:
        super().__init__(reader.source, encoder.labelled, encoder.fixed_width)
        self._reader, self._encoder, self._threads = reader, encoder, threads
        self._met: dict[int, str] = {}
        reader.layout = encoder.layout

    @property
    def n_features(self) -> int:
        """Columns of the blocks."""
        return self._encoder.n_features

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column: of the table's column, with ``=`` and the category or word where there is one."""
        return self._encoder.feature_names(self._met)

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are prepared."""
        return self._encoder.preparation

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks; where a row is at fault, those before it first."""
        self.restart()
        first = 0
        work = in_order(self._reader.items(), self._rows, self._threads)
        try:
            for rows in work:
                fault = None
                if rows.faults and not self._reader.skip:
                    place, reason = rows.faults[0]
                    fault = f'{rows.piece.where(place)}: {reason[:-1]}; on_error="skip" leaves such rows out.'
                    rows = rows.before(place)
                for place, reason in rows.faults:
                    self.complain(f"{rows.piece.where(place)}: {reason}")
                X = self._encoder.fitted(rows)
                self.unseen.update(rows.unseen)
                for column, word in rows.names.items():
                    self._met.setdefault(column, word)
                self.share = rows.piece.share
                if len(rows.y):
                    yield Block(X, rows.y, first, rows.weight, checked=self.labelled)
                    first += len(rows.y)
                if fault is not None:
                    raise DataError(fault)
            self.share = 1.0 if self.source.size else 0.0
        finally:
            work.close()

    def recall(self, facts: dict[str, Any]) -> None:
        """Know what ``facts`` said when all rows had been read."""
        super().recall(facts)
        self._encoder.n_features = int(facts["n_features"])

    def _words(self) -> dict[int, str]:
        return self._met

    def _rows(self, item: Any) -> Rows:
        return self._encoder.encode(self._reader.parse(item))


class TextOrigin(Origin):
    """The rows of svmlight or Vowpal Wabbit text.

    Parameters
    ----------
    reader : TextReader
        Of the format.
    preparation : dict
        How it was made.
    width : int, optional
        Columns beyond these are left out and counted, as when a test file has features that training never saw.
    """

    def __init__(self, reader: TextReader, preparation: dict[str, Any], labelled: bool, width: int | None) -> None:
        self._reader, self._preparation, self._width = reader, preparation, width
        super().__init__(reader.source, labelled, width is not None)

    @property
    def n_features(self) -> int:
        """Columns of the blocks; for svmlight text, as many as were met so far."""
        return self._reader.width if self._width is None else self._width

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column of Vowpal Wabbit text if they were asked for, as far as they were met."""
        names = self._reader.names if isinstance(self._reader, VwReader) else None
        return None if names is None else [names.get(k) or f"#{k}" for k in range(self.n_features)]

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are prepared; the number of columns is that met so far, None before the first."""
        return self._preparation | {"n_features": self.n_features or None}

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks."""
        self.restart()
        reader = self._reader
        blocks = reader.read()
        try:
            for block in blocks:
                self.share = reader.consumed / reader.source.size if reader.source.size else 0.0
                self.skipped, self.complaints = reader.skipped, reader.complaints
                if self._width is not None:
                    X, beyond = cut_to(block.X, self._width)
                    self.unseen["columns"] += beyond
                    block = replace(block, X=X)
                yield block
            self.skipped, self.complaints = reader.skipped, reader.complaints
            self.share = 1.0 if self.source.size else 0.0
        finally:
            blocks.close()

    def recall(self, facts: dict[str, Any]) -> None:
        """Know what ``facts`` said when all rows had been read."""
        super().recall(facts)
        self._reader.width = max(self._reader.width, int(facts["n_features"]))

    def _words(self) -> dict[int, str]:
        names = self._reader.names if isinstance(self._reader, VwReader) else None
        return {} if names is None else names
