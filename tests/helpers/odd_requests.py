"""Requests that a server should refuse or answer, but never fall over: malformed, huge, slow, smuggled, hostile."""

import json
import socket

PATHS = [
    "/",
    "/predict",
    "/learn",
    "/model",
    "/metrics",
    "/models/m",
    "/models/m/learn",
    "/v2/models/m/infer",
    "/v2/models/m",
]
_PIECES = [
    *(
        "null",
        "true",
        "-0",
        "1e999",
        "-1e-999",
        "NaN",
        "Infinity",
        "1.5",
        "0",
        "9" * 400,
        "[]",
        "{}",
        "[[1]]",
        '{"a": 1}',
    ),
    *('""', '"ham"', '"spam"', '"r"', '"\\u0000"', '"\\ud800"', '"\\u202e"', "\x00", "'"),
    *('"' + "x" * 5000 + '"', "[" * 3000, '{"a":' * 2000),
]
_NAMES = [
    "a",
    "colour",
    "kind",
    "id",
    "weight",
    "",
    "__proto__",
    "a\\u0000",
    "\\ud800",
    "../../x",
    "${x}",
    "a" * 3000,
    "<b>",
    "\\r\\nX: y",
]


def _row(rng):
    names = [rng.choice(_NAMES) for _ in range(rng.randrange(0, 6))] + ["a", "colour", "kind"] * (rng.random() < 0.6)
    fields = []
    for name in names:
        good = {"a": "1.5", "colour": '"r"', "kind": '"ham"', "id": str(rng.randrange(50))}
        value = good[name] if name in good and rng.random() < 0.7 else rng.choice(_PIECES)
        fields.append(f'"{name}": {value}')
    return "{" + ", ".join(fields) + "}"


def _tensors(rng):
    def tensor():
        shape = rng.choice([[1], [2], [1, 1], [-1], [10**12], "x", None, [2, 2, 2], [0], [True]])
        data = rng.choice([[1.0], ["r"], [1, 2], [], "x", [[1.5]], [None], [{}], [10**400], [1e308, -1e308]])
        name = rng.choice(["a", "colour", "x", "", None, 5])
        kind = rng.choice(["FP64", "INT64", "BYTES", "BOOL", "FP8", None])
        return {"name": name, "shape": shape, "datatype": kind, "data": data}

    asked = {"inputs": [tensor() for _ in range(rng.randrange(4))], "id": rng.choice(["q", 1, None, []])}
    return json.dumps(
        rng.choice([asked, asked | {"outputs": rng.choice([[{"name": "label"}], "x", [3]])}, [asked], None])
    )


def _mutated(rng, text):
    data = bytearray(text)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(data) + 1)
        data[place : place + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
    return bytes(data)


def odd_request(rng, port):
    """Return the bytes of one request, most of them wrong in some way."""
    method = rng.choice(
        ["POST"] * 6 + ["GET", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "X" * 300, ""]
    )
    path = rng.choice(PATHS)
    body = "\n".join(_row(rng) for _ in range(rng.choice([1, 1, 2, 5, 60]))) if "infer" not in path else _tensors(rng)
    if rng.random() < 0.1:
        body = rng.choice(["", "\n" * 3000, "{" * 5000, "\x00" * 100, '"' * 100, "\ufeff{}"])
    content = body.encode("utf-8", "surrogatepass")
    if rng.random() < 0.2 and content:
        content = _mutated(rng, content)
    if rng.random() < 0.1:
        path = rng.choice(
            [
                "//",
                "/../model",
                "/%00",
                "/models/%2e%2e/model",
                "/" + "p" * 3000,
                "*",
                "http://evil/",
                "/predict?x=" + "y" * 999,
                "",
            ]
        )
    headers = [
        f"Host: {rng.choice([f'127.0.0.1:{port}'] * 8 + ['evil.example', '', '127.0.0.1', 'a' * 500])}",
        f"Content-Type: {rng.choice(['application/json'] * 8 + ['text/plain', 'application/jsonl', '', 'a/b' * 9])}",
    ]
    lengths = [[f"Content-Length: {len(content)}"]] * 12 + [
        [],
        ["Content-Length: -1"],
        ["Content-Length: 99999999999999999999"],
        [f"Content-Length: {len(content)}", "Content-Length: 3"],
        [f"Content-Length: {len(content)}", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked, identity"],
        [f"Content-Length: +{len(content)}"],
        [f"Content-Length: {len(content) + 50}"],
        [f"Content-Length: {max(0, len(content) - 5)}"],
    ]
    headers += rng.choice(lengths)
    if rng.random() < 0.1:
        parts = [content[i : i + 7] for i in range(0, len(content), 7)]
        content = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
        headers = [*headers[:2], "Transfer-Encoding: chunked"]
    more = ["Origin: null", "Expect: 100-continue", "Upgrade: websocket", "Connection: close", "Content-Encoding: gzip"]
    more += ["Range: bytes=0-1", " folded: x", "no colon", "Sec-Fetch-Site: cross-site", "Authorization: Bearer é"]
    more += ["Cookie: " + "c=1; " * 200, "X: " + "y" * 9000]
    headers += rng.sample(more, rng.choice([0, 0, 0, 1, 3]))
    if rng.random() < 0.02:
        headers += [f"H{i}: {i}" for i in range(3000)]
    end = rng.choice(["\r\n"] * 12 + ["\n", "\r"])
    head = end.join([f"{method} {path} HTTP/{rng.choice(['1.1'] * 12 + ['1.0', '0.9', '2.0', 'x'])}", *headers, "", ""])
    data = head.encode("utf-8", "surrogatepass") + content
    return _mutated(rng, data) if rng.random() < 0.1 else data


def send(rng, port, data, wait=5.0):
    """Send bytes to a server, sometimes in pieces or only some of them; return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        try:
            if rng.random() < 0.1:
                data = data[: rng.randrange(len(data) + 1)]
            cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice([0, 0, 0, 1, 4])))
            for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True):
                connection.sendall(data[start:stop])
            connection.shutdown(socket.SHUT_WR)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
            return b"".join(parts)
        except TimeoutError:
            raise AssertionError(f"no answer to {data[:2000]!r}") from None
        except OSError:  # the server has closed the connection
            return b""


def fault_of(answer):
    """Return what is wrong with an answer, or None."""
    if b"Traceback" in answer or b"Internal Server Error" in answer or b"HTTP/1.1 500" in answer:
        return "a traceback or an internal error"
    if answer and not answer.startswith(b"HTTP/1."):
        return "no HTTP"
    return None
