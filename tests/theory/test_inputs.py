"""What the theory takes: numbers of every type that users bring, exactly or not at all, and labels of one kind."""

import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rosenblatt import (
    Circle,
    HalfSpace,
    RescaledPerceptron,
    circle_from_plane,
    dataset_margin,
    detect_separation,
    fewest_mistakes,
    fit_circle,
    margin,
    maximize,
    mistake_bound,
    proof,
    separability,
    strict_feasibility,
    vc,
)
from rosenblatt.theory.inputs import certified_signs, check_exact, check_labels, check_matrix, exact_numbers

LARGE = 2**53
NANOSECONDS = [1_600_000_000_000_000_001, 1_600_000_000_000_000_003]
LONG = np.longdouble if np.finfo(np.longdouble).nmant > 52 else None
ROUNDS = r"^X holds .*, which float64 would round: scale or shift the numbers, or round them yourself .*\.$"


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def rounded_matrices():
    """Yield matrices of two rows with a number that float64 would round."""
    yield np.array([[1], [LARGE + 1]])
    yield np.array([[-LARGE - 1], [0]])
    yield np.array([[2**63 - 1], [0]])
    yield np.array([[2**64 - 1], [0]], dtype=np.uint64)
    yield np.array([[2**200 + 1], [0]], dtype=object)
    yield [[LARGE + 1, 0], [1, 2]]
    yield [[LARGE + 1, 0.5], [LARGE, 0.5]]
    yield ((LARGE + 1, 0.5), (LARGE, 0.5))
    yield [np.array([LARGE + 1]), np.array([0.5])]
    yield [[10**400], [1]]
    yield [[Fraction(1, 3)], [Fraction(2, 3)]]
    yield [[Fraction(1, 10**5000)], [1]]
    yield [[Decimal("0.1")], [Decimal("0.2")]]
    yield [[Decimal("1e1000000000")], [1]]
    yield np.array([[0.5, 1], [Decimal("0.3"), LARGE]], dtype=object)
    yield sp.csr_array(np.array([[0, LARGE + 1], [1, 1]]))
    yield sp.coo_array(([1, LARGE + 1], ([1, 0], [0, 1])))
    yield sp.csc_array(np.array([[0, 3], [LARGE + 1, 0]]))
    if LONG:
        thirds = np.array([[1], [2]], dtype=LONG) / 3
        yield from (thirds, [[LONG(1) / 3], [1.0]], sp.csr_matrix(thirds))
        yield from (np.array([[1], [2]], dtype=LONG) * LONG(scale) for scale in ("1e400", "1e-400"))


def test_what_float64_would_round_is_refused():
    for X in rounded_matrices():
        with pytest.raises(ValueError, match=ROUNDS):
            separability(X, [0, 1])
    with pytest.raises(ValueError, match=r"^X holds the integer -9007199254740993, which"):
        check_matrix(np.array([[-LARGE - 1]]))


TAKEN = [
    [[Fraction(1, 2)], [Fraction(-3, 1024)]],
    [[Decimal("0.5")], [Decimal("1e20")]],
    [[0.1, LARGE + 2], [Fraction(1, 4), Decimal(3)]],
    np.array([[0.5], [0.1]]).astype(np.longdouble),
    [[2**100, 0.5], [-(2**70), 1]],
    np.array([[2**100, 0.1]], dtype=object),
    np.array([[0.1], [3e38]], dtype=np.float32),
    np.array([[0.1], [6e4]], dtype=np.float16),
    np.array([[3, 4]], dtype=np.int8),
    np.array([[True, False]]),
    [[True, 0.5], [False, 1]],
    np.array([[LARGE + 2, -LARGE, 2**62]]),
    np.array([[-(2**63)], [2**62]]),
    np.array([[2**64 - 2**11], [1]], dtype=np.uint64),
    [[1e300, 1.0], [2, 3.7e15 + 0.5]],
    sp.csr_array(np.array([[2**60], [1]])),
    sp.csc_array(np.array([[0, 3], [2**54, 0]])),
]


def test_what_float64_holds_is_taken_as_it_is():
    for X in TAKEN:
        taken = check_matrix(X)
        assert taken.dtype == np.float64
        given = X if isinstance(X, list) else dense(X).tolist()
        assert dense(taken).tolist() == given


def test_random_objects_are_refused_if_and_only_if_a_float_is_another_number():
    rng = np.random.default_rng(0)
    for _ in range(500):
        above, below = int(rng.integers(-(2**60), 2**60)), 2 ** int(rng.integers(0, 8)) * int(rng.choice([1, 1, 1, 3]))
        for value in (Fraction(above, below), above, np.int64(above), Decimal(above) / Decimal(below)):
            exact = Fraction(value) if not isinstance(value, np.int64) else Fraction(int(value))
            fits = Fraction(float(exact)) == exact
            for given in ([[value, 0.25]], np.array([[value]], dtype=object), np.array([[value]])):
                if fits:
                    assert check_matrix(given)[0, 0] == exact
                else:
                    with pytest.raises(ValueError, match="would round"):
                        check_matrix(given)


def test_columns_of_data_frames_are_looked_at_one_by_one():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    tables = [
        {"t": NANOSECONDS, "x": [0.5, 1.5]},
        {"t": NANOSECONDS},
        {"t": [NANOSECONDS[0], None], "x": [0.5, 1.5]},
        {"t": [Decimal("0.1"), Decimal("0.5")], "x": [0.5, 1.5]},
    ]
    frames = [library(table) for library in (pl.DataFrame, pa.table) for table in tables]
    frames += [pd.DataFrame(tables[k]) for k in (0, 1, 3)]
    for column in (
        pd.array(NANOSECONDS, dtype="Int64"),
        pd.array([NANOSECONDS[0], None], dtype="Int64"),
        pd.array(NANOSECONDS, dtype="uint64[pyarrow]"),
        pd.arrays.SparseArray(NANOSECONDS),
        pd.Categorical(NANOSECONDS),
    ):
        frames.append(pd.DataFrame({"t": column, "x": [0.5, 1.5]}))
    for frame in frames:
        with pytest.raises(ValueError, match=ROUNDS):
            separability(frame, [0, 1])


def test_data_frames_whose_numbers_fit_are_taken():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"t": [2**60, 5], "x": [0.5, 0.1], "k": [True, False]}
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    frames.append(pd.DataFrame({"t": pd.array([2**60, 5], dtype="Int64"), "x": [0.5, 0.1], "k": [1, 0]}))
    frames.append(pd.DataFrame({"t": [Decimal(2**60), Fraction(5)], "x": [0.5, 0.1], "k": pd.Categorical([1, 0])}))
    for frame in frames:
        np.testing.assert_array_equal(check_matrix(frame), [[2.0**60, 0.5, 1.0], [5.0, 0.1, 0.0]])
        assert separability(frame, [0, 1]).check(frame, [0, 1])


def test_what_is_not_a_real_number_is_named():
    words = np.array([["9007199254740993"], ["2"]])
    others = [[["a"], ["b"]], [["0.5"], [1]], words, words.astype(bytes), words.astype(object)]
    others += [[[1j], [2]], np.array([[1j], [2]]), [[date(2020, 1, 1)], [1]], [[timedelta(1)], [1]], [[{}], [1]]]
    for X in others:
        with pytest.raises(ValueError, match=r"^X must hold finite real numbers, got .*: convert it to a number"):
            separability(X, [0, 1])
    dates = [
        pd.DataFrame({"t": pd.to_datetime(NANOSECONDS), "x": [0.5, 1.5]}),
        pd.DataFrame({"t": pd.to_timedelta(NANOSECONDS)}),
        np.array(NANOSECONDS).astype("M8[ns]")[:, None],
        np.array(NANOSECONDS).astype("m8[ns]")[:, None],
        np.array([[np.timedelta64(5, "ns")], [np.timedelta64(7, "ns")]], dtype=object),
    ]
    for X in dates:
        with pytest.raises(ValueError, match=r"^X holds dates or times: convert them to numbers"):
            separability(X, [0, 1])
        with pytest.raises(ValueError, match=r"^points holds dates or times: convert them to numbers"):
            vc.dichotomies(X, "halfspaces")
    for X in ([[None], [1.0]], pd.DataFrame({"t": pd.array([1, None], dtype="Int64"), "x": [0.5, 1.5]})):
        with pytest.raises(ValueError, match="contains NaN"):
            separability(X, [0, 1])


BAD = [[LARGE + 1, 0.5], [LARGE, 0.25]]
GOOD, LABELS = [[1.0, 0.5], [2.0, 0.25]], [0, 1]


def test_every_question_about_rows_refuses_them():
    for call in (
        lambda: separability(BAD, LABELS),
        lambda: separability(GOOD, LABELS).check(BAD, LABELS),
        lambda: dataset_margin(BAD, LABELS),
        lambda: dataset_margin(GOOD, LABELS).check(BAD, LABELS),
        lambda: margin(BAD, LABELS, [1.0, 0.0]),
        lambda: mistake_bound(BAD, LABELS),
        lambda: proof(BAD, LABELS),
        lambda: strict_feasibility(BAD, [1.0, 1.0]),
        lambda: strict_feasibility(GOOD, [1.0, 1.0]).check(BAD, [1.0, 1.0]),
        lambda: maximize([1.0, 0.0], BAD, [1.0, 1.0]),
        lambda: maximize([1.0, 0.5], GOOD, [1.0, 1.0]).check([1.0, 0.5], BAD, [1.0, 1.0]),
        lambda: fit_circle(BAD, LABELS),
        lambda: Circle([0, 0], 1).contains(BAD),
        lambda: HalfSpace([1, 0], 1).on_boundary(BAD),
        lambda: RescaledPerceptron().fit(BAD, LABELS),
        lambda: RescaledPerceptron().fit(sp.csc_array(np.array([[LARGE + 1], [LARGE]])), LABELS),
    ):
        with pytest.raises(ValueError, match=r"(X|A|points) holds the integer 9007199254740993, which float64 would"):
            call()


def test_vectors_are_refused_by_name():
    answer = maximize([1.0, 0.5], GOOD, [1.0, 1.0])
    for bad in ([LARGE + 1, 0.5], [Fraction(1, 3), 1], [Decimal("0.1"), 1], np.array([LARGE + 1, 2])):
        for name, call in (
            ("b", lambda bad: strict_feasibility(GOOD, bad)),
            ("b", lambda bad: strict_feasibility(GOOD, [1.0, 1.0]).check(GOOD, bad)),
            ("c", lambda bad: maximize(bad, GOOD, [1.0, 1.0])),
            ("c", lambda bad: answer.check(bad, GOOD, [1.0, 1.0])),
            ("w_star", lambda bad: proof(GOOD, LABELS, w_star=bad, b_star=-1.5)),
            ("b_star", lambda bad: proof(GOOD, LABELS, w_star=[1.0, 0.0], b_star=bad[0])),
            ("w", lambda bad: HalfSpace(bad, 1)),
            ("b", lambda bad: HalfSpace([1, 0], bad[0])),
            ("w", lambda bad: circle_from_plane([*bad, 0], 1)),
        ):
            with pytest.raises(ValueError, match=f"^{name} holds .*, which float64 would round"):
                call(bad)


def test_weights_of_a_margin_are_taken_exactly():
    X, y = [[float(LARGE)], [1.0]], [1, 0]
    for b in (-LARGE + 1, np.longdouble(-LARGE + 1), Decimal(-LARGE + 1), Fraction(-LARGE + 1)):
        assert margin(X, y, [1], b) == 1.0
    assert margin(X, y, [LARGE + 1], -(LARGE**2)) == float(Fraction(LARGE, LARGE + 1))  # rounded, it is on the plane
    assert margin(X, y, [Fraction(1, 3)], Fraction(-2, 3)) == margin(X, y, [1], -2) == 1.0 * (2 - 1)
    assert margin(X, y, [10**400], -2 * 10**400) == 1.0
    assert margin(X, y, np.array([[2.0]]), np.array([-4.0])) == 1.0
    assert exact_numbers(math.pi, "b").item() == math.pi
    X = np.array([[0.0, 0.0], [1.0, 2.0**-52], [2.0**52, 1.0 - 2.0**-53]])
    verdict = separability(X, [0, 1, 0])  # no floats separate: w and b are long integers
    assert verdict.check(X, [0, 1, 0])
    assert margin(X, [0, 1, 0], verdict.w, verdict.b) == pytest.approx(verdict.margin_low, rel=1e-15)


def test_circles_take_integers_of_any_size_exactly():
    circle = Circle([LARGE + 1, 0.5], 1)
    assert circle.center[0] == LARGE + 1
    assert circle.sides([[float(LARGE), 0.5], [float(LARGE + 2), 0.5], [float(LARGE + 4), 0.5]]).tolist() == [0, 0, -1]
    assert Circle([0, 0], Decimal("0.1")).radius == Fraction(1, 10)
    assert Circle([0, 0], LARGE + 1).on_boundary([[float(LARGE), 0.0]]).tolist() == [False]
    assert type(Circle([0, 0], np.float32(0.5)).radius) is float


def test_points_of_shattering_are_exact_in_data_frames():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    line = {"x": [LARGE, LARGE + 1, LARGE + 2], "y": [0.5, 0.5, 0.5]}
    for points in (list(zip(*line.values(), strict=True)), pd.DataFrame(line), pl.DataFrame(line), pa.table(line)):
        assert len(vc.dichotomies(points, "halfspaces")) == 6  # two points if the middle one were rounded
        assert vc.why_not(points, {0, 2}, "halfspaces").check(points)


def test_what_is_ready_is_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    frame = pd.DataFrame({"a": [0.1], "b": [2]})
    assert check_matrix(X) is X
    assert check_exact(X, "X") is X
    assert check_exact(frame, "X") is frame
    for other in (X.T, X[::2], X.astype(np.float32), X[:, :0]):
        assert check_matrix(other).flags.c_contiguous
        np.testing.assert_array_equal(check_matrix(other), other)
    big = np.array([[1e308, 1e308], [1e308, -1.0]])  # the sum overflows, the numbers do not
    np.testing.assert_array_equal(check_matrix(big), big)
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            check_matrix(np.array([[1.0, value]]))
    with pytest.raises(ValueError, match="minimum of 1"):
        check_matrix(np.zeros((0, 2)))


@pytest.mark.parametrize("y", [[0, 0, 1, 1], ["a", "a", "b", "b"]])
def test_what_lies_under_a_mask_is_not_used(y):
    X, none, one = [[0.0], [1.0], [2.0], [3.0]], [False] * 4, [False, True, False, False]
    assert separability(np.ma.array(X), np.ma.array(y, mask=none)).check(X, y)
    masked_X = (np.ma.array(X, mask=[[bad] for bad in one]), [np.ma.array(X[0], mask=True), *X[1:]])
    masked_y = (np.ma.array(y, mask=one), np.ma.array(y, mask=one).reshape(-1, 1))
    for name, pairs in (("X", [(masked, y) for masked in masked_X]), ("y", [(X, masked) for masked in masked_y])):
        for pair in pairs:
            for call in (separability, detect_separation, fewest_mistakes):
                with pytest.raises(ValueError, match=f"^{name} is a masked array with 1 masked entry: fill it with"):
                    call(*pair)
    with pytest.raises(ValueError, match=r"^w is a masked array with 2 masked entries: fill it with w\.fill"):
        margin([[1.0, 2.0]], [1], np.ma.masked_all(2))


# Sparse matrices with several numbers in one place.


def repeated(values, dtype=np.float64):
    """Yield matrices of one column, in each format that holds several numbers in one place: all in the first row."""
    data, zeros = np.array(values, dtype=dtype), np.zeros(len(values), dtype=int)
    yield sp.coo_array((data, (zeros, zeros)), shape=(2, 1))
    yield sp.coo_matrix((data, (zeros, zeros)), shape=(2, 1))
    yield sp.csr_array((data, zeros, [0, len(values), len(values)]), shape=(2, 1))
    yield sp.csc_array((data, zeros, [0, len(values)]), shape=(2, 1))
    yield sp.bsr_array((data.reshape(-1, 1, 1), zeros, [0, len(values), len(values)]), shape=(2, 1))


def test_numbers_in_one_place_are_added_up_exactly():
    for values, dtype in (
        ([100, 100], np.int8),
        ([200, 100], np.uint8),
        ([2**62, 2**62], np.int64),
        ([-(2**63), -(2**63)], np.int64),
        ([2**63, 2**63], np.uint64),
        ([2**53 + 1, 1], np.int64),
        ([0.5, 0.25], np.float64),
        ([2.0**24, 1.0], np.float32),
        ([1e300, 1.0, -1e300], np.float64),
        ([1e308, 1e308, -1e308], np.float64),
        ([1.0, -1.0], np.float64),
    ):
        for X in repeated(values, dtype):
            before = X.data.tolist()
            taken = check_matrix(X)
            assert [Fraction(value) for value in taken.toarray().ravel()] == [sum(map(Fraction, values)), 0]
            assert taken.has_canonical_format
            assert X.data.tolist() == before
            if taken.toarray().any():
                assert RescaledPerceptron().fit(X, [0, 1]).verdict_.check(taken, [0, 1])


def test_sums_that_float64_rounds_are_refused():
    floats = ([2.0**53, 1.0], [1e308, 1e308], [1e300, 1.0], [0.1, 0.2])
    integers = (([2**53, 1], np.int64), ([2**63 - 1] * 2, np.int64), ([2**64 - 1] * 2, np.uint64))
    for values, dtype in (*((values, np.float64) for values in floats), *integers):
        for X in repeated(values, dtype):
            with pytest.raises(ValueError, match=r"^X has 2 entries in row 0 and column 0, and float64"):
                check_matrix(X)
    for X in repeated([1.0, np.inf]):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            check_matrix(X)


def test_random_equal_places_are_summed_as_fractions_are():
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows, columns = rng.integers(0, 4, (2, 15))
        data = rng.integers(-100, 100, 15).astype(np.int8)
        exact = np.zeros((4, 4), dtype=object)
        for i, j, value in zip(rows, columns, data.tolist(), strict=True):
            exact[i, j] += value
        for given, unit in ((data, 1), (data / 8, 8)):
            taken = check_matrix(sp.coo_array((given, (rows, columns)), shape=(4, 4))).toarray()
            assert (taken * unit == exact).all()


# Labels.


MIXED = [
    [1, "1", 1],
    ("a", True, "a"),
    [["a"], [1], ["b"]],
    ["a", b"a", "a"],
    np.array([1, "a", 1], dtype=object),
    np.array([{}, {"a": 1}, {}], dtype=object),
    np.array([1, 2j, 1], dtype=object),
    pd.Series([1, "1", 1]),
]
MISSING = [
    ["a", None, "b"],
    ["a", math.nan, "b"],
    [1, None, 2],
    pd.Series(["a", None, "b"], dtype="string"),
    pd.Series([1, None, 2], dtype="Int64"),
    pd.Series(["a", None, "b"], dtype="category"),
    np.array([1, pd.NA, 2], dtype=object),
    np.array([1, pd.NaT, 2], dtype=object),
]


@pytest.mark.parametrize("ask", [separability, fewest_mistakes, detect_separation])
def test_labels_are_all_words_or_all_numbers_and_none_is_missing(ask):
    for y in MIXED:
        with pytest.raises(ValueError, match=r"^labels must be all strings or all numbers, got .*: convert them to"):
            ask([[0.0], [1.0], [2.0]], y)
    for y in (["2020", "NaT"], ["2020", "2021"]):
        with pytest.raises(ValueError, match=r"^labels must not be dates"):
            ask([[0.0], [1.0]], np.array(y, dtype="M8[D]"))
    for y in MISSING:
        with pytest.raises(ValueError, match=r"^labels must not be .*NaN.*: leave out rows without a label\.$"):
            ask([[0.0], [1.0], [2.0]], y)


def test_labels_of_one_kind_are_taken():
    numbers = np.array([1, 2.5, Fraction(1, 3), True, Decimal(7)], dtype=object)
    assert check_labels(numbers, 5) is numbers
    assert check_labels([["a"], ["b"]], 2).tolist() == check_labels(pd.Series(["a", "b"]), 2).tolist() == ["a", "b"]
    assert check_labels([b"a", b"b"], 2).tolist() == [b"a", b"b"]
    large = [2**53, 2**53 + 1, 0.5]  # as float64 the first two would be one class
    assert check_labels(large, 3).tolist() == large
    X, y = [[0.0], [1.0], [2.0], [3.0]], [2**53, 2**53 + 1, 2**53, 2**53 + 1.0]
    assert separability(X, y).check(X, y)


def test_a_certificate_has_signs_only_where_its_positive_label_occurs():
    for y, positive, signs in (
        ([0, 1, 1], 1, [-1, 1, 1]),
        ([0, 1, 1], 0, [1, -1, -1]),
        ([0, 1, 2], 2, [-1, -1, 1]),
        *(([0, 1, 1], absent, None) for absent in (7, 2**70, "1", None)),
        (["a", "b"], "b", [-1, 1]),
        *((["a", "b"], absent, None) for absent in ("c", 1)),
        ([0, 0], None, [-1, -1]),
    ):
        found = certified_signs(check_labels(y, len(y)), positive)
        assert (found if found is None else found.tolist()) == signs
