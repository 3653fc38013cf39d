"""What the library complains about, in the words of the command: ``format=`` is ``--format``."""

from __future__ import annotations

import ast
import re

__all__ = ["sentence"]

_OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in (
        *("format", "target", "drop", "missing", "header", "bits", "ngrams", "weight", "cache"),
        *("on_error", "checkpoint", "resume", "top", "rtol"),
    )
} | {"kinds": "--kind", "max_iter": "--passes", "random_state": "--seed"}
_NOT_HERE = {
    "; or labels=False for rows without labels": "",
    ", or say quote='' if quotes mean nothing": "",
    " (or missing_values= with it)": "",
    ": if 0 is the first, say zero_based=True": "",
    "name the columns to use by columns= if others do not matter": "take it out of the file",
    "name the fields to use by columns= if others do not matter": "take it out of the file",
    "fit_stream needs": "training needs",
    "header=False": "--no-header",
    "header=True": "--header",
}
"""What the command has no option for, or another one."""


def sentence(fault: BaseException) -> str:
    """Return what went wrong as one line.

    Examples
    --------
    >>> sentence(ValueError("leave out what is no feature by drop=['a', 'b c'], or say kinds={'a': 'text'}."))
    "Leave out what is no feature by --drop a --drop 'b c', or say --kind a=text."
    >>> sentence(ValueError("bits must be between 1 and 30, got 99."))
    '--bits must be between 1 and 30, got 99.'
    >>> sentence(FileNotFoundError(2, "No such file or directory", "m.model"))
    'There is no file m.model.'
    """
    if isinstance(fault, FileNotFoundError) and fault.filename is not None:
        return f"There is no file {fault.filename}."
    if isinstance(fault, OSError) and fault.strerror:
        return f"{fault.strerror}." if fault.filename is None else f"{fault.filename}: {fault.strerror}."
    if isinstance(fault, MemoryError):
        return f"There is not enough memory: {fault}" if str(fault) else "There is not enough memory."
    words = " ".join(str(fault).split())
    for theirs, ours in _NOT_HERE.items():
        words = words.replace(theirs, ours)
    words = re.sub(r"\bdrop=(\[[^]]*\])", lambda match: _repeated("--drop", ast.literal_eval(match[1])), words)
    words = re.sub(r"\bkinds=(\{[^}]*\})", _as_kinds, words)
    words = re.sub(r"^(\w+)(?= must )", lambda match: _OPTIONS.get(match[1], match[1]), words)
    words = re.sub(r"\b(\w+)=(?:(['\"])(\w*)\2)?(?=(.?))", _as_option, words)
    return words[:1].upper() + words[1:] if words[:1].islower() and words.split()[0].isalpha() else words


def _repeated(option: str, values: list[str]) -> str:
    return " ".join(f"{option} {value!r}" if " " in value else f"{option} {value}" for value in values)


def _as_kinds(match: re.Match[str]) -> str:
    return _repeated("--kind", [f"{name}={kind}" for name, kind in ast.literal_eval(match[1]).items()])


def _as_option(match: re.Match[str]) -> str:
    """Return how an option is written here that the library names as a parameter, with its value unquoted."""
    option = _OPTIONS.get(match[1])
    if option is None:
        return match[0]
    if match[3]:
        return f"{option} {match[3]}"
    return option + (" " if match[4].strip() and match[4] not in ",.:;)" else "")
