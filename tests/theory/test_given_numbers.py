"""Numbers of every type that users bring: taken exactly, or refused in one sentence, and never rounded in silence."""

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
    fewest_mistakes,
    fit_circle,
    margin,
    maximize,
    mistake_bound,
    proof,
    separability,
    separation,
    strict_feasibility,
    vc,
)
from rosenblatt.theory.inputs import check_matrix, exact_numbers, unrounded

LARGE = 2**53
NANOSECONDS = [1_600_000_000_000_000_001, 1_600_000_000_000_000_003]
LONG = np.finfo(np.longdouble).nmant > 52
needs_long = pytest.mark.skipif(not LONG, reason="longdouble is float64 here")
THIRDS = np.array([[1], [2]], dtype=np.longdouble) / 3
ROUNDED = {
    "integer beside a float": [[LARGE + 1, 0.5], [LARGE, 0.5]],
    "tuples": ((LARGE + 1, 0.5), (LARGE, 0.5)),
    "arrays in a list": [np.array([LARGE + 1]), np.array([0.5])],
    "integer beyond all floats": [[10**400], [1]],
    "fraction": [[Fraction(1, 3)], [Fraction(2, 3)]],
    "fraction of many digits": [[Fraction(1, 10**5000)], [1]],
    "decimal": [[Decimal("0.1")], [Decimal("0.2")]],
    "decimal without end": [[Decimal("1e1000000000")], [1]],
    "mixed objects": np.array([[0.5, 1], [Decimal("0.3"), LARGE]], dtype=object),
    "text": [["0.1"], ["2"]],
    "text of bytes": np.array([[b"9007199254740993"], [b"2"]]),
    "text of an integer": np.array([["9007199254740993"], ["2"]], dtype=object),
    "sum of equal places": sp.csr_array((np.array([LARGE, 1, 3]), np.array([0, 0, 0]), np.array([0, 2, 3]))),
}
LONG_ROUNDED = {
    "longdouble": THIRDS,
    "longdouble in a list": [[np.longdouble(1) / 3], [1.0]],
    "longdouble beyond all floats": np.array([[1], [2]], dtype=np.longdouble) * np.longdouble("1e400"),
    "longdouble below all floats": np.array([[1], [2]], dtype=np.longdouble) * np.longdouble("1e-400"),
    "sparse longdouble": sp.csr_matrix(THIRDS),
}
TAKEN = {
    "fraction": [[Fraction(1, 2)], [Fraction(-3, 1024)]],
    "decimal": [[Decimal("0.5")], [Decimal("1e20")]],
    "mixed": [[0.1, LARGE + 2], [Fraction(1, 4), Decimal(3)]],
    "longdouble": np.array([[0.5], [0.1]]).astype(np.longdouble),
    "integer beyond int64": [[2**100, 0.5], [-(2**70), 1]],
    "float32": np.array([[0.1], [3e38]], dtype=np.float32),
    "float16": np.array([[0.1], [6e4]], dtype=np.float16),
    "booleans": [[True, 0.5], [False, 1]],
    "text": [["0.5"], ["1e3"]],
    "text beside a float": [["0.5", 0.1], [2, 0.3]],
    "the least integer": np.array([[-(2**63)], [2**62]]),
    "the largest unsigned": np.array([[2**64 - 2**11], [1]], dtype=np.uint64),
    "large floats in a list": [[1e300, 1.0], [2, 3.7e15 + 0.5]],
    "sparse integers": sp.csr_array(np.array([[2**60], [1]])),
    "sums of small integers": sp.csr_array(
        (np.array([100, 100, 3], np.int8), np.array([0, 0, 0]), np.array([0, 2, 3]))
    ),
}


@pytest.mark.parametrize("X", ROUNDED.values(), ids=list(ROUNDED))
def test_what_float64_would_round_is_refused(X):
    with pytest.raises(ValueError, match=r"^X holds .*, which float64 would round: .*\.$"):
        separability(X, [0, 1])


@needs_long
@pytest.mark.parametrize("X", LONG_ROUNDED.values(), ids=list(LONG_ROUNDED))
def test_long_doubles_are_refused_where_they_hold_more(X):
    with pytest.raises(ValueError, match=r"^X holds the longdouble .*, which float64 would round"):
        separability(X, [0, 1])


@pytest.mark.parametrize("X", TAKEN.values(), ids=list(TAKEN))
def test_what_float64_holds_is_taken_as_it_is(X):
    taken = check_matrix(X)
    if sp.issparse(X):
        X = X.astype(np.int64).toarray()
    given = X.tolist() if isinstance(X, np.ndarray) else X
    values = (taken.toarray() if sp.issparse(taken) else taken).tolist()
    for row, other in zip(values, given, strict=True):
        for value, number in zip(row, other, strict=True):
            assert value == (Decimal(number) if isinstance(number, str) else number)


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


def _frames():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"t": NANOSECONDS, "x": [0.5, 1.5]}
    yield pd.DataFrame(columns)
    yield pd.DataFrame({"t": NANOSECONDS})
    yield pd.DataFrame({"t": pd.array(NANOSECONDS, dtype="Int64"), "x": [0.5, 1.5]})
    yield pd.DataFrame({"t": pd.array([NANOSECONDS[0], None], dtype="Int64"), "x": [0.5, 1.5]})
    yield pd.DataFrame({"t": pd.array(NANOSECONDS, dtype="uint64[pyarrow]"), "x": [0.5, 1.5]})
    yield pd.DataFrame({"t": pd.arrays.SparseArray(NANOSECONDS), "x": pd.arrays.SparseArray([0.5, 0.0])})
    yield pd.DataFrame({"t": pd.Categorical(NANOSECONDS), "x": [0.5, 1.5]})
    yield pd.DataFrame({"t": [Decimal("0.1"), Decimal("0.5")], "x": [0.5, 1.5]})
    yield pl.DataFrame(columns)
    yield pl.DataFrame({"t": [NANOSECONDS[0], None], "x": [0.5, 1.5]})
    yield pl.DataFrame({"t": [Decimal("0.1"), Decimal("0.5")], "x": [0.5, 1.5]})
    yield pa.table(columns)
    yield pa.table({"t": [NANOSECONDS[0], None], "x": [0.5, 1.5]})
    yield pa.table({"t": [Decimal("0.1"), Decimal("0.5")], "x": [0.5, 1.5]})


def test_columns_of_data_frames_are_looked_at_one_by_one():
    for frame in _frames():
        with pytest.raises(ValueError, match=r"^X holds the .*, which float64 would round"):
            separability(frame, [0, 1])


def test_data_frames_whose_numbers_fit_are_taken():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"t": [2**60, 5], "x": [0.5, 0.1], "k": [True, False]}
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    frames.append(pd.DataFrame({"t": pd.array([2**60, 5], dtype="Int64"), "x": [0.5, 0.1], "k": [1, 0]}))
    frames.append(pd.DataFrame({"t": [Decimal(2**60), Fraction(5)], "x": ["0.5", 0.1], "k": pd.Categorical([1, 0])}))
    for frame in frames:
        np.testing.assert_array_equal(check_matrix(frame), [[2.0**60, 0.5, 1.0], [5.0, 0.1, 0.0]])
        assert separability(frame, [0, 1]).check(frame, [0, 1])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"t": pd.to_datetime(NANOSECONDS), "x": [0.5, 1.5]}),
        pd.DataFrame({"t": pd.to_timedelta(NANOSECONDS)}),
        np.array(NANOSECONDS).astype("M8[ns]")[:, None],
        np.array(NANOSECONDS).astype("m8[ns]")[:, None],
        np.array([[np.timedelta64(5, "ns")], [np.timedelta64(7, "ns")]], dtype=object),
    ],
)
def test_dates_are_no_numbers(X):
    with pytest.raises(ValueError, match=r"^X holds dates or times: turn them into numbers"):
        separability(X, [0, 1])
    with pytest.raises(ValueError, match=r"^points holds dates or times: turn them into numbers"):
        vc.dichotomies(X, "halfspaces")


@pytest.mark.parametrize(
    "X",
    [[[1j], [2]], np.array([[1j], [2]]), [["a"], ["b"]], [[date(2020, 1, 1)], [1]], [[timedelta(1)], [1]], [[{}], [1]]],
)
def test_what_is_no_real_number_is_named(X):
    with pytest.raises(ValueError, match=r"^X must be of finite real numbers, got .*: turn it into one"):
        separability(X, [0, 1])


def test_what_is_missing_is_said_to_be():
    for X in ([[None], [1.0]], pd.DataFrame({"t": pd.array([1, None], dtype="Int64"), "x": [0.5, 1.5]})):
        with pytest.raises(ValueError, match="contains NaN"):
            separability(X, [0, 1])


BAD = [[LARGE + 1, 0.5], [LARGE, 0.25]]
GOOD, LABELS = [[1.0, 0.5], [2.0, 0.25]], [0, 1]
BAD_VECTORS = [[LARGE + 1, 0.5], [Fraction(1, 3), 1], [Decimal("0.1"), 1], np.array([LARGE + 1, 2])]


@pytest.mark.parametrize(
    "call",
    [
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
    ],
)
def test_every_question_about_rows_refuses_them(call):
    with pytest.raises(ValueError, match=r"(X|A|points) holds the integer 9007199254740993, which float64 would round"):
        call()


@pytest.mark.parametrize("bad", BAD_VECTORS)
def test_vectors_are_refused_by_name(bad):
    answer = maximize([1.0, 0.5], GOOD, [1.0, 1.0])
    for name, call in {
        "b": lambda: strict_feasibility(GOOD, bad),
        "b ": lambda: strict_feasibility(GOOD, [1.0, 1.0]).check(GOOD, bad),
        "c": lambda: maximize(bad, GOOD, [1.0, 1.0]),
        "c ": lambda: answer.check(bad, GOOD, [1.0, 1.0]),
        "w_star": lambda: proof(GOOD, LABELS, w_star=bad, b_star=-1.5),
        "b_star": lambda: proof(GOOD, LABELS, w_star=[1.0, 0.0], b_star=bad[0]),
        "w": lambda: HalfSpace(bad, 1),
        "b  ": lambda: HalfSpace([1, 0], bad[0]),
        "w ": lambda: circle_from_plane([*bad, 0], 1),
    }.items():
        with pytest.raises(ValueError, match=f"^{name.strip()} holds .*, which float64 would round"):
            call()


def test_weights_of_a_margin_are_taken_exactly():
    X, y = [[float(LARGE)], [1.0]], [1, 0]
    for b in (-LARGE + 1, np.longdouble(-LARGE + 1), Decimal(-LARGE + 1), Fraction(-LARGE + 1)):
        assert margin(X, y, [1], b) == 1.0
    assert margin(X, y, [LARGE + 1], -(LARGE**2)) == float(Fraction(LARGE, LARGE + 1))  # rounded, it is on the plane
    assert margin(X, y, [Fraction(1, 3)], Fraction(-2, 3)) == margin(X, y, [1], -2) == 1.0 * (2 - 1)
    assert margin(X, y, [10**400], -2 * 10**400) == 1.0
    assert margin(X, y, np.array([[2.0]]), np.array([-4.0])) == 1.0


def test_a_separator_in_long_integers_has_its_margin():
    """Where no floats separate, a verdict has integers for w and b: their margin can be asked for."""
    y = [0, 1, 0]
    X = np.array([[0.0, 0.0], [1.0, 2.0**-52], [2.0**52, 1.0 - 2.0**-53]])
    verdict = separability(X, y)
    assert verdict.check(X, y)
    assert margin(X, y, verdict.w, verdict.b) == pytest.approx(verdict.margin_low, rel=1e-15)


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
    for frame in (line, pd.DataFrame(line), pl.DataFrame(line), pa.table(line)):
        points = frame if frame is not line else list(zip(*line.values(), strict=True))
        assert len(vc.dichotomies(points, "halfspaces")) == 6  # two points if the middle one were rounded
        assert vc.why_not(points, {0, 2}, "halfspaces").check(points)


def test_floats_are_not_even_looked_at():
    """A float array comes back as it is, and so does a frame."""
    X = np.array([[1e300, 0.1]])
    assert unrounded(X, "X") is X
    frame = pd.DataFrame({"a": [0.1], "b": [2]})
    assert unrounded(frame, "X") is frame
    assert exact_numbers(math.pi, "b").item() == math.pi


def test_the_rescaled_perceptron_gives_no_verdict_about_rounded_numbers():
    for X in (BAD, np.array([[LARGE + 1], [LARGE]]), sp.csc_array(np.array([[LARGE + 1], [LARGE]]))):
        with pytest.raises(ValueError, match=r"^X holds the integer 9007199254740993, which float64 would round"):
            RescaledPerceptron().fit(X, LABELS)


@pytest.mark.parametrize("y", [[0, 0, 1, 1], ["a", "a", "b", "b"]])
def test_what_lies_under_a_mask_is_not_used(y):
    X, none, one = [[0.0], [1.0], [2.0], [3.0]], [False] * 4, [False, True, False, False]
    assert separability(np.ma.array(X), np.ma.array(y, mask=none)).check(X, y)
    for masked in (np.ma.array(X, mask=[[bad] for bad in one]), [np.ma.array(row, mask=True) for row in X[:1]] + X[1:]):
        for call in (separability, separation, fewest_mistakes):
            with pytest.raises(
                ValueError, match=r"^X is a masked array with 1 masked entry: fill it .* its row out\.$"
            ):
                call(masked, y)
    for masked in (np.ma.array(y, mask=one), np.ma.array(y, mask=one).reshape(-1, 1)):
        for call in (separability, separation, fewest_mistakes):
            with pytest.raises(
                ValueError, match=r"^y is a masked array with 1 masked entry: fill it .* its row out\.$"
            ):
                call(X, masked)
    with pytest.raises(ValueError, match=r"^w is a masked array with 2 masked entries: fill them"):
        margin([[1.0, 2.0]], [1], np.ma.masked_all(2))
