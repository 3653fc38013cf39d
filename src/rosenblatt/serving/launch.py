"""Start and stop the server."""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rosenblatt.kernels.compiler import Kernel
from rosenblatt.serving.guard import LOOPBACK
from rosenblatt.serving.limits import Limits
from rosenblatt.serving.served import Service

if TYPE_CHECKING:
    import uvicorn

_SHORTEST_TOKEN = 16
_SWITCH = 0.0005
"""Seconds after which a thread that learns lets one that answers run."""


def check_address(host: str, port: int, token: str) -> None:
    """Raise a ValueError unless a server may listen at this address: beyond this machine it needs a token.

    >>> check_address("127.0.0.1", 8000, "")
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"--port must be an integer from 0 to 65535, got {port}.")
    if host not in LOOPBACK and len(token) < _SHORTEST_TOKEN:
        raise ValueError(
            f"--host {host} lets other machines teach this model and read it: add --token with at least "
            f"{_SHORTEST_TOKEN} characters, or leave out --host."
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("--token must consist of printable ASCII characters without spaces.")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; raise a ValueError if that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or answers wait 40 ms
    if os.name == "posix":  # elsewhere it would share the port with another program
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is taken by another program: choose another one with --port.") from None
        why = fault.strerror or str(fault)
        raise ValueError(f"{host} port {port} cannot be used ({why}): choose others with --host and --port.") from None
    return listener


def make_server(
    listener: socket.socket,
    services: Mapping[str, Service],
    limits: Limits,
    token: str = "",
    started: Callable[[str], None] = lambda address: None,
) -> uvicorn.Server:
    """Return a server for a listening socket. It calls ``started`` with its address when it accepts connections.

    When it stops, it first answers the requests that have arrived, and all models write a snapshot.
    """
    try:
        import uvicorn

        from rosenblatt.serving.app import Api
    except ImportError:
        raise ImportError(
            "the server needs the packages starlette and uvicorn: pip install 'rosenblatt[serve]'."
        ) from None
    host, port = listener.getsockname()[:2]

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    settings: dict[str, Any] = {"lifespan": "off", "ws": "none", "loop": "asyncio", "http": "h11"}
    settings |= {"proxy_headers": False, "server_header": False, "timeout_keep_alive": 60}
    settings |= {"log_config": None, "log_level": "critical", "access_log": False}
    settings |= {"limit_concurrency": limits.connections, "timeout_graceful_shutdown": 30}
    return Server(uvicorn.Config(Api(services, limits).app(port, token), **settings))


def serve_models(
    services: Mapping[str, Service], limits: Limits, host: str, port: int, token: str, started: Callable[[str], None]
) -> None:
    """Serve models until Ctrl-C or SIGTERM, then write snapshots. With port 0, the system chooses a free port."""
    Kernel.compiled_at_once = True  # when the server starts, not while a request waits
    sys.setswitchinterval(_SWITCH)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # no tracebacks of requests that h11 cannot parse
    with warnings.catch_warnings(), listening(host, port) as listener:
        warnings.simplefilter("ignore")  # rows of requests are no reason for notes in the terminal
        server = make_server(listener, services, limits, token, started)
        for service in services.values():
            service.start()
        try:
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            for service in services.values():
                service.stop()
