"""Blocks from Vowpal Wabbit text: vw's own columns, the same rows from any cut, and a sentence for each fault."""

import gzip
import math
import random

import pytest
import scipy.sparse as sp

from helpers import naive_text
from rosenblatt.blocks import DataError
from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.text.formats import VwReader

LINES = (
    "1 |f 1:0.5 abc:2 12x 7\n1 |  a b |ns:2 a:3 00012 99999999999999999999999 | c é\n"
    "1 2.5 0 'tag |1 a |2 b\n-1 tag|f\ta\tb:1e1 c:2\r\n\n0 |f a|g b\n1 |f\n-1 |f a:1 b a:0.25"
).encode()


def reader_of(paths, chunk_bytes=None, threads=2, **options):
    return VwReader(LineSource(paths, chunk_bytes=chunk_bytes), threads=threads, **options)


@pytest.fixture
def write(tmp_path):
    def write(*texts):
        paths = [tmp_path / f"{number}.vw" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text)
        return paths

    return write


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
    rows = rows_of(reader_of(path))
    # as `vw --audit` of version 9.11.9 prints them, without its constant
    assert dict(zip(*rows[0][2:], strict=True)) == {34876: 0.5, 1403: 2, 173753: 1, 34882: 1}
    assert dict(zip(*rows[1][2:], strict=True)) == {
        **{92594: 1, 163331: 1, 185951: 1, 67463: 1},
        **{180474: 6, 120356: 2, 120343: 2},
    }
    assert dict(zip(*rows[2][2:], strict=True)) == {187624: 1, 22822: 1}
    assert dict(zip(*rows[3][2:], strict=True)) == {14355: 1, 146788: 10, 253856: 2}
    assert dict(zip(*rows[4][2:], strict=True)) == {14355: 1, 149920: 1}
    assert rows[5][2] == []
    assert dict(zip(*rows[6][2:], strict=True)) == {14355: 1.25, 146788: 1}
    assert [row[:2] for row in rows] == [(1, 1), (1, 1), (1, 2.5), (-1, 1), (0, 1), (1, 1), (-1, 1)]


@pytest.mark.parametrize("chunk_bytes", [1, 30, 100, 10**6])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_any_cut_gives_the_same_rows_and_names(write, chunk_bytes, threads):
    plain, packed = write(LINES * 3 + b"\n" + LINES, gzip.compress(LINES + b"\n|f new 12:3\n"))
    reader = reader_of([plain, packed], chunk_bytes=chunk_bytes, threads=threads, bits=10, names=True, labelled=False)
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
    assert next(iter(reader_of(path))).weight is None
    assert next(iter(reader_of(weighted))).weight.tolist() == [1, 0]


FAULTS = {
    b"1 2": "line 2: the line has no bar, expected label |namespace features.",
    b"|f a": "line 2: the line has no label, expected a number before the bar.",
    b"1|f a": "line 2: the line has no label, for '1|f' is a tag: leave a space between a label and the bar.",
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


@pytest.mark.parametrize("line", FAULTS)
def test_each_fault_is_a_sentence_with_file_and_line(write, line):
    good, bad = write(b"1 |f a", b"\xef\xbb\xbf1 |f a\r\n" + line + b"\r\n-1 |f a\n")
    for chunk_bytes in (1, 10**6):
        rows = []
        with pytest.raises(DataError) as caught:
            rows.extend(reader_of([good, bad], chunk_bytes=chunk_bytes))
        assert str(caught.value).startswith(f"{bad}, {FAULTS[line]}")
        assert sum(len(block) for block in rows) == 2
    reader = reader_of([good, bad], skip=True, names=True)
    assert [row[0] for row in rows_of(reader)] == [1, 1, -1]
    assert reader.skipped == 1
    assert reader.messages == [f"{bad}, " + reader.messages[0].partition(", ")[2]]
    assert reader.hashed_names == {14355: "f^a"}, "names are not taken from lines that are left out"


def test_odd_files(write):
    assert list(reader_of(write(b"", b"\n \r\n", b"\xef\xbb\xbf"))) == []
    (path,) = write(b"1 |f " + b" ".join(b"n%d:0.5" % k for k in range(900_000)) + b"\n-1 |f \xff\x00\xfe a\x00b")
    long, odd = reader_of(path, bits=20, chunk_bytes=1 << 20)
    assert long.X.sum() == 450_000
    assert odd.X.nnz == 2
    for bits in (0, 31):
        with pytest.raises(ValueError, match="bits must be an integer from 1 to 30"):
            reader_of(path, bits=bits)


def test_mutated_files_never_crash_and_agree_with_the_twin(write):
    source = random.Random(9)
    for _ in range(60):
        mutant = bytearray(b"1 |f a\n" + LINES)
        for _ in range(source.randrange(1, 12)):
            place = source.randrange(6, len(mutant))
            letters = source.choice((source.randbytes(2), b"\n", b":", b"|", b"9", b""))
            mutant[place : place + source.randrange(3)] = letters
        (path,) = write(bytes(mutant))
        reader = reader_of(path, skip=True, bits=4, chunk_bytes=source.choice((1, 77, 10**6)), threads=0)
        rows, faults = naive_text.parsed(bytes(mutant), naive_text.vw_line, bits=4)
        assert [row[2:] for row in rows_of(reader)] == [(row[1], row[2]) for row in rows]
        assert reader.skipped == len(faults)


@pytest.mark.parametrize("bits", [1, 4, 18])
def test_a_long_line_of_few_names_is_summed_in_its_order(write, bits):
    source = random.Random(0)
    line = b"1 |f" + b"".join(
        b" n%d:%a" % (source.randrange(300), source.gauss(0, 10.0 ** source.randrange(-9, 9))) for _ in range(5000)
    )
    (path,) = write(b"-1 |f a b\n" + line + b" |g a a a\n1 |f a\n")
    assert rows_of(reader_of(path, bits=bits)) == expected(path.read_bytes(), bits=bits)


def test_a_long_line_of_few_names_needs_little_space(write, monkeypatch):
    grown = []
    monkeypatch.setattr("rosenblatt.data.text.reader._grow", lambda array, most: grown.append(most) or array.repeat(2))
    (path,) = write(b"1 |f" + b" a b" * 50_000 + b"\n")
    assert [len(row[2]) for row in rows_of(reader_of(path))] == [2]
    assert not grown, "the space of the estimate is enough"
