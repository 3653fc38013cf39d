"""Access control: a page in a browser on this machine can neither teach the model nor read it.

Other pages can send requests to 127.0.0.1. The browser adds their ``Origin`` to every POST, and ``Sec-Fetch-Site`` to
every request. A page whose own domain name resolves to 127.0.0.1 (DNS rebinding) is recognised by its ``Host``. Beyond
this machine each request needs a secret token.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""The hosts that only this machine can reach."""
JSON_TYPES = ("application/json", "application/jsonl", "application/jsonlines", "application/x-ndjson")
"""The content types of a body: JSON and JSON lines."""
_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"cache-control": b"no-store",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}
_OPEN = ("/v2/health/live", "/v2/health/ready")
"""Paths that need no token, because they tell nothing but whether the server is there."""


class Guard:
    """Middleware that refuses foreign requests, and adds security headers to every response.

    Parameters
    ----------
    app : ASGI application
        The application.
    port : int
        The port of the server.
    token : str
        The token that requests must have; "" if only this machine can reach the server, and needs none.
    statuses : Counter
        Counts responses by their status.
    """

    def __init__(self, app: ASGIApp, port: int, token: str, statuses: Counter[int]) -> None:
        self._app, self._token, self._statuses = app, token.encode(), statuses
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self._hosts |= {"127.0.0.1", "localhost", "[::1]"} if port == 80 else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or refuse it."""
        if scope["type"] != "http":
            return
        status, wrong = self._wrong(scope)

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                self._statuses[message["status"]] += 1
                message = message | {"headers": [*message.get("headers", ()), *_HEADERS.items()]}
            await send(message)

        answer: ASGIApp = JSONResponse({"error": wrong}, status, {"Connection": "close"}) if wrong else self._app
        await answer(scope, receive, send_with_headers)

    def _wrong(self, scope: Scope) -> tuple[int, str]:
        """Return a status and the reason for refusing a request as a sentence; the reason is "" if it is allowed."""
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        twice = next((name for name in ("host", "content-type", "authorization") if len(given.get(name, ())) > 1), "")
        if twice:
            return 400, f"expected the header {twice} once, got it {len(given[twice])} times: send it once."
        if "origin" in given or given.get("sec-fetch-site", ["none"])[-1].lower() not in ("none", "same-origin"):
            return 403, "expected a request of a program, got one of a web page: pages may not use this server."
        if "content-encoding" in given:
            return 415, "expected a body that is not compressed, got a Content-Encoding: leave it out."
        if self._token:
            return self._without_token(scope["path"], given)
        host = given.get("host", [""])[0]
        if host.lower() not in self._hosts:
            return 403, "expected this machine in Host, such as 127.0.0.1 and the port, got another one: use 127.0.0.1."
        return 200, ""

    def _without_token(self, path: str, given: Mapping[str, list[str]]) -> tuple[int, str]:
        kind, _, token = given.get("authorization", [""])[0].partition(" ")
        same = secrets.compare_digest(token.strip().encode("utf-8", "replace"), self._token)
        if path in _OPEN or (kind.lower() == "bearer" and same):
            return 200, ""
        return 401, "expected the token of this server, got none or another one: send Authorization: Bearer TOKEN."


def content_type_fault(content_type: str, optional: bool = False) -> str:
    """Return why a body of this type is refused, or "".

    >>> content_type_fault("application/json; charset=utf-8")
    ''
    >>> content_type_fault("text/plain")[:34]
    'expected the content type applicat'
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind in JSON_TYPES or (optional and not kind):
        return ""
    return (
        f"expected the content type {', '.join(JSON_TYPES[:-1])} or {JSON_TYPES[-1]}, got another one: send JSON "
        "lines, and say so in Content-Type."
    )
