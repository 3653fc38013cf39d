"""The ``rosenblatt`` command. The module of a subcommand is imported only when the subcommand is used."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

try:
    import typer
except ImportError:
    print("Error: the command needs the package typer: pip install 'rosenblatt[cli]'.", file=sys.stderr)
    raise SystemExit(2) from None

from typer.core import TyperGroup

from rosenblatt.cli.output import print_error
from rosenblatt.messages import escape_unprintable

COMMANDS = {
    "train": "Train a model on files; test and save it.",
    "describe": "Show the columns of a file before training.",
    "predict": "Write the predicted label of each row.",
    "test": "Measure how well a model predicts labelled rows.",
    "explain": "Print the most important features, or explain one prediction.",
    "separate": "Decide whether the classes are linearly separable, with proof.",
    "check": "Verify a certificate against the data.",
    "watch": "Learn online from standard input.",
    "serve": "Predict and learn over HTTP.",
    "export": "Write a model as ONNX or JSON.",
    "reproduce": "Repeat the experiment of a paper and compare the results.",
    "demo": "Run a small demo with text and a plot.",
    "figures": "Draw the figures of three textbook chapters from real runs.",
    "lab": "Open a web page that shows a perceptron learning step by step.",
    "exercises": "List the exercises, or check answers that were handed in.",
}
"""The subcommands and their short descriptions, in the order of ``rosenblatt --help``."""
_MODULES = {"check": "separate"}
"""For each subcommand whose module has a different name, the name of the module."""
_UsageError: Any = typer.BadParameter.__base__
"""The base class of errors about arguments, in the version of click that typer uses."""
_ERROR, _INTERRUPTED = 2, 130
"""The exit codes after an error message, and after Ctrl-C."""
_RETRY = 0.01
"""Seconds after which a signal is sent again if Python has discarded its exception."""
_interrupts = 0
"""The number of times that a signal has raised a KeyboardInterrupt."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h


class _Commands(Mapping[str, Any]):
    """A mapping from names to subcommands, which imports a subcommand when its name is looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        module = importlib.import_module(f"rosenblatt.cli.{_MODULES.get(name, name)}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, short_help=COMMANDS[name])(getattr(module, name))
        return typer.main.get_command(single)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _LazyGroup(TyperGroup):
    """A group of commands that can be listed without importing them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:  # it quotes arguments, for instance names of files that the shell has filled in
            error.message = escape_unprintable(error.message, keep="\n\t")
            raise


app = typer.Typer(
    name="rosenblatt",
    cls=_LazyGroup,
    help="Perceptrons at the command line: train on files, predict, and prove linear separability.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
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
    """Run the command, then exit with its status at once, skipping the interpreter's cleanup."""
    _prepare_process()
    status: int | str | None
    try:
        status = _run()
    except KeyboardInterrupt:  # during an import, or a second one after the first
        status = _INTERRUPTED
    if not isinstance(status, int):
        sys.exit(status)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader has closed the pipe
        pass
    except OSError as error:
        status = status if status == _ERROR else _failed(error)
    os._exit(status)


def _run() -> int | str | None:
    """Run the command, and return its status."""
    try:
        app()
    except SystemExit as ended:
        return ended.code if ended.code is not None else 0
    except OSError as error:  # raised while the help is printed; `exit_on_error` handles errors of a subcommand
        return _failed(error)
    return 0


def _prepare_process() -> None:
    """Disable garbage collection until `enable_gc` is called, tune malloc, and set up signals and standard streams.

    With glibc, the process keeps freed memory, so that later blocks of rows can reuse it. SIGTERM is handled like
    Ctrl-C. A standard stream that the shell has closed is replaced by the null device.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _interrupt_again
    gc.disable()
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 1 << 26)
        mallopt(_TRIM_THRESHOLD, 1 << 28)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise a KeyboardInterrupt while the command is running; the third signal ends the process at once."""
    global _interrupts
    while frame is not None and frame.f_code is not _run.__code__:
        frame = frame.f_back
    if frame is None:
        return
    _interrupts += 1
    if _interrupts > 2:
        os._exit(_INTERRUPTED)
    raise KeyboardInterrupt


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send SIGINT again a moment later, if Python discards its KeyboardInterrupt, as in callbacks and finalizers."""
    global _interrupts
    if not issubclass(unraisable.exc_type, KeyboardInterrupt) or not hasattr(signal, "pthread_kill"):
        sys.__unraisablehook__(unraisable)
        return
    _interrupts -= 1
    threading.Timer(_RETRY, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()


def _terminate(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell makes background processes ignore SIGINT
        signal.signal(signal.SIGINT, _interrupt)
    signal.raise_signal(signal.SIGINT)


def _failed(error: OSError) -> int:
    with suppress(OSError):
        print_error(error)
    return _ERROR


if __name__ == "__main__":
    main()
