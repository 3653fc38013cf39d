"""``rosenblatt demo``: a demo on two small data sets, or of a single idea, with text and a plot."""

from __future__ import annotations

from pathlib import Path

import typer

from rosenblatt.cli.options import command, option
from rosenblatt.messages import did_you_mean, shorten

IDEAS = {
    "xor": "a problem that no line can solve, and two ways out",
    "circle": "a circle learned as a plane in three dimensions",
    "proof": "why the number of mistakes is bounded",
    "margin": "how the margin bounds the number of mistakes",
    "order": "why rows are shuffled",
}
"""The ideas that have a demo in `rosenblatt.figures.demos`, each with a short description."""
*_FIRST, _LAST = IDEAS
_NAMES = f"{', '.join(_FIRST)} or {_LAST}"


@command
def demo(
    *,
    idea: str | None = typer.Argument(None, metavar="IDEA", help=f"A single idea: {_NAMES}."),
    out: Path = option(Path("out"), "FOLDER", "Folder for the plot.", "--out -o"),
) -> None:
    """Run a demo with text and a plot: learning on two small data sets, or a single idea.

    \b
    IDEAS

    \b
    Examples:
      rosenblatt demo
      rosenblatt demo xor
    """
    show(idea, out)


_LINES = "\n    ".join(f"{idea:<7} {words}" for idea, words in IDEAS.items())
demo.__doc__ = str(demo.__doc__).replace("IDEAS", _LINES)


def show(idea: str | None, out: Path) -> None:
    """Run the demo of an idea, or on two small data sets if ``idea`` is None, and save its plot in the folder ``out``.

    Raises a ValueError for an unknown idea.
    """
    if idea is not None and idea not in IDEAS:
        question = did_you_mean(idea, IDEAS)
        raise ValueError(f"there is no demo {shorten(idea)}: " + (question or f"use {_NAMES}."))
    from rosenblatt.figures.demos import DEMOS

    DEMOS[idea](out)
