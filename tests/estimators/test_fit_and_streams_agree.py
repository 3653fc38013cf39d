"""One road to training: arrays, lists of blocks, files, generators and chunks say and do the same.

The rows of the table are what ``fit`` and ``fit_stream`` did differently in 0.1. Where a road is left out of a row, its
difference is meant, and the row says why.
"""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers.examples import held_out
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, data

ROADS = ("fit", "blocks", "file", "generator", "partial_fit")
SEVERAL_PASSES = ("fit", "blocks", "file")


def cut(X, y, weights=None, size=30):
    parts = [slice(i, i + size) for i in range(0, len(y), size)]
    return [(X[p], y[p]) if weights is None else (X[p], y[p], weights[p]) for p in parts]


def train(road, model, X, y, weights=None, folder=None):
    """Train ``model`` on a data set by one of the roads."""
    if road == "fit":
        return model.fit(X, y, weights)
    if road == "blocks":
        return model.fit_stream(cut(X, y, weights))
    if road == "generator":
        return model.fit_stream(block for block in cut(X, y, weights))
    if road == "partial_fit":
        for block in cut(X, y):
            model.partial_fit(*block)
        return model
    columns = [f"x{j}" for j in range(X.shape[1])] + ["label"] + ([] if weights is None else ["weight"])
    cells = [[*map(repr, row), str(label)] for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    if weights is not None:
        cells = [[*row, repr(float(weight))] for row, weight in zip(cells, weights, strict=True)]
    (folder / "rows.csv").write_text("\n".join(",".join(row) for row in [columns, *cells]))
    given = {} if weights is None else {"weight": "weight"}
    return model.fit_stream(data.open(folder / "rows.csv", target="label", block_rows=30, **given))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (240, 4)).astype(float)
    return X, np.where(X[:, 0] + rng.integers(-2, 3, 240) > 0, "yes", "no")


def quiet(road, model, *rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(road, model, *rows)


# a set without weights: partial_fit takes any chunk as it is, since the rows that are missing may still come


@pytest.mark.parametrize("road", [*SEVERAL_PASSES, "generator"])
def test_rows_and_weights_that_leave_less_than_two_classes(road, rows, tmp_path):
    X, y = rows
    model = Perceptron(max_iter=1)
    for labels, weights, sentence in (
        (y, np.zeros(len(y)), "every row has weight zero, so there is nothing to learn"),
        (y, (y == "yes").astype(float), "got one class among the rows whose weight is not 0"),
        (np.full(len(X), "yes"), None, "at least two classes, got one class: every label is 'yes'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            quiet(road, model, X, labels, weights, tmp_path)
        assert not hasattr(model, "state_")
    with pytest.raises(ValueError, match="class_weight names 'maybe', which is not one of the classes"):
        quiet(road, Perceptron(max_iter=1, class_weight={"maybe": 2.0}), X, y, None, tmp_path)


def test_partial_fit_waits_for_classes(rows):
    X, y = rows
    model = Perceptron(class_weight={"maybe": 2.0}).partial_fit(X[:5], np.full(5, "no"))
    assert model.partial_fit(X, y).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("road", ROADS)
def test_rows_sorted_by_label_are_warned_of(road, rows, tmp_path):
    X, y = rows
    order = np.argsort(y, kind="stable")
    with pytest.warns(UserWarning, match="rows all have one label") as seen:
        train(road, AveragedPerceptron(max_iter=1, shuffle=False), X[order], y[order], None, tmp_path)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    train(road, AveragedPerceptron(max_iter=1, shuffle=False), X, y, None, tmp_path)


@pytest.mark.parametrize("road", [*SEVERAL_PASSES, "generator"])  # chunks are no end of training, so nothing is left
@pytest.mark.parametrize(
    ("limits", "words"),
    [({}, "the last pass that max_iter allows"), ({"max_updates": 3}, "the last pass that max_updates allows")],
)
def test_mistakes_left_are_warned_of_at_the_users_line(road, limits, words, rows, tmp_path):
    with pytest.warns(ConvergenceWarning, match=words) as seen:
        train(road, Perceptron(max_iter=1, shuffle=False, **limits), *rows, None, tmp_path)
    lines, first = inspect.getsourcelines(train)
    assert seen[0].filename == __file__
    assert first <= seen[0].lineno < first + len(lines)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize("road", SEVERAL_PASSES)  # early stopping needs several passes
def test_early_stopping_holds_out_the_same_rows(road, learner, rows, tmp_path):
    X, y = rows
    options = {"early_stopping": True, "max_iter": 6, "random_state": 4, "n_iter_no_change": 2}
    fitted = quiet("fit", learner(**options), X, y)
    model = quiet(road, learner(**options), X, y, None, tmp_path)
    assert model.last_coef_.tobytes() == fitted.last_coef_.tobytes()
    assert model.history_.tolist() == fitted.history_.tolist()
    trained = len(y) - int(held_out(y, 4).sum())
    assert model.state_.counters["visits"][0] % trained == 0


@pytest.mark.parametrize("road", SEVERAL_PASSES)
def test_rare_classes_are_held_out_too_and_the_rarest_are_trained_on(road, rows, tmp_path):
    X, y = rows
    y = y.astype("<U8")
    y[[17, 80, 130]], y[::19][:10], y[5] = "rare", "uncommon", "once"
    options = {"early_stopping": True, "max_iter": 4, "n_iter_no_change": 4}
    for seed in range(20):
        held, changed = held_out(y, seed), X.copy()
        changed[held] = 1000.0
        model, other = Perceptron(random_state=seed, **options), Perceptron(random_state=seed, **options)
        quiet(road, model, X, y, None, tmp_path)
        quiet(road, other, changed, y, None, tmp_path)
        assert model.history_["mistakes"].tolist() == other.history_["mistakes"].tolist()
        facts = model.report_.early_stopping
        assert facts.held_out_rows == held.sum() == sum(held_out(y, seed)[y == label].sum() for label in set(y))
        assert held[y == "uncommon"].sum() == 1
        assert not held[[5, *(np.argmax(y == label) for label in set(y))]].any()
    with pytest.warns(UserWarning, match="on all rows of the classes 'once' and 'rare', because there are too few"):
        train(road, Perceptron(random_state=0, max_iter=1, early_stopping=True), X, y, None, tmp_path)
    with pytest.raises(ValueError, match=r"cannot hold out 0\.1 of these 3 rows, because every class has too few rows"):
        quiet(road, Perceptron(early_stopping=True, random_state=0), X[:3], y[:3], None, tmp_path)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("limit", [None, 3])
def test_one_pass_in_the_given_order_is_the_same_by_every_road(road, learner, limit, rows, tmp_path):
    X, y = rows
    fitted = quiet("fit", learner(max_iter=1, shuffle=False, max_updates=limit), X, y)
    model = quiet(road, learner(max_iter=1, shuffle=False, max_updates=limit), X, y, None, tmp_path)
    assert limit is None or model.n_updates_ == limit
    for name in ("last_coef_", "last_intercept_", "average_coef_", "average_intercept_"):
        assert getattr(model, name).tobytes() == getattr(fitted, name).tobytes()
    assert model.predict(data.Block(X)).tolist() == fitted.predict(X).tolist()
    assert limit or model.report_.radius == fitted.report_.radius  # a generator is not read beyond the limit
    assert model.n_updates_ == fitted.n_updates_


@pytest.mark.parametrize("road", [*SEVERAL_PASSES, "generator"])
def test_a_clean_pass_proves_the_same_margin(road, tmp_path):
    X = np.tile([[1.0, 3.0], [3.0, 1.0], [2.0, 2.0], [-1.0, -2.0], [-3.0, -1.0]], (20, 1))
    y = np.tile(["yes", "yes", "yes", "no", "no"], 20)
    start = Perceptron(shuffle=False, warm_start=True, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (start,):
            train("fit", model, X, y)
        model = train(road, start, X, y, None, tmp_path)
        twin = Perceptron(shuffle=False, max_iter=2).fit(X, y)
    assert model.converged_
    assert model.report_.margin_low == pytest.approx(twin.report_.margin_low, rel=1e-12)


def test_training_that_fails_leaves_the_model_as_it_was(rows):
    X, y = rows
    model = quiet("fit", AveragedPerceptron(random_state=0), X, y)
    before, weights = dict(vars(model)), model.coef_

    def broken():
        yield X[:50, :3], y[:50]
        raise OSError("the cable was pulled")

    with pytest.raises(OSError, match="cable"):
        model.set_params(max_iter=1).fit_stream(broken())
    with pytest.raises(ValueError, match="one class"):
        model.fit(X[:, :2], np.ones(len(X)))
    assert {**vars(model), "max_iter": 10} == before
    assert model.coef_.tobytes() == weights.tobytes()
    assert model.predict(X).shape == (240,)


def test_a_warm_start_that_fails_leaves_the_model_as_it_was(rows):
    X, y = rows
    model = quiet("fit", AveragedPerceptron(random_state=0, warm_start=True), X, y)
    weights = model.coef_
    blocks = [(X, y), (X[:, :3], y)]
    with pytest.raises(ValueError, match="features"):
        model.fit_stream(blocks)
    assert model.coef_.tobytes() == weights.tobytes()
    assert model.n_iter_ == 10
