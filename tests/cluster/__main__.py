"""Kill workers and drivers at many random moments: ``python -m cluster --moments 20``."""

from __future__ import annotations

import argparse
import itertools
import random
import sys

from cluster.training import ENGINES, MODES
from cluster.trials import fill_memory, kill_driver, kill_workers, lose_shards, restart_scheduler


def main() -> int:
    """Return the exit status: 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="cluster", description="Kill workers and drivers of clusters that train.")
    parser.add_argument("--moments", type=int, default=20, help="runs with a killed worker, for each engine and mode")
    parser.add_argument("--seed", type=int, help="of the first moment; random if left out")
    given = parser.parse_args()
    seed = random.randrange(10**9) if given.seed is None else given.seed
    print(f"from SEED={seed}", flush=True)
    few = max(1, given.moments // 7)
    faults = 0
    for engine, mode in itertools.product(ENGINES, MODES):
        trials = [
            ("one worker killed", "same bits", given.moments, lambda *of: kill_workers(*of, given.moments, seed)),
            ("all workers killed", "same bits", few, lambda *of: kill_workers(*of, few, seed, how="all")),
            ("shards changed", "an error", given.moments, lambda *of: lose_shards(*of, "changed", given.moments, seed)),
            ("same shards", "same bits", given.moments, lambda *of: lose_shards(*of, "same", given.moments, seed)),
            ("driver killed", "same bits", few, lambda *of: [kill_driver(*of, seed + k) for k in range(few)]),
        ]
        if engine == "dask":
            trials += [
                ("memory full", "as it should", given.moments, lambda _, mode: fill_memory(mode, given.moments, seed)),
                ("scheduler restarts", "same bits", few, lambda _, mode: restart_scheduler(mode, few, seed)),
            ]
        for what, result, runs, trial in trials:
            try:
                records = trial(engine, mode)
                told = f"{result} in {len(records)} of {runs} runs"
                tries = sum(one.get("attempts", 1) for one in records) - runs
                told += f", {tries} made again because no shard was loaded again" if tries else ""
            except Exception as fault:
                faults += 1
                told = f"FAULT, SEED={seed}: {fault}"
            print(f"{engine:<5}{mode:<6} {what:<19} {told}", flush=True)
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
