"""No kernel is called with a number out of range: of a class, a row, a column, a support row."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.training.batches import InMemory, labelled_batch
from rosenblatt.training.linear import LinearState
from rosenblatt.training.options import KernelOptions, RunOptions
from rosenblatt.training.predict import activations, best_classes, votes
from rosenblatt.training.rows import as_rows, check_numbers
from rosenblatt.training.run import TrainingRun, new_state

X = np.arange(12.0).reshape(4, 3) - 5
LABELS = np.array([0, 1, 2, 1])
OPTIONS = pytest.mark.parametrize(
    "options",
    [
        RunOptions(),
        RunOptions(multi_class="direct"),
        KernelOptions(gamma=1.0),
        KernelOptions(gamma=1.0, multi_class="direct"),
    ],
    ids=["linear", "direct", "kernel", "kernel direct"],
)
FORMS = pytest.mark.parametrize("form", [np.array, sp.csr_array])


def run_of(options, batch, d=3):
    return TrainingRun(new_state(options, 3, d), InMemory(batch), options)


@OPTIONS
@FORMS
@pytest.mark.parametrize("label", [3, 7, -1])
def test_a_class_number_out_of_range_is_refused(options, form, label):
    batch = labelled_batch(form(X), LABELS)
    run = run_of(options, batch)
    labels = batch.labels.copy()
    labels[2] = label
    with pytest.raises(ValueError, match=r"^expected class numbers from 0 to 2, got -?\d: .*\.$"):
        run.visit(batch._replace(labels=labels))


@OPTIONS
@pytest.mark.parametrize("row", [4, 2**32 - 1])
def test_a_row_number_out_of_range_is_refused(options, row):
    batch = labelled_batch(X, LABELS)
    run = run_of(options, batch)
    with pytest.raises(ValueError, match=f"^expected row numbers from 0 to 3, got {row}: "):
        run._visit(batch, np.array([0, row], np.uint32), shuffled=False)


@OPTIONS
@pytest.mark.parametrize("part", [{"labels": np.zeros(3, np.int32)}, {"steps": np.ones(3)}])
def test_a_label_or_a_step_size_that_is_missing_is_refused(options, part):
    batch = labelled_batch(X, LABELS)
    run = run_of(options, batch)
    with pytest.raises(ValueError, match=r"^expected a label and a step size for each of the 4 rows"):
        run.visit(batch._replace(**part))


@FORMS
def test_rows_of_another_width_than_the_weights_are_refused(form):
    state = LinearState.initial(RunOptions(), 3, 2)
    rows = as_rows(form(X))
    for function in (activations, best_classes):
        with pytest.raises(ValueError, match=r"^expected rows with 2 columns, as the weights have, got 3: "):
            function(rows, state.w, state.b)
    with pytest.raises(ValueError, match=r"^expected a range of rows within 0 to 4, got 0 to 5\."):
        activations(rows, np.zeros((3, 3)), np.zeros(3), 0, 5)
    with pytest.raises(ValueError, match=r"^expected one bias for each of the 3 classes, got 2\."):
        best_classes(rows, np.zeros((3, 3)), np.zeros(2))


def test_dense_rows_that_are_narrower_than_the_weights_are_refused_and_sparse_ones_are_not():
    weights = np.ones((3, 5)), np.zeros(3)
    assert activations(as_rows(sp.csr_array(X)), *weights).tolist() == np.repeat(X.sum(axis=1)[:, None], 3, 1).tolist()
    with pytest.raises(ValueError, match="expected rows with 5 columns"):
        activations(as_rows(X), *weights)


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_votes_of_updates_on_rows_that_are_not_stored_are_refused(multi_class):
    options = RunOptions(multi_class=multi_class, hypothesis="vote", max_iter=3)
    batch = labelled_batch(X, LABELS)
    run = run_of(options, batch)
    run.run()
    state = run.state
    assert votes(state, state.log, batch.rows).shape == (4, 3)
    updates = state.log.updates
    state.log.updates = lambda k: updates(k)._replace(members=updates(k).members + 100)
    with pytest.raises(ValueError, match=r"^expected stored rows from 0 to \d, got 10\d: "):
        votes(state, state.log, batch.rows)


def test_classes_that_lack_one_of_the_batch_are_refused():
    source = InMemory(labelled_batch(X, LABELS))
    with pytest.raises(ValueError, match=r"^expected labels among the classes \[0, 1\], got 2: "):
        source.set_classes(np.array([0, 1]))


def test_numbers_of_any_type_are_compared_without_wrapping():
    for kind in (np.int32, np.uint32, np.int64, np.uint64):
        check_numbers("rows", np.array([0, 2], kind), 3)
        check_numbers("rows", np.array([], kind), 0)
        with pytest.raises(ValueError, match=r"^expected rows from 0 to 2, got 3: "):
            check_numbers("rows", np.array([0, 3], kind), 3)
    with pytest.raises(ValueError, match="got -1"):
        check_numbers("rows", np.array([5, -1, 7])[1:2], 3)
