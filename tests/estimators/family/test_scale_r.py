"""``AROW(r="scale")``: the run of the number that it stands for, by every road; what cannot know it asks for one."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.commands import command, ran, written
from helpers.dying_runs import Blocks, Crash
from helpers.family_cases import assert_same_bits, family_set
from rosenblatt import AROW, data, load, save


def by_definition(X):
    """Return 0.3 times the mean squared length of rows, rounded once."""
    squares = sum(Fraction(float(value)) ** 2 for value in np.asarray(X).ravel())
    return float(Fraction(3, 10) * squares / len(X))


@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
@pytest.mark.parametrize("bias", [True, False])
def test_dense_sparse_and_streamed_rows_give_the_run_of_the_number(classes, multi_class, bias):
    X, y = family_set("decimals", n=60, d=5, classes=classes)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0.0
    options = {"multi_class": multi_class, "fit_intercept": bias, "random_state": 0, "max_iter": 3}
    twin = AROW(r=by_definition(X), **options).fit(X, y)
    models = [AROW(r="scale", **options).fit(layout(X), y) for layout in (np.asarray, np.asfortranarray, sp.csr_array)]
    for size in (7, 60):
        blocks = [(sp.csr_array(X[i : i + size]), y[i : i + size]) for i in range(0, 60, size)]
        models.append(AROW(r="scale", **options).fit_stream(blocks))
    for model in models:
        assert model.get_params()["r"] == "scale"
        assert model.r_ == twin.r_ == by_definition(X)
        assert_same_bits(model, twin)


def test_a_model_continues_with_the_number_of_its_first_rows(tmp_path):
    X, y = family_set("gauss", n=60, d=4, classes=3)
    twin = AROW(r=by_definition(X), random_state=0, max_iter=4).fit(X, y).partial_fit(5 * X, y)
    model = AROW(r="scale", random_state=0, max_iter=2, warm_start=True).fit(X, y)
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        assert one.get_params() == model.get_params()
        assert_same_bits(one.fit(X, y).partial_fit(5 * X, y), twin)
        assert one.r_ == twin.r_
    model.set_params(r=1.0)
    with pytest.raises(ValueError, match="r has changed since this model was trained"):
        model.partial_fit(X, y)
    save(model, tmp_path / "n")
    assert load(tmp_path / "n").r == twin.r_  # the number that it was trained with


def test_early_stopping_and_tol_read_the_loss_of_the_number():
    X, y = family_set("gauss", n=90, d=4, classes=2)
    for options in ({"early_stopping": True, "n_iter_no_change": 2}, {"tol": 1e-3}):
        model, twin = (AROW(r=r, random_state=0, max_iter=50, **options).fit(X, y) for r in ("scale", by_definition(X)))
        assert_same_bits(model, twin)
        assert model.n_iter_ == twin.n_iter_ < 50


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_run_that_dies_goes_on_with_the_number(tmp_path, early_stopping):
    options = {"r": "scale", "random_state": 1, "max_iter": 3, "early_stopping": early_stopping}
    whole = AROW(**options).fit_stream(Blocks(60))
    for limit in range(20, 1000, 11):
        model = AROW(**options)
        try:
            model.fit_stream(Blocks(60, limit), checkpoint=tmp_path / "c", every=0, resume=True)
            break
        except Crash:
            continue
    assert limit > 20
    assert model.r_ == whole.r_
    assert_same_bits(model, whole)


def test_what_cannot_be_read_twice_asks_for_a_number():
    X, y = family_set("gauss", n=20, d=3, classes=2)
    message = "r='scale' depends on all rows, which are not known in advance here: pass r as a number"
    for start in (
        lambda model: model.partial_fit(X, y),
        lambda model: model.learn_one({"a": 1}, 1),
        lambda model: model.fit_stream(iter([(X, y)])),
    ):
        model = AROW(r="scale", max_iter=1)
        with pytest.raises(ValueError, match=message):
            start(model)
        assert not hasattr(model, "state_")
    with pytest.raises(ValueError, match=r'r must be "scale" or a number above 0, got \'auto\'\.'):
        AROW(r="auto").fit(X, y)


def test_the_command_offers_it(tmp_path):
    X, y = family_set("decimals", n=40, d=3, classes=2)
    lines = [f"{2 * label - 1} 1:{a!r} 2:{b!r} 3:{c!r}" for (a, b, c), label in zip(X.tolist(), y, strict=True)]
    rows = written(tmp_path, "rows.svm", "\n".join(lines) + "\n")
    result = ran("train", rows, "-l", "arow", "--r", "scale", "--scale", "none", "-o", tmp_path / "m", "--json")
    assert f'"r": {by_definition(X)!r}' in result.stdout
    model, twin = load(tmp_path / "m"), AROW(r="scale", random_state=0).fit_stream(data.open(rows))
    assert model.get_params() == twin.get_params()
    assert_same_bits(model, twin)
    ran("watch", "--model", tmp_path / "m", "-o", tmp_path / "n", input=rows.read_text())
    assert load(tmp_path / "n").r_ == model.r_
    refused = command("train", "-", "--format", "svmlight", "-l", "arow", "--r", "scale", input=rows.read_text())
    assert "--r scale depends on all rows" in refused.stderr
    assert "give a number, such as --r 3" in refused.stderr
    refused = command("train", rows, "-l", "arow", "--r", "auto")
    assert "--r must be scale or a number above 0, got 'auto'." in refused.stderr
