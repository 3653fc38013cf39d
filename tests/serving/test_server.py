"""The server over HTTP: what it answers, refuses and keeps."""

import errno
import json
import os
import socket
import threading
import time
from unittest import mock

import numpy as np
import pytest

from helpers.serving import differences, learned_apart, make_rows, serving, soon, table_model
from rosenblatt import AROW, KernelPerceptron, Perceptron, RescaledPerceptron, calibrated, load, save
from rosenblatt.serving.launch import check_address
from rosenblatt.serving.limits import Limits
from rosenblatt.serving.served import Service

ROW = {"a": 1.5, "colour": "r"}


@pytest.fixture
def model(tmp_path):
    return table_model(tmp_path / "m.model")


def with_ids(rows, start=0):
    return [row | {"id": start + i} for i, row in enumerate(rows)]


# learning and predicting


def test_rows_are_learned_in_order_and_predicted_by_what_was_learned(model, tmp_path):
    rows = make_rows(150)
    with serving(model) as client:
        assert client.learn(rows[:1]) == [1]
        assert client.learn(rows[1:100]) == list(range(2, 101))
        assert client.learn(rows[100:]) == list(range(101, 151))
        expected = learned_apart(model, rows)
        assert not differences(client.download(tmp_path / "got.model"), expected)
        new = make_rows(30, 1)
        labels = expected.predict([{name: row[name] for name in ("a", "colour")} for row in new]).tolist()
        assert soon(lambda: [answer["label"] for answer in client.post("/predict", new)[1]] == labels, 1.0)
        scores = [answer["score"] for answer in client.post("/models/m/predict", new)[1]]
        assert np.allclose(scores, expected.decision_function([{k: r[k] for k in ("a", "colour")} for r in new]))
        _, about = client.get("/")
        assert about["models"]["m"]["rows"] == 150
    assert not differences(load(model), learned_apart(model, []))  # the model itself is never written


def test_what_was_learned_is_there_after_a_stop_and_after_a_crash(model, tmp_path):
    rows = make_rows(120)
    with serving(model) as client:
        client.learn(rows[:50])
    with serving(model) as client:
        assert client.services["m"].replayed == 0  # all of it was in the snapshot
        assert client.learn(rows[50:90]) == list(range(51, 91))
        with mock.patch.object(client.services["m"].learner, "_end", client.services["m"].learner.folder.close):
            client.learn(rows[90:100])
            client.services["m"].stop()  # without a snapshot
    with serving(model) as client:
        assert client.services["m"].replayed == 50
        client.learn(rows[100:])
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))


def test_a_retry_is_learned_once_also_after_a_restart(model, tmp_path):
    rows = with_ids(make_rows(60))
    with serving(model) as client:
        numbers = client.learn(rows)
        status, answers = client.post("/learn", [rows[7], rows[7] | {"kind": "ham"}, rows[8]])
        assert status == 200
        assert [answer["row"] for answer in answers] == [numbers[7], numbers[7], numbers[8]]
        assert all(answer["already"] for answer in answers)
        new = make_rows(1, 2)[0] | {"id": "new"}
        assert client.learn([new, new, new]) == [61, 61, 61]
    with serving(model) as client:
        assert client.learn([rows[3], new]) == [4, 61]
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, [*rows, new]))


def test_a_label_may_come_later_by_the_id_of_a_prediction(model, tmp_path):
    rows = make_rows(40)
    with serving(model) as client:
        client.post("/predict", with_ids([{k: row[k] for k in ("a", "colour")} for row in rows]))
        for i in range(20):
            assert client.learn([{"id": i, "kind": rows[i]["kind"], "weight": 2.0}]) == [i + 1]
        assert client.learn([{"id": 3, "kind": rows[3]["kind"]}]) == [4]
        assert soon(lambda: not client.services["m"].memory.has_unlogged)
    with serving(model) as client:
        late = [{"id": i, "kind": rows[i]["kind"]} for i in range(20, 40)]
        assert client.learn(late) == list(range(21, 41))
        status, answers = client.post("/learn", [{"id": 77, "kind": "ham"}])
        assert status == 400
        assert "send the row again with its label" in answers[0]["error"]
        twice = [row | {"weight": 2.0} for row in rows[:20]]
        once = [{**row, "weight": 1.0} for row in rows[20:]]
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, twice + once))


def test_bad_rows_get_a_sentence_each_and_cost_the_others_nothing(model, tmp_path):
    good = make_rows(5)
    bad = [
        "{",
        "[1, 2]",
        "null",
        '{"a": NaN, "colour": "r", "kind": "ham"}',
        '{"a": 1, "colour": "r"}',
        '{"a": "much", "colour": "r", "kind": "ham"}',
        '{"colour": "r", "kind": "ham"}',
        '{"a": 1, "colour": "r", "kind": "other"}',
        '{"a": 1, "colour": "r", "kind": ["ham"]}',
        '{"a": 1, "colour": "r", "kind": "ham", "weight": -1}',
        '{"a": 1, "colour": "r", "kind": "ham", "weight": true}',
        '{"a": 1, "colour": "r", "kind": "ham", "weight": ' + "9" * 400 + "}",
        '{"a": 1, "colour": "r", "kind": "ham", "id": 1.5}',
        '{"a": 1, "colour": {"r": 1}, "kind": "ham"}',
        '{"a": 1e999, "colour": "r", "kind": "ham"}',
        '{"a": 1, "colour": "r", "kind": "\\ud800"}',
        "[" * 100_000,
        '{"a": ' + "9" * 10_000 + ', "colour": "r", "kind": "ham"}',
    ]
    mixed = [row for pair in zip(bad, [*good, *["{"] * (len(bad) - len(good))], strict=True) for row in pair]
    with serving(model) as client:
        status, answers = client.post("/learn", mixed)
        assert status == 200
        assert [answer["row"] for answer in answers if "row" in answer] == [1, 2, 3, 4, 5]
        for answer in answers[::2]:
            assert answer["error"].endswith(".")
            assert "Traceback" not in answer["error"]
            assert len(answer["error"]) < 1000
        assert client.post("/learn", bad)[0] == 400
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, good))
        status, answers = client.post("/predict", [ROW, "{", ROW])
        assert (status, "error" in answers[1], answers[0] == answers[2]) == (200, True, True)


def test_rows_that_cannot_be_learned_are_found_among_others(tmp_path):
    model = table_model(tmp_path / "m.model", AROW)
    rows = make_rows(20)
    bad = {"a": 1e300, "colour": "r", "kind": "ham"}
    with serving(model) as client:
        client.learn(rows[:4])
        status, answers = client.post("/learn", [*rows[4:10], bad, *rows[10:], bad])
        assert status == 200
        assert ["error" in answer for answer in answers] == [False] * 6 + [True] + [False] * 10 + [True]
        assert "overflow" in answers[6]["error"]
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))


def test_new_classes_join_if_they_may(model):
    rows = make_rows(10)
    with serving(model, limits=Limits(classes=3)) as client:
        status, answers = client.post(
            "/learn", [row | {"kind": kind} for row, kind in zip(rows, "abababab..", strict=True)]
        )
        assert status == 200
        assert ["error" in answer for answer in answers] == [kind != "a" for kind in "abababab.."]
        assert soon(lambda: client.get("/models/m")[1]["classes"] == ["a", "ham", "spam"])
        assert set(client.post("/predict", [ROW])[1][0]["scores"]) == {"a", "ham", "spam"}


def test_a_model_that_learned_by_name_gets_new_columns(tmp_path):
    first = Perceptron().learn_one({"free": 1}, "spam").learn_one({"hello": 1}, "ham")
    save(first, tmp_path / "m.model")
    words = [({"free": 2, "money": 1}, "spam"), ({"hello": 1, "lang": "de"}, "ham"), ({"money": 3}, "ham")] * 5
    rows = [x | {"label": y} for x, y in words]
    expected = load(tmp_path / "m.model")
    for x, y in words:
        expected.learn_one(x, y)
    for part in (rows[:7], rows[7:]):
        with serving(tmp_path / "m.model", limits=Limits(names=4)) as client:
            client.learn(part)
            got = client.download(tmp_path / "got.model")
    assert got.feature_names_in_.tolist() == ["free", "hello", "money", "lang=de"]
    assert not differences(got, expected)
    with serving(tmp_path / "m.model", limits=Limits(names=4)) as client:
        status, answers = client.post("/learn", [{"fifth": 1, "label": "ham"}])
        assert status == 400
        assert "--max-names" in answers[0]["error"]
        assert client.post("/predict", [{"fifth": 1, "money": 1}])[1][0]["label"] == expected.predict_one({"money": 1})


def test_columns_without_names_are_x0_x1(tmp_path):
    X, y = [[1.0, 0.0], [0.0, 1.0]], [1, 0]
    save(KernelPerceptron(gamma=1.0).partial_fit(X, y), tmp_path / "m.model")
    with serving(tmp_path / "m.model") as client:
        assert client.learn([{"x0": 2.0, "label": 0}, {"x1": 3, "label": 1}]) == [1, 2]
        expected = KernelPerceptron(gamma=1.0).partial_fit(X, y).partial_fit([[2.0, 0.0], [0.0, 3.0]], [0, 1])
        got = client.download(tmp_path / "got.model")
        assert np.array_equal(got.decision_function([[1.0, 2.0]]), expected.decision_function([[1.0, 2.0]]))
        tensor = {"name": "rows", "shape": [1, 2], "datatype": "FP64", "data": [1.0, 2.0]}
        status, body = client.request("POST", "/v2/models/m/infer", json.dumps({"inputs": [tensor]}))
        assert (status, json.loads(body)["outputs"][0]["data"]) == (200, got.predict([[1.0, 2.0]]).tolist())


def test_a_calibration_is_kept_and_its_age_is_told(model, tmp_path):
    found = load(model)
    rows = make_rows(80, 3)
    save(calibrated(found, [{k: row[k] for k in ("a", "colour", "kind")} for row in rows]), tmp_path / "c.model")
    with serving(tmp_path / "c.model") as client:
        answer = client.post("/predict", [ROW])[1][0]
        assert list(answer["probabilities"].values()) == load(tmp_path / "c.model").predict_proba([ROW])[0].tolist()
        client.learn(rows[:9])
        assert soon(lambda: client.post("/predict", [ROW])[1][0].get("calibration_predates") == 9)
        got = client.download(tmp_path / "got.model")
        assert got.predict_proba([ROW])[0].tolist() == list(
            client.post("/predict", [ROW])[1][0]["probabilities"].values()
        )


def test_several_models_have_paths_of_their_own(model, tmp_path):
    other = table_model(tmp_path / "other.model", classes=("x", "y", "z"))
    with serving(model, other, state=None) as client:
        assert client.post("/models/other/predict", [ROW])[1][0]["label"] in "xyz"
        status, answer = client.post("/predict", [ROW])
        assert status == 404
        assert "/models/m and /models/other" in answer[0]["error"]
        assert client.post("/models/none/predict", [ROW])[0] == 404


def test_read_only_predicts_and_keeps_no_state(model, tmp_path):
    with serving(model, read_only=True) as client:
        assert client.post("/predict", [ROW])[0] == 200
        status, answer = client.post("/learn", make_rows(1))
        assert status == 403
        assert "--read-only" in answer[0]["error"]
        assert not differences(client.download(tmp_path / "got.model"), load(model))
    assert not (tmp_path / "m.model.state").exists()


# the state folder


def test_snapshots_bound_the_log_and_old_files_go(model, tmp_path):
    rows = make_rows(200)
    with serving(model, snapshot_rows=50) as client:
        for start in range(0, 200, 10):
            client.learn(rows[start : start + 10])
            time.sleep(0.02)
        service = client.services["m"]
        assert soon(lambda: not service.learner._writer.is_alive())
        assert service.metrics.snapshots >= 2
        assert service.learner.rows_in_log < 120
        names = sorted(path.name for path in (tmp_path / "m.model.state").iterdir())
        assert len(names) <= 5
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))
    with serving(model) as client:
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))


def test_one_server_at_a_time_uses_a_folder(model):
    with serving(model), pytest.raises(ValueError, match="in use by another process"):
        Service(model, model.with_name("m.model.state"), Limits())


def test_a_state_of_another_model_is_refused(model):
    with serving(model) as client:
        client.learn(make_rows(5))
    table_model(model, max_iter=3)
    with pytest.raises(ValueError, match="is not the model with which"):
        Service(model, model.with_name("m.model.state"), Limits())


def test_a_missing_or_damaged_log_is_refused(model):
    folder = model.with_name("m.model.state")
    with serving(model) as client:
        client.learn(make_rows(5))
        with mock.patch.object(client.services["m"].learner, "_end", client.services["m"].learner.folder.close):
            client.learn(make_rows(5))
            client.services["m"].stop()
    (log,) = folder.glob("log-*")
    whole = log.read_bytes()
    log.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(ValueError, match="damaged at byte"):
        Service(model, folder, Limits())
    log.unlink()
    with pytest.raises(ValueError, match="lacks a log"):
        Service(model, folder, Limits())
    log.write_bytes(whole)
    (snapshot,) = folder.glob("model-*")
    snapshot.unlink()
    with pytest.raises(ValueError, match="has rows but no model file"):
        Service(model, folder, Limits())


@pytest.mark.parametrize("stage", ["log", "ids", "model"])
def test_a_crash_while_a_snapshot_is_written_loses_nothing(model, tmp_path, stage):
    rows = make_rows(60)
    with serving(model) as client:
        service = client.services["m"]
        client.learn(rows[:30])
        folder, learner = service.learner.folder, service.learner
        if stage != "log":
            name = {"ids": "write_container", "model": "TrainedModel.save"}[stage]
            with mock.patch(f"rosenblatt.training.durable.{name}", side_effect=OSError(errno.ENOSPC, "no room")):
                learner._snapshot_rows = 1
                client.learn(rows[30:40])
                assert soon(lambda: "no snapshot was written" in learner.problem)
                learner._snapshot_rows = 1000
        else:
            folder.start_log()
            client.learn(rows[30:40])
        with mock.patch.object(learner, "_end", folder.close):
            client.learn(rows[40:50])
            service.stop()
    with serving(model, state=tmp_path / "m.model.state") as client:
        assert client.services["m"].memory.rows == 50
        client.learn(rows[50:])
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))


def test_a_full_disk_is_told_and_nothing_is_learned_until_there_is_room(model, tmp_path):
    rows, real = with_ids(make_rows(30)), os.write
    with serving(model) as client:
        client.learn(rows[:10])

        def full(file, data):
            if threading.current_thread().name == "learner":
                real(file, bytes(data)[:7])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(file, data)

        with mock.patch.object(os, "write", full):
            status, answers = client.post("/learn", rows[10:])
            assert status == 507
            assert all("the disk of the server is full" in answer["error"] for answer in answers)
            assert client.post("/predict", [ROW])[0] == 200
            assert "disk" in client.get("/models/m")[1]["problem"]
        assert client.learn(rows[10:]) == list(range(11, 31))
        assert client.get("/models/m")[1]["problem"] is None
    with serving(model) as client:
        assert not differences(client.download(tmp_path / "got.model"), learned_apart(model, rows))


# refusals


def test_pages_and_foreign_hosts_are_refused(model):
    with serving(model) as client:
        rows = make_rows(1)
        foreign = [
            {"Origin": "http://evil.example"},
            {"Origin": f"http://127.0.0.1:{client.port}"},
            {"Origin": "null"},
            {"Host": "evil.example"},
            {"Host": f"evil.example:{client.port}"},
            {"Host": ""},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ]
        for headers in foreign:
            status, answers = client.post("/learn", rows, **headers)
            assert status == 403, headers
            assert answers[0]["error"].endswith(".")
            assert client.get("/", **headers)[0] == 403
            assert client.request("GET", "/model", headers=headers)[0] == 403
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json"):
            assert client.post("/learn", rows, **{"Content-Type": kind})[0] == 415, kind
        assert client.post("/learn", rows, **{"Content-Encoding": "gzip"})[0] == 415
        assert client.get("/")[1]["models"]["m"]["rows"] == 0
        for host in ("localhost", "127.0.0.1", "LOCALHOST"):
            assert client.get("/", Host=f"{host}:{client.port}")[0] == 200
        assert client.post("/learn", rows, **{"Sec-Fetch-Site": "none"})[0] == 200


def test_a_token_is_needed_where_there_is_one(model):
    token = "0123456789abcdef"
    with serving(model, token=token) as client:
        for headers in (
            {},
            {"Authorization": "Bearer no"},
            {"Authorization": token},
            {"Authorization": f"Basic {token}"},
        ):
            assert client.get("/", **headers)[0] == 401
            assert client.post("/learn", make_rows(1), **headers)[0] == 401
        good = {"Authorization": f"Bearer {token}", "Host": "models.example"}
        assert client.get("/", **good)[0] == 200
        assert client.post("/learn", make_rows(1), **good)[0] == 200
        assert client.post("/learn", make_rows(1), **good, Origin="http://evil.example")[0] == 403
        assert client.get("/v2/health/ready")[0] == 200


def test_beyond_this_machine_there_must_be_a_token():
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.org"):
        with pytest.raises(ValueError, match="add --token with at least 16 characters"):
            check_address(host, 80, "short")
        check_address(host, 80, "0123456789abcdef")
    for host in ("127.0.0.1", "::1", "localhost"):
        check_address(host, 80, "")
    with pytest.raises(ValueError, match="from 0 to 65535"):
        check_address("127.0.0.1", 65536, "")
    with pytest.raises(ValueError, match="without spaces"):
        check_address("127.0.0.1", 80, "two words")


def test_limits_on_body_lines_rows_and_time(model):
    limits = Limits(body=2000, line=300, rows=20, seconds=0.5)
    with serving(model, limits=limits) as client:
        assert client.post("/learn", make_rows(21))[0] == 400
        assert client.post("/learn", make_rows(20))[0] == 200
        assert client.request("POST", "/learn", "\n" * 1500, {"Content-Type": "application/json"})[0] == 400
        status, answers = client.post("/predict", [ROW | {"more": "x" * 300}, ROW])
        assert (status, "at most 300 bytes" in answers[0]["error"]) == (200, True)
        status, answers = client.post("/predict", [ROW] * 100)
        assert status == 413
        chunked = iter([b'{"a": 1, "colour": "r"}\n' * 50] * 2)
        assert client.request("POST", "/predict", chunked, {"Content-Type": "application/json"})[0] == 413
        with socket.create_connection(("127.0.0.1", client.port), timeout=20) as slow:
            host = f"Host: 127.0.0.1:{client.port}\r\n"
            slow.sendall(
                f"POST /learn HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{".encode()
            )
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        assert client.post("/predict", [ROW])[0] == 200
        status, body = client.request("GET", "/metrics")
        assert b'rosenblatt_requests_total{status="413"} 2' in body


def test_bodies_that_wait_are_limited(model):
    limits = Limits(bodies=100)
    with (
        serving(model, limits=limits) as client,
        socket.create_connection(("127.0.0.1", client.port), timeout=20) as other,
    ):
        host = f"Host: 127.0.0.1:{client.port}\r\n"
        head = f"POST /learn HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        other.sendall(head.encode() + b" " * 90)
        assert soon(lambda: client.post("/predict", [ROW])[0] == 503)
        other.close()
        assert soon(lambda: client.post("/predict", [ROW])[0] == 200)


def test_a_client_that_goes_away_stops_nothing(model):
    rows = make_rows(40)
    with serving(model) as client:
        for length in (0, 1, 5, 100):
            with socket.create_connection(("127.0.0.1", client.port), timeout=20) as other:
                body = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
                host = f"Host: 127.0.0.1:{client.port}\r\n"
                head = f"POST /learn HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
                head += f"Content-Length: {len(body)}\r\n\r\n"
                other.sendall(head.encode() + (body if length == 5 else body[:length]))
        assert soon(lambda: client.get("/models/m")[1]["rows"] == 40)
        assert client.learn(rows[:2]) == [41, 42]


def test_other_paths_and_methods_are_refused(model):
    with serving(model) as client:
        assert client.get("/nothing")[0] == 404
        assert client.request("GET", "/predict")[0] == 405
        assert client.request("DELETE", "/model")[0] == 405
        status, answer = client.get("/models/m/learn")
        assert status == 405
        assert answer["error"].endswith(".")


# the Open Inference Protocol, and metrics


def tensors(n):
    rows = make_rows(n, 4)
    return rows, {
        "id": "q",
        "inputs": [
            {"name": "a", "datatype": "FP64", "shape": [n], "data": [row["a"] for row in rows]},
            {"name": "colour", "datatype": "BYTES", "shape": [n, 1], "data": [[row["colour"]] for row in rows]},
        ],
    }


def test_the_open_inference_protocol(model):
    with serving(model) as client:
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/m/ready", "/v2"):
            assert client.get(path)[0] == 200
        assert client.get("/v2/models/other/ready")[0] == 404
        _, about = client.get("/v2/models/m")
        assert [(tensor["name"], tensor["datatype"]) for tensor in about["inputs"]] == [
            ("a", "FP64"),
            ("colour", "BYTES"),
        ]
        rows, asked = tensors(70)
        expected = client.post("/predict", rows)[1]
        status, body = client.request("POST", "/v2/models/m/infer", json.dumps(asked))
        found = json.loads(body)
        assert (status, found["id"], found["model_name"]) == (200, "q", "m")
        outputs = {output["name"]: output for output in found["outputs"]}
        assert outputs["label"] == {
            "name": "label",
            "datatype": "BYTES",
            "shape": [70],
            "data": [answer["label"] for answer in expected],
        }
        assert outputs["score"]["data"] == [answer["score"] for answer in expected]
        status, body = client.request(
            "POST", "/v2/models/m/infer", json.dumps(asked | {"outputs": [{"name": "label"}]})
        )
        assert [output["name"] for output in json.loads(body)["outputs"]] == ["label"]


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": []},
        {"inputs": "a"},
        {"inputs": [{}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [2], "data": [1.0]}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [1], "data": ["x"]}]},
        {"inputs": [{"name": "a", "datatype": "F", "shape": [1], "data": [1]}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [10**9, 10**9], "data": [1]}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [-1], "data": []}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [0], "data": []}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [1, 2], "data": [1, 2]}]},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [1], "data": [1]}] * 2},
        {"inputs": [{"name": "a", "datatype": "FP64", "shape": [1], "data": [1]}]},
    ],
)
def test_tensors_that_are_not_valid_get_a_sentence(model, change):
    with serving(model, read_only=True) as client:
        status, body = client.request("POST", "/v2/models/m/infer", json.dumps(change))
        assert status == 400
        assert json.loads(body)["error"].endswith(".")


def test_tritons_client_gets_the_same_answers(model):
    triton = pytest.importorskip("tritonclient.http")
    with serving(model, read_only=True) as client:
        rows, _ = tensors(20)
        inputs = [triton.InferInput("a", [20], "FP64"), triton.InferInput("colour", [20], "BYTES")]
        inputs[0].set_data_from_numpy(np.array([row["a"] for row in rows]), binary_data=False)
        inputs[1].set_data_from_numpy(np.array([row["colour"] for row in rows], object), binary_data=False)
        outputs = [triton.InferRequestedOutput("label", binary_data=False)]
        with triton.InferenceServerClient(f"127.0.0.1:{client.port}") as other:
            assert other.is_server_live()
            assert other.is_server_ready()
            assert other.is_model_ready("m")
            found = other.infer("m", inputs, outputs=outputs)
        assert found.as_numpy("label").tolist() == [answer["label"] for answer in client.post("/predict", rows)[1]]


def test_metrics_count_what_was_done(model):
    with serving(model) as client:
        rows = make_rows(30)
        client.learn(rows)
        client.post("/predict", [*rows[:4], "{"])
        status, body = client.request("GET", "/metrics")
        lines = body.decode().splitlines()
        assert status == 200
        assert 'rosenblatt_rows_learned_total{model="m"} 30' in lines
        assert 'rosenblatt_rows_predicted_total{model="m"} 4' in lines
        assert 'rosenblatt_rows_refused_total{model="m"} 1' in lines
        assert 'rosenblatt_predict_seconds_count{model="m"} 1' in lines
        mistakes = (learned_apart(model, []).predict(rows_alone(rows)) != [row["kind"] for row in rows]).sum()
        assert f'rosenblatt_mistakes_total{{model="m"}} {mistakes}' in lines
        assert len(lines) == len(set(lines))


def rows_alone(rows):
    return [{name: row[name] for name in ("a", "colour")} for row in rows]


# models that cannot be served


def test_models_that_cannot_be_served_are_refused(tmp_path, model):
    X, y = [[1.0], [2.0], [-1.0], [-3.0]], [1, 1, 0, 0]
    save(Perceptron(hypothesis="pocket").fit(X, y), tmp_path / "pocket.model")
    with pytest.raises(ValueError, match="pocket"):
        Service(tmp_path / "pocket.model", tmp_path / "s1", Limits())
    save(RescaledPerceptron().fit(X, y), tmp_path / "rescaled.model")
    with pytest.raises(ValueError, match="RescaledPerceptron"):
        Service(tmp_path / "rescaled.model", None, Limits())
    with pytest.raises(ValueError, match="'a' is --target"):
        Service(model, None, Limits(), target="a")
    with pytest.raises(ValueError, match="'colour' is --weight"):
        Service(model, None, Limits(), weight="colour")
