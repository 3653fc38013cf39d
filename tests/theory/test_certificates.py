"""Certificates against exact twins of their claims: none is accepted when wrong, whatever was changed."""

import dataclasses
import json
import math
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.separable_sets import facet, holds, noise, planted
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.enclosures import Basis, ColumnStep
from rosenblatt.theory.search import gordan, hyperplane
from rosenblatt.theory.separability import dataset_margin, separability
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, UndecidedSeparability, Verdicts

FAR = np.array([[3, 2], [3, 3], [1, 2], [10**15 + 2, 1]]) + np.array([10**15, 2 * 10**15])  # no floats part them
CLOUD = np.array([[0.1, 0.3], [0.2, -0.7], [0.3, 0.9], [-0.4, 0.5], [-0.2, -0.1], [-0.6, -0.3], [0.5, 0.1]])
LEFT = np.array([1, 0, 1, 1, 0, 0, 1])
MIXED = np.array([0, 1, 0, 1, 0, 1, 1])


DEPENDENT = np.column_stack([CLOUD, CLOUD @ [1.0, 1.0], CLOUD[:, 0]])  # a sum up to rounding, and a column twice


@cache
def examples():
    """Return a certificate of every type with its data; the undecided one is cut short on purpose."""
    X, y = noise(12, 3, seed=1)
    around = separability(X, y.astype(int))
    found = {
        "separable": (separability(CLOUD, LEFT), CLOUD, LEFT),
        "separable by whole numbers": (separability(FAR, [0, 0, 1, 1]), FAR.astype(float), np.array([0, 0, 1, 1])),
        "one class": (separability(CLOUD, np.ones(7, dtype=int)), CLOUD, np.ones(7, dtype=int)),
        "inseparable": (separability(CLOUD, MIXED), CLOUD, MIXED),
        "inseparable by enclosure": (dataclasses.replace(around, weights=None), X, y.astype(int)),
        "no margin": (dataset_margin(CLOUD, MIXED), CLOUD, MIXED),
        "no homogeneous margin": (dataset_margin(CLOUD, MIXED, "homogeneous"), CLOUD, MIXED),
        "one class, augmented": (dataset_margin(CLOUD, np.zeros(7, dtype=int), "augmented"), CLOUD, np.zeros(7, int)),
    }
    for kind in ("geometric", "augmented", "homogeneous"):
        found[kind] = (dataset_margin(CLOUD, LEFT, kind), CLOUD, LEFT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hyperplane, "NARROW", -1)
        found["inseparable by a basis"] = (separability(DEPENDENT, MIXED), DEPENDENT, MIXED)
    X, y = facet(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gordan, "exact_search", lambda *_, **__: None)
        patch.setattr(hyperplane, "_decide", lambda *_: None)
        patch.setattr(gordan, "encloses_zero_combination", lambda *_: False)
        patch.setattr(gordan, "prove_zero_combination", lambda *_: None)
        found["undecided"] = (separability(X, y.astype(int)), X, y.astype(int))
    return found


NAMES = list(examples())


def test_the_examples_are_what_they_are_called():
    found = examples()
    types = {name: type(certificate) for name, (certificate, _, _) in found.items()}
    assert types["separable"] is types["one class"] is types["separable by whole numbers"] is Separable
    assert found["separable by whole numbers"][0].w.dtype == object
    assert types["inseparable"] is types["inseparable by enclosure"] is Inseparable
    assert found["inseparable"][0].weights is not None
    assert len(found["inseparable by a basis"][0].basis.steps) == 2
    assert types["undecided"] is UndecidedSeparability
    assert types["geometric"] is types["no margin"] is MarginBracket
    assert found["no margin"][0].high == found["no homogeneous margin"][0].low == -math.inf


@pytest.mark.parametrize("name", NAMES)
def test_a_true_certificate_is_accepted_and_kept_exactly(name, tmp_path):
    certificate, X, y = examples()[name]
    assert holds(certificate, X, y)
    assert certificate.check(X, y)
    assert certificate.check(sp.csr_array(X), y.tolist())
    certificate.save(tmp_path / "proof.json")
    for again in (type(certificate).from_json(certificate.to_json()), Certificate.load(tmp_path / "proof.json")):
        assert type(again) is type(certificate)
        assert again.check(X, y)
        assert again.to_json() == certificate.to_json()
        for field in dataclasses.fields(certificate):
            a, b = getattr(certificate, field.name), getattr(again, field.name)
            np.testing.assert_array_equal(a, b, strict=isinstance(a, np.ndarray))


# Mutations.


def other(value, rng):
    """Return something else of the same kind: another number, or a part that is changed, gone, twice or elsewhere."""
    if isinstance(value, int):
        return [value + 1, value - 1, -value, 0, 2 * value, int(rng.integers(-1, 9))][rng.integers(6)]
    if isinstance(value, float):
        near = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * (1 + 1e-9), value * 0.75]
        far = [-value, 0.0, 2 * value, 1.0, 1e300, 5e-324, math.inf, -math.inf, math.nan]
        return float([*near, *near, *far][rng.integers(17)])
    if isinstance(value, Basis):
        name = str(rng.choice(["rows", "steps"]))
        return dataclasses.replace(value, **{name: other(getattr(value, name), rng)})
    if isinstance(value, ColumnStep):
        k = int(rng.integers(4))
        return ColumnStep(*value[:k], other(value[k], rng), *value[k + 1 :])
    parts = value.tolist() if isinstance(value, np.ndarray) else list(value)
    k, what = int(rng.integers(len(parts) or 1)), rng.integers(8)
    if what == 0 or not parts:
        parts = parts[:-1] if rng.random() < 0.5 else [*parts, *parts[:1]]
    elif what == 1:
        parts = [parts[i] for i in rng.permutation(len(parts))]
    elif what == 2 and isinstance(parts[0], int | float):
        parts = [2 * part for part in parts]
    else:
        parts[k] = other(parts[k], rng)
    return np.array(parts, dtype=value.dtype) if isinstance(value, np.ndarray) else tuple(parts)


def mutate(certificate, X, y, rng):
    """Change one thing, or two, of a certificate or of the data under it."""
    for _ in range(rng.integers(1, 3)):
        fields = [field.name for field in dataclasses.fields(certificate)]
        name = [*fields, "w", "alpha", "X", "y", "rows"][rng.integers(len(fields) + 5)]
        value = getattr(certificate, name, None)
        if name == "X":
            X = X.copy()
            X[rng.integers(X.shape[0]), rng.integers(X.shape[1])] = rng.choice([0.1, -0.7, 3.0, 1e-9, -1e5])
        elif name == "y":
            y = y.copy()
            y[rng.integers(len(y))] = rng.choice([1, 0, -1, 2])
        elif name == "rows":
            order = (
                rng.permutation(len(y))[: rng.integers(1, len(y) + 1)] if rng.random() < 0.5 else [*range(len(y)), 0]
            )
            X, y = X[order], y[order]
        elif name == "positive":
            certificate = dataclasses.replace(certificate, positive=[None, 0, 1, -1, "1", True][rng.integers(6)])
        elif name == "kind":
            kind = str(rng.choice(["geometric", "augmented", "homogeneous"]))
            certificate = dataclasses.replace(certificate, kind=kind)
        elif name in ("weights", "basis") and (value is None or rng.random() < 0.2):
            strange = (1, 1) if name == "weights" else Basis(tuple(rng.permutation(7)[: rng.integers(1, 7)].tolist()))
            certificate = dataclasses.replace(certificate, **{name: strange if value is None else None})
        elif value is not None:
            certificate = dataclasses.replace(certificate, **{name: other(value, rng)})
    return certificate, X, y


def radius_holds(certificate, X):
    longest = max(math.hypot(*x) for x in X.tolist())
    return not isinstance(certificate, Separable) or math.isclose(certificate.radius, longest, rel_tol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_no_mutation_is_accepted_when_wrong(name):
    """All margins are claims to the last digit, so there the answer is the twin's answer both ways."""
    rng = np.random.default_rng(NAMES.index(name))
    verdicts = []
    for _ in range(500):
        changed, X, y = mutate(*examples()[name], rng)
        accepted, true = changed.check(X, y), holds(changed, X, y) and radius_holds(changed, X)
        assert true or not accepted, (changed, X, y)
        if isinstance(changed, Separable | UndecidedSeparability) or (
            isinstance(changed, MarginBracket) and changed.low >= 0
        ):
            assert accepted == true, (changed, X, y)
        verdicts.append(accepted)
    assert 10 < sum(verdicts) < 490


def test_enclosures_in_many_dimensions_do_not_survive_other_data():
    X, y = noise(200, 30, seed=3)
    proof = separability(X, y)
    assert isinstance(proof, Inseparable)
    assert proof.weights is None
    assert proof.check(X, y)
    for i in proof.support.tolist():
        flipped = y.copy()
        flipped[i] = -flipped[i]
        assert not proof.check(X, flipped)  # a weight would have to be negative
    apart, signs = planted(200, 30, 1e-6, seed=4)
    rng = np.random.default_rng(5)
    for _ in range(100):
        alpha = np.zeros(200)
        alpha[rng.choice(200, 32, replace=False)] = rng.dirichlet(np.ones(32))
        assert not dataclasses.replace(proof, alpha=alpha, support=np.flatnonzero(alpha)).check(apart, signs)


# JSON from a stranger.

RUBBISH = ["null", "true", '"x"', '"0x"', '"nan"', '"-0x1"', "-1", "1e400", "NaN", "-Infinity", "9" * 400, "9" * 5000]
RUBBISH += ["{}", "[]", "[[[]]]", "[null]", "[0.5, 1e999]", '["0xg"]', "[" * 2000 + "]" * 2000, "[" * 500 + "]" * 500]
RUBBISH += [
    json.dumps({"length": length, "rows": rows, "values": values})
    for length, rows, values in [(2, [5], [1]), (-1, [], []), (7, [0, 0], [1, 1]), (7, [0], ["0x1"]), (7, [1.0], [1])]
]


def judge(text, X, y):
    """Read JSON text that may be anything: a ValueError, or a certificate whose check is right."""
    try:
        certificate = Certificate.from_json(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017
        return
    assert holds(certificate, X, y) or not certificate.check(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_json_with_rubbish_in_any_field(name):
    certificate, X, y = examples()[name]
    record = json.loads(certificate.to_json())
    for field in record:
        judge(json.dumps({key: value for key, value in record.items() if key != field}), X, y)
        judge(json.dumps({**record, field + "s": 1}), X, y)
        for rubbish in RUBBISH:
            judge(json.dumps({**record, field: "@"}).replace('"@"', rubbish), X, y)


@pytest.mark.parametrize("name", NAMES)
def test_json_with_other_bytes(name):
    certificate, X, y = examples()[name]
    text = certificate.to_json().encode()
    rng = np.random.default_rng(NAMES.index(name))
    for _ in range(150):
        changed = bytearray(text)
        for _ in range(rng.integers(1, 3)):
            changed[rng.integers(len(text))] = rng.choice([int(rng.integers(256)), *b'0123456789-.e",:[]{}x '])
        judge(bytes(changed), X, y)
    for stop in range(0, len(text), 7):
        with pytest.raises(ValueError, match="expected a certificate"):
            Certificate.from_json(text[:stop])


scraps = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scraps, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=8
)


@settings(max_examples=60, deadline=None)
@given(anything)
def test_json_of_anything_else(value):
    for cls in (Certificate, Separable, Verdicts):
        if cls is Verdicts and value == []:
            continue
        with pytest.raises(ValueError, match="expected"):
            cls.from_json(json.dumps(value))


def test_a_certificate_of_another_type_or_format_is_refused():
    text = examples()["separable"][0].to_json()
    with pytest.raises(ValueError, match="expected a certificate of type Inseparable, got 'Separable'"):
        Inseparable.from_json(text)
    with pytest.raises(ValueError, match=r"expected a certificate in format 1, got (0x)?2: it was written by"):
        Separable.from_json(text.replace('"format": 1', '"format": 2'))
    for name in ("Certificate", "_AboutRows", "JsonFile", "Verdicts"):
        with pytest.raises(ValueError, match="expected a certificate of type Certificate"):
            Certificate.from_json(text.replace("Separable", name))
