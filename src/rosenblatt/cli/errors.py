"""Errors of the library in the words of the command: the parameter ``format`` is the option ``--format``."""

from __future__ import annotations

import errno

from rosenblatt.parameters import ParameterError, Setting

_OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in (
        *("format", "target", "drop", "missing", "header", "bits", "ngrams", "names", "weight", "cache", "label"),
        *("on_error", "early_stopping", "shuffle", "checkpoint", "resume", "top", "rtol", "max_seconds"),
        *("data", "degrees", "device", "epochs", "small"),
        *("kernel", "degree", "gamma", "coef0", "hypothesis", "cache_size", "max_support"),
    )
} | {
    "kinds": "--kind",
    "max_iter": "--passes",
    "random_state": "--seed",
    "max_line_bytes": "--max-line",
    "n_features": "--features",
}
"""From parameters to the options of the command; it has none for the others."""


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


def option(setting: Setting) -> str | None:
    """Return a parameter as an option of the command, None where it has none.

    Examples
    --------
    >>> option(Setting("kinds", {"a": "text"})), option(Setting("header", False)), option(Setting("quote"))
    ('--kind a=text', '--no-header', None)
    """
    name = _OPTIONS.get(setting.name)
    if name is None or not setting.value:
        return name
    (value,) = setting.value
    if isinstance(value, bool):
        return name if value else name.replace("--", "--no-", 1)
    if isinstance(value, dict):
        value = [f"{key}={kind}" for key, kind in value.items()]
    values = map(str, value if isinstance(value, list) else [value])
    return " ".join(f"{name} {one!r}" if " " in one else f"{name} {one}" for one in values)
