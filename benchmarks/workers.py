"""One checkout's side of a comparison, in a process of its own: ``python -m benchmarks.workers NAME``.

It makes the data of a workload, fits once for each line that it reads, and answers with the seconds of the fit and a
digest of what was learned. It uses the public names of rosenblatt only, so that any version can be measured.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import warnings

import numpy as np

import rosenblatt
from benchmarks.measure import seconds
from benchmarks.workloads import ours, workloads


def main() -> None:
    """Answer until the input ends."""
    name, quick = sys.argv[1], sys.argv[2] == "quick"
    warnings.simplefilter("ignore")
    work = next(one for one in workloads(quick) if one.name == name)
    X, y = work.data()
    model = ours(work)
    some = min(2000, len(y))
    model.fit(X[:some], y[:some])  # compiles
    gc.collect()
    gc.disable()
    _say([rosenblatt.__file__])
    for _ in sys.stdin:
        taken = seconds(lambda: model.fit(X, y))
        learned = np.ascontiguousarray(model.coef_).tobytes() + np.ascontiguousarray(model.intercept_).tobytes()
        _say([taken, hashlib.sha256(learned).hexdigest()])


def _say(words: list[object]) -> None:
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    main()
