"""The REST part of the Open Inference Protocol (version 2 of KServe's), with tensors in JSON.

A model of a table has one input for each column, of shape [n] or [n, 1]. A model of columns without names also takes
one input of shape [n, d].
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rosenblatt import __version__
from rosenblatt.messages import list_some, shorten
from rosenblatt.serving.rows import RowError, fault_of_row
from rosenblatt.serving.served import Service

_TYPES = {"BOOL": bool, "BYTES": str}
_INTEGERS = tuple(f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
_FLOATS = ("FP16", "FP32", "FP64")
_CHUNK = 50
Body = Callable[[Request, bool], AbstractAsyncContextManager[bytes]]


def routes(services: Mapping[str, Service], body: Body) -> list[Route]:
    """Return the endpoints for these models; ``body`` reads the body of a request."""

    async def server(request: Request) -> Response:
        return JSONResponse({"name": "rosenblatt", "version": __version__, "extensions": []})

    async def live(request: Request) -> Response:
        return JSONResponse({"live": True})

    async def ready(request: Request) -> Response:
        return JSONResponse({"ready": True})

    def of_model(answer: Callable[[Request, str, Service], Awaitable[Response]]) -> Any:
        async def endpoint(request: Request) -> Response:
            name = request.path_params["name"]
            if name not in services:
                error = f"expected one of the models {list_some(list(services))}, got {shorten(name)}: name another."
                return JSONResponse({"error": error}, 404)
            return await answer(request, name, services[name])

        return endpoint

    async def metadata(request: Request, name: str, service: Service) -> Response:
        return JSONResponse(describe(name, service))

    async def model_ready(request: Request, name: str, service: Service) -> Response:
        return JSONResponse({"name": name, "ready": True})

    async def infer(request: Request, name: str, service: Service) -> Response:
        async with body(request, True) as content:
            try:
                asked = _parsed(content)
                answers: list[dict[str, Any]] = []
                async for some in _predicted(service, records(asked, service)):
                    answers += some
            except Exception as fault:
                return JSONResponse({"error": fault_of_row(fault)}, 400)
        return JSONResponse(response(name, asked, answers))

    places: list[tuple[str, Any, str]] = [
        ("/v2", server, "GET"),
        ("/v2/health/live", live, "GET"),
        ("/v2/health/ready", ready, "GET"),
        ("/v2/models/{name}", of_model(metadata), "GET"),
        ("/v2/models/{name}/ready", of_model(model_ready), "GET"),
        ("/v2/models/{name}/infer", of_model(infer), "POST"),
    ]
    return [Route(path, endpoint, methods=[method]) for path, endpoint, method in places]


def describe(name: str, service: Service) -> dict[str, Any]:
    """Return the metadata of a model: its inputs and outputs."""
    inputs = [{"name": column, "datatype": kind, "shape": [-1]} for column, kind in service.reader.kinds()]
    model = service.served.published
    outputs = [{"name": "label", "datatype": _datatype(model.classes.tolist()), "shape": [-1]}]
    if len(model.classes) == 2:
        outputs.append({"name": "score", "datatype": "FP64", "shape": [-1]})
    for kind in ["scores"] * (len(model.classes) > 2) + ["probabilities"] * (model.calibration is not None):
        outputs.append({"name": kind, "datatype": "FP64", "shape": [-1, len(model.classes)]})
    return {"name": name, "versions": ["1"], "platform": "rosenblatt", "inputs": inputs, "outputs": outputs}


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(content.decode())
    except (ValueError, RecursionError):
        raise RowError(
            "expected tensors in JSON, got something else: send them without the extension for binary data."
        ) from None
    if type(asked) is not dict or type(asked.get("inputs")) is not list or not asked["inputs"]:
        raise RowError(f"expected an object with a list of inputs, got {shorten(asked)}: see GET /v2/models/NAME.")
    return asked


def records(asked: dict[str, Any], service: Service) -> list[dict[str, Any]]:
    """Return the rows that the inputs of a request describe, as records; raise a RowError if they are not valid."""
    columns: dict[str, list[Any]] = {}
    matrix = None
    for tensor in asked["inputs"]:
        name, shape, values = _tensor(tensor)
        names = service.reader.columns
        if len(shape) == 2 and shape[1] == len(names) and shape[1] > 1 and len(asked["inputs"]) == 1:
            if not service.reader.is_positional:
                raise RowError(
                    "expected an input for each column by name, got one of all columns: see GET /v2/models/NAME."
                )
            matrix = [dict(zip(names, values[i : i + shape[1]], strict=True)) for i in range(0, len(values), shape[1])]
        elif name in columns:
            raise RowError(f"expected each input once, got {shorten(name)} twice: send it once.")
        elif len(shape) == 1 or (len(shape) == 2 and shape[1] == 1):
            columns[name] = values
        else:
            raise RowError(
                f"expected inputs of shape [n] or [n, 1], got {shorten(shape)}: send one input for each column."
            )
    if matrix is not None:
        return matrix
    n = {len(values) for values in columns.values()}
    if len(n) != 1:
        raise RowError(f"expected inputs of one length, got {list_some(sorted(n))}: send as many values in each.")
    if n == {0} or next(iter(n)) > service.limits.rows:
        raise RowError(
            f"expected from 1 to {service.limits.rows:,} rows, got {next(iter(n)):,}: send several requests."
        )
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _tensor(tensor: Any) -> tuple[str, list[int], list[Any]]:
    """Return the name, the shape and the flat values of a tensor."""
    if type(tensor) is not dict or type(tensor.get("name")) is not str:
        raise RowError(f"expected an input with a name, got {shorten(tensor)}: see GET /v2/models/NAME.")
    name, kind, shape, data = tensor["name"], *(tensor.get(key) for key in ("datatype", "shape", "data"))
    if kind not in (*_TYPES, *_INTEGERS, *_FLOATS):
        raise RowError(
            f"expected a datatype such as FP64, INT64, BOOL or BYTES, got {shorten(kind)}: name one of them."
        )
    if type(shape) is not list or not 1 <= len(shape) <= 2 or any(type(n) is not int or n < 0 for n in shape):
        raise RowError(f"expected a shape of one or two integers, got {shorten(shape)}: send one.")
    if type(data) is not list:
        raise RowError(f"expected the data of {shorten(name)} as a list, got {shorten(data)}: send tensors as JSON.")
    values = [value for part in data for value in (part if type(part) is list else [part])]
    if len(values) != shape[0] * (shape[1] if len(shape) == 2 else 1):
        raise RowError(f"expected as many values as the shape {shape} says, got {len(values):,}: send one for each.")
    wanted: tuple[type, ...] = (int,) if kind in _INTEGERS else (_TYPES[kind],) if kind in _TYPES else (int, float)
    wrong = next((value for value in values if type(value) not in wanted and value is not None), None)
    if wrong is not None:
        raise RowError(f"expected values of type {kind} in {shorten(name)}, got {shorten(wrong)}: send others.")
    return name, shape, values


async def _predicted(service: Service, rows: list[dict[str, Any]]) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield predictions, some rows at a time, so that other requests get their turn."""
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK]
        yield service.predict(service.reader.rows(some) or [service.reader.row(row) for row in some])
        await asyncio.sleep(0)


def response(name: str, asked: dict[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the response to a request: the outputs that it asks for, by default all."""
    wanted = None
    if type(asked.get("outputs")) is list:
        wanted = {output.get("name") for output in asked["outputs"] if type(output) is dict}
    outputs = []
    for key in ("label", "score", "scores", "probabilities"):
        if key not in answers[0] or (wanted is not None and key not in wanted):
            continue
        values = [answer[key] for answer in answers]
        shape, kind = [len(values)], "FP64"
        if key == "label":
            kind = _datatype(values)
        elif key != "score":
            shape.append(len(values[0]))
            values = [value for row in values for value in row.values()]
        outputs.append({"name": key, "datatype": kind, "shape": shape, "data": values})
    found: dict[str, Any] = {"model_name": name, "model_version": "1", "outputs": outputs}
    return found | ({"id": asked["id"]} if type(asked.get("id")) is str else {})


def _datatype(labels: list[Any]) -> str:
    kinds = {type(label) for label in labels}
    return {bool: "BOOL", int: "INT64", float: "FP64"}.get(kinds.pop(), "BYTES") if len(kinds) == 1 else "BYTES"
