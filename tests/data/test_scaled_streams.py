import io
import json

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import held_out
from rosenblatt import AveragedPerceptron, ExactScaler, KernelPerceptron, Perceptron, data
from rosenblatt.messages import ParameterError
from rosenblatt.splits import Split

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(3) * [1, 1000, 0.01, 3] + [0, 5000, 1, 0]
    return X, np.where(X[:, 0] + X[:, 1] / 1000 - 5 + rng.normal(size=300) / 2 > 0, "yes", "no")


@pytest.fixture
def files(tmp_path, numbers):
    """The same rows in every format that keeps their numbers."""
    X, y = numbers
    table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"y": y})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=70)
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=11)
    lines = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["x0,x1,x2,x3,y", *lines]) + "\n")
    rows = [
        dict(zip(["x0", "x1", "x2", "x3", "y"], [*row, str(label)], strict=True))
        for row, label in zip(X.tolist(), y, strict=True)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    np.savez(tmp_path / "t.npz", X=X, y=y)
    return [tmp_path / f"t.{ending}" for ending in ("csv", "parquet", "arrow", "jsonl", "npz")]


@pytest.mark.parametrize("method", ["standard", "maxabs"])
@pytest.mark.parametrize("block_rows", [None, 1, 7, 300])
def test_training_from_files_is_training_in_memory_by_the_transformer(files, numbers, method, block_rows):
    X, y = numbers
    scaler = ExactScaler(method).fit(X)
    model = AveragedPerceptron(max_iter=3, random_state=0).fit(scaler.transform(X), y)
    for file in files:
        target = None if file.suffix == ".npz" else "y"
        stream = data.open(file, target, scale=method, block_rows=block_rows, cache=block_rows == 7)
        found = AveragedPerceptron(max_iter=3, random_state=0).fit_stream(stream)
        assert found.coef_.tobytes() == model.coef_.tobytes(), file
        assert found.last_coef_.tobytes() == model.last_coef_.tobytes()
        assert stream.preparation["scale"]["spread"] == scaler.spread_.tolist()
        assert stream.preparation["scale"]["centre"] == scaler.centre_.tolist()


def test_another_file_is_read_on_the_scale_of_the_first(files, tmp_path):
    stream = data.open(files[0], "y", scale="standard")
    few = tmp_path / "few.csv"
    few.write_text("x0,x1,x2,x3\n0,5000,1,0\n")
    again = data.open(few, preparation=stream.preparation)
    scale = stream.preparation["scale"]
    expected = (np.array([0, 5000, 1, 0]) - scale["centre"]) / scale["spread"]
    assert again.read()[0].tolist() == [expected.tolist()]
    once = data.open(io.BytesIO(few.read_bytes()), preparation=stream.preparation, format="csv")
    assert once.read()[0].tolist() == [expected.tolist()]
    assert again.preparation == stream.preparation


def test_features_of_categories_and_words_stay(tmp_path):
    file = tmp_path / "t.csv"
    lines = [
        f"{'red' if i % 3 else 'green'},{i % 2 == 0},{10 * i},{'a b c' if i % 2 else 'd e f'} {i},{i % 2}"
        for i in range(40)
    ]
    file.write_text("colour,even,size,words,y\n" + "\n".join(lines) + "\n")
    stream = data.open(file, "y", column_types={"words": "text"}, scale="standard")
    plain = data.open(file, "y", column_types={"words": "text"})
    (place,) = stream.preparation["scale"]["features"]
    assert stream.feature_names[place] == "size"
    X, before = stream.read()[0].toarray(), plain.read()[0].toarray()
    others = np.arange(X.shape[1]) != place
    assert X[:, others].tobytes() == before[:, others].tobytes()
    assert X[:, place].mean() == pytest.approx(0)
    assert X[:, place].std() == pytest.approx(1)


def test_sparse_columns_are_never_centred(tmp_path):
    file = tmp_path / "t.svm"
    file.write_text("".join(f"{1 if i % 2 else -1} 1:{i + 1} 3:5\n" for i in range(6)))
    scale = data.open(file, scale="standard").preparation["scale"]
    assert scale["centre"] == [0.0, 0.0, 0.0]
    assert scale["spread"] == [np.std(np.arange(1.0, 7)), 1.0, 1.0]
    assert data.open(file, scale="maxabs").read()[0].toarray()[:, 0].tolist() == [(i + 1) / 6 for i in range(6)]
    rare = tmp_path / "rare.csv"
    rows = [
        f"{i % 9},{'x' if i == 5 else ''},{'abcdefghij'[i % 10]},{100 if i % 10 == 0 else 0},{i % 2}" for i in range(90)
    ]
    rare.write_text("often,mark,letter,rarely,y\n" + "\n".join(rows) + "\n")
    stream = data.open(rare, "y", scale="standard", missing="zero", drop=["mark"])
    assert sp.issparse(stream.read()[0])
    centres = dict(zip(stream.preparation["scale"]["features"], stream.preparation["scale"]["centre"], strict=True))
    names = {stream.feature_names[feature]: centre for feature, centre in centres.items()}
    assert names == {"often": 4.0, "rarely": 0.0}


def test_auto_scales_where_sizes_differ(files, tmp_path):
    assert data.open(files[0], "y", scale="auto").scale.method == "standard"
    alike = tmp_path / "alike.csv"
    alike.write_text("a,b,y\n" + "".join(f"{i % 3 - 1},{i % 5 / 4},{i % 2}\n" for i in range(30)))
    stream = data.open(alike, "y", scale="auto")
    assert stream.scale is None
    assert "scale" not in stream.preparation
    assert stream.read()[0].tolist() == data.open(alike, "y").read()[0].tolist()


def test_rows_that_are_held_out_have_no_part_in_the_scale(files, numbers):
    X, y = numbers
    split = Split.of_share(0.2, 1)
    (mask,) = split.held_out([y])
    whole = data.open(files[0], "y", scale="standard", block_rows=13)
    train = whole.part(split, held=False)
    test = whole.part(split, held=True, scaled_as=train)
    scaler = ExactScaler().fit(X[~mask])
    assert train.read()[0].tobytes() == scaler.transform(X[~mask]).tobytes()
    assert test.read()[0].tobytes() == scaler.transform(X[mask]).tobytes()
    assert test.preparation == train.preparation
    assert train.fingerprint != test.fingerprint != whole.fingerprint


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", [Perceptron(max_iter=2), KernelPerceptron(kernel="rbf", max_iter=2)])
def test_rows_of_early_stopping_have_no_part_in_the_scale(files, numbers, learner):
    X, y = numbers
    stream = data.open(files[0], "y", scale="standard")
    learner.set_params(early_stopping=True, random_state=3).fit_stream(stream)
    expected = ExactScaler().fit(X[~held_out(y, 3)])
    assert stream.preparation["scale"]["centre"] == expected.centre_.tolist()


def test_what_can_be_read_once_takes_no_scale_of_its_own(files):
    with pytest.raises(
        ParameterError, match=r"scale='standard' is computed from all rows, and .* can be read only once"
    ):
        data.open(io.BytesIO(files[0].read_bytes()), "y", format="csv", scale="standard")
    with pytest.raises(ParameterError, match="scale must be 'none' or 'standard' or 'maxabs' or 'auto', got 'minmax'"):
        data.open(files[0], "y", scale="minmax")
    with pytest.raises(ParameterError, match="preparation defines how rows are made, so scale cannot be given as well"):
        data.open(files[0], preparation=data.open(files[0], "y").preparation, scale="none")


def test_a_number_that_is_too_large_once_it_is_scaled(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("x,y\n1e-300,a\n2e-300,b\n")
    prepared = data.open(file, "y", scale="standard").preparation
    file.write_text("x,y\n1e-300,a\n1e300,b\n")
    with pytest.raises(data.DataError, match=r"row 1 \(counted from 0\) holds a number that is too large"):
        data.open(file, preparation=prepared).read()
    file.write_text("x,y\n1e-300,a\n1e300,b\n2e-300,b\n")
    stream = data.open(file, preparation=prepared, on_error="skip", block_rows=1)
    blocks = list(stream)
    assert [(block.first, block.numbers.tolist(), block.y.tolist()) for block in blocks if len(block)] == [
        (0, [0], ["a"]),
        (1, [2], ["b"]),
    ]
    assert stream.skipped.rows == 1
    assert "too large for float64 once it is scaled" in stream.skipped.sentences[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "none"}, "'scale.method' must be"),
        ({"features": [1, 0]}, "distinct integers in ascending order"),
        ({"features": [0, 4]}, "existing features"),
        ({"features": [True, 1]}, "'scale.features.0' must be an integer"),
        ({"centre": [0.0]}, "'scale.centre' must be a list of 2"),
        ({"spread": [1.0, 0.0]}, "a finite number above 0, got 0.0"),
        ({"spread": [1.0, -1.0]}, "a finite number above 0, got -1.0"),
        ({"spread": [1.0, "2"]}, "a finite number above 0, got '2'"),
        ({"more": 1}, "more"),
    ],
)
def test_forged_scales(files, change, words):
    prepared = data.open(files[0], "y").preparation
    good = {"method": "standard", "features": [0, 1], "centre": [0.0, 1.0], "spread": [1.0, 2.0]}
    data.open(files[0], preparation=prepared | {"scale": good})
    with pytest.raises(ValueError, match=words):
        data.open(files[0], preparation=prepared | {"scale": good | change})


def test_parts_of_a_stream_with_a_stored_scale_keep_it(files):
    prepared = data.open(files[0], "y", scale="standard").preparation
    stream = data.open(files[0], preparation=prepared)
    part = stream.part(Split.of_share(0.2, 1), held=True)
    assert part.preparation == prepared
    other = prepared | {"scale": prepared["scale"] | {"centre": [0.0] * 4}}
    assert data.open(files[0], preparation=other).fingerprint != stream.fingerprint


def test_what_can_be_read_once_has_no_parts(files):
    once = data.open(io.BytesIO(files[0].read_bytes()), "y", format="csv")
    assert once.unscaled() is once
    with pytest.raises(data.DataError, match="so its rows cannot be split into parts"):
        once.part(Split.of_share(0.2, 1), held=True)
    prepared = data.open(files[0], "y", scale="standard").preparation
    once = data.open(io.BytesIO(files[0].read_bytes()), preparation=prepared, format="csv")
    with pytest.raises(data.DataError, match="is scaled as it is read"):
        once.unscaled()


@pytest.mark.parametrize("name", ["a.svm", "a.vw", "a.parquet", "text.csv", "hash.csv", "onehot.csv"])
def test_forged_centres_of_what_is_not_a_column_of_numbers(tmp_path, name):
    file = tmp_path / name
    lines = [
        f"{['red', 'blue'][i % 2]},{i % 5},{i % 3 == 0},a few words {i},2020-01-{i + 1:02},{i % 2}" for i in range(20)
    ]
    if name == "a.parquet":
        pq.write_table(pa.table({"indices": [[0, 1], [2]], "values": [[1.0, 2.0], [3.0]], "y": [0, 1]}), file)
    else:
        rows = {"a.svm": "1 1:2 3:4\n-1 2:1\n", "a.vw": "1 |f a b:2\n-1 |f c\n"}
        file.write_text(rows.get(name) or "colour,size,odd,words,day,y\n" + "\n".join(lines) + "\n")
    options = (
        {"target": "y", "column_types": {"words": "text", "day": "date"}, "bits": 3} if name.endswith("csv") else {}
    )
    options |= {"bits": 3} if name == "a.vw" else {"target": "y"} if name == "a.parquet" else {}
    options |= {"categories": "hash"} if name == "hash.csv" else {"drop": ["words"]} if name == "onehot.csv" else {}
    stream = data.open(file, **options)
    X, _ = stream.read()
    numbers = {"text.csv": [2, 4], "hash.csv": [0, 2], "onehot.csv": [2, 4]}.get(name, [])
    named = stream.feature_names if numbers else []
    assert [named[feature] for feature in numbers] == ["size", "day"][: len(numbers)]
    for feature in range(X.shape[1]):
        scale = {"method": "standard", "features": [feature], "centre": [0.0], "spread": [2.0]}
        data.open(file, preparation=stream.preparation | {"scale": scale}).read()
        forged = stream.preparation | {"scale": scale | {"centre": [1.0]}}
        if feature in numbers:
            assert data.open(file, preparation=forged).read()[0].shape == X.shape
        else:
            with pytest.raises(
                ValueError, match=r"'scale\.centre' must be 0 for features that are not columns of numbers"
            ):
                data.open(file, preparation=forged)


def test_sparse_arrays_are_not_centred_as_dense_ones_were(tmp_path):
    np.savez(tmp_path / "dense.npz", X=np.arange(12.0).reshape(4, 3), y=np.arange(4) % 2)
    prepared = data.open(tmp_path / "dense.npz", scale="standard").preparation
    X = sp.random_array((5, 3), density=0.5, format="csr", rng=np.random.default_rng(0))
    names = {name: getattr(X, name) for name in ("shape", "data", "indices", "indptr")}
    np.savez(tmp_path / "sparse.npz", format="csr", y=np.arange(5) % 2, **names)
    assert data.open(tmp_path / "dense.npz", preparation=prepared).read()[0].mean() == pytest.approx(0)
    with pytest.raises(data.DataError, match=r"row 0 \(counted from 0\) is sparse, .* save the rows as a dense array"):
        data.open(tmp_path / "sparse.npz", preparation=prepared).read()
    maxabs = data.open(tmp_path / "dense.npz", scale="maxabs").preparation
    assert data.open(tmp_path / "sparse.npz", preparation=maxabs).read()[0].shape == (5, 3)
