"""The public names with their parameters, and the help of every command, as text that can be compared."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import rosenblatt
from helpers.commands import command

MODULES = ("data", "distributed", "figures", "plots", "reproductions", "textbook", "vc")
HELP_COLUMNS = 100


def public_names():
    """Return a line for each public name, with its parameters and their defaults; members of classes are indented.

    Annotations are left out, as they name types that are not public. So are members that come from other libraries.
    """
    lines = []
    for module in (rosenblatt, *(getattr(rosenblatt, name) for name in MODULES)):
        prefix = "rosenblatt" if module is rosenblatt else f"rosenblatt.{module.__name__.rpartition('.')[2]}"
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                lines += [f"{prefix}.{name}{_parameters(value)}"]
                lines += [f"    .{member}" for member in _members(value)] if inspect.isclass(value) else []
            else:
                lines.append(f"{prefix}.{name}")
    return "\n".join(lines) + "\n"


def _parameters(value):
    """Return the parameters of a function or a constructor; "" where there are none to be had."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _members(kind):
    """Yield the public members of a class that this package defines, methods with their parameters."""
    for name in sorted(dir(kind)):
        home = next((base for base in kind.__mro__ if name in vars(base)), object)
        ours = home.__module__.startswith("rosenblatt") and not re.fullmatch("set_.*_request", name)
        if ours and not name.startswith("_"):
            value = getattr(kind, name, None)  # None for what raises, as it is not for this class
            yield name + (_parameters(value) if callable(value) and not inspect.isclass(value) else "")


def command_help():
    """Return what ``rosenblatt --help`` prints, and the help of every command that it names."""
    texts = [_help()]
    names = re.findall(r"^  (\w\S*)", texts[0].partition("Commands:")[2], re.MULTILINE)
    assert names, texts[0]
    texts += [_help(name) for name in names]
    return "\n".join(texts)


def _help(*words):
    done = command(*words, "--help", color=False, terminal_width=HELP_COLUMNS)
    assert done.exit_code == 0, done.output
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join([" ".join(["$ rosenblatt", *words, "--help"]), *lines]) + "\n"


SNAPSHOTS = {
    Path(__file__).with_name("public_names.txt"): public_names,
    Path(__file__).with_name("help.txt"): command_help,
}
"""What the files hold."""
