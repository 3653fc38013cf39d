"""The perceptron algorithm, run: every update of a small data set (Har-Peled, figure 30.2)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt.data.generators import make_separable, make_spiral
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.features import Combinations
from rosenblatt.figures.drawing import Shown, blank, flowers
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE, Axes, import_matplotlib, tidy, whole_ticks
from rosenblatt.plots.by_pass import LOOKS as ORDER_LOOKS
from rosenblatt.plots.plane import plot_plane
from rosenblatt.plots.plane_parts import (
    LOOKS,
    Frame,
    Line,
    Regions,
    Rows,
    draw_arrow,
    draw_legend,
    draw_line,
    draw_regions,
    draw_rows,
    halo,
)
from rosenblatt.plots.projection import plot_projection
from rosenblatt.plots.update import plot_update
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.convergence.proof import proof
from rosenblatt.theory.convergence.trace import Trace, trace
from rosenblatt.theory.inputs import number_text, true_minus, vector_text
from rosenblatt.theory.separability import dataset_margin, separability


def figure_30_2() -> Shown:
    """Run the algorithm without a bias, list its updates, and draw w and its length by update."""
    X = np.array([[2, 3], [-2, 3], [3, -3], [2, -3], [-1, 1], [-2, -3]])
    y = np.array([1, 1, 1, -1, -1, -1])
    run = trace(X, y, fit_intercept=False)
    theorem = proof(X, y, fit_intercept=False)
    weights = np.array([np.zeros(2), *(step.w for step in run)])
    picture = blank(5, 6.4)
    above, below = picture.subplots(2, height_ratios=[1.25, 1])
    draw_table(above, run, X)
    k = np.arange(len(weights))
    below.plot(k, weights[:, 0], color=BLUE, marker="o", markersize=4, label="first weight")
    below.plot(k, weights[:, 1], color=GREEN, marker="s", markersize=4, linestyle="--", label="second weight")
    below.plot(k, np.linalg.norm(weights, axis=1), color=DARK, marker="D", markersize=4, label="|w|")
    below.plot(k, np.sqrt(k) * theorem.R, color=ORANGE, linestyle=":", linewidth=2.2, label="√k·R: |w| is at most this")
    below.set(xlabel="updates k", ylabel="weight, length")
    below.legend(frameon=False, fontsize="small", ncols=2, loc="upper left", bbox_to_anchor=(0, 1.1))
    whole_ticks(below)
    tidy(below)
    numbers = {
        "k": len(run),
        "passes": run.passes,
        "w": run.w.tolist(),
        "R": theorem.R,
        "gamma": theorem.gamma,
        "bound": theorem.bound,
        "mistakes_by_pass": run.mistakes_by_pass.tolist(),
        "weights": weights.tolist(),
        "rows": run.row.tolist(),
    }
    caption = (
        "Six points, visited in order without a bias, until a pass makes no mistake. Each line above is an update: the "
        "point, its label y, its activation before (never of the sign of y), and w after y times the point was added. "
        "The algorithm returns w = ({w[0]:g}, {w[1]:g}) and k = {k} after {passes} passes. With R = {R:.3f}, the "
        "length of the longest point, and a margin of γ = {gamma:.3f}, no order of these points could take more than "
        "(R/γ)² = {bound:.0f} updates."
    )
    return Shown(picture, caption, numbers)


def draw_table(ax: Axes, run: Trace, X: np.ndarray) -> None:
    """Write the updates of a run as a table."""
    head = ["k", "pass", "point x", "label y", "w·x before", "w after"]
    lines = [["0", "", "", "", "", "(0, 0)"]]
    for step in run:
        numbers = f"{step.label:+d}", number_text(step.activation), vector_text(step.w)
        label, activation, w = map(true_minus, numbers)
        point = true_minus(vector_text(X[step.row]))
        lines.append([str(step.k), str(step.pass_number), point, label, activation, w])
    table = ax.table(lines, colLabels=head, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.15)
    for (row, _), cell in table.get_celld().items():
        cell.visible_edges = "B" if row == 0 else ""
        if row == 0:
            cell.set_text_props(weight="bold")
    ax.set_axis_off()


# The same flowers with and without a bias (parametric learning notes, figure 3.1).


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


# The boundary and the weight vector, the data along it, and what the bias shifts (CIML figures 4.6, 4.7 and 4.8).


def sepals() -> tuple[np.ndarray, np.ndarray]:
    """Return the sepals of two kinds of iris, measured from their mean, so that no bias is needed."""
    X, y = flowers("setosa", "virginica", "sepal length", "sepal width")
    return X - X.mean(axis=0), y


def figure_4_6() -> Shown:
    """Learn without a bias, and draw w at a right angle to the boundary."""
    X, y = sepals()
    model = Perceptron(fit_intercept=False, random_state=2).fit(X, y)
    picture = blank(5, 3.9)
    ax = plot_plane(model, X, y, picture.subplots())
    ax.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    ax.set_title("The boundary is perpendicular to w", fontsize="medium")
    numbers = {
        "w": model.coef_[0].tolist(),
        "unit_w": unit_weights(model)[0].tolist(),
        "nearest": float(np.abs(distance(model, X)).min()),
        "updates": model.n_updates_,
        "passes": model.n_iter_,
    }
    caption = (
        "Setosa and virginica by their sepals, measured from the mean of all 100 flowers, and a perceptron without a "
        "bias. After {updates} updates in {passes} passes w = ({w[0]:.2f}, {w[1]:.2f}). The boundary is the line "
        "through the origin at a right angle to w, and w points to virginica, the positive class. Its length does not "
        "matter: ({unit_w[0]:.3f}, {unit_w[1]:.3f}), of length 1, has the same boundary. The nearest flower is "
        "{nearest:.3f} cm away; the hatched band is that wide on both sides."
    )
    return Shown(picture, caption, numbers)


def figure_4_7() -> Shown:
    """Draw the flowers of figure 4.6 with their feet on the line through w and, below, along that line alone."""
    X, y = sepals()
    model = Perceptron(fit_intercept=False, random_state=2).fit(X, y)
    picture = blank(5, 7.2)
    above, below = picture.subplots(2, height_ratios=[1.35, 1])
    plot_plane(model, X, y, above, projections=True)
    above.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    above.set_title("Projections onto w", fontsize="medium")
    plot_projection(model, X, y, below)
    below.set_xlabel("distance along w (cm): w·x / |w|")
    below.set_title("The same flowers along w, with the boundary at zero", fontsize="medium")
    places = distance(model, X)
    numbers = {
        "setosa": [float(places[y == "setosa"].min()), float(places[y == "setosa"].max())],
        "virginica": [float(places[y == "virginica"].min()), float(places[y == "virginica"].max())],
        "length_of_w": float(np.linalg.norm(model.coef_)),
    }
    caption = (
        "Each flower of figure 4.6 projected onto the line through w; below, the places on that line as one dimension. "
        "Setosa lies from {setosa[0]:.2f} to {setosa[1]:.2f} cm and virginica from {virginica[0]:.2f} to "
        "{virginica[1]:.2f} cm, with zero between them. The activation w·x is such a place times |w|, here "
        "{length_of_w:.1f}: it is itself the distance only for a w of length 1."
    )
    return Shown(picture, caption, numbers)


def figure_4_8() -> Shown:
    """Learn with a bias, and draw how far it moves the boundary from the origin."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    model = Perceptron(random_state=0).fit(X, y)
    line = Line(*unit_weights(model))
    frame = Frame.around(np.vstack([X, [-0.6, -0.6]]), 0.05)
    picture = blank(5, 3.9)
    ax = picture.subplots()
    frame.set_limits(ax)
    draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    draw_rows(ax, Rows(X, y, model.classes_))
    through_origin = Line(line.unit, 0.0)
    draw_line(ax, line, frame, linewidth=1.4, zorder=1, label="w·x + b = 0")
    draw_line(ax, through_origin, frame, linestyle="--", linewidth=1.2, zorder=1, label="w·x = 0")
    shift = -line.offset
    draw_arrow(ax, np.zeros(2), shift * line.unit, "−b/|w|", linewidth=1.6)
    ax.plot(0, 0, "o", color=DARK, markersize=5, zorder=4)
    draw_arrow(ax, line.nearest_to([4, 0.6]), line.nearest_to([4, 0.6]) + 0.8 * line.unit, "w")
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    ax.set_title("The bias moves the boundary by −b/|w| along w", fontsize="medium")
    draw_legend(ax)
    numbers = {
        "w": model.coef_[0].tolist(),
        "b": float(model.intercept_[0]),
        "length_of_w": float(np.linalg.norm(model.coef_)),
        "shift": shift,
    }
    caption = (
        "Setosa and versicolor by their petals, in cm from zero. The learned w = ({w[0]:.1f}, {w[1]:.1f}) alone gives "
        "the broken line through the origin, with all flowers on one side. The bias b = {b:g} moves it by −b/|w| = "
        "{shift:.2f} cm in the direction of w, to the solid line. The text says that it moves by −b, which is so for a "
        "w of length 1; this one is {length_of_w:.2f} long."
    )
    return Shown(picture, caption, numbers)


# Errors after each pass, on the rows that a model learns from and on others: what figures 4.3 and 4.4 share.


SplitRows: TypeAlias = tuple[np.ndarray, np.ndarray]  # and their labels


def errors_by_pass(model: Any, training: SplitRows, test: SplitRows, passes: int) -> np.ndarray:
    """Return a line of training errors and one of test errors, in percent, after each of so many passes.

    Where a pass makes no mistake, nothing changes from there on.

    >>> from rosenblatt import Perceptron
    >>> rows = np.array([[1.0], [0.0]]), np.array([1, -1])
    >>> errors_by_pass(Perceptron(shuffle=False, max_iter=5), rows, rows, passes=5)
    array([[ 0., 50.,  0.,  0.,  0.],
           [ 0., 50.,  0.,  0.,  0.]])
    """
    table = model.score_by_pass(*training, *test)
    errors = 100 * np.array([table["training_error"], table["test_error"]])
    return np.pad(errors, ((0, 0), (0, passes - len(table))), mode="edge")


# A boundary that is straight, and one that is not (parametric learning notes, figure 3.3).


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


# A dot product is a projection (the box on dot products of CIML 4.3, which stands where a figure 4.5 would).


def figure_4_5() -> Shown:
    """Split v into a, along the unit vector u, and b, at a right angle to it."""
    u, v = np.array([0.8, 0.6]), np.array([0.37, 0.73])
    dot = float(u @ v)
    a = dot * u
    b = v - a
    picture = blank(4.4, 3.9)
    ax = picture.subplots()
    origin = np.zeros(2)
    ax.set(
        xlim=(-0.05, 0.95), ylim=(-0.05, 0.85), xlabel="first coordinate", ylabel="second coordinate", aspect="equal"
    )
    ax.plot(*np.array([origin, 1.1 * u]).T, color=DARK, linewidth=0.8, linestyle=":", zorder=1)
    for start, end, name, beside, look in (
        (origin, u, "u", (10, -12), {"color": DARK}),
        (origin, a, "a", (8, -14), {"color": BLUE, "linewidth": 4}),
        (a, v, "b", (10, 8), {"color": ORANGE, "linestyle": "--"}),
        (origin, v, "v", (-12, 8), {"color": GREEN}),
    ):
        arrow = {"arrowstyle": "-|>", "linewidth": 2, "shrinkA": 0, "shrinkB": 0} | look
        ax.annotate("", end, start, arrowprops=arrow, zorder=3)
        middle = end if name == "u" else (start + end) / 2
        ax.annotate(name, middle, beside, textcoords="offset points", ha="center", va="center", weight="bold")
    along, across = 0.05 * a / np.linalg.norm(a), 0.05 * b / np.linalg.norm(b)
    ax.plot(*np.array([a - along, a - along + across, a + across]).T, color=DARK, linewidth=0.9)  # a right angle
    ax.set_title(f"v = a + b, and |a| = u·v = {dot:.3f}", fontsize="medium")
    tidy(ax)
    numbers = {
        "u": u.tolist(),
        "v": v.tolist(),
        "dot": dot,
        "length_of_a": float(np.linalg.norm(a)),
        "length_of_b": float(np.linalg.norm(b)),
    }
    caption = (
        "The vector v = ({v[0]}, {v[1]}) as a sum of a, along the unit vector u = ({u[0]}, {u[1]}), and b, at a right "
        "angle to it. The dot product u·v = {dot:.3f} is the length of a, the projection of v onto u; b, which the "
        "text names by mistake, has the length {length_of_b:.3f}."
    )
    return Shown(picture, caption, numbers)


# Training and test error by pass, and where test error turns (CIML figure 4.3).


ERROR_SPLITS, ERROR_PASSES = 24, 40
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
    numbers: dict[str, Any] = {"splits": ERROR_SPLITS, "passes": ERROR_PASSES, "measured_on": ERROR_SPLITS // 2}
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
    return Shown(picture, errors_caption(numbers), numbers)


def errors_caption(numbers: dict[str, Any]) -> str:
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
    for seed in range(FRESH, FRESH + ERROR_SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        X_train = steps.fit_transform(X_train)
        model = learner(max_iter=ERROR_PASSES, random_state=seed)
        found.append(errors_by_pass(model, (X_train, y_train), (steps.transform(X_test), y_test), ERROR_PASSES))
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


# XOR: impossible with two features, possible with their product as a third (CIML figure 4.12).


def figure_4_12() -> Shown:
    """Prove that no line separates XOR, add x1 AND x2 as a feature, and draw the plane that a perceptron finds."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    impossible = separability(X, y)
    combined = Combinations(degree=2)
    Z = combined.fit_transform(X)
    model = Perceptron(random_state=0).fit(Z, y)
    w, b = model.coef_[0], float(model.intercept_[0])
    picture = blank(4.4, 6)
    above, below = picture.add_gridspec(2, height_ratios=[1, 0.85])
    flat, space = picture.add_subplot(above), picture.add_subplot(below, projection="3d")
    plot_verdict(impossible, X, y, flat)
    flat.set(xlabel="x1", ylabel="x2", xticks=[0, 1], yticks=[0, 1])
    flat.set_title("Two features: the hulls have a point in common", fontsize="medium")
    draw_in_space(space, Z, y, w, b)
    numbers: dict[str, Any] = {
        "common_point": X[y == 1].mean(axis=0).tolist(),
        "proved": impossible.check(X, y),
        "names": combined.get_feature_names_out(["x1", "x2"]).tolist(),
        "w": w.tolist(),
        "b": b,
        "updates": model.n_updates_,
        "activations": (Z @ w + b).tolist(),
    }
    caption = (
        "Above: XOR. The mean of the two points of one class is that of the other, ({common_point[0]}, "
        "{common_point[1]}), so no line separates them. Below: with x1∧x2, which is 1 where both are, a plane does. A "
        "perceptron found it after {updates} updates: w = ({w[0]:g}, {w[1]:g}, {w[2]:g}) and b = {b:g}; the "
        "activations of (0, 0), (0, 1), (1, 0) and (1, 1) are {activations[0]:g}, {activations[1]:g}, "
        "{activations[2]:g} and {activations[3]:g}."
    )
    return Shown(picture, caption, numbers)


def draw_in_space(ax: Axes, Z: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> None:
    """Draw the points with x1 AND x2 as their height, and the plane between the classes."""
    sides = np.linspace(-0.2, 1.2, 25)
    x1, x2 = np.meshgrid(sides, sides)
    height = -(w[0] * x1 + w[1] * x2 + b) / w[2]
    ax.plot_surface(x1, x2, np.where(np.abs(height - 0.5) <= 1, height, np.nan), color=DARK, alpha=0.25, linewidth=0)
    for label, (colour, marker) in zip(np.unique(y).tolist(), LOOKS, strict=False):
        own = Z[y == label]
        ax.scatter(*own.T, color=colour, marker=marker, s=60, edgecolor=DARK, depthshade=False)
    for point in Z:
        ax.plot(*np.array([[*point[:2], -0.5], point]).T, color=DARK, linewidth=0.7, linestyle=":")
    ax.set(xlabel="x1", ylabel="x2", zlabel="x1∧x2", xticks=[0, 1], yticks=[0, 1], zticks=[0, 1], zlim=(-0.5, 1.5))
    ax.set_title("Three features: a plane between the classes", fontsize="medium")
    ax.view_init(elev=18, azim=-60)
    ax.set_box_aspect(None, zoom=1.5)


# The geometric margin (parametric learning notes, figure 3.4).


def figure_3_4() -> Shown:
    """Draw the line of the largest margin, and how far it is from the flowers that are nearest to it."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    verdict: Any = separability(X, y)
    line: Any = Line.of(verdict.w, verdict.b)
    picture = blank(5, 4.0)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    ax.set_title(f"Geometric margin η = γ / |w| = {verdict.margin_low:.3f} cm", fontsize="medium")
    for row in verdict.nearest:
        foot = line.nearest_to(X[row])
        ax.annotate("", X[row], foot, arrowprops={"arrowstyle": "<->", "color": DARK, "shrinkA": 0, "shrinkB": 0})
        ax.annotate(
            "η", (X[row] + foot) / 2, (0, 9), textcoords="offset points", ha="center", bbox=halo(), weight="bold"
        )
    w, b = verdict.w / verdict.margin_low, verdict.b / verdict.margin_low  # the same line, at a scale where gamma is 1
    numbers = {
        "margin": verdict.margin_low,
        "w": w.tolist(),
        "b": float(b),
        "gamma": float(np.abs(X @ w + b).min()),
        "length_of_w": float(np.linalg.norm(w)),
        "nearest": verdict.nearest.tolist(),
        "attaining": len(verdict.nearest),
    }
    caption = (
        "Setosa and versicolor by their petals, with the line that leaves the most room, w = ({w[0]:.3f}, {w[1]:.3f}) "
        "and b = {b:.3f}. The {attaining} ringed flowers have the smallest |w·x + b| of all, γ = {gamma:.3f}. Divided "
        "by |w| = {length_of_w:.3f} it is their distance from the line: the geometric margin η = {margin:.3f} cm, "
        "which does not change with the scale of w. The hatched band of twice that width is empty, and no line has a "
        "wider one."
    )
    return Shown(picture, caption, numbers)


# What the visiting order does: fixed, shuffled once, shuffled anew for each pass (CIML figure 4.4).


ORDER_SPLITS, ORDER_PASSES = 6, 30  # of the curves above
SEEDS, MOST_PASSES = 32, 3000  # of the runs below
SHUFFLE: dict[str, Any] = {"fixed": False, "shuffled once": "once", "anew each pass": True}
LOOK_BY_ORDER = dict(zip(SHUFFLE, ORDER_LOOKS, strict=False))


def figure_4_4() -> Shown:
    """Draw the errors of three orders by pass and, below, how many passes eight separable sets take."""
    picture = blank(5.4, 5.8)
    panels = picture.subplot_mosaic([["training", "test"], ["passes", "passes"]], height_ratios=[1, 1.3])
    numbers: dict[str, Any] = {"splits": ORDER_SPLITS, "passes": ORDER_PASSES, "seeds": SEEDS}
    for order, errors in errors_by_order().items():
        colour, dash, marker = LOOK_BY_ORDER[order]
        for ax, values in zip((panels["training"], panels["test"]), errors.mean(axis=1), strict=True):
            look = {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4, "markevery": 5}
            ax.plot(np.arange(1, ORDER_PASSES + 1), values, **look, label=order)
        numbers[order.replace(" ", "_")] = {"training": errors[0, :, -1].mean(), "test": errors[1, :, -1].mean()}
    for kind in ("training", "test"):
        panels[kind].set(xlabel="passes over the data", ylabel=f"{kind} error (%)", ylim=0)
        panels[kind].set_xticks(range(0, ORDER_PASSES + 1, 10))
        tidy(panels[kind])
    sets = {
        name: {order: passes_taken(order, X, y, bias) for order in ("shuffled once", "anew each pass")}
        for name, X, y, bias in separable_sets()
    }
    numbers["sets"] = {name: compare(*runs.values()) for name, runs in sets.items()}
    draw_passes(panels["passes"], sets, numbers["sets"])
    numbers |= summary(numbers["sets"])
    picture.legend(*panels["test"].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return Shown(picture, orders_caption(numbers), numbers)


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


def orders_caption(numbers: dict[str, Any]) -> str:
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
    errors = {order: np.empty((2, ORDER_SPLITS, ORDER_PASSES)) for order in SHUFFLE}
    for split in range(ORDER_SPLITS):
        seed = FRESH + split
        X, X_test, y, y_test = train_test_split(digits.data, digits.target == 6, test_size=0.5, random_state=seed)
        sixes_first = np.argsort(~y, kind="stable")
        for order, shuffle in SHUFFLE.items():
            model = Perceptron(shuffle=shuffle, random_state=seed, max_iter=ORDER_PASSES)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that rows sorted by class teach little, as is shown here
                training = X[sixes_first], y[sixes_first]
                errors[order][:, split] = errors_by_pass(model, training, (X_test, y_test), ORDER_PASSES)
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
            colour, _, marker = LOOK_BY_ORDER[order]
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


# One update without a bias, before and after (CIML figure 4.9).


UPDATE = 7


def figure_4_9() -> Shown:
    """Draw the last update of the run that found the boundary of figure 4.6."""
    X, y = sepals()
    run = trace(X, y, fit_intercept=False, shuffle=True, random_state=2)
    picture = blank(5, 6.6)
    panels = picture.subplots(2)
    plot_update(run, UPDATE, X, y, panels)
    for ax in panels:
        ax.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    step, (before, _) = run.step(UPDATE), run.weights(UPDATE - 1)
    x = X[step.row]
    turned = before @ step.w / np.linalg.norm(before) / np.linalg.norm(step.w)
    numbers = {
        "update": UPDATE,
        "updates": len(run),
        "kind": step.label,
        "x": x.tolist(),
        "w_before": before.tolist(),
        "w_after": step.w.tolist(),
        "activation_before": float(before @ x),
        "activation_after": float(step.w @ x),
        "squared_length": float(x @ x),
        "degrees": float(np.degrees(np.arccos(turned))),
    }
    caption = (
        "Update {update} of the {updates} that led to figure 4.6. A {kind}, the positive class, lies on the wrong "
        "side: with w = ({w_before[0]:.2f}, {w_before[1]:.2f}) its activation is {activation_before:.2f}. Adding the "
        "flower x = ({x[0]:.2f}, {x[1]:.2f}) gives w = ({w_after[0]:.2f}, {w_after[1]:.2f}), turned by {degrees:.0f} "
        "degrees. The activation rises by |x|² = {squared_length:.2f} to {activation_after:.2f}: this flower is right "
        "now, as it need not be after one update."
    )
    return Shown(picture, caption, numbers)
