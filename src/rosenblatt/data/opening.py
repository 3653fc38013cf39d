"""From what ``data.open`` was told to where the rows come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rosenblatt.blocks import DataError
from rosenblatt.data.io.formats import TABLES
from rosenblatt.data.io.lines import Source
from rosenblatt.data.npz import ArrayOrigin
from rosenblatt.data.sources import VERSION, Origin, TableOrigin, TextOrigin
from rosenblatt.data.tables.arrow import ArrowReader, ParquetReader
from rosenblatt.data.tables.delimited import SeparatedReader
from rosenblatt.data.tables.encoder import Encoder
from rosenblatt.data.tables.json_lines import JsonReader
from rosenblatt.data.tables.list_columns import ListEncoder
from rosenblatt.data.tables.reader import TableReader
from rosenblatt.data.tables.schema import FIRST_ROWS, Choices, decide
from rosenblatt.data.text.svmlight import SvmlightReader
from rosenblatt.data.text.vw import VwReader

__all__ = ["Request", "origin_of"]

_FOR = {
    "target": (*TABLES, "npz"),
    "missing": (*TABLES, "npz"),
    "bits": (*TABLES, "vw"),
    "names": (*TABLES, "vw"),
    "header": ("csv", "tsv"),
    "delimiter": ("csv", "tsv"),
    "quote": ("csv", "tsv"),
    "zero_based": ("svmlight",),
}
"""The formats that an option is for; others are for tables."""


LISTED = ("parquet", "arrow")
"""The tables that can have sparse rows in columns of lists."""
_NEEDED = {
    "tables": {"dialect", "order", "target", "weight", "columns", "ignored", "others"}
    | {"missing", "missing_values", "bits", "ngrams", "sparse"},
    "npz": {"target", "missing", "fill", "n_features"},
    "svmlight": {"zero_based", "n_features"},
    "vw": {"bits", "n_features"},
}
"""What a preparation says."""


@dataclass
class Request:
    """What ``data.open`` was told."""

    source: Source
    kind: str
    """The format."""
    given: dict[str, Any]
    """Options that say how rows are made, those that were given."""
    prepared: dict[str, Any] | None
    """Or the preparation that says it."""
    labels: bool
    names: bool
    skip: bool
    threads: int

    @property
    def file(self) -> str:
        """The first file, for sentences."""
        return self.source.label(0)


def origin_of(request: Request) -> Origin:
    """Return where the rows come from."""
    _check_options(request)
    if request.prepared is not None:
        _check_preparation(request, request.prepared)
    if request.kind in TABLES:
        return _table(request)
    return _arrays(request) if request.kind == "npz" else _text(request)


def _check_options(request: Request) -> None:
    kind = request.kind
    for name in [*request.given, *(["names"] if request.names else [])]:
        formats = _FOR.get(name, TABLES)
        if kind not in formats:
            why = (
                "each line holds its label"
                if name == "target"
                else f"{name}= says nothing (it is for {_listed(formats)})"
            )
            raise ValueError(f"{request.file} is read as {kind}, where {why}: leave {name}= out, or say format=.")
    for name in ("delimiter", "quote"):
        character: str = request.given.get(name, "|")
        allowed = len(character) == 1 and character.isascii() and character not in "\r\n"
        if not allowed and not (name == "quote" and character == ""):
            raise ValueError(f"{name} must be one ASCII character, got {character!r}.")


def _listed(formats: tuple[str, ...]) -> str:
    return "tables" if formats == TABLES else ", ".join(formats)


def _check_preparation(request: Request, prepared: dict[str, Any]) -> None:
    needed = _NEEDED.get("tables" if prepared.get("format") in TABLES else prepared.get("format", ""), {"?"})
    if prepared.get("version") != VERSION or not needed <= set(prepared):
        raise ValueError("preparation must be the preparation of a stream, as data.open of this version makes it.")
    Choices(**{name: prepared[name] for name in ("bits", "ngrams", "missing") if name in prepared})
    if request.given:
        name = next(iter(request.given))
        raise ValueError(f"preparation= says how rows are made, so {name}= cannot be given as well.")
    family = prepared["format"]
    alike = LISTED if prepared.get("lists") else TABLES
    if family != request.kind and not (family in alike and request.kind in alike):
        raise ValueError(
            f"{request.file} is read as {request.kind}, but rows are prepared for {family}: "
            f"say format={family!r} if it is that."
        )


def _text(request: Request) -> Origin:
    prepared = request.prepared
    plan: dict[str, Any] = prepared or {"format": request.kind, "version": VERSION, **request.given}
    on_error = "skip" if request.skip else "raise"
    common: dict[str, Any] = {"need_labels": request.labels, "on_error": on_error, "threads": request.threads}
    reader: SvmlightReader | VwReader
    if request.kind == "vw":
        plan.setdefault("bits", 18)
        reader = VwReader(request.source.names, bits=plan["bits"], names=request.names, **common)
    else:
        reader = SvmlightReader(request.source.names, zero_based=plan.get("zero_based", "auto"), **common)
    reader.source = request.source  # its first bytes were looked at already
    if isinstance(reader, SvmlightReader):
        plan["zero_based"] = reader.zero_based
    return TextOrigin(reader, plan, request.labels, None if prepared is None else prepared["n_features"])


def _arrays(request: Request) -> Origin:
    options = request.given
    if request.prepared is not None:
        options = {name: request.prepared[name] for name in ("target", "missing", "fill", "n_features")}
    target, missing = options.get("target", "y"), options.get("missing", "error")
    if not isinstance(target, str):
        raise ValueError(f"target must be the name of an array in an .npz file, got {target!r}.")
    Choices(missing=missing)
    return ArrayOrigin(request.source, labelled=request.labels, skip=request.skip, **options)


def _table(request: Request) -> Origin:
    prepared, labels = request.prepared, request.labels
    reader = _reader(request)
    if prepared is not None:
        target = prepared["target"] and prepared["target"]["name"]
        reader.unnamed = [name for name in prepared["order"] if name != target]
        reader.begin()
        labelled = labels and target is not None and target in (reader.columns or [target])
        return TableOrigin(reader, _encoder(prepared, labelled, request.names), request.threads)
    given = {name: value for name, value in request.given.items() if name not in ("header", "delimiter", "quote")}
    choices = Choices(labels=labels, **given)
    if choices.columns is not None:
        reader.chosen = [*choices.columns, choices.target, choices.weight]
    head = reader.head(FIRST_ROWS)
    if not head.n:
        what = f"has the columns {', '.join(reader.columns)} but no rows" if reader.columns else "is empty"
        raise DataError(f"{request.file} {what}, expected rows to learn from.")
    dialect = reader.dialect()
    plan = decide(head, reader.columns or [], reader.typed, choices, request.file, dialect.get("header"))
    plan = {"format": request.kind, "version": VERSION, "dialect": dialect, **plan}
    labelled = labels and plan["target"] is not None
    return TableOrigin(reader, _encoder(plan, labelled, request.names), request.threads)


def _encoder(plan: dict[str, Any], labelled: bool, names: bool) -> Encoder:
    return ListEncoder(plan, labelled) if plan.get("lists") else Encoder(plan, labelled, names)


def _reader(request: Request) -> TableReader:
    kind = request.kind
    common: dict[str, Any] = {"skip": request.skip, "threads": request.threads}
    if kind not in ("csv", "tsv"):
        return {"parquet": ParquetReader, "arrow": ArrowReader, "jsonl": JsonReader}[kind](request.source, **common)
    plan = request.given
    dialect: dict[str, Any] = {"quote": '"'} if kind == "csv" else {"quote": "", "delimiter": "\t"}
    dialect |= {name: plan[name] for name in ("header", "delimiter", "quote") if name in plan}
    if request.prepared is not None:
        plan = request.prepared
        dialect |= plan["dialect"] if plan["format"] == kind else {}
    return SeparatedReader(request.source, missing=tuple(map(str, plan.get("missing_values", ()))), **dialect, **common)
