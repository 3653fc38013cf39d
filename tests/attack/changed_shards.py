"""Shards that are loaded again in the middle of a run, changed or not, and labels that are not among the classes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from helpers.clusters import OnThisProcess, bits, quietly, result_of
from helpers.examples import KINDS, small_set
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron
from rosenblatt.distributed.engines import LocalEngine
from rosenblatt.distributed.learners import with_parameters
from rosenblatt.distributed.shards import load_shard, make_shard

Rows = tuple[Any, np.ndarray, np.ndarray]


def attack(rng: random.Random) -> str | None:
    """Let a run lose shards, or give labels that it does not know."""
    return rng.choice([_reloaded, _reloaded, _unknown_labels])(rng)


class Reloading(LocalEngine):
    """An engine that loads some shards again before calls at random, from data that may have changed meanwhile."""

    workers = 2

    def __init__(self, rng: random.Random, change: Callable[[int], bool] | None, at: int) -> None:
        super().__init__()
        self.rng, self.change, self.left = rng, change, at
        self.changed: int | None = None
        self.met = False
        """Whether a shard was used after it had changed."""

    def load(self, loaders: Any) -> None:
        """Load the shards as workers do."""
        self.loaders = loaders
        self._shards = [load_shard(loader) for loader in loaders]

    def call(self, function: Any, shard: int, *arguments: Any) -> Any:
        """Load shards again, and call the function."""
        self.left -= 1
        if self.left == 0 and self.change is not None:
            lost = self.rng.randrange(len(self.loaders))
            self.changed = lost if self.change(lost) else None
            self._shards[lost] = load_shard(self.loaders[lost])
        elif self.left < 0 and self.rng.random() < 0.1 and self.changed is None:
            lost = self.rng.randrange(len(self.loaders))
            self._shards[lost] = load_shard(self.loaders[lost])
        self.met = self.met or shard == self.changed
        return super().call(function, shard, *arguments)

    def fork(self) -> Reloading:
        """Return this engine, whose shards all runs share."""
        return self


class Learner(OnThisProcess, AveragedPerceptron):
    """A learner on a given engine."""

    engine: Any
    __init__ = with_parameters(AveragedPerceptron)

    def _engine(self) -> Any:
        return self.engine


def _reloaded(rng: random.Random) -> str | None:
    """A shard that has changed is an error that names it and the change; one that has not changes no bit."""
    count, d, classes = rng.randrange(1, 5), rng.randrange(1, 5), rng.choice([2, 3])
    kind, form = rng.choice(KINDS), rng.choice([np.asarray, np.asfortranarray, sp.csr_array])
    words = rng.choice([[0, 1, 2], ["a", "b", "c"], [-1.0, 0.5e16, 3.0]])
    shards: list[Rows] = []
    for _ in range(count):
        X, y = small_set(kind, n=rng.randrange(classes, 30), d=d, classes=classes, seed=rng.randrange(2**32))
        shards.append((form(X), np.array(words)[y], np.array([rng.choice([0.5, 1.0]) for _ in y])))
    name, change = rng.choice(sorted(_CHANGES.items()))
    stored = list(shards)

    def make_change(k: int) -> bool:
        stored[k] = change(rng, *shards[k])
        return make_shard(*stored[k]).identity != make_shard(*shards[k]).identity

    options = {"mode": rng.choice(["exact", "mix"]), "n_shards": count, "max_iter": rng.randrange(1, 5)}
    options |= {"shuffle": rng.choice([True, False, "once"]), "early_stopping": rng.random() < 0.2, "random_state": 1}

    def fit(engine: Any) -> Any:
        model = Learner(**options)
        model.engine = engine
        return result_of(model.fit_shards, [partial(lambda k: stored[k], k) for k in range(count)])

    undisturbed = fit(Reloading(rng, None, 0))
    engine = Reloading(rng, make_change, count + rng.randrange(1, 12))
    found = fit(engine)
    what = f"{name} of shard {engine.changed}, {kind}, {form.__name__}, {options}"
    if not engine.met:
        same = found == undisturbed if isinstance(found, str) or isinstance(undisturbed, str) else None
        same = bits(found) == bits(undisturbed) if same is None else same
        return None if same else f"shards that had not changed: other bits, {what}"
    if isinstance(found, str) and f"shard {engine.changed} " in found and _named(name, found):
        return None
    return f"{what}: {found}"


def _named(name: str, told: str) -> bool:
    part = told.partition(", got ")[2].partition(":")[0]
    # other rows may have the same values, and differ in their labels alone
    words = {"labels": ["labels"], "width": ["features"], "rows": ["values", "rows", "labels"]}
    return any(word in part for word in words.get(name, ["values", "rows"]))


def _other_labels(rng: random.Random, X: Any, y: np.ndarray, weight: np.ndarray) -> Rows:
    y = y.copy()
    y[rng.randrange(len(y))] = rng.choice([*y.tolist(), "zz" if y.dtype.kind == "U" else 7])
    return X, y, weight


def _other_values(rng: random.Random, X: Any, y: np.ndarray, weight: np.ndarray) -> Rows:
    X = X.copy()
    if sp.issparse(X) and X.nnz:
        X.data[rng.randrange(X.nnz)] *= 1.0 + 2.0**-50
    elif not sp.issparse(X):
        X[rng.randrange(len(y)), 0] += 0.25
    return X, y, weight


def _other_rows(rng: random.Random, X: Any, y: np.ndarray, weight: np.ndarray) -> Rows:
    some = rng.choice([range(len(y) - 1), [*range(len(y)), 0], range(len(y))[::-1]])
    return X[list(some)], y[list(some)], weight[list(some)]


def _other_width(rng: random.Random, X: Any, y: np.ndarray, weight: np.ndarray) -> Rows:
    wide = X.toarray() if sp.issparse(X) else X
    wide = np.hstack([wide, np.ones((len(y), 1))]) if rng.random() < 0.5 or X.shape[1] == 1 else wide[:, :-1]
    return (sp.csr_array(wide) if sp.issparse(X) else wide), y, weight


_CHANGES = {"labels": _other_labels, "values": _other_values, "rows": _other_rows, "width": _other_width}


def _unknown_labels(rng: random.Random) -> str | None:
    """A label that is not among the classes is refused wherever labels come in, or becomes a class of its own."""
    classes = rng.randrange(2, 5)
    X, y = small_set("integers", n=30, d=3, classes=classes, seed=rng.randrange(2**32))
    kinds = [(list(range(classes)), [-1, 99, 2**40, -(2**31), classes]), (list("abcd")[:classes], ["", "zz", "a\0"])]
    words, strange = rng.choice(kinds)
    labels = np.array(words)[y]
    unknown = labels.tolist()
    unknown[rng.randrange(classes, 30)] = rng.choice(strange)
    other = np.array(unknown)
    unknown = other.tolist()  # NumPy drops a NUL at the end
    learner: Any = rng.choice([Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron])
    options: dict[str, Any] = {"max_iter": 2, "random_state": 0, "multi_class": rng.choice(["ovr", "direct"])}
    if learner is KernelPerceptron:
        options["gamma"] = 0.5
    if rng.random() < 0.3 and learner is not KernelPerceptron:
        options["early_stopping"] = True
    model = learner(**options, warm_start=rng.random() < 0.5)
    choice = rng.randrange(5)
    known = sorted({*words, *unknown})
    try:
        if choice == 0:
            quietly(model.fit_stream, [(X[:20], labels[:20]), (X, other)], classes=rng.choice([words, known]))
        elif choice == 1:
            model.set_params(early_stopping=False).partial_fit(X, labels, classes=rng.choice([words, known]))
            model.partial_fit(X, other)
        elif choice == 2:
            quietly(model.fit, X, labels)
            quietly(model.fit, X, other)
        elif choice == 3:
            model = make_shard(X, other).block(np.array(sorted(words)), 0)
            if set(unknown) - set(words):
                return f"a shard numbers labels {unknown} among the classes {words}: {model.y.tolist()}"
            return None
        else:
            quietly(model.fit, X, labels)
            share = float(np.mean(model.predict(X) == other))
            return None if model.score(X, other) == share else f"a score of {model.score(X, other)} and not {share}"
    except ValueError as refusal:
        return None if str(refusal).endswith(".") else f"no sentence: {refusal}"
    if choice < 3 and not {*unknown} <= {*model.classes_.tolist()}:
        return f"{model}: learned from {sorted({*unknown})} and knows {model.classes_.tolist()}"
    if not {*model.predict(X).tolist()} <= {*model.classes_.tolist()}:
        return f"{model}: predicts a class that it does not know"
    return None
