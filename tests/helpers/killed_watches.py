"""A ``rosenblatt watch`` that is killed at random moments and resumed, and what must be true of it afterwards."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone

from helpers.killed_servers import tear
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, load

LEARNERS = {
    "perceptron": Perceptron(),
    "averaged": AveragedPerceptron(multi_class="direct"),
    "averaged --decay 0.01": AveragedPerceptron(multi_class="direct", decay=0.01),
    "pa": PassiveAggressive(),
    "arow": AROW(),
}
COMMAND = [sys.executable, "-m", "rosenblatt", "watch"]


def lose_rows(folder: Path, rng: random.Random, kills: int) -> str | None:
    """Kill a watch ``kills`` times while it is fed; return what was lost, learned twice or changed, or None.

    The rows are those of tables or of svmlight text, and some have no label. A run that is resumed reads the input
    from its start, or the rest of it. The log may also get a torn write while nobody runs.
    """
    stream = _Stream(rng)
    learner = rng.choice(list(LEARNERS))
    words = ["-l", *learner.split(), *stream.words, "--answers", "-", "--json", "--first-rows", "5", "--resume"]
    words += ["--state", folder / "state", "-o", folder / "m", "--save-rows", rng.choice([1, 20, 300, 100_000])]
    words += ["--save-seconds", rng.choice([0.01, 0.1, 60])]
    watch = _Watch(list(map(str, words)), stream, folder)
    for _ in range(kills):
        fault = watch.run(rng, rng.random() < 0.5, kill_after=rng.random() * rng.choice([0.05, 0.5, 2.0]))
        if fault is not None:
            return fault
        if rng.random() < 0.5:
            tear(folder / "state", rng)
    fault = watch.run(rng, from_start=True)
    if fault is not None:
        return fault
    found = load(folder / "m")
    n = len(stream.records)
    if found.fingerprint_["rows"] != n:
        return f"{n} rows have a label, and the model has learned {found.fingerprint_['rows']}"
    names = stream.differences(LEARNERS[learner], found)
    return f"after {n} rows these weights of {learner} differ: {names}" if names else None


class _Stream:
    """The lines of an input, and its rows with a label."""

    def __init__(self, rng: random.Random) -> None:
        numbers = np.random.default_rng(rng.randrange(2**32))
        n, classes = rng.choice([30, 400, 3000]), rng.choice([2, 3])
        X = numbers.integers(-4, 5, (n, 3)) / 4
        y = (X[:, 0] * 2 + X[:, 1] + numbers.integers(-2, 3, n) / 4 > 0).astype(int)
        y[X[:, 2] > 0.5] = classes - 1
        has_label = numbers.random(n) < rng.choice([0.7, 1.0])
        has_label[:5] = True  # the first rows say what labels look like
        X[~X.any(axis=1), 0] = 0.25  # a line without a label and entries would be blank
        self._kind = rng.choice(["svmlight", "csv", "jsonl"])
        self.header, self.words = "", ["--format", self._kind]
        if self._kind != "svmlight":
            self.words += ["-t", "label", *(word for name in "abc" for word in ("--kind", f"{name}=number"))]
            self.header = "a,b,c,label\n" if self._kind == "csv" else ""
        rows = zip(X.tolist(), y.tolist(), has_label.tolist(), strict=True)
        self.lines, self.records = [], []
        for i, (x, label, has) in enumerate(rows):
            record = dict(zip("abc", x, strict=True))
            if self._kind == "jsonl" and i:  # a category and a column that come late, and new categories
                record |= {"word": f"w{numbers.integers(1 + i // 20)}"} | ({"late": x[0] * x[1]} if i > 10 else {})
            self.lines.append(self._line(x, record, label if has else None))
            self.records += [(record, float(label) if self._kind == "svmlight" else label)] if has else []

    def _line(self, x, record, label):
        if self._kind == "jsonl":
            return json.dumps(record | ({} if label is None else {"label": label})) + "\n"
        word = "" if label is None else str(label)
        if self._kind == "csv":
            return f"{','.join(map(str, x))},{word}\n"
        return word + "".join(f" {j}:{value}" for j, value in enumerate(x, 1) if value) + "\n"

    def differences(self, learner, found):
        """Return the names of the weights that differ from those of a learner after all rows with a label."""
        twin = clone(learner)
        for record, label in self.records:
            twin.learn_one(record, label)
        twin_names = twin.feature_names_in_.tolist()
        names = getattr(found, "feature_names_in_", np.array(list("abc"))).tolist()
        different = [] if set(names) >= set(twin_names) else ["names"]
        for kind in ("last", "average"):
            own, others = getattr(found, f"{kind}_coef_"), getattr(twin, f"{kind}_coef_")
            for name, column in zip(names, own.T, strict=True):
                other = others[:, twin_names.index(name)] if name in twin_names else np.zeros(len(own))
                different += [] if np.array_equal(column, other) else [f"{kind} {name}"]
            if not np.array_equal(getattr(found, f"{kind}_intercept_"), getattr(twin, f"{kind}_intercept_")):
                different.append(f"{kind} intercept")
        return different


class _Watch:
    """The command, and the last row with a label that it has answered, and so must never answer again."""

    def __init__(self, words, stream, folder):
        self._words, self._stream, self._folder = words, stream, folder
        self._acknowledged = 0

    def run(self, rng, from_start, kill_after=None):
        """Feed the command until it ends, or is killed; return what is wrong with its answers, or None."""
        is_resumed = bool(list(self._folder.glob("state/model-*")))
        words = [*self._words, *(["--from-start"] if from_start else [])]
        errors = self._folder / "errors"
        with errors.open("wb") as file:
            process = subprocess.Popen(
                [*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, env=os.environ
            )
        read = _read_before(process, errors) if is_resumed and not from_start else 0
        lines = [self._stream.header, *self._stream.lines[read:]]
        feeder = threading.Thread(target=_feed, args=(process.stdin, lines, rng.randrange(1, 200)))
        feeder.start()
        if kill_after is not None:
            if rng.random() < 0.8:
                process.stdout.peek(1)  # until the first answer, or the end
            number = rng.choice([signal.SIGKILL] * 5 + [signal.SIGTERM])
            timer = threading.Timer(kill_after, process.send_signal, [number])
            timer.start()
        answers = process.stdout.read()
        code = process.wait()
        feeder.join()
        if kill_after is not None:
            timer.cancel()
        if code not in ((0, 130, -signal.SIGKILL, -signal.SIGTERM) if kill_after is not None else (0,)):
            return f"exit status {code}: {errors.read_text()[-500:]}"
        return self._check([json.loads(line) for line in answers.splitlines(True) if line.endswith(b"\n")])

    def _check(self, answers):
        numbers = [answer["row"] for answer in answers]
        if numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
            return f"the answers are not in order: {numbers[:20]}"
        if numbers and numbers[0] <= self._acknowledged:
            return f"row {numbers[0]} was answered again, after rows up to {self._acknowledged} were"
        known = [answer["row"] for answer in answers if answer["right"] is not None]
        self._acknowledged = max([self._acknowledged, *known])
        return None


def _read_before(process, errors):
    """Wait until the command says after which row of the input it was resumed; return the number of the row."""
    while process.poll() is None:
        found = re.search(r"resumed after ([\d,]+)\s+rows?", errors.read_text())
        if found:
            return int(found[1].replace(",", ""))
        time.sleep(0.005)
    return 0


def _feed(pipe, lines, size):
    try:
        with pipe:
            for start in range(0, len(lines), size):
                pipe.write("".join(lines[start : start + size]).encode())
                pipe.flush()
    except (BrokenPipeError, ConnectionResetError):
        pass
