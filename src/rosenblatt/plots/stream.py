"""Plot of the running errors of several learners on a stream, as ``rosenblatt watch --json`` prints them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rosenblatt.messages import shorten
from rosenblatt.plots.axes import Axes, axes_for, closes_on_error, shown_name, tidy


@closes_on_error
def plot_stream(results: Mapping[str, str | os.PathLike[str] | Iterable[str]], ax: Axes | None = None) -> Axes:
    """Draw the error in the window of the last rows, over the rows of a stream, with a line for each learner.

    Parameters
    ----------
    results : dict
        For each learner by name, the lines that ``rosenblatt watch --json`` printed, or the name of a file with them.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    Examples
    --------
    >>> ax = plot_stream({"pa": ['{"rows": 1000, "recent_rate": 0.2}', '{"rows": 2000, "recent_rate": 0.1}']})
    >>> ax.get_lines()[0].get_xydata()
    array([[1000.,   20.],
           [2000.,   10.]])
    """
    ax = axes_for(ax)
    for name, given in results.items():
        lines = Path(given).read_text(encoding="utf-8").splitlines() if isinstance(given, str | os.PathLike) else given
        points = [_point(line) for line in lines if line.strip()]
        ax.plot([rows for rows, _ in points], [100.0 * share for _, share in points], label=shown_name(name))
    ax.set(xlabel="rows", ylabel="errors in percent, last rows", ylim=(0, None))
    if results:
        ax.legend(fontsize="small", frameon=False)
    tidy(ax)
    return ax


def _point(line: str) -> tuple[float, float]:
    """Return the number of rows and the recent error in a line."""
    try:
        found: dict[str, Any] = json.loads(line)
        return float(found["rows"]), float(found["recent_rate"])
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            f"expected the lines of results that watch prints as JSON, got {shorten(line)}: give these lines, or "
            "a file with them."
        ) from None
