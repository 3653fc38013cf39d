"""Formats by content, name and first lines."""

import pytest

from rosenblatt.data.io.bytes import detect_format


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.csv.gz", b"", "csv"),
        ("a.TSV", b"", "tsv"),
        ("a.parquet", b"PAR1", "parquet"),
        ("a.csv", b"ARROW1", "arrow"),
        ("-", b"\xff\xff\xff\xff", "arrow"),
        ("x", b"PK\x03\x04", "npz"),
        ("x", b'\n {"a": 1}', "jsonl"),
        ("a9a.t", b"-1 3:1 11:1 \n", "svmlight"),
        ("news20.scale", b"1\n2 qid:3 1:0.5 # x\n", "svmlight"),
        ("x", b"|f a b\n", "vw"),
        ("rcv1.dat", b"1 2.0 'tag|f 1:0.5\n", "vw"),
        ("x", b"a\tb,c\n", "tsv"),
        ("x.txt", b"a;b\n", "csv"),
        ("x.data", b"\xef\xbb\xbf# note\n1,2\n", "csv"),
    ],
)
def test_formats_are_detected_from_content_name_and_first_lines(name, head, kind):
    assert detect_format(name, head) == kind
    assert detect_format(name, head, "libsvm") == "svmlight"
