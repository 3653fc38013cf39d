"""Certificates from strangers: how long numbers may be, how many rows there may be, and what a check costs."""

import json
import math
import time
from fractions import Fraction

import numpy as np
import pytest

from helpers.commands import AND, command, written
from rosenblatt import Certificate, Verdicts, maximize, separability, strict_feasibility
from rosenblatt.theory import scores
from rosenblatt.theory.certificates import MOST_BITS, MOST_ROWS
from rosenblatt.theory.exact import round_root
from rosenblatt.theory.linear_programs import answers as feasibility_answers
from rosenblatt.theory.linear_programs.answers import Feasible, Infeasible
from rosenblatt.theory.search.wolfe import MOST_WORK
from rosenblatt.theory.verdicts import Inseparable, Separable

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TRIANGLE = [[-1, 0], [0, -1], [1, 1]]
LONG = "0x" + "f" * (MOST_BITS // 4)


def record(certificate, **changed):
    return json.dumps(json.loads(certificate.to_json()) | changed)


def test_no_exact_search_ends_with_a_longer_number():
    """It stops before k rows of so many bits are too much work, and its numbers are determinants of k products."""
    bits = 1024 + 1074  # from the largest float to the smallest
    rows = (64 * MOST_WORK / bits) ** 0.25
    products = 2 * bits + 31 + 1  # of rows with at most 2**31 numbers
    weights = rows * (products + math.log2(rows))
    solution = weights + bits + math.log2(rows)
    scaled_back = solution + 2 * bits
    assert scaled_back < MOST_BITS


@pytest.mark.parametrize("change", [{"b": LONG}, {"w": [LONG, "-" + LONG]}])
def test_long_integers_are_read(change):
    found = Certificate.from_json(record(separability(SQUARE, [0, 1, 1, 1]), **change))
    assert found.check(SQUARE, [0, 1, 1, 1]) is False
    assert Certificate.from_json(found.to_json()).to_json() == found.to_json()


@pytest.mark.parametrize(
    ("certificate", "change"),
    [
        (separability(SQUARE, [0, 1, 1, 1]), {"b": LONG + "0"}),
        (separability(SQUARE, [0, 1, 1, 1]), {"w": [LONG + "0", "0x1"]}),
        (separability(SQUARE, [0, 1, 1, 0]), {"weights": ["0x1", "0x1", LONG + "0", "0x1"]}),
        (strict_feasibility(TRIANGLE, [0, 0, 1]), {"x": [[LONG + "0", "0x3"], ["0x1", "0x5"]]}),
        (strict_feasibility(TRIANGLE, [0, 0, 1]), {"x": [["0x3", LONG + "0"], ["0x1", "0x5"]]}),
        (strict_feasibility(TRIANGLE, [0, 0, 1]), {"x": [["0x1", LONG], ["0x1", "0x" + "f" * 999]]}),
        (strict_feasibility(TRIANGLE, [0, 0, 1]), {"x": [10**400, 1]}),
        *((separability(SQUARE, [0, 1, 1, 1]), {"b": b}) for b in ("1", "0x", "0X1", " 0x1", "+0x1", "0x1_0", "0x١")),
    ],
)
def test_longer_and_other_numbers_are_refused(certificate, change):
    with pytest.raises(ValueError, match=r"^the certificate: '[\w.]+' must be a (list of )?\w+"):
        Certificate.from_json(record(certificate, **change))


def test_what_could_not_be_read_is_not_written():
    long = Feasible(np.array([Fraction(1 << MOST_BITS, 3)], dtype=object))
    with pytest.raises(ValueError, match=r"a number of 262,145 bits is too long for a file, which allows 262,144"):
        long.to_json()


def test_a_point_is_not_longer_over_its_common_denominator(monkeypatch):
    monkeypatch.setattr(feasibility_answers, "MOST_POINT_BITS", 1000)
    short = record(strict_feasibility(TRIANGLE, [0, 0, 1]), x=[["0x1", "0x3"]] * 300)
    assert len(Certificate.from_json(short).x) == 300
    with pytest.raises(ValueError, match="a common denominator that is not too long"):
        Certificate.from_json(short.replace('"0x1", "0x3"', '"0x1", "0xff"', 1))


@pytest.mark.parametrize("name", ["radius", "margin_low", "margin_high"])
@pytest.mark.parametrize("value", ["0x1" + "0" * 1000, "0x" + "1" * 20])
def test_what_is_no_float_is_no_margin(tmp_path, name, value):
    text = record(separability(SQUARE, [0, 0, 0, 1]), **{name: value})
    with pytest.raises(ValueError, match=f"'{name}' must be a float, got"):
        Certificate.from_json(text)
    path = written(tmp_path, "and.csv", AND)
    (tmp_path / "c").write_text(text.replace('"positive": 1', '"positive": "yes"'))
    result = command("check", tmp_path / "c", path, "-t", "label")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is not a certificate that can be checked" in result.stderr


def test_integers_that_are_floats_are_margins():
    found = separability(SQUARE, [0, 1, 1, 1])
    again = Certificate.from_json(record(found, margin_low="0x0"))
    assert (type(again.margin_low), again.margin_low) == (float, 0.0)
    assert again.check(SQUARE, [0, 1, 1, 1])


def test_no_more_rows_than_allowed():
    """A few bytes can be about any number of rows; memory for them is taken only if the caller allows it."""
    pair = separability([[0.0], [0.0]], [0, 1])
    text = record(pair, alpha={"length": MOST_ROWS + 1, "rows": [0, 1], "values": [0.5, 0.5]})
    with pytest.raises(
        ValueError,
        match=r"at most 134,217,728 rows in all, got 134217729: if you trust the file, allow more with max_rows",
    ):
        Certificate.from_json(text)
    text = record(pair, alpha={"length": 1000, "rows": [0, 1], "values": [0.5, 0.5]})
    assert len(Certificate.from_json(text, max_rows=1000).alpha) == 1000
    for kind, content in ((Certificate, text), (Verdicts, f"[{text}]")):
        with pytest.raises(ValueError, match="at most 999 rows in all, got 1000"):
            kind.from_json(content, max_rows=999)
    best = maximize([1, 1], TRIANGLE, [0, 0, 1])
    with pytest.raises(ValueError, match="at most 3 rows in all, got 4"):
        Certificate.from_json(best.to_json(), max_rows=3)


def long_number(rng, bits):
    return (1 << bits - 1) | int.from_bytes(rng.bytes(bits // 8 - 1), "little") | 1


def expensive():
    """Yield certificates of half a megabyte whose numbers are as long as they may be, and data for them."""
    rng = np.random.default_rng(0)
    w = np.array([long_number(rng, MOST_BITS) for _ in range(7)], dtype=object)
    X = np.abs(rng.standard_normal((300, 7)))
    radius = float(np.sqrt((X * X).sum(axis=1)).max())
    yield Separable(w, long_number(rng, MOST_BITS), 0.0, math.inf, np.ones(300), radius, 1), (X, np.ones(300, int))
    n = 12_000
    alpha = np.append(1.0, np.full(n - 1, 5e-324))
    weights = (long_number(rng, MOST_BITS), *[1] * (n - 1))
    yield Inseparable(alpha, np.arange(n), weights, 1), (np.zeros((n, 2)), np.arange(n) % 2)
    yield Infeasible(alpha, 0.0, np.arange(n), weights), (np.zeros((n, 2)), np.zeros(n))
    below = long_number(rng, MOST_BITS)
    x = np.array([Fraction(long_number(rng, MOST_BITS) - 1, below) for _ in range(4)], dtype=object)
    yield Feasible(x), (np.ones((50, 4)), np.full(50, 1e300))


@pytest.mark.slow
@pytest.mark.parametrize("case", range(4))
def test_checks_cost_no_more_than_they_should(case):
    """Fractions with long parts that were reduced at every step once took 15 s for 0.9 MB."""
    certificate, data = list(expensive())[case]
    text = certificate.to_json()
    assert 250_000 < len(text) < 1_000_000
    start = time.process_time()
    again = Certificate.from_json(text)
    again.check(*data)
    str(again)
    assert time.process_time() - start < 8


def test_memory_of_a_check_does_not_grow_with_long_numbers(monkeypatch):
    """All rows are in doubt: they are multiplied a few at a time."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 2)), np.ones(400, int)
    most, times = [], scores.product_with_integers

    def counted(M, whole):
        most.append(M.shape[0])
        return times(M, whole)

    monkeypatch.setattr(scores, "product_with_integers", counted)
    monkeypatch.setattr(scores, "BLOCK_BYTES", 1 << 20)
    found = Separable(np.array([1, 1], dtype=object), 1 << MOST_BITS - 1, 0.0, math.inf, np.zeros(400), 1.0, 1)
    least = min(Fraction(first) + Fraction(second) for first, second in X.tolist())
    assert scores.least_score(X, y, found.w, found.b) == least + (1 << MOST_BITS - 1)
    assert max(most) * MOST_BITS / 8 <= 1 << 20
    assert sum(most) == 400


def test_roots_of_quotients_are_those_of_fractions():
    rng = np.random.default_rng(0)
    for _ in range(300):
        above, below = (Fraction(int(rng.integers(1, 2**60)), 2 ** int(rng.integers(0, 300))) for _ in range(2))
        for up in (True, False, None):
            assert round_root(above, up, over=below) == round_root(above / below, up)
