"""One record at a time without arrays: the bits of ``partial_fit`` row by row, and of exact fractions."""

import copy
import math
import pickle
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from helpers import rational_family
from helpers.family_cases import CASES, family_set
from helpers.family_cases import KINDS as KINDS_OF_SETS
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    load,
    save,
)
from rosenblatt.training.records import Record, RecordLearner, bits_for, product_sum, split

KINDS = ("integers", "decimals", "gauss", "wide", "tiny", "words")
FIELDS = ("visits", "updates", "step_sum", "step_square_sum", "excess2", "epoch", "mistakes", "pass_updates")


class Setting(NamedTuple):
    """A learner with its parameters, how many classes there are, and the numbers of its records."""

    learner: Any
    parameters: dict[str, Any]
    classes: int
    kind: str

    def model(self):
        """Return a new model."""
        return self.learner(**self.parameters)


def setting(rng) -> Setting:
    """Return a random setting."""
    learner, own = [
        (Perceptron, {}),
        (Perceptron, {"hypothesis": "average"}),
        (AveragedPerceptron, {"decay": float(rng.choice([0.3, 0.9]))}),
        (AveragedPerceptron, {}),
        (MarginPerceptron, {"margin": float(rng.choice([0.0, 0.5, 3.0]))}),
        (PassiveAggressive, {"C": float(rng.choice([0.1, 1.0, math.inf]))}),
        (PassiveAggressive, {"C": 0.3, "loss": "squared_hinge"}),
        (AROW, {"r": float(rng.choice([0.1, 1.0, 10.0]))}),
    ][rng.integers(8)]
    parameters = {**own, "multi_class": str(rng.choice(["ovr", "direct"])), "fit_intercept": bool(rng.random() < 0.7)}
    if rng.random() < 0.25:
        parameters["max_updates"] = int(rng.integers(1, 8))
    if rng.random() < 0.25:
        parameters["class_weight"] = {0: 0.3, 2: 2.5} | ({1: 0.0} if rng.random() < 0.3 else {})
    return Setting(learner, parameters, int(rng.integers(2, 5)), str(rng.choice(KINDS)))


def number(rng, kind):
    """Return a random number of a kind, as one of the types in which users write numbers."""
    if kind == "integers":
        return [int, float, np.int64, np.float32, bool][rng.integers(5)](rng.integers(-2, 3))
    if kind == "decimals":
        return float(rng.choice([-0.3, -0.1, 0.0, 0.1, 0.2, 0.7]))
    if kind == "wide":
        return float(rng.standard_normal() * 10.0 ** rng.integers(-60, 60))
    if kind == "tiny":
        return float(rng.choice([-1e-161, -3e-170, 0.0, 1e-155, 7e-160, 5e-324]))
    if kind == "words" and rng.random() < 0.5:
        return str(rng.choice(["red", "green", "blue"]))
    return float(rng.standard_normal())


def sequence(rng, chosen, n=24):
    """Return records, whose names and classes come up on the way, and labels."""
    records, labels = [], []
    for i in range(n):
        names = [f"x{j}" for j in rng.permutation(3 + i // 6)[: rng.integers(0, 5)]]
        if rng.random() < 0.5:
            names = ["x0", "x1", "x2"]
        if i and rng.random() < 0.2:
            names = list(records[-1])
        records.append({name: number(rng, chosen.kind) for name in names})
        labels.append(int(rng.integers(min(chosen.classes, 2 + i // 8))))
    return records, labels


def matrix(records, names):
    """Return records as a matrix, by the rules that the documentation states."""
    X = np.zeros((len(records), len(names)))
    for i, record in enumerate(records):
        for name, value in record.items():
            X[i, names.index(f"{name}={value}" if isinstance(value, str) else name)] = (
                1.0 if isinstance(value, str) else float(value)
            )
    return X


def assert_same(model, twin):
    """Check that two models have learned the same, to the last bit."""
    assert model.classes_.tolist() == twin.classes_.tolist()
    one, other = model.state_, twin.state_
    for name in ("w", "u", "b", "beta", "s", "s_b"):
        found, expected = getattr(one, name), getattr(other, name)
        assert (found is None) == (expected is None)
        if found is not None:
            assert np.array_equal(found, expected[..., : found.shape[-1]] if found.ndim == 2 else expected), name
            if found.ndim == 2:
                assert np.all(expected[:, found.shape[1] :] == (name == "s")), name
    for name in FIELDS[:6]:
        assert np.array_equal(one.counters[name], other.counters[name]), name
    for name in ("radius2", "max_step_norm2", "max_step"):
        assert np.allclose(one.counters[name], other.counters[name], rtol=1e-12, atol=0.0), name
    assert math.isclose(one.radius, other.radius, rel_tol=1e-12)
    assert model.n_updates_ == twin.n_updates_
    assert model.history_["mistakes"].sum() == twin.history_["mistakes"].sum()


def refused(model, rng):
    """Give the model records and labels that it must refuse, and check that nothing changes."""
    before = pickle.dumps(model)
    for x in ({"x0": math.nan}, {"x0": 1.0, "new": math.inf}, {"x0": None}, {"x1": np.ones(2)}):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(x, 1)
        with pytest.raises((ValueError, TypeError)):
            model.predict_one(x)
    for y in (None, 0.5, [1], "word"):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one({"x0": 1.0}, y)
    assert pickle.dumps(model) == before


def check_sequence(seed, folder):
    """Learn a random sequence record by record and row by row, with much in between, and compare."""
    rng = np.random.default_rng(seed)
    chosen = setting(rng)
    records, labels = sequence(rng, chosen)
    names = list(dict.fromkeys(f"{k}={v}" if isinstance(v, str) else k for r in records for k, v in r.items()))
    X = matrix(records, names) if names else np.zeros((len(records), 1))
    model, twin = chosen.model(), chosen.model()
    try:
        with np.errstate(all="ignore"):
            for i, (x, y) in enumerate(zip(records, labels, strict=True)):
                if i and rng.random() < 0.5:
                    assert model.predict_one(x) == twin.predict(X[i : i + 1])[0]
                if i and rng.random() < 0.1 and len(model.feature_names_in_):
                    frame = pd.DataFrame(X[i : i + 1, : model.n_features_in_], columns=model.feature_names_in_)
                    assert model.predict(frame)[0] == twin.predict(X[i : i + 1])[0] or model.n_features_in_ < len(names)
                fail = None
                try:
                    twin.partial_fit(X[i : i + 1], [y])
                except ValueError as error:
                    fail = error
                if fail is not None:
                    with pytest.raises(ValueError, match=str(fail)[:20]):
                        model.learn_one(x, y)
                    return
                if i and rng.random() < 0.1 and set(x) <= set(model.feature_names_in_) and not _words(x):
                    row = pd.DataFrame([{n: float(x.get(n, 0.0)) for n in model.feature_names_in_}])
                    if row.shape[1]:
                        model.partial_fit(row, [y])
                        continue
                model.learn_one(x, np.int64(y) if rng.random() < 0.3 else y)
                event = rng.integers(30)
                if event == 0:
                    refused(model, rng)
                elif event == 1 and model.n_features_in_:
                    save(model, folder / "m")
                    model = load(folder / "m")
                elif event == 2:
                    model = rng.choice([copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])(model)
                elif event == 3:
                    assert model.coef_.shape[1] == model.n_features_in_
                elif event == 4:
                    model.set_params(verbose=0, max_iter=7)
                elif event == 5:
                    assert_same(model, twin)
    except AssertionError as error:
        raise AssertionError(f"{chosen}, seed {seed}") from error
    assert_same(model, twin)


def _words(x):
    return any(isinstance(value, str) for value in x.values())


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 10))])
def test_random_sequences_have_the_bits_of_partial_fit_row_by_row(part, tmp_path):
    for seed in range(100 * part, 100 * part + (20 if part == 0 else 110)):
        check_sequence(seed, tmp_path)


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_records_are_learned_as_in_exact_fractions(case, direct):
    for seed, kind in enumerate(KINDS_OF_SETS):
        classes, bias = 2 + seed % 3, seed % 2 == 0
        X, labels = family_set(kind, n=16, classes=classes, seed=seed)
        names = [f"x{j}" for j in range(X.shape[1])]
        model = case.learner(multi_class="direct" if direct else "ovr", fit_intercept=bias)
        frame = pd.DataFrame(np.zeros((1, len(names))), columns=names)
        model.partial_fit(frame, [0], classes=list(range(classes)), sample_weight=[0.0])
        for row, label in zip(X.tolist(), labels.tolist(), strict=True):
            model.predict_one(dict(zip(names, row, strict=True)))
            model.learn_one({name: x for name, x in zip(names, row, strict=True) if x or name == "x0"}, label)
        twin = rational_family.run(case.rule(), X, labels, 1, classes=classes, direct=direct, fit_intercept=bias)
        state = model.state_
        for name, expected in (("w", twin.w), ("b", twin.b), ("u", twin.u), ("beta", twin.beta)):
            assert np.array_equal(getattr(state, name), expected), (kind, name)
        if state.s is not None:
            assert np.array_equal(state.s, twin.variance), kind
            assert np.array_equal(state.s_b, twin.bias_variance), kind
        assert state.counters["visits"].tolist() == [count.visits for count in twin.counts]
        assert state.counters["updates"].tolist() == [sum(count.updates) for count in twin.counts]
        assert int(state.counters["mistakes"].sum()) == twin.by_pass("mistakes")[0]


def vectors(rng):
    """Return two vectors whose products cancel, agree to half a bit, or are of very different sizes."""
    n = int(rng.integers(1, 30))
    v = rng.standard_normal(n) * 10.0 ** rng.integers(-rng.integers(1, 30), 30, n)
    w = rng.standard_normal(n) * 10.0 ** rng.integers(-5, 5)
    if rng.random() < 0.5:
        v = np.rint(3 * rng.standard_normal(n))
    if rng.random() < 0.5:
        w = np.rint(5 * rng.standard_normal(n)) / 4
    if rng.random() < 0.5:
        v, w = np.concatenate([v, v]), np.concatenate([w, -w])
        w[rng.integers(2 * n)] *= 1.0 + 2.0 ** -int(rng.integers(1, 53))
    return v.tolist(), w.tolist()


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 10))])
def test_sums_are_within_their_bounds_and_rounded_once(part):
    rng = np.random.default_rng(part)
    for _ in range(300):
        v, w = vectors(rng)
        record = Record(tuple(range(len(v))), has_bias=False)
        record.set(tuple(v), math.hypot(*v))
        exact = sum((Fraction(a) * Fraction(b) for a, b in zip(v, w, strict=True)), Fraction(0))
        bits = bits_for(len(v))
        high, low, error = product_sum(split(v, math.hypot(*v), bits), split(w, math.hypot(*w), bits))
        assert abs(Fraction(high) + Fraction(low) - exact) <= Fraction(error)
        assert record.activation([w], signed=True) == float(exact)
        assert record.activation([w, w], signed=True) == float(2 * exact)
        assert record.square() == float(sum(Fraction(a) ** 2 for a in v))
        s = np.minimum(1.0, np.abs(w)).tolist()
        variance = sum((Fraction(t) * Fraction(a) ** 2 for t, a in zip(s, v, strict=True)), Fraction(0))
        assert record.variance([s]) == float(variance)
        assert record.variance([s, s]) == float(2 * variance)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, MarginPerceptron, PassiveAggressive, AROW])
def test_only_new_labels_need_arrays(learner, monkeypatch):
    rng = np.random.default_rng(0)
    by_array = []
    real = learner._learn_row
    monkeypatch.setattr(learner, "_learn_row", lambda *given: by_array.append(given) or real(*given))
    monkeypatch.setattr(learner, "_predict_row", None)
    model = learner()
    for i in range(200):
        x = {f"x{j}": float(rng.standard_normal()) for j in rng.permutation(3 + i // 20)[:5]} | {"word": str(i % 7)}
        model.predict_one(x)
        model.learn_one(x, ["a", "b", "c"][min(i // 50, i % 3)])
        if i % 50 == 7:
            assert model.coef_.shape[1] == model.n_features_in_ == len(model.feature_names_in_)
    assert len(by_array) <= 5
    assert model.n_iter_ == 1


def test_an_interrupt_in_an_update_leaves_no_half_of_it(monkeypatch):
    apply = RecordLearner._apply
    interrupted = []

    def interrupt_once(learner, changes):
        if len(changes) > 1 and not interrupted:
            interrupted.append(changes)
            apply(learner, changes[:1])
            raise KeyboardInterrupt
        apply(learner, changes)

    model, twin = AROW(), AROW()
    for x, y in (({"a": 1.0}, 0), ({"b": 2.0}, 1), ({"a": 1.0}, 0)):
        model.learn_one(x, y)
        twin.learn_one(x, y)
    monkeypatch.setattr(RecordLearner, "_apply", interrupt_once)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({"a": -3.0, "b": 0.5}, 1)
    monkeypatch.undo()
    twin.learn_one({"a": -3.0, "b": 0.5}, 1)
    assert interrupted
    assert_same(model, twin)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, PassiveAggressive])
def test_a_sum_with_the_wrong_sign_decides_nothing(learner):
    model, x = learner(fit_intercept=False), {"a": -1.0, "b": -1e16, "c": 1e16, "d": 0.5}
    ones = dict.fromkeys(x, 1.0)
    model.learn_one({}, 0).learn_one(ones, 1)
    assert sum(x.values()) != math.fsum(x.values())
    assert model.predict_one(x) == 0
    before = model.n_updates_
    assert model.learn_one(x, 1).n_updates_ == before + 1


def test_copies_that_share_their_weights_see_what_either_learns():
    model, twin = Perceptron(), Perceptron()
    records = [({"a": 1.0}, 1), ({"b": 1.0}, 0), ({"a": -2.0}, 1), ({"a": -1.0, "b": 1.0}, 1), ({"a": 3.0}, 0)]
    for x, y in records[:3]:
        model.learn_one(x, y)
    other = copy.copy(model)
    other.learn_one(*records[3])
    assert other.coef_.shape == (1, 2)
    model.learn_one(*records[4])
    for x, y in records:
        twin.learn_one(x, y)
    assert np.array_equal(model.coef_, twin.coef_)
    assert np.array_equal(model.average_coef_, twin.average_coef_)


def test_class_weights_may_change_and_are_checked():
    model, twin = Perceptron(class_weight={1: 2.0}), Perceptron()
    for x, y in (({"a": 1.0}, 0), ({"a": 1.0}, 1), ({"a": 1.0}, 0)):
        model.learn_one(x, y)
    model.class_weight[0] = 0.5
    model.learn_one({"a": 3.0}, 0)
    for weight, (x, y) in zip((1, 2, 1, 0.5), ((1.0, 0), (1.0, 1), (1.0, 0), (3.0, 0)), strict=True):
        twin.partial_fit([[x]], [y], sample_weight=[weight])
    assert np.array_equal(model.coef_, twin.coef_)
    for wrong in ("balanced", {0: -1.0}, {0: math.nan}, 3):
        model.class_weight = wrong
        with pytest.raises(ValueError, match="weight"):
            model.learn_one({"a": 1.0}, 0)
