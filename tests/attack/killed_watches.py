"""SIGKILL for a `watch` that learns, at random moments: no row is lost or learned twice, and the bits are the same."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from helpers.killed_watches import lose_rows


def attack(rng: random.Random) -> str | None:
    """Kill a watch some times while it is fed."""
    return lose_rows(Path(tempfile.mkdtemp()), rng, kills=rng.randrange(1, 6))
