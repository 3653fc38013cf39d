"""Training and test error by pass, and where test error turns (CIML figure 4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.features.combinations import Combinations
from rosenblatt.figures.by_pass import errors_by_pass
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, tidy, whole_ticks
from rosenblatt.theory.words import true_minus

SPLITS, PASSES = 24, 40
FRESH = 1000  # the first seed: smaller ones were used to choose data and features


def figure_4_3() -> Shown:
    """Train on half of the patients, test on the other half, and do so for many ways to halve them."""
    patients, tumours = load_diabetes(), load_breast_cancer()
    triples = make_pipeline(StandardScaler(), Combinations(degree=3), StandardScaler())
    cases = {
        "diabetes": (patients.data, patients.target > np.median(patients.target), triples),
        "tumours": (tumours.data, tumours.target, make_pipeline(StandardScaler())),
    }
    picture = blank(5.2, 5.2)
    panels = picture.subplots(2, 2, sharex=True, sharey="row")
    numbers: dict[str, Any] = {"splits": SPLITS, "passes": PASSES, "measured_on": SPLITS // 2}
    for row, (name, case) in zip(panels, cases.items(), strict=True):
        row[0].set_ylabel(f"{name}: error (%)")
        for ax, learner in zip(row, (Perceptron, AveragedPerceptron), strict=True):
            training, test = errors_by_split(learner, *case)
            draw_errors(ax, training, "-", BLUE, "training error")
            draw_errors(ax, test, "--", ORANGE, "test error")
            found = find_turn(test)
            ax.axvline(found["turn"], color=DARK, linestyle=":", label="pass chosen on half of the splits")
            rise = true_minus(f"{found['rise']:+.1f} ± {found['error']:.1f}")
            title = f"{learner.__name__}\ntest error after pass {found['turn']}: {rise}"
            ax.set_title(title, fontsize="small")
            numbers[f"{name}_{'average' if learner is AveragedPerceptron else 'last'}"] = found | {
                "training": training[:, [0, -1]].mean(axis=0).tolist(),
                "test": test[:, [0, -1]].mean(axis=0).tolist(),
            }
    for ax in panels[1]:
        ax.set_xlabel("passes over the training data")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return Shown(picture, caption(numbers), numbers)


def caption(numbers: dict[str, Any]) -> str:
    """Return the caption, with words that say what the numbers do."""
    words = {
        name: change_words(numbers[name])
        for name in ("diabetes_last", "diabetes_average", "tumours_last", "tumours_average")
    }
    return (
        "Above: did the diabetes of 442 patients get worse than the median, from ten measurements and the products of "
        "up to three of them? Training error goes from {diabetes_last[training][0]:.0f}% to "
        "{diabetes_last[training][1]:.0f}%. Test error, from its lowest after pass {diabetes_last[turn]} to pass "
        f"{{passes}}, {words['diabetes_last']}; by averaged weights, from pass {{diabetes_average[turn]}} on, it "
        f"{words['diabetes_average']}. The lowest is found on half of {{splits}} random splits and the change measured "
        "on the other {measured_on}. Most sets of data do not turn: these were chosen, on other splits. Below: benign "
        f"and malignant tumours, from 30 measurements. Here test error {words['tumours_last']}, by averaged weights it "
        f"{words['tumours_average']}. After the last pass averaged weights are wrong on {{diabetes_average[test][1]:"
        ".1f}% of the patients held out, the last weights on {diabetes_last[test][1]:.1f}%; of the tumours on "
        "{tumours_average[test][1]:.1f}% and {tumours_last[test][1]:.1f}%. Bands are one standard error wide each way."
    )


def change_words(found: dict[str, Any]) -> str:
    """Return what test error does after its lowest pass: where it changes by two standard errors, whether it rises.

    >>> change_words({"rise": 2.0, "error": 0.5}), change_words({"rise": -2.0, "error": 0.5})
    ('rises by 2.0 ± 0.5 percentage points', 'falls by 2.0 ± 0.5 percentage points')
    >>> change_words({"rise": 0.4, "error": 0.5})
    'changes by +0.4 ± 0.5, less than two standard errors'
    """
    rise, error = found["rise"], found["error"]
    if abs(rise) < 2 * error:
        return f"changes by {rise:+.1f} ± {error:.1f}, less than two standard errors"
    return f"{'rises' if rise > 0 else 'falls'} by {abs(rise):.1f} ± {error:.1f} percentage points"


def errors_by_split(learner: type, X: np.ndarray, y: np.ndarray, steps: Pipeline) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test error in percent, a row for each split and a column for each pass."""
    found = []
    for seed in range(FRESH, FRESH + SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        X_train = steps.fit_transform(X_train)
        model = learner(max_iter=PASSES, random_state=seed)
        found.append(errors_by_pass(model, (X_train, y_train), (steps.transform(X_test), y_test), PASSES))
    training, test = np.array(found).transpose(1, 0, 2)
    return training, test


def find_turn(test: np.ndarray) -> dict[str, Any]:
    """Return the pass of lowest test error, found on every other split, and its rise until the last on the rest."""
    turn = int(test[::2].mean(axis=0).argmin())
    rises = test[1::2, -1] - test[1::2, turn]
    error = rises.std(ddof=1) / len(rises) ** 0.5
    return {"turn": turn + 1, "rise": float(rises.mean()), "error": float(error), "rose": int((rises > 0).sum())}


def draw_errors(ax: Axes, errors: np.ndarray, dash: str, colour: str, label: str) -> None:
    """Draw the mean of several runs by pass, with a band of its standard error."""
    passes = np.arange(1, errors.shape[1] + 1)
    mean, error = errors.mean(axis=0), errors.std(axis=0, ddof=1) / len(errors) ** 0.5
    ax.plot(passes, mean, dash, color=colour, label=label)
    ax.fill_between(passes, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0)
    ax.set_ylim(0, max(1.1 * mean.max(), ax.get_ylim()[1]))
    whole_ticks(ax, y=False)
    tidy(ax)
