"""Separation in logistic regression against a rational program, R's answers, and on what people bring."""

import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.naive_separation import naive_answer, tied_set
from rosenblatt import Certificate, detect_separation
from rosenblatt.theory.exact import Combination
from rosenblatt.theory.logistic import search
from rosenblatt.theory.logistic.arithmetic import PRIMES


def compare(seed):
    X, y, fit_intercept = tied_set(seed)
    answer = detect_separation(X, y, fit_intercept=fit_intercept)
    kind, statuses, on = naive_answer(X, y, fit_intercept)
    assert answer.kind == kind, seed
    assert answer.statuses == tuple(statuses), seed
    assert answer.on_hyperplane.tolist() == on, seed
    assert Certificate.from_json(answer.to_json()).check(X, y), seed
    return kind, len(answer.classes)


def test_the_rational_program_agrees():
    found = {compare(seed) for seed in range(60)}
    assert {(kind, 2) for kind in ("complete", "quasi-complete", "overlap")} <= found
    assert {kind for kind, classes in found if classes > 2} == {"complete", "quasi-complete", "overlap"}


@pytest.mark.slow
def test_the_rational_program_agrees_on_more():
    for seed in range(1000, 1300):
        compare(seed)


def test_the_exact_search_alone_decides(monkeypatch):
    next_face = search.next_face
    monkeypatch.setattr(search, "next_face", lambda Z, keys, face, _: next_face(Z, keys, face, True))
    wrong = Combination(np.zeros(1, dtype=np.intp), np.ones(1, dtype=object))
    monkeypatch.setattr(search._SignSearch, "_propose", lambda self, target: wrong)
    for seed in range(2000, 2010):
        compare(seed)


def test_guesses_that_are_wrong_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)

    def wrong(F):
        return rng.standard_normal(F.shape[1]), rng.random(len(F))

    monkeypatch.setattr(search, "squared_hinge_minimum", wrong)
    monkeypatch.setattr(
        search._SignSearch, "_propose", lambda self, target: rng.integers(-9, 10, len(target)).astype(object)
    )
    for seed in range(3000, 3010):
        compare(seed)


def test_small_working_sets_grow(monkeypatch):
    monkeypatch.setattr(search, "_SMALL", 2)
    monkeypatch.setattr(search, "_ROWS_PER_COEFFICIENT", 0)
    for seed in range(4000, 4010):
        compare(seed)


def test_rows_come_into_the_working_set_of_many_rows():
    rng = np.random.default_rng(1)
    X = rng.integers(-9, 10, (3000, 4)).astype(float)
    score = X @ [2, -1, 0, 3] + 1
    answer = detect_separation(X, score > 0)
    assert answer.kind == "complete"  # the threshold lies between 0 and the least score above it
    assert answer.check(X, score > 0)
    assert {answer.coefficients[name] for name in ("x0", "x3")} == {"+inf"}
    y = np.where(score == 0, rng.integers(0, 2, 3000), score > 0)
    answer = detect_separation(X, y)
    assert answer.kind == "quasi-complete"
    assert answer.on_hyperplane.tolist() == np.flatnonzero(score == 0).tolist()
    assert answer.direction == {"intercept": 1, "x0": 2, "x1": -1, "x2": 0, "x3": 3}
    assert answer.coefficients == {"intercept": "+inf", "x0": "+inf", "x1": "-inf", "x2": "finite", "x3": "+inf"}
    flipped = y.copy()
    flipped[np.argmax(np.abs(score))] = 1 - flipped[np.argmax(np.abs(score))]
    assert detect_separation(X, flipped).kind == "overlap"


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e12])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 2.0**60])
def test_offsets_and_scales_change_nothing(offset, scale):
    rng = np.random.default_rng(2)
    X = rng.integers(-50, 50, (500, 3)).astype(float)
    y = X @ [1, -1, 2] > 0.5
    moved = (X + offset) * scale
    answer = detect_separation(moved, y)
    assert answer.kind == "complete"
    assert answer.check(moved, y)
    names = ("x0", "x1", "x2")
    assert [answer.coefficients[name] for name in names] == ["+inf", "-inf", "+inf"]


def test_extreme_numbers_are_decided_as_stored():
    X = np.array([[1e300, 5e-324], [-1e300, 1e-300], [1e300, 0.0], [3.0, 1e-310]])
    for labels in range(1, 15):
        y = [labels >> k & 1 for k in range(4)]
        answer = detect_separation(X, y)
        assert answer.check(X, y)
        assert (answer.kind, list(answer.statuses)) == naive_answer(X, y, True)[:2]


def test_numbers_that_a_prime_divides_are_decided_with_another():
    prime = float(PRIMES[0])
    X = np.array([[0, 1], [prime, 2], [2 * prime, 0], [0, prime], [prime, 3]])
    for y in ([0, 1, 1, 0, 1], [0, 1, 0, 1, 1], [1, 0, 0, 0, 1]):
        answer = detect_separation(X, y)
        assert (answer.kind, list(answer.statuses)) == naive_answer(X, y, True)[:2]
        assert answer.check(X, y)
    both = prime * PRIMES[1]
    assert detect_separation([[0.0], [both], [2 * both], [3 * both]], [0, 1, 0, 1]).kind == "overlap"


def test_aliased_in_decimals_is_not_aliased_in_binary():
    x = np.array([0.1, 0.2, 0.3, 0.7, 0.4])
    y = [0, 1, 0, 1, 1]
    assert detect_separation(np.column_stack([x, 3 * x]), y).coefficients["x1"] != "aliased"  # 3 * 0.1 is rounded
    assert detect_separation(np.column_stack([x, 2 * x]), y).coefficients["x1"] == "aliased"


def test_the_leftmost_columns_are_kept():
    X = np.array([[0, 1, 1, 5], [1, 0, 1, 5], [1, 1, 2, 5], [2, 1, 3, 5], [0, 3, 3, 5]])
    y = [0, 1, 1, 0, 1]
    assert detect_separation(X, y).statuses == ("finite", "finite", "finite", "aliased", "aliased")
    assert detect_separation(X, y, fit_intercept=False).coefficients["x3"] != "aliased"


def test_weights_of_zero_drop_rows_and_others_change_nothing():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    assert detect_separation(X, y).kind == "overlap"
    answer = detect_separation(X, y, sample_weight=[1, 0, 2, 0.5])
    assert (answer.kind, answer.n_rows) == ("complete", 3)
    assert answer.check(X, y, sample_weight=[3, 0, 1, 1])
    assert not answer.check(X, y)
    quasi = detect_separation([[0.0], [9.0], [1.0], [1.0], [2.0]], [0, 0, 0, 1, 1], sample_weight=[1, 0, 1, 1, 1])
    assert quasi.on_hyperplane.tolist() == [2, 3]  # the numbers of all rows, not of those with weight
    for weights in ([1, -1, 1, 1], [1, np.nan, 1, 1], [1, 1]):
        with pytest.raises(ValueError, match="weight"):
            detect_separation(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="at least two classes among the rows of positive weight, got 1"):
        detect_separation(X, y, sample_weight=[1, 0, 1, 0])


def test_the_exact_weight_decides_whether_a_row_counts():
    X, y, tiny = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], Fraction(1, 10**400)
    assert detect_separation(X, y, sample_weight=[1, 1, tiny, 1]).kind == "overlap"
    assert detect_separation(X, y, sample_weight=[1, 1, Fraction(0), 1]).kind == "complete"
    assert detect_separation(X, y, sample_weight=pd.Series([1, 1, 0, 1], dtype="Int64")).kind == "complete"
    for bad in (-tiny, -Fraction(1, 10**5000), Decimal("-1e-400")):
        with pytest.raises(ValueError, match=r"^sample_weight must be finite and not negative, got .*\.$"):
            detect_separation(X, y, sample_weight=[1, 1, bad, 1])
    for weights in ([1, 1, 1j, 1], np.array([1, 1, 0, 1], dtype=complex), ["1", "1", "1", "1"]):
        with pytest.raises(ValueError, match=r"^sample_weight must be finite numbers, got"):
            detect_separation(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"^sample_weight is a masked array with 1 masked entry"):
        detect_separation(X, y, sample_weight=np.ma.array([1, 1, 0, 1], mask=[False, False, True, False]))


def test_counts_of_any_type_of_numbers_are_taken():
    X, counts = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [2, 0], [0, 3], [0, 1]]
    frame = pd.DataFrame(counts, columns=["yes", "no"])
    for y in (frame, frame.astype("Int64"), frame.astype("Float64"), np.array(counts, dtype=object)):
        answer = detect_separation(X, y)
        assert answer.coefficients == {"intercept": "+inf", "x0": "-inf"}
        assert answer.check(X, y)
    assert detect_separation(X, [[Fraction(1, 10**400), 0], *counts[1:]]).n_rows == 4
    missing = frame.astype("Int64")
    missing.iloc[1, 1] = None
    for y in (missing, [["a", "b"]] * 4, [[Fraction(-1, 10**400), 1]] * 4):
        with pytest.raises(ValueError, match=r"^a y with two columns counts successes and failures: expected finite"):
            detect_separation(X, y)


def test_binomial_counts_are_their_observations():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    for seed in range(30):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 3, (4, 2)) * rng.integers(0, 2, (4, 2))
        rows = [(i, k) for i in range(4) for k, count in ((1, counts[i, 0]), (0, counts[i, 1])) if count]
        if len({k for _, k in rows}) < 2:
            continue
        answer = detect_separation(X, counts)
        one_by_one = detect_separation(X[[i for i, _ in rows]], [k for _, k in rows])
        assert (answer.kind, answer.coefficients) == (one_by_one.kind, one_by_one.coefficients)
        assert answer.check(X, counts)
        on = {rows[i][0] for i in one_by_one.on_hyperplane}
        assert answer.on_hyperplane.tolist() == sorted(on)
    assert detect_separation(X, [[1, 0], [2, 0], [1, 0], [3, 0]]).coefficients["intercept"] == "either"
    assert detect_separation([[0.0], [0.0]], [[1, 0], [2, 0]]).coefficients == {"intercept": "+inf", "x0": "aliased"}
    for counts in ([[1, -1]] * 4, [[0, 0]] * 4, [["a", "b"]] * 4):
        with pytest.raises(ValueError, match="success"):
            detect_separation(X, counts)


def test_several_classes_are_one_question():
    """Each pair of classes may be separated though all together overlap, and the other way round."""
    X, y = [[0], [1], [1], [2], [2], [3]], ["a", "a", "b", "b", "c", "c"]
    answer = detect_separation(X, y)
    assert answer.baseline == "a"
    assert list(answer.coefficients) == [("b", "intercept"), ("b", "x0"), ("c", "intercept"), ("c", "x0")]
    assert answer.kind == naive_answer(np.array(X, float), np.array(y), True)[0]
    assert answer.check(X, y)


def test_sparse_matrices_and_lists_are_taken():
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), [0, 1, 1, 0]
    answers = [detect_separation(given, y).to_json() for given in (X, X.tolist(), sp.csr_array(X), sp.coo_matrix(X))]
    assert len(set(answers)) == 1


def test_no_columns_and_constant_columns():
    assert detect_separation(np.zeros((3, 0)), [0, 1, 1]).kind == "overlap"
    assert detect_separation(np.zeros((3, 0)), [0, 1, 1], fit_intercept=False).coefficients == {}
    answer = detect_separation(np.zeros((3, 2)), [0, 1, 1], fit_intercept=False)
    assert answer.coefficients == {"x0": "aliased", "x1": "aliased"}
    assert answer.kind == "overlap"
    assert answer.check(np.zeros((3, 2)), [0, 1, 1])


def test_bad_input_gets_one_sentence():
    for X, y, options, words in (
        ([[1.0], [2.0]], [1, 1], {}, "at least two classes"),
        ([[1.0], [2.0]], [1, 0, 1], {}, "one label for each of the 2 rows"),
        ([[1.0], [np.nan]], [1, 0], {}, "NaN"),
        ([[2**53 + 1], [0]], [1, 0], {}, "would round"),
        (np.eye(2048), [1, 0] * 1024, {}, "at most 2,048 coefficients, got 2,049"),
        ([[1.0], [2.0]], [1, 0], {"fit_intercept": 1}, "fit_intercept must be True or False"),
        ([[1.0], [2.0]], np.array([1, "a"], dtype=object), {}, "labels must be all strings or all"),
    ):
        with pytest.raises(ValueError, match=words):
            detect_separation(X, y, **options)


# Published sets with known answers (R's detectseparation), where the files are, and made-up sets like them.


FOLDER = Path(os.environ.get("ROSENBLATT_DATA", "no such folder")) / "tables" / "separation"
needs_files = pytest.mark.skipif(not FOLDER.exists(), reason="ROSENBLATT_DATA names no folder with these files")


PUBLISHED = [
    ("endometrial", ["NV", "PI", "EH"], "HG", "quasi-complete", {"NV": "+inf"}, 66),
    ("lizards", ["height", "diameter", "light", "time"], ["grahami", "opalinus"], "overlap", {}, None),
    ("silvapulle1981", ["ghqs"], "y", "quasi-complete", {"intercept": "-inf", "ghqs": "+inf"}, None),
    ("murder", ["time", "income", "noncauc", "lfp", "southern"], "e", "quasi-complete", {"southern=yes": "+inf"}, 29),
]


@needs_files
@pytest.mark.parametrize(("name", "columns", "labels", "kind", "infinite", "on"), PUBLISHED)
def test_published_sets(name, columns, labels, kind, infinite, on):
    data = pd.read_csv(FOLDER / f"{name}.csv")
    X, y = data[columns], data[labels]
    answer = detect_separation(X, y)
    assert answer.kind == kind
    assert answer.check(X, y)
    assert {name: status for name, status in answer.coefficients.items() if status != "finite"} == infinite
    assert on in (None, len(answer.on_hyperplane))
    if name == "lizards":
        assert list(answer.coefficients)[-2:] == ["time=late", "time=midday"]
    elif name == "silvapulle1981":
        assert answer.direction == {"intercept": -2, "ghqs": 1}
    elif name == "endometrial":
        assert answer.direction == {"intercept": 0, "NV": 1, "PI": 0, "EH": 0}
        assert str(answer).startswith(
            "Quasi-complete separation: NV tends to +infinity; intercept, PI, EH are finite. 66 of 79 rows lie on the "
            "hyperplane; the other 13 are predicted perfectly. Wald errors for NV are meaningless."
        )
        assert detect_separation(X.assign(NV=-X["NV"]), y).coefficients["NV"] == "-inf"
        doubled = X.assign(NV2=2 * X["NV"])[["NV", "NV2", "PI", "EH"]]
        assert detect_separation(doubled, y).coefficients == {**answer.coefficients, "NV2": "aliased"}


def test_a_rare_level_that_only_one_class_has():
    rng = np.random.default_rng(0)
    n = 80
    y = rng.integers(0, 2, n)
    site = np.where((rng.random(n) < 0.3) & (y == 1), "north", rng.choice(["east", "south"], n))
    X = pd.DataFrame({"age": rng.integers(20, 90, n), "site": site, "smokes": rng.random(n) < 0.5})
    answer = detect_separation(X, y)
    assert answer.kind == "quasi-complete"
    finite = dict.fromkeys(["intercept", "age", "site=north", "site=south", "smokes"], "finite")
    assert answer.coefficients == finite | {"site=north": "+inf"}
    assert answer.direction["site=north"] == 1
    assert answer.on_hyperplane.tolist() == np.flatnonzero(site != "north").tolist()
