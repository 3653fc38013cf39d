"""Two labels that differ never become one class, by whichever road they come in: both are kept, or one is refused."""

import itertools
import json
import re
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyarrow import feather

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, data, load, save, separability
from rosenblatt.blocks import DataError, join_labels
from rosenblatt.data.tables.values import plain_text
from rosenblatt.distributed.shards import all_classes, make_shard
from rosenblatt.training.rows import number_labels

EDGE = 2**53  # EDGE + 1 is the first integer that float64 rounds, to EDGE
PAIRS = [(EDGE, EDGE + 1), (-EDGE - 1, -EDGE), (EDGE + 1, 3), (2**63 - 1, 2**63 - 2), ("p\0", "p"), ("p", "p\0\0")]
X = [[1.0, 0.0], [0.0, 1.0]]
TABLES = ["csv", "tsv", "jsonl", "parquet", "feather"]


def write(folder, ending, labels):
    """Write a row for each label, and return the path."""
    path = folder / f"rows.{ending}"
    if ending in TABLES:
        return write_table(folder, ending, x=list(range(len(labels))), y=labels)
    if ending == "npz":
        np.savez(path, X=np.eye(len(labels)), y=np.array(labels))
    else:
        line = {"svm": "{y} {x}:1\n", "vw": "{y} | {x}:1\n"}[ending]
        path.write_text("".join(line.format(y=y, x=k + 1) for k, y in enumerate(labels)))
    return path


def write_table(folder, ending, **columns):
    path = folder / f"rows.{ending}"
    rows = list(zip(*columns.values(), strict=True))
    if ending == "parquet":
        pyarrow.parquet.write_table(pa.table(columns), path)
    elif ending == "feather":
        feather.write_feather(pa.table(columns), path)
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
    else:
        cells = [["" if cell is None else str(cell) for cell in row] for row in [tuple(columns), *rows]]
        path.write_text("".join(("," if ending == "csv" else "\t").join(row) + "\n" for row in cells))
    return path


@pytest.mark.parametrize(
    ("ending", "pair"),
    # There are no words in svmlight and vw, and NumPy has cut them before it writes a .npz file.
    [(e, pair) for e in (*TABLES, "svm", "vw", "npz") for pair in PAIRS if e in TABLES or isinstance(pair[0], int)],
)
def test_a_file_keeps_labels_or_refuses_them(tmp_path, ending, pair):
    words = isinstance(pair[0], str)
    path = write(tmp_path, ending, pair)
    table = {"target": "y"} if ending in TABLES else {}
    if ending == "npz":
        assert data.open(path).read()[1].tolist() == list(pair)
        return
    refused = [label for label in pair if (label.endswith("\0") if words else abs(label) >= EDGE)]
    with pytest.raises(DataError, match="null character" if words else r"labels below 2\^53") as caught:
        data.open(path, **table).read()
    stream = data.open(path, on_error="skip", **table)
    assert stream.read()[1].tolist() == [label for label in pair if label not in refused]
    assert stream.skipped.rows == len(refused)
    if ending in TABLES and not words:  # the cure that the message names
        assert "column_types={'y': 'category'}" in str(caught.value)
        stream = data.open(path, target="y", column_types={"y": "category"})
        assert stream.read()[1].tolist() == list(map(str, pair))
    if not table:  # labels are not used
        assert len(data.open(path, labels=False).read()[1]) == 2


def test_decimals_and_unsigned_integers_are_kept_as_text_or_refused(tmp_path):
    for values in ([Decimal(EDGE), Decimal(EDGE + 1)], pa.array([2**64 - 1, 2**64 - 2], pa.uint64())):
        path = tmp_path / "rows.parquet"
        pyarrow.parquet.write_table(pa.table({"x": [0, 1], "y": values}), path)
        with pytest.raises(DataError, match=r"labels below 2\^53"):
            data.open(path, target="y").read()
        _, y = data.open(path, target="y", column_types={"y": "category"}).read()
        assert y.tolist() == [str(value) for value in pa.array(values).to_pylist()]


@pytest.mark.parametrize("ending", TABLES)
@pytest.mark.parametrize("values", [(EDGE, EDGE + 1), (10**17, 10**17 + 1), (2**64 - 1, 2**64 - 2), (-EDGE - 1, None)])
def test_integers_as_categories_stay_apart(tmp_path, ending, values):
    x = pa.array(values, pa.uint64() if values[0] >= 2**63 else pa.int64()) if ending in TABLES[3:] else values
    path = write_table(tmp_path, ending, x=x, y=[0, 1])
    stream = data.open(path, target="y", column_types={"x": "category"}, missing="zero")
    rows = stream.read()[0]
    known = sorted(str(x) for x in values if x is not None)
    assert stream.feature_names == [f"x={x}" for x in known]
    assert not stream.unseen
    expected = [[float(str(x) == name) for name in known] for x in values]
    np.testing.assert_array_equal(rows.toarray() if hasattr(rows, "toarray") else rows, expected)


def test_tables_in_memory_keep_labels_and_categories_apart():
    for pair in [(EDGE, EDGE + 1), (-EDGE - 1, -EDGE), (2**64 - 1, 2**64 - 2), ("p\0", "p")]:
        records = [{"x": 1, "y": pair[0]}, {"x": 2, "y": pair[1]}]
        tables = [records, pd.DataFrame(records), pl.DataFrame(records), pa.Table.from_pandas(pd.DataFrame(records))]
        if isinstance(pair[0], int):
            tables.append(pd.DataFrame(records, dtype=object))
        for table in tables:
            with pytest.raises(DataError, match=r"null character|labels below 2\^53"):
                data.open(table, target="y").read()
            if isinstance(pair[0], int):
                _, y = data.open(table, target="y", column_types={"y": "category"}).read()
                assert y.tolist() == list(map(str, pair))
                stream = data.open(table, target="x", column_types={"y": "category"})
                assert stream.feature_names == [f"y={value}" for value in sorted(map(str, pair))]
                assert stream.read()[0].sum(axis=1).tolist() == [1.0, 1.0]


def test_json_numbers_of_all_sizes(tmp_path):
    for values in ([1, 2.5, EDGE + 1], [EDGE + 1, None, 2**64], [10**300, -1, 1e300], [float("nan"), EDGE + 1, 0]):
        path = write_table(tmp_path, "jsonl", x=values, y=range(3))
        rows, _ = data.open(path, target="y", missing="zero").read()
        assert rows[:, 0].tolist() == [0.0 if x is None or x != x else float(x) for x in values]
    for digits in (309, 5000):  # beyond float64, and beyond what int() takes
        path.write_text('{"x": 1, "y": 0}\n{"x": %s, "y": 1}\n' % ("9" * digits))
        with pytest.raises(DataError, match="line 2: column 'x' holds a number that is infinite"):
            data.open(path, target="y").read()


def test_text_of_numbers():
    assert [plain_text(value) for value in (EDGE + 1, -(10**20), 10**16, 2.0, 1e16)] == [
        "9007199254740993",
        "-100000000000000000000",
        "10000000000000000",
        "2",
        "1e+16",
    ]


KINDS_OF_INPUT = {
    "a list": list,
    "a tuple": tuple,
    "objects": lambda labels: np.array(labels, object),
    "a series": pd.Series,
    "a nullable series": lambda labels: pd.Series(labels, dtype="Int64" if isinstance(labels[0], int) else "string"),
    "an Arrow series": lambda labels: pd.Series(labels, dtype=pd.ArrowDtype(pa.array(labels).type)),
    "a polars series": pl.Series,
    "an Arrow array": pa.array,
}
ROADS = {
    "fit": lambda model, y: model.fit(X, y),
    "partial_fit": lambda model, y: model.partial_fit(X, y),
    "classes of partial_fit": lambda model, y: model.partial_fit(X[:1], y[:1], classes=y),
    "fit_stream": lambda model, y: model.fit_stream([(X, y)]),
    "classes of fit_stream": lambda model, y: model.fit_stream([(X[:1], y[:1]), (X[1:], y[1:])], classes=y),
    "a shard": lambda model, y: make_shard(X, y),
}


def attempt(road):
    """Return what a road returns and "", or None and the message of its ValueError."""
    try:
        return road(), ""
    except ValueError as refused:
        return None, str(refused)


@pytest.mark.parametrize("road", ROADS)
def test_labels_in_memory_stay_apart_or_are_refused(road):
    for pair, kind in itertools.product(PAIRS, KINDS_OF_INPUT):
        learner = KernelPerceptron(gamma=1.0) if "stream" in road else Perceptron(max_iter=2)
        labels = KINDS_OF_INPUT[kind](list(pair))
        found, refusal = attempt(partial(ROADS[road], learner, labels))
        if found is None:
            expected = "Unknown label type" if kind == "objects" else "NumPy keeps|compared as float64"
            assert re.search(expected, refusal), (pair, kind)
            assert kind != "a list" or isinstance(pair[0], str)
            continue
        classes = found.classes if road == "a shard" else found.classes_
        assert set(classes.tolist()) == set(pair), kind
        if isinstance(pair[0], int):
            assert classes.dtype.kind == "i"


def test_words_and_numbers_in_one_list_are_refused():
    for labels in ([1, "1"], [True, "True"], [0.5, "0.5"], [1, "a"], [float("nan"), "nan"], [b"p\0", b"p"]):
        with pytest.raises(ValueError, match="that NumPy keeps as they are"):
            Perceptron().fit(X, labels)
        with pytest.raises(ValueError, match="that NumPy keeps as they are"):
            Perceptron().fit_stream([(X, labels)])


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (np.array([EDGE, EDGE + 1]), np.array([1.0, 2.0]), False),
        (np.array([1.0, 2.0]), np.array([EDGE + 1, EDGE]), False),
        (np.array([EDGE, EDGE + 1]), np.array([float(EDGE)] * 2), False),
        (np.array([1, EDGE + 1]), np.array([1, 2], np.uint64), False),
        (np.array([1, -1]), np.array([2**63 + 1, 2**63], np.uint64), False),
        (np.array(["p", "q"]), np.array(["p\0", "q\0"], object), True),
        (np.array([1, 2]), np.array([2.0**53, 2.0**60]), True),
        (np.array([1, 2], np.uint64), np.array([-1, 2], np.int8), True),
    ],
)
def test_arrays_of_several_types_are_joined_exactly_or_refused(first, second, kept):
    expected = {*first.tolist(), *second.tolist()}

    def learned_one_by_one():
        model = Perceptron()
        for label in (*first, *second):
            model.learn_one({"a": 1.0}, label)
        return model.classes_

    if first.dtype.kind == "U":
        with pytest.raises(ValueError, match="NumPy keeps"):
            learned_one_by_one()
        with pytest.raises(ValueError, match="NumPy keeps"):
            Perceptron().fit(X, first).score(X, second.tolist())
        learned_one_by_one = None

    roads = [
        lambda: AveragedPerceptron().partial_fit(X, first).partial_fit(X, second).classes_,
        lambda: Perceptron(warm_start=True, max_iter=1, hypothesis="average").fit(X, first).fit(X, second).classes_,
        lambda: AveragedPerceptron().fit_stream([(X, first), (X, second)]).classes_,
        lambda: AveragedPerceptron(shuffle=False, max_iter=1).fit_stream(iter([(X, first), (X, second)])).classes_,
        lambda: AveragedPerceptron().fit_stream([(X, second)], classes=first).classes_,
        lambda: AveragedPerceptron().partial_fit(X, first, classes=second).classes_,
        lambda: all_classes([make_shard(X, first).classes, make_shard(X, second).classes]),
        lambda: np.unique(join_labels([first, second])),
        *([learned_one_by_one] if learned_one_by_one else []),
    ]
    for k, road in enumerate(roads):
        found, refusal = attempt(road)
        if found is None:
            assert not kept, k
            assert "compared as float64, which may round" in refusal, k
        else:
            assert set(found.tolist()) == expected, k


def test_labels_of_another_type_are_not_taken_for_a_known_class():
    with pytest.raises(ValueError, match="which may round 9007199254740993"):
        number_labels(np.array([float(EDGE)]), np.array([1, EDGE + 1]))
    numbers, known = number_labels(np.array([2.0, 3.0]), np.array([1, 2]))
    assert numbers.tolist() == [1, 0]
    assert not known


def test_files_of_several_types_are_joined_exactly_or_refused(tmp_path):
    for name, y in (("a", np.array([1, 2])), ("b", np.array([1.0, 2.0])), ("c", np.array([EDGE, EDGE + 1]))):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(2), y=y)
    assert data.open([tmp_path / "a.npz", tmp_path / "b.npz"]).read()[1].tolist() == [1, 2, 1, 2]
    for names in ("bc", "abc"):
        stream = data.open([tmp_path / f"{name}.npz" for name in names])
        for road in (data.Stream.read, AveragedPerceptron().fit_stream):
            with pytest.raises(ValueError, match="compared as float64, which may round"):
                road(stream)


def test_class_weights_and_saved_models_keep_labels_apart(tmp_path):
    for y, other in (([EDGE + 2, EDGE + 1], EDGE + 3), (np.array(["p\0", "p"], object), "p\0\0")):
        with pytest.raises(ValueError, match=r"names .* which is not one of the classes"):
            Perceptron(class_weight={other: 2.0}).fit(X, y)
        model = Perceptron(class_weight={y[0]: 0.5, y[1]: 4.0}, shuffle=False).fit(X, y)
        save(model, tmp_path / "m.model")
        again = load(tmp_path / "m.model")
        assert again.classes_.tolist() == model.classes_.tolist() == sorted(y)
        assert again.predict(X).tolist() == list(y)
        assert again.class_weight == model.class_weight


def test_theory_keeps_labels_apart():
    for pair in (*PAIRS, (2**70, 2**70 + 1), (float(EDGE), EDGE + 1)):
        for kind in (list, tuple, lambda labels: np.array(labels, object)):
            verdict = separability([[1.0], [1.0]], kind(pair))
            assert type(verdict).__name__ == "Inseparable"  # one point with two labels
            assert verdict.check([[1.0], [1.0]], kind(pair))


def test_large_floats_are_labels():
    y = [2.0**63, -1.0]
    assert Perceptron().fit(X, y).classes_.tolist() == sorted(y)
    with pytest.raises(ValueError, match=r"numbers such as 0\.5"):
        Perceptron().fit(X, [2.0**63, 0.5])
