"""TextHasher gives the rows of scikit-learn's HashingVectorizer, and its pipelines are explained and saved."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline

from helpers.random_texts import random_texts
from rosenblatt import AveragedPerceptron, TextHasher, contributions, explain, export_onnx, load, save
from rosenblatt.messages import ParameterError

TEXTS = ["A good film", "a bad film!", "good, good", "so bad", ""]
LABELS = ["yes", "no", "yes", "no", "no"]
CHOICES = {
    "n_features": [2**18, 13],
    "ngram_range": [(1, 1), (2, 3)],
    "analyzer": ["word", "char_wb"],
    "lowercase": [True, False],
    "binary": [False, True],
    "norm": ["l2", "l1", None],
    "alternate_sign": [False, True],
}


def same(X, twin):
    return all(np.array_equal(getattr(X, name), getattr(twin, name)) for name in ("indptr", "indices", "data"))


def test_rows_are_those_of_scikit_learn():
    texts = TEXTS + random_texts(300, seed=8)
    for values in product(*CHOICES.values()):
        options = dict(zip(CHOICES, values, strict=True))
        X, twin = TextHasher(**options).transform(texts), HashingVectorizer(**options).transform(texts)
        assert same(X, twin), options
        assert X.shape == twin.shape


@pytest.mark.slow
@pytest.mark.parametrize("analyzer", CHOICES["analyzer"])
def test_a_hundred_thousand_rows(analyzer):
    texts = random_texts(100_000, seed=10)
    options = {"ngram_range": (1, 3), "analyzer": analyzer, "alternate_sign": True, "n_features": 1000}
    assert same(TextHasher(**options, n_jobs=2).transform(texts), HashingVectorizer(**options).transform(texts))


def test_threads_keep_the_order():
    texts = random_texts(1_000, seed=1, longest=200) * 12
    expected = TextHasher(keep_words=True).fit(texts)
    threaded = TextHasher(keep_words=True, n_jobs=2).fit(texts)
    assert sum(len(text.encode()) for text in texts) > 2 * 2**20  # in several pieces
    assert same(threaded.transform(texts), expected.transform(texts))
    assert threaded.words_ == expected.words_
    assert list(threaded.words_) == list(expected.words_)


def test_texts_may_have_any_container():
    expected = TextHasher().transform(TEXTS)
    for form in (
        tuple,
        np.array,
        lambda texts: np.array(texts, object),
        iter,
        pd.Series,
        lambda texts: pd.Series(texts, dtype=object, index=list("abcde")),
        lambda texts: pd.Series(texts, dtype="category"),
        lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
        pl.Series,
        pa.array,
        lambda texts: pa.array(texts, pa.large_string()),
        lambda texts: pa.array(texts, pa.string_view()),
        lambda texts: pa.array(texts).dictionary_encode(),
        lambda texts: pa.chunked_array([texts[:2], texts[2:2], texts[2:]]),
    ):
        assert same(TextHasher().transform(form(TEXTS)), expected)
    assert TextHasher(8).transform([]).shape == (0, 8)


def test_what_is_not_a_text():
    hasher = TextHasher()
    gone = ["a", None]
    for texts in (gone, pd.Series(gone), pl.Series(gone), pa.array(gone), ["a", float("nan")]):
        with pytest.raises(ValueError, match=r"text 1 \(counted from 0\) is missing, expected a string: fill in ''"):
            hasher.transform(texts)
    for texts in (["a", 7], pd.Series([1, 2]), [b"a"]):
        with pytest.raises(TypeError, match=r"text \d \(counted from 0\) is .*, expected a string"):
            hasher.transform(texts)
    with pytest.raises(ValueError, match=r"text 1 .* has the character '\\ud800', which is half of a pair"):
        hasher.transform(["a", "b\ud800"])
    with pytest.raises(TypeError, match="expected a list of strings, got 'one': put a single text in a list"):
        hasher.transform("one")
    with pytest.raises(TypeError, match="got a DataFrame of several columns: select one of them by its name"):
        hasher.transform(pd.DataFrame({"a": TEXTS}))


def test_parameters_are_checked():
    for wrong in (
        {"n_features": 0},
        {"ngram_range": (2, 1)},
        {"ngram_range": 2},
        {"analyzer": "char"},
        {"norm": "max"},
        {"binary": "yes"},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            TextHasher(**wrong).fit(TEXTS)


def test_words_that_were_seen_are_names():
    hasher = TextHasher(2**10, ngram_range=(1, 2), keep_words=True).fit(TEXTS)
    names = hasher.get_feature_names_out()
    X = hasher.transform(["good film"])
    assert set(names[X.indices]) == {"good", "film", "good film"}
    assert len(names) == 2**10
    assert TextHasher(4).fit(TEXTS).get_feature_names_out().tolist() == ["#0", "#1", "#2", "#3"]
    assert list(hasher.fit(["other"]).words_.values()) == ["other"]


def test_pipelines_are_explained_and_saved(tmp_path):
    characters = TextHasher(64, analyzer="char_wb", ngram_range=(2, 3), sublinear_tf=True)
    for hasher in (characters, TextHasher(keep_words=True)):
        model = make_pipeline(hasher, AveragedPerceptron(random_state=0)).fit(TEXTS, LABELS)
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert again[0].get_params() == model[0].get_params()
        assert again[0].words_ == model[0].words_
        for one in (model, again):
            assert one.predict(["so good"]).tolist() == model.predict(["so good"]).tolist()
            assert explain(one, top=2).to_dict() == explain(model, top=2).to_dict()
            assert contributions(one, "good good film").to_dict() == contributions(model, "good good film").to_dict()
    assert contributions(model, "good good film").to_dict()["feature"][0] == "good"
    with pytest.raises(TypeError, match="a step of type TextHasher cannot be exported"):
        export_onnx(model, tmp_path / "model.onnx")


def test_a_column_of_a_data_frame(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "age": [1.0, 2.0, 3.0, 4.0, 5.0]})
    columns = ColumnTransformer([("text", TextHasher(32), "text"), ("age", "passthrough", ["age"])])
    model = make_pipeline(columns, AveragedPerceptron(random_state=0)).fit(frame, LABELS)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(frame).tolist() == model.predict(frame).tolist()


def test_forged_words_are_not_saved(tmp_path):
    model = make_pipeline(TextHasher(8, keep_words=True), AveragedPerceptron(random_state=0)).fit(TEXTS, LABELS)
    model[0].words_ = {8: "beyond"}
    with pytest.raises(ValueError, match=r"this pipeline cannot be saved.*a different column for each word"):
        save(model, tmp_path / "model")
