"""The specification, checked against facts; small integers and Fractions, so equality is exact."""

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import textbook
from rosenblatt.textbook import (
    activation,
    averaged_perceptron_train,
    perceptron_batch,
    perceptron_online,
    perceptron_restart,
    perceptron_test,
    perceptron_train,
    perceptron_until_no_mistakes,
    voted_perceptron_test,
    voted_perceptron_train,
    with_dummy_feature,
)

ONE_AND_ZERO = [([1], +1), ([0], -1)]
XOR = [([0, 0], -1), ([0, 1], +1), ([1, 0], +1), ([1, 1], -1)]
XOR_WITH_PRODUCT = [([x1, x2, x1 * x2], y) for (x1, x2), y in XOR]
SEPARABLE = [([2, 1], +1), ([-1, 3], +1), ([1, -2], -1), ([-3, 1], -1), ([4, 1], +1), ([-1, -1], -1)]
EVERY_TRAINER = [
    lambda D: perceptron_train(D, 3),
    lambda D: averaged_perceptron_train(D, 3),
    lambda D: voted_perceptron_train(D, 3),
    lambda D: perceptron_until_no_mistakes(with_dummy_feature(D), max_updates=50),
    lambda D: perceptron_until_no_mistakes(D, max_updates=50),
    lambda D: perceptron_batch(D, max_updates=50),
    lambda D: perceptron_restart(D, 50),
    lambda D: list(perceptron_online(D)),
]


def with_fractions(D, scale=1):
    return [([Fraction(v) * scale for v in x], y) for x, y in D]


def walk(D, passes):
    """The weights [b, *w] after each visit, by a second route: one vector for both, and no helper shared."""
    W = [0] * (1 + len(D[0][0]))
    after_each_visit = []
    for x, y in list(D) * passes:
        z = [1, *x]
        if y * sum(W[d] * z[d] for d in range(len(z))) <= 0:
            W = [W[d] + y * z[d] for d in range(len(z))]
        after_each_visit.append(W)
    return after_each_visit


def total(vectors):
    return [sum(column) for column in zip(*vectors, strict=True)]


# Activation, algorithm 6 (A1)


def test_a_threshold_is_a_bias_of_minus_theta():
    w, theta = [3, -2], 4
    for x in itertools.product(range(-3, 4), repeat=2):
        assert (perceptron_test(w, -theta, x) == 1) == (3 * x[0] - 2 * x[1] > theta)


def test_on_the_boundary_the_label_is_negative_unless_asked_for():
    assert activation([1, -1], 0, [5, 5]) == 0
    assert perceptron_test([1, -1], 0, [5, 5]) == -1
    assert perceptron_test([1, -1], 0, [5, 5], boundary=0) == 0
    assert [perceptron_test([1, -1], b, [5, 5], boundary=0) for b in (-1, 1)] == [-1, 1]


def test_stated_weights_of_excellent_terrible_not():  # F2
    w = [+1, -1, 0, -2, +2]  # excellent, terrible, not, excellent and not, terrible and not
    reviews = {(1, 0, 0): +1, (0, 1, 0): -1, (1, 0, 1): -1, (0, 1, 1): +1}
    for (excellent, terrible, negated), y in reviews.items():
        x = [excellent, terrible, negated, excellent * negated, terrible * negated]
        assert perceptron_test(w, 0, x) == y


# Algorithm 5 (A2, A7, A8, T4)


@pytest.mark.parametrize(("scale", "updates"), [(1, 5), (10, 3), (Fraction(1, 10), 203)])
def test_with_a_bias_the_scale_of_the_data_changes_the_run(scale, updates):
    D = with_fractions(ONE_AND_ZERO, scale)
    assert len(voted_perceptron_train(D, 1000)) == updates
    assert perceptron_until_no_mistakes(with_dummy_feature(D)).k == updates


def test_without_a_bias_the_scale_of_the_data_changes_nothing():
    w, k = perceptron_until_no_mistakes(SEPARABLE)
    assert k > 1
    assert perceptron_until_no_mistakes(with_fractions(SEPARABLE, Fraction(1, 10))) == (
        [Fraction(w_d, 10) for w_d in w],
        k,
    )


@pytest.mark.parametrize("passes", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("D", [ONE_AND_ZERO, XOR, SEPARABLE, XOR_WITH_PRODUCT])
def test_train_ends_where_the_naive_walk_ends(D, passes):
    w, b = perceptron_train(D, passes)
    zero = [0] * (1 + len(D[0][0]))
    assert [b, *w] == ([zero] + walk(D, passes))[-1]


def test_an_update_raises_y_a_by_the_squared_length_plus_one():
    seen = set()
    for visits in range(2, 12):
        D = (SEPARABLE * 2)[:visits]
        before, after = perceptron_train(D[:-1], 1), perceptron_train(D, 1)
        x, y = D[-1]
        mistake = y * activation(*before, x) <= 0
        gain = y * (activation(*after, x) - activation(*before, x))
        assert gain == (sum(v * v for v in x) + 1 if mistake else 0)
        seen.add(mistake)
    assert seen == {True, False}


def test_the_first_example_is_a_mistake_because_it_lies_on_the_boundary():
    assert perceptron_train([([3, 4], -1)], 1) == ([-3, -4], -1)
    assert perceptron_until_no_mistakes([([3, 4], -1)]) == ([-3, -4], 1)
    assert perceptron_batch([([3, 4], -1)]) == [-3, -4]
    assert perceptron_restart([([3, 4], -1)], 9) == [-3, -4]
    step = next(perceptron_online([([3, 4], -1)]))
    assert (step.prediction, step.mistake, step.w) == (0, True, [-3, -4])


def test_a_later_tie_is_a_mistake_too():
    D = [([1, 0], +1), ([0, 1], +1)]  # w = [1, 0] leaves the second on the boundary
    assert perceptron_until_no_mistakes(D) == ([1, 1], 2)
    assert perceptron_batch(D) == [1, 1]
    assert perceptron_restart(D, 9) == [1, 1]
    assert [step.prediction for step in perceptron_online(D)] == [0, 0]
    assert perceptron_train([([1], +1), ([-1], +1)], 1) == ([0], 2)  # w = 1, b = 1 is 0 at x = -1
    assert len(voted_perceptron_train([([1], +1), ([-1], +1)], 1)) == 2


def test_the_order_is_the_callers_and_sorted_examples_are_a_trap():  # A8
    positive, negative = ([2], +1), ([1], -1)
    in_turn = voted_perceptron_train([positive, negative] * 500, 1)
    in_blocks = voted_perceptron_train([positive] * 500 + [negative] * 500, 1)
    assert in_blocks[0] == ([2], 1, 500)
    assert perceptron_test(*in_turn[-1][:2], [2]) == +1
    assert perceptron_test(*in_blocks[-1][:2], [2]) == -1  # the second block undid the first


@pytest.mark.parametrize("D", [ONE_AND_ZERO, SEPARABLE, XOR_WITH_PRODUCT])
def test_a_dummy_feature_is_a_bias(D):
    w, b = perceptron_train(D, 1000)
    assert perceptron_until_no_mistakes(with_dummy_feature(D)).w == [b, *w]
    assert all(perceptron_test(w, b, x) == y for x, y in D)


# Averaging and voting (A10, A11)


@pytest.mark.parametrize("passes", [1, 2, 5])
@pytest.mark.parametrize("D", [ONE_AND_ZERO, XOR, SEPARABLE])
def test_algorithm_7_is_the_average_over_all_weights_and_the_zero_start(D, passes):
    vectors = walk(D, passes)
    w, b = averaged_perceptron_train(with_fractions(D), passes)
    assert [b, *w] == [Fraction(v, len(vectors) + 1) for v in total(vectors)]


def test_a_clean_pass_changes_the_average_and_not_the_last_weights():
    D = with_fractions(ONE_AND_ZERO)
    assert perceptron_train(D, 4) == perceptron_train(D, 5)
    assert averaged_perceptron_train(D, 4) != averaged_perceptron_train(D, 5)


def test_averages_of_integers_divide_as_python_does():
    assert averaged_perceptron_train(ONE_AND_ZERO, 1) == ([1 - 1 / 3], 0 - (1 - 2) / 3)


@pytest.mark.parametrize("passes", [1, 2, 5])
@pytest.mark.parametrize("D", [ONE_AND_ZERO, XOR, SEPARABLE])
def test_voters_are_the_runs_of_the_walk(D, passes):
    vectors = walk(D, passes)
    voters = voted_perceptron_train(D, passes)
    assert [[b, *w] for w, b, c in voters for _ in range(c)] == vectors
    assert sum(c for _, _, c in voters) == passes * len(D)
    x, y = D[0]
    assert voters[0][:2] == ([y * v for v in x], y)


@pytest.mark.parametrize("D", [ONE_AND_ZERO, XOR, SEPARABLE])
def test_voters_weighted_by_their_counts_sum_to_the_average(D):
    visits = 4 * len(D)
    w, b = averaged_perceptron_train(with_fractions(D), 4)
    weighted = [[c * v for v in (b, *w)] for w, b, c in voted_perceptron_train(D, 4)]
    assert total(weighted) == [(visits + 1) * v for v in (b, *w)]


def test_a_vote_weighs_signs_by_counts_and_a_voter_on_the_boundary_abstains():
    voters = [([1], 0, 3), ([-100], 0, 2), ([0], 0, 50)]
    assert voted_perceptron_test(voters, [1]) == +1  # 3 against 2; the average says -1, the 50 abstain
    assert voted_perceptron_test(voters, [-1]) == -1
    assert voted_perceptron_test(voters, [0]) == -1
    assert voted_perceptron_test(voters, [0], boundary=0) == 0


# The forms without a bias (A3 to A6)


def test_until_no_mistakes_separates_within_the_bound_and_records_R():
    run = perceptron_until_no_mistakes(SEPARABLE)
    w, k = run
    assert (run.w, run.k) == (w, k)
    assert all(y * activation(w, 0, x) > 0 for x, y in SEPARABLE)
    assert run.R == 17**0.5
    # Theorem 30.1.1 with [2, 2] as the separator, scaled to unit length
    gamma_squared = Fraction(min(y * activation([2, 2], 0, x) for x, y in SEPARABLE) ** 2, 8)
    assert 1 < k <= 17 / gamma_squared


@pytest.mark.parametrize("D", [SEPARABLE, with_dummy_feature(ONE_AND_ZERO), with_dummy_feature(XOR_WITH_PRODUCT)])
def test_batch_is_restart_without_a_limit_and_separates(D):
    w = perceptron_batch(D)
    assert w == perceptron_restart(D, 10_000)
    assert all(y * activation(w, 0, x) > 0 for x, y in D)


def test_restart_goes_back_to_the_first_example_after_each_update():
    D = with_dummy_feature(XOR)
    path = [perceptron_restart(D, k) for k in range(5)]
    assert path == [[0, 0, 0], [-1, 0, 0], [0, 0, 1], [-1, 0, 1], [0, 0, 2]]


@pytest.mark.parametrize("D", [SEPARABLE, XOR, ONE_AND_ZERO])
def test_one_online_pass_is_one_pass_of_training(D):
    steps = list(perceptron_online(with_dummy_feature(D)))
    assert [step.w for step in steps] == walk(D, 1)
    assert [step.y for step in steps] == [y for _, y in D]
    assert [step.mistakes for step in steps] == list(itertools.accumulate(int(step.mistake) for step in steps))


def test_an_endless_stream_makes_the_mistakes_of_until_no_mistakes():
    w, k = perceptron_until_no_mistakes(SEPARABLE)
    steps = list(itertools.islice(perceptron_online(itertools.cycle(SEPARABLE)), 300))
    assert (steps[-1].w, steps[-1].mistakes) == (w, k)
    assert not any(step.mistake for step in steps[-len(SEPARABLE) :])


def test_online_predicts_with_the_weights_before_the_update():
    first, second, third = perceptron_online([([1], +1), ([2], -1), ([3], -1)])
    assert first == (0, +1, True, 1, [1])
    assert second == (+1, -1, True, 2, [-1])
    assert third == (-1, -1, False, 2, [-1])


def test_changing_the_weights_of_a_step_does_not_reach_the_learner():
    steps = perceptron_online(itertools.repeat(([1], +1)))
    next(steps).w[0] = 100
    assert next(steps).w == [1]


# XOR (F2) and the guard


def test_xor_is_never_learnt():
    AND = [([x1, x2], 1 if x1 and x2 else -1) for x1, x2 in itertools.product((0, 1), repeat=2)]
    for learn, D in itertools.product(
        (perceptron_batch, perceptron_until_no_mistakes), (with_dummy_feature(XOR), XOR, AND)
    ):
        with pytest.raises(RuntimeError, match="1000 updates were made"):
            learn(D, max_updates=1000)
    for max_iter in range(40):
        w, b = perceptron_train(XOR, max_iter)
        assert any(perceptron_test(w, b, x) != y for x, y in XOR)


def test_xor_is_learnt_with_the_product_as_a_feature():
    w, b = perceptron_train(XOR_WITH_PRODUCT, 100)
    assert [perceptron_test(w, b, x) for x, _ in XOR_WITH_PRODUCT] == [-1, +1, +1, -1]


@pytest.mark.parametrize(("learn", "needed"), [(perceptron_until_no_mistakes, 5), (perceptron_batch, 5)])
def test_the_guard_lets_exactly_max_updates_pass(learn, needed):
    D = with_dummy_feature(ONE_AND_ZERO)
    assert learn(D, max_updates=needed) == learn(D)
    with pytest.raises(RuntimeError, match=f"^{needed - 1} updates were made and mistakes remain"):
        learn(D, max_updates=needed - 1)


# Input


@pytest.mark.parametrize("train", EVERY_TRAINER)
class TestInput:
    def test_labels_are_signs_rows_equally_long_and_numbers_finite(self, train):
        with pytest.raises(ValueError, match=r"^example 1 has the label 0, expected -1 or \+1$"):
            train([([1], +1), ([2], 0)])
        with pytest.raises(ValueError, match=r"^example 2 has 1 features, expected 2 as in example 0$"):
            train([([1, 2], +1), ([2, 1], -1), ([3], +1)])
        for bad in ("nan", "inf", "-inf"):
            with pytest.raises(ValueError, match=r"^example 1 has a feature that is infinite or not a number"):
                train([([1.0], +1), ([float(bad)], -1)])

    def test_arrays_and_lists_give_the_same_numbers(self, train):
        D = [([12, 0], +1), ([12, 12], +1), ([-12, 12], -1)]  # 12 * 12 does not fit in an int8
        for dtype in (np.float64, np.float32, np.int64, np.int8):
            assert train([(np.array(x, dtype), np.array(y, dtype)[()]) for x, y in D]) == train(D)

    def test_the_callers_data_is_not_modified(self, train):
        D = copy.deepcopy(SEPARABLE)
        assert train(D)
        assert D == SEPARABLE

    def test_any_iterable_of_pairs_will_do(self, train):
        assert train(iter(tuple(SEPARABLE))) == train(SEPARABLE)


def test_no_examples():
    assert perceptron_train([], 5) == averaged_perceptron_train([], 5) == ([], 0)
    assert voted_perceptron_train([], 5) == with_dummy_feature([]) == list(perceptron_online([])) == []
    assert perceptron_batch([]) == perceptron_restart([], 5) == []
    run = perceptron_until_no_mistakes([])
    assert (run, run.R) == (([], 0), 0.0)


def test_no_features_leaves_only_the_bias_to_adjust():
    assert perceptron_train([([], 1), ([], -1)], 10) == ([], 0)
    assert perceptron_train([([], -1), ([], -1)], 10) == ([], -1)
    assert voted_perceptron_train([([], 1), ([], -1)], 1) == [([], 1, 1), ([], 0, 1)]
    assert [step.mistakes for step in perceptron_online([([], 1), ([], 1)])] == [1, 2]


def test_a_test_point_needs_one_feature_for_each_weight():
    with pytest.raises(ValueError, match=r"^x has 1 features, expected 2"):
        perceptron_test([1, 2], 0, [1])


def test_every_public_function_is_listed():
    public = {name for name, value in vars(textbook).items() if getattr(value, "__module__", "") == textbook.__name__}
    assert {name for name in public if not name.startswith("_")} == set(textbook.__all__)


@pytest.mark.parametrize("train", [perceptron_until_no_mistakes, perceptron_batch])
def test_a_long_run_without_a_limit_warns_at_the_callers_line_that_it_may_never_end(train, monkeypatch):
    D = with_dummy_feature(ONE_AND_ZERO)  # five updates
    monkeypatch.setattr(textbook, "_LONG_RUN", 3)
    with pytest.warns(UserWarning, match="^3 updates were made and mistakes remain: the run never ends if") as caught:
        train(D)
    assert [caught[0].filename] * len(caught) == [__file__]
    train(D, max_updates=5)  # warnings are errors: who set a limit hears nothing
    monkeypatch.undo()
    train(D)
