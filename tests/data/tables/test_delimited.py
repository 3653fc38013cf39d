"""CSV and TSV: records, first lines, and what is read, refused or left out."""

import csv
import io
import random

import numpy as np
import pytest

from helpers.reading import CONVERT, FILL, SKIP, TOO_LARGE, outcome
from rosenblatt import data
from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.source import OpenRequest
from rosenblatt.data.tables.delimited import DelimitedReader, line_count, record_places, whole_records
from rosenblatt.data.tables.reader import ColumnLayout


def random_text(rng, ends=("\n", "\r\n")):
    """Cells with quotes, separators and newlines in them, some quoted, some with a stray quote; lines of three."""
    end = rng.choice(ends)
    lines = []
    for _ in range(rng.randrange(1, 12)):
        cells = []
        for _ in range(3):
            cell = "".join(rng.choice(["a", " ", "7", '"', ",", "\n", "é"]) for _ in range(rng.randrange(5)))
            if rng.random() < 0.5:
                cell = '"' + cell.replace('"', '""') + '"' + rng.choice(["", "", "x"])
            else:
                cell = cell.replace(",", "").replace("\n", "").lstrip('"')
            cells.append(cell)
        lines.append(",".join(cells) + end)
        if rng.random() < 0.2:
            lines.append(end)
    return "".join(lines)


def naive_records(text):
    """Cells and first line of each record by Python's csv, and the line after it."""
    reader = csv.reader(io.StringIO(text, newline=""))
    found, line = [], 0
    for cells in reader:
        if cells:
            found.append((line, cells, reader.line_num))
        line = reader.line_num
    return found


def test_records_and_their_lines_are_those_of_pythons_csv(tmp_path):
    for seed in range(200):
        text = random_text(random.Random(seed))
        expected = naive_records(text)
        encoded = text.encode()
        assert record_places(encoded, ",", '"')[1].tolist() == [line for line, *_ in expected]
        lines = encoded.splitlines(keepends=True)
        for k in range(len(lines) + 1):
            part = b"".join(lines[:k])
            whole = naive_records(part[: whole_records(part, ",", '"')].decode())
            assert whole == expected[: sum(stop <= k for _, _, stop in expected)]
        (tmp_path / "a.csv").write_bytes(b"u,v,w\n" + encoded)
        for chunk_bytes in (5, 40, 1 << 20):
            source = LineSource(tmp_path / "a.csv", chunk_bytes=chunk_bytes)
            reader = DelimitedReader(OpenRequest(source, "csv", delimiter=",", header=True))
            pieces = [reader.parse(item) for item in reader.items()]
            cells = [
                list(row) for p in pieces for row in zip(*(p.columns[name].to_pylist() for name in "uvw"), strict=True)
            ]
            assert cells == [cells for _, cells, _ in expected]
            places = [piece.where(k) for piece in pieces for k in range(piece.n)]
            assert places == [f"{tmp_path}/a.csv, line {line + 2}" for line, *_ in expected]


def test_lines_end_in_newlines_returns_or_both():
    assert line_count(b"a\nb\r\nc\rd\n") == 4
    assert record_places(b"a\nb\r\n\r\nc\rd\n", ",", '"')[1].tolist() == [0, 1, 3, 4]
    assert whole_records(b'"\n"\n"', ",", '"') == 4
    assert whole_records(b'"\n', ",", '"') == 0
    assert whole_records(b'"\n', ",", "") == 2


CELLS = ["1", "-2.5", " 3", "4 ", "+5", ".5", "6.", "1e5", "", "NA", " ?", "nan", '"7"', '" 8 "', "9007199254740993"]


def test_the_fast_way_and_the_slow_one_agree(tmp_path, monkeypatch):
    for seed in range(20):
        rng = random.Random(seed)
        lines = [f"{rng.choice(CELLS)},{rng.choice(['red', ' blue', 'green '])},{rng.randrange(2)}" for _ in range(60)]
        (tmp_path / "a.csv").write_text("\n".join(["x,c,y", *lines]))
        results = []
        for chunk_bytes in (1 << 20, 50):
            monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", chunk_bytes)
            results.append(data.open(tmp_path / "a.csv", "y", missing="mean").read())
        with monkeypatch.context() as slow:
            slow.setattr(DelimitedReader, "parse", lambda self, item: self._slowly(item, str))
            results.append(data.open(tmp_path / "a.csv", "y", missing="mean", column_types={"x": "number"}).read())
        for X, y in results[1:]:
            assert np.array_equal(X, results[0][0])
            assert np.array_equal(y, results[0][1])


def test_numbers_are_the_nearest_float64(tmp_path):
    rng = random.Random(0)
    texts = ["9007199254740993", "0.1", "5e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "1e23"]
    texts += ["0.500000000000000166533453693773481063544750213623046875", "7450580596923828125e-27"]
    texts += [f"{rng.randrange(10**17, 10**19)}e{rng.randrange(-330, 290)}" for _ in range(2000)]
    texts += [repr(rng.random() * 10.0 ** rng.randrange(-300, 300)) for _ in range(2000)]
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{text},0\n" for text in texts))
    X, _ = data.open(tmp_path / "a.csv", "y").read()
    assert X[:, 0].tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "a.csv is empty, expected rows to learn from."),
        ("\n \n", "a.csv is empty, expected rows to learn from."),
        ("a,y\n", "a.csv has the columns a, y but no rows, expected rows to learn from."),
        ("a,y\n1,2\n3\n", "a.csv, line 3: expected 2 cells as in the header, got 1" + SKIP),
        (
            "a,y\n1,2\n\n3,4,5\n",
            "a.csv, line 4: expected 2 cells as in the header, got 3: put quotes around a cell that contains a "
            "delimiter" + SKIP,
        ),
        ("a,y\n1,2\nnan,1\n", "a.csv, line 3: column 'a' has no value: " + FILL),
        ("a,y\n1,2\n-Inf,1\n", "a.csv, line 3: " + TOO_LARGE),
        ("a,y\n1e999,2\n", "a.csv, line 2: " + TOO_LARGE),
        ("a,y\n" + "9" * 400 + ",2\n", "a.csv, line 2: " + TOO_LARGE),
        ("a,y\n" + "1" * 10_000_000 + ",2\n", "a.csv, line 2: " + TOO_LARGE),
        ("a,y\n1e-999,2\n", ([[0.0]], [2])),
        (b"a,y\n1,u\n2,caf\xe9\n", "a.csv, line 3: the row is not valid UTF-8: " + CONVERT),
        (
            b"caf\xe9,y\n1,u\n",
            "a.csv, line 1: expected the first line of a table, but it is not valid UTF-8: give its encoding, such as "
            "encoding='cp1252' for most files from Windows.",
        ),
        ("a,y\n1,2\n".encode("utf-16"), ([[1.0]], [2])),
        (b"\xef\xbb\xbfa,y\r\n1,2\r\n\r\n3,4", ([[1.0], [3.0]], [2, 4])),
        (b"a,y\r1,2\r3,4\r", ([[1.0], [3.0]], [2, 4])),
        ("a,a,y\n1,2,3\n", ([[1.0, 2.0]], [3])),
        ("a,y\n1,u\n2,\n3,NA\nx,\n", ([[1.0]], ["u"])),
        ("a,y\n1,\n", "a.csv: column 'y', the target, has no label in the first 1 rows."),
        (
            "a,yy\n1,2\n",
            "a.csv has no column 'y' (did you mean 'yy'?) for the target: its columns are a, yy (its first line was "
            "read as their names: give header=False if that is wrong).",
        ),
        ('a,b,y\n1,"x ""2""\n\nz, ",2\n3,"w",4\n', ([[1.0, 0.0, 1.0], [3.0, 1.0, 0.0]], [2, 4])),
        (
            'a,b,y\n1,2,3\n1,"x,2\n2,z,3\n',
            "a.csv, line 3: this record has an unclosed quote: close it, or give quote='' if quotes have no meaning.",
        ),
        ("a,b,y\n1,,2\n3,,4\n", "a.csv, line 2: column 'b' has no value: " + FILL),
        (
            "a,b,y\n" + "1,2,3\n" * 19 + "1,two,3\n",
            "a.csv: column 'b' holds numbers in 19 of its first 20 rows but not in 1, such as 'two' (a.csv, line 21): "
            "use drop=['b'] to leave out what is not a feature, or give column_types={'b': 'number'}, or "
            "missing_values=['two'] if that stands for a missing value.",
        ),
        (
            "a,b,y\n1,2020-01-31,2\n3,1999-12-01T10:00,4\n",
            "a.csv: column 'b' holds dates, such as '2020-01-31': use drop=['b'] to leave out what is not a feature, "
            "or give column_types={'b': 'date'}; on_ambiguous='drop' leaves out all such columns.",
        ),
        ("a,y\n1,0\n2,1\n", ([[1.0], [2.0]], [0, 1])),
        ("a,y\n1,0\n2,0.5\n", ([[1.0], [2.0]], [0.0, 0.5])),
        ("a,y\nTRUE,no\nfalse,yes\n", ([[1.0], [0.0]], ["no", "yes"])),
        (" a ; y\n 1 ; u v \n", ([[1.0]], ["u v"])),
    ],
)
def test_malformed_and_odd_tables(tmp_path, content, expected):
    (tmp_path / "a.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert outcome(tmp_path / "a.csv") == expected


def test_a_long_cell_is_a_cell(tmp_path):
    (tmp_path / "a.csv").write_text("a,t,y\n1,a word " + "x" * 10_000_000 + ",u\n2,three words here,v\n")
    stream = data.open(tmp_path / "a.csv", "y", bits=4, keep_words=True)
    X, _ = stream.read()
    assert X.shape == (2, 17)
    assert X[[0], :].power(2).sum() == pytest.approx(2.0), "the number, and a row of length 1"
    assert "t=word" in stream.feature_names


def test_rows_at_fault_are_left_out_and_counted_or_end_the_stream_after_those_before(tmp_path):
    faulty = ["1,2,3", "x,1", '"open,1', "5,?x", ",6", "inf,1", "7,0.5"]
    lines = ["a,y"] + [f"{k},{k % 2}" for k in range(10_000)]
    for k, line in enumerate(faulty):
        lines.insert(10_001 + 2 * k, line)
        lines.insert(10_001 + 2 * k, "4,1")
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    stream = data.open(tmp_path / "a.csv", "y", on_error="skip")
    X, y = stream.read()
    assert len(X) == len(y) == 10_000 + len(faulty)
    assert stream.skipped.rows == len(faulty)
    assert [text.partition(": ")[0].rpartition(" ")[2] for text in stream.skipped.sentences] == [
        str(10_003 + 2 * k) for k in range(len(faulty))
    ]
    assert stream.skipped.sentences[1].endswith("line 10005: column 'a' holds 'x', expected a number.")
    stream = data.open(tmp_path / "a.csv", "y")
    with pytest.raises(data.DataError, match=r"a.csv, line 10003: expected 2 cells as in the header, got 3"):
        list(stream)
    assert stream.rows_read == 10_001


def test_first_lines_and_delimiters_are_detected(tmp_path):
    def columns(text, **options):
        (tmp_path / "a.csv").write_text(text)
        return data.open(tmp_path / "a.csv", -1, **options).preparation["order"]

    assert columns("a,b\n1,2\n") == ["a", "b"]
    assert columns("5.1,Iris\n1,2\n") == ["c1", "c2"]
    assert columns("0,1,2\n7,8,9\n") == ["0", "1", "2"], "as pandas names columns"
    assert columns("0,1,2\n7,8,9\n", header=False) == ["c1", "c2", "c3"]
    assert columns("5.1,Iris\n1,2\n", header=True) == ["5.1", "Iris"]
    assert columns("a;b,b\n1;2\n", delimiter=";") == ["a", "b,b"]
    assert columns("a|b\n1|2\n") == ["a", "b"]
    assert columns("'a,b',c\n1,2\n", quote="'") == ["a,b", "c"]
    (tmp_path / "a.tsv").write_text('a\ty\n"1\t2\n3"\t4\n')
    assert data.open(tmp_path / "a.tsv", "y").feature_names == ['a="1', 'a=3"'], "quotes mean nothing in TSV"
    assert (
        data.open(
            tmp_path / "a.tsv", "y", quote='"', labels=True, column_types={"a": "category"}, on_error="skip"
        ).skipped.rows
        == 0
    )


def test_an_open_quote_is_not_looked_for_without_end(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n" + '"3,4\n' + "5,6\n" * 1000)
    sentence = (
        "a.csv, line 3: this record has a quote that is not closed within 1,000 bytes: close it, or give quote='' if "
        "quotes have no meaning, or give a larger max_line_bytes if records are this long."
    )
    for chunk_bytes in (64, 1 << 20):
        monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", chunk_bytes)
        assert sentence in outcome(tmp_path / "a.csv", max_line_bytes=1000)
        X, y = outcome(tmp_path / "a.csv", on_error="skip", max_line_bytes=1000)
        assert X == [[1.0]] + [[5.0]] * 1000
        assert len(y) == 1001


def test_only_what_is_needed_is_converted(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,x,2\n")
    reader = DelimitedReader(OpenRequest(LineSource(tmp_path / "a.csv"), "csv"))
    reader.layout = ColumnLayout({"y": "number"}, None)
    (piece,) = [reader.parse(item) for item in reader.items()]
    assert list(piece.columns) == ["y"]


def written(folder, text):
    (folder / "a.csv").write_text(text)
    return folder / "a.csv"


@pytest.mark.parametrize("first", ["1,male,yes", "0,female,no", "1,2,yes", "0,1,0"])
def test_a_first_row_with_some_numbers_that_count_is_a_row(tmp_path, first):
    file = written(tmp_path, f"{first}\n7,male,yes\n9,female,no\n8,male,yes\n")
    stream = data.open(file, -1)
    assert len(stream.read()[1]) == 4
    assert stream.notes == []


def test_a_first_row_with_the_target_names_columns(tmp_path):
    file = written(tmp_path, "0,1,label\n7,3,yes\n9,4,no\n")
    assert data.open(file, "label").feature_names == ["0", "1"]
    assert data.open(file, "label").notes == []
    assert data.open(file, "label").describe()["column"] == ["0", "1", "label"]
    assert len(data.open(file, -1).read()[1]) == 3


HEADERS = {
    "nothing tells": ("red,round\ngreen,long\nblue,flat\nred2,flat2\n", "its first line was taken for the names"),
    "it is there again": (
        "red,yes\nblue,no\nred,no\nblue,yes\n" + "green,no\nblue,yes\n" * 5,
        "red, yes, though 'red' occurs again below",
    ),
    "values repeat, but not those": ("colour,label\n" + "red,yes\nblue,no\n" * 4, ""),
    "numbers below": ("a,b\n1,x\n2,y\n", ""),
    "booleans below": ("a,b\ntrue,x\nfalse,y\n", ""),
    "dates below": ("a,b\n2020-01-01,x\n2020-01-02,y\n", ""),
    "a number above": ("1,b\n2,y\n", ""),
    "numbers that count the columns": ("0,1\n1,0\n1,1\n0,0\n", "names of its columns, 0, 1;"),
    "from 1, above text": ("1,2\nred,yes\nblue,no\n", "names of its columns, 1, 2;"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_first_row_is_never_silently_a_header(tmp_path, case):
    text, sentence = HEADERS[case]
    file = written(tmp_path, text)
    for on_ambiguous in ("error", "drop") if case != "dates below" else ("drop",):
        stream = data.open(file, -1, on_ambiguous=on_ambiguous)
        words = [str(note) for note in stream.notes]
        assert len(words) == bool(sentence)
        if words:
            assert sentence in words[0]
            assert words[0].endswith("; give header=False if it is a row.")
        for header in (True, False):
            assert data.open(file, -1, on_ambiguous="drop", header=header).notes == []
    if sentence:
        named = text.split("\n")[0].split(",")[-1]
        assert data.open(file, named, on_ambiguous="drop").notes == [], "naming a column says that it has a name"


DELIMITED = {
    "size, cm;weight;y\n7,5;8,5;1\n8;9;2\n": ";",
    "price, EUR, net;y\n1,5;2\n2,5;3\n": ";",
    "name, first\ty\nDoe, J.\tu\nRoe, R.\tv\n": "\t",
    "a|b,c|y\n1|2,5|u\n3|4,5|v\n": "|",
    "tag;s,x,y\na;b;c,1,2\nd,2,3\n": ",",
    '"size; cm",x,y\n1,2,3\n4,5,6\n': ",",
    "a,b;c,y\n1,2,3\n": ",",
    "x,y\n1;2,3\n": ",",
    "a;b\n": ";",
}


@pytest.mark.parametrize("text", DELIMITED)
def test_the_delimiter_is_the_one_that_cuts_all_lines_alike(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    request = OpenRequest(LineSource(tmp_path / "a.csv"), "csv")
    reader = DelimitedReader(request)
    reader.read_columns(10)
    assert reader.dialect()["delimiter"] == DELIMITED[text]


def test_columns_of_one_name(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,a,a.1,a,y\n1,2,3,4,5,u\n6,7,8,9,0,v\n")
    stream = data.open(tmp_path / "a.csv", "y")
    assert stream.feature_names == ["a", "b", "a.2", "a.1", "a.3"]
    assert stream.read()[0].tolist() == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 0]]
    what = "some column names occur more than once; the later columns are renamed to a.2 (another a), a.3 (another a)."
    assert [str(note) for note in stream.notes] == [f"{tmp_path}/a.csv: {what}"]
    (tmp_path / "b.csv").write_text("a,b,a,a.1,a\n1,2,3,4,5\n")
    assert data.open(tmp_path / "b.csv", preparation=stream.preparation).read()[0].tolist() == [[1, 2, 3, 4, 5]]


def test_a_title_above_the_header(tmp_path):
    for title, skip_rows in (("Report 2024\n\n", 2), ("Report, 2024\n", 1), ("# x\n# y\n# z\n", 3)):
        (tmp_path / "a.csv").write_text(title.replace(",", "") + "x;z;y\n1;3;a\n2;4;b\n")
        advice = f"if the table begins here, leave out the lines above with skip_rows={skip_rows}."
        with pytest.raises(data.DataError, match=f"line {skip_rows + 1}: expected 1 cell .* got 3: {advice}"):
            data.open(tmp_path / "a.csv", "y", on_error="raise")
        assert data.open(tmp_path / "a.csv", "y", skip_rows=skip_rows).read()[0].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    (tmp_path / "a.csv").write_text("Report,,\nx,z,y\n1,3,a\n")
    with pytest.raises(ValueError, match="most cells of its first line are empty: if it is a title, leave it out with"):
        data.open(tmp_path / "a.csv", "y")
    (tmp_path / "a.csv").write_text("Report,,\nof May,,\nby me,,\nx,z,y\n1,3,a\n2,4,b\n")
    for skip_rows in (0, 1, 2):
        with pytest.raises(ValueError, match="leave it out with skip_rows=3"):
            data.open(tmp_path / "a.csv", "y", skip_rows=skip_rows)
    stream = data.open(tmp_path / "a.csv", "y", skip_rows=3)
    assert stream.read()[0].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    made = {"preparation": stream.preparation}
    rows = "x,z,y\n1,3,a\n2,4,b\n"
    (tmp_path / "b.csv").write_text(rows)
    for title, n in (("Report\n", 1), ("Report\n\n\n", 3), ('A,"long\nline",b,c\n,,,\n', 3), ("a;b\n" * 19, 19)):
        (tmp_path / "c.csv").write_text(title + rows)
        for first in ([], [tmp_path / "b.csv"]):
            with pytest.raises(data.DataError, match=f"line {n + 1} has these names: .* with skip_rows={n}\\."):
                data.open([*first, tmp_path / "c.csv"], **made).read()
        if n > 1 and not title.endswith("\n\n"):
            with pytest.raises(data.DataError, match=f"leave out the lines above it with skip_rows={n}\\."):
                data.open(tmp_path / "c.csv", **made, skip_rows=1)
        assert data.open(tmp_path / "c.csv", **made, skip_rows=n).read()[0].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    (tmp_path / "c.csv").write_text("Report,,\n" * 3 + "x,w,y\n1,3,a\n")
    with pytest.raises(data.DataError, match="if it is part of a title, leave that out with skip_rows"):
        data.open(tmp_path / "c.csv", **made)
