"""Mixing: the bits depend on the shards alone, the average is that of the last round, and the paper's bound holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.clusters import (
    FORMS,
    ProcessAveragedPerceptron,
    ProcessPerceptron,
    assert_same_bits,
    cut,
    integer_rows,
    quietly,
    result_of,
    small_windows,
)
from rosenblatt import AveragedPerceptron, Perceptron, load, save
from rosenblatt.distributed.runs import WeightDelta, mean_delta


def mixing(shards, learner=ProcessPerceptron, **given):
    """Return a learner that has mixed what it learned from shards."""
    return quietly(learner(mode="mix", random_state=0, **given).fit_shards, shards)


@st.composite
def separable_shards(draw):
    """Rows with a margin from a plane through the origin that is known, cut into shards, and the plane."""
    n, d = draw(st.integers(6, 80)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    plane = rng.normal(size=d)
    plane /= np.linalg.norm(plane)
    X = rng.normal(size=(n, d))
    X = X[np.abs(X @ plane) > 0.1]
    y = (X @ plane > 0).astype(int)
    X = np.vstack([X, plane, -plane])
    y = np.append(y, [1, 0])
    return cut(draw(st.lists(st.integers(0, len(y)), max_size=6)), X, y), plane


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(separable_shards())
def test_the_bound_of_the_paper_holds_and_a_clean_round_separates(cut_rows):
    """McDonald, Hall and Mann 2010, theorem 3, with a separator that is known."""
    shards, plane = cut_rows
    X, y = np.vstack([shard[0] for shard in shards]), np.concatenate([shard[1] for shard in shards])
    filled = sum(len(shard[1]) > 0 for shard in shards)
    signs = np.where(y == 1, 1, -1)
    longest, margin = np.linalg.norm(X, axis=1).max(), (signs * (X @ plane)).min()
    model = mixing(shards, max_iter=100_000, fit_intercept=False, n_shards=len(shards))
    report = model.report_
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert report.mistakes_by_pass[-1] == 0
    assert report.mixed_shards == filled
    slack = 1 + 1e-9
    assert sum(report.mistakes_by_pass) / filled <= (longest / margin) ** 2 * slack
    assert sum(report.mistakes_by_pass) / filled <= report.bound * slack
    assert report.margin_low * (1 - 1e-9) <= margin_of(X, signs, model) <= report.margin_high * slack
    assert report.margin_high >= margin * (1 - 1e-9)


def margin_of(X, signs, model):
    """Return the margin of the weights of a model without a bias."""
    return (signs * (X @ model.coef_[0])).min() / np.linalg.norm(model.coef_[0])


def test_the_report_says_that_shards_were_mixed():
    X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0], [-2.0, -1.0]] * 3)
    report = mixing(cut([4, 8], X, X[:, 0] > 0)).report_
    assert report.converged
    assert "so a run on one machine that starts from zero makes at most" in str(report)
    mean = f"{report.updates / 3:,.4g}"
    words = f"Mixed from 3 shards, one round per pass. In all rounds together a shard made {mean} updates on average"
    assert f"{words}; the average is at most" in str(report)


@st.composite
def cut_sets(draw):
    n, classes = draw(st.integers(10, 60)), draw(st.sampled_from([2, 3, 5]))
    X, y = integer_rows(n, 3, classes, draw(st.integers(0, 99)), draw(st.sampled_from([0, 3])))
    weight = np.random.default_rng(n).choice([0.0, 0.5, 2.0], n) if draw(st.booleans()) else None
    places = draw(st.lists(st.integers(0, n), max_size=6))
    return cut(places, FORMS[draw(st.sampled_from(sorted(FORMS)))](X), y, weight)


@st.composite
def parameters(draw):
    given = {
        "max_iter": draw(st.integers(1, 5)),
        "shuffle": draw(st.sampled_from([True, False, "once"])),
        "hypothesis": draw(st.sampled_from(["last", "average"])),
        "multi_class": draw(st.sampled_from(["ovr", "direct"])),
        "fit_intercept": draw(st.booleans()),
        "class_weight": draw(st.sampled_from([None, {0: 2.0, 1: 0.5}])),
        "n_shards": draw(st.integers(1, 5)),
    }
    return given | ({"early_stopping": True, "validation_fraction": 0.3} if draw(st.booleans()) else {})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cut_sets(), parameters())
def test_the_number_of_workers_changes_no_bit(shards, given):
    with small_windows(16):
        one, three = (
            result_of(ProcessPerceptron(mode="mix", random_state=1, workers=workers, **given).fit_shards, shards)
            for workers in (1, 3)
        )
    assert_same_bits(one, three)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cut_sets(), parameters())
def test_one_shard_is_learned_from_as_on_one_machine(shards, given):
    """All partitions in one shard: the weights are those of ``fit_stream``, the average is that of the last pass."""
    given |= {"n_shards": 1, "hypothesis": "last"}
    with small_windows(16):
        mixed = result_of(ProcessPerceptron(mode="mix", random_state=1, **given).fit_shards, shards)
        local = {name: value for name, value in given.items() if name != "n_shards"}
        local = result_of(Perceptron(random_state=1, **local).fit_stream, [s for s in shards if len(s[1])])
    if isinstance(local, str):
        assert mixed == local
        return
    assert np.allclose(mixed.coef_, local.coef_, rtol=1e-12, atol=1e-12)
    assert mixed.history_["mistakes"].tolist() == local.history_["mistakes"].tolist()
    assert mixed.n_updates_ == local.n_updates_


def test_averages_are_those_of_the_last_round():
    X, y = integer_rows(60, 3, 2, noise=2)
    shards = cut([20, 40], X, y)
    before = mixing(shards, max_iter=2, shuffle=False)
    averages = []
    for shard in shards:  # a third round by hand: each shard goes on from the weights that all have
        model = AveragedPerceptron(shuffle=False, max_iter=1)
        averages.append(quietly(model.fit, *shard, coef_init=before.coef_, intercept_init=before.intercept_).coef_)
    mixed = mixing(shards, ProcessAveragedPerceptron, max_iter=3, shuffle=False)
    assert np.allclose(mixed.coef_, np.mean(averages, axis=0), rtol=1e-12)


def test_empty_shards_do_not_count_in_the_mean():
    X, y = integer_rows(60, 3, 3, noise=2)
    some = mixing(cut([20, 40], X, y), max_iter=4)
    more = mixing(cut([0, 0, 20, 20, 40, 60], X, y), max_iter=4)
    assert np.array_equal(some.coef_, more.coef_)
    assert some.report_ == more.report_
    assert more.report_.mixed_shards == 3


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_partitions_that_follow_each_other_make_a_shard(form):
    X, y = integer_rows(80, 3, 3, noise=2)
    X = FORMS[form](X)
    eight, two = (mixing(cut(places, X, y), n_shards=2, max_iter=4) for places in (range(10, 80, 10), [40]))
    assert_same_bits(eight, two)


def test_a_shard_that_lacks_classes_takes_part():
    X, y = integer_rows(90, 4, 3, noise=0)
    order = np.argsort(y, kind="stable")
    model = mixing(cut([np.sum(y == 0), np.sum(y < 2)], X[order], y[order]), ProcessAveragedPerceptron, max_iter=20)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_model_keeps_its_report(tmp_path, classes):
    X, y = integer_rows(60, 3, classes, noise=0)
    model = mixing(cut([20, 40], X, y), max_iter=5)
    save(model.to_local(), tmp_path / "model")
    found = load(tmp_path / "model")
    assert found.report_ == model.report_
    assert found.report_.mixed_shards == 3
    assert str(found.report_) == str(model.report_)
    assert_same_bits(found, model)


def test_a_warm_start_goes_on_mixing():
    X, y = integer_rows(60, 3, 3, noise=2)
    shards = cut([20, 40], X, y)
    in_parts = ProcessPerceptron(mode="mix", random_state=0, max_iter=2, warm_start=True)
    quietly(in_parts.fit_shards, shards)
    quietly(in_parts.fit_shards, shards)
    assert np.array_equal(in_parts.coef_, mixing(shards, max_iter=4).coef_)


@pytest.mark.parametrize(
    ("learner", "given", "named"),
    [
        (ProcessPerceptron, {"hypothesis": "vote"}, "hypothesis='vote'"),
        (ProcessPerceptron, {"max_updates": 5}, "max_updates=5"),
        (ProcessAveragedPerceptron, {"decay": 0.5}, "decay=0.5"),
    ],
)
def test_what_shards_cannot_share_is_refused(learner, given, named):
    X, y = integer_rows(20, 2, 2)
    with pytest.raises(ValueError, match="trains shards independently, which does not work with") as refusal:
        learner(mode="mix", **given).fit_shards([(X, y)])
    assert named in str(refusal.value).replace('"', "'")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"mode": "other"}, "mode must be"),
        ({"n_shards": 0}, "n_shards must be"),
        ({"timeout": 0}, "timeout must be"),
        ({"hypothesis": "pocket"}, "not available in training on a cluster"),
        ({"class_weight": "balanced"}, "not available in training on a cluster"),
    ],
)
def test_parameters_out_of_range_are_refused(given, sentence):
    X, y = integer_rows(20, 2, 2)
    with pytest.raises(ValueError, match=sentence):
        ProcessPerceptron(**given).fit_shards([(X, y)])


@given(st.integers(0, 10_000))
def test_means_are_the_same_whichever_form_moves_have(seed):
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(3):
        features = np.flatnonzero(rng.random(9) < 0.4)
        parts.append(WeightDelta(features, rng.normal(size=(2, len(features))), rng.normal(size=(2, len(features)))))
    dense = []
    for one in parts:
        whole = np.zeros((2, 2, 9))
        whole[0][:, one.features], whole[1][:, one.features] = one.w, one.average
        dense.append(WeightDelta(None, *whole))
    expected = mean_delta(dense, 9)
    for given_moves in (parts, [*parts[:2], dense[2]], [dense[0], *parts[1:]]):
        found = mean_delta(given_moves, 9)
        whole = np.zeros((2, 2, 9))
        places = slice(None) if found.features is None else found.features
        whole[0][:, places], whole[1][:, places] = found.w, found.average
        assert np.array_equal(whole[0], expected.w)
        assert np.array_equal(whole[1], expected.average)


def test_a_mean_is_not_gone_on_from_in_exact_mode():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    parts = [(X[:30], X[:30, 0] > 0), (X[30:], X[30:, 0] > 0)]
    model = ProcessPerceptron(mode="mix", n_shards=2, warm_start=True, random_state=0).fit_shards(parts)
    with pytest.raises(ValueError, match=r"^mode has changed since this model was trained"):
        model.set_params(mode="exact").fit_shards(parts)


def test_another_number_of_shards_is_no_warm_start():
    X, y = np.tile([[1.0, 0.0], [-1.0, 0.0]], (10, 1)), np.tile([1, 0], 10)
    parts = [(X[k : k + 2], y[k : k + 2]) for k in range(0, 20, 2)]
    model = ProcessPerceptron(mode="mix", n_shards=10, warm_start=True, fit_intercept=False).fit_shards(parts)
    with pytest.raises(ValueError, match="the number of shards has changed since this model was trained"):
        model.set_params(n_shards=1).fit_shards(parts)
    assert model.set_params(n_shards=10).fit_shards(parts).report_.mixed_shards == 10
