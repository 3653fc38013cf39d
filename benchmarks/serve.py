"""A server that learns, against the closest peers: ``vw --daemon``, and river behind FastAPI as its documentation shows it.

All run in a network of their own (``unshare``), where nothing but this benchmark can reach them: vw listens on every
address. Servers and client share the machine's cores. Ours has each row on the disk before it is acknowledged, the
peers keep rows in memory.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
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
        model.learn_one(row["x"], row["y"])
    return {"rows": len(rows)}

@app.post("/predict")
def predict(rows: list[dict]):
    return [model.predict_one(row["x"]) for row in rows]
"""
_PORTS = {"ours": 8101, "river": 8102, "vw": 8103}
_INSIDE = "--inside"
Send = Callable[[bool, list[dict[str, Any]]], None]


def serve(quick: bool) -> list[Figure]:
    """Return rows learned in a second, and how long predictions take meanwhile, as ratios to each peer."""
    if shutil.which("unshare") is None:
        return [Figure("a server against vw --daemon and river", "not measured: unshare is needed")]
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-m", "benchmarks.serve", _INSIDE]
    done = subprocess.run([*command, "1" if quick else "4"], stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    figures = []
    for what, unit in (("batches", "rows/s in batches of 100"), ("singly", "rows/s singly"), ("p50", "ms, p50"), ("p99", "ms, p99")):
        times = what.startswith("p")
        name = f"predict under learning load, {unit}" if times else f"learned, {unit}"
        shown = ", ".join(f"{server} {values[what]:,.{2 if times else 0}f}" for server, values in found.items())
        for peer in list(found)[1:]:
            one, other = found["ours"][what], found[peer][what]
            ratio = other / one if times else one / other
            figures.append(Figure(f"{name}: ours against {peer}", f"{ratio:.2f} times ({shown})", "> 1", ratio > 1))
    return figures or [Figure("a server against vw --daemon and river", "not measured: pip install 'rosenblatt[bench]' fastapi")]


# inside the network of its own


def _rows(n: int) -> list[dict[str, Any]]:
    rng = random.Random(0)
    rows = []
    for _ in range(n):
        x = {f"x{j}": round(rng.gauss(0, 1), 4) for j in range(10)} | {"colour": rng.choice("rgb"), "city": f"c{rng.randrange(50)}"}
        rows.append({"x": x, "y": x["x0"] + x["x1"] + (x["colour"] == "r") > 0.3})
    return rows


def _http(port: int, encode: Callable[[list[dict[str, Any]]], str], kind: str) -> Callable[[], Send]:
    def connect() -> Send:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

        def send(learning: bool, rows: list[dict[str, Any]]) -> None:
            connection.request("POST", "/learn" if learning else "/predict", encode(rows), {"Content-Type": kind})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"status {answer.status}: {body[:300]!r}")

        return send

    return connect


def _vw_line(row: dict[str, Any], learning: bool) -> str:
    words = [f"{name}:{value}" if isinstance(value, float) else f"{name}={value}" for name, value in row["x"].items()]
    return f"{(1 if row['y'] else -1) if learning else ''} | {' '.join(words)}\n"


def _vw() -> Send:
    connection = socket.create_connection(("127.0.0.1", _PORTS["vw"]), timeout=60)
    reader = connection.makefile("rb")

    def send(learning: bool, rows: list[dict[str, Any]]) -> None:
        connection.sendall("".join(_vw_line(row, learning) for row in rows).encode())
        for _ in rows:
            reader.readline()

    return send


@contextmanager
def _process(words: list[str], port: int) -> Any:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{words} did not start")
        time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait()


def _load(connect: Callable[[], Send], rows: list[dict[str, Any]], size: int, clients: int, seconds: float) -> list[float]:
    """Let clients learn rows for some seconds; return how many rows each has learned a second."""
    done = [0.0] * clients

    def run(k: int) -> None:
        send, i, begun = connect(), k * 997, time.perf_counter()
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


def _measure(connect: Callable[[], Send], rows: list[dict[str, Any]], seconds: float, clients: int) -> dict[str, float]:
    """Measure one server; vw learns from one connection at a time, so there is one client for it."""
    _load(connect, rows, 100, 1, 0.5)
    batches = sum(_load(connect, rows, 100, min(4, clients), seconds))
    singly = sum(_load(connect, rows, 1, clients, seconds))
    found = {"batches": batches, "singly": singly}
    if clients == 1:  # a prediction waits until the connection that learns is closed
        return found | {"p50": float("inf"), "p99": float("inf")}
    load = threading.Thread(target=_load, args=(connect, rows, 100, 3, seconds))
    load.start()
    send, times, begun = connect(), [], time.perf_counter()
    while time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        send(False, rows[:1])
        times.append(1e3 * (time.perf_counter() - start))
    load.join()
    times.sort()
    return found | {"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}


def _inside(seconds: float) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    rows = _rows(5000)
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
    from rosenblatt import Perceptron, data, save

    stream = data.open([row["x"] | {"y": "yes" if row["y"] else "no"} for row in rows[:1000]], "y", scale="standard")
    model = Perceptron(max_iter=1, hypothesis="average").fit_stream(stream)
    save(model, folder / "m.model")
    lines = _http(
        _PORTS["ours"],
        lambda rows: "\n".join(json.dumps(row["x"] | {"y": "yes" if row["y"] else "no"}) for row in rows),
        "application/x-ndjson",
    )
    servers: dict[str, tuple[list[str], Callable[[], Send], int]] = {
        "ours": ([sys.executable, "-m", "rosenblatt", "serve", str(folder / "m.model"), "--port", str(_PORTS["ours"])], lines, 8)
    }
    if importlib.util.find_spec("fastapi") and importlib.util.find_spec("river"):
        (folder / "river_app.py").write_text(_RIVER)
        words = [sys.executable, "-m", "uvicorn", "--app-dir", str(folder), "--log-level", "critical", "--port"]
        servers["river"] = [*words, str(_PORTS["river"]), "river_app:app"], _http(_PORTS["river"], json.dumps, "application/json"), 8
    if importlib.util.find_spec("vowpalwabbit"):
        words = [sys.executable, "-m", "vowpalwabbit", "--daemon", "--foreground", "--quiet", "--num_children", "1"]
        servers["vw"] = [*words, "--port", str(_PORTS["vw"]), "--loss_function", "hinge"], _vw, 1
    found: dict[str, dict[str, float]] = {}
    for _ in range(2):  # in turn, and the better of two
        for name, (words, connect, clients) in servers.items():
            with _process(words, _PORTS[name]):
                once = _measure(connect, rows, seconds, clients)
            for what, value in once.items():
                better = min if what.startswith("p") else max
                found.setdefault(name, once)[what] = better(found.get(name, once)[what], value)
    shutil.rmtree(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    _inside(float(sys.argv[sys.argv.index(_INSIDE) + 1]))
