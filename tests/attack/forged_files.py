"""Models, states of kernel perceptrons, checkpoints and caches that were changed, with checksums made right."""

from __future__ import annotations

import functools
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import alike, compact, forge, state_from_plain, state_to_plain
from helpers.mutating import mutated_arrays, mutated_bytes, mutated_plain
from helpers.naive_dual import dual_run
from helpers.pipelines import OF_TABLES, example
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, data, load, save
from rosenblatt.persistence.json_export import export_json
from rosenblatt.storage.container import read_container
from rosenblatt.training.options import Kernel

CSV = "a,b,c,y\n" + "".join(
    f"{i % 7},{'red' if i % 3 else 'blue'},{'some few words' * (i % 2)},{i % 2}\n" for i in range(40)
)
Parts = tuple[dict[str, Any], dict[str, np.ndarray]]


def attack(rng: random.Random) -> str | None:
    """Change a file and use it: it is refused in a sentence, or works."""
    folder = Path(tempfile.mkdtemp())
    return rng.choice([_model, _model, _pipeline, _checkpoint, _cache, _kernel_state])(rng, folder)


@functools.cache
def models() -> list[Parts]:
    """Return header and arrays of small models of many kinds."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    X, y = small_set("gauss", n=30, classes=3, seed=5)
    options: dict[str, Any] = {"max_iter": 2, "random_state": 0}
    (folder / "a.csv").write_text(CSV)
    early = {"early_stopping": True, "validation_fraction": 0.4}
    made = [
        Perceptron("pocket", class_weight={0: 2.0}, warm_start=True, **early, **options).fit(X, y),
        VotedPerceptron(multi_class="direct", **options).fit(sp.csr_array(X), y),
        VotedPerceptron(**options).fit(X, y > 0),
        Perceptron().partial_fit(X, np.array(["a", "b", "a"])[y]),
        AveragedPerceptron(multi_class="direct", **options).fit(X, y),
        KernelPerceptron(hypothesis="pocket", degree=2, class_weight={0: 2.0}, **options).fit(X, y),
        KernelPerceptron("rbf", hypothesis="vote", multi_class="direct", **options).fit(sp.csr_array(X), y),
        KernelPerceptron("precomputed", warm_start=True, **early, **options).fit(X @ X.T, y),
        KernelPerceptron("sigmoid", **early, **options).fit(X, y > 0),
        KernelPerceptron("laplacian", gamma=0.5, max_support=5).partial_fit(X.astype(np.float32), y),
        KernelPerceptron("linear", multi_class="direct", hypothesis="last", **options).fit(X, y),
    ]
    wide = sp.csr_array(np.hstack([np.zeros((30, 400)), X]))
    made += [Perceptron("pocket", **options).fit(wide, y), VotedPerceptron(**options).fit(wide, y > 0)]
    for kinds in (None, {"c": "text"}):
        stream = data.open(folder / "a.csv", "y", drop=None if kinds else ["c"], column_types=kinds)
        made.append(AveragedPerceptron(**options).fit_stream(stream))
        made[-1].preparation_ = stream.preparation
        made[-1].feature_names_in_ = np.array(stream.feature_names, object)
    parts = []
    for model in made:
        save(model, folder / "m")
        parts.append(read_container(folder / "m"))
    return parts


def _changed_parts(rng: random.Random, parts: Parts) -> Parts:
    header, arrays = parts
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.6:
            header = mutated_plain(rng, header)
        else:
            arrays = mutated_arrays(rng, arrays)
    return header, arrays


def _changed(rng: random.Random, parts: Parts) -> bytes:
    header, arrays = _changed_parts(rng, parts)
    whole = forge(compact(header), arrays)
    return mutated_bytes(rng, whole) if rng.random() < 0.1 else whole


def _model(rng: random.Random, folder: Path) -> str | None:
    path = folder / "model"
    path.write_bytes(_changed(rng, rng.choice(models())))
    try:
        model = load(path)
    except ValueError as refusal:
        return _fault_of(refusal, path)
    X, _ = small_set("gauss", n=30, classes=3, seed=6)
    save(model, folder / "again")
    load(folder / "again")
    repr(model), str(model.report_)
    try:
        if not isinstance(model, KernelPerceptron):
            export_json(model, folder / "m.json")
        if getattr(model, "preparation_", None):
            (folder / "b.csv").write_text(CSV)
            rows, _ = data.open(folder / "b.csv", preparation=model.preparation_).read()
        else:
            rows = np.zeros((2, model.n_features_in_))
            rows[:, :5] = X[:2, : rows.shape[1]]
        model.predict(rows), model.decision_function(rows)
    except ValueError as refusal:
        return None if str(refusal).endswith(".") else f"predict says {refusal!r}"
    return None


@functools.cache
def pipelines() -> list[Parts]:
    """Return header and arrays of small pipelines of many steps."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    parts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("standard", "maxabs", "exact", "triples alone", "one-hot", "median", "sphere", *OF_TABLES):
            save(example(name)[0], folder / "p")
            parts.append(read_container(folder / "p"))
    return parts


def _pipeline(rng: random.Random, folder: Path) -> str | None:
    """A pipeline is refused, or comes back as it was read."""
    path = folder / "pipeline"
    path.write_bytes(_changed(rng, rng.choice(pipelines())))
    try:
        pipeline = load(path)
    except ValueError as refusal:
        return _fault_of(refusal, path)
    save(pipeline, folder / "again")
    repr(pipeline), repr(load(folder / "again"))
    return None


def _checkpoint(rng: random.Random, folder: Path) -> str | None:
    X, y = small_set("gauss", n=40, classes=3, seed=7)
    blocks = [(X[:20], y[:20]), (X[20:], y[20:])]
    learner: Any = rng.choice([Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron])
    options: dict[str, Any] = {"max_iter": 3, "random_state": 0, "shuffle": False}
    if learner is KernelPerceptron:
        options |= {"kernel": rng.choice(["poly", "rbf"]), "max_support": rng.choice([None, 5])}
    path = folder / "run"
    learner(**options).fit_stream(blocks, checkpoint=path, every=0)
    path.write_bytes(_changed(rng, read_container(path)))
    try:
        learner(**options).fit_stream(blocks, checkpoint=path, every=0, resume=True)
    except ValueError as refusal:
        return _fault_of(refusal, path)
    return None


@functools.cache
def kernel_states() -> list[Parts]:
    """Return header and arrays of small states of kernel perceptrons, of three classes each."""
    X, y = small_set("integers", n=20, classes=3, seed=5)
    steps = np.arange(20) % 3 / 2
    made = [dual_run(X, y, Kernel(name), 3) for name in ("linear", "sigmoid")]
    made.append(dual_run(sp.csr_array(X), y, Kernel("rbf", gamma=0.5), 3, hypothesis="pocket", steps=steps))
    made.append(dual_run(X.astype(np.float32), y, Kernel(), 3, direct=True))
    made.append(dual_run(X @ X.T, y, Kernel("precomputed"), 3))
    return [state_to_plain(state) for state in made]


def _kernel_state(rng: random.Random, folder: Path) -> str | None:
    """A state is refused, or says just what it was read from, and has a coefficient for each score and row."""
    header, arrays = _changed_parts(rng, rng.choice(kernel_states()))
    try:
        state = state_from_plain(header, arrays, 3, "KernelPerceptron")
    except ValueError as refusal:
        text = str(refusal)
        return None if text.endswith(".") and len(text) < 1500 and "\n" not in text else f"no sentence: {text[:2000]!r}"
    try:
        alike(state_from_plain(*state_to_plain(state), 3, "KernelPerceptron"), state)
    except AssertionError as difference:
        return f"a state comes back as another: {difference}"
    shapes = {state.coefficients(hypothesis).shape for hypothesis in ("last", "average", "pocket")}
    return None if shapes == {(3, len(state.supports))} else f"coefficients of shapes {shapes}"


def _cache(rng: random.Random, folder: Path) -> str | None:
    """A damaged cache is made anew, or refused: rows are never others than those of the file."""
    (folder / "a.csv").write_text(CSV)
    path, options = folder / "rows", {"column_types": {"c": "text"}, "bits": 6}
    expected = data.open(folder / "a.csv", "y", cache=path, **options).read()
    path.write_bytes(mutated_bytes(rng, path.read_bytes()))
    try:
        found = data.open(folder / "a.csv", "y", cache=path, **options).read()
    except ValueError as refusal:
        return _fault_of(refusal, path)
    same = (found[0] != expected[0]).nnz == 0 and found[1].tolist() == expected[1].tolist()
    return None if same else "other rows from a damaged cache"


def _fault_of(refusal: ValueError, path: Path) -> str | None:
    """Return what is wrong with the sentence that refuses a file: it names the file, and is one."""
    text = str(refusal)
    if path.name not in text or not text.rstrip().endswith(".") or len(text) > 1500 or "\n" in text:
        return f"no sentence that names the file: {text[:2000]!r}"
    return None
