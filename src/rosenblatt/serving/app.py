"""The HTTP interface: JSON lines in, JSON lines out."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rosenblatt import __version__
from rosenblatt.messages import list_some
from rosenblatt.serving import inference_protocol as protocol
from rosenblatt.serving.guard import Guard, content_type_fault
from rosenblatt.serving.learner import Learner
from rosenblatt.serving.limits import Limits
from rosenblatt.serving.metrics import render
from rosenblatt.serving.rows import Record, RowError, fault_of_row, id_of, lines_of, parse_line, sentence
from rosenblatt.serving.served import Service

Handler = Callable[[Request, Service], Awaitable[Response]]
_CHUNK = 50
"""Rows that are predicted before other requests get their turn."""
_JSON_LINES = "application/x-ndjson"


class Refusal(HTTPException):
    """Raised to answer a request with a status and a sentence."""


class Api:
    """The endpoints of the server.

    Parameters
    ----------
    services : dict
        The models by name.
    limits : Limits
        The limits on requests.
    """

    def __init__(self, services: Mapping[str, Service], limits: Limits) -> None:
        self.services, self.limits = services, limits
        self.statuses: Counter[int] = Counter()
        self._bodies = 0
        self._begun = time.time()
        self._downloading = asyncio.Lock()

    def app(self, port: int, token: str) -> Guard:
        """Return the application, with its guard."""
        routes = [
            Route("/", self.root),
            Route("/metrics", self.metrics),
            *protocol.routes(self.services, self.body),
        ]
        endpoints: dict[str, tuple[str, Handler]] = {
            "": ("GET", self.about),
            "/predict": ("POST", self.predict),
            "/learn": ("POST", self.learn),
            "/model": ("GET", self.model),
        }
        for path, (method, handler) in endpoints.items():
            routes.append(Route(f"/models/{{name}}{path}", self._named(handler), methods=[method]))
            if path:
                routes.append(Route(path, self._named(handler), methods=[method]))
        handlers: Any = {HTTPException: _refused, ClientDisconnect: _gone}
        inner = Starlette(routes=routes, exception_handlers=handlers)
        return Guard(inner, port, token, self.statuses)

    def _named(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that calls ``handler`` with the model in the path, or with the only one."""

        async def endpoint(request: Request) -> Response:
            name = request.path_params.get("name", "")
            if not name and len(self.services) == 1:
                return await handler(request, next(iter(self.services.values())))
            if name not in self.services:
                known = list_some([f"/models/{one}" for one in self.services])
                raise Refusal(404, f"expected the path of a model, got {request.url.path[:200]}: choose {known}.")
            return await handler(request, self.services[name])

        return endpoint

    @asynccontextmanager
    async def body(self, request: Request, optional_type: bool = False) -> AsyncIterator[bytes]:
        """Yield the body of a request; refuse one that is of another type, too large, or too slow."""
        fault = content_type_fault(request.headers.get("content-type", ""), optional_type)
        if fault:
            raise Refusal(415, fault)
        most, parts, size = self.limits.body, [], 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    size += len(part)
                    self._bodies += len(part)
                    if size > most:
                        raise Refusal(
                            413, f"expected a body of at most {most:,} bytes, got more: send fewer rows at once."
                        )
                    if self._bodies > self.limits.bodies:
                        raise Refusal(
                            503, "expected fewer rows at a time, got more than can wait: send them again later."
                        )
                    parts.append(part)
            yield b"".join(parts)
        except TimeoutError:
            raise Refusal(
                408, f"expected the body within {self.limits.seconds:g} seconds, got a part: send it faster."
            ) from None
        finally:
            self._bodies -= size

    # endpoints

    async def root(self, request: Request) -> Response:
        """Tell what is served, and how many rows the weights have seen."""
        about = {name: service.status() for name, service in self.services.items()}
        return JSONResponse(
            {
                "server": "rosenblatt",
                "version": __version__,
                "seconds": round(time.time() - self._begun),
                "models": about,
            }
        )

    async def about(self, request: Request, service: Service) -> Response:
        """Tell about one model."""
        return JSONResponse(service.status())

    async def metrics(self, request: Request) -> Response:
        """Return counts for Prometheus."""
        models = {name: (service.metrics, service.values()) for name, service in self.services.items()}
        return PlainTextResponse(render(models, self.statuses), media_type="text/plain; version=0.0.4")

    async def predict(self, request: Request, service: Service) -> Response:
        """Predict each row."""
        begun = time.monotonic()
        async with self.body(request) as body:
            lines = self._lines(body)
            answers: list[Record] = []
            for start in range(0, len(lines), _CHUNK):
                answers += predict_lines(service, lines[start : start + _CHUNK], self.limits)
                if start + _CHUNK < len(lines):
                    await asyncio.sleep(0)
        service.metrics.predictions.add(time.monotonic() - begun)
        return _json_lines(answers, service)

    async def learn(self, request: Request, service: Service) -> Response:
        """Learn each row; answer when all are on the disk."""
        begun = time.monotonic()
        learner = service.learner
        if learner is None:
            raise Refusal(403, "expected rows to predict, got rows to learn: this server was started with --read-only.")
        async with self.body(request) as body:
            lines = self._lines(body)
            try:
                answers = await asyncio.wrap_future(learner.submit(lines))
            except RuntimeError:
                raise _unavailable(learner) from None
        service.metrics.acknowledged.add(time.monotonic() - begun)
        return _json_lines(answers, service)

    async def model(self, request: Request, service: Service) -> Response:
        """Return the model file, with all rows that were acknowledged when it was asked for."""
        name = f"{service.path.stem}.model"
        if service.learner is None:
            return FileResponse(service.path, filename=name, media_type="application/octet-stream")
        learner = service.learner
        async with self._downloading:
            try:
                model = await asyncio.wrap_future(learner.copy_model())
            except RuntimeError:
                raise _unavailable(learner) from None
            file, path = tempfile.mkstemp(".download", dir=learner.folder.path)
            os.close(file)
            try:
                await asyncio.to_thread(model.save, path)
            except (OSError, ValueError, MemoryError) as fault:
                os.unlink(path)
                raise Refusal(507, f"the model could not be written on the server: {sentence(fault)}") from None
        return FileResponse(
            path, filename=name, media_type="application/octet-stream", background=BackgroundTask(_delete, path)
        )

    def _lines(self, body: bytes) -> list[bytes]:
        try:
            return lines_of(body, self.limits)
        except RowError as fault:
            raise Refusal(400, str(fault)) from None


def predict_lines(service: Service, lines: list[bytes], limits: Limits) -> list[Record]:
    """Return an answer for each line: a prediction, or an error in one sentence."""
    answers: list[Record] = []
    asked: list[tuple[Record, Record, str, bytes]] = []
    for line in lines:
        answer: Record = {}
        answers.append(answer)
        try:
            record = parse_line(line, limits)
            id = id_of(record, limits)
            if id:
                answer["id"] = record["id"]
            asked.append((answer, record, id, line))
        except RowError as fault:
            answer["error"] = str(fault)
    rows = service.reader.rows([record for _, record, _, _ in asked])
    if rows is None:
        rows = []
        for answer, record, _, _ in asked:
            try:
                rows.append(service.reader.row(record))
            except Exception as fault:
                answer["error"] = fault_of_row(fault)
        asked = [one for one in asked if "error" not in one[0]]
    for (answer, _, id, line), found in zip(asked, service.predict(rows) if rows else [], strict=True):
        answer |= found
        if id and service.learner is not None:
            service.memory.remember(id, line)
    return answers


def _json_lines(answers: list[Record], service: Service) -> Response:
    """Return answers as JSON lines; the status is that of a refusal if every row was refused."""
    refused = [answer for answer in answers if "error" in answer]
    service.metrics.refused += len(refused)
    status = 200
    if len(refused) == len(answers):
        status = 507 if any(answer.get("retry") for answer in refused) else 400
    body = "".join(f"{json.dumps(answer, separators=(',', ':'))}\n" for answer in answers)
    return Response(body, status, media_type=_JSON_LINES)


def _unavailable(learner: Learner) -> Refusal:
    return Refusal(503, f"{learner.problem or 'the server is stopping'}: ask again when it has been restarted.")


async def _refused(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    if not isinstance(fault, Refusal):
        what = (
            "GET or POST, as the documentation of this path says"
            if fault.status_code == 405
            else "a path of this server"
        )
        text = f"expected {what}, got {request.method} {request.url.path[:200]}: see GET /."
        return JSONResponse({"error": text}, fault.status_code, fault.headers)
    return JSONResponse({"error": fault.detail}, fault.status_code, {"Connection": "close"})


async def _gone(request: Request, fault: Exception) -> Response:
    return Response(status_code=400)


def _delete(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()
