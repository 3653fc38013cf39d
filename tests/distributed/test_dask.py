"""Perceptrons on Dask: arrays, data frames and files give what one machine gives, in threads and in processes."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from helpers.clusters import ProcessPerceptron, assert_same_bits, cut, dask_cluster, integer_rows, quietly
from rosenblatt import AveragedPerceptron, Perceptron, data

distributed = pytest.importorskip("distributed")
da, dd, pd = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe", "pandas"))
dask = pytest.importorskip("dask")

from rosenblatt.distributed import DaskAveragedPerceptron, DaskPerceptron, shards  # noqa: E402

SIZES = (20, 0, 33, 7)
"""Rows of the partitions: one is empty."""


@pytest.fixture(scope="module")
def client():
    with dask_cluster(2, processes=False) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def rows():
    X, y = integer_rows(sum(SIZES), 4, 3, noise=2)
    return X, y


def shards_of(X, y):
    """Return the rows in parts of the sizes above."""
    return cut(np.cumsum(SIZES)[:-1].tolist(), X, y)


def array_of(X, form=np.asarray):
    """Return a Dask array of such parts, in blocks of some form."""
    parts = [form(X[end - size : end]) for size, end in zip(SIZES, np.cumsum(SIZES), strict=True)]
    return da.concatenate([da.from_delayed(dask.delayed(part), part.shape, meta=parts[0][:0]) for part in parts])


def one_machine(X, y, learner=Perceptron, **given):
    """Return the model of one machine."""
    return quietly(learner(random_state=0, max_iter=4, **given).fit_stream, [s for s in shards_of(X, y) if len(s[1])])


def on_dask(X, y, *more, learner=DaskPerceptron, **given):
    """Return the model of the cluster."""
    return quietly(learner(random_state=0, max_iter=4, **given).fit, X, y, *more)


@pytest.mark.parametrize("shuffle", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["numpy", "csr"])
def test_arrays(client, rows, form, shuffle):
    X, y = rows
    model = on_dask(array_of(X, form=form), array_of(y), shuffle=shuffle)
    local = quietly(
        Perceptron(random_state=0, max_iter=4, shuffle=shuffle).fit_stream,
        [(form(part), labels) for part, labels in shards_of(X, y) if len(labels)],
    )
    assert_same_bits(model, local)


def test_averages_in_threads(client, rows):
    model = on_dask(array_of(rows[0]), array_of(rows[1]), learner=DaskAveragedPerceptron)
    assert_same_bits(model, one_machine(*rows, learner=AveragedPerceptron))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_processes_gives_the_bits_of_one_machine(workers, rows):
    X, y = rows
    with dask_cluster(workers, processes=True) as cluster, distributed.Client(cluster) as client:
        model = on_dask(array_of(X), array_of(y), client=client)
        mixed = on_dask(array_of(X), array_of(y), mode="mix", client=client)
        direct = on_dask(array_of(X), array_of(y), multi_class="direct", client=client)
        sparse = on_dask(array_of(X, form=sp.csr_array), array_of(y == 1), client=client)
    assert_same_bits(model, one_machine(X, y))
    assert_same_bits(direct, one_machine(X, y, multi_class="direct"))
    here = ProcessPerceptron(random_state=0, max_iter=4, mode="mix")
    assert_same_bits(mixed, quietly(here.fit_shards, shards_of(X, y)))
    parts = [(sp.csr_array(part), labels == 1) for part, labels in shards_of(X, y) if len(labels)]
    assert_same_bits(sparse, quietly(Perceptron(random_state=0, max_iter=4).fit_stream, parts))


def test_data_frames(client, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    table = dd.concat([dd.from_pandas(part, npartitions=1) for part in (frame[:20], frame[20:53], frame[53:])])
    model = on_dask(table[list("abcd")], table["label"])
    local = [(frame[part][list("abcd")], y[part]) for part in (slice(20), slice(20, 53), slice(53, None))]
    assert_same_bits(model, quietly(Perceptron(random_state=0, max_iter=4).fit_stream, local))
    assert model.feature_names_in_.tolist() == list("abcd")
    found = model.predict(table[list("abcd")])
    assert isinstance(found, dd.Series)
    assert np.array_equal(found.compute(), model.predict(frame[list("abcd")]))
    scores = model.decision_function(table[list("abcd")]).compute()
    assert np.array_equal(scores, model.decision_function(frame[list("abcd")]))
    assert model.score(table[list("abcd")], table["label"]) == model.score(frame[list("abcd")], y)


def test_partitions_that_a_filter_has_emptied(client, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, row=np.arange(len(y)))
    table = dd.from_pandas(frame, npartitions=3)
    table = table[table["row"] >= 30]
    model = on_dask(table[list("abcd")], table["label"])
    local = quietly(Perceptron(random_state=0, max_iter=4).fit_stream, [(frame[list("abcd")][30:], y[30:])])
    assert np.array_equal(model.coef_, local.coef_)
    assert len(model.predict(table[list("abcd")]).compute()) == len(y) - 30


def test_blocks_that_do_not_know_their_lengths(client, rows):
    X, y = rows
    whole, labels = da.from_array(X, chunks=(20, 4)), da.from_array(y, chunks=20)
    keep = labels < 2
    model = on_dask(whole[keep], labels[keep])
    local = quietly(Perceptron(random_state=0, max_iter=4).fit_stream, [(X[y < 2], y[y < 2])])
    assert np.array_equal(model.coef_, local.coef_)
    assert np.array_equal(model.predict(whole[keep]).compute(), model.predict(X[y < 2]))


def test_columns_that_are_cut_are_put_together(client, rows):
    X, y = rows
    cut_up, whole = da.from_array(X, chunks=(20, 2)), da.from_array(X, chunks=(20, 4))
    model = on_dask(cut_up, da.from_array(y, chunks=20))
    assert_same_bits(model, on_dask(whole, da.from_array(y, chunks=20)))
    assert np.array_equal(model.predict(cut_up).compute(), model.predict(X))


def test_labels_and_weights_as_arrays(client, rows):
    X, y = rows
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.5], len(y))
    given = on_dask(array_of(X), y, weight)
    assert_same_bits(given, on_dask(array_of(X), array_of(y), array_of(weight)))
    local = [shard for shard in cut(np.cumsum(SIZES)[:-1].tolist(), X, y, weight) if len(shard[1])]
    assert_same_bits(given, quietly(Perceptron(random_state=0, max_iter=4).fit_stream, local))
    score = given.score(array_of(X), array_of(y), array_of(weight))
    assert score == pytest.approx(given.score(X, y, weight), rel=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_answers_are_lazy_for_collections_and_the_same(client, rows, classes):
    X, y = rows
    y = np.minimum(y, classes - 1)
    table, words = array_of(X), np.array(["a", "b", "c"])[y]
    model = on_dask(table, array_of(words))
    for method in ("predict", "decision_function"):
        lazy = getattr(model, method)(table)
        eager = getattr(model, method)(X)
        assert isinstance(lazy, da.Array)
        assert isinstance(eager, np.ndarray)
        assert (lazy.dtype, lazy.shape) == (eager.dtype, eager.shape)
        assert np.array_equal(lazy.compute(), eager)
    assert model.score(table, array_of(words)) == pytest.approx(model.score(X, words))


def test_a_model_without_its_cluster(client, rows):
    X, y = rows
    model = on_dask(array_of(X), array_of(y), client=client)
    copied = pickle.loads(pickle.dumps(model))
    assert copied.client is None
    assert model.client is client
    assert_same_bits(copied, model)
    assert clone(model).client is client
    assert not hasattr(clone(model), "state_")
    local = model.to_local()
    assert type(local) is Perceptron
    assert_same_bits(local, one_machine(X, y))
    assert np.array_equal(local.predict(X), model.predict(X))
    assert local.get_params() == {name: model.get_params()[name] for name in local.get_params()}


def csv_files(folder, X, y):
    """Write the shards as tables with categories and missing values."""
    for number, (part, labels) in enumerate(shards_of(X, y)):
        lines = [
            f"{a},{'red' if b > 0 else 'blue'},{c or ''},{k}" for (a, b, c, _), k in zip(part, labels, strict=True)
        ]
        (folder / f"part-{number}.csv").write_text("\n".join(["a,colour,c,label", *lines]) + "\n")
    return folder / "part-*.csv", {"target": "label", "missing": "mean"}


def svmlight_files(folder, X, y):
    """Write the shards as lines of indices and values."""
    for number, (part, labels) in enumerate(shards_of(X, y)):
        pairs = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for row in part]
        lines = [f"{label} {row}" for label, row in zip(labels, pairs, strict=True)]
        (folder / f"part-{number}.svm").write_text("\n".join(lines) + "\n" if lines else "")
    return folder / "part-*.svm", {}


def parquet_files(folder, X, y):
    """Write the shards as Parquet."""
    for number, (part, labels) in enumerate(shards_of(X, y)):
        pd.DataFrame(part, columns=list("abcd")).assign(label=labels).to_parquet(folder / f"part-{number}.parquet")
    return folder / "part-*.parquet", {"target": "label"}


@pytest.mark.parametrize("write", [csv_files, svmlight_files, parquet_files])
def test_files(client, rows, write, tmp_path):
    path, options = write(tmp_path, *rows)
    model = quietly(DaskPerceptron(random_state=0, max_iter=4).fit_files, path, **options)
    local = quietly(Perceptron(random_state=0, max_iter=4).fit_stream, data.open(path, **options))
    assert_same_bits(model, local)
    assert model.preparation_ == local.preparation_


def test_a_model_of_a_table_takes_frames_with_its_columns(client, tmp_path):
    frame = pd.DataFrame({"city": ["Bern", "Rome"] * 30, "pay": np.arange(60) * 1e3, "y": ["no"] * 30 + ["yes"] * 30})
    frame.to_csv(tmp_path / "a.csv", index=False)
    options = {"target": "y", "scale": "standard"}
    model = quietly(DaskPerceptron(random_state=0, max_iter=4).fit_files, tmp_path / "a.csv", **options)
    table, local = dd.from_pandas(frame, npartitions=2), model.to_local()
    assert model.predict(table).compute().tolist() == local.predict(frame).tolist()
    assert np.array_equal(model.decision_function(table).compute(), local.decision_function(frame))
    assert model.score(table, table["y"]) == local.score(frame) == model.score(frame)


def test_labels_that_are_no_classes_of_a_model_of_a_table(client, tmp_path):
    frame = pd.DataFrame({"pay": np.arange(60) * 1e3, "y": ["no"] * 30 + ["yes"] * 30})
    model = quietly(AveragedPerceptron(random_state=0).fit_stream, data.open(frame, "y", scale="standard"))
    cluster = DaskAveragedPerceptron(random_state=0)
    vars(cluster).update({name: value for name, value in vars(model).items() if name.endswith("_")})
    table = dd.from_pandas(frame, npartitions=3)
    assert cluster.score(table, table["y"]) == model.score(frame)
    other = frame["y"].where(np.arange(60) % 4 > 0, "Yes")
    with pytest.warns(UserWarning, match=r"15 rows have a label that is not a class of the model.* got Yes"):
        found = cluster.score(table, dd.from_pandas(other, npartitions=3))
    with pytest.warns(UserWarning, match="15 rows have a label"):
        assert found == model.score(frame[["pay"]], other)
    wrong = dd.from_pandas(frame["y"].str.upper(), npartitions=3)
    with pytest.raises(ValueError, match="no label is a class of the model, expected the classes no and yes"):
        cluster.score(table, wrong)


def test_the_rows_of_all_files_make_categories_and_means(client, tmp_path):
    """They do not depend on how the rows are cut into files, and rows held out take no part in them."""
    lines = [f"r{k // 1000},{k % 7 if k % 5 else ''},{'ab'[k // 1000 % 2]}" for k in range(12_000)]
    options = {"target": "y", "missing": "mean", "scale": "standard"}
    given = {"random_state": 0, "max_iter": 2}
    prepared = []
    for early_stopping in (False, True):
        for files in (1, 2, 5):
            folder = tmp_path / f"{files}-{early_stopping}"
            folder.mkdir()
            for number, part in enumerate(np.array_split(lines, files)):
                (folder / f"part-{number}.csv").write_text("\n".join(["region,x,y", *part]) + "\n")
            path, options_of_run = folder / "part-*.csv", given | {"early_stopping": early_stopping}
            model = quietly(DaskPerceptron(**options_of_run).fit_files, path, **options)
            local = quietly(Perceptron(**options_of_run).fit_stream, data.open(path, **options))
            assert_same_bits(model, local)
            assert model.preparation_ == local.preparation_
            prepared.append(model.preparation_)
    assert prepared[0]["columns"][0]["categories"] == sorted(f"r{k}" for k in range(12))
    assert prepared[0] == prepared[1] == prepared[2]
    assert prepared[3] == prepared[4] == prepared[5] != prepared[0]


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_files_that_change_before_or_while_workers_load_them_are_refused(client, rows, tmp_path, monkeypatch, scale):
    for when, find in (("before", "file_shards_of"), ("while", "all_classes")):
        path, options = csv_files(tmp_path, *rows)
        real, model = getattr(shards, find), DaskPerceptron(random_state=0, max_iter=4)

        def change_first(*given, real=real):
            file = tmp_path / "part-2.csv"
            file.write_bytes(file.read_bytes() + b"1,red,4,1\n")
            return real(*given)

        with monkeypatch.context() as patch:
            patch.setattr(shards, find, change_first)
            if when == "before" and scale == "none":  # the files have not been read yet
                quietly(model.fit_files, path, **options)
                continue
            with pytest.raises(ValueError, match=r"part-2\.csv has changed since its rows were first read"):
                model.fit_files(path, scale=scale, **options)
        assert not hasattr(model, "state_")


@pytest.mark.parametrize("early_stopping", [True, False])
def test_a_scale_of_files_is_that_of_the_rows_that_are_trained_on(client, rows, tmp_path, early_stopping):
    path, options = parquet_files(tmp_path, *rows)
    given = {"random_state": 0, "max_iter": 4, "early_stopping": early_stopping, "validation_fraction": 0.3}
    model = quietly(DaskPerceptron(**given).fit_files, path, scale="standard", **options)
    local = quietly(Perceptron(**given).fit_stream, data.open(path, scale="standard", **options))
    assert_same_bits(model, local)
    assert model.preparation_ == local.preparation_
    unknown = DaskPerceptron(early_stopping=True)
    if early_stopping:
        with pytest.raises(ValueError, match="give an integer as random_state, got None"):
            unknown.fit_files(path, scale="standard", **options)


def test_columns_of_one_parquet_table_are_cut_alike(tmp_path, client):
    """Dask reads several small files as one partition, and more of them for one column than for two."""
    rng = np.random.default_rng(0)
    parts = []
    for k in range(6):
        X = rng.normal(size=(40, 2))
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": np.where(X[:, 0] > 0, "yes", "no")})
        frame.to_parquet(tmp_path / f"part-{k}.parquet")
        parts.append((frame[["a", "b"]], frame["label"]))
    table = dd.read_parquet(str(tmp_path / "part-*.parquet"))
    model = DaskPerceptron(random_state=0, max_iter=5).fit(table[["a", "b"]], table["label"])
    local = quietly(Perceptron(random_state=0, max_iter=5).fit_stream, parts)
    assert np.array_equal(model.coef_, local.coef_)
    assert model.score(table[["a", "b"]], table["label"]) == local.score(*map(pd.concat, zip(*parts, strict=True)))


@pytest.mark.filterwarnings("ignore")  # Dask itself uses what newer versions of pandas warn of
def test_words_predicted_for_a_frame_can_be_written_to_parquet(tmp_path, client):
    frame = pd.DataFrame({"a": [1.0, -1.0, 2.0, -2.0], "label": ["yes", "no", "yes", "no"]})
    table = dd.from_pandas(frame, npartitions=2)
    model = DaskPerceptron(random_state=0).fit(table[["a"]], table["label"])
    model.predict(table[["a"]]).to_frame("predicted").to_parquet(tmp_path / "out")
    assert pd.read_parquet(tmp_path / "out")["predicted"].tolist() == ["yes", "no", "yes", "no"]


def test_votes_answer_for_empty_partitions(client, rows):
    X, y = rows
    model = quietly(DaskPerceptron(hypothesis="vote", random_state=0, max_iter=2).fit, array_of(X), y)
    assert np.array_equal(model.decision_function(array_of(X)).compute(), model.to_local().decision_function(X))


def test_settings_of_dask_stay_as_they_were(client, rows):
    X, y = rows
    name = "distributed.admin.large-graph-warning-threshold"
    before = dask.config.get(name)
    quietly(DaskPerceptron(max_iter=2).fit, array_of(X), y, seeds=range(6))
    assert dask.config.get(name) == before
