"""What cannot be learned from a Dask collection is said in one sentence, with what to do."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.clusters import dask_cluster, integer_rows
from rosenblatt.distributed.engines import ClusterError

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da, dd, pd = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe", "pandas"))
bag = pytest.importorskip("dask.bag")

from rosenblatt.distributed import DaskPerceptron  # noqa: E402

X, Y = integer_rows(40, 3, 2)
ROWS, LABELS = da.from_array(X, chunks=(20, 3)), da.from_array(Y, chunks=20)
FRAME = pd.DataFrame(X, columns=list("abc"))
SERIES = dd.from_pandas(pd.Series(Y), npartitions=2)


@pytest.fixture(scope="module")
def client():
    """A client that is not the default one."""
    with dask_cluster(1, processes=False) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


def with_column(values):
    """Return a Dask data frame with one more column."""
    return dd.from_pandas(FRAME.assign(more=values), npartitions=2)


def with_hole(hole):
    """Return rows in which one number is no finite one."""
    rows = X.copy()
    rows[25, 1] = hole
    return rows


def sparse(rows):
    """Return a Dask array of CSR blocks."""
    parts = [sp.csr_array(rows[:20]), sp.csr_array(rows[20:])]
    return da.concatenate([da.from_delayed(dask.delayed(part), part.shape, meta=parts[0][:0]) for part in parts])


WORDS = np.where(Y == 1, "yes", "no")
OBJECTS = WORDS[:, None].astype(object)
MISSING = "partition 1: there are missing or infinite numbers: fill them in first, for instance with fillna"
NUMBERS = "expected columns of numbers, got more"
REFUSED = {
    "strings": (with_column(WORDS), SERIES, NUMBERS),
    "categories": (with_column(pd.Categorical(WORDS)), SERIES, "got more (category): encode them first"),
    "dates": (with_column(pd.Timestamp("2026-01-01")), SERIES, "got more (datetime64"),
    "objects": (with_column(pd.Series([object()] * 40, dtype=object)), SERIES, NUMBERS),
    "missing values of a frame": (with_column(np.where(Y == 1, np.nan, 1.0)), SERIES, "missing or infinite numbers"),
    "missing integers": (with_column(pd.array([1, None] * 20, dtype="Int64")), SERIES, "missing or infinite numbers"),
    "nan": (da.from_array(with_hole(np.nan), chunks=(20, 3)), LABELS, MISSING),
    "infinity": (da.from_array(with_hole(np.inf), chunks=(20, 3)), LABELS, MISSING),
    "nan in a CSR block": (sparse(with_hole(np.nan)), LABELS, MISSING),
    "an array of words": (
        da.from_array(WORDS[:, None], chunks=(20, 1)),
        LABELS,
        "expected X with numbers, got a Dask array of <U3",
    ),
    "complex numbers": (ROWS + 1j, LABELS, "expected X with numbers, got a Dask array of complex128"),
    "objects in an array": (da.from_array(OBJECTS, chunks=(20, 1)), LABELS, "partition 0: "),
    "a series": (SERIES, SERIES, "expected a two-dimensional X, got a Dask series"),
    "labels cut otherwise": (
        ROWS,
        da.from_array(Y, chunks=10),
        "expected y with 2 partitions, as X has, got 4: rechunk or repartition one to match the other",
    ),
    "labels of other lengths": (
        ROWS,
        da.from_array(Y, chunks=((10, 30),)),
        "partition 0: expected a label for each of the 20 rows, got 10 labels",
    ),
    "too few labels": (ROWS, Y[:-1], "expected y for each of the 40 rows, got 39"),
    "labels of rows of unknown number": (
        ROWS[LABELS >= 0],
        Y,
        "expected y as a Dask collection, because the lengths of the partitions of X are unknown, got a ndarray",
    ),
    "labels with columns": (ROWS, da.ones((40, 2), chunks=20), "expected y with one value per row, got a Dask array"),
    "one dimension": (LABELS, LABELS, "expected a two-dimensional X, got a Dask array of shape (40,)"),
    "numbers as labels": (ROWS, LABELS + 0.5, "expected classes, got numbers such as"),
    "one class": (ROWS, LABELS * 0, "training needs at least two classes, got one class: every label is 0"),
    "no rows": (ROWS[:0], LABELS[:0], "expected rows to train on, got only empty shards"),
    "rows that a filter took": (ROWS[LABELS > 5], LABELS[LABELS > 5], "got only empty shards"),
    "a bag": (bag.from_sequence([1, 0]), LABELS, "expected X as a Dask array or data frame, got a Dask Bag"),
}


@pytest.mark.parametrize(("rows", "labels", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_learned_from_is_refused_in_a_sentence(client, rows, labels, sentence):
    model = DaskPerceptron(client=client)
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        model.fit(rows, labels)
    said = str(refusal.value)
    assert len(said.splitlines()) == 1, said
    assert not hasattr(model, "state_")


@pytest.mark.parametrize("rows", [X, sp.csr_array(X), FRAME, X.tolist()], ids=["array", "csr", "frame", "list"])
def test_rows_in_memory_are_for_the_local_learner(client, rows):
    with pytest.raises(TypeError, match=r"expected X as a Dask array or data frame, got a .*: use the local learner"):
        DaskPerceptron(client=client).fit(rows, Y)


def test_labels_are_needed(client):
    with pytest.raises(TypeError, match="training needs labels, got none"):
        DaskPerceptron(client=client).fit(ROWS)


def test_without_a_client_there_is_no_training():
    with pytest.raises(ClusterError, match="there is no Dask client: create one first"):
        DaskPerceptron().fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=r"client must be a distributed\.Client, got a str"):
        DaskPerceptron(client="tcp://127.0.0.1:1").fit(ROWS, LABELS)
