"""The parsers against their slow twins, on text that is sound, odd, and broken."""

import math
import random

import numpy as np
import pytest

from helpers import naive_text
from helpers.text_twins import svmlight, vw


def test_svmlight_lines_of_every_shape():
    rows = svmlight(
        b"1 1:2 3:4\n-1 2:0.5\t7:1e3 \r\n\n   \r\n# only words: 3:4\n+2.5 qid:17 4:-3#end\n3\n1 qid:1#\n"
        b"0 0001:00.50 12345678:1 2147483647:.5\n1\t 5:5.\n"
    )
    assert [row[0] for row in rows] == [1, -1, 2.5, 3, 1, 0, 1]
    assert rows[5][1].tolist() == [0, 12345677, 2147483646]


def test_svmlight_faults():
    faulty = [
        *(b"abc 1:2", b"1,3 2:5", b"nan 1:2", b"inf 1:2", b"-Infinity", b"0x10 1:2", b"1e 1:2", b"1e+ 1:1", b"--1 1:1"),
        *(b"1:2 3:4", b"1.5:2", b":3", b"1 2", b"1 2:", b"1 2: 3", b"1 :3", b"1 a:3", b"1 -2:3", b"1 +2:3", b"1 2.0:3"),
        *(b"1 0:3", b"1 2:1 2:1", b"1 3:1 2:1", b"1 2147483648:1", b"1 9223372036854775808:1", b"1 99999999:1 1:1"),
        *(b"1 1:nan", b"1 1:inf", b"1 1:1e400", b"1e400 1:1", b"1 1:-1e309 x", b"1 1:1x", b"1 1:1:1", b"1 1:1,5"),
        *(
            b"1 1:0x1p3",
            b"1 1:1_000",
            b"1 1:\xc2\xb2",
            b"\xff\xfe1\x00",
            b"1 1:\x00",
            b"1\x00 1:1",
            b"1 \x001:1",
            b"1 1:+-1",
        ),
        *(
            b"1 1:1e",
            b"1 1:.",
            b"1 1:-",
            b"1 1:e5",
            b"1 1:1e 5",
            b"1 1:1 qid:3",
            b"1 qid:x",
            b"1 qid:",
            b"1 qid:1 qid:2",
        ),
        *(b"1 " + b"9" * 40 + b":1", b"1 1:1\x0b2:1", b"1|f 3:4", b"'1' 2:3", b"1 1:1 2 #", b"1 00:1"),
    ]
    for line in faulty:
        rows = svmlight(b"1 1:1\n" + line + b"\n-1 1:2\n")
        assert [row[0] for row in rows] == [1, -1], line


def test_svmlight_without_labels_and_from_zero():
    lines = b"3:1 4:2\n1 3:1\n1.5:2 3:1\n:3\nx\n7:1e400\n0:1\n# 1\n\n"
    rows = svmlight(lines, unlabelled=True)
    assert math.isnan(rows[0][0])
    svmlight(lines + b"1 0:1 1:2\n1 0:1 0:2\n1 5:1 6:1\n1 7:1\n", base=0, last=6)
    svmlight(b"1 1:1 7:1\n1 8:1\n1 0:1\n", base=1, last=7)


def test_vw_lines_of_every_shape():
    lines = (
        b"1 |f 1:0.5 abc:2 12x 7 :3 :4\n1 |  a b |ns:2 a:3 00012 99999999999999999999999 | c \xc3\xa9\n"
        b"-1 2.5 0 'tag |1 a |2 b\n-1 tag|f\ta\tb:1e1 c:2\r\n\n  \t\n"
        b"0 |f\n0 |\n0 | |\n0 ||\n1 |f a|g b:2|h:3|f:0.5 a a\n"
        b"1 |f a:1 a:0.1 a:0.2 b:-0 c:-0 b 3:4 2:3 1:2 1:0.1 \n-.5e0 1 |12345678 12345678:1 1234567:2 123456789\n"
        b"  1 1e2  'x  |a b\n1 |\x01\x02a \x03b\x04 12\x05\n1 0 |f a\n"
    )
    for options in ({}, {"bits": 1}, {"bits": 5}, {"bits": 25}, {"dtype": np.float32}):
        rows, _ = vw(lines, **options)
        assert len(rows) == 14
    assert rows[2][3] == 2.5


def test_vw_faults():
    faulty = [
        *(
            b"1 2 3",
            b"1",
            b"'tag",
            b"abc",
            b"1 'tag",
            b"|f a",
            b"1|f a",
            b"tag| a",
            b"'t |f a",
            b"1 2 3 |f a",
            b"1 2 0 0 |f a",
        ),
        *(b"x |f a", b"1 x |f a", b"1 1 x |f a", b"1 -1 |f a", b"1 'a b |f", b"'a b|f", b"nan |f a", b"1 inf |f a"),
        *(
            b"1e999 |f a",
            b"1 1e999 |f a",
            b"1 1 1e999 |f a",
            b"1:2 |f a",
            b"1 |:2 a",
            b"1 |f:x a",
            b"1 |f: a",
            b"1 |f:2:3 a",
        ),
        *(
            b"1 |f a:",
            b"1 |f a:x",
            b"1 |f a:1:2",
            b"1 |f a: 2",
            b"1 |f a:nan",
            b"1 |f a:inf",
            b"1 |f a:1e400",
            b"1 |f:1e400 a",
        ),
        *(
            b"1 |f:1e300 a:1e300",
            b"1 |f a:1e308 a:1e308",
            b"1 |f a:1\x00",
            b"1 |f:1e400 a:0",
            b"1 |f a:1e400 b:x",
            b"1\x00|f",
        ),
        *(b"\xff\xfe1\x00", b"1 1:2 3:4", b"1 |f b a:0x1"),
    ]
    for line in faulty:
        rows, _ = vw(b"1 |f a\n" + line + b"\n-1 |f b:2\n")
        assert [row[0] for row in rows] == [1, -1], line
    rows, _ = vw(b"|f a\nt|f b\n't |f\n1 |f c\nx |f\n", unlabelled=True)
    assert [math.isnan(row[0]) for row in rows] == [True, True, True, False]


def test_names_are_found_at_their_first_row_that_is_read():
    lines = b"1 |f a b:x\n1 |f b a:2 :3 |g \xc3\xa9 |  b\n1 |f c c \n" * 2
    _, found = vw(lines, names=True)
    names = {}
    for row in naive_text.parsed(lines, naive_text.vw_line)[0]:
        for column, name in row[4].items():
            names.setdefault(column, name)
    spelled = {}
    for column, space, space_end, place, end in found:
        prefix = lines[space:space_end] + b"^" if space_end > space else b""
        spelled[column] = prefix + (lines[place:end] if end >= 0 else b"%d" % place)
    assert spelled == names
    assert min(line[1] for line in found) > lines.index(b"\n"), "the first line is no row"


def test_rows_of_any_length_are_sorted_and_added_up():
    source = random.Random(3)
    for n in (2, 63, 64, 65, 300):
        line = b"1 |f " + b" ".join(b"%d:%d" % (source.randrange(n), source.randrange(9)) for _ in range(n)) + b"\n"
        for bits in (3, 6, 7, 11, 18):
            vw(line, bits=bits)


@pytest.mark.parametrize(
    ("parse", "seed_lines"),
    [
        (svmlight, b"1 1:0.5 3:2 # c\n-1 qid:3 2:1e-3 12345678:7\n+1 1:12345678901234567890 2:1e400\n"),
        (vw, b"1 2.5 'tag |f:0.5 a:1 12 b |g 7:12345678901234567890 :3\n-1 |f abcdefgh:0.25 a\n"),
    ],
)
def test_mutated_bytes_never_part_kernel_and_twin(parse, seed_lines):
    source = random.Random(11)
    letters = b"0123456789.:eE+-|#' \t\r\n\x00\xffaqid,"
    for _ in range(150):
        lines = bytearray(seed_lines * 2)
        for _ in range(source.randrange(1, 6)):
            place = source.randrange(len(lines))
            letter = bytes([source.choice(letters) if source.random() < 0.9 else source.randrange(256)])
            action = source.randrange(3)
            lines[place : place + (action > 0)] = letter if action < 2 else b""
        lines = bytes(lines) + b"\n"
        parse(lines, pad=bytes([source.choice(letters)]), unlabelled=source.random() < 0.5)
