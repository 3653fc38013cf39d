"""The pictures of three pages: ``python -m benchmarks.pictures`` draws them anew into docs/images."""

from __future__ import annotations

import argparse
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.comparison import LEARNERS
from benchmarks.drift import draw_drift
from benchmarks.workloads import ROOT
from rosenblatt import Perceptron, dataset_margin, margin
from rosenblatt.data import make_xor
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane_parts import BROKEN, Frame, Line, Regions, Rows, draw_line, draw_regions, draw_rows

SHOWN = {
    "Perceptron": "Perceptron",
    "Averaged": "Averaged\nperceptron",
    "Kernel": "Kernel perceptron\n(Gaussian)",
    "Logistic": "Logistic\nregression",
    "Tree": "Decision\ntree",
    "Neighbours": "Nearest\nneighbours",
}
"""The learners whose boundaries are drawn, and what they are called there."""
COLOURS = 192
DRAWN, NEW = 200, 1000
"""Rows that are learned and drawn, and rows of the same kind that are only predicted."""
THREE_POINTS = np.array([[3.0, 4.0], [0.0, 4.0], [1.0, 0.0]]), np.array([1, 1, -1])
"""The example of docs/margins.md: the three margins of these points are 2, 1 and the root of a half."""


def plane_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return three sets of two features: one for a line, two for which a line will not do."""
    clouds = make_blobs(DRAWN + NEW, centers=[(-1, -1), (1, 1)], cluster_std=1.0, random_state=0)
    return {
        "two clouds": clouds,
        "moons": make_moons(DRAWN + NEW, noise=0.2, random_state=0),
        "XOR": make_xor(DRAWN + NEW, noise=0.35, random_state=0),
    }


def draw_boundaries() -> Figure:
    """Draw what each learner answers where: a row for each learner, a column for each set."""
    sets = plane_sets()
    figure = Figure(figsize=(6.4, 10.4), layout="constrained")
    axes = figure.subplots(len(SHOWN), len(sets), squeeze=False)
    for line, learner in zip(axes, SHOWN, strict=True):
        for ax, (name, (rows, labels)) in zip(line, sets.items(), strict=True):
            X, y = rows[:DRAWN], labels[:DRAWN]
            model = make_pipeline(StandardScaler(), LEARNERS[learner](0))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y)
            frame = Frame.around(X)
            positive = model.predict(frame.places()) == model.classes_[1]
            draw_regions(ax, Regions.beside(frame, np.where(positive, 1.0, -1.0)))
            draw_rows(ax, Rows(X, y, model.classes_))
            ax.set(xticks=[], yticks=[], xlabel="", ylabel="", aspect="auto")
            title = f"{model.score(rows[DRAWN:], labels[DRAWN:]):.0%} of new rows right"
            ax.set_title(f"{name}\n{title}" if learner == next(iter(SHOWN)) else title, fontsize=8)
        line[0].set_ylabel(SHOWN[learner], fontsize=10)
    return figure


def draw_margins() -> Figure:
    """Draw the separators that attain the three margins of three points, and the one that a run ends with."""
    X, y = THREE_POINTS
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    titles = {
        "geometric": "Geometric margin: {size:.3g}\nthe widest gap of any line",
        "augmented": "Augmented margin: {size:.3g}\n(the distance drawn is {drawn:.3g})",
        "homogeneous": "Homogeneous margin: {size:.3g}\nthe widest gap of a line through 0",
    }
    for ax, (kind, title) in zip(axes, titles.items(), strict=False):
        found = dataset_margin(X, y, kind)
        _draw_line(ax, X, y, found.w, found.b)
        ax.set_title(title.format(size=found.low, drawn=margin(X, y, found.w, found.b)), fontsize=9)
    run = Perceptron(shuffle=False).fit(X, y)
    _draw_line(axes[3], X, y, run.coef_[0], run.intercept_[0])
    drawn = margin(X, y, run.coef_, run.intercept_)
    title = f"A perceptron's last line: {drawn:.3g}\n(augmented: {run.report_.margin_low:.3g})"
    axes[3].set_title(title, fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure


def _draw_line(ax: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> None:
    """Draw the points, the line w . x + b = 0, and from the nearest points to it how far it is."""
    line = Line.of(w, b)
    assert line is not None
    distances = y * line.distance(X)
    draw_line(ax, line, Frame.around(X), linewidth=1.6, label="w · x + b = 0")
    for place, point in enumerate(X[distances <= distances.min() * (1 + 1e-9)]):
        ends = zip(point, line.nearest_to(point), strict=True)
        label = "distance of the nearest" if place == 0 else None
        ax.plot(*ends, color=DARK, linewidth=1.2, linestyle=BROKEN, label=label)
    draw_rows(ax, Rows(X, y, np.array([-1, 1])))
    ax.plot(0, 0, "+", color=DARK, markersize=8, linestyle="", label="origin")
    ax.set(xlim=(-1.6, 4.6), ylim=(-1, 5.2), aspect="equal", xticks=range(-1, 5), yticks=range(-1, 6))
    ax.set_xlabel("x1", fontsize=8)
    ax.set_ylabel("x2", fontsize=8)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    """Write the picture in few colours, which keeps the file small."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=100)
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(path, optimize=True)


PICTURES = {"boundaries": draw_boundaries, "margins": draw_margins, "drift": draw_drift}


def main() -> None:
    """Draw the pictures that are asked for, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(PICTURES)}; all if none is named")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images", help="the folder to draw into")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in PICTURES:
            parser.error(f"no picture is called {name!r}; there are {', '.join(PICTURES)}")
    for name in arguments.names or PICTURES:
        path = arguments.out / f"{name}.png"
        save(PICTURES[name](), path)
        print(f"Drawn: {path}")


if __name__ == "__main__":
    main()
