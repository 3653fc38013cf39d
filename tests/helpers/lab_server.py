"""A server of the lab in a thread, and a way to talk to it that a browser would not allow."""

import http.client
import json
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

from rosenblatt.lab.launch import listening, make_server

PAGE = {
    "index.html": '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lab</title></head></html>',
    "main.js": 'import { one } from "./panels/one.js";\n',
    "panels/one.js": "export const one = 1;\n",
    "style.css": "body { margin: 0; }\n",
    "secret.py": "token = 1\n",
}


def write_page(folder, files=PAGE):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


class Client:
    """A connection that is kept; each request has the headers of the page unless told otherwise."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.port, self.path, self.token = parts.port, parts.path, parts.path.strip("/")
        self.origin = f"http://127.0.0.1:{self.port}"
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(self, method, path, body=None, headers=()):
        self.connection.request(method, path, body, dict(headers))
        answer = self.connection.getresponse()
        content = answer.read()
        return answer.status, content, answer.headers

    def get(self, name="", **headers):
        return self.request("GET", self.path + name, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def ask(self, name, body, **headers):
        """Ask a question; bytes are sent as they are, anything else as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"Content-Type": "application/json", "Origin": self.origin, "Sec-Fetch-Site": "same-origin"}
        given |= {k.replace("_", "-"): v for k, v in headers.items()}
        status, answer, _ = self.request("POST", self.path + name, content, given)
        return status, json.loads(answer)


@contextmanager
def serving(page, questions):
    """Serve a page and questions in a thread; the value is a client."""
    with listening(0) as listener:
        addresses, ready = [], threading.Event()

        def started(address):
            addresses.append(address)
            ready.set()

        server = make_server(listener, questions, page, started)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert ready.wait(60)
            client = Client(addresses[0])
            yield client
            client.connection.close()
        finally:
            server.should_exit = True
            thread.join(60)
        assert not thread.is_alive()
