"""Rows held out take no part in how rows are prepared: not in means, categories, ids, scales or the names of words."""

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from helpers.clusters import ProcessAveragedPerceptron
from helpers.commands import ran
from rosenblatt import AveragedPerceptron, data
from rosenblatt.splits import GroupRows, LastRows, Split

OPTIONS = {"target": "y", "missing": "mean", "on_ambiguous": "drop", "scale": "auto"}
PLACES = ["Bern", "Rome", "Oslo"]
NOTES = ["a small red house", "the green tree there", "large cars and trees", "one house in the sun"]


def rows(n=300, seed=0):
    """Return a table with a column of each kind that the values decide, some with gaps."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    labels = np.where(x + rng.normal(size=n) / 4 > 0, "yes", "no")
    table = {
        "number": np.arange(1, n + 1).tolist(),
        "id": (rng.permutation(n) + 500).tolist(),
        "x": [None if rng.random() < 0.2 else value for value in x.tolist()],
        "pay": [None if rng.random() < 0.2 else f"${value:,.2f}" for value in rng.lognormal(9, size=n)],
        "city": rng.choice(PLACES, n).tolist(),
        "note": [f"{rng.choice(NOTES)} w{rng.integers(200)} w{rng.integers(200)}" for _ in range(n)],
        "code": [f"q{rng.integers(10_000, 99_999)}" for _ in range(n)],
        "y": labels.tolist(),
    }
    return table


def other_values(table, held, seed):
    """Return the table with other features of the same kinds in the rows that are held out; labels stay."""
    rng = np.random.default_rng(seed)
    n = len(held)
    other = {
        "number": rng.integers(0, 10**9, n).tolist(),
        "id": rng.integers(0, 10**9, n).tolist(),
        "x": [None if rng.random() < 0.5 else float(value) for value in rng.normal(size=n) * 1e9],
        "pay": [None if rng.random() < 0.5 else f"${value:,.2f}" for value in rng.lognormal(20, size=n)],
        "city": rng.choice(["Bern", "Paris", "Wien", "Prag"], n).tolist(),
        "note": [f"other words {rng.choice(NOTES)} v{rng.integers(10**6)}" for _ in range(n)],
        "code": [f"q{rng.integers(10_000, 10_005)}" for _ in range(n)],
        "y": table["y"],
    }
    return {
        name: [new if out else old for old, new, out in zip(values, other[name], held, strict=True)]
        for name, values in table.items()
    }


def kept(table, held):
    return {name: [value for value, out in zip(values, held, strict=True) if not out] for name, values in table.items()}


def write(path, table):
    pd.DataFrame(table).to_csv(path, index=False)
    return path


def facts(model):
    """Return all that a model knows, except its fingerprint."""
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.preparation_, model.feature_names_in_.tolist()


def test_an_extreme_value_and_a_category_of_rows_held_out(tmp_path):
    split = Split.of_share(0.2, seed=3)
    table = {"x": [float(k % 10) for k in range(300)], "city": PLACES * 100, "y": ["no", "yes"] * 150}
    (held,) = split.held_out([np.array(table["y"])])
    table["x"] = [
        1e6 if out else None if k % 7 == 0 else x for k, (x, out) in enumerate(zip(table["x"], held, strict=True))
    ]
    table["city"] = ["Atlantis" if out else city for city, out in zip(table["city"], held, strict=True)]
    path = write(tmp_path / "a.csv", table)
    expected = data.open(write(tmp_path / "b.csv", kept(table, held)), **OPTIONS).preparation
    assert expected["columns"][0]["fill"] < 10
    assert expected["columns"][1]["categories"] == sorted(PLACES)
    for cache in (False, True, tmp_path / "rows.cache", tmp_path / "rows.cache"):
        stream = data.open(path, **OPTIONS, cache=cache)
        part = stream.part(split, held=False)
        assert part.preparation == expected
        rest = stream.part(split, held=True, scaled_as=part)
        assert rest.preparation == expected
        assert sum(map(len, rest)) == held.sum()
        assert rest.unseen == {"city": held.sum()}
        early = data.open(path, **OPTIONS, cache=cache)
        early.fit_scale(split)
        assert early.preparation == expected
        assert early.feature_names == ["x", *(f"city={place}" for place in sorted(PLACES))]
        assert stream.feature_names[1] == "city=Atlantis"


@pytest.mark.parametrize("how", ["holdout", "groups", "last", "folds", "early stopping"])
@pytest.mark.parametrize("form", ["csv", "frame"])
def test_other_features_of_rows_held_out_do_not_change_the_model(tmp_path, how, form):
    """Numbers, amounts, categories, words, codes and two ids; with early stopping the run sees the rows, too."""
    table = rows()
    y = np.array(table["y"])
    split = {
        "last": LastRows(230),
        "groups": GroupRows.of_share(0.3, (k // 7 for k in range(300)), seed=1),
        "folds": Split.of_folds(4, 2)[1],
    }.get(how, Split.of_share(0.2, 5))
    (held,) = (block.held_out for block in split.mark([data.Block(np.zeros((300, 1)), y)]))

    def found(table):
        path = write(tmp_path / "a.csv", table) if form == "csv" else pd.DataFrame(table)
        stream = data.open(path, **OPTIONS, cache=True)
        if how == "early stopping":
            stream.fit_scale(split)
            for _ in stream:
                pass
            return stream.preparation, stream.feature_names, sorted(stream.excluded)
        stream = stream.part(split, held=False)
        model = AveragedPerceptron(random_state=0, max_iter=3).fit_stream(stream)
        return *facts(model), sorted(stream.excluded)

    first = found(table)
    assert first[-1] == ["code", "id", "number"]
    assert any("note=" in name for name in first[-2])
    for seed in range(3):
        assert found(other_values(table, held, seed)) == first


def test_the_same_from_files_frames_records_caches_checkpoints_clusters_and_the_command(tmp_path):
    table = rows()
    path = write(tmp_path / "a.csv", table)
    frame = pd.DataFrame(table)
    options = {"random_state": 4, "max_iter": 6, "early_stopping": True, "validation_fraction": 0.1}
    model = AveragedPerceptron(**options, multi_class="direct")
    (held,) = model._options().validation_split(4).held_out([np.array(table["y"])])
    first = facts(model.fit_stream(data.open(path, **OPTIONS)))
    fills = {column["name"]: column["fill"] for column in first[2]["columns"] if "fill" in column}
    known = [x for x, out in zip(table["x"], held, strict=True) if x is not None and not out]
    assert fills["x"] == pytest.approx(np.mean(known), rel=1e-12)

    def again(rows, **more):
        model = AveragedPerceptron(**options, multi_class="direct")
        return facts(model.fit_stream(data.open(rows, **OPTIONS), **more))

    records = [{name: values[k] for name, values in table.items()} for k in range(300)]
    in_memory = again(frame), again(records)
    assert [found[:2] for found in in_memory] == [first[:2]] * 2
    assert [found[2]["columns"] for found in in_memory] == [first[2]["columns"]] * 2
    for _ in range(2):
        cached = data.open(path, **OPTIONS, cache=tmp_path / "rows.cache")
        assert facts(AveragedPerceptron(**options, multi_class="direct").fit_stream(cached)) == first
    stopped = {"on_pass": lambda model: model.n_iter_ == 2}
    again(path, checkpoint=tmp_path / "c", every=0, **stopped)
    assert again(path, checkpoint=tmp_path / "c", resume=True) == first
    model = ProcessAveragedPerceptron(**options, multi_class="direct").fit_files(path, **OPTIONS)
    assert facts(model) == first
    ran("train", path, "-t", "y", "--early-stopping", "--seed", "4", "-p", "6", "-o", tmp_path / "m")
    model = rosenblatt.load(tmp_path / "m")
    assert facts(model) == first


def test_a_stream_whose_rows_have_been_read_keeps_its_preparation(tmp_path):
    stream = data.open(write(tmp_path / "a.csv", rows()), **OPTIONS)
    assert not stream.is_fitted
    before = stream.preparation
    assert stream.is_fitted
    stream.fit_scale(Split.of_share(0.2, 1))
    assert stream.preparation == before
    again = stream.rescaled()
    again.fit_scale(Split.of_share(0.2, 1))
    assert again.preparation != before


def test_a_warm_start_goes_on_with_the_same_rows(tmp_path):
    path = write(tmp_path / "a.csv", rows())
    given = {"random_state": 4, "early_stopping": True, "warm_start": True, "n_iter_no_change": 2}
    model = AveragedPerceptron(max_iter=1, **given).fit_stream(data.open(path, **OPTIONS))
    model.fit_stream(data.open(path, **OPTIONS))
    assert model.n_iter_ == 2


def test_rows_held_out_that_could_not_be_read_otherwise_show_how_to_read_a_column(tmp_path):
    """The training rows hold numbers only; what is a date, and its order, the other rows tell."""
    split = LastRows(40)
    table = {
        "room": [str(k % 9) for k in range(40)] + [f"{k % 9}b" for k in range(10)],
        "when": ["05.06.2020"] * 40 + ["30.06.2020"] * 10,
        "x": list(range(0, 100, 2)),
        "y": ["no", "yes"] * 25,
    }
    options = OPTIONS | {"column_types": {"when": "date"}, "scale": "none"}
    stream = data.open(write(tmp_path / "a.csv", table), **options)
    part = stream.part(split, held=False)
    columns = {column["name"]: column for column in part.preparation["columns"]}
    assert columns["room"] == {"name": "room", "kind": "category", "categories": [str(k) for k in range(9)]}
    assert columns["when"]["order"] == "dmy"
    assert len(stream.part(split, held=True, scaled_as=part).read()[1]) == 10


def test_an_id_is_found_among_few_rows_of_a_table(tmp_path):
    table = {"n": list(range(22)), "x": [k * k % 7 for k in range(22)], "y": ["no", "yes"] * 11}
    stream = data.open(write(tmp_path / "a.csv", table), **OPTIONS).part(Split.of_share(0.2, 0), held=False)
    assert stream.feature_names == ["x"]
    assert stream.excluded == {"n": "counts the rows: 0, 1, 2, ..."}


def test_means_of_arrays(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    split = Split.of_share(0.2, 3)
    (held,) = split.held_out([y])
    X[::7] = np.nan
    X[held, 1] = 1e9
    np.savez(tmp_path / "a.npz", X=X, y=y)
    np.savez(tmp_path / "b.npz", X=X[~held], y=y[~held])
    expected = data.open(tmp_path / "b.npz", missing="mean", scale="standard").preparation
    for cache in (False, True, tmp_path / "rows.cache", tmp_path / "rows.cache"):
        stream = data.open(tmp_path / "a.npz", missing="mean", scale="standard", cache=cache)
        early = stream.rescaled()
        early.fit_scale(split)
        assert early.preparation == expected
        part = stream.part(split, held=False)
        assert part.preparation == expected
        assert len(part.read()[1]) == (~held).sum()
        assert stream.preparation["fill"][1] > 1e6
    given = data.open(tmp_path / "a.npz", preparation=expected).part(split, held=True)
    assert given.preparation == expected


def test_clusters_hold_out_without_a_scale(tmp_path):
    """Each seed holds out other rows, so one preparation is not enough for several."""
    table = rows()
    del table["pay"]
    write(tmp_path / "a.csv", {name: values[:120] for name, values in table.items()})
    write(tmp_path / "b.csv", {name: values[120:] for name, values in table.items()})
    options = OPTIONS | {"scale": "none"}
    given = {"random_state": 4, "max_iter": 3, "early_stopping": True}
    local = AveragedPerceptron(**given).fit_stream(data.open(tmp_path / "*.csv", **options))
    model = ProcessAveragedPerceptron(**given).fit_files(tmp_path / "*.csv", **options)
    assert facts(model) == facts(local)
    with pytest.raises(ValueError, match="with seeds, early stopping holds out different rows for each seed"):
        ProcessAveragedPerceptron(**given).fit_files(tmp_path / "*.csv", **options, seeds=[1, 2])
    with pytest.raises(ValueError, match="give an integer as random_state, got None"):
        ProcessAveragedPerceptron(early_stopping=True).fit_files(tmp_path / "*.csv", **options)
    preparation = local.preparation_
    model = ProcessAveragedPerceptron(**given).fit_files(tmp_path / "*.csv", preparation=preparation, seeds=[4, 5])
    assert len(model.models_) == 2
