"""Lines that start with a label: the rows of a CSV file with the same texts, and one sentence for bad lines."""

import csv
import io

import numpy as np
import pytest

from helpers.random_texts import random_texts
from rosenblatt import data
from rosenblatt.data.prepared import PreparedRows
from rosenblatt.messages import ParameterError

ROWS = [("spam", "Free entry now"), ("ham", "see you, at 7"), ("ham", ""), ("NA", "x\ty  z"), ("1", "__label__x"[2:])]


def lines_of(rows, mark="__label__"):
    return "".join(f"{mark}{label} {text}\n" for label, text in rows)


def write(folder, text, name="a.txt"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def csv_of(folder, rows):
    out = io.StringIO()
    csv.writer(out).writerows([("label", "text"), *rows])
    return write(folder, out.getvalue(), "a.csv")


def same(one, other):
    (X, y), (Z, z) = one, other
    return y.tolist() == z.tolist() and all(
        np.array_equal(getattr(X, name), getattr(Z, name)) for name in ("indptr", "indices", "data")
    )


@pytest.mark.parametrize("mark", ["__label__", ""])
def test_rows_are_those_of_csv(tmp_path, mark):
    source = [text.replace("\n", " ").replace("\r", " ") for text in random_texts(400, seed=6) if "\0" not in text]
    rows = ROWS + [(f"c{k % 3}", f"a {text} b") for k, text in enumerate(source)]
    kinds = {"label": "category", "text": "text"}
    twin = data.open(csv_of(tmp_path, rows), "label", column_types=kinds, ngrams=2, bits=10)
    path = write(tmp_path, lines_of(rows, mark))
    stream = data.open(path, label_first=not mark, ngrams=2, bits=10)
    assert same(stream.read(), twin.read())
    assert stream.preparation["format"] == "fasttext"
    assert same(data.open(path, preparation=stream.preparation).read(), twin.read())
    assert same(data.open(tmp_path / "a.csv", preparation=stream.preparation).read(), twin.read())
    if mark:
        assert same(data.open(path, preparation=twin.preparation).read(), twin.read())
    assert PreparedRows(stream.preparation).features([{"text": rows[0][1]}]).indices.tolist() == (
        twin.read()[0][[0]].indices.tolist()
    )


def test_lines_without_labels_are_texts(tmp_path):
    train = data.open(write(tmp_path, lines_of(ROWS)), bits=8)
    plain = write(tmp_path, "Free entry now\n\n__label__a __label__b see you, at 7\n see you, at 7", "b.txt")
    stream = data.open(plain, preparation=train.preparation, labels=False, passthrough=["text"])
    X, _ = stream.read()
    assert X.shape == (4, 2**8)  # a row for each line, the blank one too
    expected = train.read()[0]
    assert X[[0, 2, 3]].toarray().tolist() == expected[[0, 1, 1]].toarray().tolist()
    assert X[[1]].nnz == 0
    texts = [cell for block in stream for cell in block.passthrough["text"]]
    assert [str(text).strip() for text in texts] == ["Free entry now", "", "see you, at 7", "see you, at 7"]
    first = data.open(write(tmp_path, lines_of(ROWS, "")), label_first=True, bits=8)
    whole, _ = data.open(plain, preparation=first.preparation, labels=False).read()
    assert whole[[0]].toarray().tolist() == expected[[0]].toarray().tolist()


BAD = {
    "no label": (b"Free entry\n", "line 3: expected a line that starts with a label, such as __label__spam, got 'Free"),
    "an empty label": (b"__label__ text\n", "line 3: expected a line that starts with a label"),
    "several": (
        b"__label__a __label__b text\n",
        "line 3: the line has several labels, such as 'a' and 'b'",
    ),
    "a late one": (b"__label__a some text __label__b\n", "line 3: the line has several labels, such as 'a' and 'b'"),
    "broken": (b"__label__a caf\xe9\n", "line 3: the line is not valid UTF-8: give its encoding"),
    "long": (b"__label__a " + b"x" * 300 + b"\n", "line 3: the line has more than 200 bytes"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_lines(tmp_path, kind):
    line, message = BAD[kind]
    good = lines_of(ROWS[:2]).encode()
    path = write(tmp_path, good + line + b"\n" + lines_of(ROWS[3:]).encode())
    with pytest.raises(data.DataError, match=message):
        data.open(path, max_line_bytes=200).read()
    stream = data.open(path, max_line_bytes=200, on_error="skip")
    assert stream.read()[1].tolist() == ["spam", "ham", "NA", "1"]
    assert stream.skipped.rows == 1


def test_labels_without_text_and_odd_bytes(tmp_path):
    path = write(tmp_path, "\ufeff__label__a\n  __label__b \0 nul\0l \x1c\r\n\n__label__a\tone two\r\n")
    X, y = data.open(path, bits=8).read()
    assert y.tolist() == ["a", "b", "a"]
    assert np.diff(X.indptr).tolist() == [0, 1, 2]


def test_options_of_tables_are_refused(tmp_path):
    path = write(tmp_path, lines_of(ROWS))
    with pytest.raises(ParameterError, match="is read as fasttext, where each line holds its label: leave target out"):
        data.open(path, "label")
    with pytest.raises(ParameterError, match="missing has no meaning"):
        data.open(path, missing="mean")
    with pytest.raises(ParameterError, match="label_first has no meaning"):
        data.open(csv_of(tmp_path, ROWS), "label", label_first=True)
