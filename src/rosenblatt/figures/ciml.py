"""Figures of A Course in Machine Learning (CIML), chapter 4, each drawn from data and a run with a fixed seed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt.data.generators import make_separable
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron
from rosenblatt.features import Combinations
from rosenblatt.figures.drawing import Shown, blank, figure, flowers, wines
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots import plane_parts as parts
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE, Axes, import_matplotlib, tidy, whole_ticks
from rosenblatt.plots.by_pass import LOOKS as ORDER_LOOKS
from rosenblatt.plots.neuron import plot_activation, plot_neuron
from rosenblatt.plots.plane import plot_plane
from rosenblatt.plots.plane_parts import Frame, Line, Regions, Rows
from rosenblatt.plots.projection import plot_projection
from rosenblatt.plots.update import plot_update
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.convergence.trace import trace
from rosenblatt.theory.inputs import true_minus
from rosenblatt.theory.separability import separability

TEXT = "A Course in Machine Learning, chapter 4"

FRESH = 1000  # first seed of figures 4.3 and 4.4; data and features were chosen with smaller seeds
ERROR_SPLITS, ERROR_PASSES = 24, 40  # of figure 4.3
ORDER_SPLITS, ORDER_PASSES = 6, 30  # of the curves in figure 4.4
SEEDS, MOST_PASSES = 32, 3000  # of the runs on separable sets in the lower part of figure 4.4
SHUFFLE: dict[str, Any] = {"fixed": False, "shuffled once": "once", "anew each pass": True}
LOOK_BY_ORDER = dict(zip(SHUFFLE, ORDER_LOOKS, strict=False))
UPDATE = 7  # the update that figure 4.9 draws


@figure(TEXT, "4.1", "A neuron")
def figure_4_1() -> Shown:
    """Train on two kinds of iris with three features, and draw the prediction for one flower as a neuron."""
    measures = ["sepal width", "petal length", "petal width"]
    X, y = flowers("setosa", "versicolor", *measures)
    model = Perceptron(random_state=0).fit(X, y)
    x = X[-1]
    picture = blank(5.2, 3.4)
    plot_neuron(model, x, picture.subplots(), feature_names=[f"{measure} (cm)" for measure in measures])
    numbers = {
        "x": x,
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "activation": model.decision_function([x])[0],
        "answer": model.predict([x])[0],
    }
    caption = (
        "A perceptron that has learned to tell setosa from versicolor, as a neuron with three inputs. It is shown a "
        "flower with sepals {x[0]} cm wide and petals {x[1]} cm long and {x[2]} cm wide. Each connection multiplies "
        "its input by its weight ({w[0]:.1f}, {w[1]:.1f} and {w[2]:.1f}). The neuron adds these products and the bias, "
        "{b:g}, to get {activation:.2f}. This is above 0, so it fires, and the answer is {answer}."
    )
    return picture, caption, numbers


@figure(TEXT, "4.2", "Feature vector, weights, products and sum")
def figure_4_2() -> Shown:
    """Train on two kinds of iris with four features, and draw the activation of one flower as a sum."""
    measures = ["sepal length", "sepal width", "petal length", "petal width"]
    X, y = flowers("versicolor", "virginica", *measures)
    model = Perceptron("average", random_state=0).fit(X, y)
    x, w, b = X[0], model.coef_[0], float(model.intercept_[0])
    picture = blank(5.2, 3.4)
    plot_activation(model, x, picture.subplots(), feature_names=[f"{measure} (cm)" for measure in measures])
    numbers = {
        "x": x,
        "w": w,
        "products": w * x,
        "b": b,
        "activation": model.decision_function([x])[0],
        "answer": model.predict([x])[0],
        "right": 100 * model.score(X, y),
    }
    caption = (
        "The activation of one flower, by averaged weights that classify {right:.0f}% of 100 versicolor and virginica "
        "correctly: each measurement times its weight, added up from top to bottom, and the bias. Sepals add "
        "{products[0]:.1f} and {products[1]:.1f}, petals {products[2]:.1f} and {products[3]:.1f}, the bias {b:.1f}: in "
        "all {activation:.1f}. This is below 0, so the answer is {answer}, which is right."
    )
    return picture, caption, numbers


@figure(TEXT, "4.3", "Training and test error by pass")
def figure_4_3() -> Shown:
    """Draw training and test error by pass for two data sets, averaged over random splits into halves."""
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
            ax.set_title(f"{learner.__name__}\ntest error after pass {found['turn']}: {rise}", fontsize="small")
            ends = {"training": training[:, [0, -1]].mean(axis=0), "test": test[:, [0, -1]].mean(axis=0)}
            numbers[f"{name}_{'average' if learner is AveragedPerceptron else 'last'}"] = found | ends
    for ax in panels[1]:
        ax.set_xlabel("passes over the training data")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    words = {name: change_words(found) for name, found in numbers.items() if isinstance(found, dict)}
    caption = (
        "Above: whether the diabetes of 442 patients got worse than the median, predicted from ten measurements and "
        "the products of up to three of them. Training error goes from {diabetes_last[training][0]:.0f}% to "
        "{diabetes_last[training][1]:.0f}%. Test error, from its lowest after pass {diabetes_last[turn]} to pass "
        f"{{passes}}, {words['diabetes_last']}; by averaged weights, from pass {{diabetes_average[turn]}} on, it "
        f"{words['diabetes_average']}. The lowest is found on half of {{splits}} random splits and the change measured "
        "on the other {measured_on}. On most data sets the test error does not turn: these were chosen, on other "
        "splits. Below: benign and malignant tumours, from 30 measurements. Here test error "
        f"{words['tumours_last']}, by averaged weights it "
        f"{words['tumours_average']}. After the last pass averaged weights are wrong on {{diabetes_average[test][1]:"
        ".1f}% of the patients held out, the last weights on {diabetes_last[test][1]:.1f}%; of the tumours on "
        "{tumours_average[test][1]:.1f}% and {tumours_last[test][1]:.1f}%. Bands are one standard error wide each way."
    )
    return picture, caption, numbers


def change_words(found: dict[str, Any]) -> str:
    """Return as text the change of the test error after the pass with the lowest error, with its standard error.

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
    """Return training and test errors in percent, two arrays with a row for each split and a column for each pass."""
    found = []
    for seed in range(FRESH, FRESH + ERROR_SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        X_train = steps.fit_transform(X_train)
        model = learner(max_iter=ERROR_PASSES, random_state=seed)
        found.append(errors_by_pass(model, (X_train, y_train), (steps.transform(X_test), y_test), ERROR_PASSES))
    training, test = np.array(found).transpose(1, 0, 2)
    return training, test


def errors_by_pass(model: Any, training: Any, test: Any, passes: int) -> np.ndarray:
    """Return the training and test error in percent after each pass; ``training`` and ``test`` are pairs (X, y).

    A run that ends before ``passes`` passes keeps its last errors.

    >>> from rosenblatt import Perceptron
    >>> rows = np.array([[1.0], [0.0]]), np.array([1, -1])
    >>> errors_by_pass(Perceptron(shuffle=False, max_iter=5), rows, rows, passes=5)
    array([[ 0., 50.,  0.,  0.,  0.],
           [ 0., 50.,  0.,  0.,  0.]])
    """
    table = model.score_by_pass(*training, *test)
    errors = 100 * np.array([table["training_error"], table["test_error"]])
    return np.pad(errors, ((0, 0), (0, passes - len(table))), mode="edge")


def find_turn(test: np.ndarray) -> dict[str, Any]:
    """Return the pass with the lowest mean test error on half of the splits, and the later rise on the other half."""
    turn = int(test[::2].mean(axis=0).argmin())
    rises = test[1::2, -1] - test[1::2, turn]
    error = rises.std(ddof=1) / len(rises) ** 0.5
    return {"turn": turn + 1, "rise": float(rises.mean()), "error": float(error), "rose": int((rises > 0).sum())}


def draw_errors(ax: Axes, errors: np.ndarray, dash: str, colour: str, label: str) -> None:
    """Draw the mean error of several runs by pass, with a band of one standard error above and below."""
    passes = np.arange(1, errors.shape[1] + 1)
    mean, error = errors.mean(axis=0), errors.std(axis=0, ddof=1) / len(errors) ** 0.5
    ax.plot(passes, mean, dash, color=colour, label=label)
    ax.fill_between(passes, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0)
    ax.set_ylim(0, max(1.1 * mean.max(), ax.get_ylim()[1]))
    whole_ticks(ax, y=False)
    tidy(ax)


@figure(TEXT, "4.4", "Order: fixed, shuffled once, shuffled anew")
def figure_4_4() -> Shown:
    """Draw errors by pass for three visiting orders, and the numbers of passes to convergence on separable sets."""
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
    picture.legend(*panels["test"].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    found = numbers["sets"].values()
    savings = [one["saving"] for one in found]
    clear = [one["saving"] for one in found if one["range"][0] > 0] or [0.0]
    gains = {name: one["longest_once"] / one["longest_anew"] for name, one in numbers["sets"].items()}
    most_shortened = max(gains, key=lambda name: gains[name])
    numbers |= {
        "n_sets": len(sets),
        "median_saving": np.median(savings),
        "savings": [min(savings), max(savings)],
        "clear": sum(one["range"][0] > 0 for one in found),
        "clear_savings": [min(clear), max(clear)],
        "costly": sum(one["range"][1] < 0 for one in found),
        "shorter": sum(gain > 1 for gain in gains.values()),
        "most_shortened": most_shortened,
    }
    caption = (
        "Above: is a handwritten digit a six? Mean errors over {splits} random halves of 1,797 digits. With all sixes "
        "first and that order kept, {fixed[test]:.1f}% of the test digits are wrong after {passes} passes; shuffled "
        "once it is {shuffled_once[test]:.1f}%, shuffled anew for each pass {anew_each_pass[test]:.1f}%. Below: passes "
        "until one has no mistake, on {n_sets} separable sets with {seeds} seeds each; a bar spans the middle half of "
        "the runs, its mark is the median, and the line spans all runs; beside them, how much of the median new "
        "shuffles save, and its 90% bootstrap interval. The median saving is {median_saving:.0f}% (from "
        "{savings[0]:.0f}% to {savings[1]:.0f}%), and the text says about 20%. It is clearly above zero on {clear} of "
        "them ({clear_savings[0]:.0f}% to {clear_savings[1]:.0f}%), clearly below on "
        f"{numbers['costly'] or 'none'} and could be either on the others. The longest run is shorter with new "
        'shuffles on {shorter} of the {n_sets}, most so on "{most_shortened}": '
        f"{numbers['sets'][most_shortened]['longest_anew']:,} passes, and "
        f"{numbers['sets'][most_shortened]['longest_once']:,} where one unlucky order came again in every pass."
    )
    return picture, caption, numbers


def errors_by_order() -> dict[str, np.ndarray]:
    """Return training and test errors in percent for each visiting order, as arrays of shape (2, splits, passes)."""
    digits = load_digits()
    errors = {order: np.empty((2, ORDER_SPLITS, ORDER_PASSES)) for order in SHUFFLE}
    for split in range(ORDER_SPLITS):
        seed = FRESH + split
        X, X_test, y, y_test = train_test_split(digits.data, digits.target == 6, test_size=0.5, random_state=seed)
        sixes_first = np.argsort(~y, kind="stable")
        for order, shuffle in SHUFFLE.items():
            model = Perceptron(shuffle=shuffle, random_state=seed, max_iter=ORDER_PASSES)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # the effect of sorted rows is shown here
                training = X[sixes_first], y[sixes_first]
                errors[order][:, split] = errors_by_pass(model, training, (X_test, y_test), ORDER_PASSES)
    return errors


def separable_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray, bool]]:
    """Yield linearly separable data sets, digits and planted margins, as (name, X, y, whether to fit a bias)."""
    digits = load_digits()
    for digit in (0, 4, 5, 6, 7):
        yield f"digit {digit}", digits.data, digits.target == digit, True
    yield "planted, 20 features", *make_separable(1000, 20, margin=0.02, random_state=0), False
    yield "planted, 5 features", *make_separable(300, 5, margin=0.01, random_state=0), False
    yield "planted, 50 features", *make_separable(200, 50, margin=0.02, random_state=0), False


def passes_taken(order: str, X: np.ndarray, y: np.ndarray, bias: bool) -> np.ndarray:
    """Return the number of passes up to the first one without a mistake, for each seed."""
    options: dict[str, Any] = {"shuffle": SHUFFLE[order], "max_iter": MOST_PASSES, "fit_intercept": bias}
    return np.array([Perceptron(random_state=seed, **options).fit(X, y).n_iter_ for seed in FRESH + np.arange(SEEDS)])


def compare(once: np.ndarray, anew: np.ndarray) -> dict[str, Any]:
    """Return the median and the largest number of passes for both orders, and the percentage saved by reshuffling.

    The saving compares the two medians. ``range`` is its 90% bootstrap interval.
    """
    rng = np.random.default_rng(0)
    medians = [np.median(rng.choice(runs, (2000, len(runs))), axis=1) for runs in (once, anew)]
    return {
        "once": np.median(once),
        "anew": np.median(anew),
        "saving": 100 * (1 - np.median(anew) / np.median(once)),
        "range": np.percentile(100 * (1 - medians[1] / medians[0]), [5, 95]),
        "mean_saving": 100 * (1 - anew.mean() / once.mean()),
        "longest_once": once.max(),
        "longest_anew": anew.max(),
    }


def draw_passes(ax: Axes, sets: dict[str, dict[str, np.ndarray]], found: dict[str, dict[str, Any]]) -> None:
    """Draw the range, quartiles and median of the passes for each set and order, with the saving beside them."""
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


@figure(TEXT, "4.5", "A dot product is a projection")
def figure_4_5() -> Shown:
    """Draw v as the sum of its projection a onto the unit vector u and a perpendicular part b."""
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
    numbers = {"u": u, "v": v, "dot": dot, "length_of_a": np.linalg.norm(a), "length_of_b": np.linalg.norm(b)}
    caption = (
        "The vector v = ({v[0]}, {v[1]}) as a sum of a, along the unit vector u = ({u[0]}, {u[1]}), and b, at a right "
        "angle to it. The dot product u·v = {dot:.3f} is the length of a, the projection of v onto u; b, which the "
        "text names by mistake, has the length {length_of_b:.3f}."
    )
    return picture, caption, numbers


def sepals() -> tuple[np.ndarray, np.ndarray]:
    """Return the sepal measures of two kinds of iris, centred so that no bias is needed."""
    X, y = flowers("setosa", "virginica", "sepal length", "sepal width")
    return X - X.mean(axis=0), y


@figure(TEXT, "4.6", "Data, boundary and weight vector")
def figure_4_6() -> Shown:
    """Train without a bias, and draw w perpendicular to the boundary."""
    X, y = sepals()
    model = Perceptron(fit_intercept=False, random_state=2).fit(X, y)
    picture = blank(5, 3.9)
    ax = plot_plane(model, X, y, picture.subplots())
    ax.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    ax.set_title("The boundary is perpendicular to w", fontsize="medium")
    numbers = {
        "w": model.coef_[0],
        "unit_w": unit_weights(model)[0],
        "nearest": np.abs(distance(model, X)).min(),
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
    return picture, caption, numbers


@figure(TEXT, "4.7", "Projections onto the weight vector")
def figure_4_7() -> Shown:
    """Draw the flowers of figure 4.6 with their projections onto w, and below them the projections alone."""
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
    numbers: dict[str, Any] = {kind: [places[y == kind].min(), places[y == kind].max()] for kind in model.classes_}
    numbers["length_of_w"] = np.linalg.norm(model.coef_)
    caption = (
        "Each flower of figure 4.6 projected onto the line through w; below, the places on that line as one dimension. "
        "Setosa lies from {setosa[0]:.2f} to {setosa[1]:.2f} cm and virginica from {virginica[0]:.2f} to "
        "{virginica[1]:.2f} cm, with zero between them. The activation w·x is such a place times |w|, here "
        "{length_of_w:.1f}: it is itself the distance only for a w of length 1."
    )
    return picture, caption, numbers


@figure(TEXT, "4.8", "The bias as a shift")
def figure_4_8() -> Shown:
    """Train with a bias, and draw the distance by which it shifts the boundary from the origin."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    model = Perceptron(random_state=0).fit(X, y)
    line = Line(*unit_weights(model))
    frame = Frame.around(np.vstack([X, [-0.6, -0.6]]), 0.05)
    picture = blank(5, 3.9)
    ax = picture.subplots()
    frame.set_limits(ax)
    parts.draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    parts.draw_rows(ax, Rows(X, y, model.classes_))
    through_origin = Line(line.unit, 0.0)
    parts.draw_line(ax, line, frame, linewidth=1.4, zorder=1, label="w·x + b = 0")
    parts.draw_line(ax, through_origin, frame, linestyle="--", linewidth=1.2, zorder=1, label="w·x = 0")
    shift = -line.offset
    parts.draw_arrow(ax, np.zeros(2), shift * line.unit, "−b/|w|", linewidth=1.6)
    ax.plot(0, 0, "o", color=DARK, markersize=5, zorder=4)
    parts.draw_arrow(ax, line.nearest_to([4, 0.6]), line.nearest_to([4, 0.6]) + 0.8 * line.unit, "w")
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    ax.set_title("The bias moves the boundary by −b/|w| along w", fontsize="medium")
    parts.draw_legend(ax)
    numbers = {
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "length_of_w": np.linalg.norm(model.coef_),
        "shift": shift,
    }
    caption = (
        "Setosa and versicolor by their petals, in cm from zero. The learned w = ({w[0]:.1f}, {w[1]:.1f}) alone gives "
        "the broken line through the origin, with all flowers on one side. The bias b = {b:g} moves it by −b/|w| = "
        "{shift:.2f} cm in the direction of w, to the solid line. The text says that it moves by −b, which holds for "
        "a w of length 1; this one is {length_of_w:.2f} long."
    )
    return picture, caption, numbers


@figure(TEXT, "4.9", "One update without a bias")
def figure_4_9() -> Shown:
    """Draw an update of the run that produced the boundary of figure 4.6."""
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
        "x": x,
        "w_before": before,
        "w_after": step.w,
        "activation_before": before @ x,
        "activation_after": step.w @ x,
        "squared_length": x @ x,
        "degrees": np.degrees(np.arccos(turned)),
    }
    caption = (
        "Update {update} of the {updates} that led to figure 4.6. A {kind}, the positive class, lies on the wrong "
        "side: with w = ({w_before[0]:.2f}, {w_before[1]:.2f}) its activation is {activation_before:.2f}. Adding the "
        "flower x = ({x[0]:.2f}, {x[1]:.2f}) gives w = ({w_after[0]:.2f}, {w_after[1]:.2f}), turned by {degrees:.0f} "
        "degrees. The activation rises by |x|² = {squared_length:.2f} to {activation_after:.2f}: this flower is now "
        "on the right side, which a single update does not guarantee."
    )
    return picture, caption, numbers


@figure(TEXT, "4.10", "Separable data")
def figure_4_10() -> Shown:
    """Prove that two kinds of iris are linearly separable, and draw the line with the largest margin."""
    X, y = flowers("setosa", "versicolor", "sepal length", "sepal width")
    verdict: Any = separability(X, y)
    picture = blank(5, 4.1)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="sepal length (cm)", ylabel="sepal width (cm)")
    numbers = {
        "margin": verdict.margin_low,
        "margin_high": verdict.margin_high,
        "nearest": len(verdict.nearest),
        "checked": verdict.check(X, y),
    }
    caption = (
        "Setosa and versicolor by their sepals are separable: a line has every flower on its side. The one drawn "
        "leaves the most room, {margin:.4f} cm to the nearest of 100 flowers ({nearest} of them, ringed), and no other "
        "line leaves more than {margin_high:.4f} cm. Both are proved, and the proof checks itself against the data."
    )
    return picture, caption, numbers


@figure(TEXT, "4.11", "Inseparable data")
def figure_4_11() -> Shown:
    """Prove that two kinds of wine are not linearly separable, and draw a common point of their convex hulls."""
    X, y = wines(1, 2, "alcohol", "color_intensity")
    verdict: Any = separability(X, y)
    picture = blank(5, 4.1)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="alcohol (% by volume)", ylabel="colour intensity", aspect="auto")
    rows = verdict.support
    weights = np.asarray(verdict.alpha)[rows]
    own = y[rows] == "cultivar 1"
    numbers = {
        "rows": rows,
        "proving": len(rows),
        "common_point": weights[own] @ X[rows[own]] / weights[own].sum(),
        "same_point": weights[~own] @ X[rows[~own]] / weights[~own].sum(),
        "checked": verdict.check(X, y),
    }
    caption = (
        "Wines of cultivars 1 and 2 by alcohol and colour are not separable: their hulls overlap. {proving} wines "
        "(ringed, with their shares) prove it: a weighted mean of one cultivar equals one of the other, at "
        "{common_point[0]:.2f}% alcohol and colour {common_point[1]:.2f}. A line with each cultivar on its own "
        "side would have that point on both sides. So no run of the perceptron on these wines ends."
    )
    return picture, caption, numbers


@figure(TEXT, "algorithm-7", "An average, cut in two ways")
def figure_algorithm_7() -> Shown:
    """Draw one weight of a run of 12 examples as columns, one for each example, and as rows, one for each update."""
    X, y, passes = np.array([[-1, 0], [-1, 2], [2, 4], [1, -1]]), np.array([-1, -1, 1, 1]), 3
    run = trace(X, y, max_iter=passes, shuffle=False)
    visits = len(X) * passes
    counters = [(step.pass_number - 1) * len(X) + step.row + 1 for step in run]
    changes = [int(y[step.row] * X[step.row, 0]) for step in run]
    weights = [sum(s for m, s in zip(counters, changes, strict=True) if m <= n) for n in range(visits + 1)]
    picture = blank(5, 4.4)
    by_example, by_update = picture.subplots(2, sharex=True)
    by_example.bar(range(visits + 1), weights, width=1, align="edge", color=BLUE, edgecolor="white", linewidth=1)
    bottoms = np.cumsum([0, *changes[:-1]])
    lengths = [visits + 1 - m for m in counters]
    by_update.barh(bottoms, lengths, changes, counters, align="edge", color=ORANGE, edgecolor="white", linewidth=1)
    for m, s, length, bottom in zip(counters, changes, lengths, bottoms, strict=True):
        words = f"{s} · {length} = {s * length}"
        by_update.text(m + length / 2, bottom + s / 2, words, ha="center", va="center", fontsize="small")
    by_example.set_title("added up after each example: u ← u + w", fontsize="medium")
    by_update.set_title("added up at each update: y x₁ · (c − its counter)", fontsize="medium")
    by_update.set_xlabel("examples seen, n")
    for ax in (by_example, by_update):
        ax.set(ylabel="first weight w₁", ylim=(0, weights[-1]), yticks=range(weights[-1] + 1))
        tidy(ax)
    u = sum(m * s for m, s in zip(counters, changes, strict=True))
    c = visits + 1
    numbers = {
        "examples": visits,
        "c": c,
        "counters": counters,
        "changes": changes,
        "w": weights[-1],
        "u": u,
        "area": sum(weights),
        "average": weights[-1] - u / c,
    }
    caption = (
        "The first weight of a run of {examples} examples, with updates at examples {counters[0]}, {counters[1]}, "
        "{counters[2]} and {counters[3]}. The area is the sum of the weight before the first example and after each: "
        "{area}. Above it is cut into a column for each example, below into a row for each update, which reaches from "
        "its counter to c = {c}. By rows it is c w₁ − u = {c} · {w} − {u} = {area}, where u adds up each change times "
        "its counter: algorithm 7. The average is w₁ − u / c = {average:.3f}."
    )
    return picture, caption, numbers


@figure(TEXT, "4.12", "XOR, impossible and possible")
def figure_4_12() -> Shown:
    """Prove that no line separates XOR, then add x1 AND x2 as a feature and draw the plane that a perceptron finds."""
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
        "common_point": X[y == 1].mean(axis=0),
        "proved": impossible.check(X, y),
        "names": combined.get_feature_names_out(["x1", "x2"]),
        "w": w,
        "b": b,
        "updates": model.n_updates_,
        "activations": (Z @ w + b),
    }
    caption = (
        "Above: XOR. The mean of the two points of one class is that of the other, ({common_point[0]}, "
        "{common_point[1]}), so no line separates them. Below: with x1∧x2, which is 1 where both are, a plane does. A "
        "perceptron found it after {updates} updates: w = ({w[0]:g}, {w[1]:g}, {w[2]:g}) and b = {b:g}; the "
        "activations of (0, 0), (0, 1), (1, 0) and (1, 1) are {activations[0]:g}, {activations[1]:g}, "
        "{activations[2]:g} and {activations[3]:g}."
    )
    return picture, caption, numbers


def draw_in_space(ax: Axes, Z: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> None:
    """Draw the points in space with x1 AND x2 as the height, and the plane between the classes."""
    sides = np.linspace(-0.2, 1.2, 25)
    x1, x2 = np.meshgrid(sides, sides)
    height = -(w[0] * x1 + w[1] * x2 + b) / w[2]
    ax.plot_surface(x1, x2, np.where(np.abs(height - 0.5) <= 1, height, np.nan), color=DARK, alpha=0.25, linewidth=0)
    for label, (colour, marker) in zip(np.unique(y).tolist(), parts.LOOKS, strict=False):
        own = Z[y == label]
        ax.scatter(*own.T, color=colour, marker=marker, s=60, edgecolor=DARK, depthshade=False)
    for point in Z:
        ax.plot(*np.array([[*point[:2], -0.5], point]).T, color=DARK, linewidth=0.7, linestyle=":")
    ax.set(xlabel="x1", ylabel="x2", zlabel="x1∧x2", xticks=[0, 1], yticks=[0, 1], zticks=[0, 1], zlim=(-0.5, 1.5))
    ax.set_title("Three features: a plane between the classes", fontsize="medium")
    ax.view_init(elev=18, azim=-60)
    ax.set_box_aspect(None, zoom=1.5)
