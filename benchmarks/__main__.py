"""``python -m benchmarks``: both sides in turn, one report on the screen and in ``out/bench.json``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from benchmarks import figures, measure, programs, theory
from benchmarks.sides import PASSES, compare
from benchmarks.workloads import ROOT, workloads
from rosenblatt.tables import Table

FIGURES: dict[str, Callable[[bool], Any]] = {
    "memory": measure.memory,
    "first-call": measure.first_call,
    "imports": measure.imports,
    "accuracy": figures.accuracy,
    "voted": figures.voted,
    "separability": theory.separability,
    "margin": theory.margin,
    "programs": programs.programs,
}
COLUMNS = [
    "workload",
    "ours ms",
    "peer ms",
    "ratio",
    "target",
    "met",
    "ours/read",
    "limit",
    "X @ w ms",
    "mistakes",
]


def parse_arguments(names: list[str]) -> argparse.Namespace:
    """Read the command line; ``only`` holds the names that were asked for, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="rosenblatt against its peers")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each comparison; the best counts")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="names or parts of names")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    for part in arguments.only:
        if not any(part in name for name in names):
            parser.error(f"nothing is called {part!r}; there are {', '.join(names)}")
    arguments.only = [name for name in names if not arguments.only or any(part in name for part in arguments.only)]
    return arguments


def machine() -> dict[str, Any]:
    """Return what the numbers depend on."""
    packages = ("rosenblatt", "scikit-learn", "numpy", "scipy", "numba")
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        **{name: version(name) for name in packages},
    }


def comparison(rows: list[dict[str, Any]], about: dict[str, Any], rounds: int) -> Table:
    """Return the table of workloads."""
    notes = [
        f"ms: a fit of {PASSES} passes, divided by {PASSES}; best of {rounds}, all in turn in one process.",
        "ratio: peer / ours, at least the target. ours/read: our pass / a bare read of X, at most the limit.",
        "mistakes: ours in the last pass. X @ w: SciPy's product, for comparison.",
    ]
    for row in rows:
        if row["limit"] is not None and row["ours/read"] > row["limit"]:
            notes.append(f"{row['workload']}: beyond its limit in bare reads.")
        if row["remark"]:
            notes.append(f"{row['workload']}: not the same work: {row['remark']}.")
    if not any(row["remark"] for row in rows):
        notes.append(f"Each side made {PASSES} passes in each row.")
    sides = f"rosenblatt {about['rosenblatt']} against scikit-learn {about['scikit-learn']}"
    title = f"{sides}, {about['cores']} cores"
    return Table({name: [row[name] for row in rows] for name in COLUMNS}, title=title, notes=notes)


def main() -> None:
    """Measure what was asked for, print it and write it down."""
    arguments = parse_arguments([work.name for work in workloads(quick=False)] + list(FIGURES))
    quick = arguments.quick
    about = machine()
    rows, found = [], []
    for work in workloads(quick):
        if work.name in arguments.only:
            print(f"{work.name} ...", file=sys.stderr, flush=True)
            rows.append(compare(work, arguments.rounds))
    for name, make in FIGURES.items():
        if name in arguments.only:
            print(f"{name} ...", file=sys.stderr, flush=True)
            made = make(quick)
            found += made if isinstance(made, list) else [made]
    if rows:
        print(comparison(rows, about, arguments.rounds).to_text(digits=3))
    if found:
        met = ["-" if figure.met is None else "yes" if figure.met else "no" for figure in found]
        shown = {name: [getattr(figure, name) for figure in found] for name in ("figure", "measured", "target")}
        print()
        print(Table({**shown, "met": met}, title="Further figures"))
    if quick:
        print("\nSmall sizes (--quick): the targets are for full ones.")
    path = ROOT / "out" / "bench.json"
    path.parent.mkdir(exist_ok=True)
    report = {
        "machine": about,
        "quick": quick,
        "rounds": arguments.rounds,
        "rows": rows,
        "figures": [asdict(figure) for figure in found],
    }
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nWritten to {path.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
