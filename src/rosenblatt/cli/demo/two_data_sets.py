"""Two short runs on data that ships with scikit-learn, in plain words, and one picture."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from rosenblatt.cli.demo.telling import draw, heading, say
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.inspection.explain import explain
from rosenblatt.messages import count_of
from rosenblatt.plots import plot_history, plot_projection, plot_weights

_SPLITS = 10


def show(out: Path) -> None:
    """Learn digits and tumours: print what happens, and write ``demo.png`` into the folder ``out``."""
    picture = _zeros(out / "demo.png")
    _tumours()
    heading("What to try next")
    if picture is not None:
        say(f"Look at the picture: {picture}")
    say(
        "In Python (after make demo: .venv/bin/python), on your own table of numbers X and labels y:",
        "from rosenblatt import Perceptron; model = Perceptron().fit(X, y); print(model.report_)",
    )
    say("At the command line, on your own file: rosenblatt train my.csv --target COLUMN")


def _zeros(path: Path) -> Path | None:
    """Part 1: digits, a data set that a perceptron separates. Return the picture's path, if one was drawn."""
    digits = load_digits()
    X, y = digits.data, np.where(digits.target == 0, "zero", "other")
    heading("1. Is it a zero?")
    say(
        f"{len(X):,} handwritten digits, each a grid of 8 x 8 pixels from 0 (white) to 16 (black). A perceptron "
        "keeps one weight for each pixel and a bias. It adds up weight times pixel and the bias; this sum is its "
        "activation, and it answers 'zero' if that is above 0. It looks at one digit after the other. When its "
        "answer is wrong, it adds the pixels to the weights (for a zero) or subtracts them. That is all."
    )
    model = Perceptron(random_state=0).fit(X, y)
    report = model.report_
    say(f"Mistakes by pass over the data: {', '.join(map(str, report.mistakes_by_pass))}.")
    say(*str(report).splitlines())
    say(
        "Separated: the weights now answer all of these digits right.",
        f"Margin: the room that the best boundary leaves; this one leaves {report.margin_low:.4g}.",
        "No run can make more: a theorem, for every order of the digits.",
    )
    pixels = [f"row {row}, col {column}" for row in range(8) for column in range(8)]
    _two_columns(explain(model, feature_names=pixels), "zero", "other")
    say("Ink in the middle (rows 3 and 4, column 4) speaks against a zero: a zero is hollow.")
    return draw(path, (16, 5.2), lambda figure: _draw(figure, model, X, y), lay_out=False)


def _tumours() -> None:
    """Part 2: breast cancer, measured and labelled with noise, where an average does better."""
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    heading("2. Benign or malignant?")
    say(
        f"{len(X)} tumours, {X.shape[1]} measurements each. The measurements are brought to one scale first "
        "(mean 0, spread 1), or the small ones among them would hardly count. 70 in 100 tumours are for training; "
        "the accuracy is the share of right answers on the rest, which the model has never seen."
    )
    last, average, warning = _train_both(X, y, 0)
    if warning:
        say(f"Perceptron, after {last[0].n_iter_} passes, warns: {warning}")
    else:
        say(f"Perceptron separated the training data in {last[0].n_iter_} passes.")
    say(
        "Its weights still jump about when training ends. AveragedPerceptron answers by the mean of all the "
        "weights that it went through, which is steadier."
    )
    runs = [(last, average)] + [_train_both(X, y, seed)[:2] for seed in range(1, _SPLITS)]
    scores = np.array([[run[0][1], run[1][1]] for run in runs]) * 100
    print(f"  {'accuracy on unseen tumours':<34}{'Perceptron':>12}{'AveragedPerceptron':>22}")
    rows = (
        ("this split", scores[0]),
        (f"mean of {_SPLITS} random splits", scores.mean(axis=0)),
        (f"worst of {_SPLITS} random splits", scores.min(axis=0)),
    )
    for name, (one, other) in rows:
        print(f"  {name:<34}{one:>11.1f}%{other:>21.1f}%")
    ahead, behind = (scores[:, 1] > scores[:, 0]).sum(), (scores[:, 1] < scores[:, 0]).sum()
    print()
    say(
        f"One split may favour either by luck. Over {_SPLITS}, the average was ahead {count_of(ahead, 'time')}, behind "
        f"{count_of(behind, 'time')}, and level otherwise."
    )
    _two_columns(explain(average[0], feature_names=data.feature_names), "malignant", "benign")
    say(
        "Read such weights with care: many of these measurements say nearly the same thing (radius, perimeter, "
        "area), and then the perceptron may give the weight to any of them."
    )


def _train_both(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Any, str]:
    """Return each model with its accuracy on the held-out rows, and what Perceptron warned of, if it did."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        last = Perceptron(random_state=0).fit(X_train, y_train)
    average = AveragedPerceptron(random_state=0).fit(X_train, y_train)
    words = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    return (last, last.score(X_test, y_test)), (average, average.score(X_test, y_test)), "".join(words)


def _draw(figure: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the three panels."""
    history, weights, projection = figure.subplots(1, 3, width_ratios=[1, 1, 1.3])
    figure.subplots_adjust(0.04, 0.2, 0.985, 0.8, wspace=0.22)  # an automatic layout draws all of it twice
    plot_history(model, history)
    plot_weights(model, (8, 8), weights)
    plot_projection(model, X, y, projection)
    figure.suptitle("Is it a zero? A perceptron on 8 x 8 pixels", fontsize=15)


def _two_columns(table: Any, positive: str, negative: str) -> None:
    """Print the largest and the smallest ten weights side by side."""
    names, values = table["feature"], table["weight"]
    half = len(names) // 2
    print(f"  {'ten largest weights':<39}ten smallest weights")
    for i in range(half):
        j = len(names) - 1 - i
        print(f"  {names[i]:<25}{values[i]:>9.4g}     {names[j]:<25}{values[j]:>9.4g}")
    print(f"  Above 0 speaks for {positive}, below 0 for {negative}.\n")
