"""A run of the perceptron in the plane as a moving picture, update by update."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.evenly import evenly_chosen
from rosenblatt.label_text import label_text
from rosenblatt.parameters import check_integer
from rosenblatt.plots.axes import Axes, axes_for, import_matplotlib
from rosenblatt.plots.plane_lines import BROKEN, Line, draw_line, draw_w
from rosenblatt.plots.plane_parts import Frame, column_names, draw_legend
from rosenblatt.plots.update import draw_state, traced_rows
from rosenblatt.storage.atomic import write_atomically
from rosenblatt.theory.convergence.trace import Trace, TracedUpdate

_MEGABYTES = 1000.0  # of pictures in a page: there are no more of them than max_frames


def animate(
    trace: Trace,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    interval: int = 400,
    max_frames: int = 100,
    ax: Axes | None = None,
) -> Any:
    """Draw a run in the plane as a moving picture, with one frame for each update, and write it to a file.

    Each frame has the row that was wrong in a ring, the line before the update broken, and the line and w after it.

    Parameters
    ----------
    trace : Trace
        What `rosenblatt.trace` returned.
    X, y : the rows of two features that the trace is of, and their labels
    path : str or path, optional
        Where to write it: a GIF if it ends in .gif, a page with buttons to step if it ends in .html. The file is
        replaced as a whole or not at all.
    interval : int
        Milliseconds from one frame to the next.
    max_frames : int
        Of a run with more updates, so many are drawn, evenly chosen; the last always is.
    ax : matplotlib Axes, optional
        Where to draw; otherwise a new figure is made.

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
    check_integer("interval", interval, 1)
    check_integer("max_frames", max_frames, 1)
    rows = traced_rows("animate", trace, X, y)
    frame = Frame.around(rows.points)
    names = column_names(X)
    shown = _steps(trace, max_frames)
    ours = ax is None
    ax = axes_for(ax)

    def draw(i: int) -> list[Any]:
        step, before = shown[i]
        line = Line.of(step.w, step.b)
        ax.clear()
        draw_state(ax, rows, line, frame, step.row)
        if before is not None:
            draw_line(ax, before, frame, linestyle=BROKEN, linewidth=1.2, zorder=1)
        if line is not None:
            draw_w(ax, line, frame, rows.points)
        ax.set_title(_title(trace, step), fontsize="medium")
        ax.set(xlabel=names[0], ylabel=names[1])
        draw_legend(ax)
        return []

    draw(0)
    if ours:
        ax.figure.set_layout_engine("none")  # so that nothing moves that should not
    made = import_matplotlib("animation").FuncAnimation(
        ax.figure, draw, frames=len(shown), interval=interval, repeat=False
    )
    if path is not None:
        write_atomically(path, [_gif(made, interval) if ending == ".gif" else _page(made, interval)])
    return made


def _ending(path: str | os.PathLike[str] | None) -> str:
    """Return how the name of the file ends; a ValueError where nothing of the kind can be written."""
    if path is None:
        return ""
    ending = Path(path).suffix.lower()
    if ending not in (".gif", ".html"):
        raise ValueError(f"expected a path that ends in .gif or .html, got {os.fspath(path)!r}: name the file so.")
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
        f"row {step.row:,} of label {label_text(step.label)} was wrong{end}"
    )


def _gif(made: Any, interval: int) -> bytes:
    """Return the frames as a GIF."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.gif"
        made.save(path, writer=import_matplotlib("animation").PillowWriter(fps=1000 / interval))
        return path.read_bytes()


def _page(made: Any, interval: int) -> bytes:
    """Return the frames as a page with buttons."""
    with import_matplotlib("pyplot").rc_context({"animation.embed_limit": _MEGABYTES}):
        page: str = made.to_jshtml(fps=1000 / interval, default_mode="once")
    return page.encode()
