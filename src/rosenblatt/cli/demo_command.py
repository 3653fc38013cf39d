"""``rosenblatt demo``: two small data sets, or one idea, in plain words and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.demo import IDEAS, show
from rosenblatt.cli.options import command, option

*_FIRST, _LAST = IDEAS
_NAMES = f"{', '.join(_FIRST)} or {_LAST}"


@command
def demo(
    idea: Annotated[str | None, typer.Argument(metavar="IDEA", help=f"One idea alone: {_NAMES}.")] = None,
    out: Annotated[Path, option("--out -o", "Folder for the picture.", "FOLDER")] = Path("out"),
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
