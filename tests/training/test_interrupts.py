"""Ctrl-C with several threads: none is left at work, and what was learned can be saved."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest

from helpers.examples import small_set
from rosenblatt import AveragedPerceptron, load, save
from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.training import linear as passes

pytestmark = pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="no signals")


def test_an_interrupt_comes_at_the_end_of_the_block():
    seen = []

    def work():
        with interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            seen.append("after the signal")
        seen.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["after the signal"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_happens_and_faults_pass():
    with interrupts_deferred():
        pass
    with pytest.raises(ValueError, match="other"), interrupts_deferred():
        raise ValueError("other")
    done = []

    def work():
        with interrupts_deferred():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.parametrize("turn", range(4))
def test_no_thread_is_left_at_work(monkeypatch, tmp_path, turn):
    X, y = small_set("gauss", n=200, classes=4, seed=turn)
    real, calls = passes.one_vs_rest_passes, []

    def slow(*arguments):
        calls.append(threading.current_thread() is threading.main_thread())
        if len(calls) > 4 * turn and calls[-1]:
            signal.raise_signal(signal.SIGINT)  # while the other thread is at work
        elif not calls[-1]:
            time.sleep(0.02)
        return real(*arguments)

    monkeypatch.setattr(passes, "one_vs_rest_passes", slow)
    before = set(threading.enumerate())
    model = AveragedPerceptron(n_jobs=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    weights = model.last_coef_
    assert set(threading.enumerate()) == before
    time.sleep(0.05)
    assert model.last_coef_.tobytes() == weights.tobytes()
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").last_coef_.tobytes() == weights.tobytes()
    monkeypatch.setattr(passes, "one_vs_rest_passes", real)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = AveragedPerceptron(random_state=0, max_iter=model.n_iter_).fit(X, y)
    assert np.array_equal(whole.last_coef_, weights), "every slice was finished by all"
