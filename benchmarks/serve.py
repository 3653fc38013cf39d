"""A server that learns, against river behind FastAPI, as river's and FastAPI's pages show it.

Both listen on 127.0.0.1, and share the machine's cores with their clients. Ours has each row on the disk before it is
acknowledged; the other one keeps rows in memory. (vw's daemon listens on every address, and the one that pip installs
reads no rows.)
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure

_RIVER = """
from fastapi import FastAPI
from river import compose, linear_model, preprocessing
app = FastAPI()
numbers = compose.SelectType(float, int) | preprocessing.StandardScaler()
words = compose.SelectType(str) | preprocessing.OneHotEncoder()
model = (numbers + words) | linear_model.Perceptron()

@app.post("/learn")
def learn(rows: list[dict]):
    for row in rows:
        model.learn_one(row["x"], row["y"] == "yes")
    return {"rows": len(rows)}

@app.post("/predict")
def predict(rows: list[dict]):
    return [model.predict_one(row["x"]) for row in rows]
"""
Send = Callable[[bool, list[dict[str, Any]]], None]
Connect = Callable[[], AbstractContextManager[Send]]
_CLIENTS = 8
_ROUNDS = 3


def serve(quick: bool) -> list[Figure]:
    """Return rows learned in a second, and how long predictions take meanwhile, as ratios."""
    if not (importlib.util.find_spec("fastapi") and importlib.util.find_spec("river")):
        return [Figure("a server against river behind FastAPI", "not measured: pip install fastapi river")]
    folder, rows = Path(tempfile.mkdtemp()), _rows(5000)
    seconds = 1.0 if quick else 4.0
    found: dict[str, list[dict[str, float]]] = {"ours": [], "river": []}
    try:
        for _ in range(1 if quick else _ROUNDS):  # in turn, and the best of the rounds
            for name, server in (("ours", _ours), ("river", _river)):
                with server(folder, rows) as connect:
                    found[name].append(_measure(connect, rows, seconds))
    finally:
        shutil.rmtree(folder)
    figures = []
    for what, name, best in (
        ("batches", "rows learned a second, in batches of 100", max),
        ("singly", "rows learned a second, singly", max),
        ("p50", "ms of a prediction meanwhile, p50", min),
        ("p99", "ms of a prediction meanwhile, p99", min),
    ):
        ours, peer = (best(once[what] for once in found[server]) for server in found)
        ratio = ours / peer if best is max else peer / ours
        shown = f"{ratio:.2f} times as good (ours {ours:,.2f}, river {peer:,.2f})"
        figures.append(Figure(f"serve: {name}", shown, "> 1", ratio > 1))
    return figures


def _rows(n: int) -> list[dict[str, Any]]:
    rng = random.Random(0)
    rows = []
    for _ in range(n):
        x: dict[str, Any] = {f"x{j}": round(rng.gauss(0, 1), 4) for j in range(10)}
        x |= {"colour": rng.choice("rgb"), "city": f"c{rng.randrange(50)}"}
        rows.append({"x": x, "y": "yes" if x["x0"] + x["x1"] + (x["colour"] == "r") > 0.3 else "no"})
    return rows


def _http(port: int, encode: Callable[[list[dict[str, Any]]], str], kind: str) -> Connect:
    @contextmanager
    def connect() -> Iterator[Send]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

        def send(learning: bool, rows: list[dict[str, Any]]) -> None:
            connection.request("POST", "/learn" if learning else "/predict", encode(rows), {"Content-Type": kind})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"status {answer.status}: {body[:300]!r}")

        with closing(connection):
            yield send

    return connect


@contextmanager
def _process(words: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{words} did not start")
        yield
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _ours(folder: Path, rows: list[dict[str, Any]]) -> Iterator[Connect]:
    from rosenblatt import Perceptron, data, save

    model, port = folder / "m.model", _free_port()
    if not model.exists():
        stream = data.open([row["x"] | {"y": row["y"]} for row in rows[:1000]], "y", scale="standard")
        save(Perceptron(max_iter=1, hypothesis="average").fit_stream(stream), model)

    def encode(rows: list[dict[str, Any]]) -> str:
        return "\n".join(json.dumps(row["x"] | {"y": row["y"]}) for row in rows)

    with _process([sys.executable, "-m", "rosenblatt", "serve", str(model), "--port", str(port)], port):
        yield _http(port, encode, "application/x-ndjson")


@contextmanager
def _river(folder: Path, rows: list[dict[str, Any]]) -> Iterator[Connect]:
    (folder / "river_app.py").write_text(_RIVER)
    port = _free_port()
    words = [sys.executable, "-m", "uvicorn", "--app-dir", str(folder), "--log-level", "critical", "--http", "h11"]
    with _process([*words, "--port", str(port), "river_app:app"], port):
        yield _http(port, json.dumps, "application/json")


def _load(connect: Connect, rows: list[dict[str, Any]], size: int, clients: int, seconds: float) -> list[float]:
    """Let clients learn rows for some seconds; return how many rows each has learned a second."""
    done = [0.0] * clients

    def run(k: int) -> None:
        with connect() as send:
            i, begun = k * 997, time.perf_counter()
            while time.perf_counter() - begun < seconds:
                start = i % (len(rows) - size)
                send(True, rows[start : start + size])
                i += size
                done[k] += size
            done[k] /= time.perf_counter() - begun

    threads = [threading.Thread(target=run, args=(k,)) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def _measure(connect: Connect, rows: list[dict[str, Any]], seconds: float) -> dict[str, float]:
    """Measure one server."""
    _load(connect, rows, 100, 1, 0.5)
    batches = sum(_load(connect, rows, 100, _CLIENTS // 2, seconds))
    singly = sum(_load(connect, rows, 1, _CLIENTS, seconds))
    load = threading.Thread(target=_load, args=(connect, rows, 100, _CLIENTS // 2, seconds))
    load.start()
    with connect() as send:
        times, begun = [], time.perf_counter()
        while time.perf_counter() - begun < seconds:
            start = time.perf_counter()
            send(False, rows[:1])
            times.append(1e3 * (time.perf_counter() - start))
    load.join()
    times.sort()
    return {"batches": batches, "singly": singly, "p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}
