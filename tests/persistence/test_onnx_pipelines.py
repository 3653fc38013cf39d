"""ONNX graphs that prepare rows as a pipeline or a table's preparation does: the labels are those of ``predict``."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from helpers.exported import exported
from helpers.pipelines import EXAMPLES, OF_TABLES, example, learner, mixed, numbers, table
from rosenblatt import AveragedPerceptron, Perceptron, data
from rosenblatt.persistence.onnx import export_onnx


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def more_rows(X, seed=1):
    """Return rows and many that mix their values, so that some sit on ties."""
    rng = np.random.default_rng(seed)
    picked = [rng.integers(0, len(X), 2000) for _ in range(X.shape[1])]
    if isinstance(X, pd.DataFrame):
        return pd.DataFrame({name: X[name].to_numpy()[rows] for name, rows in zip(X, picked, strict=True)})
    return np.column_stack([X[rows, j] for j, rows in enumerate(picked)])


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_row_is_labelled_as_by_predict(path, name):
    pipeline, X, _ = example(name)
    for rows in (X, more_rows(X)):
        label, scores = exported(pipeline, path, rows)
        expected = pipeline.decision_function(rows).reshape(len(rows), -1)
        assert label.tolist() == pipeline.predict(rows).tolist()
        assert scores == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["standard", "maxabs", "exact", "pairs", "mean", "one-hot, scaled", "rest scaled"])
def test_features_are_made_with_the_same_bits(path, name):
    """A learner whose weights are powers of two shows every bit of a feature in its score."""
    pipeline, X, _ = example(name)
    features = pipeline[:-1].transform(X)
    features = features.toarray() if hasattr(features, "toarray") else features
    rows, state = more_rows(X), pipeline[-1]
    for j in range(features.shape[1]):
        state.state_.w[:], state.state_.u[:], state.state_.b[:], state.state_.beta[:] = 0.0, 0.0, 0.0, 0.0
        state.state_.w[0, j] = 1.0
        if hasattr(state, "hypothesis"):
            state.hypothesis = "last"
        made = pipeline[:-1].transform(rows)
        made = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
        _, scores = exported(pipeline, path, rows, exact=False)
        assert scores[:, 0].tolist() == made[:, j].tolist()


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_table_has_an_input_for_each_column(path, name):
    pipeline, X, _ = example(name)
    export_onnx(pipeline, path)
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    notes = {entry.key: entry.value for entry in proto.metadata_props}
    columns = json.loads(notes["columns"])
    assert [one.name for one in proto.graph.input] == list(columns)
    assert set(columns.values()) <= set(X.columns)
    assert len(json.loads(notes["features"])) == pipeline[-1].n_features_in_


def test_names_that_are_taken(path):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["label", "scores", "add_1", "rosenblatt/x"])
    step = ColumnTransformer([("a", StandardScaler(), ["label", "add_1"])], remainder="passthrough")
    pipeline = make_pipeline(step, learner()).fit(frame, y)
    assert exported(pipeline, path, frame)[0].tolist() == pipeline.predict(frame).tolist()


def test_unknown_and_missing_words_without_a_frame(path):
    words = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]] * 5, object)
    y = (words[:, 0] == "a") & (words[:, 1] == "x")
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(words, y)
    rows = np.array([["a", "x"], ["c", "x"], ["", ""], ["b", "a"]], object)
    assert exported(pipeline, path, rows)[0].tolist() == pipeline.predict(rows).tolist()
    mixed_columns = np.column_stack([words[:, :1], np.arange(20.0).astype(object)])
    with pytest.raises(ValueError, match="an input of an ONNX graph cannot hold both strings and numbers"):
        export_onnx(make_pipeline(OneHotEncoder(), learner()).fit(mixed_columns, y), path)


@pytest.mark.parametrize("gap", [np.nan, None])
@pytest.mark.parametrize("impute", [True, False])
def test_missing_words_may_be_given_as_they_are(path, gap, impute):
    """A runtime is given "nan" for NaN and "None" for None where a column of objects is passed on as it is."""
    rng = np.random.default_rng(0)
    words = rng.choice(np.array(["a", "b", "c", gap], object), (300, 1), p=[0.2, 0.2, 0.3, 0.3])
    frame = pd.DataFrame({"word": words[:, 0]}, dtype=object)
    y = [value not in ("a", "b") for value in words[:, 0]]
    fill = [SimpleImputer(missing_values=gap, strategy="most_frequent")] if impute else []
    pipeline = make_pipeline(*fill, OneHotEncoder(handle_unknown="ignore"), learner()).fit(frame, y)
    export_onnx(pipeline, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    asked = pd.DataFrame({"word": ["a", "b", "c", gap, "new"]}, dtype=object)
    expected = pipeline.decision_function(asked)
    assert expected[3] != expected[4]
    for given in (asked.to_numpy(object), asked.fillna("").to_numpy(object)):
        assert session.run(["scores"], {"word": given})[0].ravel() == pytest.approx(expected)


def test_a_word_that_looks_like_a_gap_stays_a_word(path):
    frame = pd.DataFrame({"word": ["nan", np.nan, "b", "a"] * 20}, dtype=object)
    y = [value == "nan" for value in frame["word"]]
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(frame, y)
    assert exported(pipeline, path, frame)[0].tolist() == pipeline.predict(frame).tolist() == y


def test_what_cannot_be_exported_says_so(path):
    X, y = numbers()
    with pytest.raises(TypeError, match="a step of type PCA cannot be exported: steps may be StandardScaler"):
        export_onnx(make_pipeline(PCA(2), learner()).fit(X, y), path)
    frame, labels = table()
    words = ColumnTransformer([("a", SimpleImputer(strategy="most_frequent"), ["sex"])])
    pipeline = mixed().fit(frame, labels)
    pipeline.steps[0] = ("a", words.fit(frame))
    with pytest.raises(ValueError, match="a column of strings, which an ONNX graph cannot use as numbers"):
        export_onnx(pipeline, path)
    assert not path.exists()


# tables of the command


def csv_model(tmp_path, text, **options):
    file = tmp_path / "a.csv"
    file.write_text(text)
    stream = data.open(file, "y", **options)
    model = AveragedPerceptron(random_state=0, max_iter=3).fit_stream(stream)
    model.preparation_ = stream.preparation
    return model, file


def lines(n=200, gaps=True, notes=False):
    rng = np.random.default_rng(0)
    out = ["age,member,colour,fare,day" + ",note" * notes + ",y"]
    for i in range(n):
        age = "" if gaps and i % 11 == 0 else str(rng.integers(1, 90))
        cells = [age, rng.choice(["true", "false"]), rng.choice(["red", "green", "blue"]), f"{rng.exponential(30):.2f}"]
        cells += [f"2024-0{rng.integers(1, 9)}-1{rng.integers(0, 9)}"] + ["some few words here " * (i % 3)] * notes
        out.append(",".join([*cells, str(i % 2)]))
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("scale", ["none", "standard", "maxabs"])
def test_a_model_of_a_table_takes_its_columns(tmp_path, path, scale):
    options = {"missing": "mean", "scale": scale, "drop": ["day"]}
    model, file = csv_model(tmp_path, lines(), **options)
    (rows,) = data.open(file, preparation=model.preparation_)
    frame = pd.read_csv(file)
    frame["member"] = frame["member"].astype(float)
    label, _ = exported(model, path, frame)
    assert label.tolist() == model.predict(rows).tolist()
    kinds = {one.name: one.type.tensor_type.elem_type for one in onnx.load(path).graph.input}
    double, string = onnx.TensorProto.DOUBLE, onnx.TensorProto.STRING
    assert kinds == {"age": double, "member": double, "colour": string, "fare": double}
    strange = frame.assign(colour="pink")
    file.write_text(lines().replace("red", "pink").replace("green", "pink").replace("blue", "pink"))
    (rows,) = data.open(file, preparation=model.preparation_)
    assert exported(model, path, strange)[0].tolist() == model.predict(rows).tolist()


def test_dates_and_numbers_with_commas_are_numbers(tmp_path, path):
    """The graph reads no text: what the file writes as 2024-02-03, 1.234,56 or 1,234.56 comes in as a number."""
    rng = np.random.default_rng(0)
    days, prices = rng.integers(-4000, 20000, 120), rng.integers(100_000, 99_999_999, (120, 2)) / 100
    out = ["day;price;paid;y"]
    for i, (day, (price, paid)) in enumerate(zip(days.tolist(), prices.tolist(), strict=True)):
        written = f"{price:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
        date = "" if i % 11 == 0 else str(np.datetime64("1970-01-01") + day)
        out.append(f"{date};{written};{paid:,.2f};{int(rng.random() < 0.5)}")
    kinds = {"day": "date", "price": "decimal-comma", "paid": "thousands-comma"}
    options = {"missing": "mean", "delimiter": ";", "scale": "standard", "column_types": kinds}
    model, file = csv_model(tmp_path, "\n".join(out) + "\n", **options)
    (rows,) = data.open(file, preparation=model.preparation_)
    frame = pd.DataFrame({"day": days.astype(float), "price": prices[:, 0], "paid": prices[:, 1]})
    frame.loc[::11, "day"] = np.nan
    label, scores = exported(model, path, frame)
    assert label.tolist() == model.predict(rows).tolist()
    assert scores[:, 0] == pytest.approx(model.decision_function(rows), rel=1e-12, abs=1e-12)
    assert {one.type.tensor_type.elem_type for one in onnx.load(path).graph.input} == {onnx.TensorProto.DOUBLE}


def test_a_number_that_marks_a_missing_value_is_filled_in(tmp_path, path):
    rng = np.random.default_rng(3)
    ages = np.where(np.arange(120) % 7 == 0, -999, rng.integers(20, 80, 120))
    prices = np.where(np.arange(120) % 5 == 0, -999, rng.integers(1, 900, 120) / 4)
    out = [f"{a};{str(float(p)).replace('.', ',')};{int(a + p > 100)}" for a, p in zip(ages, prices, strict=True)]
    text = "age;price;y\n" + "\n".join(out).replace("-999,0", "-999") + "\n"
    options = {"missing": "mean", "missing_values": ["-999", "unknown"], "delimiter": ";", "scale": "standard"}
    model, file = csv_model(tmp_path, text, **options)
    (rows,) = data.open(file, preparation=model.preparation_)
    for gap in (-999.0, np.nan):
        frame = pd.DataFrame({"age": ages, "price": prices}, dtype=float).replace(-999.0, gap)
        label, scores = exported(model, path, frame)
        assert label.tolist() == model.predict(rows).tolist() == model.predict(frame).tolist()
        assert scores[:, 0] == pytest.approx(model.decision_function(rows), rel=1e-12, abs=1e-12)


def test_hashed_words_stay_outside(tmp_path, path):
    model, file = csv_model(
        tmp_path, lines(notes=True, gaps=False), column_types={"note": "text"}, bits=6, drop=["day"]
    )
    raw, _ = data.open(file, preparation=model.preparation_).read()
    scale = {"method": "standard", "features": [0, 5], "centre": [40.0, 30.0], "spread": [3.0, 7.0]}
    model.preparation_ = model.preparation_ | {"scale": scale}
    (rows,) = data.open(file, preparation=model.preparation_)
    assert exported(model, path, raw.toarray())[0].tolist() == model.predict(rows).tolist()
    notes = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert notes["note"].startswith("Words are hashed, which ONNX cannot express: X holds the features")


def test_svmlight_rows_are_scaled_inside(tmp_path, path):
    X, y = numbers()
    (tmp_path / "a.svm").write_text(
        "".join(
            f"{t} {' '.join(f'{j + 1}:{v!r}' for j, v in enumerate(r))}\n" for t, r in zip(y, X.tolist(), strict=True)
        )
    )
    stream = data.open(tmp_path / "a.svm", scale="maxabs")
    model = Perceptron(random_state=0, max_iter=3).fit_stream(stream)
    model.preparation_ = stream.preparation
    (rows,) = data.open(tmp_path / "a.svm", preparation=stream.preparation)
    assert exported(model, path, X)[0].tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize("step", [SimpleImputer(add_indicator=True), OneHotEncoder(min_frequency=3)])
def test_what_cannot_be_stored_cannot_be_a_graph_either(step, tmp_path):
    X = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, 1.0], [3.0, np.nan]] * 3)
    pipeline = make_pipeline(step, Perceptron(random_state=0, max_iter=3, hypothesis="average")).fit(
        X, [0, 1, 1, 0] * 3
    )
    with pytest.raises(ValueError, match="cannot be stored as data"):
        export_onnx(pipeline, tmp_path / "x.onnx")
    assert not (tmp_path / "x.onnx").exists()
