"""data.open: every format, several files, options that make no sense."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from rosenblatt import AveragedPerceptron, data
from rosenblatt.blocks import join_blocks
from rosenblatt.data.tables.values import import_arrow

HARD = [0.1, 1 / 3, 2.0**53 - 1, 5e-324, 2.2250738585072014e-308]
HARD += [1.7976931348623157e308, 9007199254740993.0, 123456.789e-20, 0.0, -7.0]


def write_all(folder, table, y):
    """Write a table of numbers, and labels as its column y, in every format; return the files."""
    names = [f"x{k}" for k in range(table.shape[1])]
    frame = pa.table({**{name: table[:, k] for k, name in enumerate(names)}, "y": y})
    lines = [",".join([*map(repr, row), str(label)]) for row, label in zip(table.tolist(), y.tolist(), strict=True)]
    text = "\n".join([",".join([*names, "y"]), *lines]) + "\n"
    rows = frame.to_pylist()
    contents = {
        "a.csv": text.encode(),
        "b.csv.gz": gzip.compress(text.encode()),
        "crlf.csv.bz2": bz2.compress(text.replace("\n", "\r\n").encode()),
        "semicolon.csv": b"\xef\xbb\xbf" + text.replace(",", ";").rstrip().encode(),
        "c.tsv.xz": lzma.compress(text.replace(",", "\t").encode()),
        "d.jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "quoted.csv": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.split()).encode(),
        "no-ending": text.encode(),
    }
    contents["d.jsonl.gz"] = gzip.compress(contents["d.jsonl"])
    contents["z.csv.zst"] = pa.compress(text.encode(), codec="zstd", asbytes=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    pa.parquet.write_table(frame, folder / "e.parquet", row_group_size=7)
    pa.feather.write_feather(frame, folder / "f.feather", chunksize=5)
    with pa.ipc.new_file(folder / "g.arrow", frame.schema) as sink:
        sink.write_table(frame, max_chunksize=4)
    with pa.ipc.new_stream(folder / "h.arrows", frame.schema) as sink:
        sink.write_table(frame, max_chunksize=9)
    np.savez(folder / "i.npz", X=table, y=y)
    np.savez_compressed(folder / "j.npz", X=table, y=y)
    return sorted(folder.iterdir())


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((20, 5)) * 10.0 ** rng.integers(-200, 200, (20, 5))
    return np.concatenate([numbers, np.reshape(HARD, (2, 5))]), np.where(np.arange(22) % 3 == 0, 1, -1)


@pytest.mark.parametrize("labels", [int, str, bool])
def test_every_format_gives_the_rows_in_memory(tmp_path, table, labels):
    X, y = table
    y = {int: y, str: np.where(y > 0, "yes", "no"), bool: y > 0}[labels]
    for file in write_all(tmp_path, X, y):
        for block_rows in (None, 1, 4, 1000):
            stream = data.open(file, "y", block_rows=block_rows)
            blocks = list(stream)
            got = np.concatenate([block.X for block in blocks])
            assert np.array_equal(got.view(np.int64), X.view(np.int64)), file.name
            labels_read = np.concatenate([block.y for block in blocks])
            assert labels_read.dtype.kind == y.dtype.kind, file.name
            assert labels_read.tolist() == y.tolist(), file.name
            assert all(block.X.flags.c_contiguous and block.X.dtype == np.float64 for block in blocks)
            if block_rows:
                assert {len(block) for block in blocks[:-1]} <= {block_rows}
            assert [block.first for block in blocks] == np.cumsum([0, *map(len, blocks)])[:-1].tolist()
            assert (stream.rows_read, stream.share_read) == (22, 1.0)


def test_a_preparation_makes_the_same_rows_of_other_files(tmp_path):
    (tmp_path / "train.csv").write_text(
        "n,c,t,y\n1,red,a long enough text,1\n,blue,with three words,0\n3,red,or four of them,1\n"
    )
    train = data.open(tmp_path / "train.csv", "y", missing="mean", bits=6)
    kinds = {column["name"]: column["kind"] for column in train.preparation["columns"]}
    assert kinds == {"n": "number", "c": "category", "t": "text"}
    (tmp_path / "other.jsonl").write_text('{"t": "three words", "c": "green", "n": null}\n{"c": "blue", "n": 4}\n')
    prepared = json.loads(json.dumps(train.preparation))
    stream = data.open(tmp_path / "other.jsonl", preparation=prepared)
    X, y = stream.read()
    assert not stream.labelled
    assert np.isnan(y).all()
    assert X[:, :3].toarray().tolist() == [[2.0, 0.0, 0.0], [4.0, 1.0, 0.0]]
    assert X[:, 3:].sum(axis=1).round(6).tolist() == [round(2 / 2**0.5, 6), 0.0]
    assert stream.unseen == {"c": 1}
    assert data.open(tmp_path / "train.csv", preparation=prepared).preparation == prepared
    assert (data.open(tmp_path / "train.csv", preparation=prepared).read()[0] != train.read()[0]).nnz == 0
    with pytest.raises(ValueError, match=r"preparation defines how rows are made, so target cannot"):
        data.open(tmp_path / "train.csv", "y", preparation=prepared)


def test_a_file_without_names_may_lack_the_target(tmp_path):
    (tmp_path / "train.csv").write_text("1,a,2\n3,b,4\n")
    (tmp_path / "new.csv").write_text("5,6\n")
    train = data.open(tmp_path / "train.csv", "c2")
    stream = data.open(tmp_path / "new.csv", preparation=train.preparation)
    assert stream.read()[0].tolist() == [[5.0, 6.0]]
    assert train.read()[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_what_first_rows_decide_does_not_depend_on_blocks(tmp_path):
    lines = ["y,c"] + [f"{k % 2},{'early' if k < 10_000 else 'late'}" for k in range(10_050)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    for block_rows in (999, 20_000):
        stream = data.open(tmp_path / "a.csv", "y", block_rows=block_rows, first_rows=10_000)
        X, _ = stream.read()
        assert stream.feature_names == ["c=early"]
        assert X.sum() == 10_000
        assert stream.unseen == {"c": 50}


def test_several_files_are_one_table_by_the_names_of_columns(tmp_path):
    (tmp_path / "part-1.csv").write_text("a,b,y\n1,2,u\n")
    (tmp_path / "part-2.csv").write_text("")
    (tmp_path / "part-3.csv").write_text("b,y,a\n4,v,3\n")
    stream = data.open(tmp_path / "part-*.csv", "y")
    assert stream.read()[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    (tmp_path / "part-4.csv").write_text("a,y\n1,u\n")
    with pytest.raises(data.DataError, match=r"part-4.csv has no column 'b', expected a, b, y; found a, y: add it\."):
        data.open(tmp_path / "part-*.csv", "y")
    (tmp_path / "part-4.csv").write_text("a,b,c,y\n1,2,3,u\n")
    with pytest.raises(data.DataError, match=r"part-4.csv has a column 'c' that was not there before"):
        data.open(tmp_path / "part-*.csv", "y").read()
    assert data.open(tmp_path / "part-*.csv", "y", columns=["a"]).read()[0].tolist() == [[1.0], [3.0], [1.0]]


def piped(monkeypatch, content):
    """Let standard input be a pipe that holds some bytes."""
    read, write = os.pipe()
    with open(write, "wb") as sink:
        sink.write(content)
    monkeypatch.setattr(sys, "stdin", open(read))  # noqa: SIM115


def test_standard_input_is_read_once(tmp_path, monkeypatch):
    text = "u,v,y\n" + "".join(f"{k},{-k},{'ab'[k % 2]}\n" for k in range(10))
    (tmp_path / "a.csv").write_text(text)
    expected = data.open(tmp_path / "a.csv", "y").read()
    frame, buffer = pa.csv.read_csv(tmp_path / "a.csv"), io.BytesIO()
    with pa.ipc.new_stream(buffer, frame.schema) as sink:
        sink.write_table(frame, max_chunksize=3)
    lines = "".join(f"{json.dumps(row)}\n" for row in frame.to_pylist())
    for content in (text.encode(), gzip.compress(text.encode()), buffer.getvalue(), lines.encode()):
        piped(monkeypatch, content)
        stream = data.open("-", "y", block_rows=4)
        assert iter(stream) is stream
        blocks = list(stream)
        assert np.array_equal(np.concatenate([block.X for block in blocks]), expected[0])
        assert np.concatenate([block.y for block in blocks]).tolist() == expected[1].tolist()
        assert stream.rows_read == 10
        with pytest.raises(data.DataError, match="can be read only once, and has been read to its end"):
            next(stream)
        sys.stdin.close()
    piped(monkeypatch, b"1 1:2\n-1 3:4\n")
    assert data.open("-").read()[0].shape == (2, 3)
    sys.stdin.close()
    piped(monkeypatch, text.encode())
    model = AveragedPerceptron(max_iter=1, shuffle=False).fit_stream(data.open("-", "y", block_rows=3))
    assert np.array_equal(model.coef_, AveragedPerceptron(max_iter=1, shuffle=False).fit(*expected).coef_)
    sys.stdin.close()


def test_a_pass_that_is_given_up_leaves_no_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", 1000)
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2\n" * 20_000)
    before = threading.active_count()
    blocks = iter(data.open(tmp_path / "a.csv", "y", threads=2))
    assert next(blocks).first == 0
    assert threading.active_count() == before + 2
    blocks.close()
    assert threading.active_count() == before


def test_text_with_labels_goes_to_its_readers(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2 3:4\n-1 2:1\n")
    stream = data.open(tmp_path / "a.svm")
    assert stream.read()[0].toarray().tolist() == [[2.0, 0.0, 4.0], [0.0, 1.0, 0.0]]
    assert (stream.n_features, stream.feature_names) == (3, None)
    (tmp_path / "wide").write_text("1 1:1 7:5\n")
    wide = data.open(tmp_path / "wide", preparation=stream.preparation)
    assert wide.read()[0].toarray().tolist() == [[1.0, 0.0, 0.0]]
    assert wide.unseen == {"columns": 1}
    (tmp_path / "b.vw").write_text("1 |f cat dog\n-1 2 |f dog\n")
    stream = data.open(tmp_path / "b.vw", keep_words=True, bits=10, block_rows=1)
    assert [block.weight.tolist() for block in stream] == [[1.0], [2.0]]
    assert {"f^cat", "f^dog"} < set(stream.feature_names)
    with pytest.raises(ValueError, match=r"b.vw is read as vw, where each line holds its label: leave target out"):
        data.open(tmp_path / "b.vw", "label")
    with pytest.raises(ValueError, match=r"as svmlight, where column_types has no meaning \(it is for tables\)"):
        data.open(tmp_path / "a.svm", column_types={"a": "text"})
    with pytest.raises(
        ValueError, match=r"a.svm is read as svmlight, but the training files were vw: convert it, or give"
    ):
        data.open(tmp_path / "a.svm", preparation=stream.preparation)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"on_error": "ignore"}, "on_error must be 'raise' or 'skip', got 'ignore'."),
        ({"threads": -1}, "threads must be an integer of at least 0, got -1."),
        ({"block_rows": 0}, "block_rows must be an integer of at least 1, got 0."),
        ({"missing": "median"}, "missing must be 'error', 'zero', 'mean' or 'auto', got 'median'."),
        ({"categories": "ordinal"}, "categories must be 'onehot' or 'hash', got 'ordinal'."),
        ({"bits": 40}, "bits must be an integer from 1 to 30, got 40."),
        ({"format": "excel"}, "format must be one of csv, tsv, parquet, arrow, jsonl, fasttext, svmlight, "),
        ({"column_types": {"a": "year"}}, "column_types of 'a' must be one of number, boolean, category, text, date, "),
        ({"drop": "a"}, "drop must be a list of strings, got 'a': give drop=['a']."),
        ({"drop": ["a,why"]}, "has no column 'a,why': name columns one by one, drop=['a', 'why']."),
        ({"keep": "a"}, "keep must be a list of strings, got 'a': give keep=['a']."),
        ({"keep": ["zz"]}, "has no column 'zz': its columns are a, why"),
        ({"keep": ["a"], "drop": ["a"]}, "keep and drop both contain the column 'a': remove it from one."),
        ({"keep": ["a, why"]}, "has no column 'a, why': name columns one by one, keep=['a', 'why']."),
        ({"on_ambiguous": "ask"}, "on_ambiguous must be 'error' or 'drop' or 'note', got 'ask'."),
        ({"drop": ["zz"]}, "has no column 'zz': its columns are a, why (its first line was read as their names"),
        ({"target": "Wy"}, "has no column 'Wy' (did you mean 'why'?) for the target: its columns are a, why"),
        ({"target": 2}, "has no column number 2 for the target"),
        ({"target": None}, "which column of"),
        ({"columns": ["why"]}, "has no column to learn from: its columns are a, why."),
        ({"delimiter": "::"}, "delimiter must be one ASCII character, got '::'."),
        ({"preparation": "{{"}, "preparation must be a dictionary, the preparation of a stream, got '{{': give stream"),
        ({"preparation": {}, "target": None}, "preparation must be the preparation of a stream"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path, options, sentence):
    (tmp_path / "a.csv").write_text("a,why\n1,2\n")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        data.open(tmp_path / "a.csv", **{"target": "why", **options})


def test_without_pyarrow_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    import_arrow.cache_clear()
    for name in ("pyarrow", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"^reading tables needs pyarrow: pip install 'rosenblatt\[files\]'\.$"):
        data.open(tmp_path / "a.csv", "y")


def test_arrays_are_no_files():
    with pytest.raises(
        TypeError, match="expected paths of files or a data frame, got an array: pass it directly to fit"
    ):
        data.open(np.eye(2), "a")


@pytest.mark.parametrize("format", ["csv", "jsonl", "svmlight", "vw"])
@pytest.mark.parametrize("block_rows", [None, 2])
def test_rows_without_a_label_are_kept_where_labels_are_optional(tmp_path, format, block_rows):
    rows = [(1.0, "yes"), (2.0, None), (3.0, "no"), (4.0, None), (5.0, "yes")]
    texts = {
        "csv": "a,y\n" + "".join(f"{a},{y or ''}\n" for a, y in rows),
        "jsonl": "".join(json.dumps({"a": a} | ({} if y is None else {"y": y})) + "\n" for a, y in rows),
        "svmlight": "".join(f"{'' if y is None else len(y)} 1:{a}\n" for a, y in rows),
        "vw": "".join(f"{'' if y is None else len(y)} | a:{a}\n" for a, y in rows),
    }
    file = tmp_path / f"rows.{format}"
    file.write_text(texts[format])
    given = {"target": "y"} if format in ("csv", "jsonl") else {}
    stream = data.open(file, labels="optional", format=format, block_rows=block_rows, **given)
    assert stream.labelled
    whole = join_blocks(list(stream))
    assert whole.has_label.tolist() == [True, False, True, False, True]
    assert np.asarray(whole.X.sum(axis=1)).ravel().tolist() == [1, 2, 3, 4, 5]
    known = ["yes", "no", "yes"] if given else [3, 2, 3]
    assert whole.y[whole.has_label].tolist() == known
    if given:  # by default such rows are left out
        assert join_blocks(list(data.open(file, format=format, **given))).y.tolist() == known
    with pytest.raises(ValueError, match="labels must be"):
        data.open(file, labels="some", format=format, **given)
