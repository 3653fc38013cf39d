"""What is proved about data, and what models and features say: verdicts, margins, circles, counts, explanations."""

from __future__ import annotations

import itertools
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rosenblatt
from recorded.cases import LEARNERS, Cases, Digest, rows, separable
from rosenblatt import AROW, Combinations, ExactScaler, KernelPerceptron, RescaledPerceptron, SphereLift, data, vc

CASES = Cases()


@CASES.add("theory")
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


def thin(margin):
    """Return rows that separate by their last column alone, with about so small a margin."""
    X, y = rows("integers", n=30, d=3, seed=61)
    return np.column_stack([X, np.where(y == 1, margin, -margin)]), y


SETS = {
    "separable": lambda: separable(n=60, d=4, seed=62),
    "three": lambda: separable(n=60, d=4, seed=63, classes=3),
    "integers": lambda: rows("integers", n=40, d=4, seed=64),
    "decimals": lambda: rows("decimals", n=40, d=4, seed=65),
    "gauss": lambda: rows("gauss", n=30, d=3, seed=66),
    "few": lambda: rows("gauss", n=8, d=8, seed=67),
    "huge": lambda: rows("huge", n=20, d=4, seed=68),
    "mixed": lambda: rows("mixed", n=12, d=4, seed=69),
    "thin": lambda: thin(1e-9),
    "touching": lambda: (np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.5]]), np.array([0, 0, 0, 1, 1])),
    "xor": lambda: (np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])),
    "one class": lambda: (np.array([[0.0, 1], [2, 3]]), np.array([1, 1])),
}


def kept(out, certificate, *about):
    """Add that a certificate holds, and that it does after it was saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        certificate.save(Path(folder, "c"))
        again = rosenblatt.Certificate.load(Path(folder, "c"))
    assert type(again) is type(certificate)
    return out.add(type(certificate).__name__, certificate.check(*about), again.check(*about))


def verdict_digest(out, verdict, X, y):
    """Add a verdict: what it is, whether it holds, and its margins."""
    if isinstance(verdict, rosenblatt.Verdicts):
        for label in verdict:
            verdict_digest(out.add(label), verdict[label], X, y == label)
        return out.add(verdict.check(X, y))
    kept(out, verdict, X, y)
    if isinstance(verdict, rosenblatt.Separable):
        out.floats(verdict.margin_low, verdict.margin_high, verdict.radius)
    return out


def _verdict_cases():
    for name, method in itertools.product(SETS, ("hull", "lp")):

        def verdict(name=name, method=method):
            X, y = SETS[name]()
            out = Digest()
            verdict_digest(out, rosenblatt.separability(X, y, method=method), X, y)
            verdict_digest(out, rosenblatt.separability(sp.csr_array(X), y, method=method), X, y)
            short = rosenblatt.separability(X, y, method=method, margin=False)
            return out.add(type(short).__name__, short.check(X, y))

        CASES[f"separability/{name}/{method}"] = verdict

    for name in (name for name in SETS if name not in ("three", "one class")):

        def margins(name=name):
            X, y = SETS[name]()
            out = Digest()
            for kind in ("geometric", "augmented", "homogeneous"):
                bracket = rosenblatt.dataset_margin(X, y, kind=kind)
                kept(out, bracket, X, y).add(bracket.kind).floats(bracket.low, bracket.high)
                if np.asarray(bracket.w).dtype != object:
                    out.floats(rosenblatt.margin(X, y, bracket.w, bracket.b))
            out.floats(rosenblatt.mistake_bound(X, y), rosenblatt.mistake_bound(X, y, fit_intercept=False))
            return out

        CASES[f"dataset_margin/{name}"] = margins

        def mistakes(name=name):
            X, y = SETS[name]()
            found = rosenblatt.fewest_mistakes(X, y)
            out = kept(Digest(), found, X, y).add(found.low, found.high)
            if len(y) > 20:
                return out
            X, y = np.vstack([X, X]), np.append(y, y)  # equal rows count as often as they occur
            again = rosenblatt.fewest_mistakes(X, y)
            return out.add(again.low, again.high, again.check(X, y))

        CASES[f"fewest_mistakes/{name}"] = mistakes


_verdict_cases()


@CASES.add("proof")
def _proof():
    X, y = separable(n=40, d=3, seed=71)
    out = Digest()
    for bias, shuffle in itertools.product((True, False), (True, False, "once")):
        run = rosenblatt.proof(X, y, fit_intercept=bias, shuffle=shuffle, random_state=None if not shuffle else 3)
        out.add(run.k, run.row, run.w, run.b, run.passes, run.converged, run.updates, run.holds)
        out.floats(run.R, run.gamma, run.bound, run.margin)
        for column in (run.activation, run.projection, run.norm2, run.cosine, run.alpha):
            out.vector(column)
        steps = rosenblatt.trace(X, y, fit_intercept=bias, shuffle=shuffle, random_state=None if not shuffle else 3)
        out.add(steps.row, steps.pass_number, steps.label, steps.w, steps.b, steps.passes, steps.converged)
        out.add([list(steps.mistakes_by_pass)], [(step.k, step.w, step.b) for step in steps])
    return out


@CASES.add("linear programs")
def _programs():
    out = Digest()
    rng = np.random.RandomState(72)
    systems = [
        (np.array([[-1.0, 0], [0, -1], [1, 2], [3, 1], [1, 0]]), np.array([0, 0, 4, 6, 1.75])),
        (np.array([[1.0, 0], [-1, 0]]), np.array([0.0, 0.0])),
        (np.array([[1.0, 0], [-1, 0]]), np.array([0.0, -1.0])),
        (np.array([[0.0, 0]]), np.array([0.0])),
        (rng.randint(-3, 4, (12, 3)).astype(float), rng.randint(1, 9, 12).astype(float)),
        (rng.randint(-3, 4, (12, 3)).astype(float), rng.randint(-9, 3, 12).astype(float)),
        (rng.standard_normal((10, 4)), rng.standard_normal(10)),
        (sp.csr_array(rng.randint(-1, 2, (20, 5)).astype(float)), rng.randint(1, 4, 20).astype(float)),
    ]
    for A, b in systems:
        answer = rosenblatt.strict_feasibility(A, b)
        kept(out, answer, A, b)
        c = np.arange(1.0, A.shape[1] + 1)
        best = rosenblatt.maximize(c, A, b)
        if isinstance(best, rosenblatt.Optimum):
            kept(out, best, c, A, b).add(round(best.value, 6) + 0.0)
        elif isinstance(best, rosenblatt.Unbounded):
            kept(out, best, c, A, b)
        else:
            kept(out, best, A, b)
    return out


def _separation_cases():
    quasi = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3]], float), np.array([0, 1, 0, 1, 1, 1])
    aliased = np.array([[1, 2, 3], [2, 4, 1], [3, 6, 2], [4, 8, 1], [1, 2, 0]], float), np.array([0, 1, 0, 1, 1])
    sets = SETS | {"quasi": lambda: quasi, "aliased": lambda: aliased}
    for name in (name for name in sets if name not in ("one class", "mixed")):

        def run(name=name):
            X, y = sets[name]()
            out = Digest()
            for bias in (True, False):
                answer = rosenblatt.detect_separation(X, y, fit_intercept=bias)
                out.add(answer.kind, sorted((str(key), status) for key, status in answer.coefficients.items()))
                out.add(answer.on_hyperplane, answer.check(X, y))
            weight = np.arange(len(y)) % 3
            if len(np.unique(y[weight > 0])) > 1:
                answer = rosenblatt.detect_separation(X, y, sample_weight=weight)
                out.add(answer.kind, sorted((str(key), status) for key, status in answer.coefficients.items()))
            return out

        CASES[f"detect_separation/{name}"] = run


_separation_cases()


@CASES.add("circles")
def _circles():
    out = Digest()
    rng = np.random.RandomState(73)
    points = rng.randint(-6, 7, (40, 2)).astype(float)
    square = np.array([[0.0, 0], [0, 2], [2, 0], [2, 2], [1, 1]])
    sets = [
        (points, (points**2).sum(axis=1) < 20),
        (points, (points**2).sum(axis=1) > 20),
        (points, points[:, 0] > 0.5),
        (points, rng.randint(0, 2, 40) == 1),
        (square, np.array([1, 1, 1, 1, 0]) == 1),
        (square, np.array([0, 0, 0, 0, 1]) == 1),
        (rng.randint(-4, 5, (20, 3)).astype(float), np.arange(20) % 2 == 0),
    ]
    for (X, y), largest in itertools.product(sets, (False, True)):
        shape = rosenblatt.fit_circle(X, y, largest_margin=largest)
        out.add(type(shape).__name__)
        if isinstance(shape, rosenblatt.NoCircle):
            out.add(shape.check(X, y))
            continue
        out.add(shape.contains(X), shape.on_boundary(X))
        out.vector([*shape.w, shape.b] if isinstance(shape, rosenblatt.HalfSpace) else [*shape.center, shape.radius])
    return out


@CASES.add("vc")
def _vc():
    out = Digest()
    points = [[0, 0], [2, 0], [0, 2], [3, 3], [1, 1], [Fraction(1, 3), 2]]
    for family, more in (("halfspaces", {}), ("discs", {}), ("rectangles", {}), ("convex-k-gons", {"k": 3})):
        cut = vc.dichotomies(points, family, **more)
        out.add(len(cut), sorted(sorted(part) for part in cut))
        out.add(vc.shatters(points[:3], family, **more), vc.vc_dimension(points, family, **more))
        out.add([list(line.values()) for line in vc.growth(points, family, **more)])
    out.add([vc.sauer_bound(n, d) for n in range(8) for d in range(4)])
    return out.add([vc.cover_count(n, d) for n in range(1, 8) for d in range(1, 4)])


# what models and features say


def table_digest(out, table):
    """Add a table without its words: its columns in order, floats to rounding."""
    out.add(len(table), len(table.columns))
    for name in table.columns:
        for value in table[name]:
            out.floats(value) if isinstance(value, float) else out.add(value)
    return out


@CASES.add("explain")
def _explain():
    from sklearn.pipeline import make_pipeline

    out = Digest()
    names = [f"f{j}" for j in range(6)]
    for classes in (2, 3):
        X, y = rows("integers", n=50, classes=classes, seed=74)
        models = [make(random_state=0) for make in LEARNERS.values()]
        models += [AROW(random_state=0), KernelPerceptron(degree=2, gamma=0.5, random_state=0)]
        models += [make_pipeline(ExactScaler(), LEARNERS["average"](random_state=0))]
        models += [make_pipeline(Combinations(2), LEARNERS["last"](random_state=0))]
        for model in models:
            model.fit(X, y)
            named = {"feature_names": names} if hasattr(model, "last_coef_") else {}
            table_digest(out, rosenblatt.explain(model, top=3, **named))
            table_digest(out, rosenblatt.contributions(model, X[3], **named))
    X, y = separable(n=40, d=3, seed=75)
    model = LEARNERS["last"](max_iter=200, random_state=0).fit(X, y)
    w, b = rosenblatt.unit_weights(model)
    return out.vector(w).vector(b).vector(rosenblatt.distance(model, X))


@CASES.add("features")
def _features():
    out = Digest()
    for kind in ("integers", "decimals", "gauss", "tiny"):
        X, _ = rows(kind, n=20, d=4, seed=76)
        for given in (X, sp.csr_array(X), X.astype(np.float32)):
            for step in (ExactScaler(), ExactScaler("maxabs"), Combinations(2), Combinations((2, 3))):
                out.matrix(step.fit_transform(given)).add(step.get_feature_names_out().tolist())
            lifted = SphereLift().fit_transform(given)  # a column of sums, the others as they are
            lifted = lifted.toarray() if sp.issparse(lifted) else lifted
            out.add(np.ascontiguousarray(lifted[:, :-1])).vector(lifted[:, -1])
    scaler = ExactScaler().fit(rows("huge", n=20, seed=77)[0] * 1e-100)
    out.add(scaler.centre_, scaler.spread_)
    return out.add([rosenblatt.n_combinations(d, k) for d in (0, 3, 30, 1000) for k in (1, 2, 5, (1, 3))])
