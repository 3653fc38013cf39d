"""The options that several commands share, each declared once, alone or in groups.

A command is a function whose parameters are its options, as Typer reads them. A parameter that is a dataclass is a
group: it stands for one option for each of its fields, and the command gets them in one object.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from rosenblatt.cli.output import exit_cleanly
from rosenblatt.messages import ParameterError, Setting, check_choice

if TYPE_CHECKING:
    from rosenblatt.training.options import RunOptions

Function = TypeVar("Function", bound=Callable[..., Any])


def option(names: str, help: str, metavar: str | None = None) -> Any:
    """Return the declaration of an option, given its names with a space between them."""
    return typer.Option(*names.split(), help=help, metavar=metavar)


Files = Annotated[
    list[str], typer.Argument(metavar="DATA", help='Files, patterns such as "part-*.csv", or - for standard input.')
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that train wrote.")]
Target = Annotated[
    str | None, option("--target -t", "The column with the labels: its name, or its place (-1: last).", "COL")
]
ModelOut = Annotated[Path | None, option("--out -o", "Where to write the model.", "MODEL")]
AsJson = Annotated[bool, option("--json", "Print one line of JSON for machines.")]
Seed = Annotated[int, option("--seed", "The same seed gives the same model.", "N")]
Device = Annotated[str | None, option("--device", "Where to compute, such as cuda (needs PyTorch).", "NAME")]


def command(function: Function) -> Function:
    """Make a function a command: groups become their options, and it ends as `exit_cleanly` says.

    Examples
    --------
    >>> @command
    ... def show(path: str, options: FileOptions): print(path, options.format)
    >>> list(inspect.signature(show).parameters)
    ['path', 'format', 'delimiter', 'header', 'on_error', 'max_line']
    >>> show(path="rows", format="csv")
    rows csv
    """
    types = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    given = [(one.name, types[one.name], one.default) for one in parameters]

    @functools.wraps(function)
    def called(**values: Any) -> Any:
        groups = {name: _gathered(kind, values) for name, kind, _ in given if is_dataclass(kind)}
        return function(**groups, **values)

    flat = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default in _flattened(given)
    ]
    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in flat}
    return exit_cleanly(called)  # type: ignore[return-value]


def _flattened(given: Sequence[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, type and default of each option, those of groups in the place of the group."""
    for name, kind, default in given:
        if is_dataclass(kind):
            types = get_type_hints(kind, include_extras=True)
            yield from _flattened([(one.name, types[one.name], one.default) for one in fields(kind) if one.init])
        else:
            yield name, kind, default


def _gathered(kind: Any, values: dict[str, Any]) -> Any:
    """Return a group with its options taken out of ``values``; those that are not there keep their defaults."""
    types = get_type_hints(kind, include_extras=True)
    own: dict[str, Any] = {}
    for one in fields(kind):
        if is_dataclass(types[one.name]):
            own[one.name] = _gathered(types[one.name], values)
        elif one.name in values:
            own[one.name] = values.pop(one.name)
    return kind(**own)


@dataclass(frozen=True)
class Group:
    """Options that belong together."""

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by the names of the fields."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value not in (None, [])}


# How files are read, and how rows are made of them.

_NAMES_IN_OPEN = {
    "max_line": "max_line_bytes",
    "kind": "kinds",
    "missing_value": "missing_values",
    "features": "n_features",
}
"""The parameters of `data.open` that are not called as the fields are."""


@dataclass(frozen=True)
class FileOptions(Group):
    """How files are written and read, where something else says how rows are made of them: a model, a certificate."""

    format: Annotated[
        str | None,
        option(
            "--format", "csv, tsv, parquet, arrow, jsonl, svmlight, vw or npz; detected from the file if left out.", "F"
        ),
    ] = None
    delimiter: Annotated[
        str | None, option("--delimiter", "The character between the cells of CSV; detected if left out.", "C")
    ] = None
    header: Annotated[
        bool | None, option("--header/--no-header", "Whether the first line of CSV names the columns.")
    ] = None
    on_error: Annotated[str, option("--on-error", "Stop at a row that cannot be read, or skip it.", "raise|skip")] = (
        "raise"
    )
    max_line: Annotated[
        int | None, option("--max-line", "The longest line that may be read (64,000,000).", "BYTES")
    ] = None

    def about_files(self) -> dict[str, Any]:
        """Return the options that were given and say how files are read, by the names that `data.open` has."""
        names = {one.name for one in fields(FileOptions)}
        return {_NAMES_IN_OPEN.get(name, name): value for name, value in self.given.items() if name in names}

    def to_open(self) -> dict[str, Any]:
        """Return all options that were given, by the names that `data.open` has for them."""
        return self.about_files()


@dataclass(frozen=True)
class RowOptions(FileOptions):
    """How files are read, and how rows are made of them."""

    drop: Annotated[list[str] | None, option("--drop", "A column to leave out; repeat for more.", "COL")] = None
    keep: Annotated[
        list[str] | None,
        option("--keep", "A column to use even if it looks like an id or holds dates; repeat for more.", "COL"),
    ] = None
    kind: Annotated[
        list[str] | None,
        option(
            "--kind",
            "What a column is: number, boolean, category, text, date, decimal-comma or thousands-comma; repeat it.",
            "COL=KIND",
        ),
    ] = None
    missing: Annotated[
        str | None, option("--missing", "What a missing number becomes, or error.", "mean|zero|error")
    ] = None
    missing_value: Annotated[
        list[str] | None,
        option("--missing-value", "A word that stands for a missing value; repeat for more.", "WORD"),
    ] = None
    bits: Annotated[int | None, option("--bits", "Words are hashed to 2^N columns (18).", "N")] = None
    ngrams: Annotated[int | None, option("--ngrams", "Count up to N words in a row as one.", "N")] = None
    features: Annotated[
        int | None, option("--features", "The columns of svmlight text, where indices do not say them.", "N")
    ] = None

    def about_rows(self) -> dict[str, Any]:
        """Return the options that were given and say how rows are made, by the names that `data.open` has."""
        given = self.given
        if "kind" in given:
            given["kind"] = kinds_of(given["kind"])
        if "weight" in given:
            given["weight"] = column_of(given["weight"])
        about_files = {one.name for one in fields(FileOptions)}
        return {_NAMES_IN_OPEN.get(name, name): value for name, value in given.items() if name not in about_files}

    def to_open(self) -> dict[str, Any]:
        """Return all options that were given, by the names that `data.open` has for them."""
        return self.about_files() | self.about_rows()


@dataclass(frozen=True)
class WeightedRowOptions(RowOptions):
    """How files are read and rows are made of them, with a weight each."""

    weight: Annotated[
        str | None, option("--weight", "The column that says how much a row counts, 0 or more.", "COL")
    ] = None


def column_of(text: str | None) -> str | int | None:
    """Return a column as `data.open` takes it: a number is its place.

    >>> column_of("-1"), column_of("class")
    (-1, 'class')
    """
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def kinds_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return what columns are, from texts such as ``zip=category``.

    >>> kinds_of(["zip=category"])
    {'zip': 'category'}
    """
    found = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals or not name:
            raise ValueError(f"--kind expects COLUMN=KIND, such as zip=category, got {pair!r}.")
        found[name] = kind
    return found


# What learns.

LEARNERS = {
    "averaged": "AveragedPerceptron",
    "arow": "AROW",
    "pa": "PassiveAggressive",
    "perceptron": "Perceptron",
    "margin": "MarginPerceptron",
    "voted": "VotedPerceptron",
    "kernel": "KernelPerceptron",
}
"""The learners by the names that the command has for them."""
DIRECT = ("averaged",)
"""Learners whose classes all compete in one update unless something else is said, though their own default is one
against the rest; the others keep theirs."""
_USERS = {
    "r": ("arow",),
    "C": ("pa",),
    "loss": ("pa",),
    "margin": ("margin",),
    "hypothesis": ("perceptron", "margin", "pa", "arow", "kernel"),
    "decay": ("averaged", "perceptron", "margin", "pa", "arow"),
}
"""The learners that each option of the steps is for."""
_AVERAGING = ("averaged", "kernel")
"""Learners that predict by their average if nothing else is said."""
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid")
"""Kernels of rows in files; a matrix of kernel values is not one of them."""


@dataclass(frozen=True)
class StepOptions(Group):
    """The steps of a linear learner and the weights that predict; None: as the learner does.

    >>> StepOptions(C=0.1, hypothesis="average").parameters("pa")
    {'C': 0.1, 'hypothesis': 'average'}
    """

    r: Annotated[
        float | None,
        option("--r", "For --learner arow: larger values make smaller steps (10; for one pass rather 3).", "R"),
    ] = None
    C: Annotated[float | None, option("--C -C", "For --learner pa: the largest step; inf for no limit (1).", "C")] = (
        None
    )
    loss: Annotated[str | None, option("--loss", "For --learner pa: hinge (if left out) or squared_hinge.", "NAME")] = (
        None
    )
    hypothesis: Annotated[
        str | None,
        option(
            "--hypothesis",
            "Which weights predict: last, average (kernel: if left out), for a kernel also vote.",
            "NAME",
        ),
    ] = None
    decay: Annotated[
        float | None, option("--decay", "How much of itself the average forgets with each row, below 1 (0).", "D")
    ] = None

    def parameters(self, learner: str) -> dict[str, Any]:
        """Return the parameters for a learner; a ParameterError where it has no use for one of them."""
        parameters = self.given
        for name in parameters:
            if learner not in _USERS[name]:
                *others, last = _USERS[name]
                users = f"{', '.join(others)} or {last}" if others else last
                raise ParameterError(Setting(name), f" is for --learner {users}, and this is {learner}: leave it out.")
        if "hypothesis" in parameters:
            allowed = ("average", "last", "vote") if learner == "kernel" else ("last", "average")
            check_choice("hypothesis", parameters["hypothesis"], allowed)
        default = "average" if learner in _AVERAGING else "last"
        if parameters.get("decay") and parameters.get("hypothesis", default) != "average":
            raise ParameterError(
                Setting("decay"),
                " is for averages, and the last weights predict here: add ",
                Setting("hypothesis", "average"),
                ", or leave it out.",
            )
        return parameters


@dataclass(frozen=True)
class KernelChoice(Group):
    """The kernel of ``--learner kernel``; None where nothing is said."""

    kernel: Annotated[
        str | None,
        option("--kernel", "For --learner kernel: poly (if left out), rbf, laplacian, linear or sigmoid.", "NAME"),
    ] = None
    degree: Annotated[int | None, option("--degree", "The degree of poly (3).", "N")] = None
    gamma: Annotated[
        str | None, option("--gamma", "Gamma of the kernel: a number, auto or scale (if left out).", "G")
    ] = None
    coef0: Annotated[float | None, option("--coef0", "The constant of poly and sigmoid (1).", "C")] = None
    cache_size: Annotated[
        float | None, option("--cache-size", "Megabytes for kernel values that are kept (1000).", "MB")
    ] = None
    max_support: Annotated[
        int | None,
        option("--max-support", "The most support rows of a classifier; it forgets the oldest.", "N"),
    ] = None
    device: Device = None

    def parameters(self, learner: str) -> dict[str, Any]:
        """Return the parameters for a learner; a ParameterError where an option is not for it or not valid.

        >>> KernelChoice(kernel="rbf", gamma="0.5").parameters("kernel")
        {'kernel': 'rbf', 'gamma': 0.5}
        """
        given = self.given
        if learner != "kernel":
            for name in given:
                raise ParameterError(Setting(name), f" is for --learner kernel, and this is {learner}: leave it out.")
            return given
        from rosenblatt.training.options import PARAMETERS

        kernel = given.get("kernel", "poly")
        check_choice("kernel", kernel, KERNELS)
        for name in ("degree", "gamma", "coef0"):
            if name in given and name not in PARAMETERS[kernel]:
                users = [other for other in KERNELS if name in PARAMETERS[other]]
                raise ParameterError(
                    Setting(name), " is no parameter of ", Setting("kernel", kernel), f", but of {', '.join(users)}."
                )
        if "gamma" in given:
            given["gamma"] = _gamma(given["gamma"])
        if "device" in given:
            from rosenblatt.training.dual.kernel_values import open_library

            open_library(given["device"])  # an error is better now than after files have been read
        return given


def _gamma(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        if text in ("scale", "auto"):
            return text
        raise ParameterError(Setting("gamma"), f" must be scale, auto or a number from 0 on, got {text!r}.") from None


def run_options(
    learner: str,
    kernel: KernelChoice,
    steps: StepOptions,
    *,
    bias: bool = True,
    multi_class: str | None = None,
    max_iter: int | None = None,
    **given: Any,
) -> RunOptions:
    """Return the options of a run of a learner, or a ParameterError for what it does not have.

    >>> run_options("perceptron", KernelChoice(), StepOptions(), max_iter=3).max_iter
    3
    >>> [run_options(name, KernelChoice(), StepOptions()).multi_class for name in ("averaged", "voted")]
    ['direct', 'ovr']
    """
    from rosenblatt.training.options import RunOptions

    if learner not in LEARNERS:
        raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}, got {learner!r}.")
    if max_iter is not None:
        given["max_iter"] = max_iter
    if multi_class is not None or learner in DIRECT:
        given["multi_class"] = multi_class or "direct"
    if learner != "kernel":
        given["fit_intercept"] = bias
    elif not bias:
        raise ParameterError(
            "--no-bias is for the other learners: a constant comes into a kernel through ", Setting("coef0"), "."
        )
    parameters = steps.parameters(learner) | kernel.parameters(learner)
    return RunOptions.for_learner(LEARNERS[learner], **{"random_state": 0} | given | parameters).check()
