"""Every update of a run, beside the learner's own run and a slow twin."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from rosenblatt import Perceptron, proof, trace
from rosenblatt.data import make_xor


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shuffle", [True, False, "once"])
def test_the_run_is_the_perceptrons_bit_for_bit(kind, bias, shuffle):
    X, y = small_set(kind, n=25, d=3, seed=3)
    given = {"fit_intercept": bias, "shuffle": shuffle, "random_state": 5}
    for limits in ({"max_iter": 6}, {"max_updates": 7}):
        model = Perceptron(**given, **limits).fit(X, y)
        for rows in (X, sp.csr_array(X)):
            run = trace(rows, y, **given, **limits)
            last = list(run)[-1]
            for w, b in ((run.w, run.b), (last.w, last.b), run.weights(len(run))):
                assert w.tobytes() == model.coef_[0].tobytes()
                assert b == model.intercept_[0]
            assert (run.updates, run.passes, run.converged) == (model.n_updates_, model.n_iter_, model.converged_)
            assert run.mistakes_by_pass.tolist() == model.history_["mistakes"].tolist()
            assert run.classes == tuple(model.classes_.tolist())
            assert run.seed == (5 if shuffle else None)


def test_each_step_adds_the_row_that_was_wrong():
    X, y = small_set("integers", n=30, d=2, seed=1)
    run = trace(X, y, max_iter=4)
    w, b, visited = np.zeros(2), 0.0, []
    steps = iter(run)
    for number in range(1, run.passes + 1):
        for i, (x, label) in enumerate(zip(X, y, strict=True)):
            a = float(w @ x + b)
            sign = 1 if label == run.classes[1] else -1
            if sign * a <= 0:
                w, b = w + sign * x, b + sign
                step = next(steps)
                assert (step.k, step.pass_number, step.row, step.label) == (len(visited) + 1, number, i, label)
                assert (step.activation, step.w.tolist(), step.b) == (a, w.tolist(), b)
                assert run.step(step.k)[:5] == step[:5]
                visited.append(i)
    assert next(steps, None) is None
    assert run.row.tolist() == visited


def exact_activation(w, b, x):
    return sum((Fraction(u) * Fraction(v) for u, v in zip(w.tolist(), x.tolist(), strict=True)), Fraction(b))


@pytest.mark.parametrize("kind", ["decimals", "halves", "gauss", "huge", "tiny", "mixed"])
@pytest.mark.parametrize("bias", [True, False])
def test_activations_have_exact_signs(kind, bias):
    X, y = small_set(kind, n=40, d=5, seed=5)  # some signs of floats are wrong here
    run = trace(X, y, fit_intercept=bias, max_iter=20)
    w, b = np.zeros(5), 0.0
    for step in run:
        exact, sign = exact_activation(w, b, X[step.row]), 1 if step.label == run.classes[1] else -1
        assert (step.activation > 0, step.activation < 0) == (exact > 0, exact < 0)
        assert sign * step.activation <= 0
        w, b = step.w, step.b


def test_rows_that_nothing_separates_have_a_trace():
    X, y = make_xor()
    run = trace(X, y, max_iter=3)
    assert not run.converged
    assert run.passes == 3
    assert str(run).startswith(f"{len(run)} updates in 3 passes, with mistakes left.\n")
    assert repr(run) == str(run)


def test_labels_are_the_users():
    run = trace([[3.0, 4.0], [-3.0, -4.0]], ["yes", "no"])
    assert run.classes == ("no", "yes")
    assert run.table()["label"] == ["yes"]
    assert run.table().columns[-2:] == ["w after", "b after"]
    assert trace([[3.0, 4.0], [-3.0, -4.0]], ["yes", "no"], fit_intercept=False).table().columns[-1] == "w after"


def test_it_is_the_run_of_the_proof():
    X, y = [[1.0], [0.0]], [1, -1]
    run, made = trace(X, y), proof(X, y)
    assert run.row.tolist() == made.row.tolist()
    signs = np.where(run.label > 0, 1, -1)
    assert (signs * run.activation).tolist() == made.activation.tolist()
    assert str(run).partition(",")[0] == str(made).partition(",")[0]


def test_later_changes_of_the_rows_do_not_matter():
    X = np.array([[1.0], [0.0]])
    run = trace(X, [1, -1])
    X[:] = 9.0
    assert [step.w[0] for step in run] == [1, 1, 1, 2, 2]
    step = next(iter(run))
    step.w[:] = 9.0
    assert run.weights(1)[0] == [1]


def test_weights_of_many_updates_are_made_in_parts(monkeypatch):
    X, y = small_set("gauss", n=25, d=3, seed=3)
    run = trace(X, y, max_iter=6)
    whole, before = [(step.activation, *step.w, step.b) for step in run], run.weights(4)
    monkeypatch.setattr("rosenblatt.theory.convergence.bounds._CHUNK", 8)
    again = trace(X, y, max_iter=6)
    assert [(step.activation, *step.w, step.b) for step in again] == whole
    assert again.weights(4)[0].tobytes() == before[0].tobytes()


def test_a_run_may_have_no_features_or_one_class():
    assert trace(np.empty((3, 0)), [1, 1, 1]).weights(1)[1] == 1
    assert trace([[2.0]], ["a"]).classes == ("a",)


def test_numbers_of_updates_that_are_not_there_get_a_sentence():
    run = trace([[1.0], [0.0]], [1, -1])
    for k in (6, -1, 1.5, "1", True, None):
        with pytest.raises(ValueError, match=f"k must be an integer from 0 to 5, got {k!r}"):
            run.weights(k)
    for k in (0, 6, 1.5, "1"):
        with pytest.raises(ValueError, match=f"k must be an integer from 1 to 5, got {k!r}"):
            run.step(k)
    assert run.step(np.int64(2)).k == 2
    for made in (run, proof([[1.0], [0.0]], [1, -1])):
        for most in (0, -1, 1.5, "3"):
            with pytest.raises(ValueError, match=f"most must be an integer of at least 1 or None, got {most!r}"):
                made.table(most)
    with pytest.raises(ValueError, match="expected two classes, got 3"):
        trace([[1.0], [0.0], [2.0]], [1, 2, 3])
    with pytest.raises(ValueError, match="max_iter must be an integer of at least 1, got 0"):
        trace([[1.0], [0.0]], [1, -1], max_iter=0)
