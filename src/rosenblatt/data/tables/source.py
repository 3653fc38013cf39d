"""The row source for tables: a reader for any table format, and an encoder that turns columns into features."""

from __future__ import annotations

import copy
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.io.prefetch import ordered_map
from rosenblatt.data.preparation import is_hashed
from rosenblatt.data.source import (
    FEW_WORDS,
    LABEL,
    TEXT,
    VERSION,
    ColumnEntry,
    Facts,
    OpenRequest,
    Preparation,
    Record,
    RowSource,
    Select,
    kept_rows,
)
from rosenblatt.data.tables.all_rows import ColumnSummaries, ValueEncoder, complete
from rosenblatt.data.tables.arrow import ArrowReader, ParquetReader
from rosenblatt.data.tables.delimited import NAMES_FIRST, DelimitedReader, header_notes, looks_like_names, renamed_notes
from rosenblatt.data.tables.encoder import EncodedRows, Encoder, GrowingEncoder, ListEncoder
from rosenblatt.data.tables.frames import MemoryReader, MemoryTable
from rosenblatt.data.tables.json_lines import JsonReader
from rosenblatt.data.tables.labelled_lines import LabelledLinesReader
from rosenblatt.data.tables.reader import ColumnLayout, TableChunk, TableReader, join_names
from rosenblatt.data.tables.schema import Schema, check_table_options, infer_schema, units_note
from rosenblatt.messages import Message, Question
from rosenblatt.scaling import MOST_COLUMNS, ColumnSums


class _NotFinal(Exception):
    """Raised if later passes will yield other rows, as they fill in a missing value."""


class TableSource(RowSource):
    """A source of the rows of a table: a reader parses columns, and an encoder turns them into features."""

    def __init__(self, reader: TableReader[Any], encoder: Encoder, request: OpenRequest) -> None:
        super().__init__(reader.files, encoder.labelled, encoder.fixed_width)
        self._reader, self._encoder, self._request = reader, encoder, request
        self._begun = False
        self._first: tuple[Preparation, dict[str, str], list[Message]] | None = None
        """The preparation, excluded columns and notes of the first rows, if they depend on the training rows."""
        self._is_whole = self._may_complete = False
        """Whether the first rows are all rows, and whether later rows may complete what the first rows show."""
        self._words_known = False
        """Whether the words of hashed columns are those of the training rows, so that no more are added."""
        reader.layout = encoder.layout
        reader.collects_new = request.grow is not None and isinstance(reader, JsonReader)
        if request.preparation is not None and not reader.collects_new:
            # made from other files, so these files may have more columns
            fills = request.preparation.get("missing", "error") != "error"
            reader.known, reader.layout = reader.layout.known, ColumnLayout(reader.layout.needed, None, fills)
            if reader.columns is not None:
                reader.layout.check(reader.columns, request.file, reader)
                reader.note_extra(reader.columns)
        self.extra_columns = reader.extra_columns

    @property
    def n_features(self) -> int:
        """The number of columns of the blocks."""
        return self._encoder.n_features

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each feature: the name of its column, with ``=`` and the category or word if there is one."""
        return self._encoder.feature_names(self.hashed_names)

    @property
    def has_named_features(self) -> bool:
        """Whether a feature has a name other than ``#`` and its number."""
        return self._encoder.fixed > 0 or super().has_named_features

    @property
    def number_columns(self) -> np.ndarray | None:
        """The indices of the features that are columns of numbers; None if the table holds sparse rows."""
        return self._encoder.number_columns

    @property
    def preparation(self) -> Preparation:
        """Plain data that defines how rows are made from the files."""
        return self._encoder.preparation

    @property
    def recipe(self) -> Preparation:
        """The preparation, before it is completed from all rows; it identifies the same rows."""
        if self._first is None:
            return super().recipe
        return self._first[0] | ({"from": "all rows"} if self._completes(self._first[0]) else {})

    def fit_later(self, is_whole: bool, may_complete: bool) -> None:
        """Let `fit_schema` make the preparation again, which was made from the first rows.

        ``is_whole`` tells whether these are all rows. If they are not, ``may_complete`` tells whether later rows may
        complete the preparation.
        """
        self._first = self.preparation, self.excluded, self.notes
        self._is_whole, self._may_complete = is_whole, may_complete
        self._await_training_rows(self.preparation)

    def _await_training_rows(self, preparation: Preparation) -> None:
        self.depends_on_training, self.is_provisional = True, self._completes(preparation)

    def _completes(self, preparation: Preparation) -> bool:
        """Return whether a preparation that was made from the first rows is completed from all rows."""
        return self._may_complete and _depends_on_all_rows(self._request, preparation)

    def for_other_rows(self) -> TableSource:
        """Return a source that makes its preparation from other rows, or this one if its preparation is given."""
        if self._first is None:
            return self
        preparation, excluded, notes = self._first
        other = self._with_encoder(self._make_encoder(preparation, self._request.keep_words))
        other.has_many_words = other._words_known = False
        other.excluded, other.notes = excluded, notes
        other._await_training_rows(preparation)
        return other

    def _make_encoder(self, preparation: Preparation, keep_words: bool | str) -> Encoder:
        return _make_encoder(self._request, preparation, self.labelled, keep_words)

    def _with_encoder(self, encoder: Encoder) -> TableSource:
        """Return a source that reads the same files and encodes their rows in another way."""
        other = copy.copy(self)
        other.reset_counts()
        other._reader, other._encoder, other.hashed_names = copy.copy(self._reader), encoder, {}
        other._reader.layout = encoder.layout
        return other

    def fit_schema(
        self, select: Select, are_held_out: bool, summed: bool, record: Record | None = None
    ) -> tuple[ColumnSums | None, bool]:
        """Make the preparation from the rows that ``select`` keeps.

        ``select`` is called with blocks of rows, and yields the blocks to use. If ``are_held_out``, it does not keep
        all rows, so the schema of the first rows is made again. ``record`` is used if later passes yield the same rows,
        which is so for columns of numbers without missing values.

        Return the sums of the columns of numbers, or None unless ``summed`` and all rows were read, and whether the
        rows will be sparse. A column of numbers in which many values of later rows are not numbers is read again, as a
        column of strings.
        """
        if are_held_out:
            self._fit_first(select)
        if not self._completes(self.preparation):
            return None, self.preparation["sparse"]
        given, preparation = self._request.column_types, self.preparation
        count_others, mistaken, first_encoder = True, set[str](), self._encoder
        while True:
            encoder = ValueEncoder(preparation, self.labelled, given, count_others)
            summaries = ColumnSummaries(encoder, summed or preparation["missing"] == "mean")
            source = self._with_encoder(encoder)
            source._reader.passthrough_columns = []

            is_plain = not any("categories" in column or is_hashed(column) for column in preparation["columns"])
            rows = source.blocks()
            if record is not None and is_plain:
                rows = self._recorded(record, source, preparation, summaries)
            with closing(rows) as blocks:
                for block in select(blocks):
                    self.share = source.share
                    summaries.add(block.X if block.held_out is None else block.X[~block.held_out])
            new = encoder.mistaken()
            if new:
                mistaken.update(new)
                columns = [
                    {"name": column["name"], "kind": "category", "categories": []} if column["name"] in new else column
                    for column in preparation["columns"]
                ]
                preparation = preparation | {"columns": columns}
            elif encoder.has_others:  # rows with such cells are left out, or an error
                count_others = False
            else:
                break
        if self._encoder is first_encoder:
            self._finish(preparation, summaries, mistaken)
        return summaries.sums(self.preparation["columns"]) if summed else None, self.preparation["sparse"]

    def _recorded(
        self, record: Record, source: TableSource, preparation: Preparation, summaries: ColumnSummaries
    ) -> Generator[Block, None, None]:
        """Yield the blocks of ``source``, and record them if no value is missing; then complete the preparation."""
        blocks, rest = source.blocks(), list[Block]()

        def without_gaps() -> Generator[Block, None, None]:
            for block in blocks:
                if np.isnan(block.X).any():
                    rest.append(block)
                    raise _NotFinal
                yield block
            if not summaries.rows:
                raise _NotFinal
            self._finish(preparation, summaries, set())  # before the recorder asks for the facts about the rows
            self.take_counts(source)

        with closing(blocks):
            with suppress(_NotFinal):
                yield from record(without_gaps())
            yield from rest
            yield from blocks

    def _finish(self, preparation: Preparation, summaries: ColumnSummaries, mistaken: set[str]) -> None:
        """Complete a preparation from summaries of all training rows, and use it from now on."""
        if summaries.rows:
            preparation, excluded, notes = complete(preparation, summaries, mistaken, self._request)
            self.excluded = self.excluded | excluded
            self.notes = [*self.notes, *notes]
        self._use(preparation)

    def _fit_first(self, select: Select) -> None:
        """Make the schema of the first rows again, from the rows that ``select`` keeps."""
        reader = _make_reader(self._request)
        head = reader.head(self._request.first_rows)
        encoded = ValueEncoder(self.preparation, self.labelled, {}, count_others=False).encode(head)
        block = Block(np.empty((len(encoded.y), 0)), encoded.y, 0, numbers=encoded.places)
        training = kept_rows(select, [block])
        if not len(training):
            return
        schema, _ = _infer_schema(self._request, reader, head, training)
        before, after = ({*map(_kind_of, made["columns"])} for made in (self.preparation, schema.preparation))
        changed = {repr(name) for name, *_ in after - before}
        decisions = [what for what in schema.decisions if what.values["name"] in changed]
        self.notes = [*self.notes, *_sentences(decisions, self._request)]
        self.excluded = {name: self.excluded.get(name, reason) for name, reason in schema.excluded.items()}
        self.reset_counts()
        self.hashed_names, self.has_many_words = {}, False
        self._use(schema.preparation)
        if self._is_whole:
            self.add_words(self._encoder.encode(head.take(training)).words)
            self._words_known, self._encoder.keep_words = True, False

    def _use(self, preparation: Preparation) -> None:
        """Encode rows from now on with ``preparation``, which was made from the training rows."""
        are_kept = not (self.has_many_words or self._words_known)
        self._encoder = self._make_encoder(preparation, are_kept and self._request.keep_words)
        self.depends_on_training = self.is_provisional = False
        self._reader.layout = self._encoder.layout

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks. If a row cannot be read, the rows before it are yielded before the error is raised."""
        self.reset_counts()
        self._begun = True
        first = before = 0
        with closing(ordered_map(self._reader.items(), self._encode, self._request.threads)) as work:
            for rows in work:
                error = None
                if rows.faults and not self._reader.skip:
                    place, reason = rows.faults[0]
                    error = rows.chunk.error(place, self._with_advice(rows, reason, first_rows=before == 0))
                    rows = rows.before(place)
                for place, reason in rows.faults:
                    fault = Message("{where}: {reason}.", where=rows.chunk.where(place), reason=reason)
                    self.record_fault(fault.render(lambda setting: None))  # without hints about parameters
                X = self._encoder.fit_width(rows)
                self.unlabelled.update(rows.markers)
                self.unseen.update(rows.unseen)
                self.filled.update(rows.filled)
                if not self.has_many_words:
                    self.add_words(rows.words)
                self.share = rows.chunk.share
                if len(rows.y):
                    are_left_out = before > first or len(rows.unlabelled) > 0
                    numbers = before + rows.numbers if self._reader.skip or are_left_out else None
                    yield Block(
                        X,
                        rows.y,
                        first,
                        rows.weight,
                        self.labelled,
                        numbers,
                        rows.passthrough,
                        has_label=rows.has_label,
                    )
                    first += len(rows.y)
                before += len(rows.y) + len(rows.faults) + len(rows.unlabelled)
                if error is not None:
                    raise error
            self.share = 1.0 if self.files.size else 0.0

    def _with_advice(self, rows: EncodedRows, reason: Message, first_rows: bool) -> Message:
        """Return ``reason``, with advice if the row that cannot be read is the first one and looks like a header."""
        place, _ = rows.faults[0]
        unnamed = isinstance(self._reader, DelimitedReader) and self._reader.header is False
        first = first_rows and not (rows.places < place).any()
        if unnamed and first and looks_like_names(rows.chunk, place, self.preparation):
            return Message("{reason}{advice}", reason=reason, advice=NAMES_FIRST)
        return reason

    def head(self, rows: int | None = None) -> tuple[TableChunk, bool, str] | None:
        """Return the first rows, whether the format has types, and a title; None if the table holds sparse rows."""
        rows = self._request.first_rows if rows is None else rows
        if self.preparation.get("lists"):
            return None
        reader, layout = self._reader, self._reader.layout
        if self.files.rereadable:
            reader = _make_reader(self._request)
            reader.chosen = None  # unused columns are described too
        elif self._begun:
            what = "{file} can be read only once: describe it before its rows are read."
            raise DataError(what, file=self._request.file)
        reader.layout = None
        try:
            head = reader.head(rows)
        finally:
            reader.layout = layout
        which = "all" if head.n < rows else "the first"
        names = join_names(self.files.names, 3)
        return head, reader.typed, f"{len(head.columns):,} columns of {names}, from {which} {head.n:,} rows"

    def restore(self, facts: Facts) -> None:
        """Restore the counts and the number of columns with which an earlier complete pass ended."""
        schema = facts.get("schema")
        if schema is not None:
            self.hashed_names, self.has_many_words = {}, False  # they may include words of rows held out
        super().restore(facts)
        if schema is not None:
            self._words_known = self._is_whole
            self._use(schema["preparation"])
            self.excluded = dict(schema["excluded"])
        self._encoder.n_features = int(facts["n_features"])

    def add_words(self, words: Mapping[int, str]) -> None:
        """Store the words of hashed columns without a word; if there are too many, drop all words."""
        if self._words_known:
            return
        super().add_words(words)
        if self._request.keep_words == "few" and len(self.hashed_names) > FEW_WORDS:
            self.drop_words()

    def drop_words(self) -> None:
        """Delete all words, and keep none from now on, because there are too many."""
        if self._words_known:
            return
        super().drop_words()
        self._encoder.keep_words = False

    def facts(self) -> Facts:
        """Return the counts, and the preparation if `fit_schema` made it. Call this after the last row."""
        if self._first is None or self.depends_on_training:
            return super().facts()
        return super().facts() | {"schema": {"preparation": self.preparation, "excluded": self.excluded}}

    def _encode(self, item: object) -> EncodedRows:
        chunk = self._reader.parse(item)
        rows = self._encoder.encode(chunk)
        if self._reader.passthrough_columns:
            rows.passthrough = self._reader.passthrough(item, chunk, rows.places)
        return rows


def open_table(request: OpenRequest) -> TableSource:
    """Return the source for a table. If the request has no preparation, infer one from the first rows."""
    if request.format == "fasttext":
        request = replace(request, target=LABEL, column_types={LABEL: "category", TEXT: "text"})
    reader, preparation = _make_reader(request), request.preparation
    schema: Schema | None = None
    notes: list[Message] = []
    rows = 0
    if preparation is not None:
        target = preparation["target"] and preparation["target"]["name"]
        reader.read_columns(request.first_rows)
        labelled = request.labels and target is not None and target in (reader.columns or [target])
    else:
        check_table_options(request)
        head = reader.head(request.first_rows)
        rows = head.n
        schema, notes = _infer_schema(request, reader, head)
        preparation = schema.preparation
        labelled = request.labels and preparation["target"] is not None
    lists = preparation.get("lists")
    encoder: Encoder
    if lists:
        encoder = ListEncoder(preparation, labelled, request.optional_labels)
    else:
        encoder = _make_encoder(request, preparation, labelled, request.keep_words)
    source = TableSource(reader, encoder, request)
    if schema is not None:
        source.excluded, source.notes = schema.excluded, notes
        is_whole = rows < request.first_rows
        reason = "" if is_whole or lists or not request.all_rows else _first_rows_only(request, preparation)
        if reason:
            what = "{file} {reason}: kinds, categories and means come from its first {rows:,} rows."
            source.notes.append(Message(what, file=request.file, reason=reason, rows=request.first_rows))
        if request.files.rereadable and not lists:
            source.fit_later(is_whole, may_complete=not is_whole and request.all_rows and not reason)
    return source


def _make_encoder(request: OpenRequest, preparation: Preparation, labelled: bool, keep_words: bool | str) -> Encoder:
    arguments = preparation, labelled, keep_words, request.optional_labels
    return Encoder(*arguments) if request.grow is None else GrowingEncoder(*arguments, growth=request.grow)


def _first_rows_only(request: OpenRequest, preparation: Preparation) -> str:
    """Return why all rows cannot complete the preparation of the first rows, or "" if they can."""
    if not request.files.rereadable:
        return "can be read only once"
    return "has very many columns" if len(preparation["columns"]) > MOST_COLUMNS["standard"] else ""


def _depends_on_all_rows(request: OpenRequest, preparation: Preparation) -> bool:
    """Return whether later rows may have other categories or means than the first rows."""
    return request.missing == "mean" or any(
        "categories" in column and isinstance(request.column_types.get(column["name"], ""), str)
        for column in preparation["columns"]
    )


def _infer_schema(
    request: OpenRequest, reader: TableReader[Any], head: TableChunk, training: np.ndarray | None = None
) -> tuple[Schema, list[Message]]:
    """Infer a schema from the first rows; return it, and notes about it.

    ``training`` are the indices of the rows that are not held out; None means all rows.
    """
    if not head.n:
        what = f"has the columns {join_names(reader.columns)} but no rows" if reader.columns else "is empty"
        raise DataError("{file} {what}, expected rows to learn from.", file=request.file, what=what)
    dialect = reader.dialect()
    schema = infer_schema(head, reader.columns or [], reader.typed, request, dialect.get("header"), training)
    prepared = {"format": request.format, "version": VERSION, "dialect": dialect, **schema.preparation}
    notes: list[Message] = [Question("{file}: {what}.", file=request.file, what=what) for what in schema.ambiguities]
    notes += _sentences(schema.decisions, request)
    units = units_note(schema.preparation["columns"])
    if units is not None and request.on_ambiguous != "note":  # the description of the columns shows them
        notes += _sentences([units], request)
    if isinstance(reader, DelimitedReader):
        notes += renamed_notes(reader.renamed, request.file)
        notes += header_notes(head, request) if reader.header_guessed else []
    return schema._replace(preparation=prepared), notes


def _sentences(messages: Sequence[Message], request: OpenRequest) -> list[Message]:
    """Return messages without a full stop as notes, each with the name of the file."""
    return [Message("{file}: {what}.", file=request.file, what=what) for what in messages]


def _kind_of(column: ColumnEntry) -> tuple[str, str, bool]:
    """Return the name of a column, its kind, and whether it is hashed."""
    return column["name"], column["kind"], is_hashed(column)


def _make_reader(request: OpenRequest) -> TableReader[Any]:
    """Return a new reader for the format of the request, at the start of the files."""
    if isinstance(request.files, MemoryTable):
        return MemoryReader(request)
    readers: dict[str, type[TableReader[Any]]] = {"parquet": ParquetReader, "arrow": ArrowReader, "jsonl": JsonReader}
    readers["fasttext"] = LabelledLinesReader
    return readers.get(request.format, DelimitedReader)(request)
