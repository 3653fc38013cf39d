"""The server answers its own page and no one else, and nothing that it is sent ends it."""

import socket
import threading

import pytest

from helpers.lab_server import Client, serving, write_page
from helpers.lab_states import FOUR
from rosenblatt.lab.learning import run_message
from rosenblatt.lab.server import MOST_AT_ONCE, MOST_BYTES, MOST_WAITING
from rosenblatt.lab.state import LabState

STATE = LabState(points=FOUR, order="fixed")


class Gate:
    """A question that waits until it may be answered, and counts how many wait at the same time."""

    def __init__(self):
        self.open, self.lock, self.inside, self.most = threading.Event(), threading.Lock(), 0, 0
        self.entered = threading.Semaphore(0)

    def __call__(self, body):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.entered.release()
        assert self.open.wait(60)
        with self.lock:
            self.inside -= 1
        return {"asked": body}


def fail(body):
    raise KeyError("no such thing")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    asked = {
        "run": lambda body: run_message(LabState.from_plain(body)),
        "echo": lambda body: {"asked": body},
        "fail": fail,
        "nan": lambda body: {"a": float("nan")},
    }
    with serving(write_page(tmp_path_factory.mktemp("page")), asked) as client:
        yield client


def test_it_serves_the_page_with_types_and_headers(client):
    for name, media in (("", "text/html"), ("main.js", "text/javascript"), ("panels/one.js", "text/javascript")):
        status, content, headers = client.get(name)
        assert status == 200
        assert content
        assert headers["Content-Type"].split(";")[0] == media
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Cross-Origin-Resource-Policy"] == headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "Server" not in headers
        assert "Access-Control-Allow-Origin" not in headers
    assert client.request("HEAD", client.path)[:2] == (200, b"")


def test_an_address_without_its_last_slash_leads_to_the_page(client):
    status, _, headers = client.request("GET", f"/{client.token}")
    assert (status, headers["Location"]) == (307, client.path)


def test_it_answers_a_run(client):
    status, answer = client.ask("run", STATE.to_plain())
    assert status == 200
    assert answer == run_message(STATE)


def test_a_second_name_of_this_machine_is_fine(client):
    host = f"localhost:{client.port}"
    assert client.get(Host=host)[0] == 200
    assert client.ask("echo", 1, Host=host, Origin=f"http://{host}") == (200, {"asked": 1})


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:{port}.evil.example"},
        {"Host": "[::1]:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA=="},
    ],
    ids=str,
)
def test_other_pages_and_names_are_refused(client, headers):
    given = {name: value.format(port=client.port) for name, value in headers.items()}
    status, answer = client.ask("run", STATE.to_plain(), **given)
    assert status == 403
    assert answer["error"].endswith(".")
    if "Sec_Fetch_Site" not in headers:  # links to the page may be followed from anywhere
        status, content, kept = client.get(**given)
        assert (status, kept["Content-Type"]) == (403, "text/plain; charset=utf-8")
        assert content == answer["error"].encode()


def test_without_the_token_there_is_nothing(client):
    other = client.token[:-1] + ("A" if client.token[-1] != "A" else "B")
    paths = ["/", "", "/main.js", "/run", f"/{other}/", f"/{other}/run", f"/{client.token}x/", f"/{client.token[:-1]}/"]
    paths += [f"//{client.token}/", f"/x/../{client.token}/", f"/{client.token.swapcase()}/", "/%C3%A9/", "*"]
    for path in paths:
        for method in ("GET", "POST"):
            status, content, _ = client.request(method, path or "/", b"{}", {"Content-Type": "application/json"})
            assert status in (400, 403), path
            assert client.token.encode() not in content
    assert client.request("GET", client.path)[0] == 200


@pytest.mark.parametrize(
    "name",
    [
        "../state.py",
        "..%2fstate.py",
        "panels/../../state.py",
        "panels/%2e%2e/%2e%2e/state.py",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "panels//one.js",
        "./main.js",
        "panels/",
        "secret.py",
        "main.js%00.html",
        "main.js%0a",
        "..\\main.js",
        "linked.js",
        "none.js",
        ".hidden.js",
    ],
)
def test_only_files_of_the_page_are_served(tmp_path, name):
    (tmp_path / "state.py").write_text("secret")
    page = write_page(tmp_path / "page")
    (page / ".hidden.js").write_text("secret")
    (page / "linked.js").symlink_to(tmp_path / "state.py")
    with serving(page, {}) as client:
        status, content, _ = client.get(name)
        assert status in (404, 400)
        assert b"secret" not in content
        assert b"root:" not in content
        assert client.get("main.js")[0] == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_are_refused(client, method):
    status, content, headers = client.request(method, client.path + "run", b"{}", {"Content-Type": "application/json"})
    assert status == 405
    assert "Content-Security-Policy" in headers
    assert b"{}" not in content


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
def test_a_question_must_be_json_by_its_type(client, kind):
    status, answer = client.ask("run", STATE.to_plain(), Content_Type=kind)
    assert (status, "application/json" in answer["error"]) == (415, True)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b'{"version": NaN}', "finite"),
        (b"[-Infinity]", "finite"),
        (b"1e999", "finite"),
        (b"9" * 5000, "15 digits"),
        (b"[" * 400_000, "levels"),
        (b"[" * 60 + b"]" * 60, "levels"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "levels"),
        (b"[]", "dictionary"),
        (b'{"version": 1, "points": [[0, 0, "\\ud800"]]}', "label"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_question_is_one_sentence(client, body, part):
    status, answer = client.ask("run", body)
    assert status == 400
    assert part in answer["error"]
    assert answer["error"].endswith(".")


def test_deep_but_not_too_deep_is_read(client):
    assert client.ask("echo", b"[" * 50 + b"]" * 50)[0] == 200


def test_an_unknown_question_says_which_there_are(client):
    status, answer = client.ask("ruin", {})
    assert (status, "run" in answer["error"]) == (404, True)


def test_a_fault_in_a_question_is_told_and_the_server_lives(client):
    for name in ("fail", "nan"):
        status, answer = client.ask(name, {})
        assert status == 500
        assert "fault of the lab" in answer["error"]
    assert client.ask("echo", {})[0] == 200


def test_long_questions_are_refused(client):
    assert client.ask("echo", b'"' + b"a" * (MOST_BYTES - 2) + b'"')[0] == 200
    assert client.ask("echo", b'"' + b"a" * MOST_BYTES + b'"')[0] == 413
    other = Client(client.origin + client.path)
    other.connection.putrequest("POST", client.path + "echo")
    for name, value in (("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")):
        other.connection.putheader(name, value)
    other.connection.endheaders()
    piece = b"%x\r\n" % 10_000 + b"1" * 10_000 + b"\r\n"
    for _ in range(MOST_BYTES // 10_000 + 1):
        other.connection.send(piece)
    answer = other.connection.getresponse()
    assert answer.status == 413
    other.connection.close()


def test_lengths_that_lie_do_no_harm(client):
    head = f"POST {client.path}echo HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nContent-Type: application/json\r\n"
    for length in ("999999999999999999999999", "5000", "-1", "x", "1\r\nContent-Length: 2"):
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as raw:
            raw.sendall(f"{head}Content-Length: {length}\r\n\r\n{{}}".encode())
            raw.shutdown(socket.SHUT_WR)
            answer = raw.recv(100)
            assert not answer.startswith(b"HTTP/1.1 200"), length
    assert client.ask("echo", {})[0] == 200


def test_two_questions_at_a_time_and_a_bounded_queue(tmp_path):
    gate = Gate()
    with serving(write_page(tmp_path), {"wait": gate, "echo": lambda body: {}}) as client:
        address, answers = client.origin + client.path, []

        def ask(i):
            other = Client(address)
            answers.append(other.ask("wait", i)[0])
            other.connection.close()

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(MOST_AT_ONCE + MOST_WAITING + 5)]
        for thread in threads:
            thread.start()
        for _ in range(MOST_AT_ONCE):
            assert gate.entered.acquire(timeout=60)
        while len(answers) < 5:  # those beyond the queue are answered at once
            threads[-1].join(0.01)
        assert set(answers) == {503}
        assert client.get()[0] == 200  # the page is served meanwhile
        gate.open.set()
        for thread in threads:
            thread.join(60)
        assert sorted(answers) == [200] * (MOST_AT_ONCE + MOST_WAITING) + [503] * 5
        assert gate.most == MOST_AT_ONCE
        assert client.ask("echo", {})[0] == 200


def test_who_has_left_gets_no_answer_computed(tmp_path):
    gate = Gate()
    with serving(write_page(tmp_path), {"wait": gate, "echo": lambda body: {}}) as client:
        others = [Client(client.origin + client.path) for _ in range(MOST_AT_ONCE + 3)]
        for other in others:
            other.connection.request("POST", client.path + "wait", b"1", {"Content-Type": "application/json"})
            if other in others[:MOST_AT_ONCE]:
                assert gate.entered.acquire(timeout=60)
            else:
                other.connection.close()
        assert client.get()[0] == 200
        gate.open.set()
        for other in others[:MOST_AT_ONCE]:
            assert other.connection.getresponse().status == 200
            other.connection.close()
        assert client.ask("echo", 1)[0] == 200
        assert not gate.entered.acquire(blocking=False)


def test_a_question_that_does_not_arrive_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.lab.server.SECONDS_TO_SEND", 0.05)
    with serving(write_page(tmp_path), {"echo": lambda body: {}}) as client:
        client.connection.putrequest("POST", client.path + "echo")
        for name, value in (("Content-Type", "application/json"), ("Content-Length", "100")):
            client.connection.putheader(name, value)
        client.connection.endheaders()
        client.connection.send(b"{")
        answer = client.connection.getresponse()
        assert answer.status == 408
        assert b"send it again" in answer.read()
