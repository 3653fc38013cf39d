"""Lanes: eight float64 numbers in a vector register, and the fused multiply-add (FMA), which rounds once.

The compiler does not vectorise sums whose order matters, so such sums are written with lanes. ``+``, ``-`` and ``*``
work on lanes as on numbers. They are never contracted to an FMA: only ``fused`` is one.
"""

from __future__ import annotations

import math
import operator

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8

if numba.config.DISABLE_JIT:

    def _fused(a, b, c):
        if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
            return a * b + c
        (m, p), (n, q), (o, r) = (float(number).as_integer_ratio() for number in (a, b, c))
        top, bottom = m * n * r + o * p * q, p * q * r
        if top == 0:
            return a * b + c
        try:
            return top / bottom  # a quotient of integers, which Python rounds once
        except OverflowError:
            return math.inf if top > 0 else -math.inf

    def fused(a, b, c):
        """Return ``a * b + c``, rounded once, for numbers or lanes."""
        if np.ndim(a) == 0:
            return np.float64(_fused(a, b, c))
        return np.array([_fused(*numbers) for numbers in zip(a, b, c, strict=True)])

    def spread(number):
        """Return lanes that all hold ``number``."""
        return np.full(LANES, number)

    def load_lanes(array, i):
        """Return the entries ``i`` to ``i + 7`` of a contiguous array as lanes."""
        return array[i : i + LANES].astype(np.float64)

    def pack_lanes(*numbers):
        """Return eight numbers as lanes."""
        return np.array(numbers, dtype=np.float64)

    def horizontal_sum(lanes):
        """Return the sum of all lanes: add the two halves, then the halves of the result, and so on."""
        while len(lanes) > 1:
            lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
        return lanes[0]

else:
    _DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(32)
    _VECTOR = ir.VectorType(_DOUBLE, LANES)

    class _Lanes(types.Type):
        def __init__(self):
            super().__init__(name="Lanes")

    _lanes = _Lanes()

    @register_model(_Lanes)
    class _LanesModel(models.PrimitiveModel):
        def __init__(self, manager, numba_type):
            super().__init__(manager, numba_type, _VECTOR)

    def _arithmetic(symbol, instruction):
        @type_callable(symbol)
        def type_symbol(context):
            return lambda a, b: _lanes if isinstance(a, _Lanes) and isinstance(b, _Lanes) else None

        @lower_builtin(symbol, _Lanes, _Lanes)
        def lower_symbol(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments)

    for _symbol, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
        _arithmetic(_symbol, _instruction)

    @type_callable(operator.neg)
    def _type_negative(context):
        return lambda a: _lanes if isinstance(a, _Lanes) else None

    @lower_builtin(operator.neg, _Lanes)
    def _lower_negative(context, builder, signature, arguments):
        return builder.fneg(*arguments)

    @intrinsic
    def fused(typing_context, a, b, c):
        """Return ``a * b + c``, rounded once, for numbers or lanes."""

        def generate(context, builder, signature, arguments):
            kind = _VECTOR if isinstance(a, _Lanes) else _DOUBLE
            name = "llvm.fma.v8f64" if isinstance(a, _Lanes) else "llvm.fma.f64"
            function_type = ir.FunctionType(kind, [kind] * 3)
            function = builder.module.globals.get(name) or ir.Function(builder.module, function_type, name)
            return builder.call(function, arguments)

        if isinstance(a, _Lanes):
            return _lanes(_lanes, _lanes, _lanes), generate
        return types.float64(types.float64, types.float64, types.float64), generate

    def _filled(builder, numbers):
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for lane, number in enumerate(numbers):
            vector = builder.insert_element(vector, number, _INDEX(lane))
        return vector

    @intrinsic
    def spread(typing_context, number):
        """Return lanes that all hold ``number`` (compiled)."""

        def generate(context, builder, signature, arguments):
            return _filled(builder, arguments * LANES)

        return _lanes(types.float64), generate

    @intrinsic
    def load_lanes(typing_context, array, i):
        """Return the entries ``i`` to ``i + 7`` of a contiguous array as lanes (compiled)."""

        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            entry = data.type.pointee
            address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.VectorType(entry, LANES).as_pointer())
            vector = builder.load(address, align=array.dtype.bitwidth // 8)
            return vector if entry == _DOUBLE else builder.fpext(vector, _VECTOR)

        return _lanes(array, types.int64), generate

    @intrinsic
    def pack_lanes(typing_context, a, b, c, d, e, f, g, h):
        """Return eight numbers as lanes (compiled)."""

        def generate(context, builder, signature, arguments):
            return _filled(builder, arguments)

        return _lanes(*[types.float64] * LANES), generate

    @intrinsic
    def horizontal_sum(typing_context, lanes):
        """Return the sum of all lanes (compiled): add the two halves, then the halves of the result, and so on."""

        def generate(context, builder, signature, arguments):
            (vector,) = arguments
            width = LANES
            while width > 1:
                width //= 2
                halves = [
                    builder.shuffle_vector(
                        vector,
                        ir.Constant(vector.type, ir.Undefined),
                        ir.Constant(ir.VectorType(_INDEX, width), [_INDEX(first + lane) for lane in range(width)]),
                    )
                    for first in (0, width)
                ]
                vector = builder.fadd(*halves)
            return builder.extract_element(vector, _INDEX(0))

        return types.float64(lanes), generate
