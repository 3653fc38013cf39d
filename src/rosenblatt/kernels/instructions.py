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


def _bounded(comparison):
    """Return a compiled function that replaces numbers or lanes by a bound where ``comparison`` with it holds."""

    @intrinsic
    def replace(typing_context, number, bound):
        def generate(context, builder, signature, arguments):
            a, b = arguments
            if isinstance(number, _Lanes):
                b = _filled(builder, [b] * LANES)
            return builder.select(builder.fcmp_ordered(comparison, a, b), b, a)

        kind = _lanes if isinstance(number, _Lanes) else types.float64
        return kind(kind, types.float64), generate

    return replace


at_least, at_most = _bounded("<"), _bounded(">")


@intrinsic
def unless_zero(typing_context, test, number, otherwise):
    """Return a number or lanes, but the number ``otherwise`` where ``test`` is 0 (compiled)."""

    def generate(context, builder, signature, arguments):
        a, b, c = arguments
        if isinstance(test, _Lanes):
            c = _filled(builder, [c] * LANES)
        return builder.select(builder.fcmp_ordered("==", a, ir.Constant(a.type, None)), c, b)

    kind = _lanes if isinstance(test, _Lanes) else types.float64
    return kind(kind, kind, types.float64), generate


# Eight groups of four numbers (w, s, u, nothing), called quads, are transposed by shuffles. Each is read and written
# as a whole, because a load of numbers that two stores have just written waits for both.

_QUAD = ir.VectorType(_DOUBLE, 4)
_PLACES = types.UniTuple(types.uint64, LANES)


def _shuffled(builder, a, b, lanes):
    mask = ir.Constant(ir.VectorType(_INDEX, len(lanes)), [_INDEX(lane) for lane in lanes])
    return builder.shuffle_vector(a, b, mask)


_EVEN, _ODD = (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)
_LOWER, _UPPER = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)


def _addresses(context, builder, signature, arguments):
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    places = [builder.extract_value(arguments[1], lane) for lane in range(LANES)]
    return [builder.bitcast(builder.gep(data, [place]), _QUAD.as_pointer()) for place in places]


@intrinsic
def load_quads(typing_context, numbers, places):
    """Return the first three numbers of eight quads as lanes (compiled)."""

    def generate(context, builder, signature, arguments):
        quads = [builder.load(address, align=8) for address in _addresses(context, builder, signature, arguments)]
        pairs = [_shuffled(builder, quads[k], quads[k + 4], range(8)) for k in range(4)]
        # ``even`` is w w u u w w u u of the quads 0 1 0 1 4 5 4 5, then 2 3 2 3 6 7 6 7; ``odd`` is s s - - s s - -
        even = [_shuffled(builder, pairs[k], pairs[k + 1], _EVEN) for k in (0, 2)]
        odd = [_shuffled(builder, pairs[k], pairs[k + 1], _ODD) for k in (0, 2)]
        w, u = (_shuffled(builder, even[0], even[1], lanes) for lanes in (_LOWER, _UPPER))
        s = _shuffled(builder, odd[0], odd[1], _LOWER)
        return context.make_tuple(builder, signature.return_type, (w, s, u))

    return types.UniTuple(_lanes, 3)(numbers, _PLACES), generate


@intrinsic
def store_quads(typing_context, numbers, places, first, second, third):
    """Store three lanes in eight quads (compiled). The fourth number of each is overwritten."""

    def generate(context, builder, signature, arguments):
        w, s, u = arguments[2:]
        addresses = _addresses(context, builder, signature, arguments)
        for part, lanes in enumerate((_LOWER, _UPPER)):
            even, odd = _shuffled(builder, w, u, lanes), _shuffled(builder, s, s, lanes)
            for pair, parity in enumerate((_EVEN, _ODD)):
                both = _shuffled(builder, even, odd, parity)
                for half, quad in enumerate((range(4), range(4, 8))):
                    address = addresses[2 * part + pair + 4 * half]
                    builder.store(_shuffled(builder, both, both, quad), address, align=8)
        return context.get_dummy_value()

    return types.void(numbers, _PLACES, _lanes, _lanes, _lanes), generate


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
        (
            "simd",
            (
                "at_least",
                "at_most",
                "fused",
                "horizontal_sum",
                "load_lanes",
                "load_quads",
                "pack_lanes",
                "spread",
                "store_quads",
                "unless_zero",
            ),
        ),
        ("parsing.bytes", ("address_of", "byte", "word", "trailing_zeros", "leading_zeros", "float_of")),
    )
    for name in names
}
"""The compiled form of each plain function, by the name of the plain function."""
