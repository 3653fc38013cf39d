"""Random damage: to bytes, to plain data and to arrays."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from typing import Any

import numpy as np

STRANGE = (None, -1, 0, 1, 2, 2**31, 2**63, 2**80, 1.5, -1e308, 1e308, 5e-324, "", "vote", "a" * 3000, "0" * 400, True)
STRANGE += (False, [], [[]], {}, {"a": 1}, [1, "a"], "0x1" + "0" * 1000, "-1", "nan", "é\ud800", 10**400)
INTEGERS = (
    0,
    1,
    -1,
    127,
    255,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32 - 1,
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
)


def mutated_bytes(rng: random.Random, content: bytes, words: bytes = b'",\n\r{}:x19e.-\t |\xff\x00\xc3[') -> bytes:
    """Return a copy with some bytes changed, removed, added, doubled, moved, cut off, or made extreme integers."""
    out = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        if not out:
            break
        k, choice = rng.randrange(len(out)), rng.randrange(9)
        length = min(rng.choice([1, 1, 2, 4, 30]), len(out) - k)
        if choice == 0:
            out[k] ^= 1 << rng.randrange(8)
        elif choice == 1:
            out[k] = rng.choice(words)
        elif choice == 2:
            del out[k : k + length]
        elif choice == 3:
            out[k:k] = bytes(rng.choices(words, k=length))
        elif choice == 4:
            out[k:k] = out[k : k + length] * rng.choice([1, 2, 50])
        elif choice == 5:
            del out[k:]
        elif choice == 6:
            size = rng.choice([2, 4, 8])
            k -= k % size
            out[k : k + size] = (rng.choice(INTEGERS) % 256**size).to_bytes(size, "little")
        elif choice == 7:
            other = rng.randrange(len(out))
            out[k : k + length] = out[other : other + length]
        else:
            out[k : k + length] = rng.randbytes(length)
    return bytes(out)


def mutated_plain(rng: random.Random, data: Any) -> Any:
    """Return a copy of plain data with one field, however deep, removed, added, doubled or replaced."""
    data = copy.deepcopy(data)
    node, parent, place = data, None, None
    while isinstance(node, dict | list) and node and rng.random() < 0.8:
        place = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        parent, node = node, node[place]
    choice = rng.randrange(6)
    if parent is None:
        return rng.choice(STRANGE)
    if choice == 0:
        del parent[place]
    elif choice == 1 and isinstance(node, int | float) and not isinstance(node, bool) and abs(node) < 1e308:
        parent[place] = rng.choice([node + 1, -node, node * 2, node - 1, float(node), str(node)])
    elif choice == 2 and isinstance(parent, list):
        parent.insert(place, copy.deepcopy(node))
    elif choice == 2:
        parent[rng.choice(["more", "", str(place) + "s"])] = node
    elif choice == 3 and isinstance(node, list):
        rng.shuffle(node)
    elif choice == 4:
        other = rng.choice(list(parent)) if isinstance(parent, dict) else rng.randrange(len(parent))
        parent[place] = copy.deepcopy(parent[other])
    else:
        parent[place] = rng.choice(STRANGE)
    return data


def mutated_arrays(rng: random.Random, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a copy with one array left out, renamed, of another shape or type, or with an extreme number in it."""
    out = dict(arrays)
    if not out:
        return out
    name = rng.choice(sorted(out))
    array, choice = out[name], rng.randrange(8)
    if choice == 0:
        del out[name]
    elif choice == 1:
        out[name + "s"] = out.pop(name)
    elif choice == 2:
        out[name] = array.reshape(rng.choice([(-1, 1), (-1,), (1, -1)]))
    elif choice == 3:
        out[name] = array[: rng.randrange(len(array) + 1)] if array.ndim else array
    elif choice == 4:
        out[name] = np.concatenate([array, array]) if array.ndim else array.reshape(1)
    elif choice == 5:
        with np.errstate(all="ignore"):
            out[name] = array.astype(rng.choice([np.float32, np.float64, np.int64, np.int32, np.uint8, bool]))
    elif array.size:
        extremes: list[Any] = [-1, 0, 1, 2**31 - 1, array.size, 2**62]
        if array.dtype.kind == "f":
            extremes += [np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.5]
        changed = array.copy()
        bits = 8 * array.dtype.itemsize
        value = rng.choice(extremes)
        changed.reshape(-1)[rng.randrange(array.size)] = value if array.dtype.kind == "f" else value % 2 ** (bits - 1)
        out[name] = changed
    return out
