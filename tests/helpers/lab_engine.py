"""The page's own engine, asked in Node."""

import atexit
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.lab_state import LabState

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no Node on the path: install it, and the page's engine is tested")
_ANSWERS = Path(__file__).parents[1] / "lab" / "js" / "answers.mjs"


@cache
def _process():
    """Start Node once; it answers line by line until the tests end."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    process = subprocess.Popen([NODE, str(_ANSWERS)], **streams)
    atexit.register(process.kill)
    return process


def ask(name, body):
    """Return the engine's answer to a question; a refusal is a ValueError."""
    process = _process()
    process.stdin.write(json.dumps([name, body]) + "\n")
    process.stdin.flush()
    found = json.loads(process.stdout.readline(), parse_int=_number)
    if "error" in found:
        raise ValueError(found["error"])
    return found["answer"]


def _number(text):
    """Return an integer, or the float that JavaScript writes as one, whose last digits may be zeros."""
    value = int(text)
    return value if abs(value) < 2**53 else float(text)


def run_message(state):
    """Return the page's answer to ``run`` about a state."""
    return ask("run", state.to_plain())


def run(state):
    """Return the engine's run as arrays, with the whole answer as ``message``."""
    message = run_message(state)
    arrays = {name: np.array(message[name], dtype=np.int64) for name in ("visits", "updates")}
    X, y = np.array(message["features"], dtype=float), np.array(message["signs"])
    w, b = np.array(message["w"], dtype=float), float(message["b"])
    rest = {"passes": message["passes"], "converged": message["converged"], "message": message}
    return SimpleNamespace(X=X, y=y, w=w, b=b, **arrays, **rest)


def preset(name, seed=0):
    """Return the state that a preset sets."""
    return LabState.from_plain({"version": 1, **ask("preset", {"name": name, "seed": seed})})


@cache
def start():
    """Return the state with which the page opens."""
    return LabState.from_plain(ask("start", {})["state"])
