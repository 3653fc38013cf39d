"""The web server of the lab, which serves the page and answers its questions, only on this machine."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from rosenblatt.lab.guard import Guard
from rosenblatt.lab.messages import error, parse, to_json
from rosenblatt.lab.questions import Question

MOST_BYTES = 1_000_000
MOST_AT_ONCE = 2
MOST_WAITING = 20
SECONDS_TO_SEND = 30.0
_PAGE_NAME = re.compile(r"(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+\.(?:html|js|css|svg|png)")
_MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def lab_app(
    page: Path, token: str, port: int, questions: Mapping[str, Question], threads: ThreadPoolExecutor
) -> ASGIApp:
    """Return an ASGI application that serves the files in ``page`` and answers ``questions`` below ``/token/``.

    At most `MOST_AT_ONCE` questions are answered at a time, in ``threads``. At most `MOST_WAITING` others wait, and
    further ones are refused. The caller must shut down ``threads``.
    """
    asking = _Asking(questions, threads)

    async def answer(request: Request) -> Response:
        name = request.scope["path"].split("/", 2)[2]  # all of it: a route would leave out a newline at the end
        if request.method == "POST":
            return await asking.answer(name, request)
        if request.method in ("GET", "HEAD"):
            return _file(page, name, "gzip" in request.headers.get("accept-encoding", ""))
        return PlainTextResponse("Ask by GET or POST.", 405, {"Allow": "GET, HEAD, POST"})

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
    return Guard(Starlette(routes=[Route("/{path:path}", answer, methods=methods)]), token, port)


class _Asking:
    """A handler that answers questions in threads, at most `MOST_AT_ONCE` at a time."""

    def __init__(self, questions: Mapping[str, Question], threads: ThreadPoolExecutor) -> None:
        self._questions, self._threads = questions, threads
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        self._asked = 0

    async def answer(self, name: str, request: Request) -> Response:
        """Return the response to a request that the guard has allowed."""
        question = self._questions.get(name)
        if question is None:
            return error(404, f"There is no such question; there are: {', '.join(self._questions)}.")
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            return error(415, "A question must have the content type application/json.")
        if self._asked >= MOST_AT_ONCE + MOST_WAITING:
            return error(503, "Too many questions wait for an answer: ask again in a moment.")
        self._asked += 1
        try:
            return await self._answer(question, request)
        except ClientDisconnect:
            return Response(status_code=400)  # to no one
        finally:
            self._asked -= 1

    async def _answer(self, question: Question, request: Request) -> Response:
        try:
            async with asyncio.timeout(SECONDS_TO_SEND):
                body = await _read(request)
        except TimeoutError:
            return error(408, f"The question did not arrive within {SECONDS_TO_SEND:.0f} seconds: send it again.")
        if body is None:
            return error(413, f"A question has at most {MOST_BYTES:,} bytes: send fewer points.")
        try:
            data = parse(body)
        except ValueError as fault:
            return error(400, str(fault))
        async with self._turns:
            if await request.is_disconnected():
                return Response(status_code=400)  # to no one
            status, text = await asyncio.get_running_loop().run_in_executor(self._threads, _asked, question, data)
        return Response(text, status, media_type="application/json")


async def _read(request: Request) -> bytes | None:
    """Return the body of a request, or None if its actual or declared length exceeds `MOST_BYTES`."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > MOST_BYTES:
        return None
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            return None
    return bytes(body)


def _asked(question: Question, data: Any) -> tuple[int, bytes]:
    """Answer a question; return the HTTP status and the answer as JSON. All exceptions become error messages."""
    try:
        try:
            answer = question(data)
        except (ValueError, RecursionError) as fault:
            return 400, to_json({"error": " ".join(str(fault).split())})
        return 200, to_json(answer)
    except Exception as fault:
        return 500, to_json({"error": f"This is a fault of the lab, please report it: {type(fault).__name__}: {fault}"})


def _file(page: Path, name: str, compressed: bool) -> Response:
    """Return a response with a file in the folder ``page``, or with status 404 for any other name."""
    name = name or "index.html"
    path = page / name
    if not _PAGE_NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
        return PlainTextResponse("There is no such file.", 404)
    headers = {"Vary": "Accept-Encoding"}
    content = path.read_bytes()
    if compressed:
        content, headers["Content-Encoding"] = gzip.compress(content, mtime=0), "gzip"
    return Response(content, headers=headers, media_type=_MEDIA[path.suffix])
