"""Certificates of separation: what they say, what they prove, and that no false one is accepted."""

import dataclasses
import json
import random
from functools import cache

import numpy as np
import pytest

from helpers.mutating import mutated_plain
from helpers.naive_separation import naive_answer
from rosenblatt import Certificate, Separation, detect_separation
from rosenblatt.theory.logistic.answers import ForcedSign

QUASI = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3]], [0, 1, 0, 1, 1, 1]


@cache
def examples():
    """Return data of every kind, with two and with three classes, with signs forced and turned, and aliased columns."""
    rng = np.random.default_rng(5)
    points = rng.integers(-4, 5, (14, 3)).astype(float)
    found = {
        "quasi": QUASI,
        "forced": (points, (points @ [1, 2, -1] > 0.5).astype(int)),
        "turned": ([[-2, 1], [-1, -1], [1, 0], [3, 1]], [0, 0, 1, 1]),
        "overlap": (points, rng.integers(0, 2, 14)),
        "three": ([[0, 1], [1, 1], [2, 0], [3, 5], [4, 4], [5, 9], [1, 2]], ["a", "a", "b", "b", "c", "c", "b"]),
        "aliased": ([[1, 2, 2], [2, 4, 1], [3, 6, 0], [5, 10, 7]], [0, 0, 1, 1]),
        "plane": ([[0, 0, 1], [0, 0, 2], [1, 0, 0], [0, 1, 0], [1, 1, 3]], [0, 1, 1, 0, 1]),
    }
    return {name: (np.array(X, dtype=float), np.array(y)) for name, (X, y) in found.items()}


NAMES = list(examples())


def truth(X, y):
    kind, statuses, on = naive_answer(X, y, True)
    return kind, tuple(statuses), on


@pytest.mark.parametrize("name", NAMES)
def test_a_true_one_is_accepted_and_kept_exactly(name, tmp_path):
    X, y = examples()[name]
    answer = detect_separation(X, y)
    assert (answer.kind, answer.statuses, answer.on_hyperplane.tolist()) == truth(X, y)
    assert answer.check(X, y)
    answer.save(tmp_path / "c.json")
    again = Certificate.load(tmp_path / "c.json")
    assert type(again) is Separation
    assert again.check(X.tolist(), y.tolist())
    assert again.to_json() == answer.to_json()
    assert again.coefficients == answer.coefficients
    assert again.direction == answer.direction


def test_the_examples_need_every_kind_of_proof():
    proofs = {name: detect_separation(*examples()[name]).proof for name in NAMES}
    assert proofs["forced"].forced_signs
    assert proofs["turned"].counter_directions or 0 in proofs["turned"].b
    assert proofs["aliased"].relations
    assert proofs["overlap"].alpha
    assert proofs["quasi"].null_basis


@pytest.mark.parametrize("name", NAMES)
def test_other_claims_are_refused(name):
    X, y = examples()[name]
    answer = detect_separation(X, y)
    statuses = ("finite", "+inf", "-inf", "either", "aliased")
    for j, status in enumerate(answer.statuses):
        for other in set(statuses) - {status}:
            changed = (*answer.statuses[:j], other, *answer.statuses[j + 1 :])
            assert not dataclasses.replace(answer, statuses=changed).check(X, y)
    for kind in {"complete", "quasi-complete", "overlap"} - {answer.kind}:
        assert not dataclasses.replace(answer, kind=kind).check(X, y)
    for rows in (answer.on_hyperplane[1:], np.append(answer.on_hyperplane, len(X)), answer.on_hyperplane[::-1]):
        same = np.array_equal(rows, answer.on_hyperplane)
        assert dataclasses.replace(answer, on_hyperplane=rows).check(X, y) == same
    assert not dataclasses.replace(answer, n_rows=answer.n_rows + 1).check(X, y)
    for field, value in (("b", tuple(-v for v in answer.proof.b)), ("alpha", answer.proof.alpha[1:])):
        proof = answer.proof._replace(**{field: value})
        if proof != answer.proof:
            assert not dataclasses.replace(answer, proof=proof).check(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_proof_of_one_set_holds_for_another(name):
    X, y = examples()[name]
    answer = detect_separation(X, y)
    rng = np.random.default_rng(0)
    for _ in range(40):
        other, labels = X.copy(), y.copy()
        if rng.random() < 0.5:
            other[rng.integers(len(X)), rng.integers(X.shape[1])] += rng.choice([-1.0, 1.0, 1e-9])
        else:
            labels[rng.integers(len(y))] = rng.choice(np.unique(y))
        if len(np.unique(labels)) < len(np.unique(y)):
            continue
        if answer.check(other, labels):
            assert (answer.kind, answer.statuses, answer.on_hyperplane.tolist()) == truth(other, labels)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_mutation_is_accepted_when_wrong(name):
    X, y = examples()[name]
    honest = detect_separation(X, y)
    claims = (honest.kind, honest.statuses, honest.on_hyperplane.tolist())
    rng = random.Random(NAMES.index(name))
    loaded = accepted = 0
    for _ in range(400):
        try:
            forged = Certificate.from_json(json.dumps(mutated_plain(rng, honest.to_dict())))
        except ValueError:
            continue
        loaded += 1
        str(forged)
        if forged.check(X, y):
            accepted += 1
            assert (forged.kind, forged.statuses, forged.on_hyperplane.tolist()) == claims
            assert (forged.names, forged.classes) == (honest.names, honest.classes)
    assert 0 < accepted < loaded


def test_rows_that_are_not_in_the_data_prove_nothing():
    X, y = examples()["forced"]
    answer = detect_separation(X, y)
    j, force = next(iter(answer.proof.forced_signs.items()))
    row, own, other = force.rows[0]
    for strange in ((len(X), own, other), (row, 1 - own, other), (row, own, own), (row, own, 2)):
        rows = (strange, *force.rows[1:])
        forced_signs = {**answer.proof.forced_signs, j: ForcedSign(rows, force.weights)}
        assert not dataclasses.replace(answer, proof=answer.proof._replace(forced_signs=forced_signs)).check(X, y)
    too_many_weights = ForcedSign(force.rows, (*(force.weights or (1,) * len(force.rows)), 1))
    proof = answer.proof._replace(forced_signs={**answer.proof.forced_signs, j: too_many_weights})
    assert not dataclasses.replace(answer, proof=proof).check(X, y)


def test_other_names_classes_and_intercepts_are_other_questions():
    X, y = examples()["quasi"]
    answer = detect_separation(X, y)
    assert not answer.check(X, y.astype(str))
    assert not answer.check(X, y.astype(bool))
    assert not answer.check(X, y + 1)
    assert not answer.check(X[:, :1], y)
    assert not dataclasses.replace(answer, fit_intercept=False).check(X, y)
    assert not answer.check(X[:-1], y[:-1])


def test_it_is_neither_true_nor_false():
    with pytest.raises(ValueError, match="compare kind"):
        bool(detect_separation(*QUASI))


def test_the_words_of_each_kind():
    assert str(detect_separation(*QUASI)).startswith(
        "Quasi-complete separation: x0 tends to +infinity; intercept, x1 are finite. 4 of 6 rows lie on the "
        "hyperplane; the other 2 are predicted perfectly. Wald errors for x0 are meaningless.\nWhat to do: Firth's"
    )
    complete = str(detect_separation([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]))
    assert complete.startswith(
        "Complete separation: x0 tends to +infinity; intercept tends to -infinity. A combination of the columns puts "
        "every row strictly on its side: all 4 rows are predicted perfectly."
    )
    assert "merge the level" not in complete
    assert complete.endswith(
        "gives finite estimates; profile likelihoods give tests. Either these columns determine the class, or there "
        "are too few rows for the number of columns."
    )
    assert str(detect_separation(*QUASI)).endswith("merge the level or drop the column.")
    overlap = str(detect_separation([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]))
    assert overlap.startswith("Overlap: no combination of the columns separates the classes")
    assert "Firth" not in overlap
    assert "x2 is aliased" in str(detect_separation([[0, 1, 2], [1, 1, 2], [2, 5, 10], [3, 2, 4]], [0, 1, 0, 1]))
    three = str(detect_separation(*examples()["three"]))
    assert "x0 of 'b'" in three
    assert "baseline 'a'" in three
    assert "and 3 more tend to -infinity" in str(detect_separation(np.eye(30), [0, 1] * 15))


def test_an_enclosure_in_floats_forces_signs_of_many_columns():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 12))
    y = X @ rng.standard_normal(12) > 0
    answer = detect_separation(X, y)
    assert any(force.weights is None for force in answer.proof.forced_signs.values())
    assert answer.check(X, y)
    j, force = next((j, force) for j, force in answer.proof.forced_signs.items() if force.weights is None)
    forced_signs = {**answer.proof.forced_signs, j: ForcedSign((*force.rows[1:], force.rows[1]), None)}
    assert not dataclasses.replace(answer, proof=answer.proof._replace(forced_signs=forced_signs)).check(X, y)


def forged(answer, **changed):
    data = answer.to_dict()
    return json.dumps(data | {"proof": data["proof"] | changed})


@pytest.mark.parametrize(
    ("name", "field", "match"),
    [
        ("overlap", "alpha", "'proof.alpha' must be a list of distinct rows"),
        ("quasi", "null_basis", "'proof.null_basis' must be a list of at most 3 items, one for each coefficient"),
        ("quasi", "counter_directions", "'proof.counter_directions' must be a list of at most 3"),
        ("aliased", "relations", "'proof.relations' must be a list of at most 4"),
        ("forced", "forced_signs", "'proof.forced_signs' must be a list of at most 4"),
    ],
)
def test_no_part_of_a_proof_is_longer_than_proofs_are(name, field, match):
    answer = detect_separation(*examples()[name])
    entries = answer.to_dict()["proof"][field] or [["0x0"] * len(answer.proof.b)]
    with pytest.raises(ValueError, match=match):
        Certificate.from_json(forged(answer, **{field: entries * 10}))


def test_vectors_and_forces_are_no_longer_than_the_coefficients():
    answer = detect_separation(*examples()["forced"])
    proof = answer.to_dict()["proof"]
    with pytest.raises(ValueError, match=r"'proof.counter_directions.0' must be a list of at most 4"):
        Certificate.from_json(forged(answer, counter_directions=[["0x0"] * 5]))
    j, rows, weights = proof["forced_signs"][0]
    with pytest.raises(ValueError, match=r"'proof.forced_signs' must be a list of at most 4"):
        Certificate.from_json(forged(answer, forced_signs=[[j, rows * 5, (weights or ["0x1"]) * 5]]))


def test_a_row_counts_once():
    X, y = examples()["quasi"]
    answer = detect_separation(X, y)
    (row, weight), *others = answer.proof.alpha
    twice = ((row, 2 * weight), *((other, 3 * w) for other, w in others), (row, weight))
    assert len(twice) <= len(X)
    assert not dataclasses.replace(answer, proof=answer.proof._replace(alpha=twice)).check(X, y)
