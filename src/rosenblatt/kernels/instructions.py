"""Instructions that numba does not offer: the compiled form of some plain functions of this folder."""

from __future__ import annotations

import operator
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from rosenblatt.kernels.simd import LANES

# arrays


@intrinsic
def at(typing_context, array, i):
    """Return ``array[i]`` for a contiguous array and ``i >= 0``, without numba's test for a negative index."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        index = arguments[1]
        if index.type.width < 64:
            widen = builder.sext if signature.args[1].signed else builder.zext
            index = widen(index, ir.IntType(64))
        return builder.load(builder.gep(data, [index]))

    return array.dtype(array, i), generate


@intrinsic
def prefetch(typing_context, array, i):
    """Prefetch the cache line of ``array[i]``. The address may be outside the array: a prefetch never fails."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte_pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte_pointer], function_type)
        builder.call(instruction, [address, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, i), generate


# lanes

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
        if isinstance(array.dtype, types.Integer):
            return (builder.sitofp if array.dtype.signed else builder.uitofp)(vector, _VECTOR)
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


# bytes and bits


def _loaded(builder, place, bits):
    pointer = builder.inttoptr(place, ir.IntType(bits).as_pointer())
    return builder.load(pointer, align=1)


@intrinsic
def address_of(typing_context, array):
    """Return the address of the first byte of ``array``."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), generate


def _bit_instruction(result, argument, build):
    """Return a compiled function of one number, whose code ``build(builder, number)`` generates."""

    @intrinsic
    def instruction(typing_context, number):
        def generate(context, builder, signature, arguments):
            return build(builder, arguments[0])

        return result(argument), generate

    return instruction


def _load_word(builder, place):
    loaded = _loaded(builder, place, 64)
    return loaded if sys.byteorder == "little" else builder.bswap(loaded)


byte = _bit_instruction(types.int64, types.int64, lambda b, place: b.zext(_loaded(b, place, 8), ir.IntType(64)))
word = _bit_instruction(types.uint64, types.int64, _load_word)
trailing_zeros = _bit_instruction(types.int64, types.uint64, lambda b, bits: b.cttz(bits, ir.IntType(1)(0)))
leading_zeros = _bit_instruction(types.int64, types.uint64, lambda b, bits: b.ctlz(bits, ir.IntType(1)(1)))
float_of = _bit_instruction(types.float64, types.uint64, lambda b, bits: b.bitcast(bits, ir.DoubleType()))


INSTRUCTIONS: dict[str, Any] = {
    f"rosenblatt.kernels.{module}.{name}": globals()[name]
    for module, names in (
        ("parts", ("at", "prefetch")),
        ("simd", ("fused", "spread", "load_lanes", "pack_lanes", "horizontal_sum")),
        ("parsing.bytes", ("address_of", "byte", "word", "trailing_zeros", "leading_zeros", "float_of")),
    )
    for name in names
}
"""The compiled form of each plain function, by the name of the plain function."""
