"""Model files made by hand from the words of the documentation, and models compared bit by bit."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json

import numpy as np

from rosenblatt.storage.schema import Arrays, Place
from rosenblatt.training.dual.state import DualState, SupportRows
from rosenblatt.training.options import RunOptions
from rosenblatt.training.serialization import read_state, write_state
from rosenblatt.training.state import UpdateLog

TYPES = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}


def forge(text, arrays, layout="1", digest=None, edit=lambda head: head):
    """Return the bytes of a file with the header ``text`` and a right checksum, unless another ``digest`` is given."""
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))

    def head(digest):
        out = {"__metadata__": {"rosenblatt": layout, "sha256": digest, "header": text}}
        place = 0
        for name in names:
            array = arrays[name]
            out[name] = {
                "dtype": TYPES[array.dtype.name],
                "shape": list(array.shape),
                "data_offsets": [place, place + array.nbytes],
            }
            place += array.nbytes
        words = edit(json.dumps(out, separators=(",", ":")).encode())
        words += b" " * (-len(words) % 8)
        return len(words).to_bytes(8, "little") + words

    data = b"".join(arrays[name].tobytes() for name in names)
    digest = digest or hashlib.sha256(head("0" * 64) + data).hexdigest()
    return head(digest) + data


def state_to_plain(state):
    """Return the header and the arrays of a state alone."""
    place = Place("the state")
    return write_state(state, place), place.arrays.arrays


def state_from_plain(header, arrays, classes, learner="Perceptron"):
    """Return the state that `state_to_plain` described."""
    place = Place("the state", Arrays(arrays))
    state = read_state(header, place, classes, learner, RunOptions.for_learner(learner))
    place.arrays.finish()
    return state


def compact(header):
    return json.dumps(header, separators=(",", ":"))


def mutations(data):
    """Yield copies of plain data with one field removed, added, or replaced by what does not belong there."""
    strange = (None, -1, 0, 1, 2**80, 1.5, -1e308, "", "vote", True, [], [[]], {}, {"a": 1}, [1, "a"], "0" * 400)
    if type(data) is dict:
        yield {**data, "more": 1}
        for name in data:
            yield {key: value for key, value in data.items() if key != name}
            for value in itertools.chain(strange, mutations(data[name])):
                yield {**data, name: value}
    elif type(data) is list:
        yield [*data, None]
        for i in range(len(data)):
            yield data[:i] + data[i + 1 :]
            for value in itertools.chain(strange[:8], mutations(data[i])):
                yield [*data[:i], value, *data[i + 1 :]]


def other_arrays(arrays, rng):
    """Yield the arrays with one of them left out, renamed, of another shape or type, or with another number."""
    for name, array in arrays.items():
        yield {key: value for key, value in arrays.items() if key != name}
        yield {**{key: value for key, value in arrays.items() if key != name}, name + "s": array}
        yield {**arrays, name: array.reshape(-1, 1)}
        yield {**arrays, name: array[:-1]}
        yield {**arrays, name: np.concatenate([array, array])}
        yield {**arrays, name: array.astype(np.float32 if array.dtype == np.float64 else np.float64)}
        extremes = [True, False] if array.dtype == bool else [-1, 0, 1, 2**31 - 1]
        extremes += [np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.5] if array.dtype.kind == "f" else []
        for value in extremes if array.size else []:
            for place in {0, array.size - 1, int(rng.integers(array.size))}:
                changed = array.copy()
                with np.errstate(over="ignore"):  # in float32 it is infinite
                    changed.reshape(-1)[place] = value
                yield {**arrays, name: changed}


def alike(one, other, where="model"):
    """Assert that two objects are the same to the last bit, however deep; updates however they are cut into parts."""
    one, other = (value.item() if isinstance(value, np.generic) else value for value in (one, other))
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        if one.dtype.hasobject:
            assert one.tolist() == other.tolist(), where
        else:
            assert one.tobytes() == other.tobytes(), where
    elif isinstance(one, UpdateLog):
        assert (one.n_classes, len(one.chunks)) == (other.n_classes, len(other.chunks)), where
        assert (sum(map(len, one.chunks)) > 0, bool(one.blocks)) == (
            sum(map(len, other.chunks)) > 0,
            bool(other.blocks),
        )
        if one.blocks:
            rows = [ballots.rows() for ballots in (one, other)]
            assert type(rows[0]) is type(rows[1]), where
            rows = [each if isinstance(each, np.ndarray) else each.toarray() for each in rows]
            for k in range(len(one.chunks)):
                voters = [ballots.updates(k) for ballots in (one, other)]
                moved = [each[voter.members] for each, voter in zip(rows, voters, strict=True)]
                alike(*moved, f"{where}.rows of {k}")
                alike(voters[0][1:], voters[1][1:], f"{where}.updates({k})")
    elif isinstance(one, SupportRows):
        alike([one.numbers, one.places], [other.numbers, other.places], f"{where}.numbers")
        assert bool(one.blocks) == bool(other.blocks), where
        if one.blocks:
            width = max(block.shape[1] for block in one.blocks + other.blocks)
            alike(_parts(one.matrix(width)), _parts(other.matrix(width)), f"{where}.matrix")
    elif isinstance(one, DualState):
        parts = [dict(vars(each)) for each in (one, other)]
        for each, part in zip((one, other), parts, strict=True):
            part["updates"] = [tuple(each.updates_of(k)) for k in range(len(each.updates))]
            del part["computing"]  # which every run sets anew
        alike(*parts, where)
    elif dataclasses.is_dataclass(one) or hasattr(one, "get_params"):
        assert vars(one).keys() == vars(other).keys(), where
        for name, value in vars(one).items():
            alike(value, vars(other)[name], f"{where}.{name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for i, pair in enumerate(zip(one, other, strict=True)):
            alike(*pair, f"{where}[{i}]")
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for key, value in one.items():
            alike(value, other[key], f"{where}[{key!r}]")
    else:
        assert one == other, where


def _parts(rows):
    """Return the arrays that make up a dense or CSR matrix."""
    if isinstance(rows, np.ndarray):
        return [rows]
    return [rows.data, *(part.astype(np.int64) for part in (rows.indices, rows.indptr)), rows.shape]
