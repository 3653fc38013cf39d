"""Options that several commands share, singly or in groups.

A command is a function. Typer turns each parameter into an option, which is declared by the default value of the
parameter. A parameter of type `Group` becomes several options, one per field of the group. The command receives
their values in one object.
"""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, TypeVar, dataclass_transform, get_type_hints

import typer
from typer.models import OptionInfo

from rosenblatt.cli.output import exit_on_error
from rosenblatt.messages import ParameterError, Setting, check_choice

if TYPE_CHECKING:
    from rosenblatt.training.options import RunOptions

G = TypeVar("G", bound="Group")


def option(default: object, metavar: str | None, help: str, names: str = "") -> Any:
    """Return the declaration of an option.

    ``names`` are the option's names, separated by spaces. By default the option is named after the parameter:
    ``on_error`` becomes ``--on-error``.
    """
    return typer.Option(default, *names.split(), metavar=metavar, help=help)


FILES: Any = typer.Argument(metavar="DATA", help='Files, patterns such as "part-*.csv", or - for standard input.')
MODEL: Any = typer.Argument(metavar="MODEL", help="Model file written by train or watch.")
TARGET = option(None, "COL", "Column with the labels: its name or its position (-1: last).", "--target -t")
MODEL_OUT = option(None, "MODEL", "Write the model to this file.", "--out -o")
AS_JSON = option(False, None, "Print the result as one line of JSON.", "--json")
SEED = option(0, "N", "Random seed.", "--seed")
TOP = option(None, "K", "The K classes with the largest scores, instead of the label alone.", "--top")
DEVICE = option(None, "NAME", "Compute on this device, such as cuda (needs PyTorch).", "--device")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Group:
    """A group of related options: a frozen dataclass whose fields declare options like the parameters of a command."""

    declared: ClassVar[dict[str, OptionInfo]] = {}
    """The declaration of each option, by the name of its field."""

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, OptionInfo)}
        cls.declared = cls.declared | own
        for name, declaration in own.items():
            setattr(cls, name, declaration.default)
        dataclass(frozen=True)(cls)

    @property
    def given(self) -> dict[str, Any]:
        """The values of the options that are neither None nor an empty list, by the names of their fields."""
        values = {name: getattr(self, name) for name in self.declared}
        return {name: value for name, value in values.items() if value not in (None, [])}

    @property
    def changed(self) -> dict[str, Any]:
        """The options whose values differ from the defaults, by command-line name, including those of nested groups.

        >>> FileOptions(header=False, format="csv").changed
        {'--format': 'csv', '--no-header': True}
        """
        found: dict[str, Any] = {}
        for place in fields(self):  # type: ignore[arg-type]
            value, declaration = getattr(self, place.name), self.declared.get(place.name)
            if isinstance(value, Group):
                found |= value.changed
            elif declaration is not None and value not in (declaration.default, []):
                names = " ".join(declaration.param_decls or ()).split() or [f"--{place.name.replace('_', '-')}"]
                yes, _, no = names[0].partition("/")
                found |= {no: True} if value is False and no else {yes: value}
        return found


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command: expand its groups into options, and handle its errors with `exit_on_error`.

    Examples
    --------
    >>> @command
    ... def show(path: str, options: FileOptions): print(path, options.format)
    >>> list(inspect.signature(show).parameters)
    ['path', 'format', 'delimiter', 'header', 'encoding', 'skip_rows', 'sheet', 'on_error', 'max_line']
    >>> show(path="rows", format="csv")
    rows csv
    """
    types = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    flat = list(_flattened((parameter.name, types[parameter.name], parameter.default) for parameter in parameters))

    @functools.wraps(function)
    def called(**values: object) -> None:
        groups = {name: _gathered(kind, values) for name, kind in types.items() if _is_group(kind)}
        function(**groups, **values)

    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return exit_on_error(called)


def _is_group(kind: object) -> TypeGuard[type[Group]]:
    return isinstance(kind, type) and issubclass(kind, Group)


def _flattened(parameters: Iterable[tuple[str, object, object]]) -> Iterator[inspect.Parameter]:
    """Yield one parameter per option, given triples (name, type, declaration); a group yields one for each field."""
    for name, kind, declaration in parameters:
        if _is_group(kind):
            types = get_type_hints(kind)
            names = [place.name for place in fields(kind) if place.init]  # type: ignore[arg-type]
            yield from _flattened((name, types[name], kind.declared.get(name)) for name in names)
        else:
            if isinstance(declaration, OptionInfo) and not declaration.param_decls:
                declaration = copy.copy(declaration)
                declaration.param_decls = (f"--{name.replace('_', '-')}",)
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=declaration, annotation=kind)


def _gathered(kind: type[G], values: dict[str, object]) -> G:
    """Return a group with the values of its options, and remove these options from ``values``.

    Options that are not in ``values`` have their defaults. Nested groups are made in the same way.
    """
    types = get_type_hints(kind)
    own: dict[str, object] = {}
    for place in fields(kind):  # type: ignore[arg-type]
        inner = types[place.name]
        if _is_group(inner):
            own[place.name] = _gathered(inner, values)
        elif place.name in values:
            own[place.name] = values.pop(place.name)
    return kind(**own)


# Reading files, and making features from their rows.

_NAMES_IN_OPEN = {
    "max_line": "max_line_bytes",
    "kind": "column_types",
    "missing_value": "missing_values",
    "features": "n_features",
}
"""For each field that has a different name as a parameter of `data.open`, the name of that parameter."""


class FileOptions(Group):
    """Options for reading files. With a model no other options are needed, because the model defines its features."""

    format: str | None = option(
        None, "F", "Format: csv, tsv, parquet, arrow, jsonl, fasttext, svmlight, vw or npz. Detected if omitted."
    )
    delimiter: str | None = option(None, "C", "Delimiter of CSV fields. Detected if omitted.")
    header: bool | None = option(
        None, None, "Whether the first line of CSV names the columns. Detected if omitted.", "--header/--no-header"
    )
    encoding: str | None = option(
        None, "NAME", "Encoding of the text, such as cp1252.  [default: UTF-8, or UTF-16 if the file says so]"
    )
    skip_rows: int | None = option(None, "N", "Lines to leave out at the start of each file, such as a title.")
    sheet: str | None = option(None, "NAME", "Sheet of a workbook.  [default: the first visible one]")
    on_error: str = option("raise", "raise|skip", "Stop at a row that cannot be read, or skip it.")
    max_line: int | None = option(None, "BYTES", "Longest line to accept, in bytes.  [default: 64,000,000]")

    def about_files(self) -> dict[str, Any]:
        """Return the options for reading files that are set, keyed by the parameter names of `data.open`."""
        names = {place.name for place in fields(FileOptions)}
        return {_NAMES_IN_OPEN.get(name, name): value for name, value in self.given.items() if name in names}

    def to_open(self) -> dict[str, Any]:
        """Return all options that are set, keyed by the parameter names of `data.open`."""
        return self.about_files()


class RowOptions(FileOptions):
    """Options for reading files and for making features from their rows."""

    drop: list[str] | None = option(None, "COL", "Column to leave out. Repeatable.")
    keep: list[str] | None = option(None, "COL", "Column to use even if it looks like an id or a date. Repeatable.")
    kind: list[str] | None = option(
        None,
        "COL=KIND",
        "Type of a column: number, boolean, category, text, date, decimal-comma or thousands-comma. Repeatable.",
    )
    missing: str | None = option(
        None, "mean|zero|error", "Replace missing numbers with the mean of the column or with 0, or stop with an error."
    )
    missing_value: list[str] | None = option(None, "WORD", "String that marks a missing value. Repeatable.")
    bits: int | None = option(None, "N", "Hash words to 2^N columns.  [default: 18]")
    ngrams: int | None = option(None, "N", "Also count sequences of up to N words.  [default: 1; lines of text: 2]")
    characters: str | None = option(
        None, "N-M", "Count sequences of N to M characters inside words instead of words, such as 3-5."
    )
    label_first: bool | None = option(
        None, None, "In lines of text: the first word of each line is its label.", "--label-first"
    )
    features: int | None = option(None, "N", "Number of columns in svmlight files, if larger than the highest index.")

    def about_rows(self) -> dict[str, Any]:
        """Return the options for making features that are set, keyed by the parameter names of `data.open`."""
        given = self.given
        if "kind" in given:
            given["kind"] = column_types_of(given["kind"])
        if "characters" in given:
            given["characters"] = characters_of(given["characters"])
        if "weight" in given:
            given["weight"] = column_of(given["weight"])
        about_files = {place.name for place in fields(FileOptions)}
        return {_NAMES_IN_OPEN.get(name, name): value for name, value in given.items() if name not in about_files}

    def to_open(self) -> dict[str, Any]:
        """Return all options that are set, keyed by the parameter names of `data.open`."""
        return self.about_files() | self.about_rows()


class WeightedRowOptions(RowOptions):
    """The options of `RowOptions`, and a column with the weights of the rows."""

    weight: str | None = option(None, "COL", "Column with the weights of the rows, which must be 0 or more.")


def column_of(text: str | None) -> str | int | None:
    """Return a column in the form that `data.open` expects: an integer if the text is a position, else the name.

    >>> column_of("-1"), column_of("class")
    (-1, 'class')
    """
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def characters_of(text: str) -> tuple[int, int]:
    """Return the smallest and the largest number of characters in an n-gram, parsed from a text such as ``3-5``.

    >>> characters_of("3-5"), characters_of("4")
    ((3, 5), (4, 4))
    """
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if match is None:
        raise ValueError(f"--characters expects the smallest and the largest number, such as 3-5, got {text!r}.")
    return int(match[1]), int(match[2] or match[1])


def column_types_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return the types of columns by name, parsed from texts such as ``zip=category``.

    >>> column_types_of(["zip=category"])
    {'zip': 'category'}
    """
    found = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals or not name:
            raise ValueError(f"--kind expects COLUMN=KIND, such as zip=category, got {pair!r}.")
        found[name] = kind
    return found


# The learner.

LEARNERS = {
    "averaged": "AveragedPerceptron",
    "arow": "AROW",
    "pa": "PassiveAggressive",
    "perceptron": "Perceptron",
    "margin": "MarginPerceptron",
    "voted": "VotedPerceptron",
    "kernel": "KernelPerceptron",
}
"""The class of each learner, by its name on the command line."""
DIRECT_BY_DEFAULT = ("averaged",)
"""Learners that the command trains with ``multi_class="direct"`` by default; in Python the default is "ovr"."""
_LEARNERS_WITH = {
    "r": ("arow",),
    "C": ("pa",),
    "loss": ("pa",),
    "margin": ("margin",),
    "hypothesis": ("perceptron", "margin", "pa", "arow", "kernel"),
    "decay": ("averaged", "perceptron", "margin", "pa", "arow"),
}
"""For each option of `StepOptions` and for ``margin``, the learners that accept this option."""
_AVERAGING = ("averaged", "pa", "kernel")
"""Learners that predict with the averaged weights by default."""
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid")
"""Kernels that can be computed from rows. "precomputed" is missing because it needs a matrix of kernel values."""


class StepOptions(Group):
    """Options for the steps of a linear learner and the weights used for predictions; None means the default.

    >>> StepOptions(C=0.1, hypothesis="average").parameters("pa")
    {'C': 0.1, 'hypothesis': 'average'}
    """

    r: str | None = option(
        None,
        "R",
        "For --learner arow: larger values make smaller steps; 3 suits a single pass. With scale, 0.3 times the mean "
        "squared length of the rows.  [default: 10; texts: 1]",
    )
    C: float | None = option(None, "C", "For --learner pa: largest step, or inf for no limit.  [default: 1]", "--C -C")
    loss: str | None = option(None, "NAME", "For --learner pa: hinge or squared_hinge.  [default: hinge]")
    hypothesis: str | None = option(
        None,
        "NAME",
        "For learners other than averaged and voted: the weights to predict with, last or average; for kernel also "
        "vote.  [default: last; pa, kernel: average]",
    )
    decay: float | None = option(
        None, "D", "Fraction (below 1) of the averaged weights to forget at each row.  [default: 0]"
    )

    def parameters(self, learner: str) -> dict[str, Any]:
        """Return the parameters for a learner; raise a ParameterError if it rejects one or if a value is invalid."""
        parameters = self.given
        for name in parameters:
            if learner not in _LEARNERS_WITH[name]:
                *others, last = _LEARNERS_WITH[name]
                raise ParameterError(
                    "{option} applies to --learner {users}, not to {learner}: leave it out.",
                    option=Setting(name),
                    users=f"{', '.join(others)} or {last}" if others else last,
                    learner=learner,
                )
        if "r" in parameters:
            parameters["r"] = _number_or_word("r", parameters["r"], ("scale",), "above 0")
        if "hypothesis" in parameters:
            allowed = ("average", "last", "vote") if learner == "kernel" else ("last", "average")
            check_choice("hypothesis", parameters["hypothesis"], allowed)
        default = "average" if learner in _AVERAGING else "last"
        if parameters.get("decay") and parameters.get("hypothesis", default) != "average":
            raise ParameterError(
                "{decay} applies to averaged weights, but this run predicts with the last ones: leave it "
                "out, or add {hypothesis='average'}."
            )
        return parameters


class KernelChoice(Group):
    """The kernel of ``--learner kernel`` and its parameters; None means the default."""

    kernel: str | None = option(
        None, "NAME", "For --learner kernel: poly, rbf, laplacian, linear or sigmoid.  [default: poly]"
    )
    degree: int | None = option(None, "N", "Degree of the poly kernel.  [default: 3]")
    gamma: str | None = option(None, "G", "Gamma of the kernel: a number, scale or auto.  [default: scale]")
    coef0: float | None = option(None, "C", "Constant term of the poly and sigmoid kernels.  [default: 1]")
    cache_size: float | None = option(None, "MB", "Memory for kernel values, in megabytes.  [default: 1000]")
    max_support: int | None = option(
        None, "N", "Maximum number of support vectors per classifier; the oldest are dropped."
    )
    device: str | None = DEVICE

    def parameters(self, learner: str) -> dict[str, Any]:
        """Return the parameters for a learner; raise a ParameterError if it rejects one or if a value is invalid.

        >>> KernelChoice(kernel="rbf", gamma="0.5").parameters("kernel")
        {'kernel': 'rbf', 'gamma': 0.5}
        """
        given = self.given
        if learner != "kernel":
            for name in given:
                raise ParameterError(
                    "{option} applies to --learner kernel, not to {learner}: leave it out.",
                    option=Setting(name),
                    learner=learner,
                )
            return given
        from rosenblatt.training.options import PARAMETERS

        kernel = given.get("kernel", "poly")
        check_choice("kernel", kernel, KERNELS)
        for name in ("degree", "gamma", "coef0"):
            if name in given and name not in PARAMETERS[kernel]:
                raise ParameterError(
                    "{option} is not a parameter of {kernel=name}: leave it out, or use {kernels}.",
                    option=Setting(name),
                    name=kernel,
                    kernels=" or ".join(other for other in KERNELS if name in PARAMETERS[other]),
                )
        if "gamma" in given:
            given["gamma"] = _number_or_word("gamma", given["gamma"], ("scale", "auto"), "of at least 0")
        if "device" in given:
            from rosenblatt.training.dual.kernel_values import open_library

            open_library(given["device"])  # an unusable device fails here, before the files are read
        return given


def _number_or_word(name: str, text: str, words: tuple[str, ...], condition: str) -> str | float:
    """Return the value of a parameter: one of ``words``, or a number whose range is checked later."""
    try:
        return float(text)
    except ValueError:
        if text in words:
            return text
        raise ParameterError(
            "{parameter} must be {words} or a number {condition}, got {got}.",
            parameter=Setting(name),
            words=", ".join(words),
            condition=condition,
            got=repr(text),
        ) from None


def make_run_options(
    learner: str,
    kernel: KernelChoice,
    steps: StepOptions,
    *,
    bias: bool = True,
    multi_class: str | None = None,
    max_iter: int | None = None,
    **given: Any,
) -> RunOptions:
    """Return the options of a training run; raise a ParameterError for an option that the learner does not accept.

    >>> make_run_options("perceptron", KernelChoice(), StepOptions(), max_iter=3).max_iter
    3
    >>> [make_run_options(name, KernelChoice(), StepOptions()).multi_class for name in ("averaged", "voted")]
    ['direct', 'ovr']
    """
    from rosenblatt.training.options import RunOptions

    if learner not in LEARNERS:
        raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}, got {learner!r}.")
    if max_iter is not None:
        given["max_iter"] = max_iter
    if multi_class is not None or learner in DIRECT_BY_DEFAULT:
        given["multi_class"] = multi_class or "direct"
    if learner != "kernel":
        given["fit_intercept"] = bias
    elif not bias:
        raise ParameterError("--no-bias does not apply to kernels, whose constant term is {coef0}: leave it out.")
    parameters = steps.parameters(learner) | kernel.parameters(learner)
    return RunOptions.for_learner(LEARNERS[learner], **{"random_state": 0} | given | parameters).check()
