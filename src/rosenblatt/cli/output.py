"""What all commands say, and how: for people on a terminal, plain when piped, JSON for machines.

Errors of the library are said in the words of the command: the parameter ``format`` is the option ``--format``.
"""

from __future__ import annotations

import errno
import functools
import gc
import inspect
import json
import math
import os
import shlex
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import typer

from rosenblatt.messages import Message, ParameterError, Setting, count_of, name_some
from rosenblatt.messages import label_text as as_text

_WIDTH = 78
_ORPHAN = 5
"""Letters of a last line that is too short to stand alone."""
_MOST_BARS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LONG = 0.5
"""Seconds after which a run is long enough for a bar."""
_FILLED = {
    "mean": "A number becomes the mean of its column, a category counts as none.",
    "zero": "A number becomes 0, a category counts as none.",
}
_RENAMED = {
    "column_types": "--kind",
    "max_iter": "--passes",
    "random_state": "--seed",
    "max_line_bytes": "--max-line",
    "n_features": "--features",
    "passthrough": "--id",
    "keep_words": "--names",
    "n_shards": "--shards",
    "missing_values": "--missing-value",
}
"""The options of the command that are not called as the parameters are."""
_available: ContextVar[frozenset[str] | None] = ContextVar("options of the command that runs", default=None)
Command = TypeVar("Command", bound=Callable[..., Any])


class NegativeAnswer(Exception):
    """The answer is no: exit code 1."""


def exit_cleanly(command: Command) -> Command:
    """Make a command end well: bad use or bad data is one sentence and exit code 2, with no traceback.

    A `NegativeAnswer` is exit code 1, Ctrl-C is 130. Warnings become notes on standard error, each once.
    """

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        with running(command), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", message="X (does not have valid|has) feature names")
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            try:
                return command(*args, **kwargs)
            except NegativeAnswer as no:
                if str(no):
                    say(str(no))
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                note("Interrupted.")
                raise typer.Exit(130) from None
            except BrokenPipeError:  # whoever read the answer has had enough, as head has
                raise typer.Exit(0) from None
            except (ValueError, OSError, ImportError, TypeError, MemoryError) as fault:
                complain(fault)
                raise typer.Exit(2) from None

    return guarded  # type: ignore[return-value]


def enable_gc() -> None:
    """Search for garbage from here on, though not among what was imported: `main` has put it off, to start quickly."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


# Errors in the words of the command.


@contextmanager
def running(command: Callable[..., Any]) -> Iterator[None]:
    """Name in all messages only options that this command has."""
    before = _available.set(options_of(command))
    try:
        yield
    finally:
        _available.reset(before)


def options_of(command: Callable[..., Any]) -> frozenset[str]:
    """Return the options that a command declares to Typer.

    >>> from rosenblatt.cli.train import train
    >>> sorted(options_of(train) & {"--target", "-t", "--header", "--no-header", "--rtol"})
    ['--header', '--no-header', '--target', '-t']
    """
    declared = [parameter.default for parameter in inspect.signature(command).parameters.values()]
    names = [name for one in declared for name in getattr(one, "param_decls", None) or ()]
    return frozenset(word for name in names for word in name.split("/") if word.startswith("-"))


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
    if isinstance(error, OSError) and error.strerror:
        if error.filename is not None:
            return f"{error.filename}: {error.strerror}."
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return f"{error.strerror}."
        why = error.strerror.lower()
        return f"standard output could not be written, {why}: make room there, or write elsewhere."
    if isinstance(error, MemoryError):
        return f"There is not enough memory: {error}" if str(error) else "There is not enough memory."
    sentence = error.sentence(option) if isinstance(error, ParameterError) else str(error)
    return " ".join(sentence.split())


def cli_note(note: Message) -> str:
    """Return a note as one line with the options of the command that runs.

    >>> cli_note(Message("{bits=30} is too much."))
    '--bits 30 is too much.'
    """
    return " ".join(note.render(option).split())


def option(setting: Setting) -> str | None:
    """Return a parameter as an option of the command that runs, None where it has none.

    Examples
    --------
    >>> from rosenblatt.cli.train import train
    >>> with running(train):
    ...     option(Setting("column_types", {"a": "text"})), option(Setting("header", False)), option(Setting("rtol"))
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


# Sentences, tables, numbers and JSON.


def complain(fault: Exception) -> None:
    """Say on standard error, in one sentence, what went wrong."""
    words = cli_message(fault)
    print(_wrapped(f"Error: {words}") if sys.stderr.isatty() else f"Error: {words}", file=sys.stderr)


def note(words: str) -> None:
    """Say something on standard error that is no part of the answer."""
    print(_wrapped(f"Note: {words}"), file=sys.stderr)


def _wrapped(line: str) -> str:
    """Return a line broken to fit a terminal, without a last line of a few letters.

    >>> print(_wrapped("a" * 37 + " " + "b" * 37 + " 9 s."))
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 9 s.
    """
    for width in range(_WIDTH, _WIDTH // 2, -1):
        lines = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        if len(lines) < 2 or len(lines[-1]) > _ORPHAN:
            break
    return "\n".join(lines)


def on_terminal() -> bool:
    """Return whether standard output is a terminal.

    >>> on_terminal()
    False
    """
    return sys.stdout.isatty()


def say(*paragraphs: str) -> None:
    """Print paragraphs, each line wrapped to fit a terminal of 80 columns.

    >>> say("One line.")
    One line.
    """
    for words in paragraphs:
        for line in words.splitlines() or [""]:
            print(_wrapped(line))


def emit(answer: dict[str, Any]) -> None:
    """Print an answer as one line of JSON; numbers that are not finite become null.

    >>> emit({"margin": float("-inf"), "classes": [1.0, "yes"]})
    {"margin": null, "classes": [1.0, "yes"]}
    """
    print(json.dumps(finite_or_null(answer), ensure_ascii=False, allow_nan=False))


def finite_or_null(value: Any) -> Any:
    """Return an answer as JSON can hold it: numbers that are not finite become None, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {as_text(key): finite_or_null(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_null(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(table: Any) -> None:
    """Print a `Table`: title and notes wrapped, lines cut off at the terminal's width where there is one."""
    say(table.title)
    width = terminal_width() if on_terminal() else None
    for line in type(table)(table.to_dict()).to_text().splitlines():
        print(line if width is None or len(line) <= width else line[: width - 1] + "…")
    say(*table.render_notes(option))


def terminal_width() -> int:
    """Return how many columns the terminal has."""
    import shutil

    return max(40, shutil.get_terminal_size((80, 24)).columns)


def bars(values: Sequence[int], what: str) -> None:
    """Print one number for each pass: as bars on a terminal, in one line elsewhere.

    >>> bars([7, 3, 0], "Mistakes by pass")
    Mistakes by pass: 7, 3, 0.
    """
    if not values:
        return
    if not on_terminal():
        shown = list(map(str, values))
        if len(values) > _MOST_BARS:
            half = _MOST_BARS // 2
            shown = [*shown[:half], "...", *shown[-half:]]
        say(f"{what}: {', '.join(shown)}.")
        return
    numbers = list(range(1, len(values) + 1))
    if len(numbers) > _MOST_BARS:
        step = (len(numbers) - 1) / (_MOST_BARS - 1)
        numbers = [numbers[round(i * step)] for i in range(_MOST_BARS)]
    most = max(values) or 1
    digits, right = len(str(numbers[-1])), max(len(f"{value:,}") for value in values)
    room = min(terminal_width(), 80) - digits - right - 6
    print(what)
    for number in numbers:
        value = values[number - 1]
        print(f"  {number:>{digits}}  {value:>{right},}  {_bar(value / most * room)}".rstrip())


def _bar(length: float) -> str:
    """Return a bar so many letters long, to an eighth.

    >>> _bar(2.5)
    '██▌'
    """
    whole, part = divmod(round(length * 8), 8)
    return ("█" * whole + _EIGHTHS[part]).rstrip()


# Notes about rows beside the answer: columns that are left out or filled, rows that were skipped.


def say_preparation(stream: Any) -> None:
    """Print a line for each thing that was decided about the columns of a table: left out, or noted."""
    from rosenblatt.data.tables.schema import excluded_note

    for message in (excluded_note(stream.excluded), *stream.notes):
        if message is not None:
            note(cli_note(message))


def say_extra_columns(stream: Any, who: str = "the model", used: Collection[str] = ()) -> None:
    """Print a note about columns that a model or a certificate knows nothing of."""
    extra = [name for name in stream.extra_columns if name not in used]
    if extra:
        note(f"{count_of(len(extra), 'column')} that {who} does not know {_is(extra)} left out: {name_some(extra)}.")


def say_counts(stream: Any) -> None:
    """Print notes about rows that were left out, and about values that training did not have."""
    if stream.skipped.rows:
        note(f"rows left out: {stream.skipped.rows:,}, such as: {stream.skipped.sentences[0]}")
    filled_how = _FILLED.get(stream.preparation.get("missing", "error"))
    if stream.filled and filled_how:
        note(f"missing values: {_listed(stream.filled)}. {filled_how}")
    if stream.unseen:
        note(f"values that training did not have count as none: {_listed(stream.unseen)}.")


def _listed(counts: dict[str, int]) -> str:
    return name_some([f"{name} ({count:,})" for name, count in counts.items()])


def _is(things: Collection[Any]) -> str:
    return "is" if len(things) == 1 else "are"


# How far a run is.


class ProgressBar:
    """A bar on standard error: pass, rows, MB/s of the files, mistakes of the pass, time left; nothing when piped.

    Parameters
    ----------
    label : str
        What is going on; followed by the pass where there are several.
    paths : sequence of str
        The files that are read.
    passes : int
        How often, at most.
    shown : bool
        False where something else is written to the same terminal.
    """

    def __init__(self, label: str, paths: Sequence[str] = (), passes: int = 1, shown: bool = True) -> None:
        self.label, self.passes = label, passes
        self.done, self.share, self.rows, self.mistakes = 0, 0.0, 0, -1
        self.is_shown = shown and sys.stderr.isatty()
        self._size = _size(paths) if self.is_shown else 0
        self._start = self._pass_start = time.monotonic()
        self._progress: Any = None
        self._before = 0.0  # the share of this pass that batches before this one have

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def track(self, stream: Any) -> Iterator[Any]:
        """Yield the blocks of a stream, with the bar after each."""
        rows = 0
        for block in stream:
            rows += len(block)
            self.set_rows(stream.share_read, rows)
            yield block

    def set_rows(self, share: float, rows: int) -> None:
        """Show how much of this pass has been read."""
        self.share, self.rows = share, rows
        self._draw()

    def set_share(self, share: float) -> None:
        """Show how much of the work has been done, where there are no rows."""
        self.share = share
        self._draw()

    def set_mistakes(self, mistakes: int) -> None:
        """Show how many mistakes this pass has made so far."""
        self.mistakes = mistakes
        self._draw()

    def end_pass(self, done: int, mistakes: int) -> None:
        """Show that so many passes are complete, the last with so many mistakes."""
        self.done, self.share, self.mistakes, self._before = done, 0.0, mistakes, 0.0
        self._pass_start = time.monotonic()
        self._draw()

    def show_slice(self, run: Any, batch: Any, visited: int) -> None:
        """Show how far a training run is within a batch."""
        if self.is_shown:  # what has been read is that of the whole batch
            part = visited / max(1, batch.rows.n)
            share = self._before + (run.source.share(batch, visited) - self._before) * part
            self.set_rows(share, batch.first + visited)
            self.set_mistakes(_mistakes(run, run.current.active))

    def show_batch(self, run: Any, batch: Any) -> None:
        """Show how far a training run is after a batch."""
        self._before = run.source.share(batch, batch.rows.n)
        self.set_rows(self._before, run.current.row)
        self.set_mistakes(_mistakes(run, run.current.active))

    def observer(self) -> Any:
        """Return an observer of a training run that moves this bar."""
        from rosenblatt.training.observers import Observer

        bar = self

        class Bar(Observer):
            def on_start(self, run: Any) -> None:
                bar.done = run.current.passes_done

            def on_slice(self, run: Any, batch: Any, visited: int) -> None:
                bar.show_slice(run, batch, visited)

            def on_batch(self, run: Any, batch: Any) -> None:
                bar.show_batch(run, batch)

            def on_pass(self, run: Any, active: Any) -> None:
                bar.end_pass(run.state.passes, _mistakes(run, active))

        return Bar()

    @property
    def words(self) -> str:
        """Rows, speed and mistakes."""
        parts = [f"{self.rows:,} rows"] if self.rows else []
        took = time.monotonic() - self._pass_start
        if self.rows and self._size and self.share and took:
            parts.append(f"{self.share * self._size / took / 1e6:,.0f} MB/s")
        if self.mistakes >= 0:
            parts.append(f"{self.mistakes:,} mistake{'' if self.mistakes == 1 else 's'}")
        return "  ".join(parts)

    def _draw(self) -> None:
        if not self.is_shown or (self._progress is None and time.monotonic() - self._start < _LONG):
            return
        number = min(self.done + 1, self.passes)
        words = f"{self.label} {number}/{self.passes}" if self.passes > 1 else self.label
        total = float(self.passes) if self._size else None
        if self._progress is None:
            self._progress = _progress(bool(self._size))
            self._task = self._progress.add_task(words, total=total, text=self.words)
            self._progress.start()
        self._progress.update(self._task, description=words, completed=self.done + self.share, text=self.words)


def _mistakes(run: Any, active: Any) -> int:
    return int(run.state.counters["mistakes"][active].sum())


def _size(paths: Sequence[str]) -> int:
    """Return how many bytes the files have, 0 where one has no size."""
    from rosenblatt.data.io.lines import file_names

    names = file_names(list(paths))
    return sum(os.path.getsize(name) for name in names) if all(map(os.path.isfile, names)) else 0


def _progress(has_end: bool) -> Any:
    from rich import progress as rich
    from rich.console import Console

    text = rich.TextColumn("{task.fields[text]}")
    left = [rich.TaskProgressColumn(), text, rich.TimeRemainingColumn(compact=True)]
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(bar_width=None),
        *(left if has_end else [text, rich.TimeElapsedColumn()]),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
