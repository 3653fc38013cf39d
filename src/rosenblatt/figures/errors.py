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
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, tidy, whole_ticks

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
            training, test = errors_by_pass(learner, *case)
            draw_errors(ax, training, "-", BLUE, "training error")
            draw_errors(ax, test, "--", ORANGE, "test error")
            found = find_turn(test)
            ax.axvline(found["turn"], color=DARK, linestyle=":", label="test error is lowest")
            rise = f"lowest after pass {found['turn']}, then {found['rise']:+.1f} ± {found['error']:.1f}"
            ax.set_title(f"{learner.__name__}\n{rise}".replace("-", "\N{MINUS SIGN}"), fontsize="small")
            numbers[f"{name}_{'average' if learner is AveragedPerceptron else 'last'}"] = found | {
                "training": training[:, [0, -1]].mean(axis=0).tolist(),
                "test": test[:, [0, -1]].mean(axis=0).tolist(),
            }
    for ax in panels[1]:
        ax.set_xlabel("passes over the training data")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    caption = (
        "Means of {splits} random halves, with bands of one standard error. Above: did the diabetes of 442 patients "
        "get worse than the median, from ten measurements and the products of up to three of them, 175 features in "
        "all. Training error falls from {diabetes_last[training][0]:.0f}% to {diabetes_last[training][1]:.0f}%, while "
        "test error is lowest after pass {diabetes_last[turn]} ({diabetes_average[turn]} for averaged weights) and by "
        "pass {passes} has risen by {diabetes_last[rise]:.1f} ± {diabetes_last[error]:.1f} percentage points (by "
        "{diabetes_average[rise]:.1f} ± {diabetes_average[error]:.1f}). The pass is chosen on half of the splits and "
        "the rise measured on the other {measured_on}, of which {diabetes_last[rose]} and {diabetes_average[rose]} "
        "rose. Data and features were chosen on other splits, among several of which most do not turn. Below: benign "
        "and malignant tumours, from 30 measurements. Here no rise is as large as two standard errors "
        "({tumours_last[rise]:+.1f} ± {tumours_last[error]:.1f} and {tumours_average[rise]:+.1f} ± "
        "{tumours_average[error]:.1f}). At the last pass averaged weights do better in both: they are wrong on "
        "{diabetes_average[test][1]:.1f}% of the test rows instead of {diabetes_last[test][1]:.1f}%, and on "
        "{tumours_average[test][1]:.1f}% instead of {tumours_last[test][1]:.1f}%."
    )
    return Shown(picture, caption, numbers)


def errors_by_pass(learner: type, X: np.ndarray, y: np.ndarray, steps: Pipeline) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test error in percent, a row for each split and a column for each pass."""
    errors = np.empty((2, SPLITS, PASSES))
    for split in range(SPLITS):
        seed = FRESH + split
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        X_train = steps.fit_transform(X_train)
        model = learner(max_iter=PASSES, random_state=seed)
        table = model.score_by_pass(X_train, y_train, steps.transform(X_test), y_test)
        for kind, column in enumerate(("training_error", "test_error")):
            found = table[column]
            errors[kind, split] = found + found[-1:] * (PASSES - len(found))  # after a clean pass nothing changes
    return 100 * errors[0], 100 * errors[1]


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
