"""Every pass against its slow twin, bit for bit, for each layout; this file runs with and without the JIT."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import KINDS, small_set
from helpers.naive import activation, direct_votes, run, run_direct, vote
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, textbook, visiting_order

SIGNS = np.array([-1, 1])


def layouts(X):
    """Return the same numbers as kernels may meet them."""
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    out = {
        "dense": X,
        "fortran": np.asfortranarray(X),
        "csr32": sp.csr_array(X),
        "csr64": wide,
        "csc": sp.csc_array(X),
        "csr mixed": _mixed_widths(X),
    }
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    if np.all(single == X):
        out |= {"float32": single, "csr float32": sp.csr_array(single)}
    return out


def _mixed_widths(X):
    mixed = sp.csr_array(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    return mixed


def fitted(X, labels, **options):
    return Perceptron(**{"shuffle": False, "max_iter": 6, **options}).fit(X, SIGNS[labels])


def same_bits(model, naive):
    assert model.coef_[0].tobytes() == naive.w.tobytes()
    assert float(model.intercept_[0]) == naive.b
    assert model.history_["mistakes"].tolist() == naive.mistakes
    assert model.n_updates_ == naive.updates
    assert model.converged_ == naive.clean


@pytest.mark.parametrize("kind", KINDS)
def test_bits_of_every_layout(kind):
    for seed, fit_intercept in product(range(3), (True, False)):
        X, labels = small_set(kind, seed=seed)
        naive = run(X, SIGNS[labels], 6, fit_intercept=fit_intercept)
        for layout in layouts(X).values():
            same_bits(fitted(layout, labels, fit_intercept=fit_intercept), naive)


def test_float32_numbers_are_the_same_numbers():
    for kind in ("integers", "decimals", "gauss"):
        X, labels = small_set(kind)
        X = X.astype(np.float32)
        same_bits(fitted(X, labels), run(X, SIGNS[labels], 6))


def test_integers_equal_the_textbook():
    X, labels = small_set("integers", n=60, seed=5)
    D = [(row, int(y)) for row, y in zip(X.astype(int).tolist(), SIGNS[labels], strict=True)]
    w, b = textbook.perceptron_train(D, 6)
    model = fitted(X.astype(int), labels)
    assert model.coef_[0].tolist() == w
    assert model.intercept_[0] == b
    flags = X.astype(bool)
    w, _ = textbook.perceptron_train([(row, int(y)) for row, y in zip(flags, SIGNS[labels], strict=True)], 6)
    assert fitted(flags, labels).coef_[0].tolist() == w


@pytest.mark.parametrize(("shuffle", "drawn"), [(True, 1), ("once", 0)])
def test_shuffled_runs_can_be_replayed(shuffle, drawn):
    X, labels = small_set("decimals", seed=4)
    model = fitted(X, labels, shuffle=shuffle, random_state=11)
    same_bits(model, run(X, SIGNS[labels], 6, orders=lambda p: visiting_order(len(X), model.seed_, drawn * p)))


def test_weights_scale_the_step():
    for kind in ("integers", "decimals", "halves"):
        X, labels = small_set(kind, seed=2)
        steps = np.random.default_rng(0).choice([0.0, 0.1, 1.0, 2.5, 1e-170], len(X))
        naive = run(X, SIGNS[labels], 6, steps=steps)
        for layout in layouts(X).values():
            model = Perceptron(shuffle=False, max_iter=6).fit(layout, SIGNS[labels], sample_weight=steps)
            same_bits(model, naive)


def test_class_weight_multiplies_sample_weight():
    X, labels = small_set("decimals", seed=3)
    given = np.random.default_rng(1).choice([0.3, 1.0], len(X))
    model = Perceptron(shuffle=False, max_iter=6, class_weight={1: 0.7}).fit(X, SIGNS[labels], given)
    same_bits(model, run(X, SIGNS[labels], 6, steps=given * np.where(labels == 1, 0.7, 1.0)))


def test_max_updates_stops_at_once():
    X, labels = small_set("decimals", seed=1)
    for limit in (1, 2, 7, 1000):
        model = fitted(X, labels, max_updates=limit)
        naive = run(X, SIGNS[labels], 6, max_updates=limit)
        same_bits(model, naive)
        assert model.average_coef_[0] == pytest.approx([float(v) for v in naive.average_w], rel=1e-12)


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss", "huge", "tiny"])
def test_average_is_the_mean_over_all_visits(kind):
    X, labels = small_set(kind, seed=1)
    model = AveragedPerceptron(max_iter=4, shuffle=False).fit(X, SIGNS[labels])
    naive = run(X, SIGNS[labels], 4)
    scale = np.abs(naive.w).max() + abs(naive.b)
    assert np.abs(model.coef_[0] - [float(v) for v in naive.average_w]).max() <= 1e-13 * scale
    assert abs(model.intercept_[0] - float(naive.average_b)) <= 1e-13 * scale
    for layout in layouts(X).values():
        again = AveragedPerceptron(max_iter=4, shuffle=False).fit(layout, SIGNS[labels])
        assert again.coef_.tobytes() == model.coef_.tobytes()
        assert again.last_coef_[0].tobytes() == naive.w.tobytes()


def test_average_and_algorithm_7_differ_by_a_factor():
    X, labels = small_set("integers", seed=8)
    D = [(row, int(y)) for row, y in zip(X.tolist(), SIGNS[labels], strict=True)]
    model = AveragedPerceptron(max_iter=3, shuffle=False).fit(X, SIGNS[labels])
    assert model.n_iter_ == 3
    w, b = textbook.averaged_perceptron_train(D, 3)
    visits = 3 * len(X)
    assert model.coef_[0] * visits == pytest.approx(np.array(w) * (visits + 1))
    assert model.intercept_[0] * visits == pytest.approx(b * (visits + 1))


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss", "tiny"])
def test_vote_equals_the_naive_vote(kind):
    X, labels = small_set(kind, seed=6)
    tests, _ = small_set(kind, n=25, seed=7)
    naive = run(X, SIGNS[labels], 3)
    visits = sum(count for _, _, count in naive.voters)
    expected = [vote(naive.voters, row) for row in tests.tolist()]
    for layout in (np.asarray, sp.csr_array):
        model = VotedPerceptron(max_iter=3, shuffle=False).fit(layout(X), SIGNS[labels])
        assert (model.decision_function(layout(tests)) * visits).tolist() == pytest.approx(expected)
        assert model.predict(tests).tolist() == [1 if total > 0 else -1 for total in expected]
        assert model.on_boundary(tests).tolist() == [total == 0 for total in expected]


@pytest.mark.parametrize("kind", ["integers", "decimals"])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_weighted_votes_are_exact(kind, multi_class):
    X, labels = small_set(kind, seed=16, classes=3 if multi_class == "direct" else 2)
    steps = np.random.default_rng(0).choice([0.1, 0.2, 0.7], len(X))
    model = VotedPerceptron(max_iter=2, shuffle=False, multi_class=multi_class).fit(X, labels, steps)
    if multi_class == "direct":
        naive = run_direct(X, labels, 3, 2, steps=steps)
        expected = [direct_votes(naive.voters, row, 3) for row in X.tolist()]
    else:
        naive = run(X, SIGNS[labels], 2, steps=steps)
        expected = [vote(naive.voters, row) for row in X.tolist()]
    assert model.decision_function(X) * (2 * len(X)) == pytest.approx(np.array(expected))


def test_tiny_steps_are_exact():
    for seed in range(20):
        X, labels = small_set("decimals", seed=seed)
        model = Perceptron(shuffle=False, max_iter=6).fit(X, SIGNS[labels], sample_weight=np.full(len(X), 1e-170))
        same_bits(model, run(X, SIGNS[labels], 6, steps=np.full(len(X), 1e-170)))


@pytest.mark.parametrize("kind", ["integers", "decimals", "gauss"])
def test_one_vs_rest_equals_separate_runs(kind):
    X, labels = small_set(kind, n=60, classes=4, seed=9)
    orders = {p: visiting_order(len(X), 5, p) for p in range(8)}
    runs = [run(X, np.where(labels == k, 1, -1), 8, orders=lambda p: orders[p]) for k in range(4)]
    for layout, n_jobs in product(layouts(X).values(), (1, 3)):
        model = Perceptron(max_iter=8, random_state=5, n_jobs=n_jobs).fit(layout, labels)
        for k, naive in enumerate(runs):
            part = model.report_.by_class[k]
            assert model.coef_[k].tobytes() == naive.w.tobytes()
            assert model.intercept_[k] == naive.b
            assert part.mistakes_by_pass == naive.mistakes
            assert (part.updates, part.converged) == (naive.updates, naive.clean)


@pytest.mark.parametrize("kind", KINDS)
def test_direct_equals_its_twin(kind):
    X, labels = small_set(kind, n=30, d=4, classes=3, seed=10)
    naive = run_direct(X, labels, 3, 4)
    for layout in layouts(X).values():
        model = Perceptron(shuffle=False, max_iter=4, multi_class="direct").fit(layout, labels)
        assert model.coef_.tobytes() == naive.w.tobytes()
        assert model.intercept_.tolist() == naive.b.tolist()
        assert model.history_["mistakes"].tolist() == naive.mistakes


@pytest.mark.parametrize("kind", ["integers", "decimals", "gauss"])
def test_direct_vote_equals_the_naive_vote(kind):
    X, labels = small_set(kind, n=30, d=4, classes=3, seed=12)
    tests, _ = small_set(kind, n=20, d=4, seed=13)
    model = VotedPerceptron(max_iter=3, shuffle=False, multi_class="direct").fit(X, labels)
    naive = run_direct(X, labels, 3, 3)
    visits = sum(count for *_, count in naive.voters)
    expected = [direct_votes(naive.voters, row, 3) for row in tests.tolist()]
    assert model.decision_function(tests) * visits == pytest.approx(np.array(expected))
    assert model.predict(tests).tolist() == [votes.index(max(votes)) for votes in expected]


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "mixed"])
def test_signs_of_answers_are_exact(kind):
    X, labels = small_set(kind, seed=14)
    naive = run(X, SIGNS[labels], 6)
    model = fitted(X, labels)
    true = [activation(naive.w.tolist(), naive.b, row) for row in X.tolist()]
    for layout in layouts(X).values():
        scores = model.decision_function(layout)
        assert np.sign(scores).tolist() == [(a > 0) - (a < 0) for a in true]
        assert model.predict(layout).tolist() == [1 if a > 0 else -1 for a in true]
        assert model.on_boundary(layout).tolist() == [a == 0 for a in true]
