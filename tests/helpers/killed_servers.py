"""A server under load that is killed at random moments, and what must be true of it afterwards."""

import json
import random
import signal
import threading
import time
from pathlib import Path

from helpers.serving import (
    Client,
    differences,
    end_process,
    launch_process,
    learned_apart,
    make_rows,
    start_process,
    table_model,
)
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron

LEARNERS = (Perceptron, AveragedPerceptron, PassiveAggressive, AROW)


def lose_rows(folder: Path, rng: random.Random, kills: int) -> str | None:
    """Kill a server ``kills`` times while clients teach it; return what was lost, learned twice or changed, or None.

    Each client sends rows with ids, one request after the other, and repeats a request until it is acknowledged. Some
    rows are predicted first, and only their label is learned. Some servers are killed while they start. The log
    may also get a torn write while the server is down.
    """
    classes = rng.choice([("ham", "spam"), ("a", "b", "c")])
    model = table_model(folder / "m.model", rng.choice(LEARNERS), classes)
    words = ["--snapshot-rows", rng.choice([20, 100, 1000, 100_000])]
    load = _Load([_Stream(c, rng.randrange(2**32), classes) for c in range(rng.randrange(1, 5))])
    for _ in range(kills):
        if rng.random() < 0.2:
            process = launch_process(model, *words)
            time.sleep(3.0 * rng.random())
            end_process(process)
        process, port = start_process(model, *words)
        with load.running(port):
            time.sleep(rng.random() * rng.choice([0.05, 0.3, 1.0]))
            end_process(process, rng.choice([signal.SIGKILL] * 5 + [signal.SIGTERM]))
        if rng.random() < 0.5:
            tear(model.with_name("m.model.state"), rng)
        if load.faults:
            return load.faults[0]
    process, port = start_process(model, *words)
    try:
        client = Client(port)
        for stream in load.streams:
            stream.repeat(client)  # a retry of everything must change nothing
        learned = sorted((number, row) for stream in load.streams for number, row in stream.learned)
        if [number for number, _ in learned] != list(range(1, len(learned) + 1)):
            return f"{len(learned)} rows were acknowledged, with the numbers {[number for number, _ in learned]}"
        if client.get("/models/m")[1]["rows"] != len(learned):
            return f"the server has {client.get('/models/m')[1]['rows']} rows, and acknowledged {len(learned)}"
        found = differences(client.download(folder / "got.model"), learned_apart(model, [row for _, row in learned]))
        client.close()
        return f"after {len(learned)} rows these weights differ: {found}" if found else None
    finally:
        end_process(process, signal.SIGTERM)


def tear(folder: Path, rng: random.Random) -> None:
    """Append what a write that was torn may leave behind: some bytes of a frame, or bytes that were never written."""
    log = max(folder.glob("log-*"), default=None)
    if log is None:
        return
    head = log.read_bytes()[16:24]
    torn = rng.choice([head + rng.randbytes(rng.randrange(60)), bytes(rng.randrange(5000)), rng.randbytes(9)])
    with log.open("ab") as file:
        file.write(torn)


class _Stream:
    """The rows of one client, and the number of each row that was acknowledged."""

    def __init__(self, number, seed, classes):
        self._rng, self._classes, self._number = random.Random(seed), classes, number
        self._sent, self._open = [], []
        self.learned = []

    def step(self, client):
        """Send the rows that are not acknowledged yet, or else new ones."""
        if not self._open:
            rows = make_rows(self._rng.choice([1, 1, 2, 10, 50]), self._rng.random(), self._classes)
            self._open = [row | {"id": f"{self._number}-{len(self._sent) + i}"} for i, row in enumerate(rows)]
            self._sent += self._open
        lines = self._open
        if self._rng.random() < 0.3:  # the row first, then its label alone
            client.post("/predict", [{k: v for k, v in row.items() if k not in ("kind", "weight")} for row in lines])
            lines = [{k: v for k, v in row.items() if k not in ("a", "colour")} for row in lines]
        status, answers = client.post("/learn", lines)
        acknowledged, left = [], []
        for row, answer in zip(self._open, answers, strict=True):
            if "row" in answer:
                acknowledged.append((answer["row"], row))
            elif "is not remembered" in answer["error"]:
                left.append(row)
            else:
                raise AssertionError(f"status {status}: {answer}")
        self.learned += acknowledged
        self._open = left

    def repeat(self, client):
        """Have every row acknowledged, and repeat all of them: they must keep their numbers."""
        while self._open:
            self.step(client)
        if self._sent:
            numbers = {row["id"]: number for number, row in self.learned}
            again = client.learn(self._sent)
            assert again == [numbers[row["id"]] for row in self._sent]


class _Load:
    """Clients that teach a server at once, each in a thread, until it is gone."""

    def __init__(self, streams):
        self.streams, self.faults = streams, []

    def running(self, port):
        return _Running(self, port)


class _Running:
    def __init__(self, load, port):
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(load, stream, port)) for stream in load.streams]

    def _run(self, load, stream, port):
        client = Client(port, timeout=30)
        try:
            while not self._stop.is_set():
                stream.step(client)
        except (OSError, json.JSONDecodeError):
            pass  # the server is gone
        except Exception as fault:
            if "http.client" not in type(fault).__module__:
                load.faults.append(f"{type(fault).__name__}: {fault}")
        finally:
            client.close()

    def __enter__(self):
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()
