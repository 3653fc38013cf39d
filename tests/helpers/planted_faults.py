"""An attack whose trials break something on purpose."""

import os
import random
import signal
import time
from itertools import count

NAME = __name__
FAULTS = ("nothing", "difference", "exception", "segfault", "endless", "much memory", "more memory than there may be")


def trial_of(fault: str) -> int:
    """Return the number of a trial in which this fault occurs."""
    return next(n for n in count() if random.Random(f"{NAME} {n}").choice(FAULTS) == fault)


def attack(rng: random.Random) -> str | None:
    """Break what the random numbers say."""
    fault = rng.choice(FAULTS)
    if fault == "difference":
        return "a difference"
    if fault == "exception":
        raise KeyError("planted")
    if fault == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "endless":
        time.sleep(600)
    if fault == "much memory":
        bytearray(b"x") * (1500 << 20)
    if fault == "more memory than there may be":
        bytearray(1 << 40)
    return None
