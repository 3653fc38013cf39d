"""The Vowpal Wabbit kernel beside its slow twin."""

import math
import random

from helpers import naive_text
from helpers.text_twins import vw


def test_vw_lines_of_every_shape():
    lines = (
        b"1 |f 1:0.5 abc:2 12x 7 :3 :4\n1 |  a b |ns:2 a:3 00012 99999999999999999999999 | c \xc3\xa9\n"
        b"-1 2.5 0 'tag |1 a |2 b\n-1 tag|f\ta\tb:1e1 c:2\r\n\n  \t\n"
        b"0 |f\n0 |\n0 | |\n0 ||\n1 |f a|g b:2|h:3|f:0.5 a a\n"
        b"1 |f a:1 a:0.1 a:0.2 b:-0 c:-0 b 3:4 2:3 1:2 1:0.1 \n-.5e0 1 |12345678 12345678:1 1234567:2 123456789\n"
        b"  1 1e2  'x  |a b\n1 |\x01\x02a \x03b\x04 12\x05\n1 0 |f a\n"
    )
    for options in ({}, {"bits": 1}, {"bits": 5}, {"bits": 25}):
        rows, _ = vw(lines, **options)
        assert len(rows) == 14
    assert rows[2][3] == 2.5


def test_vw_faults():
    faulty = (
        b"1 2 3;1;'tag;abc;1 'tag;|f a;1|f a;tag| a;'t |f a;1 2 3 |f a;1 2 0 0 |f a;x |f a;1 x |f a;1 1 x |f a;"
        b"1 -1 |f a;1 'a b |f;'a b|f;nan |f a;1 inf |f a;1e999 |f a;1 1e999 |f a;1 1 1e999 |f a;1:2 |f a;1 |:2 a;"
        b"1 |f:x a;1 |f: a;1 |f:2:3 a;1 |f a:;1 |f a:x;1 |f a:1:2;1 |f a: 2;1 |f a:nan;1 |f a:inf;1 |f a:1e400;"
        b"1 |f:1e400 a;1 |f:1e300 a:1e300;1 |f a:1e308 a:1e308;1 |f a:1\x00;1 |f:1e400 a:0;1 |f a:1e400 b:x;"
        b"1\x00|f;\xff\xfe1\x00;1 1:2 3:4;1 |f b a:0x1;9007199254740992 |f;1e23 2 |f a;-1e23 x |f"
    ).split(b";")
    for line in faulty:
        rows, _ = vw(b"1 |f a\n" + line + b"\n-1 |f b:2\n")
        assert [row[0] for row in rows] == [1, -1], line
    assert vw(b"1e23 2 |f a\n", unlabelled=True)[0][0][0] == 1e23
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
