"""What learners say after training: on arrays, on blocks, row by row, and in the space of a kernel."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp

import rosenblatt
from recorded.cases import KINDS, LAYOUTS, LEARNERS, STREAMED, Cases, Digest, cut, laid_out, rows, separable
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    RescaledPerceptron,
)

CASES = Cases()


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


@CASES.add("generator")
def _generator():
    out = Digest()
    for shuffle, learner in itertools.product((True, False), STREAMED):
        X, y = rows("decimals", classes=2, seed=9)
        model = LEARNERS[learner](max_iter=1, shuffle=shuffle, random_state=3)
        model.fit_stream(iter(cut(X, y, (8,))))
        out.add(model.last_coef_, model.average_coef_, model.n_updates_, model.n_iter_, model.predict(X))
    return out


@CASES.add("late classes")
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


@CASES.add("several windows")
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


@CASES.add("visiting order")
def _order():
    return Digest().add(
        *(rosenblatt.visiting_order(n, seed, p) for n in (0, 1, 7, 1000) for seed in (0, 2**70) for p in (0, 3))
    )


# the family

FAMILY = {
    "margin": lambda **p: MarginPerceptron(**({"margin": 2.0, "max_iter": 6} | p)),
    "margin-0.1": lambda **p: MarginPerceptron(**({"margin": 0.1, "max_iter": 6} | p)),
    "pa": lambda **p: PassiveAggressive(**({"max_iter": 4} | p)),
    "pa-0.05": lambda **p: PassiveAggressive(**({"C": 0.05, "max_iter": 4} | p)),
    "pa-inf": lambda **p: PassiveAggressive(**({"C": float("inf"), "max_iter": 4} | p)),
    "pa-squared": lambda **p: PassiveAggressive(**({"C": 0.3, "loss": "squared_hinge", "max_iter": 4} | p)),
    "arow": lambda **p: AROW(**({"r": 1.0, "max_iter": 4} | p)),
    "arow-10": lambda **p: AROW(**({"max_iter": 4} | p)),
}
FEW = ("margin", "pa", "pa-squared", "arow")
"""One for each rule."""


def family_digest(out, model, X):
    """Add all that a learner of the family says of itself."""
    if hasattr(model, "variance_"):
        out.add(model.variance_, model.intercept_variance_)
    return out.model(model, X)


def _family_cases():
    grid = itertools.product(FAMILY, (2, 3), ("ovr", "direct"), ("last", "average"))
    kinds = itertools.cycle(("integers", "decimals", "gauss"))
    settings = itertools.cycle(itertools.product((True, False, "once"), (True, False), ("none", "sample", "class")))
    for (learner, classes, multi, hypothesis), kind, (shuffle, bias, weight) in zip(
        grid, kinds, settings, strict=False
    ):
        if classes == 2 and multi == "direct":
            continue

        def run(learner=learner, classes=classes, multi=multi, hypothesis=hypothesis, kind=kind, shuffle=shuffle,
                bias=bias, weight=weight):  # fmt: skip
            X, y = rows(kind, n=40, d=5, classes=classes, seed=21)
            sample = np.random.RandomState(3).choice([0.0, 0.5, 1.0, 3.0], len(y)) if weight == "sample" else None
            options = {
                "multi_class": multi,
                "hypothesis": hypothesis,
                "shuffle": shuffle,
                "fit_intercept": bias,
                "class_weight": {0: 0.5, 1: 2.0} if weight == "class" else None,
                "random_state": 5,
            }
            out = Digest()
            family_digest(out, FAMILY[learner](**options).fit(X, y, sample), X)
            return family_digest(out, FAMILY[learner](**options).fit(sp.csr_array(X), y, sample), X)

        CASES[f"family/{learner}/{classes}/{multi}/{hypothesis}/{kind}/{shuffle}/{bias}/{weight}"] = run

    for learner in FEW:

        def stream(learner=learner):
            out = Digest()
            X, y = rows("decimals", n=60, classes=3, seed=22)
            for shuffle in (True, False):
                options = {"shuffle": shuffle, "random_state": 6}
                family_digest(out, FAMILY[learner](**options).fit_stream(cut(X, y, (7, 13))), X)
                stopping = FAMILY[learner](early_stopping=True, validation_fraction=0.3, n_iter_no_change=2, **options)
                family_digest(out, stopping.fit_stream(cut(sp.csr_array(X), y, (19,))), X)
            chunks = FAMILY[learner]()
            for block in cut(X, y, (1, 2, 9)):
                chunks.partial_fit(*block, classes=[0, 1, 2])
            family_digest(out, chunks, X)
            warm = FAMILY[learner](max_iter=2, warm_start=True, random_state=6)
            for _ in range(2):
                family_digest(out, warm.fit(X, y), X)
            return family_digest(out, FAMILY[learner](max_updates=11, random_state=6).fit(X, y), X)

        CASES[f"family stream/{learner}"] = stream

        def clean(learner=learner):
            X, y = separable(n=40, d=3, classes=2, seed=23)
            return family_digest(Digest(), FAMILY[learner](max_iter=300, random_state=2).fit(X, y), X)

        CASES[f"family separable/{learner}"] = clean


_family_cases()
LINEAR = {name: make for name, make in (LEARNERS | FAMILY).items() if name in (*LEARNERS, *FEW)}


def _decay_cases():
    for learner, classes in itertools.product(("average", "last", *FEW), (2, 3)):

        def run(learner=learner, classes=classes):
            out = Digest()
            X, y = rows("decimals", n=50, classes=classes, seed=24)
            for decay in (1e-3, 0.2):
                options = {"decay": decay, "random_state": 4}
                if learner in FEW:
                    options["hypothesis"] = "average"
                out.model(LINEAR[learner](**options).fit(X, y), X)
                out.model(LINEAR[learner](**options).fit_stream(cut(sp.csr_array(X), y, (8,))), X)
                chunks = LINEAR[learner](**options)
                for block in cut(X, y, (3, 11)):
                    chunks.partial_fit(*block, classes=range(classes))
                out.model(chunks, X)
            return out

        CASES[f"decay/{learner}/{classes}"] = run


_decay_cases()


def _start_cases():
    for learner, classes in itertools.product(LINEAR, (2, 3)):

        def run(learner=learner, classes=classes):
            out = Digest()
            rng = np.random.RandomState(7)
            lines = classes if classes > 2 else 1
            w, b = 3 * rng.standard_normal((lines, 6)), 3 * rng.standard_normal(lines)
            for kind, bias in itertools.product(("gauss", "integers"), (True, False)):
                X, y = rows(kind, n=40, classes=classes, seed=25)
                model = LINEAR[learner](random_state=1, fit_intercept=bias)
                out.model(model.fit(X, y, coef_init=w, intercept_init=b if bias else None), X)
                out.model(LINEAR[learner](random_state=1, multi_class="ovr").fit(sp.csr_array(X), y, coef_init=w), X)
            return out

        CASES[f"coef_init/{learner}/{classes}"] = run


_start_cases()


def records(n, classes, seed):
    """Return records with numbers, words and booleans, whose names come up one after the other, and their labels."""
    X, y = rows("decimals", n=n, d=5, classes=classes, seed=seed)
    words = ("red", "blue", "grey")
    found = []
    for i, row in enumerate(X.tolist()):
        record = {f"x{j}": value for j, value in enumerate(row) if value and j <= i}
        found.append(record | {"colour": words[i % 3], "late": i > n // 2})
    return found, np.array(["no", "yes", "perhaps"])[y].tolist()


def _one_by_one_cases():
    for learner in (name for name in LINEAR if name != "pocket"):

        def run(learner=learner):
            out = Digest()
            for classes in (2, 3):
                model = LINEAR[learner]()
                for x, label in zip(*records(50, classes, 26), strict=True):
                    out.add(model.predict_one(x))
                    model.learn_one(x, label)
                out.add(model.feature_names_in_.tolist()).model(model)
            return out

        CASES[f"learn_one/{learner}"] = run


_one_by_one_cases()

# in the space of a kernel

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"degree": 2, "gamma": 0.5, "coef0": 0.1},
    "poly-scale": {"degree": 3},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "rbf-scale": {"kernel": "rbf"},
    "laplacian": {"kernel": "laplacian", "gamma": 0.25},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.25, "coef0": -0.5},
    "function": {"kernel": lambda A, B: (A @ B.T) ** 2},
    "precomputed": {"kernel": "precomputed"},
}


def kernel_rows(name, kind="integers", n=36, classes=2, seed=31):
    """Return rows for a kernel, and their labels; products of these rows, if they are precomputed."""
    X, y = rows(kind, n=n, d=3, classes=classes, seed=seed)
    return (X @ X.T + 1.0 if name == "precomputed" else X), y


def _kernel_cases():
    for name, classes, multi in itertools.product(KERNELS, (2, 3), ("ovr", "direct")):
        if classes == 2 and multi == "direct":
            continue

        def run(name=name, classes=classes, multi=multi):
            out = Digest()
            for hypothesis, shuffle in zip(
                ("average", "last", "vote", "pocket"), (True, False, "once", True), strict=True
            ):
                model = KernelPerceptron(
                    **KERNELS[name],
                    hypothesis=hypothesis,
                    shuffle=shuffle,
                    multi_class=multi,
                    max_iter=4,
                    random_state=8,
                )
                X, y = kernel_rows(name, classes=classes)
                out.kernel(model.fit(X, y), X)
                if name not in ("precomputed", "function"):
                    out.kernel(model.fit(sp.csr_array(X), y), X)
            return out

        CASES[f"kernel/{name}/{classes}/{multi}"] = run

    for name, kind in itertools.product(("linear", "poly", "rbf", "laplacian"), ("decimals", "gauss")):

        def weighted(name=name, kind=kind):
            X, y = kernel_rows(name, kind, classes=3)
            out = Digest()
            sample = np.random.RandomState(5).choice([0.0, 0.5, 1.0, 0.1], len(y))
            options = KERNELS[name] | {"random_state": 9, "max_iter": 4}
            out.kernel(KernelPerceptron(**options, class_weight={0: 0.5, 1: 2.0}).fit(X, y, sample), X)
            out.kernel(KernelPerceptron(**options).fit(X.astype(np.float32), y), X.astype(np.float32))
            out.kernel(KernelPerceptron(**options, max_updates=9).fit(X, y), X)
            return out.kernel(KernelPerceptron(**options, cache_size=0.001).fit(X, y), X)

        CASES[f"kernel weighted/{name}/{kind}"] = weighted

    for name in ("poly", "rbf", "laplacian"):

        def stream(name=name):
            out = Digest()
            X, y = kernel_rows(name, "decimals", n=60, classes=3)
            options = KERNELS[name] | {"random_state": 9, "max_iter": 3}
            for limit, shuffle in itertools.product((None, 10), (True, False)):
                limited = options | {"max_support": limit, "shuffle": shuffle}
                out.kernel(KernelPerceptron(**limited).fit(X, y), X)
                out.kernel(KernelPerceptron(**limited).fit_stream(cut(X, y, (7, 13))), X)
                chunks = KernelPerceptron(**limited)
                for block in cut(sp.csr_array(X), y, (1, 9)):
                    chunks.partial_fit(*block, classes=[0, 1, 2])
                out.kernel(chunks, X)
            stopping = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2}
            out.kernel(KernelPerceptron(**options, **stopping).fit(X, y), X)
            warm = KernelPerceptron(**options | {"max_iter": 1}, warm_start=True)
            for _ in range(2):
                out.kernel(warm.fit(X, y), X)
            return out

        CASES[f"kernel stream/{name}"] = stream


_kernel_cases()


def _rescaled_cases():
    for classes, bias, layout in itertools.product((2, 3), (True, False), ("c", "csr")):

        def run(classes=classes, bias=bias, layout=layout):
            out = Digest()
            sets = [
                separable(n=50, d=4, seed=41, classes=classes),
                rows("integers", n=40, d=4, classes=classes, seed=42),
            ]
            for X, y in sets:
                X = laid_out(X, layout)
                model = RescaledPerceptron(fit_intercept=bias, random_state=1).fit(X, y)
                out.add(model.classes_, model.converged_, model.n_iter_, model.n_updates_, model.n_rescalings_)
                out.add(model.predict(X), model.on_boundary(X)).vector(model.coef_).vector(model.intercept_)
                verdicts = model.verdict_ if classes > 2 else {1: model.verdict_}
                for label in verdicts:
                    out.add(type(verdicts[label]).__name__, verdicts[label].check(X, y == label))
            return out

        CASES[f"rescaled/{classes}/{bias}/{layout}"] = run


_rescaled_cases()


@CASES.add("score by pass")
def _score_by_pass():
    X, y = rows("integers", n=40, classes=3, seed=43)
    out = Digest()
    for make in (*LINEAR.values(), lambda **p: KernelPerceptron(max_iter=4, **p)):
        table = make(random_state=0).score_by_pass(X, y, X[:15], y[:15])
        out.add(*(table[name] for name in ("pass", "mistakes", "training_error", "test_error")))
    return out


@CASES.add("predict after set_params")
def _hypotheses():
    X, y = rows("decimals", classes=3, seed=44)
    out = Digest()
    model = rosenblatt.Perceptron(max_iter=4, random_state=0).fit(X, y)
    for hypothesis in ("last", "average"):
        out.model(model.set_params(hypothesis=hypothesis), X)
    kernel = KernelPerceptron(max_iter=4, gamma=0.5, random_state=0).fit(X, y)
    for hypothesis in ("last", "average", "vote"):
        out.kernel(kernel.set_params(hypothesis=hypothesis), X)
    return out
