"""What a run proves of its data, in the space of the kernel: computed again from the exact kernel values."""

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers.kernel_sets import kernel_name, model_for, tied_set, twin_of
from helpers.naive_kernel import Kernel, Values, summed, to_float

KERNELS = [
    Kernel("linear"),
    Kernel("poly", 2, 0.5, 1.0),
    Kernel("poly", 3, 0.1, 0.1),
    Kernel("rbf", gamma=0.5),
    Kernel("laplacian", gamma=0.1),
]


def separable(kernel, seed=0, n=20):
    """Return a set that a kernel of this kind separates: labels by a plane, no row twice."""
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(-3, 4, (n, 3)), axis=0).astype(float)
    a = X @ [2.0, 1.0, -1.0]
    return X[a != 0], (a[a != 0] > 0).astype(int)


def gram(kernel, X):
    values = Values(kernel, X)
    return np.array([[to_float(values(i, j)) for j in range(len(X))] for i in range(len(X))])


@pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
@pytest.mark.parametrize("weighted", [False, True])
def test_radius_margins_and_bound(kernel, weighted):
    X, y = separable(kernel)
    steps = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(y)) if weighted else np.ones(len(y))
    model = model_for(kernel, hypothesis="last", max_iter=2000, random_state=0)
    report = model.fit(X, y, sample_weight=steps).report_
    (twin,) = twin_of(kernel, X, y, 2, seed=0, passes=2000, steps=steps)
    assert report.converged
    assert report.converged == twin.clean[-1]
    assert (report.passes, report.updates, report.mistakes_by_pass) == (len(twin.mistakes), twin.made, twin.mistakes)

    G, s = gram(kernel, X), 2.0 * y - 1.0
    last = summed(twin.updates)
    alpha = np.array([float(last.get(row, 0)) for row in range(len(y))])
    length = math.sqrt(alpha @ G @ alpha)
    margin = (s * (G @ alpha)).min() / length
    assert report.radius == pytest.approx(math.sqrt(G.diagonal().max()), rel=1e-9)
    assert 0.5 * margin <= report.margin_low <= margin * (1 + 1e-12)
    assert report.margin_high >= margin * (1 - 1e-12)
    assert report.margin_high == pytest.approx(length / sum(abs(u.step) for u in twin.updates), rel=1e-6)
    reach2 = (steps**2 * G.diagonal()).max()
    low_step = (steps * s * (G @ alpha)).min() / length
    assert (1 - 1e-9) * reach2 / low_step**2 <= report.bound <= 4.5 * reach2 / low_step**2
    for seed in range(1, 6):
        other = model_for(kernel, hypothesis="last", max_iter=2000, random_state=seed).fit(X, y, sample_weight=steps)
        assert other.n_updates_ <= report.bound
        assert other.report_.margin_high >= report.margin_low
    assert "Separated" in str(report)


@pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_several_classes(kernel, multi_class):
    X, y = separable(kernel, n=14)
    y = y + (X[:, 0] + 0.5 * X[:, 1] + 0.25 > 2)
    direct = multi_class == "direct"
    model = model_for(kernel, hypothesis="last", max_iter=3000, random_state=0, multi_class=multi_class)
    if kernel.name in ("linear", "poly"):
        model.set_params(max_iter=300, hypothesis="average")  # not every one of these is separated
    report = model.fit(X, y).report_
    assert report.radius == pytest.approx(math.sqrt(gram(kernel, X).diagonal().max()), rel=1e-9)
    assert report.updates == model.n_updates_ == sum(report.mistakes_by_pass)
    assert direct or sorted(report.by_class) == [0, 1, 2]
    if not report.converged:
        assert (report.margin_low, report.bound) == (-math.inf, math.inf)
        return
    for seed in range(1, 4):
        other = model_for(kernel, max_iter=3000, random_state=seed, multi_class=multi_class).fit(X, y)
        assert other.n_updates_ <= report.bound
        if not direct:
            for label, part in report.by_class.items():
                assert other.report_.by_class[label].updates <= part.bound


def test_before_a_clean_pass_nothing_is_proved():
    X, y = tied_set("duplicates")
    kernel = Kernel("poly", 2, 1.0, 1.0)
    with pytest.warns(ConvergenceWarning, match="the data is not separated"):
        model = model_for(kernel, hypothesis="last", max_iter=3, random_state=0).fit(X, y)
    report = model.report_
    (twin,) = twin_of(kernel, X, y, 2, seed=0, passes=3)
    assert (report.converged, report.margin_low, report.bound) == (False, -math.inf, math.inf)
    G, alpha = gram(kernel, X), np.zeros(len(y))
    for row, value in summed(twin.updates).items():
        alpha[row] = float(value)
    assert report.margin_high == pytest.approx(math.sqrt(alpha @ G @ alpha) / twin.made, rel=1e-6)
    model_for(kernel, max_iter=3, random_state=0).fit(X, y)  # an average is not warned about


def test_rows_that_are_not_visited_have_no_radius():
    X, y = separable(KERNELS[0])
    X = np.concatenate([X, [[100.0, 100.0, 100.0]]])
    y, steps = np.append(y, 0), np.append(np.ones(len(y)), 0.0)
    model = model_for(Kernel("poly", 2, 1.0, 1.0), max_iter=50, random_state=0).fit(X, y, sample_weight=steps)
    assert model.report_.radius == (X[:-1] ** 2).sum(axis=1).max() + 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_kernel_without_a_space_proves_no_bound():
    X, y = [[1.0], [-1.0], [0.5], [-0.5]], [1, 0, 1, 0]
    model = model_for(Kernel("poly", 1, 1.0, -2.0), hypothesis="last", max_iter=50, random_state=0).fit(X, y)
    assert model.report_.bound == math.inf
    assert str(model.report_)
