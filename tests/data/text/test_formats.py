"""Blocks from svmlight and Vowpal Wabbit text: the same rows from any cut, and a sentence for each fault."""

import bz2
import gzip
import lzma
import math
import random
from functools import partial

import numpy as np
import pyarrow
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from helpers import naive_text
from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.text.formats import SvmlightReader, VwReader

ROWS = 120


def reader_of(paths, chunk_bytes=None, threads=2, kind=SvmlightReader, **options):
    return kind(LineSource(paths, chunk_bytes=chunk_bytes), threads=threads, **options)


vw_reader_of = partial(reader_of, kind=VwReader)


def matrix(blocks, width=None):
    """Return all rows of some blocks as one CSR array, and their labels, having checked each block."""
    blocks = list(blocks)
    rows = 0
    for block in blocks:
        assert block.first == rows
        assert len(block) == block.X.shape[0] == len(block.y) > 0
        assert block.X.indices.dtype == block.X.indptr.dtype == np.int32
        fresh = sp.csr_array((block.X.data, block.X.indices, block.X.indptr), shape=block.X.shape)
        fresh.check_format(full_check=True)
        assert fresh.has_canonical_format
        rows += len(block)
    widths = [block.X.shape[1] for block in blocks]
    assert widths == sorted(widths), "the number of columns never falls"
    width = width or max(widths, default=0)
    parts = [sp.csr_array((b.X.data, b.X.indices, b.X.indptr), shape=(len(b), width)) for b in blocks]
    return (sp.vstack(parts, "csr"), np.concatenate([b.y for b in blocks])) if blocks else (None, np.empty(0))


def assert_equal(one, other):
    (X, y), (Z, t) = one, other
    assert X.shape == Z.shape
    np.testing.assert_array_equal(X.indptr, Z.indptr)
    np.testing.assert_array_equal(X.indices, Z.indices)
    assert X.data.tobytes() == Z.data.tobytes()
    np.testing.assert_array_equal(y, t)


@pytest.fixture
def file(tmp_path):
    """A file of random numbers with 16 digits, many lines of other shapes, and no newline at its end."""
    source = np.random.default_rng(0)
    X = sp.random_array((ROWS, 50), density=0.2, rng=source, format="csr") * 10.0 ** source.integers(-9, 9, (ROWS, 1))
    dump_svmlight_file(X, source.integers(0, 3, ROWS), str(tmp_path / "data.txt"), zero_based=False, comment="by hand")
    with (tmp_path / "data.txt").open("ab") as out:
        out.write(b"\n+1 qid:4 3:1 40:0.1 # more\r\n\t \n-1.5\n1 1:12345678901234567890123 2:1e-320 3:4.9e-324\n")
        out.write(b"2 7:9007199254740993 9:0.1e1 60:2")
    return tmp_path / "data.txt"


@pytest.fixture
def write(tmp_path):
    def write(*texts):
        paths = [tmp_path / f"{number}.txt" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text)
        return paths

    return write


@pytest.mark.parametrize("chunk_bytes", [1, 60, 1000, 3333, 10**6])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_any_cut_gives_the_same_rows(file, chunk_bytes, threads):
    reader = reader_of(file, chunk_bytes=chunk_bytes, threads=threads)
    whole = load_svmlight_file(str(file))
    assert_equal(matrix(reader, 60), whole)
    assert_equal(matrix(reader, 60), whole)
    assert (reader.width, reader.skipped) == (60, 0)
    assert reader.share == 1.0
    assert reader.files.size == file.stat().st_size


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda text: pyarrow.compress(text, "zstd", asbytes=True)]
)
def test_all_compressions_give_the_same_rows(file, tmp_path, pack):
    (tmp_path / "packed").write_bytes(pack(file.read_bytes()))
    assert_equal(matrix(reader_of(tmp_path / "packed", chunk_bytes=2000)), matrix(reader_of(file)))


FAULTS = {
    b"x 1:2": "line 2: the label is 'x', expected a finite number.",
    b"nan 1:2": "line 2: the label is 'nan', expected a finite number.",
    b"1,3 2:0.5": "line 2: '1,3' holds several labels, expected one",
    b"3:4 5:6": "line 2: the line has no label, expected a number before '3:4'.",
    b"1e400 1:2": "line 2: the number '1e400' is too large for float64.",
    b"1 7": "line 2: expected index:value, an integer and a number, got '7'.",
    b"1 1:2 a:3": "line 2: expected index:value, an integer and a number, got 'a:3'.",
    b"1 -3:2": "line 2: the index in '-3:2' is negative, expected indices from 1 on.",
    b"1 0:2": "line 2: the index in '0:2' is 0, expected indices from 1 on: if indices start at 0, give zero_based=",
    b"1 2147483648:1": "line 2: the index in '2147483648:1' is too large, expected at most 2147483647.",
    b"1 9223372036854775808:1": "line 2: the index in '9223372036854775808:1' is too large",
    b"1 3:1 2:1": "line 2: the index in '2:1' is not above the index before it, expected ascending indices: sort",
    b"1 3:1 3:1": "line 2: the index in '3:1' is not above the index before it",
    b"1 3:nan": "line 2: the value is 'nan', expected a finite number.",
    b"1 3:-inf": "line 2: the value is '-inf', expected a finite number.",
    b"1 3:": "line 2: the value is '', expected a finite number.",
    b"1 3:1e999": "line 2: the number '1e999' is too large for float64.",
    b"1 3:" + b"9" * 400: "line 2: the number '" + "9" * 56 + "... is too large for float64.",
    b"1 3:\xe9": r"line 2: the value is '\xe9', expected a finite number.",
    b"1 3:1\x00": r"line 2: the value is '1\x00', expected a finite number.",
    b"\x00\x00": r"line 2: the label is '\x00\x00', expected a finite number.",
}


def test_numbers_settled_for_a_skipped_line_are_forgotten(write):
    (path,) = write(b"1 1:12345678901234567890.5 2:1e999\n2 1:98765432109876543210.5 2:5e-324\n")
    X, y = matrix(reader_of(path, skip=True))
    assert (X.data.tolist(), y.tolist()) == ([98765432109876543210.5, 5e-324], [2])


def test_files_without_rows_have_no_blocks(write):
    paths = write(b"", b"\n\n", b"# only\n#comments", b"\xef\xbb\xbf", b" \t\r\n")
    assert list(reader_of(paths)) == []
    X, y = matrix(reader_of(write("1 1:2\n".encode("utf-16"))))
    assert (X.toarray().tolist(), y.tolist()) == ([[2.0]], [1])


def test_first_index(write):
    one, zero, late = write(b"1 1:5\n", b"1 3:5 # 0:1\n1 0:6\n", b"1 1:1\n" * 200_000 + b"1 0:1\n")
    assert matrix(reader_of(one, zero_based=True))[0].toarray().tolist() == [[0, 5]]
    assert reader_of(zero, zero_based="auto").zero_based is True
    assert matrix(reader_of(zero, zero_based="auto"))[0].toarray().tolist() == [[0, 0, 0, 5], [6, 0, 0, 0]]
    assert reader_of(one, zero_based="auto").zero_based is False
    with pytest.raises(DataError, match="line 200001: the index in '0:1' is 0"):
        list(reader_of(late, zero_based="auto"))
    with pytest.raises(DataError, match="'-1:2' is negative, expected indices from 0"):
        list(reader_of(write(b"1 -1:2\n"), zero_based=True))


def test_number_of_columns(write):
    (path,) = write(b"1 2:1\n1 7:1\n1 3:1\n")
    assert [block.X.shape for block in reader_of(path, chunk_bytes=1)] == [(1, 2), (1, 7), (1, 7)]
    assert [block.X.shape for block in reader_of(path, n_features=9)] == [(3, 9)]
    reader = reader_of(path, n_features=6)
    assert [block.X.toarray().sum(axis=1).tolist() for block in reader] == [[1.0, 0.0, 1.0]]
    assert reader.unseen == {"columns": 1}


def test_rows_without_labels(write):
    (path,) = write(b"2:1 3:4\n5 2:1\n")
    X, y = matrix(reader_of(path, labelled=False))
    assert math.isnan(y[0])
    assert y[1] == 5
    assert X.toarray().tolist() == [[0, 1, 4], [0, 1, 0]]


def test_a_line_of_ten_megabytes_and_numbers_that_take_long(write):
    n = 930_000
    long = b"1 " + b" ".join(b"%d:0.5" % k for k in range(1, n + 1))
    assert len(long) > 10_000_000
    slow = b"-1 " + b" ".join(b"%d:%d.%020d" % (k, k, k) for k in range(1, 3001))
    digits = b"2 1:0." + b"3" * 1_000_000
    (path,) = write(b"\n".join((long, slow, digits, b"3 1:4")))
    X, y = matrix(reader_of(path, chunk_bytes=1 << 16), n)
    assert y.tolist() == [1, -1, 2, 3]
    assert X.data[n : n + 3000].tolist() == [float(f"{k}.{k:020d}") for k in range(1, 3001)]
    assert X.data[-2] == float("0." + "3" * 1_000_000)


def test_parameters():
    with pytest.raises(ValueError, match="zero_based must be True or False or 'auto', got 'yes'"):
        reader_of("-", zero_based="yes")
    with pytest.raises(ValueError, match="n_features must be an integer from 0 to"):
        reader_of("-", n_features=-1)


LINES = (
    "1 |f 1:0.5 abc:2 12x 7\n1 |  a b |ns:2 a:3 00012 99999999999999999999999 | c é\n"
    "1 2.5 0 'tag |1 a |2 b\n-1 tag|f\ta\tb:1e1 c:2\r\n\n0 |f a|g b\n1 |f\n-1 |f a:1 b a:0.25"
).encode()


def rows_of(blocks):
    """Return ``(label, weight, columns, values)`` of each row, having checked the blocks."""
    rows = []
    for block in blocks:
        assert block.first == len(rows)
        X = sp.csr_array((block.X.data, block.X.indices, block.X.indptr), shape=block.X.shape)
        X.check_format(full_check=True)
        assert X.has_canonical_format
        for i in range(len(block)):
            part = slice(X.indptr[i], X.indptr[i + 1])
            weight = 1.0 if block.weight is None else block.weight[i]
            rows.append((block.y[i], weight, X.indices[part].tolist(), X.data[part].tolist()))
    return rows


def expected(text, **options):
    return [(row[0], row[3], row[1], row[2]) for row in naive_text.parsed(text, naive_text.vw_line, **options)[0]]


def test_columns_are_those_of_vw(write):
    (path,) = write(LINES)
    rows = rows_of(vw_reader_of(path))
    # as `vw --audit` of version 9.11.9 prints them, without its constant
    audited = [
        {34876: 0.5, 1403: 2, 173753: 1, 34882: 1},
        {92594: 1, 163331: 1, 185951: 1, 67463: 1, 180474: 6, 120356: 2, 120343: 2},
        {187624: 1, 22822: 1},
        {14355: 1, 146788: 10, 253856: 2},
        {14355: 1, 149920: 1},
        {},
        {14355: 1.25, 146788: 1},
    ]
    assert [dict(zip(*row[2:], strict=True)) for row in rows] == audited
    assert [row[:2] for row in rows] == [(1, 1), (1, 1), (1, 2.5), (-1, 1), (0, 1), (1, 1), (-1, 1)]


@pytest.mark.parametrize("chunk_bytes", [1, 30, 100, 10**6])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_any_cut_gives_the_same_rows_and_names(write, chunk_bytes, threads):
    plain, packed = write(LINES * 3 + b"\n" + LINES, gzip.compress(LINES + b"\n|f new 12:3\n"))
    reader = vw_reader_of(
        [plain, packed], chunk_bytes=chunk_bytes, threads=threads, bits=10, keep_words=True, labelled=False
    )
    rows = rows_of(reader)
    text = LINES * 3 + b"\n" + LINES + b"\n" + LINES + b"\n"
    assert rows[:-1] == expected(text, bits=10)
    assert math.isnan(rows[-1][0])
    names = {}
    for row in naive_text.parsed(text + b"|f new 12:3", naive_text.vw_line, bits=10, unlabelled=True)[0]:
        for column, name in row[4].items():
            names.setdefault(column, name.decode())
    assert reader.hashed_names == names
    assert {"f^abc", "a", "é", "ns^00012", "f^new"} <= set(names.values())
    assert reader.width == 1024
    assert all(block.X.shape[1] == 1024 for block in reader)


def test_weights_are_there_only_where_they_say_something(write):
    path, weighted = write(b"1 |a b\n-1 1 |a b\n", b"1 |a b\n-1 0 |a b\n")
    assert next(iter(vw_reader_of(path))).weight is None
    assert next(iter(vw_reader_of(weighted))).weight.tolist() == [1, 0]


VW_FAULTS = {
    b"1 2": "line 2: the line has no bar, expected label |namespace features.",
    b"|f a": "line 2: the line has no label, expected a number before the bar.",
    b"1|f a": "line 2: the line has no label, because '1|f' is a tag: put a space between a label and the bar.",
    b"x |f a": "line 2: expected up to three finite numbers (label, importance, base) and a tag before the bar, got",
    b"nan |f a": "line 2: expected up to three finite numbers (label, importance, base) and a tag",
    b"1:0.5 2:0.25 |f a": "line 2: expected up to three finite numbers (label, importance, base) and a tag",
    b"1 -2 |f a": "line 2: the importance is '-2', expected a number that is not negative.",
    b"1 1 0.5 |f a": "line 2: the base (the third number) is '0.5', but only 0 is supported: leave it out.",
    b"1 |f:x a": "line 2: expected |name or |name:weight, a finite number, got '|f:x'.",
    b"1 |f a:b": "line 2: the value is 'b', expected a finite number.",
    b"1 |f a:nan": "line 2: the value is 'nan', expected a finite number.",
    b"1 |f a:1:2": "line 2: the value is '1:2', expected a finite number.",
    b"1 |f a:1e999": "line 2: the number '1e999' is too large for float64.",
    b"1 |f a:1e308 a:1e308": "line 2: features that share a column add up to a number too large for float64.",
}


KINDS = {
    "svmlight": (reader_of, FAULTS, b"1 1:1", b"-1 2:1"),
    "vw": (partial(vw_reader_of, keep_words=True), VW_FAULTS, b"1 |f a", b"-1 |f a:2"),
}
"""Readers, what they refuse, and two sound lines."""


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind in KINDS for line in KINDS[kind][1]])
def test_each_fault_is_a_sentence_with_file_and_line(write, kind, line):
    opened, faults, sound, other = KINDS[kind]
    good, bad = write(sound, b"\xef\xbb\xbf" + sound + b"\r\n" + line + b"\r\n" + other + b"\n")
    for chunk_bytes in (1, 10**6):
        rows = []
        with pytest.raises(DataError) as caught:
            rows.extend(opened([good, bad], chunk_bytes=chunk_bytes))
        assert str(caught.value).startswith(f"{bad}, {faults[line]}")
        assert sum(len(block) for block in rows) == 2, "the rows before the fault are handed over"
        assert len(str(caught.value).splitlines()) == 1
    reader = opened([good, bad], skip=True)
    assert [row[0] for row in rows_of(reader)] == [1, 1, -1]
    assert reader.hashed_names == ({14355: "f^a"} if kind == "vw" else {}), "not those of lines that are left out"


@pytest.mark.parametrize("kind", KINDS)
def test_faulty_lines_are_skipped_and_counted_on_request(write, kind):
    opened, faults, sound, other = KINDS[kind]
    (path,) = write(b"\n".join([sound, *faults, other] * 3))
    expected = rows_of(opened(write(b"\n".join([sound, other] * 3))))
    for chunk_bytes, threads in ((1, 0), (100, 2), (10**6, 1)):
        path.write_bytes(b"\n".join([sound, *faults, other] * 3))
        reader = opened(path, skip=True, chunk_bytes=chunk_bytes, threads=threads)
        assert rows_of(reader) == expected
        assert reader.skipped == 3 * len(faults)
        assert len(reader.messages) == 10
        assert reader.messages[0].startswith(f"{path}, {next(iter(faults.values()))}")


def test_odd_files(write):
    assert list(vw_reader_of(write(b"", b"\n \r\n", b"\xef\xbb\xbf"))) == []
    (path,) = write(b"1 |f " + b" ".join(b"n%d:0.5" % k for k in range(900_000)) + b"\n-1 |f \xff\x00\xfe a\x00b")
    long, odd = vw_reader_of(path, bits=20, chunk_bytes=1 << 20)
    assert long.X.sum() == 450_000
    assert odd.X.nnz == 2
    for bits in (0, 31):
        with pytest.raises(ValueError, match="bits must be an integer from 1 to 30"):
            vw_reader_of(path, bits=bits)


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_never_crash_and_agree_with_the_twin_however_they_are_cut(file, kind):
    source, bits = random.Random(5), {"bits": 4} if kind == "vw" else {}
    text = b"1 |f a\n" + LINES if kind == "vw" else b"1 1:1\n" + file.read_bytes()[-3000:]
    for _ in range(60):
        mutant = bytearray(text)
        for _ in range(source.randrange(1, 30)):
            place = source.randrange(6, len(mutant))
            letters = source.choice((source.randbytes(2), b"\n", b":", b" ", b"|", b"9", b""))
            mutant[place : place + source.randrange(3)] = letters
        file.write_bytes(mutant)
        rows, faults = naive_text.parsed(bytes(mutant), getattr(naive_text, f"{kind}_line"), **bits)
        for chunk_bytes in (source.randrange(1, 300), 10**6):
            reader = KINDS[kind][0](file, skip=True, chunk_bytes=chunk_bytes, threads=source.randrange(3), **bits)
            found = rows_of(reader)
            assert [(row[0], *row[2:]) for row in found] == [row[:3] for row in rows]
            assert kind != "vw" or [row[1] for row in found] == [row[3] for row in rows]
            lines = [int(complaint.split(", line ")[1].split(":")[0]) for complaint in reader.messages]
            assert lines == [line for line, _ in faults[:10]]
            assert reader.skipped == len(faults)


@pytest.mark.parametrize("bits", [1, 4, 18])
def test_a_long_line_of_few_names_is_summed_in_its_order(write, bits):
    source = random.Random(0)
    line = b"1 |f" + b"".join(
        b" n%d:%a" % (source.randrange(300), source.gauss(0, 10.0 ** source.randrange(-9, 9))) for _ in range(5000)
    )
    (path,) = write(b"-1 |f a b\n" + line + b" |g a a a\n1 |f a\n")
    assert rows_of(vw_reader_of(path, bits=bits)) == expected(path.read_bytes(), bits=bits)


def test_a_long_line_of_few_names_needs_little_space(write, monkeypatch):
    grown = []
    monkeypatch.setattr("rosenblatt.data.text.reader._grow", lambda array, most: grown.append(most) or array.repeat(2))
    (path,) = write(b"1 |f" + b" a b" * 50_000 + b"\n")
    assert [len(row[2]) for row in rows_of(vw_reader_of(path))] == [2]
    assert not grown, "the space of the estimate is enough"
