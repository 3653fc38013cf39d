"""Run the kernels that parse text beside their slow twins, and compare all they say."""

import math

import numpy as np

from helpers import naive_text
from rosenblatt.kernels.parsing import svmlight as text
from rosenblatt.kernels.parsing import vw as hashed_text
from rosenblatt.kernels.parsing.bytes import PAD

CODES = {
    getattr(module, name): name
    for module, names in (
        (text, ("BAD_LABEL", "NO_LABEL", "LARGE_LABEL", "BAD_VALUE", "TOO_LARGE")),
        (text, ("BAD_INDEX", "INDEX_RANGE", "INDEX_ORDER")),
        (hashed_text, ("NO_BAR", "BAD_WEIGHT", "BASE", "BAD_NAMESPACE", "SUM_TOO_LARGE")),
    )
    for name in names
}


def run(kernel, lines, *, room=3, pad=b"7", **options):
    """Drive a kernel over all lines, with so little room that it must ask for more; return rows and faults."""
    stop = len(lines)
    buffer = np.frombuffer(bytearray(lines + pad * PAD), np.uint8)
    progress = np.zeros(1, text.PROGRESS)
    progress["highest"] = -1
    slow = [np.empty(1, np.int64), np.empty(1)]
    parts = [np.empty(room), np.zeros(room + 1, np.int32), np.empty(room, np.int32), np.empty(room)]
    parts.append(np.empty(room))
    bits = options.get("bits", 18)
    names = np.zeros(2**bits, np.uint8), np.empty((len(lines) if options.get("names") else 0, 5), np.int64)
    faults = []
    while True:
        unlabelled = options.get("unlabelled", False)
        if kernel is text.parse_svmlight:
            columns = (options.get("base", 1), options.get("last", 2**31 - 1))
            code = kernel(buffer, stop, columns, unlabelled, tuple(parts[:4]), tuple(slow), progress)
        else:
            space = len(parts[2])
            scratch = np.empty(2 * space, np.uint64), np.empty(space), np.empty(2048, np.uint64)
            code = kernel(buffer, stop, bits, unlabelled, tuple(parts), names, scratch, tuple(slow), progress)
        s = progress[0]
        if code == text.DONE:
            break
        if code == text.NEED_SPACE:
            parts = [np.concatenate([part, np.full(len(part), 99, part.dtype)]) for part in parts]
        elif code == text.NEED_VALUES:
            if s["seen"] > len(slow[0]):
                slow = [np.resize(part, s["seen"]) for part in slow]
            else:
                for k in range(s["resolved"], s["seen"]):
                    slow[1][k] = float(naive_text.NUMBER.match(lines, slow[0][k]).group())
                s["resolved"] = s["seen"]
        else:
            faults.append((int(s["lines"]) + 1, CODES[code]))
            s["place"] = lines.index(b"\n", s["place"]) + 1
            s["lines"] += 1
            s["resolved"] = 0
    assert s["place"] == stop
    assert s["lines"] == lines.count(b"\n")
    n, indptr = int(s["rows"]), parts[1]
    assert indptr[n] == s["entries"]
    ranges = [slice(indptr[i], indptr[i + 1]) for i in range(n)]
    rows = [(parts[0][i], parts[2][ranges[i]], parts[3][ranges[i]], parts[4][i]) for i in range(n)]
    assert s["highest"] == max((int(row[1][-1]) for row in rows if len(row[1])), default=-1)
    found = [tuple(line) for line in names[1][: s["names"]].tolist()]
    return rows, faults, found


def assert_same(lines, kernel, twin, **options):
    """Compare a kernel and its twin on all lines, bit for bit."""
    rows, faults, found = run(kernel, lines, **options)
    known = {key: options[key] for key in ("base", "last", "bits", "unlabelled") if key in options}
    expected, their_faults = naive_text.parsed(lines, twin, **known)
    assert faults == their_faults
    assert len(rows) == len(expected)
    for (label, columns, values, weight), row in zip(rows, expected, strict=True):
        assert label == row[0] or (math.isnan(label) and math.isnan(row[0]))
        assert columns.tolist() == row[1]
        assert values.tobytes() == np.array(row[2], np.float64).tobytes()
        if twin is naive_text.vw_line:
            assert weight == row[3]
    return rows, found


def svmlight(lines, **options):
    return assert_same(lines, text.parse_svmlight, naive_text.svmlight_line, **options)[0]


def vw(lines, **options):
    return assert_same(lines, hashed_text.parse_vw, naive_text.vw_line, **options)
