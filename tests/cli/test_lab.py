"""``rosenblatt lab`` as a process: one line with the address, answers, and an end without a trace."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from helpers.commands import command, ran, refused, written
from helpers.lab_server import Client
from rosenblatt.lab.state import LabState

POINTS = "x,y,label\n1,1,b\n2,0,b\n-1,0,a\n0,-2,a\n,1,a\n"


@contextmanager
def lab(*words):
    """Start the command in a process; the value is the process and a client for the address that it printed."""
    words = [sys.executable, "-m", "rosenblatt", "lab", "--no-browser", *map(str, words)]
    environment = os.environ | {"PYTHONUNBUFFERED": ""}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/[A-Za-z0-9_-]{20,}/\n", line), line + process.stderr.read()
        client = Client(line.strip())
        try:
            yield process, client
        finally:
            client.connection.close()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize("ending", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_it_prints_one_line_answers_and_stops(tmp_path, ending):
    with lab(written(tmp_path, "points.csv", POINTS)) as (process, client):
        status, answer = client.ask("start", {})
        assert status == 200, answer
        state = LabState.from_plain(answer["state"])
        assert state.points == (
            (1.0, 1.0, 1, False),
            (2.0, 0.0, 1, False),
            (-1.0, 0.0, -1, False),
            (0.0, -2.0, -1, False),
        )
        assert client.request("GET", "/")[0] == 403
        status, run = client.ask("run", answer["state"])
        assert status == 200, run
        assert run["converged"]
        assert run["theory"]["verdict"]["kind"] == "separable"
        process.send_signal(ending)
        assert process.wait(60) == 0
        assert process.stdout.read() == ""
        said = " ".join(process.stderr.read().split())
        marks = "Class a is drawn as orange triangles, class b as blue discs."
        assert said == f"Note: 1 row with missing values was left out. {marks} The lab is closed."


@pytest.mark.slow
def test_ctrl_c_ends_it_while_questions_are_answered():
    points = [[(i * 37 % 101) / 10, (i * 53 % 97) / 10, 1 if i * 7 % 3 else -1] for i in range(1000)]
    hard = {"version": 1, "points": points, "passes": 10_000, "updates": 2000, "learner": "voted"}
    with lab() as (process, client):
        others = [Client(client.origin + client.path) for _ in range(6)]
        for other in others:
            headers = {"Content-Type": "application/json"}
            other.connection.request("POST", client.path + "run", json.dumps(hard), headers)
        assert client.get()[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stdout.read() == ""
        assert process.stderr.read() == "The lab is closed.\n"
        for other in others:
            other.connection.close()


@pytest.mark.slow
def test_a_port_that_is_taken_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = command("lab", "--no-browser", "--port", port)
    assert result.exit_code == 2
    assert result.stderr == f"Error: port {port} is taken by another program: leave --port out for a free one.\n"


def test_bad_use_is_one_sentence():
    for words, part in {
        "none.csv": "There is no file none.csv",
        "rows.parquet": "must end in .csv",
        "http://127.0.0.1:1/x/": "no state after a #",
        "--port 70000": "--port must be an integer from 0 to 65535",
        "--export .": "is not a regular file, so it cannot be written",
        "--export no/such/run.html": "There is no folder",
    }.items():
        assert part in refused("lab", "--no-browser", *words.split())


def test_the_table_that_is_read_is_not_written(tmp_path):
    path = written(tmp_path, "points.csv", POINTS)
    result = command("lab", path, "--export", path)
    assert (result.exit_code, path.read_text()) == (2, POINTS)


def test_without_the_packages_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] in ("uvicorn", "starlette")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'rosenblatt[lab]'" in refused("lab", "--no-browser")


@pytest.mark.slow
def test_export_writes_one_file(tmp_path):
    path, out = written(tmp_path, "points.csv", POINTS), tmp_path / "run.html"
    result = ran("lab", path, "--export", out)
    assert result.stdout.split()[:4] == ["Run", "written", "to", f"{out}:"]
    html = out.read_text(encoding="utf-8")
    found = json.loads(re.search(r'id="recording">(.*?)</script>', html, re.DOTALL)[1])
    assert found["answers"]["run"]["converged"]
    assert {"start", "run", "errors"} < set(found["answers"])
    address = "http://127.0.0.1:1/x/#" + LabState.from_plain(found["state"]).to_fragment()
    assert command("lab", address, "--export", tmp_path / "again.html").exit_code == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html
