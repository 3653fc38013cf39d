"""``rosenblatt demo``: two small data sets, or one idea, in plain words and a picture."""

from __future__ import annotations

from pathlib import Path

import typer

from rosenblatt.cli.options import command, option
from rosenblatt.messages import did_you_mean, shorten

IDEAS = {
    "xor": "what one line cannot do, and how it can",
    "circle": "a circle learned as a plane",
    "proof": "why the mistakes must end",
    "margin": "the room between two classes",
    "order": "why rows are shuffled",
}
"""The ideas that have a demo of their own, in `rosenblatt.figures.demos`."""
*_FIRST, _LAST = IDEAS
_NAMES = f"{', '.join(_FIRST)} or {_LAST}"


@command
def demo(
    *,
    idea: str | None = typer.Argument(None, metavar="IDEA", help=f"One idea alone: {_NAMES}."),
    out: Path = option(Path("out"), "FOLDER", "Folder for the picture.", "--out -o"),
) -> None:
    """Run the demo: two small data sets, or one idea, in plain words and a picture.

    \b
    IDEAS

    \b
    Example:
      rosenblatt demo
      rosenblatt demo xor
    """
    show(idea, out)


_LINES = "\n    ".join(f"{idea:<7} {words}" for idea, words in IDEAS.items())
demo.__doc__ = str(demo.__doc__).replace("IDEAS", _LINES)


def show(idea: str | None, out: Path) -> None:
    """Show one idea, or two small data sets where none is named; write the picture into the folder ``out``."""
    if idea is not None and idea not in IDEAS:
        question = did_you_mean(idea, IDEAS)
        raise ValueError(
            f"there is no demo {shorten(idea)}" + (f": {question}" if question else f"; there are: {', '.join(IDEAS)}.")
        )
    from rosenblatt.figures.demos import DEMOS

    DEMOS[idea](out)
