"""What all pictures share: names are shown as they are, failures leave no figure, axes are checked, styles are kept."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

from rosenblatt import (
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
    dataset_margin,
    fit_circle,
    proof,
    separability,
    trace,
)
from rosenblatt.plots import (
    animate,
    plot_activation,
    plot_bracket,
    plot_circle,
    plot_cosine,
    plot_dichotomies,
    plot_errors,
    plot_growth,
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
from rosenblatt.plots import axes as shared

pd = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

CORNERS, AND = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 0, 0, 1]
DISC = [[0, 0], [1, 0], [3, 0], [0, -3]], [1, 1, 0, 0]


@pytest.fixture(autouse=True)
def no_figures():
    """Begin without figures, and close all."""
    plt.close("all")
    yield
    plt.close("all")


@functools.cache
def drawings(names, columns):
    """Return each picture by name, of two classes with these names and features with these."""
    y = np.array(names, dtype=object)[AND]
    X = pd.DataFrame(CORNERS, columns=list(columns))
    inside = np.array(names, dtype=object)[DISC[1]]
    fitted = {kind: kind(shuffle=False).fit(X, y) for kind in (Perceptron, VotedPerceptron, KernelPerceptron)}
    model, run = fitted[Perceptron], trace(X, y)
    return {
        "plane": lambda ax=None: plot_plane(model, X, y, ax),
        "votes": lambda ax=None: plot_votes(fitted[VotedPerceptron], X, y, ax),
        "support": lambda ax=None: plot_support(fitted[KernelPerceptron], X, y, ax),
        "projection": lambda ax=None: plot_projection(model, X, y, ax),
        "verdict": lambda ax=None: plot_verdict(separability(X, y), X, y, ax),
        "circle": lambda ax=None: plot_circle(fit_circle(DISC[0], inside), DISC[0], inside, ax),
        "neuron": lambda ax=None: plot_neuron(model, X.iloc[:1], ax),
        "activation": lambda ax=None: plot_activation(model, X.iloc[:1], ax),
        "weights": lambda ax=None: plot_weights(model, ax=ax),
        "orders": lambda ax=None: plot_orders({names[0]: model, names[1]: model}, ax),
        "animate": lambda ax=None: drawn_once(animate(run, X, y, max_frames=1, ax=ax)),
        "errors": lambda ax=None: plot_errors(model, X, y, ax=ax),
        "history": lambda ax=None: plot_history(model, ax),
        "proof": lambda ax=None: plot_proof(proof(X, y), ax),
        "cosine": lambda ax=None: plot_cosine(proof(X, y), ax),
        "bracket": lambda ax=None: plot_bracket(dataset_margin(X, y), ax),
        "growth": lambda ax=None: plot_growth(CORNERS, "discs", ax=ax),
        "lift": lambda ax=None: plot_lift(fit_circle(DISC[0], inside), DISC[0], inside, ax),
        "update": lambda axes=None: plot_update(run, 1, X, y, axes),
    }


def drawn_once(animation):
    """Return the axes of a moving picture, which matplotlib wants to have drawn."""
    figure = animation._fig
    figure.canvas.draw()
    return figure.axes[0]


PLAIN = drawings(("no", "yes"), ("a", "b"))
NAMED = ["plane", "votes", "support", "projection", "verdict", "circle", "animate", "orders", "lift", "update"]


@pytest.mark.parametrize("name", [*NAMED, "neuron", "activation", "weights"])
def test_dollars_are_no_mathematics_and_a_leading_underscore_hides_no_class(name):
    drawn = drawings(("_$a$", r"_$\foo$"), ("$b$", r"$\bar"))[name]()
    np.ravel(drawn)[0].figure.canvas.draw()
    texts = [text.get_text() for text in np.ravel(drawn)[0].figure.findobj(matplotlib.text.Text)]
    dollars = [text for text in texts if "$" in text and "mathdefault" not in text]  # which stands in ticks
    assert dollars
    assert not any(matplotlib.cbook.is_math_text(text) for text in dollars)
    if name in NAMED:
        shown = " ".join(text.get_text() for text in np.ravel(drawn)[0].get_legend().get_texts())
        assert r"_\$a\$" in shown
        assert r"_\$\foo\$" in shown


@pytest.mark.parametrize("name", [*NAMED, "neuron", "activation", "weights"])
def test_names_of_500_letters_leave_room_for_the_picture(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = np.ravel(drawings(("a" * 500, "b" * 500), ("c" * 500, "d" * 500))[name]())[0]
        drawn.figure.canvas.draw()
    assert max(len(text.get_text()) for text in drawn.figure.findobj(matplotlib.text.Text)) < 200
    assert drawn.get_position().width > 0.15


def failing(*args, **kwargs):
    """Fail as an interrupt does."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", PLAIN)
def test_a_picture_that_fails_leaves_no_figure(name, monkeypatch):
    for method in ("set_title", "set"):
        monkeypatch.setattr("matplotlib.axes.Axes." + method, failing)
    mine = plt.figure()
    with pytest.raises(KeyboardInterrupt):
        PLAIN[name]()
    assert plt.get_fignums() == [mine.number]


def test_dichotomies_that_fail_leave_no_figure(monkeypatch):
    monkeypatch.setattr("matplotlib.figure.Figure.suptitle", failing)
    with pytest.raises(KeyboardInterrupt):
        plot_dichotomies([[0, 0], [1, 0]], "discs")
    assert plt.get_fignums() == []


def test_axes_that_cannot_be_drawn_on_are_refused():
    figure = plt.figure()
    odd = {projection: figure.add_subplot(projection=projection) for projection in ("polar", "3d", "aitoff")}
    others = {"str": "x", "Figure": figure, "ndarray": figure.subplots(1, 2)}
    for draw in (draw for name, draw in PLAIN.items() if name not in ("lift", "update")):
        for projection, ax in odd.items():
            with pytest.raises(
                ValueError, match=f"two dimensions, got {projection} ones: create them with plt.subplots"
            ):
                draw(ax)
        for kind, other in others.items():
            with pytest.raises(TypeError, match=f"expected matplotlib Axes to draw on, got {kind}"):
                draw(other)


def test_lifts_dichotomies_and_updates_need_their_own_axes():
    figure = plt.figure()
    plain, polar = figure.add_subplot(), figure.add_subplot(projection="polar")
    lift, update = PLAIN["lift"], PLAIN["update"]
    for draw, ax, error, words in (
        (lift, plain, ValueError, "of three dimensions, got plain ones"),
        (lift, polar, ValueError, "of three dimensions, got polar ones"),
        (lift, "x", TypeError, "got str"),
        (update, plain, ValueError, "plot_update draws on two axes, got 1: create them with"),
        (update, figure.subplots(1, 3), ValueError, "plot_update draws on two axes, got 3: create them with"),
        (update, [], ValueError, "plot_update draws on two axes, got 0: create them with"),
        (update, [plain, None], TypeError, "got NoneType"),
        (update, [plain, polar], ValueError, "got polar ones"),
    ):
        with pytest.raises(error, match=words):
            draw(ax)
    with pytest.raises(
        TypeError, match=r"expected a matplotlib Figure to draw on, got Axes: create it with plt\.figure"
    ):
        plot_dichotomies([[0, 0], [1, 0]], "discs", figure=plain)


@pytest.mark.parametrize("name", [*PLAIN, "dichotomies"])
def test_no_line_is_dark_on_dark_paper_and_a_frame_names_the_axes(name):
    with plt.style.context("dark_background"):
        if name == "dichotomies":
            figure = plot_dichotomies([[0, 0], [1, 0], [2, 0]], "discs")
        else:
            figure = np.ravel(PLAIN[name]())[0].figure
        assert {shared.ink(), shared.paper()} == {"white", (0.0, 0.0, 0.0, 1.0)}
    if name in ("plane", "votes", "support", "verdict", "animate", "update"):
        assert {(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes} == {("a", "b")}
    dark = matplotlib.colors.to_rgba("#333333")
    for artist in figure.findobj(lambda artist: hasattr(artist, "get_edgecolor") or hasattr(artist, "get_color")):
        for ask in ("get_color", "get_edgecolor"):
            colours = getattr(artist, ask)() if hasattr(artist, ask) else None
            if colours is None or len(colours) == 0 or (isinstance(colours, str) and colours in ("none", "auto")):
                continue
            for colour in matplotlib.colors.to_rgba_array(colours):
                assert not np.allclose(colour[:3], dark[:3]), artist


def test_the_ink_is_dark_on_light_paper_and_follows_a_dark_style():
    assert shared.ink() == "#333333"
    assert shared.paper(0.7) == (1.0, 1.0, 1.0, 0.7)
    with matplotlib.rc_context({"axes.facecolor": "none", "figure.facecolor": "#101010", "text.color": "#eeeeee"}):
        assert shared.ink() == "#eeeeee"
        assert shared.paper()[:3] == matplotlib.colors.to_rgb("#101010")


def test_a_figure_that_another_thread_makes_meanwhile_stays():
    class Labels:
        def __array__(self, *args, **kwargs):
            plt.figure()  # as another thread may, while the labels are read
            raise ValueError("no labels")

    with pytest.raises(ValueError, match="no labels"):
        plot_projection(Perceptron(shuffle=False).fit(CORNERS, AND), CORNERS, Labels())
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("letters", [10, 16])
def test_legends_have_room_in_a_subfigure_and_with_large_letters(letters):
    verdict = separability(CORNERS, [0, 1, 1, 0])
    with plt.rc_context({"font.size": letters}):
        whole = plt.figure(layout="constrained", figsize=(10, 5))
        ax = plot_verdict(verdict, CORNERS, [0, 1, 1, 0], whole.subfigures(1, 2)[1].subplots())
        whole.draw_without_rendering()
        legend = ax.get_legend().get_window_extent()
        assert legend.x0 >= ax.figure.bbox.x0 - 1
        assert legend.x1 <= ax.figure.bbox.x1 + 1


@pytest.mark.parametrize("name", ["orders", "growth"])
def test_the_legend_lies_below_the_words_of_the_axis(name):
    ax = Figure(figsize=(4, 2.2), layout="constrained").subplots()
    PLAIN[name](ax).figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().y0 >= 0
    assert ax.get_legend().get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0
