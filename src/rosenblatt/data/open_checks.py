"""What ``data.open`` is asked for, checked: options that have a meaning, files of one format, a preparation."""

from __future__ import annotations

from typing import Any

from rosenblatt.blocks import DataError
from rosenblatt.data.io.formats import TABLES, format_of_name
from rosenblatt.data.preparations import check_character, check_preparation
from rosenblatt.data.row_source import IfMeaningful, OpenRequest
from rosenblatt.parameters import ParameterError, Phrase, Setting

_FORMATS_OF = {
    "target": (*TABLES, "npz"),
    "missing": (*TABLES, "npz"),
    "bits": (*TABLES, "vw"),
    "names": (*TABLES, "vw"),
    "zero_based": ("svmlight",),
    "n_features": ("svmlight",),
} | dict.fromkeys(("header", "delimiter", "quote"), ("csv", "tsv"))
"""The formats that an option is for; options not listed are for tables."""
_WITH_LISTS = ("parquet", "arrow")
"""The formats that can have sparse rows in columns of lists."""


def check_options(request: OpenRequest) -> None:
    """Raise an error if an option has no meaning for the format."""
    for name in [*request.options, *(name for name in ("names", "carry") if getattr(request, name))]:
        formats = _FORMATS_OF.get(name, TABLES)
        if request.format not in formats:
            if isinstance(request.options.get(name), IfMeaningful):
                del request.options[name]
                continue
            others = "tables" if formats == TABLES else ", ".join(formats)
            why: tuple[Phrase, ...] = (Setting(name), f" has no meaning (it is for {others})")
            if name == "target":
                why = ("each line holds its label",)
            way_out = ": leave ", Setting(name), " out, or give another ", Setting("format"), "."
            raise ParameterError(f"{request.file} is read as {request.format}, where ", *why, *way_out)
    for name in ("delimiter", "quote"):
        check_character(name, request.options.get(name, "|"))


def check_formats(request: OpenRequest) -> None:
    """Raise an error if the names of two files say that they have different formats."""
    names = [name for name in request.files.names if isinstance(name, str)]
    if len(names) < 2 or format_of_name(names[0]) not in (None, request.format):
        return
    for k, name in enumerate(names):
        other = format_of_name(name)
        if other not in (None, request.format):
            both = f"{request.file} is {request.format} and {request.files.display_name(k)} is {other}"
            raise DataError(f"{both}, expected files of one format: convert one, or read them one after the other.")


def check_given_preparation(request: OpenRequest, preparation: dict[str, Any]) -> None:
    """Raise an error unless files of the format can be read as a preparation says."""
    try:
        check_preparation(preparation)
    except ValueError as fault:
        what = "the preparation of a stream, as data.open of this version makes it"
        raise ParameterError(Setting("preparation"), f" must be {what}: {fault}") from None
    family = preparation["format"]
    for name in request.options.keys() - {"header", "delimiter", "quote"}:
        raise already_prepared(name)
    alike = _WITH_LISTS if preparation.get("lists") else TABLES
    if family != request.format and not (family in alike and request.format in alike):
        what = f"{request.file} is read as {request.format}, but what was learned from was {family}"
        raise ParameterError(f"{what}: convert it, or give ", Setting("format", family), " if it is that.")


def already_prepared(name: str) -> ParameterError:
    """Return the error for an option that is given beside a preparation."""
    return ParameterError(
        Setting("preparation"), " says how rows are made, so ", Setting(name), " cannot be given as well."
    )
