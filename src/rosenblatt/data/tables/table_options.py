"""The options for the columns of a table, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rosenblatt.data.preparations import KINDS, MOST_BITS, MOST_NGRAMS
from rosenblatt.data.row_source import check_missing
from rosenblatt.data.tables.column_names import join_names
from rosenblatt.parameters import IfAvailable, ParameterError, Setting, check_choice, check_integer, shorten


@dataclass
class TableOptions:
    """The options for the columns of a table, checked. ``data.open`` documents them."""

    target: str | int | None = None
    labels: bool = True
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    kinds: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    categories: str = "onehot"
    bits: int = 18
    ngrams: int = 1
    missing: str = "error"
    missing_values: Sequence[str] = ()
    weight: str | int | None = None
    unclear: str = "error"

    def __post_init__(self) -> None:
        for name in ("columns", "drop", "keep", "missing_values"):
            if isinstance(value := getattr(self, name), str):
                hint = "give ", Setting(name, [value]), "."
                raise ParameterError(Setting(name), f" must be a list of strings, got {value!r}: ", *hint)
        check_choice("categories", self.categories, ("onehot", "hash"))
        check_missing(self.missing)
        check_integer("bits", self.bits, 1, most=MOST_BITS)
        check_integer("ngrams", self.ngrams, 1, most=MOST_NGRAMS)
        both = [name for name in self.keep if name in self.drop]
        if both:
            what = f" name the column {both[0]!r}: a column is kept or left out."
            raise ParameterError(Setting("keep"), " and ", Setting("drop"), " both", what)
        for name, kind in self.kinds.items():
            if kind not in KINDS and (isinstance(kind, str) or not isinstance(kind, Sequence)):
                allowed = f" of {name!r} must be one of {join_names(KINDS)}", IfAvailable("columns", ", or categories")
                raise ParameterError(Setting("kinds"), *allowed, f", got {shorten(kind)}.")
        self.missing_values = tuple(map(str, self.missing_values))

    @property
    def named_columns(self) -> list[str]:
        """The columns that options name, but for target and weight."""
        return [*self.drop, *self.keep, *(self.columns or ()), *self.kinds]
