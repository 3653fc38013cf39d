"""What the demos share: words that fit a terminal of 80 columns, and a picture that is written to a file."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rosenblatt.storage.container import write_atomically

_WIDTH = 78


def heading(words: str) -> None:
    """Print a title with a line below it."""
    print(f"{words}\n{'=' * len(words)}\n")


def say(*paragraphs: str) -> None:
    """Print paragraphs that fit a terminal of 80 columns, then an empty line."""
    for words in paragraphs:
        print(textwrap.fill(words, _WIDTH, break_on_hyphens=False))
    print()


def show_lines(lines: str) -> None:
    """Print a table or code as it is, two columns further right, then an empty line."""
    print(textwrap.indent(lines, "  ") + "\n")


def draw(path: Path, size: tuple[float, float], drawing: Callable[[Any], None], lay_out: bool = True) -> Path | None:
    """Draw on a new figure and write it; say what to install instead where matplotlib is missing.

    ``drawing`` gets the figure, which is laid out after it if ``lay_out``. Returned is the path, or None where there is
    no picture.
    """
    try:
        from matplotlib.figure import Figure  # not pyplot: no window, whatever the screen
    except ImportError:
        say("No picture is drawn, since matplotlib is missing: pip install 'rosenblatt[plots]'.")
        return None
    figure = Figure(figsize=size, layout="constrained" if lay_out else None)
    drawing(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=100)
    write_atomically(path, [picture.getvalue()])
    return path


def end(picture: Path | None, code: str, lab: str) -> None:
    """Say where the picture is, and what to try next: in Python, and among the lab's points to try."""
    if picture is not None:
        print(f"Picture: {picture}")
    print(f"In Python:\n{textwrap.indent(code, '  ')}")
    print(textwrap.fill(f"Step by step in the browser: rosenblatt lab, and there the points {lab!r}.", _WIDTH))
