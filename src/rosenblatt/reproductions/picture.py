"""Test errors by epoch: a panel for each degree. Lines differ in dashes and marks as well as in colour."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rosenblatt.parameters import ParameterError
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, import_matplotlib, tidy
from rosenblatt.storage.atomic import write_atomically

_STYLES = {
    "last": {"color": ORANGE, "linestyle": ":", "marker": "^"},
    "average": {"color": BLUE, "linestyle": "--", "marker": "s"},
    "vote": {"color": DARK, "linestyle": "-", "marker": "o"},
}
_LOGARITHMIC_FROM = 4.0  # where the largest error is so many times the smallest
_DECADES = (0.001, 0.01, 0.1, 1, 10, 100)
_MANY, _FEW, _FEW_FROM = (1, 2, 3, 5, 8), (1, 2, 5), 50.0  # ticks of a decade, fewer from that ratio on
_MOST_ACROSS = 3
Rows = Sequence[Mapping[str, Any]]


def draw_figure(by_degree: Mapping[int, Rows], title: str, path: str | os.PathLike[str] | None) -> list[Axes]:
    """Draw all panels in a new figure, written to ``path`` if there is one; return their axes."""
    across = min(len(by_degree), _MOST_ACROSS if len(by_degree) != 4 else 2)
    down = math.ceil(len(by_degree) / across)
    size = {"figsize": (4.4 * across + 0.6, 3.6 * down + 0.8), "layout": "constrained"}
    # with a path no window is needed, whatever the screen
    figure = import_matplotlib("pyplot").figure(**size) if path is None else import_matplotlib("figure").Figure(**size)
    panels = list(figure.subplots(down, across, squeeze=False, sharey=True).flat)
    for empty in panels[len(by_degree) :]:
        empty.remove()
    panels = draw_panels(by_degree, panels[: len(by_degree)])
    figure.suptitle(title.rstrip("."), fontsize=11)
    if path is not None:
        picture = io.BytesIO()
        figure.savefig(picture, format=Path(path).suffix.lstrip(".") or "png", dpi=120)
        write_atomically(path, [picture.getvalue()])
    return panels


def draw_panels(by_degree: Mapping[int, Rows], where: Axes | Sequence[Axes]) -> list[Axes]:
    """Draw a panel for each degree on axes of its own; return these."""
    panels: list[Axes] = [where] if hasattr(where, "plot") else list(where)
    if len(panels) != len(by_degree):
        raise ParameterError(
            f"a picture of {len(by_degree)} degrees needs so many axes, got {len(panels)}: "
            "leave them out for a new figure."
        )
    errors = [row[name] for rows in by_degree.values() for row in rows for name in _STYLES]
    ratio = max(errors) / min(errors) if min(errors) > 0 else 1.0  # no error at all has no logarithm
    for ax, (degree, rows) in zip(panels, by_degree.items(), strict=True):
        _draw_lines(ax, rows)
        ax.set(title=f"degree {degree}", xlabel="epoch (logarithmic)", ylabel="test error (%)", xscale="log")
        _set_ticks(ax.xaxis, [row["epoch"] for row in rows])
        if ratio >= _LOGARITHMIC_FROM:
            ax.set(ylabel="test error (%, logarithmic)", yscale="log")
            _set_ticks(ax.yaxis, [ten * digit for ten in _DECADES for digit in (_MANY if ratio < _FEW_FROM else _FEW)])
    limits = [limit for ax in panels for limit in ax.get_ylim()]
    for ax in panels:
        ax.set_ylim(min(limits), max(limits))
    return panels


def _draw_lines(ax: Axes, rows: Rows) -> None:
    """Draw errors by epoch, with open marks where the paper has a number."""
    epochs = [row["epoch"] for row in rows]
    for name, style in _STYLES.items():
        ax.plot(epochs, [row[name] for row in rows], label=name, markersize=5, linewidth=1.5, **style)
    for name in ("average", "vote"):
        known = [(row["epoch"], row[f"paper {name}"]) for row in rows if row[f"paper {name}"] is not None]
        if known:
            style = {"color": _STYLES[name]["color"], "marker": _STYLES[name]["marker"], "linestyle": ""}
            ax.plot(*zip(*known, strict=True), label=f"paper: {name}", markersize=11, fillstyle="none", **style)
    ax.legend(frameon=False)
    tidy(ax)


def _set_ticks(axis: Any, ticks: Sequence[float]) -> None:
    """Put ticks at these places of a logarithmic axis and no others, with plain numbers."""
    ticker = import_matplotlib("ticker")
    axis.set_major_locator(ticker.FixedLocator(ticks))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))
