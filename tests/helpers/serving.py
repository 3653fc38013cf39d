"""Servers for tests, in this process or another one, and a client for them. They listen on 127.0.0.1 alone."""

import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import AveragedPerceptron, data, load, save
from rosenblatt.serving.launch import listening, make_server
from rosenblatt.serving.limits import Limits
from rosenblatt.serving.served import Service

LINES = {"Content-Type": "application/x-ndjson"}
WEIGHTS = ("last_coef_", "average_coef_", "last_intercept_", "average_intercept_")


def make_rows(n, seed=0, classes=("ham", "spam")):
    """Return rows of a table with a number, a category, a label, and sometimes a weight."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        a, colour = round(rng.gauss(0.0, 1.0), 3), rng.choice("rgb")
        place = a + (colour == "r") + rng.gauss(0.0, 0.4)
        rows.append(
            {"a": a, "colour": colour, "kind": classes[sum(place > cut for cut in np.arange(1, len(classes)) - 0.7)]}
        )
        if rng.random() < 0.1:
            rows[-1]["weight"] = rng.choice([0.5, 2.0])
    return rows


def table_model(path, learner=AveragedPerceptron, classes=("ham", "spam"), **options):
    """Train a model on a table, save it, and return its path."""
    rows = [{name: row[name] for name in ("a", "colour", "kind")} for row in make_rows(60, 7, classes)]
    stream = data.open(rows, "kind")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        save(learner(**{"max_iter": 2, "random_state": 0} | options).fit_stream(stream), path)
    return path


def learned_apart(model, rows):
    """Return the model in a file after ``partial_fit`` on rows, as a server that learned them should have it."""
    weights = [row.get("weight", 1.0) for row in rows]
    plain = [{name: value for name, value in row.items() if name not in ("id", "weight")} for row in rows]
    found = load(model)
    return found.partial_fit(plain, sample_weight=weights) if rows else found


def differences(one, other):
    """Return the names of the weights in which two models differ in any bit."""
    return [name for name in WEIGHTS if not np.array_equal(getattr(one, name), getattr(other, name))]


class Client:
    """A connection to a server, which is opened again if the server closes it."""

    def __init__(self, port, timeout=60):
        self.port, self._timeout = port, timeout
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def request(self, method, path, body=None, headers=None):
        """Return the status and the body of the response."""
        try:
            self._connection.request(method, path, body, headers or {})
            response = self._connection.getresponse()
            return response.status, response.read()
        except BaseException:
            self._connection.close()
            raise

    def get(self, path, **headers):
        """Return the status and the JSON of a response."""
        status, body = self.request("GET", path, headers=headers)
        return status, json.loads(body)

    def post(self, path, rows, **headers):
        """Send rows as JSON lines; return the status and the objects in the lines of the response."""
        body = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
        status, answer = self.request("POST", path, body, LINES | headers)
        return status, [json.loads(line) for line in answer.splitlines()]

    def learn(self, rows):
        """Let the server learn rows; all must be acknowledged. Return their numbers."""
        status, answers = self.post("/learn", rows)
        assert status == 200, answers
        return [answer["row"] for answer in answers]

    def download(self, path):
        """Write the model to a file, and load it."""
        status, body = self.request("GET", "/model")
        assert status == 200, body
        path.write_bytes(body)
        return load(path)

    def close(self):
        """Close the connection."""
        self._connection.close()


@contextmanager
def serving(*models, state=None, read_only=False, token="", limits=None, **options):
    """Serve models in a thread; the value is a client."""
    limits = limits or Limits()
    services = {}
    for model in models:
        folder = None if read_only else (state or model.with_name(f"{model.name}.state"))
        services[model.stem] = Service(model, folder, limits, **options)
    with warnings.catch_warnings(), listening("127.0.0.1", 0) as listener:
        warnings.simplefilter("ignore")  # as the command does
        started = threading.Event()
        server = make_server(listener, services, limits, token, lambda address: started.set())
        for service in services.values():
            service.start()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert started.wait(60)
        client = Client(listener.getsockname()[1])
        client.services = services
        try:
            yield client
        finally:
            client.close()
            server.should_exit = True
            thread.join(60)
            for service in services.values():
                service.stop()
            assert not thread.is_alive()


def launch_process(model, *words):
    """Start ``rosenblatt serve`` on a free port, and return the process at once."""
    command = [sys.executable, "-m", "rosenblatt", "serve", str(model), "--port", "0", *map(str, words)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def start_process(model, *words):
    """Start ``rosenblatt serve``; return the process and its port once it answers."""
    process = launch_process(model, *words)
    lines = []
    for line in process.stdout:
        match = re.search(r"at http://127\.0\.0\.1:([0-9]+);", line)
        if match is not None:
            return process, int(match[1])
        lines.append(line)
    end_process(process)
    raise AssertionError(f"the server did not start: {''.join(lines)}")


def end_process(process, ending=signal.SIGKILL):
    """Send a signal to a server, and return its status when it has ended."""
    process.send_signal(ending)
    try:
        return process.wait(60)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def soon(condition, seconds=20.0):
    """Wait until a condition holds; return whether it does in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
