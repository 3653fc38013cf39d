"""The picture of docs/drift.md: errors as the rows of a made stream go by, a line for each learner."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.drift import LEARNERS
from benchmarks.drift_learners import wrong_rows
from benchmarks.drift_streams import FLIPPED, Stream, make_stream
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE

DRAWN = ("abrupt", "gradual", "turning")
WINDOW = 500
"""The rows up to each row whose errors are drawn there."""
LINES = {
    "`Perceptron()`": ("the last weights", ORANGE, "-"),
    "`AveragedPerceptron()`": ("their average", BLUE, "-"),
    "`AveragedPerceptron(decay=0.01)`": ("average, decay 0.01", GREEN, "-"),
    "`AROW(r=1)`": ("AROW", DARK, ":"),
}
"""The learners that are drawn: what they are called there, colour and style."""


def running_error(wrong: np.ndarray, window: int = WINDOW) -> np.ndarray:
    """Return for each row but the first ones the share of errors among the ``window`` rows that end with it."""
    sums = np.concatenate([[0], np.cumsum(wrong)])
    return (sums[window:] - sums[:-window]) / window


def draw_drift(streams: list[Stream] | None = None) -> Figure:
    """Draw the errors of the last `WINDOW` rows over the rows of a stream, a picture for each kind of drift."""
    streams = [make_stream(name, 0) for name in DRAWN] if streams is None else streams
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    axes = figure.subplots(1, len(streams), sharey=True, squeeze=False)[0]
    for ax, stream in zip(axes, streams, strict=True):
        for name, (label, colour, style) in LINES.items():
            errors = 100 * running_error(wrong_rows(LEARNERS[name](stream), stream))
            ax.plot(np.arange(WINDOW, len(stream.y) + 1), errors, style, color=colour, linewidth=1.3, label=label)
        ax.axhline(100 * FLIPPED, color=DARK, linewidth=0.8, linestyle="--", label="the least possible")
        ax.set_title(stream.name, fontsize=10)
        ax.set(xlim=(0, len(stream.y)), ylim=(0, 100), xticks=[0, len(stream.y) // 2, len(stream.y)])
        ax.set_xlabel("rows", fontsize=8)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"errors in percent, last {WINDOW} rows", fontsize=8)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure
