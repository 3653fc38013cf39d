"""What the benchmarks of kernels compare with: plain programs that make the mistakes that our learner makes."""

import numpy as np
import pytest
from benchmarks import kernel_workers, kernels
from benchmarks.plain import by_blocks, polynomial, row_by_row

import rosenblatt
from rosenblatt.reproductions.idx import read_mnist

MEASURES = [kernels.rows, kernels.svc, kernels.whole, kernels.vote]


def tied_digits(n=120, seed=0):
    """Return small integers, so that floats are exact and many scores are 0, of three classes."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (n, 3)).astype(float), rng.integers(0, 3, n)


def in_order(learned):
    """Return a run with its rows in the order of their numbers."""
    order = np.argsort(learned.rows)
    return learned.rows[order].tolist(), learned.counts[order].tolist(), learned.mistakes


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_the_power_is_that_of_integers(degree):
    values = polynomial(np.array([[-3.0, -1.0, 0.0, 5.0]]), degree)
    assert values.tolist() == [[(1 + v) ** degree for v in (-3, -1, 0, 5)]]


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_program_by_rows_makes_the_mistakes_of_our_learner(degree):
    X, y = tied_digits()
    model = rosenblatt.KernelPerceptron(degree=degree, gamma=1, hypothesis="vote", shuffle=False, max_iter=3).fit(X, y)
    learned = row_by_row(X, y, degree, 3)
    assert learned.mistakes > 100
    assert kernels.same_run(model, learned)
    assert not kernels.same_run(model, row_by_row(X, y, degree, 2))
    assert not kernels.same_run(model, learned._replace(counts=-learned.counts))


@pytest.mark.parametrize("block", [1, 7, 50, 120, 1000])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_program_by_blocks_makes_the_mistakes_of_that_by_rows(degree, block):
    X, y = tied_digits(seed=1)
    assert in_order(by_blocks(X, y, degree, 4, block)) == in_order(row_by_row(X, y, degree, 4))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("folder", [None, "empty"])
def test_without_mnist_a_sentence_says_what_is_missing(measure, folder, monkeypatch, tmp_path):
    if folder is None:
        monkeypatch.delenv("ROSENBLATT_DATA", raising=False)
    else:
        monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    (figure,) = measure(quick=True)
    assert figure.measured.startswith("not measured: it needs mnist/*-ubyte.gz in ")
    assert figure.met is None


def test_files_that_are_written_are_read_back(tmp_path):
    folder, parts = made_up_mnist(tmp_path)
    for part, (pixels, labels) in read_mnist(folder).items():
        assert np.array_equal(pixels, parts[part][0].reshape(len(labels), 784))
        assert np.array_equal(labels, parts[part][1])


@pytest.mark.slow
def test_both_sides_of_the_whole_make_the_same_mistakes(tmp_path):
    folder, _ = made_up_mnist(tmp_path)
    seconds, mistakes, supports = kernel_workers.ours(str(folder), 2)
    assert seconds > 0
    assert mistakes > supports > 0
    assert kernel_workers.blocks(str(folder), 2)[1:] == (mistakes, supports)
    assert 0 < kernel_workers.peak_gibibytes() < 100


def made_up_mnist(folder):
    """Write files such as MNIST's, of noise and three classes, and return their folder and what they hold."""
    rng = np.random.default_rng(2)
    parts = {}
    for part, start, n in (("train", "train", 90), ("test", "t10k", 20)):
        parts[part] = rng.integers(0, 256, (n, 28, 28), np.uint8), rng.integers(0, 3, n).astype(np.uint8)
        kernels.write_idx(folder / f"{start}-images-idx3-ubyte", parts[part][0])
        kernels.write_idx(folder / f"{start}-labels-idx1-ubyte", parts[part][1])
    return folder, parts
