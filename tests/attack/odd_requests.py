"""Sends malformed, huge, smuggled and hostile requests to a server that learns."""

from __future__ import annotations

import random
import tempfile
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
        rows, before = client.get("/models/m")[1]["rows"], client.download(folder / "before.model")
        client.close()
    with serving(model) as client:
        if client.get("/models/m")[1]["rows"] != rows:
            return f"the server had {rows} rows, and another number after a restart"
        found = differences(client.download(folder / "after.model"), before)
        client.close()
    return f"after a restart these weights differ: {found}" if found else None
