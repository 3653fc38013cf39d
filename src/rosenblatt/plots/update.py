"""Plots of the updates of a run: a single update (CIML figure 4.9), and an animation of all updates."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.messages import check_boolean, check_integer, evenly_spaced
from rosenblatt.plots import plane_parts as parts
from rosenblatt.plots.axes import BLUE, Axes, axes_for, check_labels, closes_on_error, ink, pair_of_axes, shown_name
from rosenblatt.plots.plane_parts import BROKEN, OUT_OF_VIEW, Frame, Line, Regions, Rows
from rosenblatt.storage.container import write_atomically
from rosenblatt.theory.convergence.trace import Trace, TracedUpdate
from rosenblatt.theory.exact import rounded_product
from rosenblatt.theory.inputs import true_minus

_SIZE = (9.0, 4.6)  # inches
_LONGEST = 1.5  # arrows longer than this multiple of the largest coordinate are scaled down
_DOTS = 20  # number of points on an arrow that the names of the other arrows avoid
_GREY, _BROWN = "#666666", "#8F5F00"  # a brown that resembles orange but is dark enough for text


@closes_on_error
def plot_update(trace: Trace, k: int, X: Any, y: Any, axes: Any = None) -> np.ndarray:
    """Draw update ``k`` of a run in the plane, with the state before it on the left and the state after on the right.

    A ring marks the misclassified row. The left plot shows the boundary and w before the update. The right plot shows
    the new boundary and w, and the old boundary as a dashed line. Without a bias the right plot shows the update as a
    sum of vectors: w starts at the origin, x (or -x for a negative label) is added at its tip, and the sum is the new
    w. If these vectors are scaled down, a note gives the factor. The titles give the activation a of the row before and
    after the update. The product of a and the label y (as 1 or -1) rises by exactly ``|x|^2 + 1``, or ``|x|^2`` without
    a bias.

    Parameters
    ----------
    trace : Trace
        The result of `rosenblatt.trace`.
    k : int
        Number of the update, counted from 1.
    X : {array-like, sparse matrix, data frame} of shape (n, 2)
        The rows that were traced.
    y : array-like of shape (n,)
        Labels of the rows.
    axes : sequence of two matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    axes : array of two matplotlib Axes
        The axes of the left and the right plot.

    See Also
    --------
    animate : Draw all updates of a run as an animation.

    Examples
    --------
    >>> from rosenblatt import trace
    >>> X, y = [[3, 1], [-1, 2]], [1, -1]
    >>> before, after = plot_update(trace(X, y, fit_intercept=False), 1, X, y)
    >>> print(after.get_title())
    After: w·x = 10, on its side
    y·(w·x) rose by |x|² = 10
    """
    rows = traced_rows("plot_update", trace, X, y)
    points, step = rows.points, trace.step(k)
    w, b = trace.weights(k - 1)
    x = points[step.row]
    sign = 1.0 if step.label == rows.classes[-1] else -1.0
    scale, frame = 1.0, Frame.around(points)
    if not trace.fit_intercept:
        scale = _scale(points, [w, step.w, x])
        frame = Frame.around(np.vstack([points, np.zeros(2), w * scale, step.w * scale]))
    left, right = axes = pair_of_axes("plot_update", axes, _SIZE)
    old, new = Line.of(w, b), Line.of(step.w, step.b)
    draw_state(left, rows, old, frame, step.row)
    draw_state(right, rows, new, frame, step.row)
    if old is not None and old.crosses(frame):
        parts.draw_line(right, old, frame, linestyle=BROKEN, linewidth=1.2, zorder=1, label="boundary before")
    if trace.fit_intercept:
        for ax, line in ((left, old), (right, new)):
            if line is not None:
                parts.draw_w(ax, line, frame, points)
    else:
        _draw_sum(left, right, np.array([w, step.w]) * scale, sign, points)
        if scale < 1:
            note = {"transform": right.transAxes, "ha": "right", "va": "bottom", "fontsize": "small", "color": ink()}
            right.text(0.99, 0.01, f"arrows at 1/{1 / scale:g} of their length", **note)
    for ax, title in zip(axes, _titles(trace, step, x, sign, k), strict=True):
        parts.finish(ax, title, parts.column_names(X))
    return axes


def traced_rows(name: str, trace: Trace, X: Any, y: Any) -> Rows:
    """Return the traced rows; raise an error that names the function ``name`` if ``X`` or ``y`` differs."""
    if not isinstance(trace, Trace):
        raise TypeError(f"{name} expects the result of rosenblatt.trace, got {type(trace).__name__}.")
    points = parts.plane_points(name, X)
    classes = np.array(trace.classes)
    labels = check_labels(y, len(points), classes)
    if not trace.is_of(points, labels):
        raise ValueError(
            f"{name} needs the rows and labels that were traced, got different ones: pass the same X and y."
        )
    return Rows(points, labels, classes)


def draw_state(ax: Axes, rows: Rows, line: Line | None, frame: Frame, wrong: int) -> None:
    """Draw the rows, a ring around row ``wrong`` and, unless all weights are zero, the decision regions."""
    frame.set_limits(ax)
    draw_weights(ax, line, frame)
    parts.draw_rows(ax, rows)
    parts.draw_rings(ax, rows.points[wrong : wrong + 1], rows.mark, "row of the update", linewidth=2.0)


def draw_weights(ax: Axes, line: Line | None, frame: Frame) -> None:
    """Draw the decision regions on both sides of a line, with a note if no boundary is in view."""
    if line is not None:
        parts.draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    if line is None or not line.crosses(frame):
        parts.draw_note(ax, "all weights are zero: no boundary" if line is None else OUT_OF_VIEW)


def _scale(points: np.ndarray, vectors: list[np.ndarray]) -> float:
    """Return the scale of the arrows: 1, or 1 over a round number if some vectors are much longer than the rows."""
    longest = max(float(np.linalg.norm(vector)) for vector in vectors)
    limit = float(np.abs(points).max()) * _LONGEST
    if not longest > limit > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(longest / limit))
    return 1 / next(power * step for step in (1, 2, 5, 10) if power * step >= longest / limit)


def _draw_sum(left: Axes, right: Axes, weights: np.ndarray, sign: float, points: np.ndarray) -> None:
    """Draw w in the left plot, and the update as a sum of vectors in the right plot.

    ``weights`` contains w before and after the update. The names of the arrows avoid the points and the other arrows.
    """
    (w, after), origin, added = weights, np.zeros(2), "x" if sign > 0 else "\N{MINUS SIGN}x"
    if not w.any():
        parts.draw_arrow(right, origin, after, f"w = {added}", points)
        return
    parts.draw_arrow(left, origin, w, "w", points)
    arrows: list[tuple[np.ndarray, np.ndarray, str, str]] = [(origin, w, "w", _GREY)]
    arrows.append((w, after, added, BLUE if sign > 0 else _BROWN))
    if after.any():
        arrows.append((origin, after, "w after", ink()))
    names = np.empty((0, 2))
    for i, (start, end, name, colour) in enumerate(arrows):
        others = [np.linspace(a, b, _DOTS) for j, (a, b, _, _) in enumerate(arrows) if j != i]
        place = parts.draw_arrow(right, start, end, name, np.vstack([points, names, *others]), color=colour)
        names = np.vstack([names, place])


def _titles(trace: Trace, step: TracedUpdate, x: np.ndarray, sign: float, k: int) -> tuple[str, str]:
    """Return the two titles, which give the activation of the row before and after the update."""
    name = "w·x + b" if trace.fit_intercept else "w·x"
    square, rise = ("|x|² + 1", float(x @ x) + 1) if trace.fit_intercept else ("|x|²", float(x @ x))
    before, after = step.activation, rounded_product(np.append(step.w, step.b), np.append(x, 1.0))
    where = "on the wrong side" if before else "on no side"
    now = "on its side" if sign * after > 0 else "on no side" if after == 0 else "still wrong"
    first, second = (true_minus(f"{activation:.4g}") for activation in (before, after))
    return (
        f"Before update {k:,}, row {step.row} of label {shown_name(step.label)}:\n{name} = {first}, {where}",
        f"After: {name} = {second}, {now}\ny·({name}) rose by {square} = {rise:.4g}",
    )


# A run in the plane as an animation. The page that plays it is a self-contained file, whereas matplotlib's own player
# loads a font from the network.

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A run of the perceptron</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 1rem; max-width: {width}px; font: 16px/1.4 system-ui, sans-serif; }}
* {{ box-sizing: border-box; }}
img {{ display: block; width: 100%; height: auto; border: 1px solid #8886; border-radius: 6px; }}
input {{ display: block; width: 100%; margin: .9rem 0; accent-color: #0072B2; }}
nav {{ display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }}
button {{ font: inherit; padding: .45rem clamp(.4rem, 2vw, .8rem); border: 1px solid #8888; border-radius: 6px; }}
#play {{ min-width: 4.5rem; background: #0072B2; border-color: #0072B2; color: #fff; }}
output {{ margin-left: auto; font-variant-numeric: tabular-nums; }}
</style>
</head>
<body>
<main>
<img id="picture" alt="">
<input id="place" type="range" min="0" value="0" aria-label="Frame">
<nav aria-label="Frames">
<button id="first" type="button">First</button>
<button id="back" type="button">Back</button>
<button id="play" type="button">Play</button>
<button id="next" type="button">Next</button>
<button id="last" type="button">Last</button>
<output id="where" for="place"></output>
</nav>
</main>
<script>
const frames = {frames}, interval = {interval};
const part = (name) => document.getElementById(name);
const last = frames.length - 1;
let shown = 0, timer = null;
function show(i) {{
  shown = Math.max(0, Math.min(last, i));
  part("picture").src = frames[shown].picture;
  part("picture").alt = frames[shown].words;
  part("place").value = shown;
  part("where").textContent = `${{shown + 1}} of ${{frames.length}}`;
  part("first").disabled = part("back").disabled = shown === 0;
  part("next").disabled = part("last").disabled = shown === last;
}}
function stop() {{
  clearInterval(timer);
  timer = null;
  part("play").textContent = "Play";
}}
function play() {{
  if (timer !== null) return stop();
  if (shown === last) show(0);
  part("play").textContent = "Pause";
  timer = setInterval(() => {{ show(shown + 1); if (shown === last) stop(); }}, interval);
}}
part("place").max = last;
part("place").oninput = (event) => {{ stop(); show(Number(event.target.value)); }};
part("play").onclick = play;
for (const [name, place] of [["first", () => 0], ["back", () => shown - 1], ["next", () => shown + 1],
  ["last", () => last]]) part(name).onclick = () => {{ stop(); show(place()); }};
show(0);
</script>
</body>
</html>
"""


_LONGEST_FRAME = 600_000  # in milliseconds; the GIF format allows little more


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
    """Animate a run in the plane, with one frame for each update, and optionally write the animation to a file.

    In each frame a ring marks the misclassified row, a dashed line shows the boundary before the update, and the
    boundary and w after the update are drawn. If the two axes have different scales, w is omitted.

    Parameters
    ----------
    trace : Trace
        The result of `rosenblatt.trace`.
    X : {array-like, sparse matrix, data frame} of shape (n, 2)
        The rows that were traced.
    y : array-like of shape (n,)
        Labels of the rows.
    path : str or path-like, default=None
        File to write: a GIF if the path ends in .gif, a self-contained page with buttons if it ends in .html. The file
        is replaced atomically. None writes no file.
    interval : int, default=400
        Milliseconds between two frames, at most ten minutes.
    max_frames : int, default=60
        Maximum number of frames. Of a run with more updates, evenly spaced updates are drawn, including the last one.
        Each frame takes about 0.1 s.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.
    verbose : bool, default=False
        Whether to count the frames on standard error while a file is written.

    Returns
    -------
    animation : matplotlib.animation.FuncAnimation
        The animation. ``IPython.display.HTML(animation.to_jshtml())`` shows it in a notebook.

    See Also
    --------
    plot_update : Draw a single update, before and after.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import trace
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animation = animate(trace(X, y), X, y, f"{folder}/and.gif", max_frames=3)
    """
    ending = _ending(path)
    check_integer("interval", interval, 1, most=_LONGEST_FRAME)
    check_integer("max_frames", max_frames, 1)
    check_boolean("verbose", verbose)
    rows = traced_rows("animate", trace, X, y)
    shown = _steps(trace, max_frames)
    if not shown:
        raise ValueError("animate draws the updates of a run, but this run made none: pass a run with updates.")
    frame, ours = Frame.around(rows.points), ax is None
    ax = axes_for(ax)
    frame.set_limits(ax)
    parts.draw_rows(ax, rows)
    ax.plot([], [], color=ink(), linestyle=BROKEN, linewidth=1.2, label="boundary before")
    still = set(ax.get_children())

    def draw(i: int) -> list[Any]:
        step, before = shown[i]
        for artist in set(ax.get_children()) - still:
            artist.remove()
        line = Line.of(step.w, step.b)
        draw_weights(ax, line, frame)
        parts.draw_rings(ax, rows.points[[step.row]], rows.mark, "row of the update", linewidth=2.0)
        if before is not None:
            parts.draw_line(ax, before, frame, linestyle=BROKEN, linewidth=1.2, zorder=1)
        if line is not None:
            parts.draw_w(ax, line, frame, rows.points)
        ax.set_title(_title(trace, step), fontsize="medium")
        return []

    draw(0)
    parts.finish(ax, _title(trace, shown[0][0]), parts.column_names(X))
    still.add(ax.get_legend())
    if ours:
        ax.figure.set_layout_engine("none")  # keeps the axes in place from frame to frame
    made = parts.import_matplotlib("animation").FuncAnimation(
        ax.figure, draw, frames=len(shown), interval=interval, repeat=False
    )
    if path is not None:
        pictures = _pictures(made, ax.figure.figure, _counting(len(shown)) if verbose else None)
        titles = [_title(trace, step) for step, _ in shown]
        write_atomically(path, [_gif(pictures, interval) if ending == ".gif" else _page(pictures, titles, interval)])
    return made


def _ending(path: Any) -> str:
    """Return the suffix of ``path``, which is ".gif" or ".html", or "" if ``path`` is None.

    Raises an error for any other suffix, and if the folder does not exist.
    """
    if path is None:
        return ""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"expected a path such as 'run.gif' or 'run.html', got {type(path).__name__}.")
    ending = Path(path).suffix.lower()
    if ending not in (".gif", ".html"):
        raise ValueError(f"expected a path that ends in .gif or .html, got {os.fspath(path)!r}: rename the file.")
    folder = Path(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(folder)!r} to write {Path(path).name!r} into: create it first."
        )
    return ending


def _steps(trace: Trace, most: int) -> list[tuple[TracedUpdate, Line | None]]:
    """Return the updates to draw, each with the boundary before it; the boundary is None if the weights were zero."""
    wanted = {i + 1 for i in evenly_spaced(len(trace), most)}
    found, before = [], (np.zeros(2), 0.0)
    for step in trace:
        if step.k in wanted:
            found.append((step, Line.of(*before)))
        before = step.w, step.b
    return found


def _title(trace: Trace, step: TracedUpdate) -> str:
    """Return the title of a frame, with the number of the update and its row."""
    last = step.k == len(trace)
    end = "; then a pass without a mistake" if last and trace.converged else ""
    return (
        f"Update {step.k:,} of {len(trace):,}, pass {step.pass_number:,}\n"
        f"row {step.row:,} of label {shown_name(step.label)} was wrong{end}"
    )


def _counting(n: int) -> Callable[[int, int | None], None]:
    """Return a function that counts ``n`` frames in a single line on standard error."""

    def count(i: int, _: int | None) -> None:
        end = "\n" if i + 1 == n else ""
        print(f"\rframe {i + 1:,} of {n:,}", end=end, file=sys.stderr, flush=True)

    return count


def _pictures(made: Any, figure: Any, on_frame: Callable[[int, int | None], None] | None) -> list[Any]:
    """Return the frames of an animation as Pillow images; each frame is drawn once."""
    from PIL import Image  # a dependency of matplotlib

    before, pictures = figure.canvas, []
    canvas = parts.import_matplotlib("backends.backend_agg").FigureCanvasAgg(figure)

    class Recorder(parts.import_matplotlib("animation").AbstractMovieWriter):  # type: ignore[misc]
        def setup(self, fig: Any, outfile: Any, dpi: float | None = None) -> None:
            pass

        def grab_frame(self, **_: Any) -> None:
            pictures.append(Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB"))

        def finish(self) -> None:
            pass

    try:
        made.save("", writer=Recorder(), progress_callback=on_frame)
    finally:
        figure.set_canvas(before)
    return pictures


def _gif(pictures: list[Any], interval: int) -> bytes:
    """Return the bytes of an animated GIF of the images."""
    written = io.BytesIO()
    pictures[0].save(written, "GIF", save_all=True, append_images=pictures[1:], duration=interval, loop=0)
    return written.getvalue()


def _page(pictures: list[Any], titles: list[str], interval: int) -> bytes:
    """Return an HTML page that plays the images as an animation, with their titles as alternative text."""
    frames = []
    for picture, title in zip(pictures, titles, strict=True):
        one = io.BytesIO()
        picture.save(one, "PNG")
        encoded = base64.b64encode(one.getvalue()).decode()
        words = title.replace("\n", ": ").replace(r"\$", "$")
        frames.append({"picture": f"data:image/png;base64,{encoded}", "words": words})
    listed = json.dumps(frames).replace("<", "\\u003c")  # so that no title can close the script element
    return _PAGE.format(frames=listed, interval=interval, width=pictures[0].width).encode()
