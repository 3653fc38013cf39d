import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from helpers.pictures import axes, lines
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.messages import percent
from rosenblatt.plots import plot_history, plot_projection, plot_weights
from rosenblatt.plots.axes import BLUE, ORANGE
from rosenblatt.training.state import CutPass

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
SEPARABLE = np.where(X @ [1.0, -2.0, 0.5, 0.0] > 0, "yes", "no")
NOISY = np.where(X[:, 0] + RNG.normal(size=120) > 0, "yes", "no")


@pytest.mark.slow
def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, rosenblatt.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    for part in ("matplotlib", "matplotlib.pyplot", "matplotlib.ticker"):
        monkeypatch.setitem(sys.modules, part, None)
    model = Perceptron(random_state=0).fit(X, SEPARABLE)
    with pytest.raises(ImportError, match=r"pip install 'rosenblatt\[plots\]'"):
        plot_history(model)


# mistakes by pass


def test_history_draws_the_mistakes_of_each_pass():
    model = Perceptron(random_state=0, max_iter=1000).fit(X, SEPARABLE)
    ax = axes()
    assert plot_history(model, ax) is ax
    drawn = lines(ax)["mistakes during the pass"]
    np.testing.assert_array_equal(drawn.get_xdata(), np.arange(1, model.n_iter_ + 1))
    np.testing.assert_array_equal(drawn.get_ydata(), model.history_["mistakes"])
    assert ax.get_title() == f"Separated: pass {model.n_iter_} made no mistake"
    star = lines(ax)["a pass without a mistake"]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (model.n_iter_, 0)


def test_history_says_what_is_left():
    model = AveragedPerceptron(random_state=0, max_iter=3).fit(X, NOISY)
    ax = plot_history(model, axes())
    assert ax.get_title() == f"Not separated: {model.history_['mistakes'][-1]} mistakes in pass 3"
    assert len(ax.get_lines()) == 1


def test_history_draws_the_held_out_error_on_an_axis_of_its_own():
    model = AveragedPerceptron(random_state=0, max_iter=20, early_stopping=True).fit(X, NOISY)
    ax = plot_history(model, axes())
    (twin,) = [other for other in ax.figure.axes if other is not ax]
    line, kept = twin.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), 100 * model.history_["validation_error"])
    best = int(np.argmin(model.history_["validation_error"])) + 1
    assert model.best_iter_ == best < model.n_iter_
    assert (kept.get_xdata()[0], kept.get_ydata()[0]) == (best, line.get_ydata()[best - 1])
    assert kept.get_label() == f"pass {best}, which is kept"
    assert ax.get_title() == f"Early stopping kept pass {best} of {model.n_iter_}"
    drawn = lines(ax)["mistakes during the pass"]
    assert line.get_color() != drawn.get_color()
    assert line.get_marker() != drawn.get_marker()
    assert line.get_linestyle() != drawn.get_linestyle()


def test_history_marks_a_pass_that_was_cut_short():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(random_state=0, max_updates=20).fit(X, NOISY)
    assert model.report_.last_pass_cut is not None
    ax = plot_history(model, axes())
    share = model.report_.last_pass_cut.share
    (cut,) = [line for name, line in lines(ax).items() if name.startswith("cut short")]
    assert cut.get_label() == f"cut short after {percent(share)} of its rows"
    assert (cut.get_xdata()[0], cut.get_ydata()[0]) == (model.n_iter_, model.history_["mistakes"][-1])
    assert to_hex(cut.get_markerfacecolor()) == "#ffffff"
    words = f"Pass {model.n_iter_} was cut short: {model.history_['mistakes'][-1]} mistakes so far"
    assert ax.get_title() == words


def test_history_of_a_pass_of_a_stream_that_was_cut_short_counts_its_rows():
    history = np.array([(5,), (2,)], dtype=[("mistakes", "i8")])
    model = SimpleNamespace(history_=history, report_=SimpleNamespace(last_pass_cut=CutPass(700, None, True)))
    ax = plot_history(model, axes())
    assert "cut short after 700 rows" in lines(ax)
    assert ax.get_title() == "Pass 2 was cut short: 2 mistakes so far"


def test_history_of_a_clean_chunk_is_no_verdict():
    model = Perceptron()
    for _ in range(60):
        model.partial_fit(X, SEPARABLE)
    assert model.history_["mistakes"][-1] == 0
    assert plot_history(model, axes()).get_title() == "Pass 60 made no mistake"


# weights


def test_bars_are_signed_and_named():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = AveragedPerceptron(random_state=0).fit(frame, SEPARABLE)
    ax = plot_weights(model, ax=axes())
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    widths = [bar.get_width() for bar in ax.patches]
    w = dict(zip("abcd", model.coef_[0], strict=True))
    assert widths == sorted(widths, reverse=True)
    assert [w[name] for name in names] == widths
    assert {to_hex(bar.get_facecolor()).upper() for bar in ax.patches if bar.get_width() < 0} == {ORANGE}
    assert {to_hex(bar.get_facecolor()).upper() for bar in ax.patches if bar.get_width() > 0} == {BLUE}
    assert all(bool(bar.get_hatch()) == (bar.get_width() < 0) for bar in ax.patches)
    assert "yes" in ax.get_xlabel()


def test_bars_leave_out_the_features_between():
    wide = RNG.normal(size=(50, 30))
    model = AveragedPerceptron(random_state=0).fit(wide, wide[:, 0] > 0)
    ax = plot_weights(model, ax=axes(), top=3)
    assert len(ax.patches) == 6
    assert ax.texts[0].get_text() == "24 features between"


def test_an_image_is_balanced_around_zero():
    model = AveragedPerceptron(random_state=0).fit(X, SEPARABLE)
    ax = plot_weights(model, (2, 2), axes())
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), model.coef_.reshape(2, 2))
    low, high = image.get_clim()
    assert -low == high == np.abs(model.coef_).max()
    signs = {tuple(map(int, text.get_position()[::-1])): text.get_text() for text in ax.texts}
    for place, sign in signs.items():
        assert sign == ("+" if image.get_array()[place] > 0 else "\N{MINUS SIGN}")


def test_of_more_classes_one_is_picked():
    model = AveragedPerceptron(random_state=0).fit(X, np.argmax(X[:, :3], axis=1))
    ax = plot_weights(model, (2, 2), axes(), label=1)
    np.testing.assert_array_equal(ax.images[0].get_array(), model.coef_[1].reshape(2, 2))


def test_a_class_is_named_as_people_write_it():
    model = AveragedPerceptron(random_state=0).fit(X, np.argmax(X[:, :3], axis=1).astype(float))
    assert "speaks for not 1,  + for 1" in plot_weights(model, ax=axes(), label="1").get_xlabel()
    small = plot_weights(model, ax=Figure(figsize=(4, 3), layout="constrained").subplots(), label="1")
    small.set_yticklabels(["a feature with a long name"] * len(small.get_yticks()))
    small.figure.draw_without_rendering()
    words = small.xaxis.label.get_window_extent()
    assert 0 <= words.x0 < words.x1 <= small.figure.bbox.x1


# pipelines


def test_pictures_of_a_pipeline_are_those_of_its_learner_and_what_its_steps_make_of_the_rows():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    steps = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler())
    model = make_pipeline(steps, Perceptron(random_state=0, max_iter=1000)).fit(frame, SEPARABLE)
    Z, learner = model[:-1].transform(frame), model[-1]
    whole, alone = (
        plot_projection(model, frame, SEPARABLE, axes()),
        plot_projection(learner, Z, SEPARABLE, axes()),
    )
    assert whole.get_title() == alone.get_title()
    assert whole.get_xlabel() == alone.get_xlabel() + ", x after the pipeline's steps"
    for name, line in lines(alone).items():
        if "(" in name:
            np.testing.assert_array_equal(lines(whole)[name].get_xdata(), line.get_xdata())
    assert plot_history(model, axes()).get_title() == plot_history(learner, axes()).get_title()
    ax = plot_weights(model, ax=axes(), top=20)
    assert {tick.get_text() for tick in ax.get_yticklabels()} == set(model[:-1].get_feature_names_out())
    assert ax.get_xlabel().startswith("weight of the scaled feature:")


def test_pictures_of_a_search_are_those_of_its_best_model():
    search = GridSearchCV(make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)), {}, cv=2)
    search.fit(X, SEPARABLE)
    assert plot_projection(search, X, SEPARABLE, axes()).get_title()
    assert len(plot_weights(search, ax=axes()).patches) == 4
    assert plot_history(search, axes()).get_title()


def test_a_votes_picture_says_that_it_shows_the_average():
    ax = plot_weights(VotedPerceptron(random_state=0).fit(X, SEPARABLE), ax=axes())
    assert ax.get_title() == "Averaged weights of a vote"
