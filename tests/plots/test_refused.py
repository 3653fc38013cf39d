"""What no picture can be made of gets a sentence, before a figure is made."""

from fractions import Fraction

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from rosenblatt import (
    AveragedPerceptron,
    Circle,
    KernelPerceptron,
    Perceptron,
    SphereLift,
    VotedPerceptron,
    dataset_margin,
    fit_circle,
    separability,
    trace,
)
from rosenblatt.data import make_circle, make_rings
from rosenblatt.plots import (
    animate,
    plot_activation,
    plot_bracket,
    plot_circle,
    plot_cosine,
    plot_dichotomies,
    plot_errors,
    plot_history,
    plot_lift,
    plot_neuron,
    plot_orders,
    plot_plane,
    plot_projection,
    plot_proof,
    plot_support,
    plot_update,
    plot_verdict,
    plot_votes,
    plot_weights,
)

SQUARE, AND, XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float), [0, 0, 0, 1], [0, 1, 1, 0]
ELEVEN = np.column_stack([np.arange(33) % 11, np.arange(33) // 11]).astype(float), np.arange(33) % 11
TALL = SQUARE * [1, 100]
LINE = Perceptron(shuffle=False).fit(SQUARE, AND)
TALL_LINE = AveragedPerceptron(shuffle=False).fit(TALL, AND)
KERNEL = KernelPerceptron(kernel="rbf", shuffle=False).fit(SQUARE, XOR)
VOTE = VotedPerceptron(shuffle=False).fit(SQUARE, AND)
THREE = AveragedPerceptron(shuffle=False).fit(SQUARE, [0, 1, 2, 2])
VERDICT, CROSSED = separability(SQUARE, AND), separability(SQUARE, XOR)
RUN = trace(SQUARE, AND)
CIRCLE = Circle([0, 0], 1)
RINGS, SIDES = make_rings(80, 0.1, random_state=0)
MACHINE = SVC().fit(RINGS, SIDES)
PIPELINE = make_pipeline(StandardScaler(), KernelPerceptron("rbf", gamma=1.0, shuffle=False)).fit(RINGS, SIDES)
DISC = make_circle(60, radius=2.0, center=[1, 1], gap=0.4, random_state=0)
SCALED = make_pipeline(SphereLift(), StandardScaler(), Perceptron(max_iter=100_000, random_state=0)).fit(*DISC)
EXACT = [[0, 0], [1, 0], [1 + Fraction(1, 10**20), 0], [2, 3]]
NOT_OURS = LogisticRegression()

REFUSED = [
    (r"plot_plane draws rows of two features, got shape \(4, 3\)", plot_plane, LINE, np.ones((4, 3)), AND),
    ("one label for each of the 4 rows", plot_plane, LINE, SQUARE, AND[:2]),
    ("between two classes, got a model of 3", plot_votes, VotedPerceptron().fit(SQUARE, [0, 1, 2, 2]), SQUARE, AND),
    ("one label for each of the 4 rows", plot_votes, VOTE, SQUARE, AND[:3]),
    (r"rows of two features, got shape \(80, 3\)", plot_support, MACHINE, np.zeros((80, 3)), SIDES),
    (r"one label for each of the 80 rows, got an array of shape \(3,\)", plot_support, MACHINE, RINGS, SIDES[:3]),
    ("labels that the model was trained with, got 'maybe'", plot_support, MACHINE, RINGS[:1], ["maybe"]),
    ("a model of 2 to 10 classes, got one of 0", plot_support, SVR().fit(RINGS, SIDES), RINGS, SIDES),
    ("a model of 2 to 10 classes, got one of 11", plot_support, SVC().fit(*ELEVEN), *ELEVEN),
    ("looked up by index in the training rows, and X does not match", plot_support, PIPELINE, RINGS[::-1], SIDES[::-1]),
    ("looked up by index in the training rows, and X does not match", plot_support, PIPELINE, RINGS[:1], SIDES[:1]),
    (r"one label for each of the 4 rows, got an array of shape \(2,\)", plot_projection, LINE, SQUARE, AND[:2]),
    ("labels that the model was trained with, got 'maybe'", plot_projection, LINE, SQUARE[:1], ["maybe"]),
    ("needs exactly two classes", plot_projection, THREE, SQUARE, [0, 1, 2, 2]),
    (r"expects the result of rosenblatt\.proof, got list", plot_proof, [1, 2]),
    (r"expects the result of rosenblatt\.proof, got list", plot_cosine, [1, 2]),
    ("scored after each pass, got LogisticRegression", plot_errors, NOT_OURS, SQUARE, AND),
    (r"takes a dictionary of 1 to 5 visiting orders, such as .* got Perceptron", plot_orders, LINE),
    ("got 6 of them", plot_orders, dict.fromkeys(range(6), LINE)),
    ("got Perceptron for 'fixed'", plot_orders, {"fixed": Perceptron()}),
    ("at least one model for each order, got none for 'fixed'", plot_orders, {"fixed": []}),
    ("needs a fitted perceptron, got LogisticRegression", plot_history, NOT_OURS),
    ("needs a fitted perceptron, got LogisticRegression", plot_history, make_pipeline(StandardScaler(), NOT_OURS)),
    ("needs a fitted perceptron", plot_history, Perceptron()),
    ("an image of 8 by 8 pixels does not match the 2 weights: give shape=", plot_weights, LINE, (8, 8)),
    ("does not match", plot_weights, LINE, (2,)),
    (r"label must be one of 0, 1, 2, the class whose weights are drawn, got None", plot_weights, THREE),
    (r"at most 6 points \(64 panels\), got 7: choose some of them", plot_dichotomies, np.zeros((7, 2)), "discs"),
    ("points in the plane, got 3 coordinates in each", plot_dichotomies, [[0, 0, 0]], "discs"),
    ("lie so close together", plot_dichotomies, EXACT, "discs"),
    (
        r"with coordinates up to 1e\+150, got 1e\+308: scale",
        plot_dichotomies,
        [[0, 0], [1e308, 0], [0, -1e308]],
        "boxes",
    ),
    (
        r"with coordinates up to 1e\+150, got inf: scale",
        plot_dichotomies,
        [[0, 0], [Fraction(10) ** 400, 0], [0, 1]],
        "boxes",
    ),
    (r"the result of rosenblatt\.fit_circle, got str", plot_circle, "circle", SQUARE, XOR),
    ("plot_circle draws rows of two features, got shape", plot_circle, Circle([0, 0, 0], 1), [[0, 0, 0]], [1]),
    ("one label for each of the 4 rows", plot_circle, CIRCLE, SQUARE, [1]),
    ("up to 10 classes, got 11", plot_circle, CIRCLE, np.zeros((11, 2)), range(11)),
    (r"draws finite numbers, got \(2, nan\) in row 1: leave", plot_circle, CIRCLE, [[0.0, 0.0], [2.0, np.nan]], [1, 0]),
    (r"draws finite numbers, got \(2, inf\) in row 1: leave", plot_circle, CIRCLE, [[0.0, 0.0], [2.0, np.inf]], [1, 0]),
    ("of three dimensions, got plain ones", plot_lift, fit_circle(*DISC), *DISC, Figure().subplots()),
    ("needs a model of the three features", plot_lift, SCALED, *DISC),
    ("needs a model of the three features", plot_lift, LINE, *DISC),
    (r"rows of two features, got shape \(4, 3\)", plot_verdict, VERDICT, np.ones((4, 3)), AND),
    ("the 4 rows that the verdict is about", plot_verdict, VERDICT, SQUARE[1:], AND[1:]),
    ("the 4 rows that the verdict is about", plot_verdict, VERDICT, SQUARE, [0, 0, 0, 2]),
    ("the 4 rows that the verdict is about", plot_verdict, VERDICT, SQUARE, XOR),
    ("the 4 rows that the verdict is about", plot_verdict, VERDICT, 7 * SQUARE + 3, AND),
    ("the 4 rows .* got rows for which the verdict does not hold", plot_verdict, CROSSED, SQUARE, AND),
    (
        "needs a positive and finite margin, got bounds of",
        plot_bracket,
        dataset_margin([[0], [1], [2]], [0, 1, 0]),
    ),
    ("needs a positive and finite margin, got bounds of", plot_bracket, dataset_margin([[0], [1]], [1, 1])),
    ("for separable data, got Inseparable", plot_bracket, CROSSED),
    ("k must be an integer from 1 to", plot_update, RUN, 0, SQUARE, AND),
    ("the rows and labels that were traced, got different ones", plot_update, RUN, 1, SQUARE, AND[::-1]),
    ("the rows and labels that were traced, got different ones", plot_update, RUN, 1, 7 * SQUARE + 3, AND),
    (r"rows of two features, got shape \(4, 3\)", plot_update, RUN, 1, np.ones((4, 3)), AND),
    ("the rows and labels that were traced, got different ones", animate, RUN, 7 * SQUARE + 3, AND),
    (r"ends in \.gif or \.html, got 'run\.mp4'", animate, RUN, SQUARE, AND, "run.mp4"),
]
OF_ANOTHER_TYPE = [
    (
        "needs a model that votes, which this AveragedPerceptron does not: fit a VotedPerceptron",
        plot_votes,
        THREE,
        SQUARE,
        AND,
    ),
    ("such as KernelPerceptron or SVC, got Perceptron", plot_support, LINE, RINGS, SIDES),
    ("expected a fitted linear model", plot_neuron, KERNEL, [0.0, 0.0]),
    ("expected a fitted linear model", plot_activation, KERNEL, [0.0, 0.0]),
    ("expected a fitted linear model", plot_lift, "circle", *DISC),
    ("the result of separability or dataset_margin, got list", plot_verdict, [1], SQUARE, AND),
    (r"plot_update expects the result of rosenblatt\.trace, got list", plot_update, [1], 1, SQUARE, AND),
    (r"animate expects the result of rosenblatt\.trace, got str", animate, "run", SQUARE, AND),
    (r"expected a path such as 'run\.gif' or 'run\.html', got bytes\.", animate, RUN, SQUARE, AND, b"a.gif"),
    (r"expected a path such as 'run\.gif' or 'run\.html', got int\.", animate, RUN, SQUARE, AND, 3),
]


@pytest.mark.parametrize(("error", "cases"), [(ValueError, REFUSED), (TypeError, OF_ANOTHER_TYPE)])
def test_what_cannot_be_drawn_is_a_sentence_and_leaves_no_figure(error, cases):
    before = pyplot.get_fignums()
    for words, draw, *given in cases:
        with pytest.raises(error, match=words):
            draw(*given)
        assert pyplot.get_fignums() == before


def test_a_precomputed_kernel_has_no_plane():
    products = RINGS @ RINGS.T
    with pytest.raises(ValueError, match="which a precomputed kernel does not have"):
        plot_support(SVC(kernel="precomputed").fit(products, SIDES), products, SIDES)


def test_options_that_cannot_be_meant_are_named(tmp_path):
    feet = {"projections": True}
    for words, draw, given, options in (
        ("max_frames must be an integer of at least 1, got 0", animate, (RUN, SQUARE, AND), {"max_frames": 0}),
        (
            "interval must be an integer from 1 to 600000, got 10000000",
            animate,
            (RUN, SQUARE, AND),
            {"interval": 10**7},
        ),
        ("label must be one of the classes 0, 1, 2, got 7", plot_weights, (THREE,), {"label": 7}),
        ("the class whose weights are drawn", plot_weights, (THREE,), {"label": [0, 1]}),
        ("projections need a linear model of two classes", plot_plane, (KERNEL, SQUARE, XOR), feet),
        ("features have similar ranges: scale the features", plot_plane, (TALL_LINE, TALL, AND), feet),
    ):
        with pytest.raises(ValueError, match=words):
            draw(*given, **options)
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*none' to write 'run\.gif' into"):
        animate(RUN, SQUARE, AND, tmp_path / "none" / "run.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[0, 0], [0, np.nan], [1, 0], [1, 1]], r"draws finite numbers, got \(0, nan\) in row 1: leave such rows out"),
        ([[0, 0], [0, 1], [np.inf, 0], [1, 1]], r"draws finite numbers, got \(inf, 0\) in row 2"),
        (
            (2 * SQUARE - 1) * 1e308,
            r"numbers larger than 1e\+100 or too close together for floats, got -1e\+308 to 1e\+308 and",
        ),
        (SQUARE * 1e-300, "got 0 to 1e-300 and 0 to 1e-300: shift or scale each feature"),
        (SQUARE + 1e13, "too close together for floats"),
    ],
)
def test_numbers_without_a_place_in_a_picture_are_a_sentence(X, sentence):
    circle = fit_circle(SQUARE, AND)
    for draw, *given in ((plot_verdict, VERDICT), (plot_plane, LINE), (plot_update, RUN, 1), (plot_circle, circle)):
        with pytest.raises(ValueError, match=sentence):
            draw(*given, X, AND)


def test_labels_without_an_order_are_a_sentence():
    circle = fit_circle(SQUARE, AND)
    for draw, shown in ((plot_plane, LINE), (plot_projection, LINE), (plot_verdict, VERDICT), (plot_circle, circle)):
        with pytest.raises(ValueError, match="labels must not be None or NaN"):
            draw(shown, SQUARE, [0, "a", None, 1])
        with pytest.raises(ValueError, match="labels must be all strings or all numbers"):
            draw(shown, SQUARE, [0, "a", 0, 1])


@pytest.mark.parametrize("draw", [plot_plane, plot_projection, plot_support, plot_votes])
def test_models_that_are_not_fitted_are_named(draw):
    for model in (Perceptron(), make_pipeline(SphereLift(), KernelPerceptron())):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            draw(model, SQUARE, AND)
    with pytest.raises(NotFittedError):
        plot_support(SVC(), RINGS, SIDES)
