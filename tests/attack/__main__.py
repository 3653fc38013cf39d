"""Run attacks: ``python -m attack --minutes 60``, or one trial again: ``--only NAME --trial N``."""

from __future__ import annotations

import argparse
import random
import sys
from importlib.util import find_spec

from attack import ATTACKS
from attack.campaign import run_campaign, run_trials


def main() -> int:
    """Return the exit status: 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="attack", description="Try to break the package.")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="the number of the first trial; random if left out")
    parser.add_argument("--only", action="append", choices=[*ATTACKS, "guided"], help="an attack; repeat for more")
    parser.add_argument("--trial", type=int, help="one trial of one attack")
    parser.add_argument("--jobs", type=int, default=2, help="child processes at once")
    given = parser.parse_args()
    if given.trial is not None:
        if given.only is None or len(given.only) != 1:
            parser.error("--trial needs --only with the name of its attack")
        _, findings = run_trials(given.only[0], given.trial, 0, most=1)
        print("\n".join(findings) or "nothing broke")
        return bool(findings)
    attacks = given.only or [*ATTACKS, *(["guided"] if find_spec("atheris") else [])]
    first = random.randrange(10**12) if given.seed is None else given.seed
    print(f"{len(attacks)} attacks for {given.minutes:g} minutes, from SEED={first}", flush=True)
    records = run_campaign(attacks, first, 60 * given.minutes, given.jobs, lambda text: print(text, flush=True))
    print(f"{'attack':<22}{'trials':>10}{'seconds':>10}{'findings':>10}")
    for name, record in records.items():
        print(f"{name:<22}{record.trials:>10,}{record.seconds:>10.0f}{len(record.findings):>10,}")
    total = sum(len(record.findings) for record in records.values())
    print(f"{sum(record.trials for record in records.values()):,} trials, {total:,} findings")
    idle = [name for name, record in records.items() if not record.trials]
    if idle:
        print(f"no time was left for {', '.join(idle)}: give more minutes")
    return total > 0 or bool(idle)


if __name__ == "__main__":
    sys.exit(main())
