"""What models, runs and rows say after they were stored: files of data, models, checkpoints, the command, clusters."""

from __future__ import annotations

import gzip
import json
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rosenblatt
from helpers.clusters import dask_cluster
from helpers.commands import command
from recorded.cases import LEARNERS, STREAMED, Cases, Digest, cut, laid_out, rows, separable
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    Combinations,
    ExactScaler,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RescaledPerceptron,
    SphereLift,
    data,
)

FILES = Path(__file__).parent / "files"
CASES = Cases()


def digest(out, model, X):
    """Add all that a learner of any kind says of itself."""
    return out.kernel(model, X) if isinstance(model, KernelPerceptron) else out.model(model, X)


# runs that die and go on


class Crash(Exception):
    """The end of a process, as far as a run is concerned."""


class Breaking(list):
    """Blocks that crash after so many of them have been read."""

    left = 10**9

    def __iter__(self):
        for block in super().__iter__():
            self.left -= 1
            if self.left < 0:
                raise Crash
            yield block


CHECKPOINTS = {
    f"{learner}-{name}": (learner, options)
    for learner in STREAMED
    for name, options in {
        "fixed": {"shuffle": False},
        "shuffled": {},
        "direct": {"multi_class": "direct", "shuffle": False},
        "stopping": {"early_stopping": True, "validation_fraction": 0.3, "shuffle": False, "n_iter_no_change": 2},
    }.items()
}


MORE_CHECKPOINTS = {
    "margin": lambda: MarginPerceptron(margin=2.0, max_iter=6, random_state=2),
    "pa": lambda: PassiveAggressive(hypothesis="last", max_iter=5, shuffle=False, random_state=2),
    "pa-average": lambda: PassiveAggressive(loss="squared_hinge", hypothesis="average", max_iter=5, random_state=2),
    "arow": lambda: AROW(r=1.0, max_iter=5, random_state=2),
    "decay": lambda: AveragedPerceptron(decay=0.01, max_iter=5, shuffle="once", random_state=2),
    "kernel": lambda: KernelPerceptron(degree=2, gamma=0.5, max_iter=5, random_state=2),
    "kernel-direct": lambda: KernelPerceptron("rbf", gamma=0.5, multi_class="direct", max_iter=5, random_state=2),
    "kernel-limited": lambda: KernelPerceptron(gamma=0.5, max_support=12, max_iter=5, shuffle=False, random_state=2),
}
"""Those of which no file is kept."""


def _checkpoint_model(name):
    if name in MORE_CHECKPOINTS:
        return MORE_CHECKPOINTS[name]()
    learner, options = CHECKPOINTS[name]
    return LEARNERS[learner](random_state=2, **options)


def _checkpoint_blocks(left=10**9):
    X, y = rows("decimals", n=90, classes=3, seed=12)
    blocks = Breaking(cut(X, y, (20,)))
    blocks.left = left
    return blocks, X


def write_checkpoint(name, path):
    """Leave the checkpoint of a run that died in its third pass."""
    blocks, _ = _checkpoint_blocks(1 + 2 * 5 + 3)
    try:
        _checkpoint_model(name).fit_stream(blocks, classes=[0, 1, 2], checkpoint=path, every=0)
    except Crash:
        return
    raise AssertionError("the run was to die")


def _checkpoint_cases():
    for name in (*CHECKPOINTS, *MORE_CHECKPOINTS):

        def checkpoint(name=name):
            out = Digest()
            with tempfile.TemporaryDirectory() as folder:
                write_checkpoint(name, Path(folder, "c"))
                blocks, X = _checkpoint_blocks()
                model = _checkpoint_model(name)
                model.fit_stream(blocks, classes=[0, 1, 2], checkpoint=Path(folder, "c"), resume=True)
                digest(out, model, X)
                return digest(out, _checkpoint_model(name).fit_stream(blocks, classes=[0, 1, 2]), X)

        CASES[f"checkpoint/{name}"] = checkpoint

    for name in CHECKPOINTS:

        def old(name=name):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "c").write_bytes((FILES / f"{name}.checkpoint").read_bytes())
                blocks, X = _checkpoint_blocks()
                model = _checkpoint_model(name)
                model.fit_stream(blocks, classes=[0, 1, 2], checkpoint=Path(folder, "c"), resume=True)
            return Digest().model(model, X)

        CASES[f"old checkpoint/{name}"] = old


_checkpoint_cases()

# models in files


def saved_model(name):
    """Return a model to save, and rows to ask it about."""
    learner, layout, classes, multi = SAVED[name]
    X, y = rows("decimals", classes=classes, seed=13)
    X = laid_out(X, layout)
    if learner == "rescaled":
        X, y = separable(seed=14, classes=classes)
        return RescaledPerceptron(random_state=0).fit(X, y), X
    labels = y if layout != "csr" else np.array(["no", "yes", "perhaps"])[y]
    model = LEARNERS[learner](
        multi_class=multi, random_state=4, class_weight=None if layout == "c" else {labels[0]: 2.0}
    )
    if learner == "vote" and layout == "c":
        model.set_params(early_stopping=True, validation_fraction=0.3)
        return model.fit_stream(cut(X, labels, (60,))), X
    return model.fit(X, labels), X


SAVED = {
    f"{learner}-{layout}-{classes}-{multi}": (learner, layout, classes, multi)
    for learner, layout, classes, multi in [
        ("last", "c", 2, "ovr"),
        ("average", "csr", 3, "ovr"),
        ("average", "c", 3, "direct"),
        ("pocket", "c", 3, "ovr"),
        ("vote", "c", 2, "ovr"),
        ("vote", "csr", 3, "direct"),
        ("vote", "csr", 3, "ovr"),
        ("rescaled", "c", 2, "ovr"),
        ("rescaled", "c", 3, "ovr"),
    ]
}
MORE_SAVED = {
    "margin": lambda: MarginPerceptron(margin=2.0, max_iter=6, random_state=2),
    "pa": lambda: PassiveAggressive(hypothesis="average", max_iter=4, random_state=2),
    "arow": lambda: AROW(r=1.0, max_iter=4, random_state=2),
    "decay": lambda: AveragedPerceptron(decay=0.01, max_iter=4, random_state=2),
    "kernel-poly": lambda: KernelPerceptron(degree=2, gamma=0.5, max_iter=4, random_state=2),
    "kernel-rbf": lambda: KernelPerceptron("rbf", gamma=0.5, hypothesis="vote", max_iter=4, random_state=2),
    "kernel-limited": lambda: KernelPerceptron("linear", max_support=12, hypothesis="last", max_iter=4, random_state=2),
}
"""Those of which no file is kept."""


def saved_and_loaded(model):
    """Return what was saved and loaded again."""
    with tempfile.TemporaryDirectory() as folder:
        rosenblatt.save(model, Path(folder, "m"))
        return rosenblatt.load(Path(folder, "m"))


def trained_on(model, X):
    """Return a digest of a model, and of the same model after it has learned more."""
    if isinstance(model, RescaledPerceptron):
        return Digest().add(model.coef_, model.predict(X), model.n_updates_, model.converged_)
    out = digest(Digest(), model, X)
    if getattr(model, "hypothesis", "") != "pocket":
        model.partial_fit(X, model.classes_[np.arange(X.shape[0]) % len(model.classes_)])
        digest(out, model, X)
    return out


def _saved_cases():
    for name in SAVED:

        def saved(name=name):
            model, X = saved_model(name)
            again = saved_and_loaded(model)
            if isinstance(model, RescaledPerceptron):  # its weights are those of one machine
                assert np.array_equal(again.coef_, model.coef_)
                assert np.array_equal(again.intercept_, model.intercept_)
                return Digest().add(again.predict(X), again.n_updates_, again.converged_)
            return trained_on(again, X)

        CASES[f"saved/{name}"] = saved

        def loaded(name=name):
            return trained_on(rosenblatt.load(FILES / f"{name}.model"), saved_model(name)[1])

        CASES[f"loaded/{name}"] = loaded

    for name in MORE_SAVED:

        def saved(name=name):
            out = Digest()
            for layout in ("c", "csr"):
                X, y = rows("decimals", n=40, classes=3, seed=51)
                X, words = laid_out(X, layout), np.array(["no", "yes", "perhaps"])[y]
                model = saved_and_loaded(MORE_SAVED[name]().fit(X, words))
                digest(out, model, X)
                digest(out, model.partial_fit(X, words), X)
            return out

        CASES[f"saved/{name}"] = saved


_saved_cases()


@CASES.add("saved pipelines")
def _pipelines():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = rows("decimals", n=40, d=4, classes=3, seed=52)
    out = Digest()
    for steps in ([ExactScaler()], [StandardScaler(), SphereLift()], [Combinations(2)]):
        model = saved_and_loaded(make_pipeline(*steps, AveragedPerceptron(max_iter=4, random_state=0)).fit(X, y))
        out.add(model.predict(X)).vector(model.decision_function(X))
    return out


# rows in files


def write_rows(folder):
    """Write the same rows in every format, and return how each file is opened."""
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    X, y = rows("decimals", n=90, classes=3, seed=15)
    words = np.array(["no", "yes", "perhaps"])[y]
    colours = [("red", "blue", "green")[i % 3] for i in range(len(y))]
    texts = [f"word{i % 7} of {colours[i]} things {'and' * (i % 2)} number{i}" for i in range(len(y))]
    numbers = {f"x{j}": X[:, j] for j in range(6)}
    lines = [
        " ".join([str(label), *(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)])
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    (folder / "a.svm").write_text("\n".join(lines) + "\n")
    (folder / "a.svm.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    lines[7:7], lines[40:40] = ["1 1:x"], ["# a comment", "2 3:1 2:"]
    (folder / "bad.svm").write_text("\n".join(lines) + "\n")
    lines = [
        f"{label + 1} {1 + i % 2} | " + " ".join(f"f{j}:{v!r}" for j, v in enumerate(row)) + f" |n {colours[i]}"
        for i, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True))
    ]
    (folder / "a.vw").write_text("\n".join(lines) + "\n")
    lines = [
        ",".join([*map(repr, row), colours[i], texts[i], str(i % 3), words[i]]) for i, row in enumerate(X.tolist())
    ]
    (folder / "a.csv").write_text("a,b,c,d,e,f,colour,text,weight,label\n" + "\n".join(lines) + "\n")
    lines = ["\t".join(["" if v == 0.3 else repr(v) for v in row] + [words[i]]) for i, row in enumerate(X.tolist())]
    (folder / "a.tsv").write_text("a\tb\tc\td\te\tf\tlabel\n" + "\n".join(lines) + "\n")
    lines = [
        json.dumps(dict(zip("abcdef", row, strict=True)) | {"colour": colours[i], "label": words[i]})
        for i, row in enumerate(X.tolist())
    ]
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    table = pa.table({"label": words, "colour": colours} | numbers)
    pq.write_table(table, folder / "a.parquet", row_group_size=40)
    feather.write_feather(table, folder / "a.feather")
    np.savez(folder / "a.npz", X=X, y=y)
    sp.save_npz(folder / "sparse.npz", sp.csr_array(X))
    with np.load(folder / "sparse.npz") as parts:
        np.savez(folder / "sparse.npz", **parts, y=y)
    return {
        "a.svm": {},
        "a.svm.gz": {"zero_based": False},
        "bad.svm": {"on_error": "skip"},
        "a.vw": {"bits": 8},
        "a.csv": {"target": "label", "weight": "weight", "bits": 6, "ngrams": 2},
        "a.tsv": {"target": "label", "missing": "mean"},
        "a.jsonl": {"target": "label", "categories": "hash", "bits": 5},
        "a.parquet": {"target": "label"},
        "a.feather": {"target": "label", "drop": ["x0"]},
        "a.npz": {},
        "sparse.npz": {},
    }


FORMATS = ("a.svm", "a.svm.gz", "bad.svm", "a.vw", "a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.feather", "a.npz",
           "sparse.npz")  # fmt: skip


def _file_cases():
    for name in FORMATS:

        def run(name=name):
            out = Digest()
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                options = write_rows(folder)[name]
                stream = data.open(folder / name, block_rows=25, **options)
                X, y = stream.read()
                out.matrix(X).add(y, stream.n_features, stream.feature_names, stream.skipped.rows, stream.filled)
                out.add([len(block) for block in stream])
                again = data.open(folder / name, preparation=json.loads(json.dumps(stream.preparation)))
                out.matrix(again.read()[0]) if name != "bad.svm" else None
                for learner in STREAMED:
                    out.model(LEARNERS[learner](random_state=0).fit_stream(stream), X)
                stopping = {"early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 2}
                for scale in ("standard", "maxabs"):
                    if name == "a.vw":
                        continue
                    scaled = data.open(folder / name, scale=scale, cache=True, threads=0, **options)
                    model = AveragedPerceptron(max_iter=4, random_state=0, **stopping).fit_stream(scaled)
                    out.model(model, X).matrix(scaled.read()[0])
                cached = data.open(folder / name, cache=folder / "rows", **options)
                for _ in range(2):
                    out.model(Perceptron(max_iter=3, random_state=0).fit_stream(cached), X)
                later = data.open(folder / name, cache=folder / "rows", **options)
                return out.model(Perceptron(max_iter=3, random_state=0).fit_stream(later), X)

        CASES[f"files/{name}"] = run


_file_cases()


@CASES.add("several windows of files")
def _windows():
    rng = np.random.RandomState(1)
    X = rng.randint(-3, 4, (70_000, 3)).astype(float)
    y = (X @ [1, 2, -1] + rng.randint(-2, 3, len(X)) > 0).astype(int)
    out = Digest()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.npz")
        np.savez(file, X=X, y=y)
        for shuffle, scale in ((True, None), ("once", "standard"), (False, "maxabs")):
            stream = data.open(file, scale=scale, block_rows=30_000)
            options = {"max_iter": 2, "shuffle": shuffle, "random_state": 1}
            out.model(AveragedPerceptron(**options).fit_stream(stream), X[:100])
            out.model(AveragedPerceptron(**options, early_stopping=True).fit_stream(stream), X[:100])
    return out


@CASES.add("interrupted files")
def _interrupted():
    out = Digest()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, options in write_rows(folder).items():
            whole = AveragedPerceptron(max_iter=4, random_state=3).fit_stream(data.open(folder / name, **options))

            def die(model):
                if model.n_iter_ == 2:
                    raise Crash

            with suppress(Crash):
                AveragedPerceptron(max_iter=4, random_state=3).fit_stream(
                    data.open(folder / name, **options), on_pass=die, checkpoint=folder / "run", every=0
                )
            model = AveragedPerceptron(max_iter=4, random_state=3)
            model.fit_stream(data.open(folder / name, **options), checkpoint=folder / "run", resume=True)
            assert np.array_equal(model.coef_, whole.coef_), name
            out.model(model)
    return out


@CASES.add("command")
def _command():
    out = Digest()
    X, y = rows("decimals", n=90, classes=3, seed=16)
    lines = [
        " ".join([str(label), *(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)])
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.svm").write_text("\n".join(lines) + "\n")
        for learner in ("averaged", "perceptron", "voted", "arow", "pa", "margin", "kernel"):
            model = folder / learner
            words = ["train", folder / "a.svm", "--learner", learner, "--passes", 3, "-o", model, "--seed", 3]
            done = command(*words, "--multi-class", "ovr", "--holdout", "20%", "--json")
            assert done.exit_code == 0, done.output
            out.add(json.loads(done.stdout)["holdout"]["accuracy"])
            digest(out, rosenblatt.load(model), X)
            out.add(command("predict", model, folder / "a.svm").stdout)
            done = command("test", model, folder / "a.svm", "--json")
            out.add(json.loads(done.stdout)["accuracy"])
        done = command("separate", folder / "a.svm", "-o", folder / "proof")
        out.add(done.exit_code, command("check", folder / "proof", folder / "a.svm").exit_code)
    return out


# rows on a cluster


@CASES.add("clusters")
def _clusters():
    import distributed
    from rosenblatt.distributed import DaskAveragedPerceptron, DaskPerceptron

    out = Digest()
    X, y = rows("decimals", n=60, classes=3, seed=53)
    shards = cut(X, y, (23, 7, 14))
    sparse = cut(sp.csr_array(X), y, (23, 7, 14))
    with dask_cluster(2, processes=False) as cluster, distributed.Client(cluster) as client:
        for multi, shuffle in (("ovr", True), ("direct", False)):
            options = {"multi_class": multi, "shuffle": shuffle, "random_state": 3, "max_iter": 3, "client": client}
            for make in (DaskPerceptron, DaskAveragedPerceptron):
                out.model(make(**options).fit_shards(shards).to_local(), X)
                out.model(make(**options, mode="mix", n_shards=3).fit_shards(sparse).to_local(), X)
        stopping = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2, "random_state": 3}
        model = DaskAveragedPerceptron(**stopping, max_iter=3, client=client)
        out.model(model.fit_shards(shards).to_local(), X)
        with tempfile.TemporaryDirectory() as folder:
            options = write_rows(Path(folder))["a.parquet"]
            model = DaskPerceptron(max_iter=2, random_state=3, client=client)
            out.model(model.fit_files(Path(folder, "a.parquet"), scale="standard", **options).to_local())
        several = DaskAveragedPerceptron(max_iter=2, client=client).fit_shards(shards, seeds=[1, 2])
        for model in several.models_:
            out.model(model, X)
    return out
