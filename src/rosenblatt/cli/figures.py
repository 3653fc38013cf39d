"""``rosenblatt figures``: the figures of the textbooks, drawn into a folder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rosenblatt.cli.options import command, option
from rosenblatt.cli.output import enable_gc, print_text
from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.figures import Entry


@command
def figures(
    *,
    out: str = option("figures", "DIR", "Folder for the files.", "--out -o"),
    only: list[str] | None = option(None, "ID", "Draw only these figures, such as 4.7,4.9."),
    format: str = option("svg", "svg|png|pdf", "Format of the images."),
) -> None:
    """Draw the figures of three textbook chapters on the perceptron, each from a real run with a fixed seed.

    Writes an image of each figure, a page index.html with captions and measured values, and figures.json with the same
    captions and values.

    \b
    Examples:
      rosenblatt figures
      rosenblatt figures --only 4.7,4.9 --format png --out pictures
    """
    from rosenblatt.figures import write

    enable_gc()
    started = time.perf_counter()
    ids = [id.strip() for given in only or () for id in given.split(",") if id.strip()]
    written = write(out, ids if only else None, format, progress=_report)
    pictures = count_of(len(written) - 2, "figure")
    print_text("", f"{pictures} in {time.perf_counter() - started:.1f} s. Open {written[-2]} in a browser.")


def _report(entry: Entry, seconds: float) -> None:
    print(f"{entry.id:<12}{entry.title:<44}{seconds:6.1f} s", flush=True)
