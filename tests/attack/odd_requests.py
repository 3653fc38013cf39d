"""Sends malformed, huge, smuggled and hostile requests to a server that learns."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from helpers.odd_requests import fault_of, odd_request, send
from helpers.serving import differences, serving, table_model

_REQUESTS = 500


def attack(rng: random.Random) -> str | None:
    """Send some hundred requests; the server must answer all as it should, and then have what it acknowledged."""
    folder = Path(tempfile.mkdtemp())
    model = table_model(folder / "m.model")
    with serving(model) as client:
        for _ in range(_REQUESTS):
            data = odd_request(rng, client.port)
            answer = send(rng, client.port, data)
            fault = fault_of(answer)
            if fault is not None:
                return f"{fault}: {answer[:300]!r} to {data[:2000]!r}"
        rows, before = _settled_rows(client), client.download(folder / "before.model")
        client.close()
    with serving(model) as client:
        if (again := client.get("/models/m")[1]["rows"]) != rows:
            return f"the server had {rows} rows, and {again} after a restart"
        found = differences(client.download(folder / "after.model"), before)
        client.close()
    return f"after a restart these weights differ: {found}" if found else None


def _settled_rows(client) -> int:
    """Return the number of rows, after a second without a change.

    Rows of clients that hung up without waiting for an answer may be learned after the last answer.
    """
    rows, since, ends = -1, 0.0, time.monotonic() + 30.0
    while time.monotonic() < ends:
        found = client.get("/models/m")[1]["rows"]
        if found != rows:
            rows, since = found, time.monotonic()
        elif time.monotonic() > since + 1.0:
            break
        time.sleep(0.05)
    return rows
