"""A shard that is loaded again is compared with the one that training began with, and unknown labels are refused."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from cluster.training import HereLearner, digest, quietly, rows_of
from rosenblatt.blocks import DataError
from rosenblatt.distributed.engines import LocalEngine
from rosenblatt.distributed.shards import Shard, ShardSet, join_shards, load_shard, make_shard

MODES = pytest.mark.parametrize("mode", ["exact", "mix"])
SHARDS, CHANGED = 4, 2


def new_value(X, y, weight):
    X = X.copy()
    X[300, 3] += 1.0  # the first and the last 100 rows stay
    return X, y, weight


def new_label(X, y, weight):
    y = y.copy()
    y[300] = (y[300] + 1) % 4
    return X, y, weight


def unknown_label(X, y, weight):
    y = y.copy()
    y[300] = 7
    return X, y, weight


def new_weight(X, y, weight):
    weight = weight.copy()
    weight[300] = 9.0
    return X, y, weight


CHANGES = {
    "value": (new_value, "other values"),
    "label": (new_label, "other labels"),
    "unknown label": (unknown_label, "other labels"),
    "weight": (new_weight, "other sample weights"),
    "value and label": (lambda *rows: new_value(*new_label(*rows)), "other values and labels"),
    "order": (lambda X, y, weight: (X[::-1], y, weight), "other values"),
    "fewer rows": (lambda X, y, weight: (X[:-2], y[:-2], weight[:-2]), "598 rows instead of 600"),
    "more rows": (lambda *rows: tuple(np.concatenate([part, part[:1]]) for part in rows), "601 rows instead of 600"),
    "wider": (lambda X, y, weight: (np.pad(X, ((0, 0), (0, 1))), y, weight), "21 features instead of 20"),
    "narrower": (lambda X, y, weight: (X[:, :-1], y, weight), "19 features instead of 20"),
    "float32": (lambda X, y, weight: (X.astype(np.float32), y, weight), "other values"),
    "sparse": (lambda X, y, weight: (sp.csr_array(X), y, weight), "sparse rows instead of dense ones"),
}


def rows(number, change=lambda *rows: rows):
    """Return 600 rows with weights."""
    parts = [rows_of(10 * number + k) for k in range(10)]
    X, y = (np.concatenate([part[i] for part in parts]) for i in range(2))
    return change(X, y, np.random.default_rng(number).choice([0.5, 1.0, 2.0], len(y)))


class ReloadingEngine(LocalEngine):
    """An engine that loads a shard again at some call, and gets it changed."""

    def __init__(self, change, at):
        super().__init__()
        self.change, self.at, self.calls = change, at, 0

    def call(self, function, shard, *arguments):
        self.calls += 1
        if self.calls == self.at:
            self._shards[CHANGED] = load_shard(lambda: make_shard(*rows(CHANGED, self.change)))
        return super().call(function, shard, *arguments)

    def fork(self):
        return self


class ReloadingLearner(HereLearner):
    engine = None

    def _engine(self):
        return self.engine


def fit(mode, engine):
    model = ReloadingLearner(mode=mode, n_shards=SHARDS, max_iter=4, random_state=1)
    model.engine = engine
    with quietly():
        return model.fit_shards([partial(rows, number) for number in range(SHARDS)])


@MODES
@pytest.mark.parametrize("at", [5, 7, 12])
@pytest.mark.parametrize("what", CHANGES)
def test_a_shard_that_is_not_the_same_is_an_error_that_names_it(mode, what, at):
    change, named = CHANGES[what]
    sentence = (
        rf"^expected shard 2 to have the rows that training began with, got {named}: a worker was lost, .*training\.$"
    )
    with pytest.raises(DataError, match=sentence):
        fit(mode, ReloadingEngine(change, at))


@MODES
def test_a_shard_that_is_the_same_changes_no_bit(mode):
    again = fit(mode, ReloadingEngine(lambda *rows: rows, 7))
    assert digest(again) == digest(fit(mode, LocalEngine()))


def test_rows_that_are_fetched_are_compared():
    engine = ReloadingEngine(new_value, SHARDS + 3)
    engine.load([partial(lambda number: make_shard(*rows(number)), number) for number in range(SHARDS)])
    with pytest.raises(DataError, match="expected shard 2 to have the rows"):
        list(ShardSet(engine).batches())


def identity(X, y=(0, 1, 1), names=None):
    shard = make_shard(np.asarray(X, float) if not sp.issparse(X) else X, np.array(y))
    return Shard(shard.X, shard.classes, shard.numbers, names=names).identity


def test_an_identity_is_of_all_that_a_shard_has():
    X = np.arange(6.0).reshape(3, 2) + 1
    first = identity(X)
    assert first == identity(X.copy()) == identity(np.asfortranarray(X))
    assert identity(X, names=["a", "b"]).changes(identity(X, names=["b", "a"])) == "other column names"
    assert identity(X, names=["ab", "c"]).changes(identity(X, names=["a", "bc"])) == "other column names"
    assert identity(X, (0, 1, 2)).changes(identity(X, (0, 1, 3))) == "other labels"
    assert identity(X, (0.0, 1.0, 1.0)).changes(first) == "other labels"
    assert identity(sp.csr_array(X)).changes(first) == "sparse rows instead of dense ones"
    assert identity(sp.csr_array([[1.0, 0], [0, 2], [0, 0]])).changes(
        identity(sp.csr_array([[0, 1.0], [0, 2], [0, 0]]))
    ) == ("other values")


def test_an_identity_travels_with_the_shard():
    import pickle

    shard = load_shard(lambda: make_shard(*rows(1)))
    assert "identity" in vars(pickle.loads(pickle.dumps(shard)))
    joined = join_shards([shard, shard])
    assert joined.identity.rows == 1200


def test_a_fingerprint_sees_every_row():
    def fingerprint(change):
        engine = LocalEngine()
        engine.load([lambda: make_shard(*rows(0, change))])
        return ShardSet(engine).fingerprint

    assert fingerprint(lambda *rows: rows) == fingerprint(lambda *rows: rows)
    assert fingerprint(lambda *rows: rows) != fingerprint(new_value)


# labels become numbers


def test_a_label_that_is_not_a_class_is_refused():
    shard = make_shard(np.eye(4), np.array([0, 1, 7, 2]))
    with pytest.raises(ValueError, match=r"^expected labels among the classes \[0, 1, 2\], got 7: name all"):
        shard.block(np.array([0, 1, 2]), 0)
    with pytest.raises(ValueError, match=r"got 1: "):
        shard.block(np.array([0, 2, 3, 7]), 0)
    with pytest.raises(ValueError, match="labels must be all strings or all numbers"):
        shard.block(np.array(["a", "b"]), 0)
    with pytest.raises(ValueError, match=r"classes \[\], got 0"):
        shard.block(np.empty(0), 0)
    assert shard.block(np.array([0, 1, 2, 7]), 0).y.tolist() == [0, 1, 3, 2]
    assert len(make_shard(np.empty((0, 4)), []).block(np.array([0, 1]), 0)) == 0
