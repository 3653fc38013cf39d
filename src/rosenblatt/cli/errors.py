"""Errors of the library in the words of the command: the parameter ``format`` is the option ``--format``."""

from __future__ import annotations

import errno
import inspect
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, get_args

from rosenblatt.messages import ParameterError, Sentence, Setting

_RENAMED = {
    "kinds": "--kind",
    "max_iter": "--passes",
    "random_state": "--seed",
    "max_line_bytes": "--max-line",
    "n_features": "--features",
    "carry": "--id",
    "n_shards": "--shards",
    "missing_values": "--missing-value",
}
"""The options of the command that are not called as the parameters are."""
_available: ContextVar[frozenset[str] | None] = ContextVar("options of the command that runs", default=None)


@contextmanager
def running(command: Callable[..., Any]) -> Iterator[None]:
    """Name in all messages only options that this command has."""
    before = _available.set(options_of(command))
    try:
        yield
    finally:
        _available.reset(before)


def options_of(command: Callable[..., Any]) -> frozenset[str]:
    """Return the options that a function declares to typer.

    >>> from rosenblatt.cli.main import train
    >>> sorted(options_of(train) & {"--target", "-t", "--header", "--no-header", "--rtol"})
    ['--header', '--no-header', '--target', '-t']
    """
    words: list[str] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        for info in get_args(parameter.annotation)[1:]:
            declared = (getattr(info, "default", None), *(getattr(info, "param_decls", None) or ()))
            words += [word for text in declared if isinstance(text, str) for word in text.split("/")]
    return frozenset(word for word in words if word.startswith("-"))


def cli_message(error: BaseException) -> str:
    """Return what went wrong as one line.

    Examples
    --------
    >>> cli_message(ParameterError("leave it out by ", Setting("drop", ["a", "b c"]), "."))
    "leave it out by --drop a --drop 'b c'."
    >>> cli_message(ParameterError(Setting("bits"), " must be an integer from 1 to 30, got 99."))
    '--bits must be an integer from 1 to 30, got 99.'
    >>> cli_message(FileNotFoundError(2, "No such file or directory", "m.model"))
    'There is no file m.model.'
    """
    if isinstance(error, FileNotFoundError) and error.filename is not None and "could not" not in str(error.strerror):
        return f"There is no file {error.filename}."
    if (
        isinstance(error, OSError)
        and error.filename is None
        and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    ):
        return (
            f"standard output could not be written, {str(error.strerror).lower()}: make room there, or write elsewhere."
        )
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}." if error.filename is None else f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError):
        return f"There is not enough memory: {error}" if str(error) else "There is not enough memory."
    sentence = error.sentence(option) if isinstance(error, ParameterError) else str(error)
    return " ".join(sentence.split())


def cli_note(note: str) -> str:
    """Return a note of a table with the options of the command that runs.

    >>> cli_note(Sentence(Setting("bits", 30), " is too much.")), cli_note("2 features in all.")
    ('--bits 30 is too much.', '2 features in all.')
    """
    return cli_message(ParameterError(*note.pieces)) if isinstance(note, Sentence) else note


def option(setting: Setting) -> str | None:
    """Return a parameter as an option of the command that runs, None where it has none.

    Examples
    --------
    >>> from rosenblatt.cli.main import train
    >>> with running(train):
    ...     option(Setting("kinds", {"a": "text"})), option(Setting("header", False)), option(Setting("rtol"))
    ('--kind a=text', '--no-header', None)
    """
    name, available = _RENAMED.get(setting.name, "--" + setting.name.replace("_", "-")), _available.get()
    if available is not None and name not in available:
        return None
    if not setting.value:
        return name
    (value,) = setting.value
    if isinstance(value, bool):
        return name if value else name.replace("--", "--no-", 1)
    if isinstance(value, dict):
        value = [f"{key}={kind}" for key, kind in value.items()]
    values = map(str, value if isinstance(value, list) else [value])
    return " ".join(f"{name} {shlex.quote(one)}" for one in values)
