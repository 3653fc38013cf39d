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

from benchmarks import (
    calibration,
    clusters,
    comparison,
    family,
    kernels,
    lab,
    measure,
    one_pass,
    programs,
    serve,
    small,
    sparse_text,
    tables,
    texts,
    theory,
)
from benchmarks.against import checkout, compare_checkouts, start
from benchmarks.workloads import PASSES, ROOT, compare, workloads
from rosenblatt.tables import Table

FIGURES: dict[str, Callable[[bool], Any]] = {
    "memory": measure.memory,
    "first-call": measure.first_call,
    "imports": measure.imports,
    "small-fit": small.fit,
    "small-calls": small.calls,
    "small-records": small.records,
    "small-first": small.first,
    "small-verdict": small.verdict,
    "small-program": small.program,
    "small-start": start,
    "small-watch": small.watch,
    "accuracy": comparison.accuracy,
    "voted": comparison.voted,
    "comparison": comparison.against_others,
    "probabilities": calibration.probabilities,
    "everyday": tables.everyday,
    "separability": theory.separability,
    "margin": theory.margin,
    "verdicts": theory.verdicts,
    "learners": theory.learners,
    "peers": theory.peers,
    "kernels-rows": kernels.rows,
    "kernels-svc": kernels.svc,
    "kernels-mnist": kernels.whole,
    "kernels-vote": kernels.vote,
    "lab": lab.lab,
    "serve": serve.serve,
    "family": family.passes,
    "sparse-text": sparse_text.calls_on_text,
    "cluster-rounds": clusters.overheads,
    "cluster-files": clusters.from_files,
    "cluster-classes": clusters.ten_classes,
    "cluster-memory": clusters.memory,
    "cluster-mixing": clusters.quality,
    "text-rows": texts.rows,
    "text-programs": texts.programs,
    "text-defaults": texts.defaults,
    "programs": programs.programs,
    "programs-one-pass": one_pass.races,
    "programs-sets": one_pass.accuracies,
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


def parse_arguments(workloads: list[str], figures: list[str]) -> argparse.Namespace:
    """Read the command line; ``only`` holds the names that were asked for, or all."""
    names = workloads + figures
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="rosenblatt against its peers")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each comparison; the best counts")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="names or parts of names")
    parser.add_argument("--record", action="store_true", help="append the ratios to benchmarks/history.jsonl")
    parser.add_argument(
        "--against", metavar="CHECKOUT", help="measure our side only, in turn with that of another checkout"
    )
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    for part in arguments.only:
        if not any(part in name for name in names):
            parser.error(f"nothing is called {part!r}; there are {', '.join(names)}")
    arguments.only = [name for name in names if not arguments.only or any(part in name for part in arguments.only)]
    if arguments.record and (arguments.quick or arguments.against or not set(workloads) <= set(arguments.only)):
        parser.error("--record is for all workloads at their full sizes, without --quick and --against")
    try:
        arguments.against = checkout(arguments.against) if arguments.against else None
    except ValueError as error:
        parser.error(f"--against: {error}")
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


def workload_table(rows: list[dict[str, Any]], about: dict[str, Any], rounds: int) -> Table:
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


def further(found: list[measure.Figure]) -> Table:
    """Return the table of figures."""
    met = ["-" if figure.met is None else "yes" if figure.met else "no" for figure in found]
    shown = {name: [getattr(figure, name) for figure in found] for name in ("figure", "measured", "target")}
    return Table({**shown, "met": met}, title="Further figures")


def main() -> None:
    """Measure what was asked for, print it and write it down."""
    names = [work.name for work in workloads(quick=False)]
    arguments = parse_arguments(names, list(FIGURES))
    quick = arguments.quick
    if arguments.against:
        wanted = [name for name in names if name in arguments.only]
        if wanted:
            print(compare_checkouts(wanted, arguments.against, arguments.rounds, quick).to_text(digits=3))
        if "small-start" in arguments.only:
            print(further(start(quick, arguments.against)))
        return
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
        print(workload_table(rows, about, arguments.rounds).to_text(digits=3))
    if found:
        print()
        print(further(found))
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
    if arguments.record:
        measure.append(rows, about)
        print(f"One line more in {measure.PATH.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
