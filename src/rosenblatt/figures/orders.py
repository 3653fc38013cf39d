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
from rosenblatt.figures.by_pass import errors_by_pass
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import Axes, import_matplotlib, tidy
from rosenblatt.plots.orders import LOOKS as ORDER_LOOKS
from rosenblatt.theory.words import true_minus

SPLITS, PASSES = 6, 30  # of the curves above
SEEDS, MOST_PASSES = 32, 3000  # of the runs below
FRESH = 1000  # the first seed: smaller ones were used to choose the sets
SHUFFLE: dict[str, Any] = {"fixed": False, "shuffled once": "once", "anew each pass": True}
LOOKS = dict(zip(SHUFFLE, ORDER_LOOKS, strict=False))


def figure_4_4() -> Shown:
    """Draw the errors of three orders by pass and, below, how many passes eight separable sets take."""
    picture = blank(5.4, 5.8)
    panels = picture.subplot_mosaic([["training", "test"], ["passes", "passes"]], height_ratios=[1, 1.3])
    numbers: dict[str, Any] = {"splits": SPLITS, "passes": PASSES, "seeds": SEEDS}
    for order, errors in errors_by_order().items():
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
    numbers["sets"] = {name: compare(*runs.values()) for name, runs in sets.items()}
    draw_passes(panels["passes"], sets, numbers["sets"])
    numbers |= summary(numbers["sets"])
    picture.legend(*panels["test"].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return Shown(picture, caption(numbers), numbers)


def summary(sets: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what shuffling anew saves over all sets, on how many it clearly does, and where the longest run gains."""
    savings = [found["saving"] for found in sets.values()]
    clear = [found["saving"] for found in sets.values() if found["range"][0] > 0]
    gains = {name: found["longest_once"] / found["longest_anew"] for name, found in sets.items()}
    return {
        "n_sets": len(sets),
        "median_saving": float(np.median(savings)),
        "savings": [min(savings), max(savings)],
        "clear": len(clear),
        "clear_savings": [min(clear, default=0.0), max(clear, default=0.0)],
        "costly": sum(found["range"][1] < 0 for found in sets.values()),
        "shorter": sum(gain > 1 for gain in gains.values()),
        "most_shortened": max(gains, key=lambda name: gains[name]),
    }


def caption(numbers: dict[str, Any]) -> str:
    """Return the caption, with words that say what the numbers do."""
    clear, costly, n = numbers["clear"], numbers["costly"], numbers["n_sets"]
    saved = " ({clear_savings[0]:.0f}% to {clear_savings[1]:.0f}%)" if clear else ""
    words = f"It is clearly above zero on {clear or 'none'} of them{saved}, clearly below on {costly or 'none'}"
    words += " and could be either on the others. " if clear + costly < n else ". "
    if numbers["shorter"]:
        longest = numbers["sets"][numbers["most_shortened"]]
        words += (
            'The longest run is shorter with new shuffles on {shorter} of the {n_sets}, most so on "{most_shortened}": '
            f"{longest['longest_anew']:,} passes, and {longest['longest_once']:,} where one unlucky order came again "
            "in every pass."
        )
    else:
        words += "The longest run is shorter with new shuffles on none of the {n_sets}."
    return (
        "Above: is a handwritten digit a six? Mean errors over {splits} random halves of 1,797 digits. With all sixes "
        "first and that order kept, {fixed[test]:.1f}% of the test digits are wrong after {passes} passes; shuffled "
        "once it is {shuffled_once[test]:.1f}%, shuffled anew for each pass {anew_each_pass[test]:.1f}%. Below: passes "
        "until one has no mistake, on {n_sets} separable sets with {seeds} seeds each; a bar spans the middle half of "
        "the runs, its mark is the median, a line all runs; beside, what new shuffles save of the median, with the "
        "range that holds it in 90% of resamplings. The median saving is {median_saving:.0f}% (from {savings[0]:.0f}% "
        f"to {{savings[1]:.0f}}%), and the text says about 20%. {words}"
    )


def errors_by_order() -> dict[str, np.ndarray]:
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
                training = X[sixes_first], y[sixes_first]
                errors[order][:, split] = errors_by_pass(model, training, (X_test, y_test), PASSES)
    return errors


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


def draw_passes(ax: Axes, sets: dict[str, dict[str, np.ndarray]], found: dict[str, dict[str, Any]]) -> None:
    """Draw for each set and order the middle half of the runs, their median, and the longest; write what is saved."""
    for i, (name, runs) in enumerate(sets.items()):
        for order, passes in runs.items():
            colour, _, marker = LOOKS[order]
            height = i - 0.17 if order == "shuffled once" else i + 0.17
            low, middle, high = np.percentile(passes, [25, 50, 75])
            ax.plot([passes.min(), passes.max()], [height, height], color=colour, linewidth=0.9)
            ax.plot([low, high], [height, height], color=colour, linewidth=5, alpha=0.45, solid_capstyle="butt")
            ax.plot(middle, height, marker, color=colour, markersize=5)
        low, high = found[name]["range"]
        words = true_minus(f"{found[name]['saving']:.0f}% ({low:.0f} to {high:.0f})")
        ax.annotate(words, (1.02, i), xycoords=("axes fraction", "data"), va="center", fontsize="small")
    ax.set_yticks(range(len(sets)), [name.replace(", ", ",\n") for name in sets], fontsize="small")
    ax.annotate("saved", (1.02, 1.02), xycoords="axes fraction", fontsize="small")
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="passes until one has no mistake (logarithmic)")
    ticker = import_matplotlib("ticker")
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
    ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    ax.minorticks_off()
    tidy(ax)
