"""What the visiting order does: fixed, shuffled once, shuffled anew for each pass (CIML figure 4.4)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rosenblatt.data.generators import make_separable
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, tidy

SPLITS, PASSES = 6, 30  # of the curves above
SEEDS, MOST_PASSES = 32, 3000  # of the runs below
LOOKS = {"fixed": (ORANGE, ":", "^"), "shuffled once": (DARK, "--", "s"), "anew each pass": (BLUE, "-", "o")}
FRESH = 1000  # the first seed: smaller ones were used to choose the sets
SHUFFLE: dict[str, Any] = {"fixed": False, "shuffled once": "once", "anew each pass": True}


def figure_4_4() -> Shown:
    """Draw the errors of three orders by pass and, below, how many passes eight separable sets take."""
    picture = blank(5.4, 5.8)
    panels = picture.subplot_mosaic([["training", "test"], ["passes", "passes"]], height_ratios=[1, 1.3])
    numbers: dict[str, Any] = {"splits": SPLITS, "passes": PASSES, "seeds": SEEDS}
    for order, errors in errors_by_pass().items():
        colour, dash, marker = LOOKS[order]
        for ax, values in zip((panels["training"], panels["test"]), errors.mean(axis=1), strict=True):
            look = {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4, "markevery": 5}
            ax.plot(np.arange(1, PASSES + 1), values, **look, label=order)
        numbers[order.replace(" ", "_")] = {"training": errors[0, :, -1].mean(), "test": errors[1, :, -1].mean()}
    for kind in ("training", "test"):
        panels[kind].set(xlabel="passes over the data", ylabel=f"{kind} error (%)", ylim=0)
        panels[kind].set_xticks(range(0, PASSES + 1, 10))
        tidy(panels[kind])
    sets = {
        name: {order: passes_taken(order, X, y, bias) for order in ("shuffled once", "anew each pass")}
        for name, X, y, bias in separable_sets()
    }
    draw_passes(panels["passes"], sets)
    numbers["sets"] = {name: compare(*runs.values()) for name, runs in sets.items()}
    found = numbers["sets"].values()
    savings, clear = [row["saving"] for row in found], [row["saving"] for row in found if row["range"][0] > 0]
    numbers |= {
        "n_sets": len(savings),
        "median_saving": float(np.median(savings)),
        "savings": [min(savings), max(savings)],
    }
    numbers |= {"clear": len(clear), "clear_savings": [min(clear, default=0.0), max(clear, default=0.0)]}
    numbers["costly"] = sum(row["range"][1] < 0 for row in found)
    numbers["shorter"] = sum(row["longest_anew"] < row["longest_once"] for row in found)
    picture.legend(*panels["test"].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    caption = (
        "Above: is a handwritten digit a six? Mean errors over {splits} random halves of 1,797 digits. With all sixes "
        "first and that order kept, {fixed[test]:.1f}% of the test digits are wrong after {passes} passes; shuffled "
        "once it is {shuffled_once[test]:.1f}%, shuffled anew for each pass {anew_each_pass[test]:.1f}%. Below: passes "
        "until one has no mistake, on {n_sets} separable sets with {seeds} seeds each; a bar spans the middle half of "
        "the runs, its mark is the median, a line all runs; beside, what new shuffles save of the median, with the "
        "range that holds it in 90% of resamplings. The median saving is {median_saving:.0f}% (from {savings[0]:.0f}% "
        "to {savings[1]:.0f}%), and the text says about 20%. The range is above zero on {clear} of the sets, which "
        "save {clear_savings[0]:.0f}% to {clear_savings[1]:.0f}%, below zero on {costly}, and holds zero on the "
        "others. The longest run is shorter with new shuffles on {shorter} of the {n_sets}: one unlucky order, met "
        "again in every pass, took {sets[planted, 5 features][longest_once]:,} passes on 300 planted points, where the "
        "longest run with new ones took {sets[planted, 5 features][longest_anew]:,}; on 200 points of 50 features it "
        "was {sets[planted, 50 features][longest_once]:,} and {sets[planted, 50 features][longest_anew]:,}."
    )
    return Shown(picture, caption, numbers)


def errors_by_pass() -> dict[str, np.ndarray]:
    """Return for each order the training and the test error in percent, by split and pass."""
    digits = load_digits()
    errors = {order: np.empty((2, SPLITS, PASSES)) for order in SHUFFLE}
    for split in range(SPLITS):
        seed = FRESH + split
        X, X_test, y, y_test = train_test_split(digits.data, digits.target == 6, test_size=0.5, random_state=seed)
        sixes_first = np.argsort(~y, kind="stable")
        for order, shuffle in SHUFFLE.items():
            model = Perceptron(shuffle=shuffle, random_state=seed, max_iter=PASSES)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that rows sorted by class teach little, as is shown here
                table = model.score_by_pass(X[sixes_first], y[sixes_first], X_test, y_test)
            for kind, column in enumerate(("training_error", "test_error")):
                found = table[column]
                errors[order][kind, split] = found + found[-1:] * (PASSES - len(found))  # nothing changes any more
    return {order: 100 * found for order, found in errors.items()}


def separable_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray, bool]]:
    """Yield sets, with whether a bias is learned: a digit against all others, and points of a planted margin."""
    digits = load_digits()
    for digit in (0, 4, 5, 6, 7):
        yield f"digit {digit}", digits.data, digits.target == digit, True
    yield "planted, 20 features", *make_separable(1000, 20, margin=0.02, random_state=0), False
    yield "planted, 5 features", *make_separable(300, 5, margin=0.01, random_state=0), False
    yield "planted, 50 features", *make_separable(200, 50, margin=0.02, random_state=0), False


def passes_taken(order: str, X: np.ndarray, y: np.ndarray, bias: bool) -> np.ndarray:
    """Return how many passes the runs of many seeds take until one makes no mistake."""
    options: dict[str, Any] = {"shuffle": SHUFFLE[order], "max_iter": MOST_PASSES, "fit_intercept": bias}
    return np.array([Perceptron(random_state=seed, **options).fit(X, y).n_iter_ for seed in FRESH + np.arange(SEEDS)])


def compare(once: np.ndarray, anew: np.ndarray) -> dict[str, Any]:
    """Return the passes of the median run and of the longest one, and what shuffling anew saves, in percent.

    The range holds the saving of the median in 90% of resamplings of the runs.
    """
    rng = np.random.default_rng(0)
    medians = [np.median(rng.choice(runs, (2000, len(runs))), axis=1) for runs in (once, anew)]
    return {
        "once": float(np.median(once)),
        "anew": float(np.median(anew)),
        "saving": float(100 * (1 - np.median(anew) / np.median(once))),
        "range": np.percentile(100 * (1 - medians[1] / medians[0]), [5, 95]).tolist(),
        "mean_saving": float(100 * (1 - anew.mean() / once.mean())),
        "longest_once": int(once.max()),
        "longest_anew": int(anew.max()),
    }


def draw_passes(ax: Axes, sets: dict[str, dict[str, np.ndarray]]) -> None:
    """Draw for each set and order the middle half of the runs, their median, and the longest."""
    for i, runs in enumerate(sets.values()):
        for order, passes in runs.items():
            colour, _, marker = LOOKS[order]
            height = i - 0.17 if order == "shuffled once" else i + 0.17
            low, middle, high = np.percentile(passes, [25, 50, 75])
            ax.plot([passes.min(), passes.max()], [height, height], color=colour, linewidth=0.9)
            ax.plot([low, high], [height, height], color=colour, linewidth=5, alpha=0.45, solid_capstyle="butt")
            ax.plot(middle, height, marker, color=colour, markersize=5)
        found = compare(*runs.values())
        words = f"{found['saving']:.0f}% ({found['range'][0]:.0f} to {found['range'][1]:.0f})".replace(
            "-", "\N{MINUS SIGN}"
        )
        ax.annotate(words, (1.02, i), xycoords=("axes fraction", "data"), va="center", fontsize="small")
    ax.set_yticks(range(len(sets)), [name.replace(", ", ",\n") for name in sets], fontsize="small")
    ax.annotate("saved", (1.02, 1.02), xycoords="axes fraction", fontsize="small")
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="passes until one has no mistake (logarithmic)")
    ticks = [5, 10, 20, 50, 100, 200, 500, 1500]
    ax.set_xticks(ticks, list(map(str, ticks)))
    ax.minorticks_off()
    tidy(ax)
