"""The svmlight kernel beside its slow twin."""

import math
from types import SimpleNamespace

from helpers.text_twins import svmlight
from rosenblatt.kernels.parsing import svmlight as kernel_module
from rosenblatt.kernels.parsing.svmlight import parse_lines


def test_svmlight_lines_of_every_shape():
    rows = svmlight(
        b"1 1:2 3:4\n-1 2:0.5\t7:1e3 \r\n\n   \r\n# only words: 3:4\n+2.5 qid:17 4:-3#end\n3\n1 qid:1#\n"
        b"0 0001:00.50 12345678:1 2147483647:.5\n1\t 5:5.\n"
    )
    assert [row[0] for row in rows] == [1, -1, 2.5, 3, 1, 0, 1]
    assert rows[5][1].tolist() == [0, 12345677, 2147483646]


def test_svmlight_faults():
    faulty = (
        b"abc 1:2;1,3 2:5;nan 1:2;inf 1:2;-Infinity;0x10 1:2;1e 1:2;1e+ 1:1;--1 1:1;1:2 3:4;1.5:2;:3;1 2;1 2:;"
        b"1 2: 3;1 :3;1 a:3;1 -2:3;1 +2:3;1 2.0:3;1 0:3;1 2:1 2:1;1 3:1 2:1;1 2147483648:1;"
        b"1 9223372036854775808:1;1 99999999:1 1:1;1 1:nan;1 1:inf;1 1:1e400;1e400 1:1;1 1:-1e309 x;1 1:1x;"
        b"1 1:1:1;1 1:1,5;1 1:0x1p3;1 1:1_000;1 1:\xc2\xb2;\xff\xfe1\x00;1 1:\x00;1\x00 1:1;1 \x001:1;1 1:+-1;"
        b"1 1:1e;1 1:.;1 1:-;1 1:e5;1 1:1e 5;1 1:1 qid:3;1 qid:x;1 qid:;1 qid:1 qid:2;"
        b"1 9999999999999999999999999999999999999999:1;1 1:1\x0b2:1;1|f 3:4;'1' 2:3;1 1:1 2 #;1 00:1;"
        b"9007199254740992 1:2;-9007199254740993 1:2;9007199254740991.9 1:2;12345678901234567890123 2:1;1e23"
    ).split(b";")
    for line in faulty:
        rows = svmlight(b"1 1:1\n" + line + b"\n-1 1:2\n")
        assert [row[0] for row in rows] == [1, -1], line


def test_svmlight_without_labels_and_from_zero():
    lines = b"3:1 4:2\n1 3:1\n1.5:2 3:1\n:3\nx\n7:1e400\n0:1\n# 1\n\n"
    rows = svmlight(lines, unlabelled=True)
    assert math.isnan(rows[0][0])
    assert svmlight(b"1e23 1:1\n-9007199254740992 1:1\n", unlabelled=True)[0][0] == 1e23
    svmlight(lines + b"1 0:1 1:2\n1 0:1 0:2\n1 5:1 6:1\n1 7:1\n", base=0, last=6)
    svmlight(b"1 1:1 7:1\n1 8:1\n1 0:1\n", base=1, last=7)


def test_short_plain_text_is_read_without_the_kernel(monkeypatch):
    monkeypatch.setattr(kernel_module, "SETTING", "auto")
    monkeypatch.setattr(parse_lines, "compiled", None)
    plain = b"+1 1:2 3:-.5e-3 \n-1\n0.5\t2:1e3\r\n0 0007:00.50 2147483647:5.\n1 " + b" ".join(
        b"%d:1" % k for k in range(1, 40)
    )
    others = [
        b"1 2:1 1:3",
        b"1 2:1 2:1",
        b"1 0:1",
        b"1 1:1e400",
        b"9007199254740992 1:2",
        b"1 1:2#",
        b"",
        b"1 qid:3 1:1",
        b"x",
    ]
    for other in others:
        svmlight(plain + b"\n" + other + b"\n-1 1:1\n")
    svmlight(b"1 0:1 6:2\n-1 7:1\n2 1:1\n", base=0, last=6)
    monkeypatch.setattr(kernel_module, "parse_lines", SimpleNamespace(compiled=None))
    assert len(svmlight(plain + b"\n")) == 5
    assert svmlight(b"1e23 1:1\n", unlabelled=True)[0][0] == 1e23
