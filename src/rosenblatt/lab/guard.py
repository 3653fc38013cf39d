"""Access control for the lab's server: it answers only the lab's own page, which knows a secret token."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rosenblatt.lab.messages import refusal

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Middleware that refuses requests from other pages, and adds security headers to every response.

    Other pages in the same browser can send requests to this server. They do not know the token, and their Origin
    header differs. A page whose domain name resolves to 127.0.0.1 (DNS rebinding) is recognised by its Host header.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or refuse it."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message = message | {"headers": [*message.get("headers", ()), *ours]}
            await send(message)

        wrong = self._wrong(scope)
        if wrong:
            answer: ASGIApp = refusal(scope["method"], 403, wrong)
        elif scope["path"].count("/") == 1:  # the address without its last slash
            answer = RedirectResponse(scope["path"] + "/")
        else:
            answer = self._app
        await answer(scope, receive, send_with_headers)

    def _wrong(self, scope: Scope) -> str:
        """Return the reason for refusing a request as a sentence, or "" if the request is allowed."""
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = given.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "This server answers at 127.0.0.1 alone: open the address that the command printed."
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in given.get("origin", [])):
            return "This server answers its own page alone, and the request came from another."
        sites = given.get("sec-fetch-site", [])
        if scope["method"] == "POST" and any(site not in ("same-origin", "none") for site in sites):
            return "This server answers its own page alone, and the request came from another."
        token = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self._token):
            return "The address has another token: open the address that the command printed, all of it."
        if "upgrade" in given:
            return "This server has no WebSockets: ask by GET or POST."
        return ""
