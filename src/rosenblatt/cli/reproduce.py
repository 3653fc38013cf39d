"""``rosenblatt reproduce``: the experiments of papers."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.output import note, say
from rosenblatt.cli.startup import enable_gc

KNOWN = ("freund-schapire-1999",)
"""What can be reproduced."""
_DEGREES = [1, 2, 3, 4]


def reproduce(
    name: str,
    degrees: Sequence[str] | None,
    epochs: int,
    data: Path | None,
    device: str | None,
    small: bool,
    out: Path,
    seed: int,
) -> None:
    """Run the experiment, print its table, and write CSV and picture into the folder ``out``.

    Without matplotlib there is no picture, and a note says how to get one.
    """
    if name not in KNOWN:
        raise ValueError(f"there is no reproduction {name!r}; there is: {', '.join(KNOWN)}.")
    wanted = degrees_of(degrees) if degrees else _DEGREES
    table, picture = (out / f"{name}{end}" for end in (".csv", ".png"))
    out.mkdir(parents=True, exist_ok=True)
    for file in (table, picture):
        check_out(file, [])
    from rosenblatt.reproductions import freund_schapire_1999

    enable_gc()
    found = freund_schapire_1999(
        data, wanted, epochs, small=small, device=device, random_state=seed, verbose=int(sys.stderr.isatty())
    )
    print(found)
    found.to_csv(table)
    say("", f"Table written to {table}.")
    try:
        found.plot(picture)
    except ImportError as fault:
        note(str(fault))
    else:
        say(f"Picture written to {picture}.")


def degrees_of(words: Sequence[str]) -> list[int]:
    """Return the degrees that words name, each an integer or several with commas between.

    >>> degrees_of(["1", "2,3"])
    [1, 2, 3]
    """
    numbers = [number for word in words for number in word.split(",") if number]
    wrong = [number for number in numbers if not re.fullmatch(r"[0-9]+", number)]
    if wrong or not numbers:
        raise ValueError(f"--degrees expects integers such as 1 2 3, got {(wrong or words)[0]!r}.")
    return [int(number) for number in numbers]
