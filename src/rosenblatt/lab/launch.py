"""Start and stop the lab: run its server on this machine, print the address, and open the browser."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.lab.export import PAGE
from rosenblatt.lab.questions import Question, questions
from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import LEARNERS

if TYPE_CHECKING:
    import uvicorn

_ADDRESS = "127.0.0.1"


def launch(state: LabState, port: int = 0, browser: bool = True) -> None:
    """Serve the lab until Ctrl-C or SIGTERM. With port 0, the operating system chooses a free port.

    The address is printed as soon as the server accepts connections. Warnings are suppressed, because the page itself
    reports runs that did not converge.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"--port must be an integer from 0 to 65535, got {port}.")
    asked = questions(state)

    def started(address: str) -> None:
        print(address, flush=True)
        _in_background(lambda: warm_up(asked))
        if browser:
            _in_background(lambda: _open_browser(address))

    with warnings.catch_warnings(), suppress(KeyboardInterrupt):
        warnings.simplefilter("ignore")
        with listening(port) as listener:
            make_server(listener, asked, PAGE, started).run(sockets=[listener])
    print("The lab is closed.", file=sys.stderr, flush=True)


def make_server(
    listener: socket.socket, asked: Mapping[str, Question], page: Path, started: Callable[[str], None]
) -> uvicorn.Server:
    """Return a server for a bound socket. It calls ``started`` with its address when it accepts connections."""
    try:
        import uvicorn

        from rosenblatt.lab.server import MOST_AT_ONCE, lab_app
    except ImportError:
        raise ImportError("the lab needs the packages starlette and uvicorn: pip install 'rosenblatt[lab]'.") from None
    threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="lab")
    token, port = secrets.token_urlsafe(16), listener.getsockname()[1]

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started(f"http://{_ADDRESS}:{port}/{token}/")

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            threads.shutdown(wait=False, cancel_futures=True)

    settings: dict[str, Any] = {"lifespan": "off", "ws": "none", "loop": "asyncio", "http": "h11"}
    settings |= {"proxy_headers": False, "server_header": False, "timeout_keep_alive": 60}
    settings |= {"log_config": None, "log_level": "critical", "access_log": False, "timeout_graceful_shutdown": 1}
    return Server(uvicorn.Config(lab_app(page, token, port, asked, threads), **settings))


def listening(port: int) -> socket.socket:
    """Return a socket that listens on a port of 127.0.0.1; raise a ValueError if the port cannot be used."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or answers wait 40 ms
    if os.name == "posix":  # elsewhere it would share the port with another program
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_ADDRESS, port))
        listener.listen(128)
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is taken by another program: leave --port out for a free one.") from None
        raise ValueError(f"port {port} cannot be used ({fault.strerror}): leave --port out for a free one.") from None
    return listener


def warm_up(asked: Mapping[str, Question]) -> None:
    """Train each learner once on three points, so that its modules are imported and its code is compiled."""
    tiny = LabState(points=((1.0, 2.0, 1, False), (2.0, 1.0, 1, False), (-1.0, 0.0, -1, False)), passes=5)
    for learner in LEARNERS:
        with suppress(Exception):  # it will be said when someone asks
            asked["run"](replace(tiny, learner=learner).to_plain())


def _in_background(work: Callable[[], object]) -> None:
    threading.Thread(target=work, daemon=True).start()


def _open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
