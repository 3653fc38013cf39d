"""Plain data: labels keep their type, and fields of a file are taken with care."""

import json

import numpy as np
import pytest

from helpers.forging import alike
from rosenblatt.storage import schema as json_fields
from rosenblatt.storage.schema import (
    StrictFields,
    from_canonical_json,
    labels_from_plain,
    labels_to_plain,
    to_canonical_json,
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


@pytest.mark.parametrize("labels", [[b"a"], [None], [1 + 2j], [np.datetime64("2020")], np.array([(1,)], object)])
def test_other_labels_cannot_be_saved(labels):
    with pytest.raises(ValueError, match="only labels that are integers, floats, booleans or strings"):
        labels_to_plain(np.asarray(labels))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int64", []),
        ("int64", [2, 1]),
        ("int64", [1, 1]),
        ("int64", [1.0]),
        ("int64", [True]),
        ("int64", [2**63]),
        ("int8", [300]),
        ("int64", 1),
        ("uint8", [-1]),
        ("bool", [0]),
        ("float64", [1]),
        ("float32", [0.1]),
        ("float32", [1e300]),
        ("float128", [1.0]),
        ("U1", ["ab"]),
        ("U0", [""]),
        ("U1", ["\x00"]),
        ("U2", [1]),
        ("U999999999", ["a"]),
        ("U99999999999999999999", ["a"]),
        ("U٣", ["abc"]),
        ("U", ["a"]),
        ("<U3", ["a"]),
        ("object", [1]),
        ("object", [["a"]]),
        ("S3", ["a"]),
        ("O", ["a"]),
        ("datetime64[s]", ["a"]),
        ("i8,i8", [1]),
        (["int64"], [1]),
    ],
)
def test_labels_that_are_none_are_refused(kind, values):
    with pytest.raises(ValueError, match="classes"):
        labels_from_plain({"type": kind, "values": values})


def test_labels_are_not_widened_beyond_measure(monkeypatch):
    """One long label among many short ones would make all of them as long."""
    many = [f"{k:05}" for k in range(10_000)]
    for longest in (256, 1677):
        assert len(labels_from_plain({"type": f"U{longest}", "values": [*many, "z" * longest]})) == 10_001
    with pytest.raises(ValueError, match=r"'classes' would take 500,050,000 letters, 10,001 labels as wide as the lon"):
        labels_from_plain({"type": "U50000", "values": [*many, "z" * 50_000]})
    assert labels_from_plain({"type": "object", "values": [*many, "z" * 50_000]})[-1] == "z" * 50_000
    monkeypatch.setattr(json_fields, "_MOST_LETTERS", 0)
    assert len(labels_from_plain({"type": "U256", "values": many})) == 10_000


def test_fields_may_be_missing_where_that_is_asked():
    fields = StrictFields({"a": None, "b": ["x", "y"], "c": ["x", 1]}, "this")
    assert fields.optional("a", fields.word) is None
    assert (fields.has("a"), fields.has("b")) == (False, True)
    assert fields.words("b", 2) == ["x", "y"]
    with pytest.raises(ValueError, match="this has no field 'a'"):
        fields.optional("a", fields.word)
    with pytest.raises(ValueError, match=r"this: 'c' must be a list of strings, got \['x', 1\]"):
        fields.words("c")


def test_fields_are_taken_once_and_all():
    fields = StrictFields({"a": 1, "b": "x"}, "this")
    assert fields.whole("a") == 1
    with pytest.raises(ValueError, match="this has no field 'a'"):
        fields.whole("a")
    with pytest.raises(ValueError, match="unknown field 'b'"):
        fields.end()
    with pytest.raises(ValueError, match="must be a dictionary"):
        StrictFields([], "this")


@pytest.mark.parametrize("data", [(1,), {1: 2}, [float("inf")], {"a": np.int64(1)}, b"x", {"a": {"b": [set()]}}, 1j])
def test_only_plain_data_becomes_text(data):
    with pytest.raises(ValueError, match="this must be plain data as JSON has it"):
        to_canonical_json(data, "this")


def test_text_is_read_as_it_was_written():
    data = {"b": [1, -0.0, 1e-320, None, True, "é\ud800"], "a": {"": 2**200}}
    assert json.dumps(from_canonical_json(to_canonical_json(data, "this"), "this")) == json.dumps(data)
    with pytest.raises(ValueError, match="this is not JSON as rosenblatt writes it"):
        from_canonical_json('{"a": 1}', "this")
