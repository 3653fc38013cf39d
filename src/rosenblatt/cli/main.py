"""The command ``rosenblatt``: each of its commands has a file of its own, which is imported when it is called."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

try:
    import typer
except ImportError:
    print("Error: the command needs the package typer: pip install 'rosenblatt[cli]'.", file=sys.stderr)
    raise SystemExit(2) from None

from typer.core import TyperGroup

from rosenblatt.cli.output import complain

COMMANDS = {
    "train": "Learn from files; report, test and save.",
    "describe": "Show what the columns of a file are, before training.",
    "predict": "Write one label a line, in the order of the rows.",
    "test": "Tell how many labelled rows a model predicts right.",
    "explain": "Print the features that matter most, or why a row is so.",
    "separate": "Decide whether a hyperplane separates; prove it.",
    "check": "Recompute every claim of a certificate from the data.",
    "watch": "Learn from standard input, an endless stream.",
    "export": "Write a model as ONNX, or as JSON for people.",
    "reproduce": "Run a paper's experiment; print its table beside ours.",
    "demo": "Two small data sets, or one idea, in plain words and a picture.",
    "figures": "Draw the figures of the textbooks, each from a real run.",
    "lab": "Open a page where a perceptron learns, step by step.",
}
"""The commands in the order of the help, and a line about each."""
_MODULES = {"check": "separate"}
"""The modules of commands that are not called as their module is."""
_FAILED = 2
"""The exit code of a command that has said what went wrong."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the numbers that glibc's malloc.h has for these


class _Commands(Mapping[str, Any]):
    """The commands by their names; each is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        module = importlib.import_module(f"rosenblatt.cli.{_MODULES.get(name, name)}")
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        one.command(name, short_help=COMMANDS[name])(getattr(module, name))
        return typer.main.get_command(one)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _LazyGroup(TyperGroup):
    """A group that lists its commands without importing them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    name="rosenblatt",
    cls=_LazyGroup,
    help="The perceptron at the command line: train on files, predict, and prove what can be separated.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        import rosenblatt

        print(f"rosenblatt {rosenblatt.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None: ...


def main() -> None:
    """Run the command, and end the process with its status without taking everything apart first."""
    _prepare_process()
    status: Any = 0
    try:
        app()
    except SystemExit as ended:
        status = ended.code if ended.code is not None else 0
    except KeyboardInterrupt:  # while something was imported
        status = 130
    except OSError as fault:  # the help, which no command prints
        status = _failed(fault)
    if not isinstance(status, int):
        sys.exit(status)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader has had enough
        pass
    except OSError as fault:
        status = status if status == _FAILED else _failed(fault)
    os._exit(status)


def _prepare_process() -> None:
    """Put off the search for garbage until `enable_gc`, and keep memory of blocks that are done with for others.

    The latter needs glibc. SIGTERM does what Ctrl-C does. A standard stream that the shell has closed is empty, and
    forgets what is written to it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    signal.signal(signal.SIGTERM, _interrupt)
    gc.disable()
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 1 << 26)
        mallopt(_TRIM_THRESHOLD, 1 << 28)


def _interrupt(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as for a process that a shell has put into the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _failed(fault: OSError) -> int:
    with suppress(OSError):
        complain(fault)
    return _FAILED


if __name__ == "__main__":
    main()
