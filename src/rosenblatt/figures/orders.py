"""What the visiting order does: fixed, shuffled once, shuffled anew for each pass (CIML figure 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rosenblatt.data.generators import make_separable
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE, Axes, tidy, whole_ticks

SEEDS, MOST_PASSES = 40, 3000
SPLITS, SHOWN_PASSES = 10, 30
ORDERS = {"fixed": (False, ORANGE, ":"), "shuffled once": ("once", DARK, "--"), "anew each pass": (True, BLUE, "-")}


def figure_4_4() -> Shown:
    """Draw the errors of three orders by pass, and how many passes separable sets need."""
    picture = blank(5.2, 6.0)
    panels = picture.subplot_mosaic([["training", "test"], ["passes", "passes"]], height_ratios=[1, 1.25])
    numbers: dict[str, Any] = {"seeds": SEEDS, "splits": SPLITS, "pass_number": SHOWN_PASSES}
    for order, errors in errors_of_orders().items():
        _, colour, dash = ORDERS[order]
        for ax, kind in zip((panels["training"], panels["test"]), errors, strict=True):
            ax.plot(np.arange(1, SHOWN_PASSES + 1), kind.mean(axis=0), dash, color=colour, label=order)
        numbers[order.replace(" ", "_")] = {
            "training": errors[0][:, [0, -1]].mean(axis=0).tolist(),
            "test": errors[1][:, [0, -1]].mean(axis=0).tolist(),
        }
    for name in ("training", "test"):
        panels[name].set(xlabel="passes over the data", ylabel=f"{name} error (%)", ylim=0)
        whole_ticks(panels[name], y=False)
        tidy(panels[name])
    found = passes_until_clean()
    draw_passes(panels["passes"], found)
    numbers["sets"] = {name: summary(*runs) for name, runs in found.items()}
    savings = [row["saving"] for row in numbers["sets"].values()]
    numbers["median_saving"], numbers["least_saving"], numbers["most_saving"] = (
        float(np.median(savings)),
        min(savings),
        max(savings),
    )
    picture.legend(*panels["test"].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return Shown(picture, CAPTION, numbers)


CAPTION = "{median_saving}"


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray, bool]]:
    """Yield separable sets, with whether a bias is learned: one digit against all others, and planted margins."""
    digits = load_digits()
    for digit in (0, 4, 5, 6, 7):
        yield f"digit {digit}", digits.data, digits.target == digit, True
    for n, d, margin in ((1000, 20, 0.02), (300, 5, 0.01)):
        X, y = make_separable(n, d, margin, random_state=0)
        yield f"planted {n}×{d}", X, y, False


def passes_until_clean() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return for each set the passes of runs of many seeds, shuffled once and anew each pass."""
    return {
        name: tuple(
            np.array([
                Perceptron(shuffle=order, random_state=seed, max_iter=MOST_PASSES, fit_intercept=bias).fit(X, y).n_iter_
                for seed in range(SEEDS)
            ])
            for order in ("once", True)
        )
        for name, X, y, bias in sets()
    }  # fmt: skip


def summary(once: np.ndarray, anew: np.ndarray) -> dict[str, float]:
    return {
        "once": float(np.median(once)),
        "anew": float(np.median(anew)),
        "saving": float(100 * (1 - np.median(anew) / np.median(once))),
        "mean_saving": float(100 * (1 - anew.mean() / once.mean())),
        "longest_once": int(once.max()),
        "longest_anew": int(anew.max()),
    }


def errors_of_orders() -> dict[str, np.ndarray]:
    """Return training and test errors in percent of each order, a row for each split and a column for each pass."""
    digits = load_digits()
    errors = {name: np.empty((2, SPLITS, SHOWN_PASSES)) for name in ORDERS}
    for seed in range(SPLITS):
        X, X_test, y, y_test = train_test_split(digits.data, digits.target == 6, test_size=0.5, random_state=seed)
        sixes_first = np.argsort(~y, kind="stable")
        for name, (shuffle, _, _) in ORDERS.items():
            model = Perceptron(shuffle=shuffle, random_state=seed, max_iter=SHOWN_PASSES)
            table = model.score_by_pass(X[sixes_first], y[sixes_first], X_test, y_test)
            for kind, column in enumerate(("training_error", "test_error")):
                found = table[column]
                errors[name][kind, seed] = found + found[-1:] * (SHOWN_PASSES - len(found))
    return {name: 100 * found for name, found in errors.items()}


def draw_passes(ax: Axes, found: dict[str, Any]) -> None: 
    pass
