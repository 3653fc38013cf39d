"""One side of MNIST as a whole, in a process of its own: ``python -m benchmarks.kernel_workers SIDE FOLDER DEGREE``.

It answers with the seconds that it took, the peak of its memory in GiB, the mistakes of all machines and the number of
support rows. ``ours`` is the whole of Freund and Schapire's experiment, from reading the files to the errors after each
epoch of their table; ``blocks`` is the plain program, which only trains.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

from benchmarks.plain import by_blocks
from rosenblatt import visiting_order
from rosenblatt.reproductions import freund_schapire_1999
from rosenblatt.reproductions.freund_schapire import read_mnist

EPOCHS = 10


def ours(folder: str, degree: int) -> tuple[float, int, int]:
    """Return the seconds of the experiment, its mistakes and its support rows."""
    freund_schapire_1999(small=True, degrees=(degree,), epochs=1)  # compiles
    start = time.perf_counter()
    found = freund_schapire_1999(data=folder, degrees=(degree,), epochs=EPOCHS)
    return time.perf_counter() - start, found.table["mistakes"][-1], found.table["support vectors"][-1]


def blocks(folder: str, degree: int) -> tuple[float, int, int]:
    """Return the seconds of the plain program to train on the same rows, its mistakes and its support rows."""
    pixels, y = read_mnist(folder)["train"]
    order = visiting_order(len(y), 0)
    X = pixels[order] / 255.0
    start = time.perf_counter()
    learned = by_blocks(X, y[order], degree, EPOCHS)
    return time.perf_counter() - start, learned.mistakes, len(learned.rows)


def peak_gibibytes() -> float:
    """Return the peak of memory of this process; on Linux ``ru_maxrss`` would start from that of its parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 2**20 for line in lines if line.startswith("VmHWM"))
    except OSError:
        unit = 2**30 if sys.platform == "darwin" else 2**20
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    """Run one side and answer in a line of JSON."""
    side, folder, degree = sys.argv[1:]
    warnings.simplefilter("ignore")
    seconds, mistakes, supports = {"ours": ours, "blocks": blocks}[side](folder, int(degree))
    print(json.dumps([seconds, peak_gibibytes(), mistakes, supports]))


if __name__ == "__main__":
    main()
