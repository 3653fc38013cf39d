"""Output of all commands: errors and notes, tables, bars, JSON, and progress on standard error.

Text is wrapped at 78 columns. On a terminal, the lines of tables are truncated to its width, and counts by pass are
drawn as bars. The messages of the library name Python parameters. The commands print the matching options instead, for
example ``--format`` for the parameter ``format``. Labels, names and values may come from untrusted files, so
characters that are not printable are shown as escapes.
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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeAlias, TypeVar

import typer

from rosenblatt.messages import Message, ParameterError, Setting, count_of, escape_unprintable, label_text, name_some

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.progress import Progress, ProgressColumn, TaskID

    from rosenblatt.blocks import Block
    from rosenblatt.data import Stream
    from rosenblatt.tables import Table
    from rosenblatt.training.batches import Batch
    from rosenblatt.training.observers import Observer
    from rosenblatt.training.run import TrainingRun

JsonObject: TypeAlias = dict[str, Any]
"""The result of a command, as ``--json`` prints it."""
_WIDTH = 78
_ORPHAN = 5
"""Wrapping avoids a last line of at most this many characters."""
_MOST_BARS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_DELAY = 0.5
"""Delay in seconds before a progress bar appears, so that short tasks do not show one."""
_FILLED = {
    "mean": "Missing numbers are replaced with the mean of the column; missing categories become all zeros.",
    "zero": "Missing numbers are replaced with 0; missing categories become all zeros.",
}
_OPTION_NAMES = {
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
"""For each Python parameter whose option has a different name, the name of the option."""
_LAZY_MODULES = ("char", "ctypeslib", "f2py", "ma", "polynomial", "rec", "testing")
_available: ContextVar[frozenset[str] | None] = ContextVar("options of the running command", default=None)
P = ParamSpec("P")
R = TypeVar("R")


class NegativeAnswer(Exception):
    """Raised if a command runs but its result is negative, such as a certificate that does not hold. Exit code 1."""


def exit_on_error(command: Callable[P, R]) -> Callable[P, R]:
    """Decorate a command to print an error as one sentence, without a traceback, and to set the exit code.

    The exit code is 2 for invalid options or data, 1 for a `NegativeAnswer` and 130 for Ctrl-C. Each warning is printed
    once, as a note on standard error.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        with options_of_command(command), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", message="X (does not have valid|has) feature names")
            warnings.showwarning = lambda message, *_, **__: print_note(str(message))
            try:
                _hide_lazy_modules()
                return command(*args, **kwargs)
            except NegativeAnswer as no:
                if str(no):
                    print_text(str(no))
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                print_note("Interrupted.")
                raise typer.Exit(130) from None
            except BrokenPipeError:  # the reader, such as head, has closed the pipe
                raise typer.Exit(0) from None
            except (ValueError, OSError, ImportError, TypeError, MemoryError) as error:
                print_error(error)
                raise typer.Exit(2) from None

    return guarded


def _hide_lazy_modules() -> None:
    """Leave modules that no command uses out of the listed names of NumPy, for a quick start.

    NumPy imports these modules when they are looked up. SciPy looks up all listed names when it is imported.
    """
    import numpy as np

    listed = [name for name in np.__all__ if name not in _LAZY_MODULES]
    np.__all__ = listed
    vars(np)["__dir__"] = lambda: listed


def enable_gc() -> None:
    """Enable garbage collection, which `main` disables for a quick start.

    Objects that already exist, mostly imported modules, are excluded from collection.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


# Messages of the library, with options of the command in place of Python parameters.


@contextmanager
def options_of_command(command: Callable[..., object]) -> Iterator[None]:
    """Within this context, restrict the options that messages name to those of ``command``."""
    before = _available.set(option_names(command))
    try:
        yield
    finally:
        _available.reset(before)


def option_names(command: Callable[..., object]) -> frozenset[str]:
    """Return the names of the options that a command declares to Typer.

    >>> from rosenblatt.cli.train import train
    >>> sorted(option_names(train) & {"--target", "-t", "--header", "--no-header", "--rtol"})
    ['--header', '--no-header', '--target', '-t']
    """
    defaults = [parameter.default for parameter in inspect.signature(command).parameters.values()]
    names = [name for default in defaults for name in getattr(default, "param_decls", None) or ()]
    return frozenset(word for name in names for word in name.split("/") if word.startswith("-"))


def error_text(error: BaseException) -> str:
    """Return the message of an error as one line, with parameters written as options of the running command.

    Examples
    --------
    >>> error_text(ParameterError("leave it out by {drop=columns}.", columns=["a", "b c"]))
    "leave it out by --drop a --drop 'b c'."
    >>> error_text(ParameterError("{bits} must be an integer from 1 to 30, got 99."))
    '--bits must be an integer from 1 to 30, got 99.'
    >>> error_text(FileNotFoundError(2, "No such file or directory", "m.model"))
    'There is no file m.model.'
    """
    if isinstance(error, FileNotFoundError) and error.filename is not None and "could not" not in str(error.strerror):
        return f"There is no file {error.filename}."
    if isinstance(error, OSError) and error.strerror:
        if error.filename is not None:
            return f"{error.filename}: {error.strerror}."
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return f"{error.strerror}."
        return f"standard output could not be written, {error.strerror.lower()}: free some space or write elsewhere."
    if isinstance(error, MemoryError):
        return f"There is not enough memory: {error}" if str(error) else "There is not enough memory."
    text = error.message.render(as_option) if isinstance(error, ParameterError) else str(error)
    return " ".join(text.split())


def note_text(note: Message) -> str:
    """Return a note as one line, with parameters written as options of the running command.

    >>> note_text(Message("{bits=30} is too much."))
    '--bits 30 is too much.'
    """
    return " ".join(note.render(as_option).split())


def as_option(setting: Setting) -> str | None:
    """Return a parameter as an option of the running command, or None if the command does not have this option.

    Examples
    --------
    >>> from rosenblatt.cli.train import train
    >>> with options_of_command(train):
    ...     as_option(Setting("column_types", {"a": "text"})), as_option(Setting("header", False))
    ('--kind a=text', '--no-header')
    >>> with options_of_command(train):
    ...     as_option(Setting("rtol"))
    """
    name, available = _OPTION_NAMES.get(setting.name, "--" + setting.name.replace("_", "-")), _available.get()
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
    return " ".join(f"{name} {shlex.quote(text)}" for text in values)


# Text, tables, bars and JSON.


def print_error(error: Exception) -> None:
    """Print the message of an error on standard error."""
    text = f"Error: {escape_unprintable(error_text(error))}"
    print(_wrapped(text) if sys.stderr.isatty() else text, file=sys.stderr)


def print_note(text: str) -> None:
    """Print a note on standard error, because notes are not part of the result."""
    print(_wrapped("Note: " + escape_unprintable(text, keep="\n")), file=sys.stderr)


def _wrapped(line: str) -> str:
    """Return a line wrapped at 78 columns, or at fewer to avoid a last line of only a few characters.

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


def print_text(*paragraphs: str) -> None:
    """Print paragraphs, each line wrapped to fit a terminal of 80 columns.

    >>> print_text("One line.")
    One line.
    """
    for text in paragraphs:
        for line in escape_unprintable(text, keep="\n").splitlines() or [""]:
            print(_wrapped(line))


def print_json(answer: Mapping[str, object], file: TextIO | None = None) -> None:
    """Print the result of a command as one line of JSON, by default to standard output.

    Infinities and NaN become null.

    Characters that are not printable are written as escapes of JSON, such as ``\\u001b``.

    >>> print_json({"margin": float("-inf"), "classes": [1.0, "yes"]})
    {"margin": null, "classes": [1.0, "yes"]}
    """
    text = json.dumps(finite_or_null(answer), ensure_ascii=False, allow_nan=False)
    safe = text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    print(safe, file=file)


def finite_or_null(value: Any) -> Any:
    """Return a copy of a value with infinities and NaN at any depth replaced by None, as JSON has neither."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {label_text(key): finite_or_null(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_null(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(table: Table) -> None:
    """Print a table; wrap its title and notes, and truncate its other lines to the width of the terminal, if any."""
    print_text(table.title)
    width = terminal_width() if on_terminal() else None
    for line in type(table)(table.to_dict()).to_text().splitlines():
        print(line if width is None or len(line) <= width else line[: width - 1] + "…")
    print_text(*table.render_notes(as_option))


def terminal_width() -> int:
    """Return the width of the terminal in columns, or 40 if it is narrower."""
    import shutil

    return max(40, shutil.get_terminal_size((80, 24)).columns)


def print_bars(values: Sequence[int], title: str) -> None:
    """Print the count of each pass, as a bar chart on a terminal and as one line otherwise.

    For more than 20 passes, only some of the counts are shown.

    >>> print_bars([7, 3, 0], "Mistakes by pass")
    Mistakes by pass: 7, 3, 0.
    """
    if not values:
        return
    if not on_terminal():
        shown = list(map(str, values))
        if len(values) > _MOST_BARS:
            half = _MOST_BARS // 2
            shown = [*shown[:half], "...", *shown[-half:]]
        print_text(f"{title}: {', '.join(shown)}.")
        return
    numbers = list(range(1, len(values) + 1))
    if len(numbers) > _MOST_BARS:
        step = (len(numbers) - 1) / (_MOST_BARS - 1)
        numbers = [numbers[round(i * step)] for i in range(_MOST_BARS)]
    most = max(values) or 1
    digits, right = len(str(numbers[-1])), max(len(f"{value:,}") for value in values)
    width = min(terminal_width(), 80) - digits - right - 6
    print(title)
    for number in numbers:
        value = values[number - 1]
        print(f"  {number:>{digits}}  {value:>{right},}  {_bar(value / most * width)}".rstrip())


def _bar(length: float) -> str:
    """Return a bar ``length`` characters long, rounded to an eighth of a character.

    >>> _bar(2.5)
    '██▌'
    """
    whole, part = divmod(round(length * 8), 8)
    return ("█" * whole + _EIGHTHS[part]).rstrip()


# Notes about the rows that were read: columns left out, missing values filled in, rows skipped.


def note_preparation(stream: Stream) -> None:
    """Print which columns of a table are left out, and notes about how the files are read, such as ambiguous dates."""
    note_excluded(stream)
    for note in stream.notes:
        print_note(note_text(note))


def note_excluded(stream: Stream, noted: Collection[str] = ()) -> None:
    """Print which columns of a table are left out, except those in ``noted``."""
    from rosenblatt.data.tables.schema import excluded_note

    note = excluded_note({name: reason for name, reason in stream.excluded.items() if name not in noted})
    if note is not None:
        print_note(note_text(note))


def note_extra_columns(stream: Stream, owner: str = "the model", used: Collection[str] = ()) -> None:
    """Print a note with the columns that ``owner``, such as "the model", does not use, except those in ``used``."""
    extra = [name for name in stream.extra_columns if name not in used]
    if extra:
        is_or_are = "is" if len(extra) == 1 else "are"
        print_note(f"{count_of(len(extra), 'column')} not used by {owner} {is_or_are} left out: {name_some(extra)}.")


def count_notes(stream: Stream) -> list[str]:
    """Return notes on rows left out, missing values that were filled in, and values that did not occur in training.

    Rows are left out because they cannot be read or have no label.
    """
    from rosenblatt.data.tables.schema import unlabelled_note

    notes = []
    if stream.unlabelled:
        notes.append(f"{note_text(unlabelled_note(stream.preparation['target']['name'], stream.unlabelled))}.")
    if stream.skipped.rows:
        notes.append(f"rows skipped: {stream.skipped.rows:,}, such as: {stream.skipped.sentences[0]}")
    filled_by = _FILLED.get(str(stream.preparation.get("missing", "error")))
    if stream.filled and filled_by:
        notes.append(f"missing values: {_listed(stream.filled)}. {filled_by}")
    if stream.unseen:
        notes.append(f"values that did not occur in training become all zeros: {_listed(stream.unseen)}.")
    return notes


def note_counts(stream: Stream) -> None:
    """Print the notes of `count_notes`."""
    for note in count_notes(stream):
        print_note(note)


def _listed(counts: Mapping[str, int]) -> str:
    return name_some([f"{name} ({count:,})" for name, count in counts.items()])


# Progress of a run.


class ProgressBar:
    """A progress bar on standard error with rows, MB/s, mistakes in the pass and time left; shown only on a terminal.

    Parameters
    ----------
    label : str
        The name of the task. The number of the current pass is added if there are several passes.
    paths : sequence of str
        The files that are read, by default none. Their total size is used to compute the speed.
    passes : int
        The maximum number of passes over the files, by default 1.
    shown : bool
        Whether to show the bar, by default True. Use False if the results are printed on the same terminal.
    """

    def __init__(self, label: str, paths: Sequence[str] = (), passes: int = 1, shown: bool = True) -> None:
        self.label, self.passes = label, passes
        self.done, self.share, self.rows, self.mistakes = 0, 0.0, 0, -1
        self.is_shown = shown and sys.stderr.isatty()
        self._size = _size(paths) if self.is_shown else 0
        self._start = self._pass_start = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID
        self._share_before_batch = 0.0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def track(self, stream: Stream) -> Iterator[Block]:
        """Yield the blocks of a stream, and advance the bar before each block."""
        rows = 0
        for block in stream:
            rows += len(block)
            self.set_rows(stream.share_read, rows)
            yield block

    def set_rows(self, share: float, rows: int) -> None:
        """Show the fraction of this pass that is complete, and the number of rows read."""
        self.share, self.rows = share, rows
        self._draw()

    def set_share(self, share: float) -> None:
        """Show the fraction of a task that is complete, for a task that does not count rows."""
        self.share = share
        self._draw()

    def set_mistakes(self, mistakes: int) -> None:
        """Show the number of mistakes in this pass."""
        self.mistakes = mistakes
        self._draw()

    def end_pass(self, done: int, mistakes: int) -> None:
        """Show that ``done`` passes are complete, and the number of mistakes in the last of these passes."""
        self.done, self.share, self.mistakes, self._share_before_batch = done, 0.0, mistakes, 0.0
        self._pass_start = time.monotonic()
        self._draw()

    def show_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """Show the progress of a training run within a batch."""
        if self.is_shown:  # the source counts whole batches as read; the bar advances with each visited row
            part = visited / max(1, batch.rows.n)
            before = self._share_before_batch
            share = before + (run.source.share(batch, visited) - before) * part
            self.set_rows(share, batch.first + visited)
            self.set_mistakes(_mistakes(run, run.current.active))

    def show_batch(self, run: TrainingRun, batch: Batch) -> None:
        """Show the progress of a training run after a batch."""
        self._share_before_batch = run.source.share(batch, batch.rows.n)
        self.set_rows(self._share_before_batch, run.current.row)
        self.set_mistakes(_mistakes(run, run.current.active))

    def observer(self) -> Observer:
        """Return an observer of a training run that updates this bar."""
        from rosenblatt.training.observers import Observer

        bar = self

        class Bar(Observer):
            def on_start(self, run: TrainingRun) -> None:
                bar.done = run.current.passes_done

            def on_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
                bar.show_slice(run, batch, visited)

            def on_batch(self, run: TrainingRun, batch: Batch) -> None:
                bar.show_batch(run, batch)

            def on_pass(self, run: TrainingRun, active: NDArray[Any]) -> None:
                bar.end_pass(run.state.passes, _mistakes(run, active))

        return Bar()

    @property
    def text(self) -> str:
        """The text beside the bar: rows, speed and mistakes."""
        parts = [f"{self.rows:,} rows"] if self.rows else []
        seconds = time.monotonic() - self._pass_start
        if self.rows and self._size and self.share and seconds:
            parts.append(f"{self.share * self._size / seconds / 1e6:,.0f} MB/s")
        if self.mistakes >= 0:
            parts.append(count_of(self.mistakes, "mistake"))
        return "  ".join(parts)

    def _draw(self) -> None:
        if not self.is_shown or (self._progress is None and time.monotonic() - self._start < _BAR_DELAY):
            return
        number = min(self.done + 1, self.passes)
        label = f"{self.label} {number}/{self.passes}" if self.passes > 1 else self.label
        total = float(self.passes) if self._size else None
        if self._progress is None:
            self._progress = _rich_progress(bool(self._size))
            self._task = self._progress.add_task(label, total=total, text=self.text)
            self._progress.start()
        self._progress.update(self._task, description=label, completed=self.done + self.share, text=self.text)


def _mistakes(run: TrainingRun, active: NDArray[Any]) -> int:
    return int(run.state.counters["mistakes"][active].sum())


def _size(paths: Sequence[str]) -> int:
    """Return the total size of the files in bytes; 0 if one of them is not a regular file."""
    from rosenblatt.data.io.lines import file_names

    names = file_names(list(paths))
    return sum(os.path.getsize(name) for name in names) if all(map(os.path.isfile, names)) else 0


def _rich_progress(has_total: bool) -> Progress:
    from rich import progress as rich
    from rich.console import Console

    text = rich.TextColumn("{task.fields[text]}")
    known: list[ProgressColumn] = [rich.TaskProgressColumn(), text, rich.TimeRemainingColumn(compact=True)]
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(bar_width=None),
        *(known if has_total else [text, rich.TimeElapsedColumn()]),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
