"""Options about rows of files that several commands share: each command takes one group of them as one parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from rosenblatt.cli import options as given
from rosenblatt.cli.inputs import kinds_of, target_of

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class FileOptions:
    """How files are written and read, where something else says how rows are made of them: a model, a certificate."""

    format: given.Format = None
    delimiter: given.Delimiter = None
    header: given.Header = None
    on_error: given.OnError = "raise"
    max_line: given.MaxLine = None

    def to_open(self) -> dict[str, Any]:
        """Return the options that were given, by the names that `data.open` has for them."""
        named = {"format": self.format, "delimiter": self.delimiter, "header": self.header, "on_error": self.on_error}
        return {name: value for name, value in (named | {"max_line_bytes": self.max_line}).items() if value is not None}


@dataclass(frozen=True)
class RowOptions(FileOptions):
    """How files are read, and how rows are made of them."""

    drop: given.Drop = None
    keep: given.Keep = None
    kind: given.Kind = None
    missing: given.Missing = None
    missing_value: given.MissingValue = None
    bits: given.Bits = None
    ngrams: given.Ngrams = None
    features: given.Features = None

    def to_rows(self) -> dict[str, Any]:
        """Return the options that were given and say how rows are made, by the names that `data.open` has."""
        named: dict[str, Any] = {
            "drop": self.drop,
            "keep": self.keep,
            "kinds": kinds_of(self.kind),
            "missing": self.missing,
            "missing_values": self.missing_value,
        }
        named |= {"bits": self.bits, "ngrams": self.ngrams, "n_features": self.features}
        return {name: value for name, value in named.items() if value not in (None, [], {})}

    def to_open(self) -> dict[str, Any]:
        """Return all options that were given, by the names that `data.open` has for them."""
        return super().to_open() | self.to_rows()


@dataclass(frozen=True)
class WeightedRowOptions(RowOptions):
    """How files are read and rows are made of them, with a weight each."""

    weight: given.Weight = None

    def to_rows(self) -> dict[str, Any]:
        """Return the options that were given and say how rows are made, by the names that `data.open` has."""
        return super().to_rows() | ({} if self.weight is None else {"weight": target_of(self.weight)})


def grouped(command: Command) -> Command:
    """Let a command take groups of options: a parameter that is a dataclass stands for one option of each field.

    Examples
    --------
    >>> def read(path: str, options: FileOptions): return path, options.format
    >>> list(inspect.signature(grouped(read)).parameters)
    ['path', 'format', 'delimiter', 'header', 'on_error', 'max_line']
    >>> grouped(read)("rows", format="csv")
    ('rows', 'csv')
    """
    types = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind = types.get(parameter.name)
        if not (inspect.isclass(kind) and is_dataclass(kind)):
            parameters.append(parameter.replace(annotation=kind))
            continue
        groups[parameter.name] = kind
        hints = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(one.name, parameter.kind, default=one.default, annotation=hints[one.name])
            for one in fields(kind)
        ]

    @functools.wraps(command)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name, kind in groups.items():
            kwargs[name] = kind(**{one.name: kwargs.pop(one.name) for one in fields(kind) if one.name in kwargs})
        return command(*args, **kwargs)

    signature = inspect.Signature(parameters)
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called  # type: ignore[return-value]
