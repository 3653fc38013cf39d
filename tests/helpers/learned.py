"""Whether two model files hold the same, to the last bit."""

import math
from pathlib import Path

import numpy as np

from rosenblatt.storage.container import read_container

SUMMED_IN_ANY_ORDER = ("lowest", "lowest_step", "radius2", "max_step_norm2")
"""The counters that are activations or norms as computed; no weight depends on their last digits.

They depend on how rows are divided into batches, and on whether a kernel was compiled or interpreted.
"""
_TOLERANCE = 1e-12


def different_entries(one: Path, other: Path) -> list[str]:
    """Return the names of the entries in which two model files differ.

    All entries must be equal, but for the counters that are summed in any order and the radius, the square root of one
    of them: these must agree to 12 digits.
    """
    (header, arrays), (other_header, other_arrays) = read_container(one), read_container(other)
    radii = [plain["learned"]["state"].pop("radius") for plain in (header, other_header)]
    names = [] if header == other_header else ["header"]
    if not math.isclose(*radii, rel_tol=_TOLERANCE):
        names.append("radius")
    for name in sorted(arrays.keys() | other_arrays.keys()):
        if name not in arrays or name not in other_arrays:
            names.append(name)
        elif name.rpartition(".")[2] in SUMMED_IN_ANY_ORDER:
            if not np.allclose(arrays[name], other_arrays[name], rtol=_TOLERANCE, atol=0.0):
                names.append(name)
        elif arrays[name].dtype != other_arrays[name].dtype or arrays[name].tobytes() != other_arrays[name].tobytes():
            names.append(name)
    return names
