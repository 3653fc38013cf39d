"""Pipelines in files: each step is stored as its kind, its parameters and its main fitted attributes.

A schema for each kind of step lists what is stored. The other attributes of scikit-learn's steps differ between its
versions, so they are restored on loading, by fitting the step to one row.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from rosenblatt.features import Combinations, ExactScaler, SphereLift, TextHasher, n_combinations
from rosenblatt.messages import shorten
from rosenblatt.storage.schema import (
    Codec,
    Place,
    array,
    checked,
    fields_of,
    integer,
    is_too_wide,
    list_of,
    optional,
    read_fields,
    record,
    size,
    string,
    write_fields,
)

Step: TypeAlias = BaseEstimator | str
"""A fitted step, or "drop" or "passthrough"."""

# Values that JSON does not have: NaN, and arrays with their types.


_NAN = {"missing": "nan"}
_TYPES = ("object", "bool", *(f"{k}{b}" for k in ("int", "uint") for b in (8, 16, 32, 64)), "float32", "float64", "str")


def _write_value(value: object, place: Place) -> object:
    """Return a string, number, boolean or None in its JSON form, and NaN as a dictionary; else raise a ValueError."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is not None and _is_missing(value):
        return dict(_NAN)
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    raise ValueError(f"{shorten(value)} of type {type(value).__name__} cannot be stored as data.")


def _read_value(data: object, place: Place) -> object:
    if data == _NAN:
        return math.nan
    if data is None or type(data) in (bool, str) or (type(data) is int and abs(data) < 2**63):
        return data
    if type(data) is float and math.isfinite(data):
        return data
    raise place.error("a string, a number, NaN or None", data)


def _is_missing(value: object) -> bool:
    return value is None or (type(value) is float and math.isnan(value))


_VALUE = Codec(_write_value, _read_value)


class _ValuesFields:
    type: Annotated[str, string(*_TYPES)]
    values: Annotated[list[Any], list_of(_VALUE)]


def _write_values(values: NDArray[Any], place: Place) -> dict[str, object]:
    """Return an array of strings, numbers or booleans as plain data that records its type."""
    name = "str" if values.dtype.kind in "UT" else values.dtype.name
    if name not in _TYPES:
        raise ValueError(f"values of type {values.dtype} cannot be stored as data.")
    return {"type": name, "values": [_write_value(value, place) for value in values.tolist()]}


def _read_values(data: object, place: Place) -> NDArray[Any]:
    found = read_fields(_ValuesFields, data, place)
    name, values = found["type"], found["values"]
    longest = max((len(value) for value in values if type(value) is str), default=0)
    if name == "str" and is_too_wide(len(values), longest):
        raise place.error("strings of similar lengths, since NumPy pads all of them to the longest", values)
    try:
        with np.errstate(over="ignore"):
            made = np.array(values, dtype=name)
        if json.dumps(_write_values(made, place)) == json.dumps(data):  # as text, since 1 == 1.0 == True
            return made
    except (ValueError, TypeError, OverflowError):
        pass
    raise place.error(f"values of type {name}", values)


_VALUES = Codec(_write_values, _read_values)
_SEEN_BY_FEATURE = array("i8 f8 i4", "features", least=0)
_SEEN_ROWS = checked("a number of rows", lambda value: type(value) in (int, float) and 0 <= value < 2**62)


def _read_seen(data: object, place: Place) -> object:
    if type(data) is str:
        return _SEEN_BY_FEATURE.read(data, place)
    rows = _SEEN_ROWS.read(data, place)
    return np.float64(rows) if type(rows) is float else np.int64(rows)


_SEEN = Codec(
    lambda seen, place: _SEEN_BY_FEATURE.write(seen, place) if np.ndim(seen) else np.asarray(seen).item(), _read_seen
)
"""The number of rows that a scaler was fitted to; one number for each feature if values were missing."""
_Numbers = Annotated[NDArray[Any], array("f8 f4", "features")]
_Scale = Annotated[NDArray[Any], array("f8 f4", "features", least=5e-324)]
_Value = Annotated[Any, _VALUE]


# The schemas: what is stored for each kind of step, under the names of scikit-learn's parameters and attributes.


class _StepFields:
    kind: str
    n_features: Annotated[int, size("features", 1)]
    feature_names: Annotated[list[str], list_of(string(), "features")] | None = None
    output: Annotated[str, string("default", "pandas", "polars")] | None = None


class _StandardFields(_StepFields):
    copy: bool
    with_mean: bool
    with_std: bool
    mean_: _Numbers | None
    var_: _Numbers | None
    scale_: _Scale | None
    n_samples_seen_: Annotated[Any, _SEEN]


def _check_standard(step: StandardScaler, place: Place) -> None:
    if step.with_std != (step.scale_ is not None) or (step.with_mean and step.mean_ is None):
        raise ValueError(
            "a StandardScaler must have mean_ if with_mean is set, and scale_ if and only if with_std is set."
        )


class _MaxAbsFields(_StepFields):
    copy: bool
    clip: bool
    scale_: _Scale
    max_abs_: _Numbers
    n_samples_seen_: Annotated[Any, _SEEN]


def _check_max_abs(step: MaxAbsScaler, place: Place) -> None:
    if step.clip and "clip" not in step.get_params():  # a parameter since scikit-learn 1.8
        raise ValueError("this version of scikit-learn has no MaxAbsScaler(clip=): upgrade it.")


class _ExactFields(_StepFields):
    method: Annotated[str, string("standard", "maxabs")]
    centre_: _Numbers
    spread_: _Scale


_MOST_DEGREE = 64


def _read_degree(data: Any, place: Place) -> int | tuple[int, int]:
    least, most = data if type(data) is list and len(data) == 2 else (1, data)
    if type(least) is not int or type(most) is not int or not 1 <= least <= most <= _MOST_DEGREE:
        raise place.error(f"an integer or (min_degree, max_degree), at most {_MOST_DEGREE}", data)
    return most if type(data) is int else (least, most)


_DEGREE = Codec(lambda value, _: int(value) if np.ndim(value) == 0 else list(map(int, value)), _read_degree)


class _CombinationsFields(_StepFields):
    degree: Annotated[Any, _DEGREE]


def _fit_combinations(step: Combinations, place: Place) -> None:
    d, degree = place.sizes["features"], step.degree
    place.arrays.claim(d + n_combinations(d, (1, degree) if isinstance(degree, int) else degree))
    step.fit(np.zeros((1, d)))


_FITTED_ON = Codec(lambda dtype, _: np.dtype(dtype).name, string("float64", "float32", "int64", "int32", "object").read)


class _ImputerFields(_StepFields):
    missing_values: _Value
    strategy: Annotated[str, string("mean", "median", "most_frequent", "constant")]
    fill_value: _Value
    copy: bool
    keep_empty_features: bool
    statistics_: Annotated[NDArray[Any], _VALUES]
    _fit_dtype: Annotated[Any, _FITTED_ON]


def _fit_imputer(step: SimpleImputer, place: Place) -> None:
    d, dtype, statistics = place.sizes["features"], step._fit_dtype, step.statistics_
    if len(statistics) != d:
        raise ValueError(f"a SimpleImputer of {d:,} features must have {d:,} statistics, got {len(statistics):,}.")
    words = dtype == "object"
    if not words and any(isinstance(v, str) for v in (step.fill_value, step.missing_values, *statistics.tolist())):
        raise ValueError(
            "a SimpleImputer of numbers must not have strings as missing_values, fill_value or statistics."
        )
    if words and step.strategy in ("mean", "median"):
        raise ValueError(f"a SimpleImputer cannot compute the {step.strategy} of strings.")
    present = next(value for value in (("a", "b") if words else (0, 1)) if value != step.missing_values)
    step.fit(np.full((1, d), present, dtype))
    step.statistics_ = statistics


_CATEGORIES = Codec(lambda given, _: given if isinstance(given, str) else "given", string("auto", "given").read)
"""The parameter ``categories``: a given list is not stored, because the fitted categories are."""
_DROP = Codec(
    lambda drop, place: drop if isinstance(drop, str | None) else [_write_value(value, place) for value in list(drop)],
    lambda data, place: (
        np.array([_read_value(value, place) for value in data], object)
        if type(data) is list
        else optional(string("first", "if_binary")).read(data, place)
    ),
)
_DTYPES = string("float64", "float32", "int64", "int32", "int8", "uint8", "bool")
_DTYPE = Codec(lambda dtype, _: np.dtype(dtype).name, lambda data, place: np.dtype(_DTYPES.read(data, place)).type)


class _OneHotFields(_StepFields):
    categories: Annotated[Any, _CATEGORIES]
    drop: Annotated[Any, _DROP]
    sparse_output: bool
    dtype: Annotated[Any, _DTYPE]
    handle_unknown: Annotated[str, string("error", "ignore", "infrequent_if_exist", "warn")]
    categories_: Annotated[list[NDArray[Any]], list_of(_VALUES, "features")]


def _fit_one_hot(step: OneHotEncoder, place: Place) -> None:
    known, found = step.categories_, step.categories == "auto"
    if not all(len(values) for values in known):
        raise ValueError("a OneHotEncoder must have categories for each of its features.")
    for values in known:
        _check_categories(values.tolist(), found)
    row = np.empty((1, len(known)), object)
    row[0] = [values[:1].tolist()[0] for values in known]
    step.categories = [values.astype(object) for values in known]
    try:
        step.fit(row)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"the categories of a OneHotEncoder are not valid: {shorten(str(fault), 200)}.") from None
    if list(map(len, step.categories_)) != list(map(len, known)):
        raise ValueError("the categories of a OneHotEncoder are not valid: scikit-learn's fit changes them.")
    step.categories, step.categories_ = "auto" if found else known, known


def _check_categories(values: list[Any], found: bool) -> None:
    """Raise a ValueError unless each category occurs once, in an order that scikit-learn supports.

    Categories that were ``found`` in training rows must be sorted, with None and NaN after the others. This also
    applies to numbers given by the user: if they are not sorted, scikit-learn writes out of bounds. Words given by the
    user may have any order.
    """
    present = [value for value in values if not _is_missing(value)]
    is_valid = [value is None for value in values if _is_missing(value)] in ([], [True], [False], [True, False])
    if found or not all(type(value) is str for value in present):
        try:
            is_sorted = all(low < high for low, high in itertools.pairwise(present))
        except TypeError:  # words mixed with numbers
            is_sorted = False
        is_valid = is_valid and is_sorted and not any(map(_is_missing, values[: len(present)]))
    if not is_valid or len(set(present)) != len(present):
        raise ValueError("the categories of a OneHotEncoder must be sorted, without duplicates.")


def _one_hot_width(step: OneHotEncoder) -> int:
    dropped = 0 if step.drop_idx_ is None else sum(index is not None for index in step.drop_idx_)
    return sum(map(len, step.categories_)) - dropped


_MOST_COLUMNS = 2**31 - 1


def _read_ngrams(data: Any, place: Place) -> tuple[int, int]:
    if type(data) is not list or [type(n) for n in data] != [int, int] or not 1 <= data[0] <= data[1] < 2**31:
        raise place.error("(min_n, max_n)", data)
    return data[0], data[1]


class _TextFields(_StepFields):
    columns: Annotated[int, integer(1, _MOST_COLUMNS)]
    ngram_range: Annotated[Any, Codec(lambda value, _: list(map(int, value)), _read_ngrams)]
    analyzer: Annotated[str, string("word", "char_wb")]
    lowercase: bool
    binary: bool
    norm: Annotated[str, string("l1", "l2")] | None
    alternate_sign: bool
    sublinear_tf: bool
    keep_words: bool
    places: Annotated[list[int], list_of(integer(0, _MOST_COLUMNS - 1))]
    tokens: Annotated[list[str], list_of(string())]


def _view_texts(step: TextHasher) -> dict[str, object]:
    words = {"places": list(step.words_), "tokens": list(step.words_.values())}
    return vars(step) | words | {"columns": step.n_features}


def _fit_texts(step: TextHasher, place: Place) -> None:
    places, tokens = step.places, step.tokens
    if len(set(places)) != len(tokens) or len(places) != len(tokens) or max(places, default=0) >= step.columns:
        raise place.at("places").error("a different column for each word", places)
    if place.sizes["features"] != 1:
        raise place.at("n_features").error("1, the text", place.sizes["features"])
    step.n_features, step.words_ = step.columns, dict(zip(places, tokens, strict=True))
    del step.columns, step.places, step.tokens


# Composite steps: pipelines within pipelines.


_STEP = Codec(lambda step, place: write_step(step, place), lambda data, place: read_step(data, place))


class _NamedFields:
    name: str
    step: Annotated[Step, _STEP]


STEPS = list_of(
    Codec(
        lambda named, place: write_fields(_NamedFields, SimpleNamespace(name=named[0], step=named[1]), place),
        lambda data, place: tuple(read_fields(_NamedFields, data, place).values()),
    )
)
"""The codec for the steps of a pipeline, which are pairs of name and step."""


class _PipelineFields(_StepFields):
    verbose: bool
    steps: Annotated[list[tuple[str, Step]], STEPS]


def check_chain(steps: Sequence[tuple[str, Step]]) -> None:
    """Raise a ValueError unless names are valid and each step expects as many features as the previous one returns."""
    names: set[str] = set()
    before: BaseEstimator | None = None
    for name, step in steps:
        if not name or "__" in name or name in names:
            raise ValueError(f"the name of a step must be a unique string without '__', got {shorten(name)}.")
        names.add(name)
        if isinstance(step, str):
            if step != "passthrough":
                raise ValueError(f"the step {name!r} must be 'passthrough' or a supported step.")
            continue
        if before is not None and step_width(before) != step.n_features_in_:
            raise ValueError(
                f"the step {name!r} expects {step.n_features_in_} features but receives {step_width(before)}."
            )
        before = step


def _check_pipeline(step: Pipeline, place: Place) -> None:
    check_chain(step.steps)
    if not step.steps or isinstance(step.steps[0][1], str):
        raise ValueError("a nested pipeline must start with a fitted step, not with 'passthrough'.")
    if step.n_features_in_ != place.sizes["features"]:
        raise ValueError(
            f"a nested pipeline has {step.n_features_in_} features but declares {place.sizes['features']}."
        )


# Composite steps: the columns that a ColumnTransformer selects.


def write_columns(columns: Any) -> object:
    """Return a selection of columns as plain data; raise a ValueError if it cannot be stored.

    A selection is a name, an index, a list of names, indices or booleans, or a slice.

    >>> write_columns(slice("a", "c")), write_columns(np.array([True, False]))
    ({'slice': ['a', 'c', None]}, [True, False])
    """

    def plain(value: object) -> object:
        value = value.item() if isinstance(value, np.generic) else value
        if value is not None and type(value) not in (bool, int, str):
            raise ValueError(f"columns selected by {shorten(value)} cannot be stored as data: select them by name.")
        return value

    if isinstance(columns, slice):
        return {"slice": [plain(end) for end in (columns.start, columns.stop, columns.step)]}
    if isinstance(columns, str) or np.ndim(columns) == 0:
        return plain(columns)
    return [plain(column) for column in list(columns)]


def read_columns(data: Any, place: Place) -> object:
    """Return the selection of columns that `write_columns` wrote; raise a ValueError if it is not valid."""
    if type(data) in (int, str):
        return data
    if type(data) is list and (not data or (type(data[0]) in (bool, int, str) and len(set(map(type, data))) == 1)):
        return data
    ends = data.get("slice") if type(data) is dict and len(data) == 1 else None
    if type(ends) is list and len(ends) == 3 and all(end is None or type(end) in (int, str) for end in ends):
        return slice(*ends)
    raise place.error("names, indices, booleans or a slice", data)


def selected_indices(columns: Any, n_features: int, names: Sequence[str] | None) -> Sequence[int]:
    """Return the indices of the selected columns; raise a ValueError if one of them does not exist.

    The table has ``n_features`` columns, and ``names`` are their names, or None.

    >>> selected_indices([True, False, True], 3, None), selected_indices(slice("b", None), 3, ["a", "b", "c"])
    ([0, 2], range(1, 3))
    """
    indices: Mapping[str, int] = {} if names is None else {name: j for j, name in enumerate(names)}

    def index_of(column: str | int) -> int:
        if isinstance(column, str) and column in indices:
            return indices[column]
        if isinstance(column, str) or not -n_features <= column < n_features:
            raise ValueError(f"there is no column {shorten(column)} to select.")
        return int(column) % n_features

    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = index_of(start) if isinstance(start, str) else start
        stop = index_of(stop) + 1 if isinstance(stop, str) else stop  # a slice of names includes its end
        if isinstance(columns.step, str) or columns.step == 0:
            raise ValueError(f"the step of a slice must be a nonzero integer, got {shorten(columns.step)}.")
        return range(n_features)[slice(start, stop, columns.step)]
    if isinstance(columns, str | int):
        return [index_of(columns)]
    if len(columns) and all(isinstance(column, bool | np.bool_) for column in columns):
        if len(columns) != n_features:
            raise ValueError(f"there must be a boolean for each of {n_features} columns, got {len(columns)}.")
        return np.flatnonzero(columns).tolist()
    return [index_of(column) for column in columns]


_COLUMNS = Codec(lambda columns, _: write_columns(columns), read_columns)
_COLUMN_COST = 64
"""A column of a ColumnTransformer costs scikit-learn as much memory and time as this many numbers."""


def _are_weights(value: object) -> bool:
    numbers = list(value.values()) if isinstance(value, dict) else []
    return type(value) in (dict, NoneType) and all(type(v) in (int, float) and abs(v) < 1e300 for v in numbers)


class _PartFields:
    name: str
    columns: Annotated[Any, _COLUMNS]
    step: Annotated[Step, _STEP]


class _ColumnsFields(_StepFields):
    sparse_threshold: Annotated[Any, checked("a number from 0 to 1", lambda v: type(v) in (int, float) and 0 <= v <= 1)]
    transformer_weights: Annotated[Any, checked("numbers by name, or None", _are_weights)]
    verbose: bool
    verbose_feature_names_out: bool
    transformers: Annotated[list[Any], list_of(record(_PartFields, SimpleNamespace))]
    remainder: Annotated[Step, _STEP]
    sparse_output_: bool


def _view_columns(step: ColumnTransformer) -> dict[str, object]:
    """Return the attributes of a ColumnTransformer, with its fitted steps in place of the unfitted parameters."""
    if type(step.verbose_feature_names_out) is not bool:
        raise ValueError("verbose_feature_names_out of a ColumnTransformer must be True or False to be stored.")
    fitted = list(step.transformers_)
    parts = [
        SimpleNamespace(
            name=name, columns=columns, step=given if isinstance(given, str) else "drop" if _is_empty(columns) else one
        )
        for (name, given, _), (_, one, columns) in zip(step.transformers, fitted, strict=False)
    ]
    remainder = step.remainder
    if not isinstance(remainder, str):
        left = fitted[len(parts) :]
        remainder = left[0][1] if left and len(left[0][2]) else "drop"
    return vars(step) | {"transformers": parts, "remainder": remainder}


def _is_empty(columns: Any) -> bool:
    """Return whether a selection has no columns; scikit-learn does not fit a step without columns."""
    if isinstance(columns, str | int | slice):
        return False
    chosen = list(columns)
    return not chosen or (isinstance(chosen[0], bool | np.bool_) and not any(chosen))


class _StandIn(TransformerMixin, BaseEstimator):
    """A placeholder for a fitted step while its ColumnTransformer is fitted; its features are all zero."""

    def __init__(self, step: BaseEstimator) -> None:
        self.step = step

    def fit(self, X: object, y: object = None) -> _StandIn:
        return self

    def transform(self, X: object) -> NDArray[np.float64]:
        return np.zeros((1, step_width(self.step)))

    def __sklearn_clone__(self) -> _StandIn:
        return self


def _fit_columns(step: ColumnTransformer, place: Place) -> None:
    """Fit a ColumnTransformer to one row, keeping the fitted steps that were read."""
    d, names, sparse = place.sizes["features"], getattr(step, "feature_names_in_", None), step.sparse_output_
    parts, remainder = step.transformers, step.remainder
    listed = sum(len(part.columns) if type(part.columns) is list else 1 for part in parts) if names is None else d
    place.arrays.claim(_COLUMN_COST * max(d - listed, 0))
    left, width = set(range(d)), 0
    for part in parts:
        selected = selected_indices(part.columns, d, names)
        if isinstance(part.columns, slice):
            place.arrays.claim(_COLUMN_COST * len(selected))
        left.difference_update(selected)
        width += _part_width(part.step, len(selected))
    place.arrays.claim(width + _part_width(remainder, len(left)))

    def each(change: Callable[[BaseEstimator], BaseEstimator]) -> list[tuple[str, Step, object]]:
        step.remainder = remainder if isinstance(remainder, str) else change(remainder)
        return [(p.name, p.step if isinstance(p.step, str) else change(p.step), p.columns) for p in parts]

    step.transformers = each(_StandIn)
    try:
        step.fit(_row_of_zeros(d, names))
    except (TypeError, ValueError, AttributeError) as fault:
        raise ValueError(f"a ColumnTransformer is not valid: {shorten(str(fault), 300)}") from None
    step.transformers_ = [
        (name, fitted.step if isinstance(fitted, _StandIn) else fitted, columns)
        for name, fitted, columns in step.transformers_
    ]
    step.transformers = each(clone)
    if hasattr(step, "_remainder"):
        step._remainder = (step._remainder[0], step.remainder, step._remainder[2])
    step.sparse_output_ = sparse


def _part_width(step: Step, selected: int) -> int:
    """Return the number of features that a part of a ColumnTransformer makes from its ``selected`` columns."""
    if isinstance(step, str):
        return selected if step == "passthrough" else 0
    if step.n_features_in_ != selected:
        raise ValueError(
            f"a step of a ColumnTransformer expects {step.n_features_in_} columns but receives {selected}."
        )
    return step_width(step)


def _row_of_zeros(d: int, names: Sequence[str] | None) -> Any:
    """Return a row of ``d`` zeros: a data frame if ``names`` are given, else an array."""
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


# The kinds of steps, and functions that write and read a step.


@dataclass(frozen=True)
class Kind:
    """The way in which steps of one class are stored."""

    step: type[BaseEstimator]
    schema: type
    """A class whose annotations list the parameters and fitted attributes to store."""
    finish: Callable[[Any, Place], None] = lambda step, place: None
    """Checks the attributes that were read, and restores the other ones."""
    width: Callable[[Any], int] = lambda step: int(step.n_features_in_)
    """Returns the number of features that a fitted step returns."""
    view: Callable[[Any], Mapping[str, object]] = vars
    """Returns the attributes to write."""


KINDS = {
    kind.step.__name__: kind
    for kind in (
        Kind(StandardScaler, _StandardFields, _check_standard),
        Kind(MaxAbsScaler, _MaxAbsFields, _check_max_abs, view=lambda step: {"clip": False} | vars(step)),
        Kind(ExactScaler, _ExactFields),
        Kind(SimpleImputer, _ImputerFields, _fit_imputer, lambda step: len(step.get_feature_names_out())),
        Kind(OneHotEncoder, _OneHotFields, _fit_one_hot, _one_hot_width),
        Kind(Pipeline, _PipelineFields, _check_pipeline, lambda step: step_width(_last_step(step))),
        Kind(
            ColumnTransformer,
            _ColumnsFields,
            _fit_columns,
            lambda step: max((places.stop for places in getattr(step, "output_indices_", {}).values()), default=0),
            _view_columns,
        ),
        Kind(SphereLift, _StepFields, width=lambda step: int(step.n_features_in_) + 1),
        Kind(TextHasher, _TextFields, _fit_texts, lambda step: int(step.n_features), _view_texts),
        Kind(Combinations, _CombinationsFields, _fit_combinations, lambda step: int(step.n_output_features_)),
    )
}
"""The kinds of steps, by class name. A class name in a file is only ever looked up here."""


def step_width(step: BaseEstimator) -> int:
    """Return the number of features that a fitted step returns."""
    return KINDS[type(step).__name__].width(step)


def _last_step(pipeline: Pipeline) -> BaseEstimator:
    return next(step for _, step in reversed(pipeline.steps) if step is not None and not isinstance(step, str))


def write_step(step: Step | None, place: Place) -> object:
    """Return a fitted step as plain data; raise a TypeError if steps of its class cannot be stored."""
    if step is None or isinstance(step, str):
        return step or "passthrough"
    name = type(step).__name__
    kind = KINDS.get(name)
    if kind is None or kind.step is not type(step):
        raise TypeError(
            f"a step of type {name} cannot be stored as data: steps may be {', '.join(KINDS)}; apply it to the rows "
            "before they reach the pipeline, or pickle the whole pipeline, for your own use only."
        )
    check_is_fitted(step)
    if not hasattr(step, "n_features_in_"):
        raise ValueError(f"a {name} without n_features_in_ cannot be stored: start it with a fitted step.")
    check_defaults(step, kind.schema)
    names = getattr(step, "feature_names_in_", None)
    fields = {
        "kind": name,
        "n_features": step.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "output": getattr(step, "_sklearn_output_config", {}).get("transform"),
    }
    return write_fields(kind.schema, SimpleNamespace(**{**kind.view(step), **fields}), place)


def check_defaults(step: BaseEstimator, schema: type) -> None:
    """Raise a ValueError if a parameter that the schema does not store differs from its default."""
    parameters, stored = inspect.signature(type(step)).parameters, fields_of(schema)
    for name, value in step.get_params(deep=False).items():
        default = parameters[name].default
        if name not in stored and name != "n_jobs" and value is not default and value != default:
            raise ValueError(f"{type(step).__name__}({name}={shorten(value)}) cannot be stored as data.")


def read_step(data: object, place: Place) -> Step:
    """Return the fitted step that plain data and arrays describe; raise a ValueError if they are not valid."""
    if type(data) is str:
        return string("drop", "passthrough").read(data, place)
    kind = KINDS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if kind is None:
        raise place.error(f"a step of one of the kinds {', '.join(KINDS)}", data)
    place = place.alone()
    found = read_fields(kind.schema, data, place)
    names, output = found.pop("feature_names"), found.pop("output")
    if names is not None and len(set(names)) != len(names):
        raise ValueError("the feature names of a step must be unique.")
    del found["kind"]
    features = {"n_features_in_": found.pop("n_features")}
    if names is not None:
        features["feature_names_in_"] = np.array(names, object)
    if kind.step is Pipeline:
        features = {}  # a Pipeline takes them from its first step
    parameters = inspect.signature(kind.step).parameters
    step = kind.step(**{name: found.pop(name) for name in list(found) if name in parameters})
    vars(step).update(found | features)
    kind.finish(step, place)
    vars(step).update(features)  # fitting to one row without names removed them
    if output is not None:
        step.set_output(transform=output)
    return step
