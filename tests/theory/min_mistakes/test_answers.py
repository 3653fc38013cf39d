"""Certificates about the fewest mistakes that were changed are refused, or claim no more than is true."""

import dataclasses
import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from helpers.forging import mutations
from rosenblatt import Certificate, FewestMistakes, fewest_mistakes
from rosenblatt.theory.min_mistakes import answers as trees
from rosenblatt.theory.min_mistakes.answers import Core

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = [0, 1, 1, 0]
TWICE = np.concatenate([SQUARE, SQUARE + 10.0, SQUARE[:1]])
BOTH = [*XOR, 1, 0, 0, 1, 0]


@pytest.fixture(scope="module")
def honest():
    found = fewest_mistakes(TWICE, BOTH)
    assert found.check(TWICE, BOTH)
    assert found.low == found.high
    return found


def test_no_more_and_no_less(honest):
    assert dataclasses.replace(honest, low=honest.low - 1).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, low=honest.low + 1).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, low=-1).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, n=len(BOTH) + 1).check(TWICE, BOTH)
    more = np.append(honest.rows, np.setdiff1d(np.arange(len(BOTH)), honest.rows)[0])
    assert dataclasses.replace(honest, rows=more).check(TWICE, BOTH)  # at most so many is true as well


def test_rows_that_do_not_separate(honest):
    assert not dataclasses.replace(honest, rows=honest.rows[1:], low=0).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, w=-honest.w).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, w=honest.w[:1]).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, b=math.nan).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, rows=np.append(honest.rows, honest.rows[0])).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, rows=honest.rows - len(BOTH)).check(TWICE, BOTH)
    assert not honest.check(TWICE, [1 - label for label in BOTH[:1]] + BOTH[1:])


def test_the_positive_label_must_occur():
    w, b = np.zeros(2), -1.0  # it has all rows on the side of a label that none has
    for positive in (7, "1", None):
        forged = FewestMistakes(0, np.arange(0), w, b, 4, (), (), ((),), positive)
        assert not forged.check(SQUARE, XOR)
        assert forged.check(SQUARE, [0, 0, 0, 0]) == (positive is None)


def test_cores_must_be_cores(honest):
    for j, core in enumerate(honest.cores):
        others = [honest.cores[k] for k in range(len(honest.cores)) if k != j]
        forged = [
            core._replace(rows=(core.rows + 1) % len(BOTH)),
            core._replace(rows=core.rows - len(BOTH)),
            core._replace(rows=core.rows[:1], alpha=core.alpha[:1], weights=core.weights and core.weights[:1]),
            core._replace(alpha=core.alpha[:-1]),
            core._replace(rows=core.rows[:0], alpha=core.alpha[:0], weights=()),
        ]
        for one in forged:
            assert not dataclasses.replace(honest, cores=(*others[:j], one, *others[j:])).check(TWICE, BOTH)


def test_copies_must_be_copies(honest):
    assert honest.copies  # row 0 and the last
    for copies in ((np.arange(4),), (np.array([0, 8]), np.array([8, 0])), (np.array([0, 8, 8]),), (np.array([], int),)):
        assert not dataclasses.replace(honest, copies=copies).check(TWICE, BOTH)


def test_a_copy_beside_its_first_does_not_count_twice():
    X, y = np.zeros((4, 1)), [1, 1, 0, 0]
    pairs = tuple(Core(np.array(pair), np.full(2, 0.5), (1, 1)) for pair in ((0, 2), (1, 3)))
    found = FewestMistakes(2, np.array([0, 1]), np.zeros(1), -1.0, 4, pairs, (), (((0, 1), (1, 1)),), 1)
    assert found.check(X, y)
    copies = (np.array([0, 1]), np.array([2, 3]))
    forged = dataclasses.replace(found, copies=copies)
    assert not forged.check(X, y)
    alone = dataclasses.replace(found, cores=pairs[:1], copies=copies, tree=(((0, 1),),), low=1)
    assert alone.check(X, y)
    branched = (1, ((0, 2),), ((0, 2),))  # row 1 would be paid for twice, as one of the copies of row 0 as well
    assert not dataclasses.replace(alone, tree=branched).check(X, y)


def test_trees_that_are_none(honest):
    for tree in (
        (),
        ((), ()),
        (0,),
        (0, ()),
        (0, (), (), ()),
        (((len(honest.cores), 1),),),
        (((0, 0),),),
        (((0, -5),),),
    ):
        assert not dataclasses.replace(honest, tree=tree).check(TWICE, BOTH)
    assert not dataclasses.replace(honest, tree=(0, *honest.tree) * trees.MOST_NODES).check(TWICE, BOTH)


def test_branches_are_on_rows_of_cores_once_and_leaves_name_a_core_once():
    cores = [[0, 1], [1, 2], [0, 2]]
    all_three = ((0, 1), (1, 1), (2, 1))
    assert trees.proved_bound((all_three,), cores, {}) == 2
    assert trees.proved_bound((0, ((1, 1),), all_three), cores, {}) == 2
    assert trees.proved_bound((3, all_three, all_three), cores, {}) == 0  # no core has row 3
    assert trees.proved_bound((-1, all_three, all_three), cores, {}) == 0
    assert trees.proved_bound((0, 0, ((1, 1),), ((1, 1),), all_three), cores, {}) == 0
    assert trees.proved_bound((0, ((1, 1),), 0, ((1, 1),), all_three), cores, {}) == 0
    assert trees.proved_bound((((0, 1), (1, 1), (2, 1), (0, 1)),), cores, {}) == 0
    assert trees.proved_bound((((-1, 1),),), cores, {}) == 0


def test_leaves_count_no_more_than_the_size_of_the_certificate_allows(monkeypatch):
    cores = [[*range(600)], [*range(600, 1200)]]
    tree = (*range(1000), *[((1, 1),)] * 1001)
    asked = []
    monkeypatch.setattr(trees.CoreStates, "bound", lambda self, leaf: asked.append(leaf) or 0)
    long = [[*range(30_000)], [*range(30_000, 60_000)]]
    assert trees.proved_bound((*range(5000), *[((0, 1), (1, 1))] * 5001), long, {}) == 0
    assert not asked  # refused before any of it is counted
    trees.proved_bound(tree, cores, {})
    assert len(asked) == 1001


def test_sums_beyond_int64_are_refused():
    assert trees.proved_bound((((0, 2**61),),), [[0, 1]], {0: 5, 1: 5}) == 5
    assert trees.proved_bound((((0, 2**62),),), [[0, 1]], {}) == 0
    assert trees.proved_bound((((0, 2**61),),), [[0, 0, 0, 0, 0]], {}) == 1


def test_every_small_change_is_refused_or_true(honest):
    loaded = held = 0
    for record in mutations(honest.to_dict()):
        try:
            forged = Certificate.from_json(json.dumps(record))
        except ValueError:
            continue
        loaded += 1
        str(forged)
        try:
            holds = forged.check(TWICE, BOTH)
        except ValueError:
            continue
        if holds:
            held += 1
            assert forged.low <= honest.low
            assert forged.high >= honest.high
    assert loaded > 50 > held > 0


def naive_hits(cores, copies):
    rows = sorted({row for core in cores for row in core})
    return min(
        sum(copies.get(row, 1) for row in hit)
        for size in range(len(rows) + 1)
        for hit in combinations(rows, size)
        if all(set(core) & set(hit) for core in cores)
    )


def test_no_tree_proves_more_than_is_true():
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(2000):
        cores = [rng.choice(6, rng.integers(1, 4), replace=False).tolist() for _ in range(rng.integers(1, 6))]
        copies = {row: int(rng.integers(1, 4)) for row in range(6)}
        found = trees.proved_bound(random_tree(rng, len(cores), 3), cores, copies)
        assert found <= naive_hits(cores, copies)
        reached += found == naive_hits(cores, copies)
    assert reached > 20


def naive_bound(leaf, cores, copies, removed):
    """Return what a leaf proves, in fractions."""
    if not leaf or any(removed.get(row) for j, _ in leaf for row in cores[j]):
        return 0
    uses = {}
    for j, times in leaf:
        for row in cores[j]:
            if row not in removed:
                uses[row] = uses.get(row, 0) + times
    if not uses:
        return math.inf
    return math.ceil(sum(times for _, times in leaf) / max(Fraction(uses[row], copies[row]) for row in uses))


def test_leaves_prove_what_fractions_say():
    rng = np.random.default_rng(1)
    for _ in range(500):
        cores = [rng.choice(8, rng.integers(1, 4), replace=False).tolist() for _ in range(rng.integers(1, 6))]
        copies = {row: int(rng.integers(1, 4)) for row in range(8)}
        removed = {int(row): bool(rng.random() < 0.3) for row in rng.choice(8, 3, replace=False)}
        removed = {row: gone for row, gone in removed.items() if any(row in core for core in cores)}
        leaf = tuple((j, int(rng.integers(1, 2**40))) for j in range(len(cores)) if rng.random() < 0.6)
        states = trees.CoreStates(cores, copies)
        for row, gone in removed.items():
            states.set_state(row, trees.REMOVED if gone else trees.KEPT)
        cost = sum(copies[row] for row, gone in removed.items() if gone)
        assert states.cost == cost
        assert states.bound(leaf) == states.bound(leaf) == cost + naive_bound(leaf, cores, copies, removed)


def random_tree(rng, cores, depth):
    if depth and rng.random() < 0.5:
        return (int(rng.integers(6)), *random_tree(rng, cores, depth - 1), *random_tree(rng, cores, depth - 1))
    chosen = rng.choice(cores, rng.integers(0, cores + 1), replace=False)
    return (tuple((int(j), int(rng.integers(1, 4))) for j in chosen),)


def test_words():
    w = np.array([0.0, 1.0])
    core = Core(np.arange(4), np.full(4, 0.25), (1, 1, 1, 1))
    some = FewestMistakes(3, np.arange(5), w, 0.5, 1000, (core, core, core), (), (((0, 1),),), 1)
    assert str(some) == (
        "At least 3 and at most 5 of the 1,000 rows must be removed so that a hyperplane separates the rest.\n"
        "Without rows 0, 1, 2, 3, 4 it does.\n"
        "3 sets of rows, each of which no hyperplane separates, prove that no fewer than 3 will do."
    )
    weak = dataclasses.replace(some, rows=np.arange(600))
    assert str(weak).splitlines()[3:] == [
        "The lower bound is weak here, as such sets have up to d + 2 = 4 rows: "
        "at most 250 of that size can be disjoint."
    ]
    for other in (
        dataclasses.replace(weak, rows=np.arange(500)),  # disjoint cores might prove half of it
        dataclasses.replace(weak, low=300),
        dataclasses.replace(weak, cores=(core._replace(rows=np.arange(3)),)),  # shorter cores: that is not why
        dataclasses.replace(weak, cores=(), low=0),
    ):
        assert "weak" not in str(other)
    with pytest.raises(ValueError, match="neither true nor false: compare low and high with 0"):
        bool(some)
