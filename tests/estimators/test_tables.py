"""Models of tables take the table's rows wherever they are loaded, prepared as `rosenblatt predict` prepares them."""

import pickle
import re
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from helpers import random_tables
from helpers.random_tables import RandomTable, in_memory, records, write_csv
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
    calibrated,
    contributions,
    data,
    explain,
    load,
    save,
)
from rosenblatt.cli.inputs import model_and_rows

N = 200


def people(n=N, seed=0):
    """Return columns of very different scales, with gaps and categories; the income decides."""
    rng = np.random.default_rng(seed)
    income = rng.normal(50_000, 9000, n).round(0)
    return {
        "age": [None if rng.random() < 0.1 else float(x) for x in rng.integers(18, 90, n)],
        "income": income.tolist(),
        "city": [None if rng.random() < 0.1 else str(x) for x in rng.choice(["Bern", "Rome", "Oslo"], n)],
        "bought": ["yes" if x > 50_000 else "no" for x in income],
    }


def trained(tmp_path, model=None, **options):
    """Return a model trained from a CSV file of people as `rosenblatt train` does it, saved and loaded."""
    write_csv(tmp_path / "people.csv", people())
    given = {"missing": "auto", "scale": "auto"} | options
    stream = data.open(tmp_path / "people.csv", "bought", **given)
    model = AveragedPerceptron(random_state=0) if model is None else model
    save(model.fit_stream(stream), tmp_path / "people.model")
    return load(tmp_path / "people.model")


def as_predict(tmp_path, columns, model="people.model"):
    """Return the labels of `rosenblatt predict` for a file with these columns, and the rows that it prepares."""
    write_csv(tmp_path / "new.csv", columns)
    predictor, stream = model_and_rows(str(tmp_path / model), [str(tmp_path / "new.csv")], labels=False)
    X, _ = stream.read()
    return predictor.predict(X), X


def takes(model, table, X):
    """Return whether a model prepares a table as the rows ``X``, to the same bits."""
    Z = model._rows(table).matrix
    if sp.issparse(X) != sp.issparse(Z):
        return False
    pairs = [(X.data, Z.data), (X.indices, Z.indices), (X.indptr, Z.indptr)] if sp.issparse(X) else [(X, Z)]
    return X.shape == Z.shape and all(np.array_equal(a, b) for a, b in pairs)


def test_a_loaded_model_prepares_the_rows_of_a_table(tmp_path):
    model, new = trained(tmp_path), people(90, seed=1)
    labels, X = as_predict(tmp_path, new)
    accuracy = float(np.mean(labels == new["bought"]))
    assert accuracy > 0.9
    for name, table in [*in_memory(new), ("batch", pa.table(new).to_batches()[0])]:
        assert np.array_equal(model.predict(table), labels), name
        assert takes(model, table, X), name
        assert not model.on_boundary(table).any()
        assert model.score(table, new["bought"]) == accuracy, name
        assert model.score(table) == accuracy, "the labels of the table itself"
    for k, record in enumerate(records(new)):
        assert takes(model, record, X[[k]])
        assert model.predict_one(record) == labels[k]
    features = pd.DataFrame(new)[["city", "income", "age"]].assign(shoes=41)
    assert takes(model, features, X)
    assert takes(model, features.iloc[::-1], X[::-1])
    assert (np.sign(model.decision_function(features)) == np.where(labels == "yes", 1, -1)).all()
    assert model.score(features, pd.Series(new["bought"], index=np.arange(90) + 5)) == accuracy
    assert model.columns_.tolist() == ["age", "income", "city"]
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == ["age", "income", "city=Bern", "city=Oslo", "city=Rome"]
    assert not hasattr(AveragedPerceptron().fit([[0.0], [1.0]], [0, 1]), "columns_")


def test_an_array_without_names_is_refused_and_prepared_rows_are_blocks(tmp_path):
    model, new = trained(tmp_path), people(90, seed=1)
    _, X = as_predict(tmp_path, new)
    stream = data.open(new := pd.DataFrame(new), preparation=model.preparation_)
    (block,) = stream
    ways = "a table with the columns age, income and city, got (.* without their names|a Series .*iloc.*). "
    ways += "Give a data frame.*Block"
    for rows in (block.X, block.X.tolist(), sp.csr_array(block.X), new["age"], new.iloc[0]):
        calls = [model.predict, model.decision_function, model.on_boundary, lambda X: model.score(X, new["bought"])]
        calls += [lambda X: model.partial_fit(X, new["bought"]), lambda X: calibrated(model, X, new["bought"])]
        for call in calls:
            with pytest.raises(ValueError, match=ways):
                call(rows)
    with pytest.raises(ValueError, match=ways):
        contributions(model, block.X[0])
    for prepared in (block, data.Block(block.X), data.Block(block.X.tolist())):
        assert takes(model, prepared, X)
    for prepared in (block, data.Block(sp.csr_array(block.X))):
        assert np.array_equal(model.predict(prepared), model.predict(new))
        assert model.score(prepared, new["bought"]) == model.score(new, new["bought"])
    assert model.score(block) == model.score(new)
    with pytest.raises(TypeError, match="score compares predictions with labels, got none"):
        model.score(data.Block(block.X))
    with pytest.raises(ValueError, match="X has 4 features, but AveragedPerceptron is expecting 5"):
        model.predict(data.Block(block.X[:, :4]))


def test_blocks_are_rows_of_any_model():
    model = Perceptron(shuffle=False).fit(data.Block([[1.0], [-1.0]], ["yes", "no"]))
    assert model.predict(data.Block([[3.0]])).tolist() == ["yes"]
    assert model.score(data.Block([[3.0]], ["no"])) == 0.0
    assert model.partial_fit(data.Block([[-5.0]], ["no"])).n_iter_ > 1
    assert contributions(model, data.Block([[3.0]])).title.startswith("Predicted 'yes'")


def test_scaled_rows_of_other_formats_are_not_guessed_either(tmp_path):
    X = np.array([[1000.0, 1.0], [3000.0, 2.0], [-500.0, 1.5], [-900.0, 2.5]])
    np.savez(tmp_path / "a.npz", X=X, y=[1, 1, 0, 0])
    stream = data.open(tmp_path / "a.npz", scale="standard")
    model = Perceptron().fit_stream(stream)
    with pytest.raises(ValueError, match=r"trained on scaled rows: expected .* got an array\. Give the blocks of"):
        model.predict(X)
    (block,) = stream
    assert model.score(block) == 1.0
    plain = Perceptron().fit_stream(data.open(tmp_path / "a.npz"))
    assert plain.score(X, [1, 1, 0, 0]) == 1.0


def test_missing_columns_are_named(tmp_path):
    model, new = trained(tmp_path), pd.DataFrame(people(20, seed=1))
    what = "has no column 'age' and no column 'city'; found income, bought: add them, empty"
    with pytest.raises(ValueError, match=f"the data frame {what}"):
        model.predict(new[["income", "bought"]])
    record = records(people(1))[0]
    for method in (model.predict, model.predict_one, lambda x: contributions(model, x)):
        with pytest.raises(ValueError, match="the record has no column 'city', expected age, income, city"):
            method({"age": 3, "income": 10})
        with pytest.raises(ValueError, match=re.escape("no column 'cty' (did you mean 'city'?)") + "|no column 'city'"):
            method({"age": 3, "income": 10, "cty": "Bern"})
        with pytest.raises(ValueError, match=r"the record: column 'income' holds 'much', expected a number\.$"):
            method(record | {"income": "much"})
    with pytest.raises(ValueError, match=r"row 7 .counted from 0.: column 'income' holds 'much', expected a number\.$"):
        model.predict(new.assign(income=["1"] * 7 + ["much"] * 13))
    with pytest.raises(TypeError, match="expected labels, got none: give them as y, or a table with the column 'bou"):
        model.score(new[["age", "income", "city"]])
    with pytest.raises(ValueError, match="expected one label for each of the 20 rows, got 3"):
        model.score(new, ["yes", "no", "no"])


def test_a_used_column_is_not_suggested_for_a_missing_one(tmp_path):
    columns = people() | {"incomes": list(range(N))}
    write_csv(tmp_path / "two.csv", columns)
    model = Perceptron(max_iter=1).fit_stream(data.open(tmp_path / "two.csv", "bought", missing="mean"))
    with pytest.raises(ValueError, match=r"no column 'income', expected .*: add it, empty where it is unknown\.$"):
        model.predict(pd.DataFrame(columns).drop(columns="income"))


def test_what_is_not_rows_or_labels_is_named(tmp_path):
    model, new = trained(tmp_path), pd.DataFrame(people(20, seed=1))
    for call in (
        model.predict,
        model.decision_function,
        lambda X: model.score(X, []),
        lambda X: model.partial_fit(X, []),
    ):
        with pytest.raises(
            ValueError, match="expected at least one row with the columns age, income and city, got an e"
        ):
            call([])
    for labels in ("yes", 1, iter(new["bought"]), np.array("yes")):
        with pytest.raises(
            TypeError, match=r"expected one label for each row, got .*: give a list, an array or a series"
        ):
            model.score(new, labels)
    with pytest.raises(TypeError, match="expected one sample weight for each row, got"):
        model.score(new, new["bought"], sample_weight=iter([1] * 20))
    assert model.score(new, sample_weight=2) == model.score(new)
    with pytest.raises(
        ValueError, match=r"holds \[.*\.\.\., expected .*: give several rows as a data frame or a list of dict"
    ):
        model.predict(new.to_dict("list"))


def test_test_labels_must_be_classes_of_the_model(tmp_path):
    codes = people()
    codes["bought"] = ["01" if label == "no" else "02" for label in codes["bought"]]
    write_csv(tmp_path / "codes.csv", codes)
    stream = data.open(tmp_path / "codes.csv", "bought", missing="mean", column_types={"bought": "category"})
    model = Perceptron(max_iter=1).fit_stream(stream)
    frame = pd.read_csv(tmp_path / "codes.csv")  # whose labels are 1 and 2
    (block,) = data.open(frame, preparation=model.preparation_)
    for given in ((frame,), (frame, frame["bought"]), (block,)):
        with pytest.raises(
            ValueError, match="no label is a class of the model, expected the classes 01 and 02, got 1 an"
        ):
            model.score(*given)
    labels = np.array(codes["bought"])
    labels[:2] = "03"
    with pytest.warns(
        UserWarning, match="^2 rows have a label that is not a class .*, got 03: write labels as in the tr"
    ):
        assert model.score(frame, labels) == np.mean(model.predict(frame) == labels)
    assert model.score(frame, codes["bought"]) == np.mean(model.predict(frame) == codes["bought"])


def test_new_classes_are_warned_of_unless_they_are_named(tmp_path, recwarn):
    table = pd.DataFrame(people(20, seed=1))
    is_yes, record = table["bought"] == "yes", records(people(1))[0]
    what = "^the model learns new classes, expected no and yes, got {}: write labels as in the training data, or name"
    for learner in (AROW(), KernelPerceptron("rbf", gamma=0.5)):
        model = trained(tmp_path, learner)
        with pytest.warns(UserWarning, match=what.format("false and true")):
            model.partial_fit(table, is_yes)
    model = trained(tmp_path)
    with pytest.warns(UserWarning, match=what.format("Yes")) as caught:
        model.learn_one(record, "Yes")
    assert caught[0].filename == __file__
    recwarn.clear()
    model.learn_one(record, "Yes").partial_fit(table)
    model.partial_fit(table, is_yes, classes=["no", "yes", "true", "false"])
    assert not recwarn.list
    with pytest.warns(UserWarning, match=what.format("false and true")):
        trained(tmp_path).set_params(warm_start=True).fit(table, is_yes)


def test_a_column_of_unknown_values_is_warned_of(tmp_path):
    columns = {"code": [f"0{k % 5}" for k in range(60)], "x": list(range(60)), "y": ["a", "b"] * 30}
    write_csv(tmp_path / "codes.csv", columns)
    types = {"code": "category"}
    model = Perceptron(max_iter=1).fit_stream(data.open(tmp_path / "codes.csv", "y", column_types=types))
    model.predict(pd.read_csv(tmp_path / "codes.csv", dtype={"code": str}))
    numbers = pd.read_csv(tmp_path / "codes.csv")
    with pytest.warns(UserWarning, match="no value of column 'code' occurred in training, so all are ignored"):
        model.predict(numbers)
    some_new = numbers.astype({"code": str}).assign(code=["01"] + ["new"] * 59)
    records = some_new.drop(columns="y").to_dict("records")
    of_table = "column 'code': 59 of 60 values did not occur in training, so they become all zeros: write values as in"
    of_record = "column 'code': 'new' did not occur in training, so it becomes all zeros: write values as in"
    save(model, tmp_path / "m")
    for call, what in (
        (lambda model: model.predict(some_new), of_table),
        (lambda model: model.predict_one(records[5]), of_record),
        (lambda model: model.learn_one(records[5], "a"), of_record),
        (lambda model: model.decision_function(records[5]), of_record),
    ):
        model = load(tmp_path / "m")
        model.predict_one(records[0])
        contributions(model, records[5])  # has a note
        with pytest.warns(UserWarning, match=f"^{what} the training data, or train on rows that have them") as caught:
            call(model)
        assert [warning.filename for warning in caught] == [__file__]
        call(model)  # is said once
        model.predict(some_new)


def test_labels_are_those_of_the_file(tmp_path):
    columns = people()
    columns["bought"] = [int(label == "yes") for label in columns["bought"]]
    write_csv(tmp_path / "ints.csv", columns)
    model = AROW().fit_stream(data.open(tmp_path / "ints.csv", "bought", missing="mean", scale="standard"))
    accuracy = model.score(columns_of := pd.DataFrame(columns))
    assert accuracy > 0.9
    for labels in (columns["bought"], [str(label) for label in columns["bought"]], np.array(columns["bought"], float)):
        assert model.score(columns_of, labels) == accuracy
    with pytest.raises(ValueError, match="column 'bought' holds 'yes', expected an integer label"):
        model.score(columns_of, ["yes"] * N)
    gone = columns_of.assign(bought=[None] * 10 + columns["bought"][10:])
    weights = np.arange(N) % 3
    with pytest.warns(UserWarning, match="^10 rows have no label and are left out.$") as caught:
        assert model.score(gone) == model.score(columns_of[10:])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="10 rows have no label"):
        left = model.score(gone, sample_weight=weights)
    assert left == model.score(columns_of[10:], sample_weight=weights[10:])


def test_training_continues_on_tables(tmp_path):
    new, more = people(60, seed=2), people(50, seed=3)
    for learner in (AveragedPerceptron(max_iter=2, random_state=0), AROW(), VotedPerceptron(max_iter=1)):
        model = trained(tmp_path, learner)
        names = model.feature_names_in_
        expected = deepcopy(model)
        for columns in (new, more):
            (block,) = data.open(pd.DataFrame(columns), preparation=model.preparation_)
            expected.partial_fit(block)
        again, one_by_one = deepcopy(model), deepcopy(model)
        model.partial_fit(pl.DataFrame(new)).partial_fit(records(more))
        features = pd.DataFrame(new).drop(columns="bought")
        again.partial_fit(features, new["bought"]).partial_fit(pa.table(more), more["bought"])
        for record in records(new) + records(more):
            one_by_one.learn_one(record, record["bought"])
        labels = expected.predict(features)
        for other in (model, again, one_by_one):
            assert np.array_equal(other.predict(features), labels)
            assert np.array_equal(other.last_coef_, expected.last_coef_)
            assert other.preparation_ == expected.preparation_
            assert other.feature_names_in_ is names or (other.feature_names_in_ == names).all()
            assert other.n_features_in_ == len(names)
        save(one_by_one, tmp_path / "again.model")
        assert np.array_equal(load(tmp_path / "again.model").predict(features), labels)
        with pytest.raises(ValueError, match="expected a label, got None, which stands for a missing label: leave"):
            one_by_one.learn_one(record, None)
        with pytest.raises(TypeError, match=r"expected a label that is a string, a number or a boolean, got \['no'\]"):
            one_by_one.learn_one(record, ["no"])
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(features[:0])


def test_weights_of_the_table_count_as_in_training(tmp_path):
    columns = people() | {"w": [float(k % 3) for k in range(N)]}
    write_csv(tmp_path / "a.csv", columns)
    stream = data.open(tmp_path / "a.csv", "bought", weight="w", missing="mean")
    model = Perceptron(max_iter=1, shuffle=False, hypothesis="average").fit_stream(stream)
    table = pd.DataFrame(columns)
    given, ours = deepcopy(model), deepcopy(model)
    assert (ours.partial_fit(table).coef_ == given.partial_fit(table, sample_weight=columns["w"]).coef_).all()
    assert model.score(table.drop(columns="w")) == model.score(table)
    with pytest.raises(ValueError, match="has no column 'w'"):
        model.partial_fit(table.drop(columns="w"))


def test_the_preparation_stays_and_goes_with_the_training(tmp_path):
    model, table = trained(tmp_path), pd.DataFrame(people(60, seed=1))
    (block,) = data.open(table, preparation=model.preparation_)
    for again in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        assert takes(again, table, block.X)
    assert "_rows_of_tables" not in model.__getstate__()
    assert not hasattr(clone(model), "preparation_")
    model.set_params(warm_start=True, max_iter=3)
    unchanged = deepcopy(model)
    model.fit(table, table["bought"])
    stream = data.open(table, preparation=unchanged.preparation_)
    assert np.array_equal(unchanged.fit_stream(stream).coef_, model.coef_)
    assert model.preparation_ == unchanged.preparation_
    for blocks in (data.open(table, "bought", missing="mean"), [([[0.0] * 5], ["yes"])]):
        with pytest.raises(ValueError, match="not prepared like those that the model was trained on: open it with"):
            model.fit_stream(blocks)
    seen = []
    model.set_params(warm_start=False).fit_stream(
        data.open(table, "bought", missing="mean", scale="standard"), on_pass=lambda m: seen.append(m.score(table))
    )
    assert seen[-1] == model.score(table) > 0.9
    errors = model.score_by_pass(table, table["bought"], X_test=table, y_test=table["bought"])
    assert errors["test_error"][-1] < 0.1
    model.fit(data.Block(np.eye(2), ["yes", "no"]))
    assert not hasattr(model, "preparation_")
    assert model.predict(np.eye(2)).tolist() == ["yes", "no"]


def test_probabilities_and_explanations_of_a_table(tmp_path):
    model, table = trained(tmp_path), pd.DataFrame(people(120, seed=1))
    (block,) = data.open(table, preparation=model.preparation_)
    expected = calibrated(model, data.open(table, preparation=model.preparation_)).predict_proba(block)
    for given in ((table, table["bought"]), (table,), (records(people(120, seed=1)),), (block,)):
        found = calibrated(model, *given)
        assert np.array_equal(found.predict_proba(table), expected)
        assert np.array_equal(found.predict_proba(records(people(120, seed=1))[3]), expected[[3]])
    save(found, tmp_path / "p.model")
    assert np.array_equal(load(tmp_path / "p.model").predict_proba(pl.from_pandas(table)), expected)
    for k, record in enumerate(records(people(120, seed=1))[:5]):
        tables = [contributions(model, x) for x in (record, table.iloc[k], table.iloc[[k]], [record])]
        assert len({str(one) for one in tables}) == 1
        assert str(tables[0]) == str(contributions(model, data.Block(block.X[[k]])))
    odd = contributions(model, {"age": None, "income": 1, "city": "Paris"})
    assert "Not known to the model and ignored: city=Paris." in odd.notes
    with pytest.raises(ValueError, match="expected one row, got 120"):
        contributions(model, table)
    assert explain(model)["feature"][0] == "income"


def test_kernels_take_tables(tmp_path):
    model = trained(tmp_path, KernelPerceptron("rbf", gamma=0.5, random_state=0))
    table = pd.DataFrame(people(40, seed=1))
    labels, X = as_predict(tmp_path, people(40, seed=1))
    assert np.array_equal(model.predict(table), labels)
    assert takes(model, table, X)
    assert model.kernel_values(table).shape == (40, len(model.support_))
    assert contributions(model, records(people(1))[0]).title.startswith("Predicted")
    record = records(people(40, seed=1))[3]
    with pytest.raises(
        AttributeError, match="use partial_fit and predict, which take records if it was trained from a t"
    ):
        model.predict_one(record)
    assert model.predict(record).tolist() == [labels[3]]


def test_a_record_needs_no_library_for_tables(tmp_path):
    trained(tmp_path)
    text = (
        "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow']));"
        "import rosenblatt; model = rosenblatt.load(sys.argv[1]);"
        "record = {'age': 30, 'income': '90000', 'city': 'Bern'};"
        "print(model.predict_one(record), *model.predict(record), *model.predict(rosenblatt.data.Block([[1.0] * 5])))"
    )
    words = [sys.executable, "-c", text, tmp_path / "people.model"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "yes yes yes\n"


@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_tables_give_the_bits_of_predict_in_every_form(tmp_path, seeds):
    for seed in seeds:
        compare_forms(tmp_path, seed)


def compare_forms(tmp_path, seed):
    recipe = RandomTable(seed)
    options, columns, new = recipe.options(), recipe.columns(80), recipe.columns(25)
    new = {name: new[name] for name in recipe.rng.permutation(list(new))} | {"another": list(range(25))}
    write_csv(tmp_path / "train.csv", columns)
    forms = [tmp_path / "train.csv", *(table for name, table in in_memory(columns) if name != "texts")]
    stream = data.open(forms[seed % len(forms)], "y", **options)
    learner = [Perceptron, AveragedPerceptron, AROW][seed % 3](max_iter=3, random_state=seed)
    if seed % 3 == 0:
        learner.set_params(hypothesis="average")
    save(learner.fit_stream(stream), tmp_path / "m")
    model = load(tmp_path / "m")
    labels, X = as_predict(tmp_path, new, "m")
    pairs = zip(map(random_tables.cell, labels.tolist()), map(random_tables.cell, new["y"]), strict=True)
    accuracy = sum(label == true for label, true in pairs) / len(labels)
    for name, table in in_memory(new):
        assert takes(model, table, X), (seed, name)
        assert np.array_equal(model.predict(table), labels), (seed, name)
        assert model.score(table) == accuracy, (seed, name)
    for k, record in enumerate(records(new)):
        texts = {name: random_tables.cell(value) for name, value in record.items()}
        for one in (record, texts):
            assert takes(model, one, X[[k]]), (seed, k)
            assert model.predict_one(one) == labels[k], (seed, k)


def test_copies_of_a_model_of_a_table_say_what_they_lack():
    """`clone` keeps the parameters only, so cross_val_score trains copies that cannot prepare a table."""
    table = pd.DataFrame({"city": ["Bern", "Rome"] * 20, "pay": range(40), "y": ["no", "yes"] * 20})
    model = AveragedPerceptron(random_state=0).fit_stream(data.open(table, "y"))
    X = table.drop(columns="y")
    what = (
        "This is a copy of a model that was trained from a table.*or cross-validate with the folds of rosenblatt train"
    )
    with pytest.raises(ValueError, match=what):
        clone(clone(model)).fit(X, table["y"])
    with pytest.raises(ValueError, match="Encode strings as numbers first"):
        AveragedPerceptron().fit(X, table["y"])
    copied = clone(model).fit_stream(data.open(table, "y"))
    assert copied.score(table) == model.score(table)
    for numbers in (X[["pay"]], X[["pay"]].to_numpy()):
        with pytest.warns(UserWarning, match=what):
            clone(model).fit(numbers, table["y"])
    clone(model).fit(data.Block(X[["pay"]].to_numpy(float), table["y"].to_numpy(str)), None)
