"""``rosenblatt reproduce``: the experiments of papers."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import typer

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.options import DEVICE, SEED, command, option
from rosenblatt.cli.output import enable_gc, note, say

KNOWN = ("freund-schapire-1999",)
"""What can be reproduced."""


@command
def reproduce(
    *,
    name: str = typer.Argument(metavar="NAME", help="Which paper: freund-schapire-1999."),
    degrees: str = option("1,2,3,4", "D,...", "Degrees of the kernel, with commas between."),
    epochs: int = option(10, "N", "Passes over the rows."),
    data: Path | None = option(None, "DIR", "Folder with the four files of MNIST, .gz or not."),
    device: str | None = DEVICE,
    small: bool = option(False, None, "Learn scikit-learn's digits instead, in seconds."),
    out: Path = option(Path("."), "DIR", "Folder for CSV and picture.", "--out -o"),
    seed: int = SEED,
) -> None:
    """Run the experiment of a paper and print its table beside ours; write it as CSV, and as a picture.

    freund-schapire-1999: voted kernel perceptrons on MNIST, which comes from --data, a folder with its four files, or
    from OpenML where there is a network.

    \b
    Example:
      rosenblatt reproduce freund-schapire-1999 --degrees 2,3 --data mnist
      rosenblatt reproduce freund-schapire-1999 --small
    """
    if name not in KNOWN:
        raise ValueError(f"there is no reproduction {name!r}; there is: {', '.join(KNOWN)}.")
    if not re.fullmatch(r"[0-9]+(,[0-9]+)*", degrees):
        raise ValueError(f"--degrees expects integers such as 1,2,3, got {degrees!r}.")
    table, picture = (out / f"{name}{end}" for end in (".csv", ".png"))
    out.mkdir(parents=True, exist_ok=True)
    for file in (table, picture):
        check_out(file, [])
    from rosenblatt.reproductions import freund_schapire_1999

    enable_gc()
    wanted, verbose = [int(degree) for degree in degrees.split(",")], int(sys.stderr.isatty())
    found = freund_schapire_1999(data, wanted, epochs, small=small, device=device, random_state=seed, verbose=verbose)
    print(found)
    found.to_csv(table)
    say("", f"Table written to {table}.")
    try:
        found.plot(picture)
    except ImportError as fault:  # without matplotlib there is no picture
        note(str(fault))
    else:
        say(f"Picture written to {picture}.")
