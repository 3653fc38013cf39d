"""The convergence proof, run: every inequality at every update, against a twin in fractions."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.examples import small_set
from helpers.naive import activation, run
from helpers.separable_sets import whole_separable
from rosenblatt import Perceptron, visiting_order
from rosenblatt.theory.convergence import bounds as module
from rosenblatt.theory.convergence.bounds import inequalities, mistake_bound
from rosenblatt.theory.convergence.proof import proof

some = settings(max_examples=60, deadline=None)
TWO = (np.array([[1.0], [0.0]]), np.array([1, -1]))


def naive_numbers(X, y, w_star, b_star, bias, rows):
    """Return each column of the proof along ``rows`` in whole numbers and Fractions; w* is not scaled."""
    Z = [[int(v) for v in x] + [1] * bias for x in X]
    star = [int(v) for v in w_star] + [int(b_star)] * bias
    R2 = max(sum(v * v for v in z) for z in Z)
    gamma = min(int(s) * sum(p * q for p, q in zip(star, z, strict=True)) for s, z in zip(y, Z, strict=True))
    w, found = [0] * len(star), []
    for i in rows:
        z, s = Z[i], int(y[i])
        before = s * sum(p * q for p, q in zip(w, z, strict=True))
        w = [p + s * q for p, q in zip(w, z, strict=True)]
        after = s * sum(p * q for p, q in zip(w, z, strict=True))
        along = sum(p * q for p, q in zip(w, star, strict=True))
        found.append((before, after - before, sum(v * v for v in z), along, sum(v * v for v in w)))
    return found, R2, gamma, sum(v * v for v in star)


@some
@given(whole_separable(), st.sampled_from([False, True, "once"]), st.integers(0, 99))
def test_on_whole_numbers_every_column_is_the_twins(case, shuffle, seed):
    X, y, w, b, bias = case
    made = proof(X, y, bias, shuffle, seed, max_iter=10_000, w_star=w, b_star=b)
    orders = {
        False: None,
        True: lambda p: visiting_order(len(y), seed, p),
        "once": lambda p: visiting_order(len(y), seed),
    }
    twin = run(X, y, 10_000, orders=orders[shuffle], fit_intercept=bias)
    assert (made.w.tolist(), made.b, made.updates, made.passes) == (
        twin.w.tolist(),
        twin.b,
        twin.updates,
        len(twin.mistakes),
    )
    assert made.converged is True
    found, R2, gamma, star2 = naive_numbers(X, y, w, b, bias, made.row)
    for update, (before, rise, square, along, norm2) in zip(made, found, strict=True):
        assert (update.activation, update.rise, update.square, update.norm2) == (before, rise, square, norm2)
        assert before <= 0
        assert rise == square  # T4: y a rises by exactly |x|^2, and 1 with a bias
        assert update.projection == pytest.approx(along / math.sqrt(star2))
        assert update.cosine == pytest.approx(along / math.sqrt(star2 * norm2))
        # |w - (R^2 / gamma) w*|^2 with w* of length 1 and its margin in proportion
        distance = norm2 - 2 * Fraction(R2 * along, gamma) + Fraction(R2 * R2 * star2, gamma * gamma)
        assert update.alpha == pytest.approx(float(distance), rel=1e-9, abs=1e-9)
        assert update.alpha_high == pytest.approx(float(Fraction(R2 * R2 * star2, gamma**2) - update.k * R2), abs=1e-9)
    assert made.k.tolist() == list(range(1, made.updates + 1))
    assert made.drift.tolist() == [0.0] * made.updates


@some
@given(whole_separable(), st.integers(0, 99))
def test_the_squeeze_holds_at_every_update_of_every_run(case, seed):
    X, y, _, _, bias = case
    made = proof(X, y, bias, shuffle=True, random_state=seed, max_iter=10_000)
    assert made.holds
    assert all(held.all() and len(held) == made.updates for held in made.checks.values())
    k = made.k
    np.testing.assert_allclose(made.projection_low, k * made.gamma)
    np.testing.assert_allclose(made.cosine_low, np.sqrt(k) * made.gamma / made.R)
    assert made.updates <= math.floor(made.bound) == mistake_bound(X, y, fit_intercept=bias)
    assert made.margin <= made.gamma * (1 + 1e-6)  # w* has the largest margin there is


def test_the_cosine_may_fall_while_its_bound_rises():
    """CIML 4.5 and the parametric learning notes say the angle shrinks at each update: here it grows at the fourth."""
    made = proof(*TWO)
    assert made.fell.tolist() == [4]
    assert made.cosine[3] < made.cosine[2]
    assert (np.diff(made.cosine_low) > 0).all()
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (30, 3)).astype(float)
    y = np.where(X @ [1, -2, 3] + 0.5 > 0, 1, -1)
    made = proof(X, y, max_iter=1000)
    assert made.holds
    assert made.fell.tolist() == [k + 1 for k in range(1, made.updates) if made.cosine[k] < made.cosine[k - 1] - 1e-12]
    assert 0 < len(made.fell) < made.updates


def planted(kind, seed, bias):
    """Rows that are hard to decide in floats, with signs by a drawn separator, decided exactly."""
    X, _ = small_set(kind, n=30, d=3, seed=seed)
    rng = np.random.default_rng(seed)
    w, b = rng.integers(1, 4, 3) * rng.choice([-1.0, 1.0], 3), float(bias) * float(np.abs(X).max()) / 8
    sides = [activation(w, b, x) for x in X.tolist()]
    kept = [i for i, a in enumerate(sides) if a]
    return X[kept], np.array([1 if sides[i] > 0 else -1 for i in kept]), w, b


def test_what_rounding_adds_to_the_weights_is_all_counted():
    X, y, w, b = planted("halves", 3, True)
    made = proof(X, y, max_iter=1000, w_star=w, b_star=b)
    floats, drift = [0.0] * 4, 0.0
    for i, counted in zip(made.row, made.drift, strict=True):
        z = [float(y[i]) * v for v in (*X[i].tolist(), 1.0)]
        errors = [Fraction(v + t) - Fraction(v) - Fraction(t) for v, t in zip(floats, z, strict=True)]
        floats = [v + t for v, t in zip(floats, z, strict=True)]
        drift += math.sqrt(sum(e * e for e in errors))
        assert drift <= counted * (1 + 1e-15)
        assert counted == pytest.approx(drift, rel=1e-9)
    assert made.drift[-1] > 0
    assert floats[:3] == made.w.tolist()


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"gamma": 1.02}, {"w*·w ≥ k·γ", "cosine ≥ √k·γ/R", "α falls by R²", "α ≤ α₀−k·R²"}),
        ({"R": 0.7}, {"|w| ≤ √k·R", "cosine ≥ √k·γ/R", "α falls by R²", "α ≤ α₀−k·R²"}),
        ({"v": 1.5}, {"w*·w ≤ |w|", "α falls by R²", "α ≤ α₀−k·R²"}),
        ({"v": -1.0}, {"w*·w ≥ k·γ", "cosine ≥ √k·γ/R", "α falls by R²", "α ≤ α₀−k·R²"}),
        ({"at": 3}, {"y·a ≤ 0", "α falls by R²"}),
    ],
)
def test_a_run_that_breaks_an_inequality_is_found_out(change, broken):
    X, y = TWO
    made = proof(X, y)
    v = change.get("v", 1.0) * np.append(made.w_star, made.b_star)
    rows = made.row
    if "at" in change:
        rows = np.insert(rows, 2, [1, 1])  # at the second time row 1 is right, and the run updates all the same
    R, gamma = change.get("R", 1.0) * made.R, change.get("gamma", 1.0) * made.gamma
    checks = inequalities(X, y.astype(float), rows, True, v, R, gamma)["checks"]
    assert {name for name, held in checks.items() if not held.all()} == broken
    if "at" in change:
        assert checks["y·a ≤ 0"].tolist() == [True, True, True, False, False, True, False]


def test_a_shorter_separator_of_any_length_proves_it_as_well():
    X, y = TWO
    best = proof(X, y)
    for scale in (1e-300, 1.0, 1e300):
        made = proof(X, y, w_star=[2.0 * scale], b_star=-scale)
        assert made.holds
        assert made.bound == pytest.approx(best.bound)
    other = proof(X, y, w_star=[3.0], b_star=-1.0)  # |(3, -1)|^2 = 10 and the least y (w.x + b) is 1
    assert other.bound == pytest.approx(2 * 10 / 1)  # R^2 |w*|^2 / gamma^2, parametric learning notes Eq 3.15
    assert other.holds
    assert other.bound > best.bound
    assert np.hypot(other.w_star[0], other.b_star) == pytest.approx(1.0)


def test_chunks_make_no_difference(monkeypatch):
    X, y, w, b = planted("gauss", 2, True)
    whole = proof(X, y, max_iter=1000, w_star=w, b_star=b)
    monkeypatch.setattr(module, "_CHUNK", 7)
    cut = proof(X, y, max_iter=1000, w_star=w, b_star=b)
    assert whole.updates > 10
    np.testing.assert_allclose(cut.alpha, whole.alpha)
    assert cut.drift.tolist() == whole.drift.tolist()
    assert cut.holds


def test_a_long_run_is_followed_to_its_end():
    X, y = TWO
    made = proof(0.03 * X, y, max_iter=100_000)
    assert made.converged
    assert made.holds
    assert 1000 < made.updates <= made.bound
    assert len(made.table(most=10)) == 10
    assert made.table(most=10)["k"][-1] == made.updates


def test_it_prints_in_words():
    X, y = TWO
    made = proof(X, y)
    assert str(made).startswith(
        "5 updates in 4 passes, the last without a mistake; no run on these rows can make more than 10."
    )
    assert "fell at 1 update;" in repr(made)
    assert "Every inequality holds at every update." in str(made)
    early = proof(X, y, max_iter=2)
    assert "in 2 passes, with mistakes left" in str(early)
    assert early.margin == -math.inf
    assert "margin reached" not in str(early)
    table = made.table()
    assert len(table) == len(made) == 5
    assert table["w*·w"] == made.projection.tolist()
    assert table["α"] == made.alpha.tolist()
    assert table.title == "R = 1.414, γ = 0.4472, z = (x, 1): at most 10 updates"
    assert table.columns[:3] == ["k", "row", "y·a"]


def test_words_of_a_run_that_breaks_an_inequality():
    made = proof(*TWO)
    wrong = replace(made, checks={**made.checks, "|w| ≤ √k·R": made.k != 3})
    assert not wrong.holds
    assert "This is not a run of a perceptron on these rows: it violates |w| ≤ √k·R." in str(wrong)
    wrong = replace(made, bound=4.0)
    assert not wrong.holds
    assert "it violates the bound." in str(wrong)


def test_one_class_has_a_proof_with_a_bias():
    made = proof([[3.0], [-3.0]], [1, 1])
    assert made.holds
    assert made.updates == 2
    assert proof(np.empty((3, 0)), [1, 1, 1]).updates == 1


def test_what_has_no_proof_gets_a_sentence():
    square = [[0, 0], [1, 1], [0, 1], [1, 0]]
    plain, on_two_rows = {"fit_intercept": False}, {"w_star": [1, 1], "b_star": -1.0}
    range_of_floats = "too small, to be compared in floats: scale the features"
    for X, y, options, words in (
        (square, [1, 1, -1, -1], {}, r"no hyperplane separates these rows: separability\(X, y\) shows why"),
        (square, [1, 1, 1, 1], plain, "no hyperplane separates these rows through the origin: use fit_intercept"),
        (square, [-1, 1, 1, 1], on_two_rows, "w_star and b_star do not separate all rows strictly.*separability"),
        (*TWO, {"w_star": [1.0, 2.0]}, "a weight in w_star for each of the 1 features, got an array of shape"),
        (*TWO, {"w_star": [math.nan]}, "must be finite numbers"),
        (*TWO, {"w_star": [1.0], "b_star": 0.5, **plain}, "without an intercept there is no bias, got b_star=0.5"),
        ([[1.0, 1e-200], [-1.0, 1e-200]], [1, 1], {"w_star": [0.0, 1.0], **plain}, range_of_floats),
        ([[1.7e308, 1.7e308], [1.0, 1.0]], [1, 1], {"w_star": [1.0, 1.0], **plain}, range_of_floats),
        (*TWO, {"shuffle": "twice"}, "shuffle must be True or False or 'once', got 'twice'"),
        (*TWO, {"shuffle": math.nan}, "shuffle must be True or False or 'once', got nan"),
        (*TWO, {"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
        (*TWO, {"max_updates": 0}, "max_updates must be an integer of at least 1 or None, got 0"),
        (*TWO, {"random_state": -1}, "random_state must be an integer of at least 0, got -1"),
    ):
        with pytest.raises(ValueError, match=words):
            proof(X, y, **options)


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss"])
@pytest.mark.parametrize(("bias", "scale"), [(True, 1.0), (False, 1.0), (False, 2.0**700), (False, 2.0**-700)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_the_run_is_the_perceptrons_bit_for_bit(kind, bias, scale, shuffle):
    X, y, w, b = planted(kind, 1, bias)
    X = scale * X  # the squares of some leave the range of floats
    given = {"fit_intercept": bias, "shuffle": shuffle, "random_state": 7}
    for limits in ({"max_iter": 300, "max_updates": None}, {"max_iter": 2}, {"max_updates": 3}):
        model = Perceptron(**given, **limits).fit(X, y)
        for rows in (X, sp.csr_array(X)):
            made = proof(rows, y, **given, **limits, w_star=w, b_star=b)
            assert made.w.tobytes() == model.coef_[0].tobytes()
            assert made.b == model.intercept_[0]
            assert (made.updates, made.passes) == (model.n_updates_, model.n_iter_)
            assert made.converged == model.converged_
            assert made.holds


def test_a_drawn_seed_can_be_used_again():
    X, y, w, b = planted("gauss", 2, True)
    made = proof(X, y, shuffle=True, w_star=w, b_star=b)
    again = proof(X, y, shuffle=True, random_state=made.seed, w_star=w, b_star=b)
    assert made.row.tolist() == again.row.tolist()
    assert proof(X, y, w_star=w, b_star=b).seed is None
