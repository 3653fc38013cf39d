"""Exact linear decisions in an ONNX graph, by error-free matrix multiplication (Ozaki, Ogita, Oishi and Rump 2012).

Only the sign of w . x matters, and a sum of floating-point products may have the wrong sign near zero. So rows and
weights are scaled to at most 1 by powers of two, and split into slices of B bits. Slice i is a multiple of 2^-(i+1)B
and at most 2^-iB. A product of two slices is an integer of at most 2B bits times a unit, a power of two. B is chosen so
that the sum of these integers over all features stays below 2^53. Hence no runtime rounds it, whatever the order of
summation. All products with the same unit are added, which gives one digit of w . x. Carrying from the last digit to
the first makes the digits unique, so that scores can be compared digit by digit.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from rosenblatt.rounding import HALF_ULP

_OPSET, _ML_OPSET, _IR = 17, 3, 8
INTERNAL = "rosenblatt/"
"""Prefix of the names of intermediate results in a graph; names of inputs must not start with it."""
_EXACT_BITS = 51
_ROW_BITS = 96  # a number keeps all its 53 bits if it is at least 2^-43 times the largest in its row
_MOST_SLICES = 10
_LEAST = 2.0**-1000


class Graph:
    """An ONNX graph under construction; methods that add to it return the name of what they added."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: dict[Any, Any] = {}

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        out = f"{INTERNAL}{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [out], **attributes))
        return out

    def constant(self, values: np.ndarray) -> str:
        """Add an array as a constant and return its name."""
        name = f"{INTERNAL}constant_{len(self._constants)}"
        if values.dtype == object:
            words = [word.encode("utf-8", "surrogatepass") for word in values.tolist()]
            tensor = self._onnx.helper.make_tensor(name, self.type("STRING"), values.shape, words)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)
        self._constants[name] = tensor
        return name

    def number(self, value: float) -> str:
        """Return the name of a float64 constant, which is added on its first use."""
        if value not in self._constants:
            name = f"{INTERNAL}number_{len(self._constants)}"
            self._constants[value] = self._onnx.numpy_helper.from_array(np.array(value), name)
        return self._constants[value].name

    def name(self, result: str, name: str) -> None:
        """Make ``result`` an output of the graph, called ``name``."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [result], [name]))

    def type(self, name: str) -> int:
        """Return the ONNX number of the type ``name``, such as "DOUBLE"."""
        return int(getattr(self._onnx.TensorProto, name))

    def model(self, inputs: list[Any], outputs: list[Any], version: str, notes: dict[str, str]) -> Any:
        """Return the graph as an ONNX model with metadata ``notes``; inputs and outputs are (name, type, shape)."""
        helper = self._onnx.helper
        ends = [
            [helper.make_tensor_value_info(name, self.type(kind), shape) for name, kind, shape in side]
            for side in (inputs, outputs)
        ]
        graph = helper.make_graph(self._nodes, "rosenblatt", *ends, initializer=list(self._constants.values()))
        domains = {"": _OPSET} | {node.domain: _ML_OPSET for node in self._nodes if node.domain}
        opsets = [helper.make_opsetid(domain, number) for domain, number in domains.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="rosenblatt", producer_version=version)
        model.ir_version = _IR
        helper.set_model_props(model, notes)
        return model


def decide(graph: Graph, x: str, w: np.ndarray, b: np.ndarray, exact: bool = True) -> tuple[str, str]:
    """Add nodes that classify the rows ``x``; return the index of each row's predicted class, and the scores as floats.

    With one weight vector, class 1 is predicted if the score exceeds 0, else class 0. If ``exact``, the rows whose
    largest scores differ by no more than rounding errors are gathered and decided exactly.
    """
    weights, biases = graph.constant(w.T), graph.constant(b[None, :])
    scores = graph("Add", graph("MatMul", x, weights), biases)
    rivals = _with_zero(graph, scores, len(w))
    number = graph("ArgMax", rivals, axis=1, keepdims=0)
    if not exact:
        return number, scores
    doubt = _doubtful(graph, x, rivals, w, b)
    digits, exact_scores = _exact_scores(graph, graph("Gather", x, doubt, axis=0), weights, biases, w, b)
    winners = _first_of_largest(graph, [_with_zero(graph, digit, len(w)) for digit in digits])
    number = graph("ScatterElements", number, doubt, winners, axis=0)
    return number, graph("ScatterND", scores, graph("Unsqueeze", doubt, graph.constant(np.array([1]))), exact_scores)


def _with_zero(graph: Graph, columns: str, n: int) -> str:
    """Return the ``n`` columns; a single column is preceded by a column of zeros."""
    return columns if n > 1 else graph("Concat", graph("Mul", columns, graph.number(0.0)), columns, axis=1)


def _doubtful(graph: Graph, x: str, rivals: str, w: np.ndarray, b: np.ndarray) -> str:
    """Return the indices of the rows in which rounding may hide the largest score, or this score is not finite.

    The error of a score with n = d + 1 terms is at most gamma_n |x| |w|, where gamma_n = n u / (1 - n u) and u is the
    unit roundoff (Higham, section 3.1).
    """
    with np.errstate(over="ignore"):
        longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", w, w) + b * b)))
    rounding = min(2.1 * HALF_ULP * (w.shape[1] + 8) * longest, sys.float_info.max)
    square = graph("ReduceSumSquare", x, axes=[1], keepdims=1)
    length = graph("Sqrt", graph("Add", square, graph.number(1.0)))
    slack = graph("Add", graph("Mul", length, graph.number(rounding)), graph.number(_LEAST))
    least = graph("Sub", graph("ReduceMax", rivals, axes=[1], keepdims=1), slack)
    near = graph("Cast", graph("Not", graph("Less", rivals, least)), to=graph.type("INT64"))
    count = graph("ReduceSum", near, graph.constant(np.array([1])), keepdims=0)
    found = graph("NonZero", graph("Not", graph("Equal", count, graph.constant(np.array([1])))))
    return graph("Reshape", found, graph.constant(np.array([-1])))


def _exact_scores(
    graph: Graph, x: str, weights: str, biases: str, w: np.ndarray, b: np.ndarray
) -> tuple[list[str], str]:
    """Return the digits of each score, largest unit first, and the scores as floats.

    The unit of the digits is relative to the scale of the row. Scores of a row are compared by their digits,
    lexicographically.
    """
    d = w.shape[1]
    sizes = np.abs(w).max(), math.ldexp(np.abs(b).max(), -500)
    exponent = min(max(math.frexp(max(*sizes, _LEAST))[1], -1000), 1000)
    smaller, larger = math.ldexp(1.0, -exponent), math.ldexp(1.0, exponent)
    bits, n_rows = _slice_bits(d)
    n_weights = _slices_of(w * smaller, bits)
    scale = _power_of_two(graph, x, float(np.abs(b).max()) * smaller)
    rows = _slices(graph, graph("Div", x, scale), n_rows, bits)
    columns = _slices(graph, graph("Mul", weights, graph.number(smaller)), n_weights, bits)
    sums: list[list[str]] = [[] for _ in range(n_rows + n_weights - 1)]
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            sums[i + j].append(graph("MatMul", row, column))
    if b.any():
        share = graph("Div", graph("Mul", biases, graph.number(smaller)), scale)
        for i, part in enumerate(_slices(graph, share, n_rows, bits)):
            sums[max(i - 1, 0)].append(part)
    digits = _carried(graph, [graph("Sum", *parts) for parts in sums], bits)
    total = digits[-1]
    for digit in reversed(digits[:-1]):
        total = graph("Add", digit, total)
    return digits, graph("Mul", graph("Mul", total, scale), graph.number(larger))


def _first_of_largest(graph: Graph, digits: list[str]) -> str:
    """Return the index of the column with the lexicographically largest digits; the first if several are equal."""
    best = ""
    for digit in digits:
        left = graph("Where", best, digit, graph.number(-1e300)) if best else digit
        best = graph("Equal", left, graph("ReduceMax", left, axes=[1], keepdims=1))
    return graph("ArgMax", graph("Cast", best, to=graph.type("INT32")), axis=1, keepdims=0)


def _slice_bits(d: int) -> tuple[int, int]:
    """Return the number of bits per slice and of slices per row that make sums over ``d`` features exact.

    >>> _slice_bits(4), _slice_bits(1_000_000)
    ((22, 5), (13, 8))
    """
    bits = (_EXACT_BITS - math.ceil(math.log2(_MOST_SLICES * (d + 1)))) // 2
    return bits, min(_MOST_SLICES, math.ceil(_ROW_BITS / bits))


def _slices_of(w: np.ndarray, bits: int) -> int:
    """Return the number of slices that represent ``w`` exactly, or the maximum if more are needed."""
    left = w
    for i in range(_MOST_SLICES):
        heavy = 1.5 * 2.0 ** (52 - (i + 1) * bits)
        left = left - ((left + heavy) - heavy)
        if not left.any():
            return i + 1
    return _MOST_SLICES


def _slices(graph: Graph, values: str, count: int, bits: int) -> list[str]:
    """Return ``values``, which are at most 1, as ``count`` slices of ``bits`` bits."""
    out = []
    for i in range(count):
        # heavy is 1.5 * 2^52 units: adding and subtracting it rounds to a multiple of the unit, with an exact remainder
        heavy = graph.number(1.5 * 2.0 ** (52 - (i + 1) * bits))
        out.append(graph("Sub", graph("Add", values, heavy), heavy))
        if i + 1 < count:
            values = graph("Sub", values, out[-1])
    return out


def _power_of_two(graph: Graph, x: str, least: float) -> str:
    """Return, for each row, a power of two that no absolute value in the row exceeds and that is at least ``least``."""
    largest = graph("ReduceMax", graph("Abs", x), axes=[1], keepdims=1)
    largest = graph("Max", largest, graph.number(max(least, _LEAST)))
    much = graph("Mul", largest, graph.number(2.0**53))
    # (2^53 a + a) - 2^53 a rounds a up to a power of two, but gives 0 if a is itself a power of two
    return graph("Max", graph("Sub", graph("Add", much, largest), much), largest)


def _carried(graph: Graph, sums: list[str], bits: int) -> list[str]:
    """Return the digits of sums with decreasing units; each digit after the first is at most half the previous unit."""
    digits = []
    for g in range(len(sums) - 1, 0, -1):
        unit = 2.0 ** (-(g + 1) * bits)
        whole = graph("Floor", graph("Add", graph("Mul", sums[g], graph.number(1.0 / unit)), graph.number(0.5)))
        carry = graph("Mul", whole, graph.number(unit))
        digits.append(graph("Sub", sums[g], carry))
        sums[g - 1] = graph("Add", sums[g - 1], carry)
    return [sums[0], *reversed(digits)]
