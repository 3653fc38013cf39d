"""The same flowers with and without a bias (parametric learning notes, figure 3.1)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.plots.plane import plot_plane
from rosenblatt.theory.margins import dataset_margin


def figure_3_1() -> Shown:
    """Learn from petals with a bias, which separates them, and without, which nothing can."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    with_bias = Perceptron(random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there is nothing to converge to, as is proved below
        without = Perceptron("pocket", fit_intercept=False, random_state=0).fit(X, y)
    through_origin = dataset_margin(X, y, kind="homogeneous")
    picture = blank(5, 6.2)
    panels = picture.subplots(2)
    for ax, model, words in zip(panels, (with_bias, without), ("With a bias", "Without a bias"), strict=True):
        plot_plane(model, X, y, ax)
        ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
        wrong = int((model.predict(X) != y).sum())
        ax.set_title(f"{words}: {wrong} of {len(X)} flowers on the wrong side", fontsize="medium")
    proving = np.flatnonzero(through_origin.alpha)
    numbers = {
        "updates": with_bias.n_updates_,
        "b": float(with_bias.intercept_[0]),
        "wrong": int((without.predict(X) != y).sum()),
        "passes": without.n_iter_,
        "margin": dataset_margin(X, y).low,
        "proving": len(proving),
        "rows": proving.tolist(),
        "checked": through_origin.check(X, y),
    }
    caption = (
        "Petals of setosa and versicolor. Above: with a bias they are separated after {updates} updates (the best line "
        "is {margin:.2f} cm from the nearest flower). Below: without one the boundary goes through the origin, and the "
        "best weights of {passes} passes leave {wrong} flowers on the wrong side. No weights leave none: the lengths "
        "and widths of {proving} flowers, weighted and with the sign of their class, add up to zero, which a check "
        "proves from the data."
    )
    return Shown(picture, caption, numbers)
