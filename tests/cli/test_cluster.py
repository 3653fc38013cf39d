import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rosenblatt
from helpers.commands import command, ran, refused, written
from helpers.learned import different_entries
from rosenblatt.cli import train_cluster as clusters

distributed = pytest.importorskip("distributed")
PARTS = 3


@pytest.fixture(scope="module")
def address():
    """The address of a Dask cluster of two workers, in this process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options, dashboard_address="127.0.0.1:0", protocol="tcp") as cluster:
        yield cluster.scheduler_address


def tables(folder, kind, classes=2, rows=240):
    """Write a noisy table as several files of one format; return a pattern that names them."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, 3)) * [1.0, 40.0, 1.0]
    label = np.clip(
        np.digitize(X[:, 0] + X[:, 1] / 40 + rng.normal(size=rows) / 4, [0.0, 1.0, 2.0][: classes - 1]), 0, 9
    )
    colour = np.array(["red", "green", "blue"])[rng.integers(0, 3, rows)]
    for part, places in enumerate(np.array_split(np.arange(rows), PARTS)):
        columns = {name: X[places, k] for k, name in enumerate("abc")}
        table = pa.table({**columns, "colour": colour[places], "y": [f"k{label[place]}" for place in places]})
        if kind == "parquet":
            pq.write_table(table, folder / f"part-{part}.parquet")
        else:
            lines = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
            written(folder, f"part-{part}.csv", "\n".join(lines) + "\n")
    return str(folder / f"part-*.{kind}")


def trained(folder, *words):
    """Train as the words say; return the bytes of the model's file, and what the command printed."""
    result = ran("train", *words, "-o", folder / "m")
    return (folder / "m").read_bytes(), result


@pytest.mark.parametrize(
    ("kind", "classes", "words"),
    [
        ("csv", 2, "-l averaged --seed 5"),
        pytest.param("csv", 4, "-l perceptron", marks=pytest.mark.slow),
        pytest.param("parquet", 2, "-l perceptron --seed 5", marks=pytest.mark.slow),
        pytest.param("parquet", 4, "-l averaged", marks=pytest.mark.slow),
        pytest.param("csv", 3, "--class-weight balanced --early-stopping", marks=pytest.mark.slow),
        pytest.param("csv", 3, "--no-shuffle --no-bias", marks=pytest.mark.slow),
        pytest.param("csv", 2, "--class-weight k1=3 --threshold 0.5", marks=pytest.mark.slow),
    ],
)
def test_an_exact_model_is_that_of_one_machine(tmp_path, address, kind, classes, words):
    given = [tables(tmp_path, kind, classes), "-t", "y", "-p", "4", *words.split()]
    trained(tmp_path, *given)
    alone = (tmp_path / "m").rename(tmp_path / "alone")
    _, result = trained(tmp_path, *given, "--cluster", "dask", "--address", address)
    assert different_entries(alone, tmp_path / "m") == []
    assert "Trained on a Dask cluster: 2 workers, 3 shards, mode exact." in result.stdout


@pytest.mark.slow
def test_rows_that_workers_leave_out_or_fill_are_counted(tmp_path, address):
    for part, text in enumerate(["a,b,y\n1,2,p\n-1,,q\n", "a,b,y\n2,1,p\n3\n-2,-1,q\n", "a,b,y\n1,?,p\n-3,-1,q\n"]):
        written(tmp_path, f"part-{part}.csv", text)
    words = [tmp_path / "part-*.csv", "-t", "y", "--on-error", "skip"]
    alone, here = trained(tmp_path, *words)
    model, there = trained(tmp_path, *words, "--cluster", "dask", "--address", address)
    assert model == alone
    notes = [line for line in here.stderr.splitlines() if "rows skipped: 1" in line or "b (2)" in line]
    assert len(notes) == 2
    assert set(notes) <= set(there.stderr.splitlines())


@pytest.mark.slow
def test_columns_that_only_a_later_file_has_are_those_of_the_model(tmp_path, address):
    written(tmp_path, "part-0.svm", "+1 1:1 2:1\n-1 1:-1\n")
    written(tmp_path, "part-1.svm", "+1 1:2 9:1\n-1 1:-2 9:1\n")
    words = [tmp_path / "part-*.svm"]
    alone, _ = trained(tmp_path, *words)
    model, _ = trained(tmp_path, *words, "--cluster", "dask", "--address", address)
    assert model == alone
    assert command("test", tmp_path / "m", tmp_path / "part-0.svm").exit_code == 0


@pytest.mark.slow
def test_words_that_workers_have_hashed_have_names(tmp_path, address):
    for part, text in enumerate(["good day sir,p\nbad weather today,q\n", "a good idea,p\nsuch bad luck,q\n"]):
        written(tmp_path, f"part-{part}.csv", f"text,y\n{text}")
    words = [tmp_path / "part-*.csv", "-t", "y", "--names", "--kind", "text=text", "--bits", "8"]
    alone, _ = trained(tmp_path, *words)
    assert trained(tmp_path, *words, "--cluster", "dask", "--address", address)[0] == alone


@pytest.mark.slow
def test_mixing_is_that_of_the_library(tmp_path, address):
    pattern = tables(tmp_path, "parquet")
    words = [pattern, "-t", "y", "-p", "5", "--scale", "none", "--cluster", "dask", "--address", address, "--json"]
    _, result = trained(tmp_path, *words, "--mode", "mix", "--shards", "2")
    with distributed.Client(address) as client:
        twin = rosenblatt.distributed.DaskAveragedPerceptron(
            max_iter=5, random_state=0, multi_class="direct", mode="mix", n_shards=2, client=client
        ).fit_files(pattern, target="y")
    answer = json.loads(result.stdout)
    assert answer["cluster"] == {"kind": "dask", "mode": "mix", "workers": 2, "shards": 2}
    assert answer["mistakes_by_pass"] == list(twin.report_.mistakes_by_pass)
    assert np.array_equal(rosenblatt.load(tmp_path / "m").coef_, twin.coef_)
    assert "round 5 of at most 5: " in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "more"), [("exact", []), ("mix", ["--early-stopping"])])
def test_a_run_goes_on_from_its_checkpoint(tmp_path, address, mode, more):
    words = [tables(tmp_path, "csv", 3), "-t", "y", "-p", "4", "--cluster", "dask", "--address", address]
    words += ["--mode", mode, *more]
    whole, _ = trained(tmp_path, *words)
    words += ["--checkpoint", tmp_path / "c", "--every", "0s"]
    assert trained(tmp_path, *words)[0] == whole
    model, result = trained(tmp_path, *words, "--resume")
    assert model == whole
    assert "resuming from" in result.stderr


@pytest.mark.slow
def test_each_pass_is_a_line_where_there_is_no_terminal(tmp_path, address):
    words = [tables(tmp_path, "csv"), "-t", "y", "-p", "3", "--cluster", "dask", "--address", address, "--json"]
    _, result = trained(tmp_path, *words)
    mistakes = json.loads(result.stdout)["mistakes_by_pass"]
    assert f"Dask cluster at {address}: 2 workers, 240 rows in 3 shards." in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("pass ")]
    for number, (line, count) in enumerate(zip(lines, mistakes, strict=True), 1):
        assert line.startswith(f"pass {number} of at most 3: {count} mistake")
        assert line.endswith(" rows/s, 2 workers")


def started(*words):
    """Start the command in a process and a group of its own."""
    arguments = [sys.executable, "-m", "rosenblatt", "train", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen(arguments, **pipes)


def living(session, seconds=20.0):
    """Return the processes of a session that have not ended by themselves within some seconds."""
    until = time.monotonic() + seconds
    while True:
        listed = subprocess.run(
            ["ps", "-s", str(session), "-o", "stat=,args="], capture_output=True, text=True, check=False
        )
        left = [line for line in listed.stdout.splitlines() if not line.startswith("Z")]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_cluster_is_started_and_closed_with_the_run(tmp_path, kind):
    pytest.importorskip(kind)
    words = [tables(tmp_path, "csv", 4), "-t", "y", "-p", "3"]
    alone, _ = trained(tmp_path, *words)
    with started(*words, "--cluster", kind, "-o", tmp_path / "there") as process:
        _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert (tmp_path / "there").read_bytes() == alone
    assert "240 rows in 3 shards." in errors
    assert not living(process.pid)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Ray watches memory on Linux only")
def test_ray_workers_that_need_too_much_memory_are_an_error(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.01")  # so every worker uses too much
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "50")
    with started(tables(tmp_path, "csv", 4), "-t", "y", "--cluster", "ray") as process:
        _, errors = process.communicate()
    assert process.returncode == 2, errors
    assert "lost 10 times in a row (OutOfMemoryError: " in errors
    assert "they may not fit into the memory of a worker." in errors
    assert not living(process.pid)


OWN_NETWORK = ["unshare", "--map-root-user", "--net", "sh", "-c"]
SECOND_ADDRESS = "ip link set lo up && ip addr add 192.0.2.1/24 dev lo && ip route add default dev lo src 192.0.2.1"
LISTENING = "0A"


def listeners(pid):
    """Return the addresses on which processes in the network of process ``pid`` listen; none in that of the tests."""
    found = set()
    if os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        return found
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == LISTENING:
                text, port = local.split(":")
                words = [bytes.fromhex(text[k : k + 8])[::-1] for k in range(0, len(text), 8)]
                address = ip_address(b"".join(words))
                found.add((getattr(address, "ipv4_mapped", None) or address, int(port, 16)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_cluster_of_this_machine_listens_to_no_other(tmp_path, kind):
    pytest.importorskip(kind)
    if shutil.which("unshare") is None or subprocess.run([*OWN_NETWORK, SECOND_ADDRESS], check=False).returncode:
        pytest.skip("network namespaces are not allowed here")
    words = [tables(tmp_path, "csv"), "-t", "y", "-p", "3", "--cluster", kind, "-o", str(tmp_path / "m")]
    there = [*OWN_NETWORK, f'{SECOND_ADDRESS} && exec "$@"', "sh", sys.executable, "-m", "rosenblatt", "train", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    seen = set()
    with subprocess.Popen(there, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            with suppress(OSError):  # it has just ended
                seen |= listeners(process.pid)
            time.sleep(0.02)
        errors = process.stderr.read()
    assert process.returncode == 0, errors
    assert len(seen) > 3, "its parts talk to each other"
    assert {address for address, _ in seen if not address.is_loopback} == set()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups of processes")
def test_ctrl_c_keeps_what_was_learned_and_closes_the_cluster(tmp_path):
    words = [tables(tmp_path, "csv"), "-t", "y", "-p", "100000", "--cluster", "dask", "-o", tmp_path / "m", "--json"]
    with started(*words) as process:
        for line in process.stderr:
            if line.startswith("pass 2 "):
                break
        os.killpg(process.pid, signal.SIGINT)
        printed, errors = process.communicate()
    assert process.returncode == 130, errors
    answer = json.loads(printed)
    assert answer["interrupted"]
    assert answer["mistakes_by_pass"] == list(rosenblatt.load(tmp_path / "m").report_.mistakes_by_pass)
    assert not living(process.pid)


def test_standard_input_has_no_name_that_workers_could_read(tmp_path):
    assert "workers open files by name" in refused(
        "train", "-", "-t", "y", "--cluster", "dask", input="a,y\n1,p\n-1,q\n"
    )


@pytest.mark.parametrize(("kind", "place"), [("dask", "tcp://127.0.0.1:9"), ("ray", "127.0.0.1:9")])
def test_a_cluster_that_does_not_answer_is_one_sentence(tmp_path, monkeypatch, kind, place):
    pytest.importorskip(kind)
    monkeypatch.setattr(clusters, "_CONNECT_SECONDS", 0.5)
    said = refused("train", tables(tmp_path, "csv"), "-t", "y", "--cluster", kind, "--address", place)
    assert f"cannot connect to a {kind.title()} cluster at {place}" in said
    assert "check its address, and that it is running" in said


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "distributed" if kind == "dask" else "ray", None)
    assert f"pip install 'rosenblatt[{kind}]'" in refused(
        "train", tables(tmp_path, "csv"), "-t", "y", "--cluster", kind
    )
