"""A run of the perceptron in the plane as a moving picture, update by update."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.evenly import evenly_chosen
from rosenblatt.parameters import check_boolean, check_integer
from rosenblatt.plots.axes import Axes, axes_for, closes_on_error, import_matplotlib, ink, shown_name
from rosenblatt.plots.plane_lines import BROKEN, Line, draw_line, draw_rings, draw_w
from rosenblatt.plots.plane_parts import Frame, column_names, draw_legend, draw_rows
from rosenblatt.plots.player import player_page
from rosenblatt.plots.update import draw_weights, traced_rows
from rosenblatt.storage.atomic import write_atomically
from rosenblatt.theory.convergence.trace import Trace, TracedUpdate

_LONGEST = 600_000  # milliseconds of a frame: a GIF has room for little more


@closes_on_error
def animate(
    trace: Trace,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    interval: int = 400,
    max_frames: int = 60,
    ax: Axes | None = None,
    verbose: bool = False,
) -> Any:
    """Draw a run in the plane as a moving picture, with one frame for each update, and write it to a file.

    Each frame has the row that was wrong in a ring, the line before the update broken, and the line and w after it (w
    where both axes have one scale).

    Parameters
    ----------
    trace : Trace
        What `rosenblatt.trace` returned.
    X, y : the rows of two features that the trace is of, and their labels
    path : str or path, optional
        Where to write it: a GIF if it ends in .gif, a page with buttons to step if it ends in .html, which needs
        nothing from elsewhere. The file is replaced as a whole or not at all.
    interval : int
        Milliseconds from one frame to the next, up to ten minutes.
    max_frames : int
        Of a run with more updates, so many are drawn, evenly chosen; the last always is. A second draws about ten.
    ax : matplotlib Axes, optional
        Where to draw; otherwise a new figure is made.
    verbose : bool
        Whether to count the frames on stderr while a file is written.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        In a notebook, ``IPython.display.HTML(animation.to_jshtml())`` shows it.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import trace
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animation = animate(trace(X, y), X, y, f"{folder}/and.gif", max_frames=3)
    """
    ending = _ending(path)
    check_integer("interval", interval, 1, most=_LONGEST)
    check_integer("max_frames", max_frames, 1)
    check_boolean("verbose", verbose)
    rows = traced_rows("animate", trace, X, y)
    shown = _steps(trace, max_frames)
    if not shown:
        raise ValueError("animate draws the updates of a run, and this one made none: nothing moves.")
    names = column_names(X)
    frame, ours = Frame.around(rows.points), ax is None
    ax = axes_for(ax)
    frame.set_limits(ax)
    draw_rows(ax, rows)
    ax.plot([], [], color=ink(), linestyle=BROKEN, linewidth=1.2, label="boundary before")
    ax.set(xlabel=names[0], ylabel=names[1])
    still = set(ax.get_children())

    def draw(i: int) -> list[Any]:
        step, before = shown[i]
        for artist in set(ax.get_children()) - still:
            artist.remove()
        line = Line.of(step.w, step.b)
        draw_weights(ax, line, frame)
        draw_rings(ax, rows.points[[step.row]], rows.mark, "row of the update", linewidth=2.0)
        if before is not None:
            draw_line(ax, before, frame, linestyle=BROKEN, linewidth=1.2, zorder=1)
        if line is not None:
            draw_w(ax, line, frame, rows.points)
        ax.set_title(_title(trace, step), fontsize="medium")
        return []

    draw(0)
    draw_legend(ax)
    still.add(ax.get_legend())
    if ours:
        ax.figure.set_layout_engine("none")  # so that nothing moves that should not
    made = import_matplotlib("animation").FuncAnimation(
        ax.figure, draw, frames=len(shown), interval=interval, repeat=False
    )
    if path is not None:
        pictures = _pictures(made, ax.figure.figure, _counting(len(shown)) if verbose else None)
        titles = [_title(trace, step) for step, _ in shown]
        write_atomically(path, [_gif(pictures, interval) if ending == ".gif" else _page(pictures, titles, interval)])
    return made


def _ending(path: Any) -> str:
    """Return how the name of the file ends; an error where nothing of the kind can be written there."""
    if path is None:
        return ""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"expected a path such as 'run.gif' or 'run.html', got {type(path).__name__}.")
    ending = Path(path).suffix.lower()
    if ending not in (".gif", ".html"):
        raise ValueError(f"expected a path that ends in .gif or .html, got {os.fspath(path)!r}: name the file so.")
    folder = Path(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder)!r} to write {Path(path).name!r} into: make it first.")
    return ending


def _steps(trace: Trace, most: int) -> list[tuple[TracedUpdate, Line | None]]:
    """Return the updates to draw, each with the line of the weights before it."""
    wanted = {i + 1 for i in evenly_chosen(len(trace), most)}
    found, before = [], (np.zeros(2), 0.0)
    for step in trace:
        if step.k in wanted:
            found.append((step, Line.of(*before)))
        before = step.w, step.b
    return found


def _title(trace: Trace, step: TracedUpdate) -> str:
    """Return which update it is, in words."""
    last = step.k == len(trace)
    end = "; then a pass without a mistake" if last and trace.converged else ""
    return (
        f"Update {step.k:,} of {len(trace):,}, pass {step.pass_number:,}\n"
        f"row {step.row:,} of label {shown_name(step.label)} was wrong{end}"
    )


def _counting(n: int) -> Callable[[int, int | None], None]:
    """Return a function that counts ``n`` frames in one line on stderr."""

    def count(i: int, _: int | None) -> None:
        end = "\n" if i + 1 == n else ""
        print(f"\rframe {i + 1:,} of {n:,}", end=end, file=sys.stderr, flush=True)

    return count


def _pictures(made: Any, figure: Any, told: Callable[[int, int | None], None] | None) -> list[Any]:
    """Return the frames as pictures of Pillow, each drawn once."""
    from PIL import Image  # which matplotlib brings

    before, pictures = figure.canvas, []
    canvas = import_matplotlib("backends.backend_agg").FigureCanvasAgg(figure)

    class Recorder(import_matplotlib("animation").AbstractMovieWriter):  # type: ignore[misc]
        def setup(self, fig: Any, outfile: Any, dpi: float | None = None) -> None:
            pass

        def grab_frame(self, **_: Any) -> None:
            pictures.append(Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB"))

        def finish(self) -> None:
            pass

    try:
        made.save("", writer=Recorder(), progress_callback=told)
    finally:
        figure.set_canvas(before)
    return pictures


def _gif(pictures: list[Any], interval: int) -> bytes:
    """Return pictures as a GIF."""
    written = io.BytesIO()
    pictures[0].save(written, "GIF", save_all=True, append_images=pictures[1:], duration=interval, loop=0)
    return written.getvalue()


def _page(pictures: list[Any], titles: list[str], interval: int) -> bytes:
    """Return pictures as a page with buttons."""
    written = []
    for picture in pictures:
        one = io.BytesIO()
        picture.save(one, "PNG")
        written.append(one.getvalue())
    words = [title.replace("\n", ": ").replace(r"\$", "$") for title in titles]
    return player_page("A run of the perceptron", written, words, interval, pictures[0].width).encode()
