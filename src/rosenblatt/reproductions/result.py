"""What a reproduction found: a table by degree and epoch, with the paper's numbers, that can be printed and drawn."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rosenblatt.plots.axes import Axes
from rosenblatt.reproductions.paper import PAPER, PaperRow
from rosenblatt.reproductions.picture import draw_figure, draw_panels
from rosenblatt.reproductions.protocol import DegreeRun
from rosenblatt.storage.atomic import write_atomically
from rosenblatt.tables import Table

_HEADS = ("epoch", "last", "avg", "vote", "mistakes", "support", "avg", "vote", "mistakes", "support")
_WIDTHS = (5, 5, 5, 5, 8, 7, 6, 5, 8, 7)
_OURS = 6  # columns that are ours


@dataclass(frozen=True, repr=False)
class Reproduction:
    """Test errors by degree and epoch beside those of a paper; printing it shows them.

    Attributes
    ----------
    title : str
        What was learned, and from how many rows.
    table : Table
        A row for each degree and epoch: test errors of the last weights, their average and the vote, in percent;
        mistakes of all machines together; support vectors in their union; the paper's numbers, None where we have none.
    seconds : Table
        How long training and evaluation took for each degree.

    Examples
    --------
    >>> from rosenblatt.reproductions import freund_schapire_1999
    >>> found = freund_schapire_1999(small=True, degrees=(2,), epochs=1)
    >>> found.table.columns[:5]
    ['degree', 'epoch', 'last', 'average', 'vote']
    >>> found.seconds["degree"]
    [2]
    """

    title: str
    table: Table
    seconds: Table

    def __repr__(self) -> str:
        columns = self.table.columns
        has_paper = any(value is not None for name in columns if name.startswith("paper") for value in self.table[name])
        shown = len(_HEADS) if has_paper else _OURS
        head = _line(_HEADS[:shown])
        group = " paper ".center(len(_line(_HEADS)) - len(_line(_HEADS[:_OURS])) - 2, "-")
        lines = [self.title, "Errors in percent of the test rows; mistakes of all machines; support vectors."]
        lines += ["Paper: Freund and Schapire 1999."] * has_paper
        for time in self.seconds:
            lines += [
                "",
                "Degree {degree}: trained in {training:.1f} s, evaluated in {evaluation:.1f} s.".format(**time),
            ]
            lines += [group.rjust(len(head))] * has_paper + [head, "-" * len(head)]
            lines += [_line(_cells(row)[:shown]) for row in self.table if row["degree"] == time["degree"]]
        return "\n".join(lines)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV; what the paper does not say is left empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.table.columns)
        writer.writerows(row.values() for row in self.table)
        write_atomically(path, [text.getvalue().encode()])

    def plot(self, where: str | os.PathLike[str] | Axes | Sequence[Axes] | None = None) -> Any:
        """Draw test errors by epoch, a panel for each degree.

        Parameters
        ----------
        where : path, matplotlib Axes, sequence of them, or None
            A picture to write, whose name says its format; or axes to draw on, one for each degree; or None for those
            of a new figure.

        Returns
        -------
        list of matplotlib Axes
        """
        by_degree = {
            degree: [row for row in self.table if row["degree"] == degree] for degree in self.seconds["degree"]
        }
        if where is None or isinstance(where, str | os.PathLike):
            return draw_figure(by_degree, self.title, where)
        return draw_panels(by_degree, where)


def reproduction(title: str, runs: Sequence[DegreeRun], with_paper: bool) -> Reproduction:
    """Return runs as a table, with the paper's numbers where they are about the same data."""
    columns: dict[str, list[Any]] = {}
    for run in runs:
        for moment in run.moments:
            paper = PAPER.get((run.degree, moment.epoch), PaperRow()) if with_paper else PaperRow()
            row = {
                "degree": run.degree,
                "epoch": moment.epoch,
                "last": moment.last,
                "average": moment.average,
                "vote": moment.vote,
                "mistakes": moment.mistakes,
                "support vectors": moment.supports,
                "paper average": paper.average,
                "paper vote": paper.vote,
                "paper mistakes": paper.mistakes,
                "paper support vectors": paper.supports,
            }
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
    seconds: dict[str, list[Any]] = {
        "degree": [run.degree for run in runs],
        "training": [run.training_seconds for run in runs],
        "evaluation": [run.evaluation_seconds for run in runs],
    }
    note = "Errors in percent of the test rows; paper: Freund and Schapire 1999."
    return Reproduction(title, Table(columns, title, [note]), Table(seconds, "Seconds by degree"))


def _line(cells: Sequence[str]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=False))


def _cells(row: dict[str, Any]) -> list[str]:
    """Return the numbers of a row as they are printed; ours to two decimals, the paper's to one."""
    _, epoch, *numbers = row.values()
    cells = [f"{epoch:g}"]
    for place, number in enumerate(numbers):
        if number is None:
            cells.append("-")
        elif isinstance(number, int):
            cells.append(f"{number:,}")
        else:
            cells.append(f"{number:.2f}" if place < _OURS - 1 else f"{number:.1f}")
    return cells
