"""The options that several commands share, each declared once, alone or in groups.

A command is a function whose parameters are its options, as Typer reads them: the default declares the option. A
parameter that is a `Group` stands for one option for each of its fields, and the command gets them in one object.
"""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform, get_type_hints

import typer

from rosenblatt.cli.output import exit_cleanly
from rosenblatt.messages import ParameterError, Setting, check_choice

if TYPE_CHECKING:
    from rosenblatt.training.options import RunOptions

Function = TypeVar("Function", bound=Callable[..., Any])


def option(default: Any, metavar: str | None, help: str, names: str = "") -> Any:
    """Return the declaration of an option.

    Its names, with a space between them, are given where it is not called as the parameter is: ``on_error`` is
    ``--on-error``.
    """
    return typer.Option(default, *names.split(), metavar=metavar, help=help)


FILES: Any = typer.Argument(metavar="DATA", help='Files, patterns such as "part-*.csv", or - for standard input.')
MODEL: Any = typer.Argument(metavar="MODEL", help="A file that train wrote.")
TARGET = option(None, "COL", "The column with the labels: its name, or its place (-1: last).", "--target -t")
MODEL_OUT = option(None, "MODEL", "Where to write the model.", "--out -o")
AS_JSON = option(False, None, "Print one line of JSON for machines.", "--json")
SEED = option(0, "N", "The same seed gives the same model.", "--seed")
DEVICE = option(None, "NAME", "Where to compute, such as cuda (needs PyTorch).", "--device")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Group:
    """Options that belong together: a frozen dataclass, whose fields are declared as the options of a command are."""

    declared: ClassVar[dict[str, Any]] = {}
    """The declarations of its options, by the names of the fields."""

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, type(TARGET))}
        cls.declared = cls.declared | own
        for name, declaration in own.items():
            setattr(cls, name, declaration.default)
        dataclass(frozen=True)(cls)

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by the names of the fields."""
        values = {name: getattr(self, name) for name in self.declared}
        return {name: value for name, value in values.items() if value not in (None, [])}


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
    types = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    flat = list(_flattened((one.name, types[one.name], one.default) for one in parameters))

    @functools.wraps(function)
    def called(**values: Any) -> Any:
        groups = {one.name: _gathered(types[one.name], values) for one in parameters if _is_group(types[one.name])}
        return function(**groups, **values)

    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in flat}
    return exit_cleanly(called)  # type: ignore[return-value]


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Group)


def _flattened(given: Iterable[tuple[str, Any, Any]]) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each option of a command, given its names, types and declarations."""
    for name, kind, declaration in given:
        if _is_group(kind):
            types = get_type_hints(kind)
            inside = [one.name for one in fields(kind) if one.init]
            yield from _flattened((name, types[name], kind.declared.get(name)) for name in inside)
        else:
            if isinstance(declaration, type(TARGET)) and not declaration.param_decls:
                declaration = copy.copy(declaration)
                declaration.param_decls = (f"--{name.replace('_', '-')}",)
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=declaration, annotation=kind)


def _gathered(kind: Any, values: dict[str, Any]) -> Any:
    """Return a group with its options taken out of ``values``; those that are not there keep their defaults."""
    types = get_type_hints(kind)
    own: dict[str, Any] = {}
    for one in fields(kind):
        if _is_group(types[one.name]):
            own[one.name] = _gathered(types[one.name], values)
        elif one.name in values:
            own[one.name] = values.pop(one.name)
    return kind(**own)


# How files are read, and how rows are made of them.

_NAMES_IN_OPEN = {
    "max_line": "max_line_bytes",
    "kind": "column_types",
    "missing_value": "missing_values",
    "features": "n_features",
}
"""The parameters of `data.open` that are not called as the fields are."""


class FileOptions(Group):
    """How files are written and read, where something else says how rows are made of them: a model, a certificate."""

    format: str | None = option(
        None, "F", "csv, tsv, parquet, arrow, jsonl, svmlight, vw or npz; detected from the file if left out."
    )
    delimiter: str | None = option(None, "C", "The character between the cells of CSV; detected if left out.")
    header: bool | None = option(None, None, "Whether the first line of CSV names the columns.", "--header/--no-header")
    on_error: str = option("raise", "raise|skip", "Stop at a row that cannot be read, or skip it.")
    max_line: int | None = option(None, "BYTES", "The longest line that may be read (64,000,000).")

    def about_files(self) -> dict[str, Any]:
        """Return the options that were given and say how files are read, by the names that `data.open` has."""
        names = {one.name for one in fields(FileOptions)}
        return {_NAMES_IN_OPEN.get(name, name): value for name, value in self.given.items() if name in names}

    def to_open(self) -> dict[str, Any]:
        """Return all options that were given, by the names that `data.open` has for them."""
        return self.about_files()


class RowOptions(FileOptions):
    """How files are read, and how rows are made of them."""

    drop: list[str] | None = option(None, "COL", "A column to leave out; repeat for more.")
    keep: list[str] | None = option(
        None, "COL", "A column to use even if it looks like an id or holds dates; repeat for more."
    )
    kind: list[str] | None = option(
        None,
        "COL=KIND",
        "What a column is: number, boolean, category, text, date, decimal-comma or thousands-comma; repeat it.",
    )
    missing: str | None = option(None, "mean|zero|error", "What a missing number becomes, or error.")
    missing_value: list[str] | None = option(None, "WORD", "A word that stands for a missing value; repeat for more.")
    bits: int | None = option(None, "N", "Words are hashed to 2^N columns (18).")
    ngrams: int | None = option(None, "N", "Count up to N words in a row as one.")
    features: int | None = option(None, "N", "The columns of svmlight text, where indices do not say them.")

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


class WeightedRowOptions(RowOptions):
    """How files are read and rows are made of them, with a weight each."""

    weight: str | None = option(None, "COL", "The column that says how much a row counts, 0 or more.")


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


class StepOptions(Group):
    """The steps of a linear learner and the weights that predict; None: as the learner does.

    >>> StepOptions(C=0.1, hypothesis="average").parameters("pa")
    {'C': 0.1, 'hypothesis': 'average'}
    """

    r: float | None = option(
        None, "R", "For --learner arow: larger values make smaller steps (10; for one pass rather 3)."
    )
    C: float | None = option(None, "C", "For --learner pa: the largest step; inf for no limit (1).", "--C -C")
    loss: str | None = option(None, "NAME", "For --learner pa: hinge (if left out) or squared_hinge.")
    hypothesis: str | None = option(
        None, "NAME", "Which weights predict: last, average (kernel: if left out), for a kernel also vote."
    )
    decay: float | None = option(None, "D", "How much of itself the average forgets with each row, below 1 (0).")

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


class KernelChoice(Group):
    """The kernel of ``--learner kernel``; None where nothing is said."""

    kernel: str | None = option(
        None, "NAME", "For --learner kernel: poly (if left out), rbf, laplacian, linear or sigmoid."
    )
    degree: int | None = option(None, "N", "The degree of poly (3).")
    gamma: str | None = option(None, "G", "Gamma of the kernel: a number, auto or scale (if left out).")
    coef0: float | None = option(None, "C", "The constant of poly and sigmoid (1).")
    cache_size: float | None = option(None, "MB", "Megabytes for kernel values that are kept (1000).")
    max_support: int | None = option(None, "N", "The most support rows of a classifier; it forgets the oldest.")
    device: str | None = DEVICE

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
        raise ParameterError(
            Setting("gamma"), f" must be scale, auto or a number of at least 0, got {text!r}."
        ) from None


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
