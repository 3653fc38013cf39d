"""Results over a wide grid, recorded so that a change of structure can be told from a change of bits.

``python tests/recorded/record.py`` writes ``results.json``, and with ``--files`` the model files and checkpoints that
later versions have to read. ``test_recorded.py`` makes every case again and compares. Only public names are used.

A case is a function that returns what must stay the same to the last bit, and numbers that may differ by rounding (sums
in which only the sign is promised, such as margins).
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rosenblatt
from rosenblatt import AveragedPerceptron, Perceptron, RescaledPerceptron, VotedPerceptron, data

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
FILES = HERE / "files"
CASES = {}

KINDS = ("integers", "decimals", "gauss", "huge", "tiny", "mixed")
LAYOUTS = ("c", "fortran", "float32", "csr", "csc", "csr64", "unsorted")


def rows(kind, n=60, d=6, classes=2, seed=0):
    """Return rows and labels of a kind that is hard to decide in floating point; the same on every machine."""
    rng = np.random.RandomState(seed)
    if kind == "integers":
        X = rng.randint(-2, 3, (n, d)).astype(float)
    elif kind == "decimals":
        X = rng.choice([-0.1, 0.0, 0.1, 0.3], (n, d))
    elif kind == "gauss":
        X = rng.standard_normal((n, d))
    elif kind == "huge":
        X = rng.choice([-1e200, 0.0, 1e200, 3e199], (n, d))
    elif kind == "tiny":
        X = rng.choice([-1e-200, 0.0, 1e-200, 3e-201, 5e-324], (n, d))
    else:
        X = rng.choice([-1e300, 1e-300, 0.1, -0.1, 0.0, 1e16, 1.0], (n, d))
    y = rng.randint(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def separable(n=80, d=5, seed=0, classes=2):
    """Return rows that a perceptron separates, with whole numbers."""
    rng = np.random.RandomState(seed)
    X = rng.randint(-5, 6, (n, d)).astype(float)
    scores = X @ rng.randint(-3, 4, (d, classes)) + rng.randint(-2, 3, classes)
    best = np.sort(scores, axis=1)
    clear = best[:, -1] > best[:, -2]
    return X[clear], scores.argmax(axis=1)[clear]


def laid_out(X, layout):
    if layout == "fortran":
        return np.asfortranarray(X)
    if layout == "float32":
        return np.clip(X, -1e30, 1e30).astype(np.float32)
    if layout.startswith("cs"):
        S = sp.csc_array(X) if layout == "csc" else sp.csr_array(X)
        if layout == "csr64":
            S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
        return S
    if layout == "unsorted":
        S = sp.csr_array(X)
        for i in range(X.shape[0]):
            part = slice(S.indptr[i], S.indptr[i + 1])
            S.indices[part], S.data[part] = S.indices[part][::-1].copy(), S.data[part][::-1].copy()
        S.has_sorted_indices = S.has_canonical_format = False
        return S
    return X


def case(name):
    def add(function):
        assert name not in CASES, name
        CASES[name] = function
        return function

    return add


class Digest:
    """A digest of arrays, numbers and words, by their bits."""

    def __init__(self):
        self.sha = hashlib.sha256()
        self.near = []

    def add(self, *values):
        for value in values:
            if isinstance(value, np.ndarray):
                kind = value.dtype.str if value.dtype.names is None else str(value.dtype.names)
                self.sha.update(f"{kind}{value.shape}".encode())
                self.sha.update(repr(value.tolist()).encode() if value.dtype.hasobject else value.tobytes())
            elif isinstance(value, dict):
                self.add(json.dumps(value, sort_keys=True, default=str))
            elif isinstance(value, list | tuple):
                self.add(len(value), *value)
            else:
                self.sha.update(repr(value).encode())
        return self

    def floats(self, *values):
        self.near += [float(value) for value in values]
        return self

    def model(self, model, X=None):
        """Add all that a fitted learner says of itself."""
        hypothesis = getattr(model, "hypothesis", None)
        if hypothesis != "vote":
            self.add(model.coef_, model.intercept_)
        self.add(model.last_coef_, model.last_intercept_, model.average_coef_, model.average_intercept_)
        self.add(
            model.classes_, model.n_iter_, model.n_updates_, model.converged_, model.history_, model.n_features_in_
        )
        report = model.report_
        self.add(report.passes, report.updates, report.mistakes_by_pass, report.converged)
        self.floats(report.radius, report.margin_low, report.margin_high, report.bound)
        if X is not None:
            self.add(model.predict(X), model.on_boundary(X))
            scores = model.decision_function(X)
            if hypothesis == "vote":
                self.add(scores)
            else:
                self.add(np.sign(scores))
        return self

    def file(self, path):
        """Add what a model file or a checkpoint says, but for the version that wrote it."""
        text = Path(path).read_bytes()
        size = int.from_bytes(text[:8], "little")
        head = json.loads(text[8 : 8 + size])
        meta = head.pop("__metadata__")
        header = json.loads(meta["header"])
        header.pop("library", None)
        for part in (header, header.get("state"), header.get("report")):  # margins may differ by rounding
            for name in ("radius", "margin_low", "margin_high", "bound", "by_class", "report"):
                if isinstance(part, dict):
                    part.pop(name, None)
        self.add(header)
        for name in sorted(head):
            if not name.endswith(("tally.lowest", "tally.lowest_step", "tally.radius2", "tally.reach2")) and (
                not name.startswith("under.lowest")
            ):
                start, stop = head[name]["data_offsets"]
                self.add(name, head[name]["shape"], head[name]["dtype"], text[8 + size + start : 8 + size + stop])
        return self

    def result(self):
        return {"sha": self.sha.hexdigest()[:20]} | ({"near": self.near} if self.near else {})


LEARNERS = {
    "last": lambda **p: Perceptron(**({"max_iter": 8} | p)),
    "average": lambda **p: AveragedPerceptron(**({"max_iter": 5} | p)),
    "pocket": lambda **p: Perceptron("pocket", **({"max_iter": 5} | p)),
    "vote": lambda **p: VotedPerceptron(**({"max_iter": 4} | p)),
}
STREAMED = ("last", "average", "vote")


def _fit_cases():
    grid = itertools.product(LEARNERS, (2, 3, 5), ("ovr", "direct"), LAYOUTS)
    settings = itertools.cycle(itertools.product((True, False, "once"), (True, False), KINDS))
    weights = itertools.cycle(("none", "sample", "class", "both", "none", "zeros"))
    for (learner, classes, multi, layout), (shuffle, bias, kind), weight in zip(grid, settings, weights, strict=False):
        if classes == 2 and multi == "direct":
            continue

        def run(learner=learner, classes=classes, multi=multi, layout=layout, shuffle=shuffle, bias=bias, kind=kind,
                weight=weight):  # fmt: skip
            X, y = rows(kind, classes=classes, seed=classes)
            X = laid_out(X, layout)
            rng = np.random.RandomState(1)
            sample = {"sample": rng.choice([0.5, 1.0, 0.1, 3.0], len(y)), "both": rng.rand(len(y))}.get(weight)
            if weight == "zeros":
                sample = rng.randint(0, 3, len(y)).astype(float)
            by_class = {0: 0.5, 1: 2.0} if weight in ("class", "both") else None
            model = LEARNERS[learner](
                shuffle=shuffle, fit_intercept=bias, multi_class=multi, class_weight=by_class, random_state=7
            )
            return Digest().model(model.fit(X, y, sample), X)

        CASES[f"fit/{learner}/{classes}/{multi}/{layout}/{kind}/{shuffle}/{bias}/{weight}"] = run


_fit_cases()


def _separable_cases():
    for learner, classes, multi, shuffle in itertools.product(LEARNERS, (2, 4), ("ovr", "direct"), (True, False)):

        def run(learner=learner, classes=classes, multi=multi, shuffle=shuffle):
            X, y = separable(classes=classes, seed=3)
            words = np.array(["d", "a", "c", "b"])[y]
            model = LEARNERS[learner](max_iter=400, shuffle=shuffle, multi_class=multi, random_state=3)
            out = Digest().model(model.fit(X, words), X)
            limited = LEARNERS[learner](max_iter=400, shuffle=shuffle, multi_class=multi, random_state=3, max_updates=7)
            out.model(limited.fit(sp.csr_array(X), words), X)
            threads = LEARNERS[learner](max_iter=400, shuffle=shuffle, multi_class=multi, random_state=3, n_jobs=2)
            return out.model(threads.fit(X, words), X)

        CASES[f"separable/{learner}/{classes}/{multi}/{shuffle}"] = run


_separable_cases()


def cut(X, y, sizes, weights=None):
    """Return the rows in blocks of these sizes, over and over."""
    start, out = 0, []
    for size in itertools.cycle(sizes):
        if start >= len(y):
            return out
        part = slice(start, start + size)
        out.append((X[part], y[part]) if weights is None else (X[part], y[part], weights[part]))
        start += size


def _stream_cases():
    for learner, classes, multi, shuffle in itertools.product(
        STREAMED, (2, 3), ("ovr", "direct"), (True, False, "once")
    ):
        if classes == 2 and multi == "direct":
            continue

        def run(learner=learner, classes=classes, multi=multi, shuffle=shuffle):
            out = Digest()
            for kind in ("decimals", "integers"):
                X, y = rows(kind, classes=classes, seed=5)
                options = {"shuffle": shuffle, "multi_class": multi, "random_state": 11}
                out.model(LEARNERS[learner](**options).fit_stream(cut(X, y, (7, 13))), X)
                weights = np.random.RandomState(2).rand(len(y))
                S = sp.csr_array(X)
                out.model(LEARNERS[learner](**options).fit_stream(cut(S, y, (11,), weights)), X)
                stopping = LEARNERS[learner](
                    early_stopping=True, validation_fraction=0.3, n_iter_no_change=2, **options
                )
                out.model(stopping.fit_stream(cut(X, y, (19,))), X)
                growing = [(S[i : i + 5, : 2 + i // 15], y[i : i + 5]) for i in range(0, len(y), 5)]
                out.model(LEARNERS[learner](**options).fit_stream(growing), S[:, :5])
            return out

        CASES[f"stream/{learner}/{classes}/{multi}/{shuffle}"] = run

    for learner, classes in itertools.product(STREAMED, (2, 3)):

        def chunks(learner=learner, classes=classes):
            out = Digest()
            X, y = rows("decimals", classes=classes, seed=6)
            for multi, given in itertools.product(("ovr", "direct"), (None, np.arange(classes))):
                model = LEARNERS[learner](multi_class=multi, random_state=0)
                for block in cut(X, y, (1, 2, 9)):
                    model.partial_fit(*block, classes=given)
                out.model(model, X)
            return out

        CASES[f"partial_fit/{learner}/{classes}"] = chunks

        def warm(learner=learner, classes=classes):
            X, y = rows("integers", classes=classes, seed=8)
            model = LEARNERS[learner](max_iter=2, warm_start=True, random_state=5)
            out = Digest()
            for _ in range(3):
                out.model(model.fit(X, y), X)
            out.model(model.fit_stream(cut(X, y, (17,))), X)
            return out.model(model.partial_fit(X, y), X)

        CASES[f"warm_start/{learner}/{classes}"] = warm


_stream_cases()


@case("generator")
def _generator():
    out = Digest()
    for shuffle, learner in itertools.product((True, False), STREAMED):
        X, y = rows("decimals", classes=2, seed=9)
        model = LEARNERS[learner](max_iter=1, shuffle=shuffle, random_state=3)
        model.fit_stream(iter(cut(X, y, (8,))))
        out.add(model.last_coef_, model.average_coef_, model.n_updates_, model.n_iter_, model.predict(X))
    return out


@case("late classes")
def _late_classes():
    out = Digest()
    for learner, multi in itertools.product(STREAMED, ("ovr", "direct")):
        X, y = rows("decimals", n=120, classes=5, seed=10)
        y = np.minimum(y, np.arange(len(y)) // 24)
        model = LEARNERS[learner](multi_class=multi, random_state=0)
        for block in cut(X, y, (10,)):
            model.partial_fit(*block)
        out.model(model, X)
        out.model(LEARNERS[learner](multi_class=multi, random_state=0).fit_stream(cut(X, y, (10,))), X)
    return out


@case("several windows")
def _windows():
    rng = np.random.RandomState(0)
    X = rng.randint(-3, 4, (150_000, 3)).astype(float)
    y = (X @ [1, 2, -1] + rng.randint(-2, 3, len(X)) > 0).astype(int)
    out = Digest()
    for shuffle in (True, "once", False):
        options = {"max_iter": 2, "shuffle": shuffle, "random_state": 1}
        out.model(AveragedPerceptron(**options).fit_stream(cut(X, y, (40_000,))), X[:100])
        out.model(AveragedPerceptron(**options).fit(X, y), X[:100])
    return out


@case("visiting order")
def _order():
    return Digest().add(
        *(rosenblatt.visiting_order(n, seed, p) for n in (0, 1, 7, 1000) for seed in (0, 2**70) for p in (0, 3))
    )


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


def _checkpoint_model(name):
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


def _file_cases():
    for name in CHECKPOINTS:

        def checkpoint(name=name):
            out = Digest()
            with tempfile.TemporaryDirectory() as folder:
                write_checkpoint(name, Path(folder, "c"))
                blocks, X = _checkpoint_blocks()
                model = _checkpoint_model(name)
                model.fit_stream(blocks, classes=[0, 1, 2], checkpoint=Path(folder, "c"), resume=True)
                out.model(model, X)
                return out.model(_checkpoint_model(name).fit_stream(blocks, classes=[0, 1, 2]), X)

        CASES[f"checkpoint/{name}"] = checkpoint

        def old(name=name):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "c").write_bytes((FILES / f"{name}.checkpoint").read_bytes())
                blocks, X = _checkpoint_blocks()
                model = _checkpoint_model(name)
                model.fit_stream(blocks, classes=[0, 1, 2], checkpoint=Path(folder, "c"), resume=True)
            return Digest().model(model, X)

        CASES[f"old checkpoint/{name}"] = old

    for name in SAVED:

        def saved(name=name):
            model, _ = saved_model(name)
            with tempfile.TemporaryDirectory() as folder:
                rosenblatt.save(model, Path(folder, "m"))
                return Digest().file(Path(folder, "m"))

        CASES[f"saved/{name}"] = saved

        def loaded(name=name):
            _, X = saved_model(name)
            model = rosenblatt.load(FILES / f"{name}.model")
            if isinstance(model, RescaledPerceptron):
                return Digest().add(model.coef_, model.predict(X), model.n_updates_, model.converged_)
            out = Digest().model(model, X)
            if getattr(model, "hypothesis", "") != "pocket":
                model.partial_fit(X, model.classes_[np.arange(X.shape[0]) % len(model.classes_)])
                out.model(model, X)
            return out

        CASES[f"loaded/{name}"] = loaded


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
_file_cases()


@case("files")
def _files():
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = rows("decimals", n=90, classes=3, seed=15)
    words = np.array(["no", "yes", "perhaps"])[y]
    out = Digest()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            " ".join([str(label), *(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)])
            for row, label in zip(X.tolist(), y.tolist(), strict=True)
        ]
        (folder / "a.svm").write_text("\n".join(lines) + "\n")
        lines = [
            f"{label + 1} | " + " ".join(f"f{j}:{v!r}" for j, v in enumerate(row))
            for row, label in zip(X.tolist(), y.tolist(), strict=True)
        ]
        (folder / "a.vw").write_text("\n".join(lines) + "\n")
        lines = [
            ",".join([*map(repr, row), ("red", "blue")[int(row[0] > 0)], word])
            for row, word in zip(X.tolist(), words.tolist(), strict=True)
        ]
        (folder / "a.csv").write_text("a,b,c,d,e,f,colour,label\n" + "\n".join(lines) + "\n")
        pq.write_table(pa.table({"label": words} | {f"x{j}": X[:, j] for j in range(6)}), folder / "a.parquet")
        np.savez(folder / "a.npz", X=X, y=y)
        for file, options in {
            "a.svm": {},
            "a.vw": {"bits": 8},
            "a.csv": {"target": "label"},
            "a.parquet": {"target": "label"},
            "a.npz": {},
        }.items():
            stream = data.open(folder / file, block_rows=25, **options)
            M, labels = stream.read()
            out.add(
                M.toarray() if sp.issparse(M) else M,
                labels,
                stream.n_features,
                stream.feature_names,
                stream.preparation,
            )
            for learner in STREAMED:
                model = LEARNERS[learner](random_state=0).fit_stream(stream)
                out.model(model, M)
    return out


@case("command")
def _command():
    from typer.testing import CliRunner

    from rosenblatt.cli.main import app

    out = Digest()
    X, y = rows("decimals", n=90, classes=3, seed=16)
    lines = [
        " ".join([str(label), *(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)])
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.svm").write_text("\n".join(lines) + "\n")
        for learner in ("averaged", "perceptron", "voted"):
            words = [
                "train",
                folder / "a.svm",
                "--learner",
                learner,
                "--passes",
                3,
                "--multi-class",
                "ovr",  # what the command did for all learners when this was recorded
                "-o",
                folder / learner,
                "--seed",
                3,
            ]
            done = CliRunner().invoke(app, list(map(str, words)))
            assert done.exit_code == 0, done.output
            out.file(folder / learner)
            done = CliRunner().invoke(app, ["predict", str(folder / learner), str(folder / "a.svm")])
            out.add(done.stdout)
    return out


@case("theory")
def _theory():
    X, y = data.make_separable(60, 4, margin=0.05, random_state=0)
    out = Digest()
    for bias, shuffle in itertools.product((True, False), (True, False, "once")):
        run = rosenblatt.proof(X, y, fit_intercept=bias, shuffle=shuffle, random_state=None if not shuffle else 3)
        out.add(run.row, run.w, run.b, run.passes, run.converged)
        out.floats(run.R, run.gamma, run.bound)
    bracket = rosenblatt.dataset_margin(X, y)
    out.floats(bracket.low, bracket.high)
    model = RescaledPerceptron(fit_intercept=False, random_state=0).fit(
        *data.make_separable(200, 6, margin=1e-6, random_state=1)
    )
    out.add(model.n_updates_, model.n_rescalings_, model.converged_)
    out.add(rosenblatt.separability(*rows("integers", seed=2)).check(*rows("integers", seed=2)))
    return out


def results(only=""):
    """Return the results of all cases whose names begin with ``only``."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in CASES.items():
            if name.startswith(only):
                found[name] = run().result()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="write the model files and checkpoints too")
    if parser.parse_args().files:
        FILES.mkdir(exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in CHECKPOINTS:
                write_checkpoint(name, FILES / f"{name}.checkpoint")
            for name in SAVED:
                rosenblatt.save(saved_model(name)[0], FILES / f"{name}.model")
    RESULTS.write_text(json.dumps(results(), indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
