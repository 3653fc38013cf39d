"""Code of students, called many times: in a forked process with a time limit, else with a limit of lines.

What it prints is dropped, and what it raises, how long it takes and whether it changes its arguments are reported. This
protects a notebook from mistakes; it does not protect from attacks.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import mmap
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, BinaryIO, NoReturn

_MOST_LINES = 300_000
"""Where there is no fork, the most lines of Python that one call may run."""
_LONGEST = 200
"""The most characters of a message that code of a student raised."""
_ALL_CALLS = 20
"""All calls together may take this many times the limit of one."""


@dataclass(frozen=True)
class Stopped:
    """The call that ended a series: its number, what happened, details, and what the function returned.

    ``kind`` is "differs", "form", "raises", "changes", "loops" or "ends".
    """

    number: int
    kind: str
    text: str = ""
    got: Any = None


Examine = Callable[[int, Any], Stopped | None]
"""A function that looks at the number of a call and at what it returned."""


class _TooManyLines(BaseException):
    """Raised inside code that runs too many lines."""


def run_all(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], examine: Examine, seconds: float
) -> Stopped | None:
    """Call a function with each of many arguments in turn, until `examine` objects; return the call that ended it.

    Arguments are copies. Each call has ``seconds`` where there is fork, else a limited number of lines. Without fork,
    code that catches every exception cannot be stopped.
    """
    if hasattr(os, "fork"):
        return _in_fork(function, calls, examine, seconds)
    return _in_turn(lambda *arguments: _limited(function, arguments), calls, examine, lambda _: None)


def _in_turn(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    examine: Examine,
    begin: Callable[[int], None],
) -> Stopped | None:
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        for number, call in enumerate(calls):
            begin(number)
            arguments = copy.deepcopy(call)
            try:  # also what compares and reads results, which may be objects of the student
                got = function(*arguments)
                stopped = examine(number, got) if _same(arguments, call) else Stopped(number, "changes")
            except _TooManyLines:
                return Stopped(number, "loops")
            except BaseException as raised:  # also SystemExit
                return Stopped(number, "raises", _described(raised))
            if stopped is not None:
                return stopped
    return None


def _same(arguments: Any, before: Any) -> bool:
    """Return whether arguments are what they were before a call; arrays are compared as lists."""
    if type(arguments) is not type(before):
        return False
    if isinstance(before, tuple | list):
        return len(arguments) == len(before) and all(map(_same, arguments, before))
    if hasattr(before, "tolist"):
        return bool(arguments.tolist() == before.tolist())
    return bool(arguments == before)


def _described(raised: BaseException) -> str:
    """Return the type and the message of an exception, with the line that raised it."""
    text = "".join(traceback.format_exception_only(raised)).strip().splitlines()[-1][:_LONGEST]
    lines = [line for frame, line in traceback.walk_tb(raised.__traceback__) if frame.f_code.co_filename != __file__]
    return f"{text} (line {lines[0]})" if lines else text


def _limited(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function, and raise _TooManyLines if it runs too many lines."""
    left = _MOST_LINES

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooManyLines
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        return function(*arguments)
    finally:
        sys.settrace(before)


class _Counter:
    """A number in memory that a process shares with those that it forks."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, struct.calcsize("q"))

    def set(self, number: int) -> None:
        """Store a number."""
        self._memory[:] = struct.pack("q", number)

    def get(self) -> int:
        """Return the number."""
        return int(struct.unpack("q", self._memory[:])[0])


def _in_fork(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], examine: Examine, seconds: float
) -> Stopped | None:
    """Let a child make the calls. It says through a counter where it is, and through a pipe what ended the series."""
    current = _Counter()
    receiving, sending = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: the child needs none of them
        child = os.fork()
    if child == 0:
        _be_child(sending, lambda: _in_turn(function, calls, examine, current.set))
    os.close(sending)
    try:
        with open(receiving, "rb") as pipe:
            return _answer_of(pipe, current, seconds)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _be_child(sending: int, work: Callable[[], Stopped | None]) -> NoReturn:
    def no_input(*_: object) -> NoReturn:
        raise EOFError("there is no input here")

    builtins.input = no_input
    try:
        answer = pickle.dumps(work())
        while answer:
            answer = answer[os.write(sending, answer) :]
    finally:
        os._exit(0)


def _answer_of(pipe: BinaryIO, current: _Counter, seconds: float) -> Stopped | None:
    """Return what the child answers; or that it is stuck, or has ended without an answer."""
    started, before = time.monotonic(), -1
    while not select.select([pipe], [], [], seconds)[0]:
        number = current.get()
        if number == before or time.monotonic() - started > _ALL_CALLS * seconds:
            return Stopped(number, "loops")
        before = number
    try:
        answer: Stopped | None = pickle.load(pipe)
    except (EOFError, pickle.UnpicklingError):
        return Stopped(current.get(), "ends")
    return answer
