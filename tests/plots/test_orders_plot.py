"""Mistakes by pass for each visiting order."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from helpers.pictures import axes, legend
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.data import make_separable
from rosenblatt.plots import plot_orders

X, Y = make_separable(120, 6, 0.02, random_state=0)


def fitted(**parameters):
    return Perceptron(max_iter=2000, **parameters).fit(X, Y)


def curve(ax, start):
    (line,) = [line for line in ax.get_lines() if line.get_label().startswith(start)]
    return line


def test_a_curve_is_the_mean_of_the_runs_and_the_band_their_range():
    runs = [fitted(random_state=seed) for seed in range(4)]
    fixed = fitted(shuffle=False)
    ax = plot_orders({"fixed": fixed, "anew": runs}, axes())
    longest = max(run.n_iter_ for run in runs)
    made = np.array([np.append(run.history_["mistakes"], np.zeros(longest - run.n_iter_)) for run in runs])
    np.testing.assert_allclose(curve(ax, "anew").get_ydata(), made.mean(axis=0))
    np.testing.assert_array_equal(curve(ax, "fixed").get_ydata(), fixed.history_["mistakes"])
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].max() == made.max()
    passes = sorted(run.n_iter_ for run in runs)
    (clean,) = [line for line in ax.get_lines() if sorted(line.get_xdata()) == passes and not any(line.get_ydata())]
    assert clean.get_marker() == curve(ax, "anew").get_marker()
    spread = f"{np.mean(passes):.3g} ({passes[0]} to {passes[-1]} in 4 runs)"
    assert legend(ax) == [f"fixed: {fixed.n_iter_}", f"anew: {spread}"]
    ax.figure.draw_without_rendering()


def test_orders_differ_in_line_and_mark():
    ax = plot_orders({str(seed): fitted(random_state=seed) for seed in range(5)}, axes())
    looks = {(line.get_linestyle(), line.get_marker()) for line in ax.get_lines() if ": " in line.get_label()}
    assert len(looks) == 5


def test_runs_that_left_mistakes_end_where_they_stopped():
    noisy = np.where(np.random.default_rng(0).normal(size=120) > 0, 1, -1)
    runs = [AveragedPerceptron(max_iter=m, random_state=0).fit(X, noisy) for m in (3, 5)]
    with pytest.warns(ConvergenceWarning):
        cut = Perceptron(max_updates=int(runs[1].history_["mistakes"][:2].sum()) + 1, random_state=0).fit(X, noisy)
    ax = plot_orders({"two": runs, "one": runs[0], "cut": cut}, axes())
    assert legend(ax) == ["two: 2 of 2 runs left mistakes", "one: over 3", "cut: over 3"]
    np.testing.assert_array_equal(curve(ax, "two").get_ydata(), runs[1].history_["mistakes"])  # same order, same run
    assert len(curve(ax, "cut").get_ydata()) == 2  # without the pass that was cut short


def test_passes_are_logarithmic_where_one_order_needs_far_more():
    slow = Perceptron(shuffle=False, max_iter=1000).fit([[0.1], [0.0]], [1, -1])
    quick = Perceptron(shuffle=False).fit([[3.0], [-3.0]], [1, -1])
    assert slow.n_iter_ > 8 * quick.n_iter_
    assert plot_orders({"slow": slow, "quick": quick}, axes()).get_xscale() == "log"
    assert plot_orders({"slow": slow}, axes()).get_xscale() == "linear"


def test_what_is_no_dictionary_of_fitted_models_is_refused():
    with pytest.raises(ValueError, match=r"draws a dictionary of 1 to 5 visiting orders, such as .* got Perceptron"):
        plot_orders(fitted())
    with pytest.raises(ValueError, match="got 6 of them"):
        plot_orders(dict.fromkeys(range(6), fitted()))
    with pytest.raises(ValueError, match="which that of 'fixed', Perceptron, is not"):
        plot_orders({"fixed": Perceptron()})
    with pytest.raises(ValueError, match="at least one model of each order, got none of 'fixed'"):
        plot_orders({"fixed": []})


def test_orders_of_one_name_are_both_drawn():
    ax = plot_orders({1: fitted(random_state=0), "1": fitted(random_state=1)}, axes())
    assert [text.split(":")[0] for text in legend(ax)] == ["1", "1"]


def test_a_run_that_was_cut_in_its_first_pass_has_no_curve():
    with pytest.warns(ConvergenceWarning):
        cut = Perceptron(max_updates=1, random_state=0).fit(X, Y)
    for models in ({"cut": cut}, {"cut": [cut, cut], "whole": fitted(random_state=0)}):
        ax = plot_orders(models, axes())
        assert len(curve(ax, "cut").get_ydata()) == 0
        ax.figure.draw_without_rendering()


def test_the_legend_lies_below_the_words_of_the_axis():
    ax = Figure(figsize=(4, 2.2), layout="constrained").subplots()
    plot_orders({str(seed): fitted(random_state=seed) for seed in range(5)}, ax)
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0
    assert ax.get_legend().get_window_extent().y0 >= 0


def test_the_ends_of_orders_are_side_by_side_below_no_tick():
    X, y = make_separable(60, 3, 0.05, random_state=0)
    runs = [Perceptron(random_state=seed).fit(X, y) for seed in range(3)]
    ax = plot_orders({"a": runs, "b": runs, "c": runs}, Figure(layout="constrained").subplots())
    ends = [line for line in ax.lines if line.get_linestyle() == "None"]
    heights = [line.get_transform().transform((1, 0))[1] for line in ends]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    assert heights[-1] > ax.transAxes.transform((0, 0))[1]
    assert min(ax.get_yticks()) == 0
