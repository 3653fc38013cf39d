"""SIGINT at random moments of a fit with several threads."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, load, save
from rosenblatt.training import linear

linear.FEWEST_NUMBERS = 0  # several threads train small sets, too


def attack(rng: random.Random) -> str | None:
    """Interrupt a fit; nothing is left at work, and what was learned can be saved and goes on learning."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    n, classes = rng.choice([60, 600, 6000]), rng.randrange(2, 7)
    X, y = numbers.standard_normal((n, 8)), numbers.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    learner = rng.choice([Perceptron, AveragedPerceptron, VotedPerceptron])
    passes = rng.choice([20, 200]) if learner is not VotedPerceptron else 10
    model = learner(
        n_jobs=rng.choice([2, 2, 3, None]),
        random_state=rng.randrange(100),
        multi_class=rng.choice(["ovr", "ovr", "direct"]),
    )
    fit = (lambda: model.fit_stream([(X, y)])) if rng.random() < 0.3 else (lambda: model.fit(X, y))
    model.set_params(max_iter=1)
    fit()  # so that nothing is left to compile
    model.set_params(max_iter=passes)
    vars(model).pop("state_")
    before = threading.active_count()
    length = rng.choice([0.003, 0.02, 0.1])
    ended = _fit_until_interrupt(fit, length * rng.random())
    if threading.active_count() != before:
        return f"{threading.active_count() - before} threads are left"
    if not hasattr(model, "state_"):
        return None if not ended else "fit came to its end and learned nothing"
    weights = model.last_coef_.tobytes()
    path = Path(tempfile.mkdtemp()) / "model"
    save(model, path)
    if load(path).last_coef_.tobytes() != weights:
        return "the file has other weights"
    time.sleep(0.002)
    if model.last_coef_.tobytes() != weights:
        return "weights changed after fit had returned"
    if not np.isin(model.predict(X), np.arange(classes)).all():
        return "a prediction that is no class"
    model.set_params(max_iter=1).fit(X, y)
    return None


def _fit_until_interrupt(fit: Callable[[], object], after: float) -> bool:
    """Call ``fit`` while another process sends SIGINT after some seconds; return whether it came to its end."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # until the interrupt can be caught
    parent, ended, sender = os.getpid(), False, os.fork()
    if sender == 0:
        time.sleep(after)
        os.kill(parent, signal.SIGINT)
        os._exit(0)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        fit()
        ended = True
        time.sleep(60)  # the signal comes here, if fit was faster
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.waitpid(sender, 0)
        signal.signal(signal.SIGINT, old)
    return ended
