"""Export of models and pipelines as ONNX graphs, in double precision, for other runtimes."""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from rosenblatt import __version__
from rosenblatt.data.io.bytes import TABLES
from rosenblatt.data.preparation import is_hashed, is_preparation
from rosenblatt.data.tables.values import NUMBER_FORMATS, find_missing_numbers
from rosenblatt.features import Combinations, ExactScaler, SphereLift
from rosenblatt.inspection.explain import feature_labels, searched, split_pipeline
from rosenblatt.inspection.geometry import linear_rule
from rosenblatt.persistence.exact_onnx import INTERNAL, Graph, decide
from rosenblatt.persistence.files import learner_of
from rosenblatt.persistence.pipelines import STEPS, Step, selected_indices
from rosenblatt.scaling import ColumnScale
from rosenblatt.storage.container import write_atomically
from rosenblatt.storage.schema import Place, label_to_json
from rosenblatt.training.calibration import Calibration, Isotonic, Map, Sigmoid
from rosenblatt.training.dual.state import DualState

Floats: TypeAlias = NDArray[np.float64]

# Rows during preprocessing in an ONNX graph: matrices of numbers and single columns of words (strings).


@dataclass(frozen=True)
class ColumnGroup:
    """Adjacent columns in a tensor of a graph: a matrix of numbers, or a single column of words."""

    tensor: str
    width: int = 1
    words: bool = False
    fill: tuple[Any, str] | None = None
    """For words: the value that marks a missing word (a word, NaN or None), and the word that replaces it."""


@dataclass(frozen=True)
class Rows:
    """The input rows of a step, as a list of adjacent groups of columns."""

    parts: list[ColumnGroup]
    sparse: bool = False
    """Whether the rows are sparse in scikit-learn, where some steps round sparse matrices differently."""

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(part.width for part in self.parts)

    def each(self, change: Callable[[ColumnGroup, int], ColumnGroup | None]) -> Rows:
        """Return the rows with each group replaced by ``change(group, index of its first column)``; None drops it."""
        out, start = [], 0
        for part in self.parts:
            changed = change(part, start)
            start += part.width
            if changed is not None and changed.width:
                out.append(changed)
        return replace(self, parts=out)

    def matrix(self, graph: Graph, what: str) -> str:
        """Return the name of a matrix with all columns; raise a ValueError that names ``what`` if there are words."""
        if any(part.words for part in self.parts):
            raise ValueError(
                f"{what} receives a column of strings, which an ONNX graph cannot use as numbers: encode it first."
            )
        if len(self.parts) == 1:
            return self.parts[0].tensor
        return graph("Concat", *(part.tensor for part in self.parts), axis=1)

    def select(self, graph: Graph, columns: Sequence[int]) -> Rows:
        """Return the given columns, in the given order; successive columns of the same group stay in one group."""
        cells = [(g, k) for g, part in enumerate(self.parts) for k in range(part.width)]
        out = []
        for g, run in groupby((cells[column] for column in columns), key=lambda cell: cell[0]):
            part, inside = self.parts[g], [k for _, k in run]
            all_of_it = inside == list(range(part.width))
            out.append(part if all_of_it else ColumnGroup(gather(graph, part.tensor, inside), len(inside)))
        return replace(self, parts=out)


def gather(graph: Graph, tensor: str, columns: Sequence[int]) -> str:
    """Return the name of a matrix with the given columns of ``tensor``."""
    return graph("Gather", tensor, graph.constant(np.array(columns, np.int64)), axis=1)


def one_hot(graph: Graph, part: ColumnGroup, categories: list[list[Any]]) -> ColumnGroup:
    """Return an indicator column for each category of each column; categories are words or numbers, including NaN."""
    total = sum(map(len, categories))
    if not total:
        return replace(part, width=0)
    if part.words:
        return ColumnGroup(_one_hot_words(graph, part, categories[0]), total)
    columns = [k for k, values in enumerate(categories) for _ in values]
    known = np.array([[float(value) for values in categories for value in values]])
    repeated = gather(graph, part.tensor, columns)
    found = graph("Equal", repeated, graph.constant(known))
    missing = np.isnan(known)
    if missing.any():
        found = graph("Or", found, graph("And", graph("IsNaN", repeated), graph.constant(missing)))
    return ColumnGroup(graph("Cast", found, to=graph.type("DOUBLE")), total)


def _one_hot_words(graph: Graph, part: ColumnGroup, categories: list[Any]) -> str:
    numbers: dict[str, int] = {}
    missing: tuple[Any, int] | None = None
    for k, value in enumerate(categories):
        numbers["" if _is_missing(value) else str(value)] = k  # an empty string marks a missing value
        missing = (value, k) if _is_missing(value) else missing
    if part.fill is not None:
        gap, filled = part.fill
        token = gap if isinstance(gap, str) else ""
        if token in numbers and token != filled:
            raise ValueError(
                f"the word {token!r} is both a category and the marker of missing values: rename the category."
            )
        if filled in numbers:
            numbers[token] = numbers[filled]
            missing = (gap, numbers[filled])
    if missing is not None:
        numbers.setdefault(str(missing[0]), missing[1])  # the text to which Python runtimes convert it
    codes = graph(
        "LabelEncoder",
        part.tensor,
        domain="ai.onnx.ml",
        keys_strings=[word.encode("utf-8", "surrogatepass") for word in numbers],
        values_int64s=list(numbers.values()),
        default_int64=-1,
    )
    found = graph("Equal", codes, graph.constant(np.arange(len(categories))[None, :]))
    return graph("Cast", found, to=graph.type("DOUBLE"))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def filled(graph: Graph, tensor: str, values: np.ndarray, missing: float = math.nan) -> str:
    """Return a matrix in which each missing number is replaced by the entry of ``values`` for its column."""
    gaps = graph("IsNaN", tensor) if math.isnan(missing) else graph("Equal", tensor, graph.number(missing))
    return graph("Where", gaps, graph.constant(np.asarray(values, np.float64)[None, :]), tensor)


def scaled(graph: Graph, tensor: str, centre: np.ndarray | None, spread: np.ndarray | None) -> str:
    """Return ``(x - centre) / spread``, with one rounding in each operation; None skips the operation."""
    for operator, values in (("Sub", centre), ("Div", spread)):
        if values is not None:
            tensor = graph(operator, tensor, graph.constant(np.asarray(values, np.float64)[None, :]))
    return tensor


# Steps of pipelines, translated to ONNX.


def apply_step(graph: Graph, step: Step | None, rows: Rows) -> Rows:
    """Return rows transformed by a fitted step; raise a TypeError if the step cannot be exported.

    None and strings, such as "passthrough", leave the rows unchanged.
    """
    if step is None or isinstance(step, str):
        return rows
    check_step(step)
    return _STEPS[type(step)](graph, step, rows)


def check_step(step: BaseEstimator) -> None:
    """Raise a TypeError if a step cannot be exported."""
    if type(step) not in _STEPS:
        names = ", ".join(kind.__name__ for kind in _STEPS)
        raise TypeError(
            f"a step of type {type(step).__name__} cannot be exported: steps may be {names}; apply it to "
            "the rows before they reach the graph, and export a pipeline without it."
        )


def columns_of_words(step: Step | None, d: int) -> set[int]:
    """Return the indices of the columns, out of ``d``, in which a step expects words."""
    if isinstance(step, Pipeline):
        first = next((part for _, part in step.steps if part is not None and not isinstance(part, str)), None)
        return columns_of_words(first, d)
    if isinstance(step, ColumnTransformer):
        found: set[int] = set()
        for part, columns in _parts(step):
            found |= {columns[j] for j in columns_of_words(part, len(columns))}
        return found
    values: Iterable[Iterable[object]] = []
    if isinstance(step, OneHotEncoder):
        values = step.categories_
    elif isinstance(step, SimpleImputer):
        values = [[value] for value in step.statistics_.tolist()]
    return {j for j, of_column in enumerate(values) if any(isinstance(value, str) for value in of_column)}


def columns_in_use(step: Step, d: int) -> set[int]:
    """Return the indices of the columns, out of ``d``, that a step does not drop."""
    if isinstance(step, ColumnTransformer):
        return {j for part, columns in _parts(step) if part != "drop" for j in columns}
    return set(range(d))


def _parts(step: ColumnTransformer) -> list[tuple[Step, Sequence[int]]]:
    """Return the fitted steps of a ColumnTransformer with the indices of their columns."""
    d, names = int(step.n_features_in_), getattr(step, "feature_names_in_", None)
    out: list[tuple[Step, Sequence[int]]] = []
    left = set(range(d))
    for k, (_, fitted, columns) in enumerate(step.transformers_):
        if k < len(step.transformers):
            given, selected = step.transformers[k][1], selected_indices(columns, d, names)
        else:
            given, selected = step.remainder, sorted(left)
        left -= set(selected)
        part = given if isinstance(given, str) else fitted
        out.append((part if selected else "drop", selected))
    return out


# One function for each kind of step.


def _scale(graph: Graph, rows: Rows, centre: Floats | None, spread: Floats | None) -> Rows:
    tensor, width = rows.matrix(graph, "a scaler"), rows.width
    if rows.sparse and spread is not None:  # scikit-learn multiplies sparse rows by 1 / spread
        tensor = graph("Mul", tensor, graph.constant((1.0 / np.asarray(spread))[None, :]))
        return Rows([ColumnGroup(tensor, width)], rows.sparse)
    return Rows([ColumnGroup(scaled(graph, tensor, centre, spread), width)], rows.sparse)


def _standard(graph: Graph, step: StandardScaler, rows: Rows) -> Rows:
    return _scale(graph, rows, step.mean_ if step.with_mean else None, step.scale_)


def _maxabs(graph: Graph, step: MaxAbsScaler, rows: Rows) -> Rows:
    out = _scale(graph, rows, None, step.scale_)
    if not getattr(step, "clip", False):
        return out
    clipped = graph("Clip", out.parts[0].tensor, graph.number(-1.0), graph.number(1.0))
    return Rows([ColumnGroup(clipped, out.parts[0].width)], out.sparse)


def _exact(graph: Graph, step: ExactScaler, rows: Rows) -> Rows:
    tensor = rows.matrix(graph, "a scaler")
    return Rows([ColumnGroup(scaled(graph, tensor, step.centre_, step.spread_), len(step.centre_))], rows.sparse)


def _impute(graph: Graph, step: SimpleImputer, rows: Rows) -> Rows:
    kept_all = step.strategy == "constant" or step.keep_empty_features

    def change(part: ColumnGroup, start: int) -> ColumnGroup | None:
        values = step.statistics_[start : start + part.width].tolist()
        if part.words:
            return ColumnGroup(part.tensor, 1, True, (step.missing_values, str(values[0])))
        numbers = np.array([math.nan if value is None else float(value) for value in values])
        kept = [j for j, value in enumerate(numbers) if kept_all or not math.isnan(value)]
        missing = step.missing_values
        if isinstance(missing, str):
            raise ValueError("a SimpleImputer that replaces strings receives numbers, which ONNX does not support.")
        tensor = part.tensor if len(kept) == part.width else gather(graph, part.tensor, kept) if kept else ""
        gap = math.nan if missing is None else float(missing)
        return ColumnGroup(filled(graph, tensor, numbers[kept], gap), len(kept)) if kept else None

    return rows.each(change)


def _encode(graph: Graph, step: OneHotEncoder, rows: Rows) -> Rows:
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else list(step.drop_idx_)
    known = [
        [value for k, value in enumerate(values.tolist()) if k != drop]
        for values, drop in zip(step.categories_, dropped, strict=True)
    ]
    out = rows.each(lambda part, start: one_hot(graph, part, known[start : start + part.width]))
    return Rows(out.parts, bool(step.sparse_output))


def _sphere(graph: Graph, step: SphereLift, rows: Rows) -> Rows:
    tensor, width = rows.matrix(graph, "SphereLift"), int(step.n_features_in_)
    square = graph("ReduceSumSquare", tensor, axes=[1], keepdims=1)
    return Rows([ColumnGroup(tensor, width), ColumnGroup(square)], rows.sparse)


def _combine(graph: Graph, step: Combinations, rows: Rows) -> Rows:
    """Return products of distinct features, each computed as its first factor times the product of the others.

    scikit-learn multiplies dense rows in the same order, so that both round alike.
    """
    tensor, d = rows.matrix(graph, "Combinations"), int(step.n_features_in_)
    least, most = (1, step.degree) if isinstance(step.degree, int | np.integer) else step.degree
    factors: list[tuple[int, ...]] = [(j,) for j in range(d)]
    products, parts = tensor, [ColumnGroup(tensor, d)] if least == 1 else []
    for degree in range(2, min(most, d) + 1):
        indices = {product: k for k, product in enumerate(factors)}
        factors = list(combinations(range(d), degree))
        first = gather(graph, tensor, [product[0] for product in factors])
        products = graph("Mul", first, gather(graph, products, [indices[product[1:]] for product in factors]))
        if degree >= least:
            parts.append(ColumnGroup(products, len(factors)))
    return Rows(parts, rows.sparse)


def _select(graph: Graph, step: ColumnTransformer, rows: Rows) -> Rows:
    parts: list[ColumnGroup] = []
    weights = step.transformer_weights or {}
    for (name, _, _), (part, columns) in zip(step.transformers_, _parts(step), strict=True):
        if isinstance(part, str) and part == "drop":
            continue
        out = apply_step(graph, part, rows.select(graph, columns))
        if weights.get(name) is not None:
            tensor = graph("Mul", out.matrix(graph, "a weight"), graph.number(float(weights[name])))
            out = Rows([ColumnGroup(tensor, out.width)])
        parts += out.parts
    return Rows(parts, bool(step.sparse_output_))


def _chain(graph: Graph, step: Pipeline, rows: Rows) -> Rows:
    for _, part in step.steps:
        rows = apply_step(graph, part, rows)
    return rows


_STEPS: dict[type, Callable[[Graph, Any, Rows], Rows]] = {
    StandardScaler: _standard,
    MaxAbsScaler: _maxabs,
    ExactScaler: _exact,
    SimpleImputer: _impute,
    OneHotEncoder: _encode,
    SphereLift: _sphere,
    Combinations: _combine,
    ColumnTransformer: _select,
    Pipeline: _chain,
}


# The inputs of an ONNX graph, and the features made from them. A preparation is a dictionary that describes how a model
# trained on files makes features from rows; the steps of a pipeline play the same role.


_OUTPUTS = ("label", "scores", "probabilities")


@dataclass
class Inputs:
    """The inputs of a graph: (name, type, shape) of each, and the table column that belongs to each input name."""

    declared: list[tuple[str, str, list[str | int]]] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def matrix(self, width: int, words: bool = False) -> str:
        """Declare a single input, X, with all columns, and return its name."""
        self.declared.append(("X", "STRING" if words else "DOUBLE", ["rows", width]))
        return "X"

    def column(self, name: str, words: bool) -> ColumnGroup:
        """Declare an input for a column, under the name of the column unless that is taken."""
        free = name or "column"
        while free in _OUTPUTS or free in self.columns or free.startswith(INTERNAL):
            free = "column " + free
        self.columns[free] = name
        self.declared.append((free, "STRING" if words else "DOUBLE", ["rows", 1]))
        return ColumnGroup(free, 1, words)


def hashes_words(preparation: Any) -> bool:
    """Return whether a preparation hashes words, which ONNX cannot express."""
    return any(map(is_hashed, preparation.get("columns", ())))


def prepared_rows(graph: Graph, inputs: Inputs, preparation: Any, width: int) -> str:
    """Return the features of rows, made from one input per table column.

    If words are hashed, or the rows do not come from a table, a graph cannot make the features. The input X then holds
    the features before scaling.
    """
    columns = preparation.get("columns") if is_preparation(preparation) and preparation["format"] in TABLES else None
    if columns and not hashes_words(preparation):
        rows = Rows([])
        for column in columns:
            words = column["kind"] == "category"
            part = inputs.column(column["name"], words)
            if words:
                part = one_hot(graph, part, [column["categories"]])
            elif "fill" in column:
                tensor, fill = part.tensor, np.array([column["fill"]])
                if column["kind"] in ("number", *NUMBER_FORMATS):
                    for number in find_missing_numbers(tuple(preparation["missing_values"])):
                        tensor = filled(graph, tensor, fill, number)
                part = ColumnGroup(filled(graph, tensor, fill))
            rows.parts.extend([part] if part.width else [])
        x = rows.matrix(graph, "the model")
    else:
        x = inputs.matrix(width)
        if columns:
            inputs.note = "Words are hashed, which ONNX cannot express: X holds the features after the preparation."
    scale = preparation.get("scale") if is_preparation(preparation) else None
    return _on_scale(graph, x, ColumnScale.from_plain(scale), width) if scale and scale["features"] else x


def _on_scale(graph: Graph, x: str, scale: ColumnScale, width: int) -> str:
    """Return scaled features. Features after the last one with a scale are unchanged."""
    last = min(int(scale.features[-1]) + 1, width)
    centre, spread = scale.full(last)
    if last == width:
        return scaled(graph, x, centre, spread)
    first = scaled(graph, gather(graph, x, range(last)), centre, spread)
    ends = [graph.constant(np.array([number], np.int64)) for number in (last, width, 1)]
    return graph("Concat", first, graph("Slice", x, *ends), axis=1)


def piped_rows(graph: Graph, inputs: Inputs, steps: Iterable[Step | None], width: int) -> str:
    """Return the features that the steps of a pipeline make from its rows.

    There is an input for each column if the pipeline was fitted on a data frame and its first step selects columns or
    expects words. Otherwise there is a single input X.
    """
    used = [step for step in steps if step is not None and not isinstance(step, str)]
    if not used:
        return inputs.matrix(width)
    check_step(used[0])
    d = int(used[0].n_features_in_)
    words, names = columns_of_words(used[0], d), getattr(used[0], "feature_names_in_", None)
    if names is not None and (words or isinstance(used[0], ColumnTransformer)):
        needed = columns_in_use(used[0], d)
        rows = Rows([inputs.column(str(names[j]), j in words) if j in needed else ColumnGroup("") for j in range(d)])
    elif words and len(words) < d:
        raise ValueError(
            "an input of an ONNX graph cannot hold both strings and numbers: fit the pipeline on a data frame."
        )
    elif words:
        x = inputs.matrix(d, words=True)
        rows = Rows([ColumnGroup(gather(graph, x, [j]), 1, True) for j in range(d)])
    else:
        rows = Rows([ColumnGroup(inputs.matrix(d), d)])
    for step in used:
        rows = apply_step(graph, step, rows)
    return rows.matrix(graph, "the learner")


# Probabilities, translated to ONNX.


def probabilities(graph: Graph, scores: str, calibration: Calibration) -> str:
    """Return the probability of each class, computed from the scores as `Calibration.probabilities` does."""
    maps, one = calibration.maps, graph.number(1.0)
    if len(maps) == 1:
        p = _mapped(graph, scores, maps)
        return graph("Concat", graph("Sub", one, p), p, axis=1)
    p = _mapped(graph, _leads(graph, scores), maps)
    total = graph("ReduceSum", p, graph.constant(np.array([1])), keepdims=1)
    equal = graph.number(1.0 / len(maps))
    return graph("Where", graph("Equal", total, graph.number(0.0)), equal, graph("Div", p, total))


def _leads(graph: Graph, scores: str) -> str:
    """Return each score minus the largest of the others in its row."""
    best = graph("Unsqueeze", graph("ArgMax", scores, axis=1, keepdims=0), graph.constant(np.array([1])))
    largest = graph("ReduceMax", scores, axes=[1], keepdims=1)
    lowest = graph("Sub", graph("Mul", largest, graph.number(0.0)), graph.number(math.inf))
    others = graph("ScatterElements", scores, best, lowest, axis=1)
    second = graph("ReduceMax", others, axes=[1], keepdims=1)
    rivals = graph("Add", graph("Mul", scores, graph.number(0.0)), largest)
    return graph("Sub", scores, graph("ScatterElements", rivals, best, second, axis=1))


def _mapped(graph: Graph, scores: str, maps: Sequence[Map]) -> str:
    """Return the columns of ``scores``, each mapped to a probability."""
    sigmoids = [each for each in maps if isinstance(each, Sigmoid)]
    if len(sigmoids) == len(maps):
        slopes, offsets = (np.array([[getattr(each, name) for each in sigmoids]]) for name in ("slope", "offset"))
        return _sigmoid(graph, scores, slopes, offsets)
    columns = []
    for k, each in enumerate(maps):
        column = gather(graph, scores, [k]) if len(maps) > 1 else scores
        if isinstance(each, Sigmoid):
            columns.append(_sigmoid(graph, column, np.array([[each.slope]]), np.array([[each.offset]])))
        else:
            columns.append(_isotonic(graph, column, each))
    return columns[0] if len(columns) == 1 else graph("Concat", *columns, axis=1)


def _sigmoid(graph: Graph, scores: str, slopes: np.ndarray, offsets: np.ndarray) -> str:
    line = graph("Add", graph("Mul", scores, graph.constant(slopes)), graph.constant(offsets))
    return graph("Div", graph.number(1.0), graph("Add", graph("Exp", graph("Neg", line)), graph.number(1.0)))


def _isotonic(graph: Graph, scores: str, isotonic: Isotonic) -> str:
    """Return a column of probabilities: linear interpolation between the knots on both sides of a score."""
    x, y = graph.constant(np.array(isotonic.scores)), graph.constant(np.array(isotonic.values))
    passed = graph("Cast", graph("GreaterOrEqual", scores, x), to=graph.type("INT64"))
    right = graph("ReduceSum", passed, graph.constant(np.array([1])), keepdims=1)
    low = graph("Max", graph("Sub", right, graph.constant(np.array([[1]]))), graph.constant(np.array([[0]])))
    high = graph("Min", right, graph.constant(np.array([[len(isotonic.scores) - 1]])))
    x_low, x_high, y_low, y_high = (graph("Gather", knots, at, axis=0) for knots in (x, y) for at in (low, high))
    between = graph("And", graph("Greater", high, low), graph("Greater", right, graph.constant(np.array([[0]]))))
    width = graph("Where", between, graph("Sub", x_high, x_low), graph.number(1.0))
    way = graph("Where", between, graph("Sub", scores, x_low), graph.number(0.0))
    rise = graph("Mul", graph("Div", way, width), graph("Sub", y_high, y_low))
    return graph("Min", graph("Add", y_low, rise), y_high)


_LARGEST_GRAPH = 2_000_000_000  # protobuf allows 2 GiB


def export_onnx(model: BaseEstimator, path: str | os.PathLike[str], *, exact: bool = True) -> None:
    """Write a trained model as an ONNX graph that predicts in other runtimes.

    The input is ``X``, float64, with one row per example. The output ``label`` is the predicted class (int64, string,
    float64 or bool). The output ``scores``, float64, holds the activation of each class, or a single activation for two
    classes. A model that `rosenblatt.calibrated` returned also has the output ``probabilities``, float64, with a column
    for each class. They equal the probabilities of ``predict_proba`` up to about 1e-12. With a steep sigmoid, they may
    differ by the rounding error of the scores times its slope.

    The graph includes the preprocessing. A model trained on files describes it in its attribute ``preparation_``. If
    the files are tables, the graph has an input of shape (rows, 1) for each column, under the name of the column.
    Numeric columns are float64. NaN means a missing number, and so does a number among ``missing_values``, such as
    -999. It is filled in as in training. A date is given as the number of days since 1970-01-01, and a boolean as 0 or
    1. A number written with a comma in the file (1.234,56 or 1,234.56) is given as a number, because graphs do not
    parse text. Categories are strings; an unknown category sets no feature. ONNX cannot express the hashing of words.
    For models that hash words, the input is ``X``, the features after hashing, and a note in the graph says so. Scaling
    is always part of the graph.

    A ``Pipeline`` that was fitted on a data frame has an input for each column if its first step is a ColumnTransformer
    or expects words. Otherwise it has the input ``X``. An empty string means a missing word. In an array of objects, so
    does NaN or None, whichever marked missing words in training. This is not the case if "nan" or "None" is a category.
    If the name of a column is taken, such as "label", its input has another name, which is listed in the note
    "columns". The graph accepts rows that ``predict`` rejects, such as rows with an unknown category or a missing
    number.

    The label equals the label of ``predict`` in every row, even on the boundary. Rows whose scores differ by no more
    than rounding errors are decided again. For this, products are split so that their sums are exact. Imputers,
    encoders, scalers and Combinations use the same operations as Python on float64 rows, in the same order, so they
    round alike. SphereLift adds squares in another order, so labels of rows within rounding error of the boundary may
    differ. In rows that are decided again, numbers about 10^12 times smaller than the largest lose their last digits.
    Numbers beyond 1e290 overflow. For NaN and infinity, which ``predict`` rejects, the label is undefined.

    Parameters
    ----------
    model : any learner but VotedPerceptron and KernelPerceptron, or a Pipeline that ends in one
        It must not predict by a vote, which needs many weight vectors. The steps of a pipeline may be of any kind that
        `save` accepts but `TextHasher`, because ONNX cannot hash words. For a parameter search, such as GridSearchCV,
        ``best_estimator_`` is exported.
    path : str or path
        The file to write. It is replaced atomically; an OSError is raised if that fails.
    exact : bool
        By default True. If False, the graph only computes rounded scores and takes the largest, in four nodes. Then
        labels of rows within rounding error of the boundary may differ from ``predict``.

    See Also
    --------
    save : Write a model that can be loaded again.

    Examples
    --------
    >>> import tempfile
    >>> import onnxruntime
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, folder + "/model.onnx")
    ...     session = onnxruntime.InferenceSession(folder + "/model.onnx", providers=["CPUExecutionProvider"])
    >>> session.run(["label"], {"X": np.array([[3.0, 1.0], [-1.0, -1.0]])})
    [array(['yes', 'no'], dtype=object)]
    """
    model = searched(model)
    check_exportable(model)
    steps, learner = split_pipeline(model)
    if getattr(learner, "hypothesis", "last") == "vote":
        raise ValueError(
            "a vote needs many weight vectors, so it cannot be exported: "
            'export AveragedPerceptron, or set hypothesis="average" first.'
        )
    try:
        onnx = importlib.import_module("onnx")
    except ImportError:
        raise ImportError("export_onnx needs the package onnx: pip install 'rosenblatt[onnx]'.") from None
    rule = linear_rule(learner)
    size = rule.w.nbytes + sum(len(str(label)) for label in rule.classes)
    if size > _LARGEST_GRAPH:
        raise ValueError(
            f"the weights take {size:,} bytes, but an ONNX file can hold at most {_LARGEST_GRAPH:,}: use save instead."
        )
    graph, inputs = Graph(onnx), Inputs()
    width = rule.w.shape[1]
    if steps is None:
        x = prepared_rows(graph, inputs, getattr(learner, "preparation_", None), width)
    else:
        x = piped_rows(graph, inputs, [step for _, step in steps.steps], width)
        STEPS.write(steps.steps, Place("the steps"))  # raises for parameters that change what a step does
    number, scores = decide(graph, x, rule.w, rule.b, exact)
    labels = np.asarray(learner.classes_)
    graph.name(graph("Gather", graph.constant(_for_onnx(labels)), number), "label")
    graph.name(scores, "scores")
    outputs: list[Any] = [("scores", "DOUBLE", ["rows", len(rule.w)])]
    if hasattr(learner, "calibration_"):
        graph.name(probabilities(graph, scores, learner.calibration_), "probabilities")
        outputs.append(("probabilities", "DOUBLE", ["rows", len(rule.classes)]))
    kind = {"i": "INT64", "u": "INT64", "f": "DOUBLE", "b": "BOOL"}.get(labels.dtype.kind, "STRING")
    notes = {
        "learner": type(learner).__name__,
        "hypothesis": getattr(learner, "hypothesis", "last"),
        "features": json.dumps(feature_labels(learner, width, None, steps)),
    }
    if inputs.columns:
        notes["columns"] = json.dumps(inputs.columns)
    if inputs.note:
        notes["note"] = inputs.note
    proto = graph.model(
        inputs=inputs.declared,
        outputs=[("label", kind, ["rows"]), *outputs],
        version=__version__,
        notes=notes,
    )
    onnx.checker.check_model(proto)
    write_atomically(path, [proto.SerializeToString()])


def check_exportable(model: BaseEstimator) -> None:
    """Raise a TypeError or a NotFittedError unless ``model`` is a trained learner of this library with weights."""
    learner = learner_of(model)
    if isinstance(getattr(learner, "state_", None), DualState):
        raise TypeError(
            "a kernel perceptron has support vectors and no weights, so it cannot be exported: use save, or train "
            "Perceptron(fit_intercept=False), which is equivalent to the linear kernel."
        )
    check_is_fitted(learner)


def _for_onnx(labels: np.ndarray) -> np.ndarray:
    """Return class labels in a type that ONNX supports; a single label is repeated, because the graph looks up two."""
    labels = np.repeat(labels, 2) if len(labels) == 1 else labels
    if labels.dtype.kind in "iu":
        if labels.dtype == np.uint64 and labels.max() > np.iinfo(np.int64).max:
            raise ValueError(f"labels must be below 2**63 for ONNX, got {labels.max()}: use other labels.")
        return labels.astype(np.int64)
    if labels.dtype.kind in "fb":
        return labels.astype(np.float64) if labels.dtype.kind == "f" else labels
    return np.array([str(label_to_json(label)) for label in labels.tolist()], object)
