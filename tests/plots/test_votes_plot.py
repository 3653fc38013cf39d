"""A vote in the plane beside its average."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.pictures import axes
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.messages import percent
from rosenblatt.plots import plot_votes
from rosenblatt.plots.plane_parts import Frame

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2)) + 1.2])
Y = np.repeat(["ham", "spam"], 20)
MODEL = VotedPerceptron(random_state=0, max_iter=3).fit(X, Y)


def average(model, places):
    return places @ model.average_coef_[0] + model.average_intercept_[0]


def hatched(ax):
    return [part for part in ax.collections if any(getattr(part, "hatches", ()))]


def contours(ax):
    """Return the places of the boundary of the vote and of the line of the average."""
    lines = [part for part in ax.collections if not hasattr(part, "get_sizes") and not part.filled]
    return [np.concatenate([path.vertices for path in line.get_paths()]) for line in lines]


def test_the_two_lines_are_those_of_the_vote_and_of_the_average():
    ax = plot_votes(MODEL, X, Y, axes())
    vote, line = contours(ax)
    np.testing.assert_allclose(average(MODEL, line), 0, atol=1e-9 * np.abs(average(MODEL, X)).max())
    near = 0.03 * np.array([[1, 1], [-1, -1]])
    assert all(len(set(MODEL.predict(place + near).tolist())) == 2 for place in vote)
    ax.figure.canvas.draw()


def test_the_title_says_how_much_of_the_plane_they_differ_on():
    ax = plot_votes(MODEL, X, Y, axes())
    places = Frame.around(X).places()
    share = np.mean((average(MODEL, places) > 0) != (MODEL.predict(places) == "spam"))
    assert 0 < share < 0.1
    assert ax.get_title() == f"The vote and the average differ\non {percent(share)} of what is drawn"
    assert len(hatched(ax)) == 1
    for path in hatched(ax)[0].get_paths():
        inside = [place for place in places[::7] if path.contains_point(place)]
        assert all((average(MODEL, np.array(p)) > 0) != (MODEL.predict([p])[0] == "spam") for p in inside[:20])
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["ham (20)", "spam (20)", "boundary of the vote", "line of the average", "they differ"]


def test_one_voter_is_its_average():
    rows, labels = np.array([[2.0, 1.0], [-2.0, -1.0]]), [1, 0]
    model = VotedPerceptron(shuffle=False, fit_intercept=False).fit(rows, labels)
    assert model.n_updates_ == 1
    ax = plot_votes(model, rows, labels, axes())
    assert ax.get_title() == "The vote and the average answer alike\non all that is drawn"
    assert not hatched(ax)


def test_a_line_that_is_not_seen_is_not_named():
    rows = X * 1e-6  # the bias outweighs all rows
    model = VotedPerceptron(random_state=0, max_iter=2).fit(rows, Y)
    scores = average(model, Frame.around(rows).places())
    assert (scores > 0).all() or (scores < 0).all()
    ax = plot_votes(model, rows, Y, axes())
    assert "line of the average" not in [text.get_text() for text in ax.get_legend().get_texts()]


def test_pipelines_and_other_hypotheses():
    tall = X * [1, 100]
    model = make_pipeline(StandardScaler(), Perceptron("vote", random_state=0, max_iter=3)).fit(tall, Y)
    ax = plot_votes(model, tall, Y, axes())
    _, line = contours(ax)
    scores = average(model[-1], model[0].transform(line))
    np.testing.assert_allclose(scores, 0, atol=1e-9 * np.abs(average(model[-1], X)).max())


def test_what_is_no_vote_of_two_classes_is_refused():
    with pytest.raises(TypeError, match="draws a vote, which this AveragedPerceptron is not: fit a VotedPerceptron"):
        plot_votes(AveragedPerceptron().fit(X, Y), X, Y, axes())
    three = np.arange(40) % 3
    with pytest.raises(ValueError, match="between two classes, got a model of 3"):
        plot_votes(VotedPerceptron(max_iter=2).fit(X, three), X, three, axes())
    with pytest.raises(ValueError, match="one label for each of the 40 rows"):
        plot_votes(MODEL, X, Y[:3], axes())
