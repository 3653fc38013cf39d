"""Attacks side by side for some time, each in child processes of its own."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

LONGEST = 120.0
"""Seconds after which a trial counts as endless, where no other programs take turns with it."""
TURN = 20.0
"""Seconds for which a child makes trials, before a fresh one takes over."""
ENOUGH = 20
"""Findings of one attack after which its time goes to the others: most have one cause."""


@dataclass
class Record:
    """What was done of one attack: how many trials, for how long, and what they found."""

    next: int
    trials: int = 0
    seconds: float = 0.0
    running: int = 0
    findings: list[str] = field(default_factory=list)


def run_campaign(
    attacks: Sequence[str], first: int, seconds: float, jobs: int = 2, tell: Callable[[str], None] = print
) -> dict[str, Record]:
    """Share ``seconds`` among attacks, the one that had the least time next; tell each finding in a line.

    The rest of what is known of a finding is said where its trial is repeated.
    """
    records = {name: Record(first) for name in attacks}
    end, lock = time.monotonic() + seconds, threading.Lock()

    def work() -> None:
        while (left := end - time.monotonic()) > 0:
            with lock:
                left_over = [name for name in attacks if len(records[name].findings) < ENOUGH]
                if not left_over:
                    return
                name = min(left_over, key=lambda name: (records[name].running, records[name].seconds))
                record = records[name]
                record.running += 1
                start, record.next = record.next, record.next + 1_000_000
            begun = time.monotonic()
            done, findings = run_trials(name, start, min(TURN, left))
            with lock:
                record.trials += done
                record.seconds += time.monotonic() - begun
                record.running -= 1
                record.findings += findings
                for finding in findings[:ENOUGH]:
                    tell(finding.splitlines()[0][:300])

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return records


def run_trials(
    name: str, first: int, seconds: float, most: int = 1_000_000, longest: float = LONGEST
) -> tuple[int, list[str]]:
    """Make trials from number ``first`` on in a child; return how many were made, and a line or more on each finding.

    The child ends with its first death: by a signal, for lack of memory, or after ``longest`` seconds in one trial. On
    a busy machine it has as many times longer as there are programs for each processor.
    """
    words = [sys.executable, "-X", "faulthandler", "-m", "attack.worker", name, str(first), str(seconds), str(most)]
    folder = Path(__file__).parents[1]
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done, current, findings, ended = 0, first, [], True
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    errors: list[bytes] = []
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True
    ) as child:
        pumps = [
            threading.Thread(target=_pump, args=pipe, daemon=True)
            for pipe in ((child.stdout, lines.put), (child.stderr, errors.append))
        ]
        for pump in pumps:
            pump.start()
        while True:
            try:
                line = lines.get(timeout=longest * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))
            except queue.Empty:
                ended = False
                break
            if not line:
                break
            message = json.loads(line)
            if "start" in message:
                current = message["start"]
            else:
                done += 1
                if message["finding"]:
                    findings.append(finding_line(name, current, message["finding"]))
        with suppress(ProcessLookupError):
            if not ended:
                os.killpg(child.pid, signal.SIGKILL)
        status = child.wait()
        for pump in pumps:  # before the pipes are closed under them
            pump.join(timeout=60)
    if not ended:
        findings.append(finding_line(name, current, f"no end after {longest:.0f} seconds"))
    elif status != 0:
        tail = b"".join(errors[-30:]).decode(errors="replace")
        findings.append(finding_line(name, current, f"the process ended with status {status}\n{tail}"))
    return done, findings


def _pump(stream: IO[bytes], keep: Callable[[bytes], None]) -> None:
    """Keep each line of a stream as it comes, and an empty one at its end."""
    for line in stream:
        keep(line)
    keep(b"")


def finding_line(name: str, number: int, what: str) -> str:
    """Return what is printed of a finding: the command that repeats it, then what broke."""
    return f"FINDING  make attack ONLY={name} TRIAL={number}  {what}"
