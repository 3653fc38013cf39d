"""Plain data: labels keep their type, and the fields of a file are what their schema says."""

import json
import re
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest

from helpers.forging import alike
from rosenblatt.storage import schema as json_fields
from rosenblatt.storage.schema import (
    Arrays,
    Place,
    array,
    from_canonical_json,
    labels_from_plain,
    labels_to_plain,
    number,
    read_fields,
    to_canonical_json,
    write_fields,
)

LABELS = [
    [0, 1],
    [-1.5, 2.0],
    [False, True],
    ["no", "yes"],
    [""],
    ["a\x00b", "é", "\U0001f600"],
    np.array([1, 2], np.int8),
    np.array([2**64 - 1], np.uint64),
    np.array([0.1, 0.2], np.float32),
    np.array(["a", "b"], "U9"),
    np.array(["a", "b" * 300], "U400"),
    np.array(["a", "b"], object),
]


@pytest.mark.parametrize("labels", LABELS)
def test_labels_keep_their_type(labels):
    labels = np.array(labels)
    again = labels_from_plain(json.loads(json.dumps(labels_to_plain(labels))))
    if labels.dtype.kind == "U" and labels.dtype.itemsize > 4 * 256:
        labels = labels.astype("U300")  # not wider than needed, so that no file can ask for much memory
    alike(again, labels)


def test_other_labels_cannot_be_saved():
    for labels in ([b"a"], [None], [1 + 2j], [np.datetime64("2020")], np.array([(1,)], object)):
        with pytest.raises(ValueError, match="only labels that are integers, floats, booleans or strings"):
            labels_to_plain(np.asarray(labels))


NO_LABELS = {
    "int64": [[], [2, 1], [1, 1], [1.0], [True], [2**63], 1],
    "int8": [[300]], "uint8": [[-1]], "bool": [[0]], "float64": [[1]], "float32": [[0.1], [1e300]], "float128": [[1.0]],
    "U0": [[""]], "U1": [["ab"], ["\x00"]], "U2": [[1]], "U٣": [["abc"]], "U999999999": [["a"]],
    "U" + "9" * 20: [["a"]], "U": [["a"]], "<U3": [["a"]], "S3": [["a"]], "O": [["a"]], "datetime64[s]": [["a"]],
    "i8,i8": [[1]], "object": [[1], [["a"]]],
}  # fmt: skip


def test_labels_that_are_none_are_refused():
    cases = [(kind, values) for kind, every in NO_LABELS.items() for values in every]
    for kind, values in [*cases, (["int64"], [1])]:
        with pytest.raises(ValueError, match="classes"):
            labels_from_plain({"type": kind, "values": values})


def test_labels_are_not_widened_beyond_measure(monkeypatch):
    """One long label among many short ones would make all of them as long."""
    many = [f"{k:05}" for k in range(10_000)]
    for longest in (256, 1677):
        assert len(labels_from_plain({"type": f"U{longest}", "values": [*many, "z" * longest]})) == 10_001
    with pytest.raises(ValueError, match=r"'classes' would take 500,050,000 characters \(10,001 labels, each padded"):
        labels_from_plain({"type": "U50000", "values": [*many, "z" * 50_000]})
    assert labels_from_plain({"type": "object", "values": [*many, "z" * 50_000]})[-1] == "z" * 50_000
    monkeypatch.setattr(json_fields, "_MOST_LETTERS", 0)
    assert len(labels_from_plain({"type": "U256", "values": many})) == 10_000


class Point:
    x: Annotated[float, number(0.0, 1.0)]
    name: str | None
    tags: list[str]
    rows: Annotated[np.ndarray, array("f4 f8", "n", 2)]
    labels: Annotated[np.ndarray, array("i8", "n", least=0, below="n")] | None = None


POINT = {"x": 0.5, "name": None, "tags": ["a"], "rows": np.ones((2, 2)), "labels": np.array([0, 1])}


def written(**changes):
    place = Place("this")
    plain = write_fields(Point, SimpleNamespace(**POINT | changes), place)
    return plain, place.arrays.arrays


def read(plain, arrays):
    place = Place("this", Arrays(arrays))
    out = read_fields(Point, plain, place)
    place.arrays.finish()
    return out


def test_fields_come_back_and_arrays_are_copies():
    plain, arrays = written()
    assert plain == {"x": 0.5, "name": None, "tags": ["a"], "rows": "rows", "labels": "labels"}
    found = read(plain, arrays)
    alike(found, POINT)
    found["rows"][:] = 0.0
    assert arrays["rows"].all()
    plain, arrays = written(labels=None)
    assert "labels" not in plain, "None, which is its default"
    assert read(plain, arrays)["labels"] is None


@pytest.mark.parametrize(
    ("changes", "more", "sentence"),
    [
        ({"x": 2.0}, {}, "this: 'x' must be a number from 0 to 1, got 2.0."),
        ({"x": 1}, {}, "this: 'x' must be a number from 0 to 1, got 1."),
        ({"tags": ["a", 1]}, {}, "this: 'tags.1' must be a string, got 1."),
        ({"tags": "a"}, {}, "this: 'tags' must be a list, got 'a'."),
        ({"more": 1}, {}, "this has an unknown field 'more'."),
        ({"rows": "other"}, {}, "this: 'rows' must be the name of an array, got 'other'."),
        ({}, {"more": np.ones(1)}, "there is an unknown array 'more'."),
        ({}, {"rows": np.ones((2, 3))}, "this: 'rows' must be an array of type f4 f8 and shape (2, 2), got"),
        ({}, {"rows": np.ones((2, 2), int)}, "this: 'rows' must be an array of type"),
        ({}, {"rows": np.full((2, 2), np.nan)}, "this: 'rows' must be an array of finite numbers, got nan."),
        ({}, {"rows": np.ones((1, 2))}, "this: 'labels' must be an array of type i8 and shape (1), got"),
        ({}, {"labels": np.array([0, 2])}, "this: 'labels' must be an array of finite numbers, at least 0, at most 1"),
        ({}, {"labels": np.array([0, -1])}, "this: 'labels' must be an array of finite numbers, at least 0, at most 1"),
    ],
)
def test_what_is_not_as_the_schema_says_is_one_sentence(changes, more, sentence):
    plain, arrays = written()
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        read(plain | changes, arrays | more)


def test_no_field_may_be_missing():
    plain, arrays = written()
    for name in ("x", "name", "tags", "rows"):
        with pytest.raises(ValueError, match=f"this has no field '{name}'"):
            read({key: value for key, value in plain.items() if key != name}, arrays)
    with pytest.raises(ValueError, match="this must be a dictionary"):
        read([], {})


def test_an_array_is_stored_once_and_stands_for_three_fields_at_most():
    """So that memory is in proportion to the file."""
    arrays, same = Arrays(), np.arange(3)
    names = [arrays.put(f"{part}.w", same.copy()) for part in "abcd"]
    assert names == ["a.w", "a.w", "a.w", "d.w"]
    assert arrays.put("a.b", same) == "a.b", "another field"
    again = Arrays(arrays.arrays)
    assert [again.take("a.w") is None for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize("data", [(1,), {1: 2}, [float("inf")], {"a": np.int64(1)}, b"x", {"a": {"b": [set()]}}, 1j])
def test_only_plain_data_becomes_text(data):
    with pytest.raises(ValueError, match="this must be data that JSON can represent"):
        to_canonical_json(data, "this")


def test_text_is_read_as_it_was_written():
    data = {"b": [1, -0.0, 1e-320, None, True, "é\ud800"], "a": {"": 2**200}}
    assert json.dumps(from_canonical_json(to_canonical_json(data, "this"), "this")) == json.dumps(data)
    with pytest.raises(ValueError, match="this is not JSON in the form that rosenblatt writes"):
        from_canonical_json('{"a": 1}', "this")
