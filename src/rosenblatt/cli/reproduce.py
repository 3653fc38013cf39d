"""``rosenblatt reproduce``: run the experiment of a paper, and compare the published and the reproduced results."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import typer

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.options import DEVICE, SEED, command, option
from rosenblatt.cli.output import enable_gc, print_note, print_text

PAPERS = ("freund-schapire-1999",)
"""The papers whose experiments can be reproduced."""


@command
def reproduce(
    *,
    name: str = typer.Argument(metavar="NAME", help="The paper: freund-schapire-1999."),
    degrees: str = option("1,2,3,4", "D,...", "Degrees of the polynomial kernel, separated by commas."),
    epochs: int = option(10, "N", "Passes over the rows."),
    data: Path | None = option(None, "DIR", "Folder with the four MNIST files, gzipped or not."),
    device: str | None = DEVICE,
    small: bool = option(False, None, "Use scikit-learn's digits instead, which takes seconds."),
    out: Path = option(Path("."), "DIR", "Folder for the CSV file and the plot.", "--out -o"),
    seed: int = SEED,
) -> None:
    """Repeat the experiment of a paper, and print the published and reproduced results. Write a CSV file and a plot.

    freund-schapire-1999 trains voted kernel perceptrons on MNIST. The data come from the four files in the folder
    --data, or from OpenML if it is omitted.

    \b
    Examples:
      rosenblatt reproduce freund-schapire-1999 --degrees 2,3 --data mnist
      rosenblatt reproduce freund-schapire-1999 --small
    """
    if name not in PAPERS:
        raise ValueError(f"there is no experiment {name!r}: use {' or '.join(PAPERS)}.")
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
    print_text("", f"Table written to {table}.")
    try:
        found.plot(picture)
    except ImportError as error:  # without matplotlib there is no picture
        print_note(str(error))
    else:
        print_text(f"Plot written to {picture}.")
