"""Pipelines as files: the parameters of each step and what it has fitted, by the schema of its kind.

A step is stored as its kind, its number of features, their names, and the attributes that scikit-learn gave it. What
scikit-learn keeps besides those differs between its versions, so it is made anew on load by fitting one row.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, SimpleNamespace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from rosenblatt.features import Combinations, ExactScaler, SphereLift, n_combinations
from rosenblatt.messages import IfAvailable, ParameterError, Setting, shorten
from rosenblatt.storage.schema import (
    PLAIN,
    Codec,
    Place,
    array,
    checked,
    fields_of,
    list_of,
    optional,
    read_fields,
    size,
    word,
    write_fields,
)

# Values that JSON does not have.


_NAN = {"missing": "nan"}
_TYPES = ("object", "bool", *(f"{k}{b}" for k in ("int", "uint") for b in (8, 16, 32, 64)), "float32", "float64", "str")


def _write_value(value: Any, place: Place) -> Any:
    """Return a string, number, boolean or None as JSON has it; NaN as a dictionary that says so."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isnan(value):
        return dict(_NAN)
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    raise ValueError(f"{shorten(value)} of type {type(value).__name__} cannot be stored as data.")


def _read_value(data: Any, place: Place) -> Any:
    if data == _NAN:
        return math.nan
    if data is None or type(data) in (bool, str) or (type(data) is int and abs(data) < 2**63):
        return data
    if type(data) is float and math.isfinite(data):
        return data
    raise place.error("a string, a number, NaN or None", data)


_VALUE = Codec(_write_value, _read_value)


class _ValuesFields:
    type: Annotated[str, word(*_TYPES)]
    values: Annotated[list[Any], list_of(_VALUE)]


def _write_values(values: NDArray[Any], place: Place) -> dict[str, Any]:
    """Return an array of strings, numbers or booleans as plain data that keeps its type."""
    name = "str" if values.dtype.kind in "UT" else values.dtype.name
    if name not in _TYPES:
        raise ValueError(f"values of type {values.dtype} cannot be stored as data.")
    return {"type": name, "values": [_write_value(value, place) for value in values.tolist()]}


def _read_values(data: Any, place: Place) -> NDArray[Any]:
    found = read_fields(_ValuesFields, data, place)
    name, values = found["type"], found["values"]
    kind = {"o": object, "s": str, "b": bool, "f": float}.get(name[0], int)
    try:
        if kind is not object and any(type(value) is not kind for value in values):
            raise OverflowError
        with np.errstate(over="ignore"):
            made = np.array(values, dtype=name)
    except OverflowError:
        raise place.error(f"values of type {name}", values) from None
    if _write_values(made, place) != data:
        raise place.error(f"values of type {name}", values)
    return made


_VALUES = Codec(_write_values, _read_values)


def _write_seen(seen: Any, place: Place) -> Any:
    """Return how many rows were seen: one number, or an array where values were missing."""
    return _SEEN.write(seen, place) if np.ndim(seen) else seen.item() if isinstance(seen, np.generic) else seen


def _read_seen(data: Any, place: Place) -> Any:
    if type(data) is str:
        return _SEEN.read(data, place)
    if type(data) not in (int, float) or not 0 <= data < 2**62:
        raise place.error("a number of rows", data)
    return np.float64(data) if type(data) is float else np.int64(data)


_SEEN = array("i8 f8 i4", "features", least=0)
_Numbers = Annotated[NDArray[Any], array("f8 f4", "features")]
_Scale = Annotated[NDArray[Any], array("f8 f4", "features", least=5e-324)]
_Seen = Annotated[Any, Codec(_write_seen, _read_seen)]
_Value = Annotated[Any, _VALUE]


# Scalers, and the lifts of this library: their parameters and attributes under their own names.


class _Nothing:
    pass


class _StandardParameters:
    copy: bool
    with_mean: bool
    with_std: bool


class _StandardFitted:
    mean_: _Numbers | None
    var_: _Numbers | None
    scale_: _Scale | None
    n_samples_seen_: _Seen


def _check_standard(step: StandardScaler, given: Given) -> StandardScaler:
    if step.with_std != (step.scale_ is not None) or (step.with_mean and step.mean_ is None):
        raise ValueError("a StandardScaler must have a mean and a scale where it uses them, and no other scale.")
    return step


class _MaxAbsParameters:
    copy: bool
    clip: bool = False


class _MaxAbsFitted:
    scale_: _Scale
    max_abs_: _Numbers
    n_samples_seen_: _Seen


class _ExactParameters:
    method: Annotated[str, word("standard", "maxabs")]


class _ExactFitted:
    centre_: _Numbers
    spread_: _Scale


_MOST_DEGREE = 64


def _read_degree(data: Any, place: Place) -> Any:
    least, most = data if type(data) is list and len(data) == 2 else (1, data)
    if type(least) is not int or type(most) is not int or not 1 <= least <= most <= _MOST_DEGREE:
        raise place.error(f"an integer or (least, most), at most {_MOST_DEGREE}", data)
    return most if type(data) is int else (least, most)


_DEGREE = Codec(lambda value, _: int(value) if np.ndim(value) == 0 else list(map(int, value)), _read_degree)


class _CombinationsParameters:
    degree: Annotated[Any, _DEGREE]


def _fit_combinations(step: Combinations, given: Given) -> Combinations:
    degree = (1, step.degree) if isinstance(step.degree, int) else step.degree
    given.claims.add(given.d + n_combinations(given.d, degree))
    return step.fit(np.zeros((1, given.d)))


# SimpleImputer


class _ImputerParameters:
    missing_values: _Value
    strategy: Annotated[str, word("mean", "median", "most_frequent", "constant")]
    fill_value: _Value
    copy: bool
    keep_empty_features: bool


_FITTED_ON = Codec(lambda dtype, _: np.dtype(dtype).name, word("float64", "float32", "int64", "int32", "object").read)


class _ImputerFitted:
    statistics_: Annotated[NDArray[Any], _VALUES]
    _fit_dtype: Annotated[Any, _FITTED_ON]


def _fit_imputer(step: SimpleImputer, given: Given) -> SimpleImputer:
    dtype, statistics = step._fit_dtype, step.statistics_
    if len(statistics) != given.d:
        raise ValueError(f"the statistics of a SimpleImputer must be {given.d:,}, got {len(statistics):,}.")
    words = dtype == "object"
    if not words and any(isinstance(v, str) for v in (step.fill_value, step.missing_values, *statistics.tolist())):
        raise ValueError("a SimpleImputer of numbers must neither look for words nor fill them in.")
    if words and step.strategy in ("mean", "median"):
        raise ValueError(f"the {step.strategy} of words is none.")
    present: Any = next(value for value in (("a", "b") if words else (0, 1)) if value != step.missing_values)
    step.fit(np.full((1, given.d), present, dtype))
    step.statistics_ = statistics
    return step


# OneHotEncoder


def _read_drop(data: Any, place: Place) -> Any:
    if type(data) is not list:
        return optional(word("first", "if_binary")).read(data, place)
    return np.array([_read_value(value, place) for value in data], object)


_CATEGORIES = Codec(lambda given, _: given if isinstance(given, str) else "given", word("auto", "given").read)
"""Lists of categories are stored as what was fitted."""
_DROP = Codec(
    lambda drop, place: drop if isinstance(drop, str | None) else [_write_value(value, place) for value in list(drop)],
    _read_drop,
)
_DTYPES = word("float64", "float32", "int64", "int32", "int8", "uint8", "bool")
_DTYPE = Codec(lambda dtype, _: np.dtype(dtype).name, lambda data, place: np.dtype(_DTYPES.read(data, place)).type)


class _OneHotParameters:
    categories: Annotated[Any, _CATEGORIES]
    drop: Annotated[Any, _DROP]
    sparse_output: bool
    dtype: Annotated[Any, _DTYPE]
    handle_unknown: Annotated[str, word("error", "ignore", "infrequent_if_exist", "warn")]


class _OneHotFitted:
    categories_: Annotated[list[NDArray[Any]], list_of(_VALUES, "features")]


def _fit_one_hot(step: OneHotEncoder, given: Given) -> OneHotEncoder:
    known, found = step.categories_, step.categories == "auto"
    if not all(len(values) for values in known):
        raise ValueError(f"a OneHotEncoder must have categories for each of its {given.d} features.")
    for values in known:
        _check_categories(values.tolist(), found)
    row = np.empty((1, given.d), object)
    row[0] = [values[:1].tolist()[0] for values in known]
    step.categories = [values.astype(object) for values in known]
    try:
        step.fit(row)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"the categories of a OneHotEncoder are not valid: {shorten(str(fault), 200)}.") from None
    if list(map(len, step.categories_)) != list(map(len, known)):
        raise ValueError("the categories of a OneHotEncoder are not those that scikit-learn makes of them.")
    step.categories, step.categories_ = "auto" if found else known, known
    return step


def _check_categories(values: list[Any], found: bool) -> None:
    """Raise a ValueError unless each category is there once, in an order in which scikit-learn can look it up.

    Categories that were found in rows rise, with None and NaN after the others, and so do numbers that were given, as
    scikit-learn writes out of bounds where they do not. Words that were given may have any order.
    """
    present = [value for value in values if not _is_missing(value)]
    missing = [value is None for value in values if _is_missing(value)]
    sound = missing in ([], [True], [False], [True, False])
    if found or not all(type(value) is str for value in present):
        sound = sound and not any(map(_is_missing, values[: len(present)])) and _rises(present)
    if not sound or len(set(present)) != len(present):
        raise ValueError("the categories of a OneHotEncoder must be sorted, none twice.")


def _is_missing(value: Any) -> bool:
    return value is None or (type(value) is float and math.isnan(value))


def _rises(values: list[Any]) -> bool:
    try:
        return all(low < high for low, high in itertools.pairwise(values))
    except TypeError:  # words and numbers
        return False


def _one_hot_width(step: OneHotEncoder) -> int:
    dropped = 0 if step.drop_idx_ is None else sum(index is not None for index in step.drop_idx_)
    return sum(map(len, step.categories_)) - dropped


# What steps have in common.


@dataclass
class Claims:
    """The columns that the steps of a file claim and do not store, all of them together: a small file can claim any.

    Examples
    --------
    >>> claims = Claims(1000)
    >>> claims.add(600)
    >>> claims.add(600)
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: its steps have too many columns ... allow them by max_features=1200.
    """

    most: int
    total: int = 0

    def add(self, columns: int, cost: int = 1) -> None:
        """Count columns, each of them ``cost`` times; a ParameterError where there are more than allowed."""
        self.total += columns * cost
        if self.total > self.most:
            allowed = Setting("max_features", self.total)
            advice = IfAvailable("max_features", ": if you trust it, allow them by ", allowed)
            raise ParameterError("its steps have too many columns of which nothing is stored", advice, ".")


@dataclass
class Given:
    """What is known of a step while it is read: its features and their names, and the claims of the whole file."""

    d: int
    names: list[str] | None
    claims: Claims


@dataclass(frozen=True)
class Kind:
    """How the steps of a class are stored: their parameters by a schema, and what they have fitted."""

    step: type
    parameters: type
    write: Callable[[Any, Place], Any]
    """Returns what a step has fitted."""
    read: Callable[[dict[str, Any], Any, Place, Given], Any]
    """Returns the fitted step of its parameters and of what ``write`` returned."""
    width: Callable[[Any], int]
    """Returns how many features a fitted step makes."""


def _kind(
    step: type,
    parameters: type,
    fitted: type,
    finish: Callable[[Any, Given], Any] = lambda step, given: step,
    width: Callable[[Any], int] = lambda step: int(step.n_features_in_),
) -> Kind:
    """Return how steps are stored whose attributes a schema describes; ``finish`` checks them and makes the others."""

    def read(given_parameters: dict[str, Any], data: Any, place: Place, given: Given) -> Any:
        made = step(**given_parameters)
        vars(made).update(read_fields(fitted, data, place))
        return finish(made, given)

    return Kind(step, parameters, lambda made, place: write_fields(fitted, made, place), read, width)


def step_width(step: Any) -> int:
    """Return how many features a fitted step makes."""
    return KINDS[type(step).__name__].width(step)


class _StepFields:
    kind: str
    n_features: Annotated[int, size("features", 1)]
    feature_names: Annotated[list[str], list_of(word(), "features")] | None = None
    output: Annotated[str, word("default", "pandas", "polars")] | None = None
    parameters: Any
    fitted: Any


def write_step(step: Any, place: Place) -> Any:
    """Return a fitted step as plain data; a TypeError where it is not known."""
    if step is None or isinstance(step, str):
        return "passthrough" if step is None else step
    name = type(step).__name__
    if name not in KINDS or KINDS[name].step is not type(step):
        raise TypeError(
            f"a step of type {name} cannot be stored as data: steps may be {', '.join(KINDS)}; apply it to the rows "
            "before they reach the pipeline, or keep the whole by pickle, for yourself alone."
        )
    check_is_fitted(step)
    if not hasattr(step, "n_features_in_"):
        raise ValueError(f"a {name} that does not know its features cannot be stored: start it with a step.")
    names = getattr(step, "feature_names_in_", None)
    said = SimpleNamespace(
        kind=name,
        n_features=step.n_features_in_,
        feature_names=None if names is None else [str(name) for name in names],
        output=getattr(step, "_sklearn_output_config", {}).get("transform"),
        parameters=write_parameters(step, KINDS[name].parameters),
        fitted=KINDS[name].write(step, place.at("fitted")),
    )
    return write_fields(_StepFields, said, place)


def write_parameters(step: Any, schema: type) -> dict[str, Any]:
    """Return the parameters of a step that a schema names; a ValueError where another one is not its default."""
    defaults = {name: one.default for name, one in inspect.signature(type(step)).parameters.items()}
    codecs, out = fields_of(schema), {}
    for name, value in step.get_params(deep=False).items():
        if name in codecs:
            out[name] = codecs[name][0].write(value, Place(type(step).__name__).at(name))
        elif name not in _STORED_APART and value is not defaults[name] and value != defaults[name]:
            raise ValueError(f"{type(step).__name__}({name}={shorten(value)}) cannot be stored as data.")
    return out


_STORED_APART = ("steps", "transformers", "remainder", "n_jobs")
"""Parameters that are other steps, and one that no file should set."""


def read_parameters(step: type, schema: type, data: Any, place: Place) -> dict[str, Any]:
    """Return the parameters that a file states for a step; a ValueError where this version of it lacks one."""
    known, out = inspect.signature(step).parameters, read_fields(schema, data, place)
    for name, (_, default) in fields_of(schema).items():
        if name not in known and out.pop(name) not in (None, default):
            raise ValueError(f"this version of scikit-learn has no {step.__name__}({name}=): upgrade it.")
    return {name: value for name, value in out.items() if value is not None or name in data}


def read_step(data: Any, place: Place, claims: Claims) -> Any:
    """Return the fitted step that plain data and arrays describe, or raise a ValueError."""
    if type(data) is str:
        return word("drop", "passthrough").read(data, place)
    place = place.alone()
    found = read_fields(_StepFields, data, place)
    kind, d, names = KINDS.get(found["kind"]), found["n_features"], found["feature_names"]
    if kind is None:
        raise place.at("kind").error(f"one of {', '.join(KINDS)}", found["kind"])
    if names is not None and len(set(names)) != d:
        raise ValueError("the features of a step must have different names.")
    parameters = read_parameters(kind.step, kind.parameters, found["parameters"], place.at("parameters"))
    step = kind.read(parameters, found["fitted"], place.at("fitted"), Given(d, names, claims))
    if kind.step is not Pipeline:  # which asks its steps
        step.n_features_in_ = d
        if names is not None:
            step.feature_names_in_ = np.array(names, object)
    elif step.n_features_in_ != d:
        raise ValueError(f"a pipeline within a pipeline has {step.n_features_in_} features and states {d}.")
    if found["output"] is not None:
        step.set_output(transform=found["output"])
    return step


# Steps made of others: pipelines within pipelines.


class PipelineParameters:
    """The parameters of a pipeline; others than the defaults of ``memory`` and ``transform_input`` are not stored."""

    verbose: bool


class _NamedFields:
    name: str
    step: Any


def write_steps(steps: list[tuple[str, Any]], place: Place) -> list[dict[str, Any]]:
    """Return steps with their names as plain data."""
    return [{"name": name, "step": write_step(step, place.at(k))} for k, (name, step) in enumerate(steps)]


def read_steps(data: Any, place: Place, claims: Claims) -> list[tuple[str, Any]]:
    """Return the steps that `write_steps` described; a ValueError where one does not fit those before it."""
    out: list[tuple[str, Any]] = []
    width: int | None = None
    for k, one in enumerate(list_of(PLAIN).read(data, place)):
        found = read_fields(_NamedFields, one, place.at(k))
        name, step = check_step_name(found["name"], out), read_step(found["step"], place.at(k), claims)
        if not isinstance(step, str):
            if width not in (None, step.n_features_in_):
                raise ValueError(f"the step {name!r} expects {step.n_features_in_} features and gets {width}.")
            width = step_width(step)
        elif step != "passthrough":
            raise ValueError(f"the step {name!r} must be 'passthrough' or one that is known.")
        out.append((name, step))
    return out


def check_step_name(name: str, before: list[tuple[str, Any]]) -> str:
    """Return the name of a step; a ValueError where a pipeline cannot have it besides those before."""
    if not name or "__" in name or name in dict(before):
        raise ValueError(f"the name of a step must be a word of its own, without '__', got {shorten(name)}.")
    return name


def _read_pipeline(parameters: dict[str, Any], data: Any, place: Place, given: Given) -> Pipeline:
    steps = read_steps(data, place, given.claims)
    if not steps or isinstance(steps[0][1], str):
        raise ValueError("a pipeline within a pipeline must start with a step.")
    return Pipeline(steps, **parameters)


def _pipeline_width(step: Pipeline) -> int:
    return step_width(next(one for _, one in reversed(step.steps) if one is not None and not isinstance(one, str)))


# Steps made of others: the columns that a ColumnTransformer selects.


def write_columns(columns: Any) -> Any:
    """Return columns as plain data: a name, an index, a list of names, indices or booleans, or a slice.

    >>> write_columns(slice("a", "c")), write_columns(np.array([True, False]))
    ({'slice': ['a', 'c', None]}, [True, False])
    """

    def one(value: Any) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        if value is not None and type(value) not in (bool, int, str):
            raise ValueError(f"columns selected by {shorten(value)} cannot be stored as data: name them.")
        return value

    if isinstance(columns, slice):
        return {"slice": [one(end) for end in (columns.start, columns.stop, columns.step)]}
    if isinstance(columns, str) or np.ndim(columns) == 0:
        return one(columns)
    return [one(column) for column in list(columns)]


def read_columns(data: Any, place: Place) -> Any:
    """Return the columns that `write_columns` described, or raise a ValueError."""
    if type(data) in (int, str):
        return data
    if type(data) is list and (not data or (type(data[0]) in (bool, int, str) and len(set(map(type, data))) == 1)):
        return data
    ends = data.get("slice") if type(data) is dict and len(data) == 1 else None
    if type(ends) is list and len(ends) == 3 and all(end is None or type(end) in (int, str) for end in ends):
        return slice(*ends)
    raise place.error("names, indices, booleans or a slice", data)


def selected_indices(columns: Any, n_features: int, places: Mapping[str, int] | None) -> Sequence[int]:
    """Return the indices of selected columns, given those of names; a ValueError where there are no such columns.

    >>> selected_indices([True, False, True], 3, None), selected_indices(slice("b", None), 3, {"a": 0, "b": 1, "c": 2})
    ([0, 2], range(1, 3))
    """
    places = places or {}

    def place(column: Any) -> int:
        if isinstance(column, str) and column in places:
            return places[column]
        if isinstance(column, str) or not -n_features <= column < n_features:
            raise ValueError(f"there is no column {shorten(column)} to select.")
        return int(column) % n_features

    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = place(start) if isinstance(start, str) else start
        stop = place(stop) + 1 if isinstance(stop, str) else stop  # a slice of names has both its ends
        if isinstance(columns.step, str) or columns.step == 0:
            raise ValueError(f"the step of a slice must be an integer that is not 0, got {shorten(columns.step)}.")
        return range(n_features)[slice(start, stop, columns.step)]
    if isinstance(columns, str | int):
        return [place(columns)]
    if len(columns) and all(isinstance(column, bool | np.bool_) for column in columns):
        if len(columns) != n_features:
            raise ValueError(f"there must be a boolean for each of {n_features} columns, got {len(columns)}.")
        return np.flatnonzero(columns).tolist()
    return [place(column) for column in columns]


_COLUMN_COST = 64
"""A column that scikit-learn keeps account of takes as much memory and time as so many numbers."""
_LONGEST_TEMPLATE = 1000


def _names_features(value: Any) -> bool:
    """Return whether this is a boolean, or a short template in which both names stand as they are, once."""
    if type(value) is not str or len(value) > _LONGEST_TEMPLATE:
        return type(value) is bool
    try:
        fields = [part[1:] for part in string.Formatter().parse(value) if part[1] is not None]
    except ValueError:
        return False
    return len(fields) == 2 and {*fields} == {("feature_name", "", None), ("transformer_name", "", None)}


def _are_weights(value: Any) -> bool:
    numbers = list(value.values()) if type(value) is dict else []
    return type(value) in (dict, NoneType) and all(type(v) in (int, float) and abs(v) < 1e300 for v in numbers)


class _ColumnsParameters:
    sparse_threshold: Annotated[Any, checked("a number from 0 to 1", lambda v: type(v) in (int, float) and 0 <= v <= 1)]
    transformer_weights: Annotated[Any, checked("numbers by name, or None", _are_weights)]
    verbose: bool
    verbose_feature_names_out: Annotated[
        Any, checked("a boolean, or a string with {transformer_name} and {feature_name}", _names_features)
    ]


class _ColumnsFitted:
    columns: list[Any]
    remainder: Any
    sparse: bool


class _PartFields:
    name: str
    columns: Annotated[Any, Codec(PLAIN.write, read_columns)]
    step: Any


def _write_column_transformer(step: ColumnTransformer, place: Place) -> dict[str, Any]:
    known = list(step.transformers_)
    parts = []
    for k, (name, given, _) in enumerate(step.transformers):
        _, fitted, columns = known[k]
        if not isinstance(given, str):
            given = "drop" if _is_empty(columns) else write_step(fitted, place.at(k))
        parts.append({"name": name, "columns": write_columns(columns), "step": given})
    remainder = step.remainder
    if not isinstance(remainder, str):
        left = known[len(parts) :]
        remainder = write_step(left[0][1], place.at("remainder")) if left and len(left[0][2]) else "drop"
    return {"columns": parts, "remainder": remainder, "sparse": bool(step.sparse_output_)}


def _is_empty(columns: Any) -> bool:
    """Return whether no column is selected, so that a step has not been fitted."""
    if isinstance(columns, str | int | slice):
        return False
    chosen = list(columns)
    return not chosen or (isinstance(chosen[0], bool | np.bool_) and not any(chosen))


class _StandIn(TransformerMixin, BaseEstimator):
    """In the place of a fitted step while a ColumnTransformer is fitted around it: as many features, all zero."""

    def __init__(self, step: Any = None) -> None:
        self.step = step

    def fit(self, X: Any, y: object = None) -> _StandIn:
        return self

    def transform(self, X: Any) -> Any:
        return np.zeros((1, step_width(self.step)))

    def __sklearn_clone__(self) -> _StandIn:
        return self


def _read_column_transformer(parameters: dict[str, Any], data: Any, place: Place, given: Given) -> ColumnTransformer:
    found, d, names = read_fields(_ColumnsFitted, data, place), given.d, given.names
    listed = sum(_n_listed(one) for one in found["columns"]) if names is None else d
    given.claims.add(max(d - listed, 0), _COLUMN_COST)
    places = None if names is None else {name: j for j, name in enumerate(names)}
    parts: list[tuple[str, Any, Any]] = []
    left = set(range(d))
    width = 0
    for k, one in enumerate(found["columns"]):
        part = read_fields(_PartFields, one, place.at(k))
        step = read_step(part["step"], place.at(k), given.claims)
        selected = selected_indices(part["columns"], d, places)
        if isinstance(part["columns"], slice):
            given.claims.add(len(selected), _COLUMN_COST)
        left.difference_update(selected)
        width += _check_part(step, len(selected))
        parts.append((part["name"], step, part["columns"]))
    remainder = read_step(found["remainder"], place.at("remainder"), given.claims)
    given.claims.add(width + _check_part(remainder, len(left)))
    step = ColumnTransformer([(name, _stand_in(one), columns) for name, one, columns in parts], **parameters)
    step.remainder = _stand_in(remainder)
    try:
        step.fit(_row_of_zeros(d, names))
    except (TypeError, ValueError, AttributeError) as fault:
        raise ValueError(f"a ColumnTransformer is not valid: {shorten(str(fault), 300)}") from None
    step.transformers = [(name, _unfitted(one), columns) for name, one, columns in parts]
    step.remainder = _unfitted(remainder)
    step.transformers_ = [
        (name, one.step if isinstance(one, _StandIn) else one, columns) for name, one, columns in step.transformers_
    ]
    if hasattr(step, "_remainder"):
        step._remainder = (step._remainder[0], step.remainder, step._remainder[2])
    step.sparse_output_ = found["sparse"]
    return step


def _n_listed(part: Any) -> int:
    """Return how many columns a part of a ColumnTransformer lists one by one."""
    columns = part.get("columns") if type(part) is dict else None
    return len(columns) if type(columns) is list else 1


def _check_part(step: Any, selected: int) -> int:
    """Return how many features a part of a ColumnTransformer makes of so many columns."""
    if isinstance(step, str):
        return selected if step == "passthrough" else 0
    if step.n_features_in_ != selected:
        raise ValueError(f"a step of a ColumnTransformer expects {step.n_features_in_} columns and gets {selected}.")
    return step_width(step)


def _stand_in(step: Any) -> Any:
    return step if isinstance(step, str) else _StandIn(step)


def _unfitted(step: Any) -> Any:
    return step if isinstance(step, str) else clone(step)


def _row_of_zeros(d: int, names: list[str] | None) -> Any:
    """Return a row of so many columns, a data frame where they have names."""
    row = np.zeros((1, d))
    if names is None:
        return row
    for library in ("pandas", "polars"):
        try:
            frames = importlib.import_module(library)
        except ImportError:
            continue
        return frames.DataFrame(dict(zip(names, row.T, strict=True)))
    raise ImportError("a pipeline that selects columns by name needs data frames: pip install pandas.")


KINDS = {
    kind.step.__name__: kind
    for kind in (
        _kind(StandardScaler, _StandardParameters, _StandardFitted, _check_standard),
        _kind(MaxAbsScaler, _MaxAbsParameters, _MaxAbsFitted),
        _kind(ExactScaler, _ExactParameters, _ExactFitted),
        _kind(
            SimpleImputer,
            _ImputerParameters,
            _ImputerFitted,
            _fit_imputer,
            lambda step: len(step.get_feature_names_out()),
        ),
        _kind(OneHotEncoder, _OneHotParameters, _OneHotFitted, _fit_one_hot, _one_hot_width),
        Kind(
            Pipeline,
            PipelineParameters,
            lambda step, place: write_steps(step.steps, place),
            _read_pipeline,
            _pipeline_width,
        ),
        Kind(
            ColumnTransformer,
            _ColumnsParameters,
            _write_column_transformer,
            _read_column_transformer,
            lambda step: max((places.stop for places in getattr(step, "output_indices_", {}).values()), default=0),
        ),
        _kind(SphereLift, _Nothing, _Nothing, width=lambda step: int(step.n_features_in_) + 1),
        _kind(
            Combinations,
            _CombinationsParameters,
            _Nothing,
            _fit_combinations,
            lambda step: int(step.n_output_features_),
        ),
    )
}
"""The steps that are known, by their names: a name in a file is looked up here, nowhere else."""
