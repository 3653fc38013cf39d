"""Slow, obvious parsers of svmlight and Vowpal Wabbit text: the kernels must agree with them bit for bit."""

import functools
import math
import operator
import re

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Fault(Exception):
    """A line that cannot be read; its message is the name of the kernels' code for it."""


def number(token, fault):
    if not NUMBER.fullmatch(token):
        raise Fault(fault)
    value = float(token)
    if math.isinf(value):
        raise Fault("TOO_LARGE")
    return value


def class_label(token, unlabelled):
    label = number(token, "BAD_LABEL")
    if abs(label) >= 2**53 and not unlabelled:
        raise Fault("LARGE_LABEL")
    return label


def words(text):
    return re.split(rb"[ \t\r]+", text.strip(b" \t\r"))


def svmlight_line(line, base=1, last=2**31 - 1, unlabelled=False):
    """Return ``(label, columns, values)``, or None for a blank line."""
    line = line.split(b"#")[0].strip(b" \t\r")
    if not line:
        return None
    features = words(line)
    start = NUMBER.match(features[0])
    if features[0][start.end() if start else 0 :].startswith(b":"):
        if not unlabelled:
            raise Fault("NO_LABEL")
        label = math.nan
    else:
        label = class_label(features.pop(0), unlabelled)
        if features and re.fullmatch(rb"qid:[0-9]+", features[0]):
            features.pop(0)
    columns, values = [], []
    for feature in features:
        index = re.match(rb"([0-9]+):", feature)
        if not index:
            raise Fault("BAD_INDEX")
        column = int(index[1]) - base
        if not base <= int(index[1]) <= last:
            raise Fault("INDEX_RANGE")
        if columns and column <= columns[-1]:
            raise Fault("INDEX_ORDER")
        values.append(number(feature[index.end() :], "BAD_VALUE"))
        columns.append(column)
    return label, columns, values


def murmur(data, seed):
    """MurmurHash3, x86, 32 bits (Appleby)."""

    def scrambled(k):
        k = k * 0xCC9E2D51 % 2**32
        return (k << 15 | k >> 17) % 2**32 * 0x1B873593 % 2**32

    h = seed % 2**32
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h ^= scrambled(int.from_bytes(data[i : i + 4], "little"))
        h = ((h << 13 | h >> 19) % 2**32 * 5 + 0xE6546B64) % 2**32
    if data[whole:]:
        h ^= scrambled(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    return h ^ h >> 16


def vw_hash(name, seed):
    name = name.strip(bytes(range(33)))
    return int(name or b"0") + seed if re.fullmatch(rb"[0-9]*", name) else murmur(name, seed)


def vw_line(line, bits=18, unlabelled=False):
    """Return ``(label, columns, values, weight, names)``, or None for a blank line."""
    line = line.strip(b" \t\r") if b"|" not in line else line.lstrip(b" \t\r")
    if not line:
        return None
    before, bar, spaces = line.partition(b"|")
    fields = [word for word in words(before) if word]
    tag = fields and bar and before[-1:] not in (b" ", b"\t", b"\r")
    if tag:
        fields.pop()
    numbers = []
    for place, field in enumerate(fields):
        if field.startswith(b"'") and not tag:
            if place < len(fields) - 1:
                raise Fault("BAD_LABEL")
            break
        if place == 3:
            raise Fault("BAD_LABEL")
        numbers.append(number(field, "BAD_LABEL") if place else class_label(field, unlabelled))
        if place == 1 and numbers[1] < 0:
            raise Fault("BAD_WEIGHT")
        if place == 2 and numbers[2] != 0:
            raise Fault("BASE")
    if not bar:
        raise Fault("NO_BAR")
    if not numbers and not unlabelled:
        raise Fault("NO_LABEL")
    label, weight = numbers[0] if numbers else math.nan, numbers[1] if len(numbers) > 1 else 1.0
    total, names = {}, {}
    for space in spaces.split(b"|"):
        head = re.match(rb"[^ \t\r]*", space).group()
        name, colon, scale = head.partition(b":")
        if colon and (not name or not NUMBER.fullmatch(scale)):
            raise Fault("BAD_NAMESPACE")
        scale = float(scale) if colon else 1.0
        seed, empty = vw_hash(name, 0), 0
        for feature in words(space[len(head) :]):
            if not feature:
                continue
            word, colon, value = feature.partition(b":")
            column = vw_hash(word, seed)
            if not word:
                column, word, empty = column + empty, b"%d" % empty, empty + 1
            column %= 2**bits
            if colon and not NUMBER.fullmatch(value):
                raise Fault("BAD_VALUE")
            value = float(value) * scale if colon else scale
            if not math.isfinite(value):
                raise Fault("TOO_LARGE")
            total.setdefault(column, []).append(value)
            names.setdefault(column, (name + b"^" if name else b"") + word)
    columns = sorted(total)
    values = [functools.reduce(operator.add, total[column]) for column in columns]
    if not all(map(math.isfinite, values)):
        raise Fault("SUM_TOO_LARGE")
    return label, columns, values, weight, names


def parsed(text, line_parser, **options):
    """Return the rows of all lines, and ``(line number, fault)`` of those that cannot be read."""
    rows, faults = [], []
    lines = text.split(b"\n")
    for number_of_line, line in enumerate(lines[:-1] if not lines[-1] else lines, 1):
        try:
            row = line_parser(line, **options)
        except Fault as fault:
            faults.append((number_of_line, str(fault)))
        else:
            rows += [row] if row is not None else []
    return rows, faults
