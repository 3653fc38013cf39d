"""Files of every kind, small and healthy: header, arrays, and what uses such a file."""

import contextlib
import functools
import json

import numpy as np
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.forging import compact, forge
from helpers.pipelines import example
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    Certificate,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RescaledPerceptron,
    VotedPerceptron,
    calibrated,
    data,
    detect_separation,
    fewest_mistakes,
    load,
    maximize,
    save,
    separability,
    strict_feasibility,
)
from rosenblatt.data.preparation import check_preparation
from rosenblatt.persistence.json_export import export_json
from rosenblatt.storage.container import read_container

X, Y = small_set("gauss", n=30, classes=3, seed=5)
OPTIONS = {"max_iter": 2, "random_state": 0}
EARLY = {"early_stopping": True, "validation_fraction": 0.4, "warm_start": True}
WIDE = sp.csr_array(np.hstack([np.zeros((30, 400)), X]))
MODELS = {
    "pocket": lambda: Perceptron("pocket", class_weight={0: 2.0}, **EARLY, **OPTIONS).fit(X, Y),
    "votes": lambda: VotedPerceptron(multi_class="direct", **OPTIONS).fit(sp.csr_array(X), Y),
    "words": lambda: Perceptron().partial_fit(X, np.array(["a", "b", "a"])[Y]),
    "wide": lambda: Perceptron(**EARLY, **OPTIONS).fit(WIDE, Y),
    "AROW": lambda: AROW(decay=0.1, **EARLY, **OPTIONS).fit(X, Y),
    "passive": lambda: PassiveAggressive(C=np.inf, **OPTIONS).fit(sp.csr_array(X), Y),
    "margin": lambda: MarginPerceptron(margin=0.5).partial_fit(X, Y),
    "poly": lambda: KernelPerceptron(hypothesis="pocket", degree=2, class_weight={0: 2.0}, **OPTIONS).fit(X, Y),
    "rbf": lambda: KernelPerceptron("rbf", hypothesis="vote", multi_class="direct", **OPTIONS).fit(sp.csr_array(X), Y),
    "precomputed": lambda: KernelPerceptron("precomputed", **EARLY, **OPTIONS).fit(X @ X.T, Y),
    "budget": lambda: KernelPerceptron("laplacian", gamma=0.5, max_support=5).partial_fit(X.astype(np.float32), Y > 0),
    "threshold": lambda: with_threshold(AveragedPerceptron(**EARLY, **OPTIONS).fit(X, Y > 0)),
    "sigmoid": lambda: calibrated(Perceptron(**OPTIONS).fit(X, Y), X, Y, method="sigmoid"),
    "isotonic": lambda: calibrated(VotedPerceptron(**OPTIONS).fit(X, Y > 0), X, Y > 0, method="isotonic"),
    "rescaled": lambda: RescaledPerceptron(max_rescalings=2, random_state=0).fit(X, Y > 0),
}
PIPELINES = ("standard", "maxabs", "exact", "one-hot", "pairs", "sphere", "mean", "mixed", "by slice", "words filled")
RUNS = {
    "averaged": AveragedPerceptron(early_stopping=True, validation_fraction=0.4, **OPTIONS),
    "voted": VotedPerceptron(multi_class="direct", **OPTIONS),
    "kernel": KernelPerceptron("rbf", gamma=0.5, **OPTIONS),
}
BLOCKS = [(X[:20], Y[:20]), (X[20:], Y[20:])]
CERTIFICATES = {
    "separable": lambda: separability(X[:4], [0, 1, 0, 1]),
    "inseparable": lambda: separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
    "separation": lambda: detect_separation(X[:8], [0, 1] * 4),
    "optimum": lambda: maximize([1.0, 1.0], [[1, 0], [0, 1], [-1, -1]], [1, 1, 3]),
    "infeasible": lambda: strict_feasibility([[1], [-1]], [0, -1]),
    "mistakes": lambda: fewest_mistakes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
}
TABLE = "a,b,c,y\n" + "".join(
    f"{i % 7},{'red' if i % 3 else 'blue'},{'few words' * (i % 2)},{i % 2}\n" for i in range(40)
)


def with_threshold(model):
    model.state_.threshold = 0.5
    return model


def use_model(path):
    model = load(path)
    if hasattr(model, "device"):
        model.device = None  # one of another machine is refused where it is used
    rows = X @ X.T if getattr(model, "kernel", "") == "precomputed" else X
    rows = WIDE if model.n_features_in_ == WIDE.shape[1] else rows
    with contextlib.suppress(ValueError):  # rows of another width
        model.predict(rows)
        if hasattr(model, "calibration_"):
            assert np.isfinite(model.predict_proba(rows)).all()
    repr(model), str(getattr(model, "report_", ""))
    if not isinstance(model, KernelPerceptron):
        export_json(model, path.with_name("json"))
    save(model, path)
    load(path)
    if "n_jobs" in model.get_params():
        model.set_params(verbose=0, n_jobs=None, max_iter=2)
        with contextlib.suppress(ValueError):  # labels of another type, "balanced", rows of another width
            (model.partial_fit if hasattr(model, "partial_fit") else model.fit)(rows, Y)


def use_pipeline(path, rows):
    pipeline = load(path)
    with contextlib.suppress(ValueError, UserWarning, RuntimeWarning):  # other names or categories, large numbers
        pipeline.predict(rows)
    save(pipeline, path)
    load(path)


def use_run(path, learner):
    learner.fit_stream(BLOCKS, checkpoint=path, every=1000, resume=True)
    save(learner, path.with_name("model"))
    load(path.with_name("model")).predict(X)


def use_certificate(path):
    repr(Certificate.from_json(Certificate.load(path).to_json()))


def use_preparation(path):
    try:
        check_preparation(json.loads(path.read_bytes()))
    except ValueError as refusal:
        raise ValueError(f"{path}: {refusal}") from None


@functools.cache
def files(folder):
    """Return header, arrays and what uses it of each kind of file; arrays are None where the file is JSON alone."""
    out, path = {}, folder / "made"
    for name, make in MODELS.items():
        save(make(), path)
        out[name] = *read_container(path), use_model
    for name in PIPELINES:
        pipeline, rows, _ = example(name)
        save(pipeline, path)
        out[f"pipeline, {name}"] = *read_container(path), functools.partial(use_pipeline, rows=rows)
    for name, learner in RUNS.items():
        learner.fit_stream(BLOCKS, checkpoint=path, every=0)
        out[f"run, {name}"] = *read_container(path), functools.partial(use_run, learner=learner)
    for name, make in CERTIFICATES.items():
        out[name] = make().to_dict(), None, use_certificate
    (folder / "a.csv").write_text(TABLE)
    stream = data.open(folder / "a.csv", "y", column_types={"c": "text"}, scale="standard")
    out["preparation"] = json.loads(json.dumps(stream.preparation)), None, use_preparation
    return out


def encode(header, arrays):
    return json.dumps(header).encode() if arrays is None else forge(compact(header), arrays)
