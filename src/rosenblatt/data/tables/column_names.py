"""Names of columns in sentences: those that are missing, what might be meant, what is there instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rosenblatt.blocks import DataError
from rosenblatt.parameters import IfAvailable, Setting, did_you_mean, shorten, show_text

DELIMITERS = ",;\t|"
"""What may stand between the cells of CSV, the commonest first."""
_LONGEST_NAME = 100
"""Characters of a column's name in a sentence."""


def missing_columns(
    missing: Sequence[str], needed: Collection[str], found: Sequence[str], file: str, way_out: str = ""
) -> DataError:
    """Return the error for columns that a file does not have, with what it has instead and what to do."""
    hint = suggestion(missing[0], found) if len(missing) == 1 else ""
    what = f"{file} has no column {join_names(map(shorten, missing), last=' and no column ')}{hint}"
    what += f", expected {join_names(needed)}" if len(needed) > 1 else ""
    delimiter = next((c for c in DELIMITERS if c in found[0]), "") if len(found) == 1 else ""
    if not delimiter:
        todo = "" if not way_out else ": rename that one" if hint else f": {way_out}"
        return DataError(f"{what}; found {join_names(found) if found else 'none'}{todo}.")
    what += f"; found one column, {show_text(found[0])}: is {delimiter!r} what separates its cells?"
    return DataError(what, IfAvailable("delimiter", " Then give ", Setting("delimiter", delimiter), "."))


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has been there before, if there is one.

    Examples
    --------
    >>> first_repeated(["a", "b", "b", "a"])
    'b'
    """
    before: set[str] = set()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return a hint for a name that is not among ``names``, or nothing."""
    question = did_you_mean(name, names)
    return f" ({question})" if question else ""


def join_names(names: Iterable[str], most: int = 20, last: str = ", ") -> str:
    """Return names for a sentence, the first ``most`` of them; ``last`` stands before the last.

    >>> join_names(["a", "b", "c"]), join_names("abc", last=" and "), join_names("abc", most=2)
    ('a, b, c', 'a, b and c', 'a, b and 1 more')
    """
    every = [show_text(str(name), _LONGEST_NAME) for name in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return last.join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)
