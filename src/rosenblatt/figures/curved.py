"""A boundary that is straight, and one that is not (parametric learning notes, figure 3.3)."""

from __future__ import annotations

from typing import Any

from rosenblatt.data.curves import make_spiral
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.plots.plane import plot_plane
from rosenblatt.theory.separability import separability


def figure_3_3() -> Shown:
    """Learn flowers by a line, and two spirals by a kernel, since no line parts them."""
    X, y = flowers("setosa", "virginica", "petal length", "petal width")
    straight = Perceptron(random_state=0).fit(X, y)
    Z, arm = make_spiral(160, turns=1.0, noise=0.02, random_state=0)
    impossible: Any = separability(Z, arm)
    curved = KernelPerceptron(kernel="rbf", gamma=4.0, hypothesis="last", random_state=0).fit(Z, arm)
    picture = blank(4.6, 7.0)
    above, below = picture.subplots(2, height_ratios=[1, 1.6])
    plot_plane(straight, X, y, above)
    above.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    above.set_title("Linear: a perceptron", fontsize="medium")
    plot_plane(curved, Z, arm, below)
    below.set(xlabel="x1", ylabel="x2")
    below.set_title("Not linear: a perceptron with a Gaussian kernel", fontsize="medium")
    numbers = {
        "updates": straight.n_updates_,
        "kernel_updates": curved.n_updates_,
        "points": len(Z),
        "support": len(curved.support_),
        "wrong": int((curved.predict(Z) != arm).sum()),
        "proving": len(impossible.support),
        "no_line": impossible.check(Z, arm),
    }
    caption = (
        "Above: petals of setosa and virginica, which a line separates; the perceptron found one after {updates} "
        "updates. Below: two spirals of {points} points, which no line separates ({proving} points prove it). With a "
        "Gaussian kernel the same algorithm has a curved boundary: {kernel_updates} updates on {support} of the "
        "points, and {wrong} are wrong."
    )
    return Shown(picture, caption, numbers)
