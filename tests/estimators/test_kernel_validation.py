"""The kernel perceptron refuses what it cannot learn from."""

import importlib.util
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.kernel_sets import tied_set
from rosenblatt import KernelPerceptron, load, save
from rosenblatt.training.dual import predict as voting

# One clear sentence for what cannot be, and nothing that was learned is lost.


def assert_one_sentence(message: str) -> None:
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 400


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "cubic"}, "kernel must be .*'poly'.*got 'cubic'"),
        ({"kernel": 3}, "kernel must be one of .*or a function, got 3"),
        ({"kernel": None}, "kernel must be one of .*got None"),
        ({"degree": -1}, "degree must be an integer from 0 to 1000, got -1"),
        ({"degree": 2.5}, r"degree must be an integer from 0 to 1000, got 2\.5"),
        ({"degree": "3"}, "degree must be an integer"),
        ({"degree": True}, "degree must be an integer"),
        ({"gamma": -0.5}, r'gamma must be "scale", "auto" or a number of at least 0, got -0\.5'),
        ({"gamma": float("nan")}, "gamma must be .*got nan"),
        ({"gamma": float("inf")}, "gamma must be .*got inf"),
        ({"gamma": "foo"}, "gamma must be 'scale' or 'auto', got 'foo'"),
        ({"gamma": None}, "gamma must be .*got None"),
        ({"coef0": float("nan")}, "coef0 must be a number, got nan"),
        ({"coef0": "one"}, "coef0 must be a number, got 'one'"),
        ({"cache_size": 0}, "cache_size must be a number of megabytes above 0, got 0"),
        ({"cache_size": -1.0}, "cache_size must be a number of megabytes above 0"),
        ({"cache_size": float("nan")}, "cache_size must be a number of megabytes above 0, got nan"),
        ({"cache_size": "big"}, "cache_size must be a number of megabytes above 0, got 'big'"),
        ({"max_support": 0}, "max_support must be an integer of at least 1 or None, got 0"),
        ({"max_support": 2.5}, "max_support must be an integer"),
        ({"device": 1}, 'device must be a string such as "cuda" or None, got 1'),
        ({"device": "toaster"}, "toaster"),
        ({"cache_size": 1e305}, "cache_size"),
        ({"gamma": 10**400}, "gamma"),
        ({"coef0": 10**400}, "coef0"),
        ({"degree": 5000}, "degree"),
    ],
)
def test_parameters(options, match):
    X, y = tied_set("ties", n=24)
    for learn in (
        lambda model: model.fit(X, y),
        lambda model: model.fit_stream([(X, y)]),
        lambda model: model.partial_fit(X, y),
    ):
        model = KernelPerceptron(**({"gamma": 1.0} | options))
        with pytest.raises(ValueError, match=match) as error:
            learn(model)
        assert_one_sentence(str(error.value))
        assert not hasattr(model, "state_")


def test_a_cache_for_one_row_is_enough_and_less_is_not():
    X, y = tied_set("ties", n=24)
    model = KernelPerceptron(gamma=1.0, cache_size=8 * 23 / 1e6)
    with pytest.raises(ValueError, match="cache_size") as error:
        model.fit(X, y)
    assert_one_sentence(str(error.value))
    assert not hasattr(model, "state_")
    small = KernelPerceptron(gamma=1.0, cache_size=8 * 25 / 1e6, max_iter=3, random_state=0).fit(X, y)
    large = KernelPerceptron(gamma=1.0, max_iter=3, random_state=0).fit(X, y)
    assert small.last_dual_coef_.tolist() == large.last_dual_coef_.tolist()


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_no_gpu_where_one_is_asked_for(device):
    if importlib.util.find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is one")
        match = "cuda.*GPU|GPU.*cuda"
    else:
        match = r"cuda.*rosenblatt\[gpu\]|PyTorch"
    X, y = tied_set("ties")
    with pytest.raises(ValueError, match=match) as error:
        KernelPerceptron(device=device).fit(X, y)
    assert_one_sentence(str(error.value))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"multi_class": "direct"}, {"warm_start": True}])
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_nan_and_infinity_are_refused_and_nothing_is_lost(bad, layout, options, kernel):
    X, y = small_set("gauss", n=60, classes=3, seed=2)
    model = KernelPerceptron(kernel=kernel, gamma=0.5, max_iter=3, random_state=0, **options).fit(X, y)
    before = learned(model)
    spoiled = X.copy()
    spoiled[57, 3] = bad
    for call, words in (
        (lambda: model.fit(layout(spoiled), y), "Input X contains (NaN|infinity)"),
        (lambda: KernelPerceptron(kernel=kernel).fit(layout(spoiled), y), "Input X contains (NaN|infinity)"),
        (lambda: model.partial_fit(layout(spoiled), y), "NaN|infinity"),
        (lambda: model.predict(layout(spoiled)), "NaN|infinity"),
        (lambda: model.fit_stream([(layout(X), y), (layout(spoiled), y)]), "NaN|infinity"),
        (lambda: model.fit_stream([(X, y), (X[:, :2], y)]), "2 features"),
        (lambda: model.partial_fit(X[:, :2], y), "2 features"),
        (lambda: model.fit(X, y, sample_weight=-np.ones(60)), "not negative"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
        assert learned(model) == before


def learned(model):
    """Return what a model has learned, as plain data."""
    made = [[array.tolist() for array in model.state_.updates_of(k)] for k in range(len(model.state_.counters))]
    rows = model.support_vectors_
    return (
        model.classes_.tolist(),
        model.support_.tolist(),
        (rows.toarray() if sp.issparse(rows) else rows).tolist(),
        made,
        model.n_iter_,
        model.n_features_in_,
        model.last_dual_coef_.tolist(),
    )


def test_values_that_are_not_square():
    X, y = tied_set("ties", n=24)
    model = KernelPerceptron(kernel="precomputed", max_iter=2, random_state=0)
    with pytest.raises(ValueError, match=r"square.*24.*3") as error:
        model.fit(X, y)
    assert_one_sentence(str(error.value))
    assert not hasattr(model, "state_")
    model.fit(X @ X.T, y)
    before = model.support_.tolist(), model.last_dual_coef_.tolist()
    with pytest.raises(ValueError, match="24") as error:
        model.predict(X)
    with pytest.raises(ValueError, match="square"):
        model.fit(np.ones((24, 25)), y)
    assert (model.support_.tolist(), model.last_dual_coef_.tolist()) == before
    assert len(model.predict((X @ X.T)[:5])) == 5


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda A, B: np.ones((len(A), 1)), "shape"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN|finite"),
        (lambda A, B: "values", "kernel"),
    ],
    ids=["shape", "nan", "words"],
)
def test_functions_that_return_no_kernel_values(function, match):
    X, y = tied_set("ties", n=24)
    model = KernelPerceptron(kernel=function, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match=match) as error:
        model.fit(X, y)
    assert_one_sentence(str(error.value))
    assert not hasattr(model, "state_")


def test_the_pocket_needs_all_rows():
    assert not hasattr(KernelPerceptron(hypothesis="pocket", gamma=1.0), "partial_fit")
    X, y = tied_set("ties")
    with pytest.raises(ValueError, match="pocket"):
        KernelPerceptron(hypothesis="pocket", gamma=1.0).fit_stream([(X, y)])
    with pytest.raises(ValueError, match="counts of all classes"):
        KernelPerceptron(class_weight="balanced", gamma=1.0).partial_fit(X, y)


# What an attack on the kernel perceptron found, each as it was found.


def test_thirds_that_add_up_to_one_are_no_integers():
    X, y = [[1, 2], [0, 2]], [-1, 1]
    weights = {1: 1.0, -1: 1 / 3}
    model = KernelPerceptron("linear", hypothesis="last", shuffle=False, max_iter=200, class_weight=weights).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0


def test_steps_that_cancel_leave_their_rounding_errors():
    X = np.eye(2)
    model = KernelPerceptron("linear", shuffle=False, max_iter=1, warm_start=True)
    model.fit(X, [1, -1], sample_weight=[0.4, 0.4])
    for step in (0.1, 0.2, 0.1):
        model.fit(X, [-1, 1], sample_weight=[step, step])
    left = Fraction(0.4) - Fraction(0.1) - Fraction(0.2) - Fraction(0.1)
    sign = (left > 0) - (left < 0)
    assert np.sign(model.set_params(hypothesis="last").decision_function(X)).tolist() == [sign, -sign]


@pytest.mark.parametrize("block", [1, 2, 1000])
def test_rows_forgotten_in_the_block_that_brought_them_leave_nothing(block, tmp_path, monkeypatch):
    monkeypatch.setattr(KernelPerceptron, "_computing", {"block": block})
    model = KernelPerceptron("linear", shuffle=False, max_iter=1, max_support=1)
    model.fit([[2, -3], [4, -2], [3, -4]], [-1, 1, -1])
    assert model.state_.norm2 == pytest.approx([25.0])
    assert model.report_.margin_high == pytest.approx(5.0)
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").support_.tolist() == model.support_.tolist()


def test_sparse_distances_take_memory_for_the_columns_that_occur():
    n, d = 2000, 10**6
    rng = np.random.default_rng(0)
    X = sp.csr_array((np.ones(5 * n), rng.integers(0, d, 5 * n), np.arange(n + 1) * 5), (n, d))
    y = np.arange(n) % 2
    model = KernelPerceptron("laplacian", gamma=1.0, max_iter=1).fit(X[:10], y[:10])
    tracemalloc.start()
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    few, supports = X[:3], model.support_vectors_
    for row, values in zip(few.toarray(), model.kernel_values(few), strict=True):
        expected = [np.exp(-np.abs(row - support).sum()) for support in supports.toarray()]
        assert values == pytest.approx(expected)


@pytest.mark.parametrize("weight", [1e-300, 1e-160, 1e160, 1e300])
def test_weights_of_any_size_prove_nothing_false(weight, tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 2)), np.where(rng.random(12) < 0.5, 1, -1)
    unit = KernelPerceptron("rbf", gamma=1.0, max_iter=50, shuffle=False).fit(X, y)
    model = KernelPerceptron("rbf", gamma=1.0, max_iter=50, shuffle=False).fit(X, y, sample_weight=np.full(12, weight))
    assert model.support_.tolist() == unit.support_.tolist()
    assert model.report_.margin_low <= unit.report_.margin_high * 1.0000001
    assert model.report_.margin_high >= unit.report_.margin_low
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == unit.predict(X).tolist()


@pytest.mark.parametrize("degree", [1, 3])
def test_dot_products_that_vanish_before_gamma_brings_them_back(degree):
    model = KernelPerceptron("poly", degree=degree, gamma=1e300, coef0=1e-60, shuffle=False, hypothesis="last")
    assert model.fit([[1e-170], [-1e-170]], [1, -1]).n_updates_ == 1


def test_kernel_values_beyond_the_floats_can_be_saved(tmp_path):
    X = np.array([[1e120, 2e120], [-1e120, 1e120], [3e120, -1e120]])
    model = KernelPerceptron("poly", gamma=1.0, max_iter=3).fit(X, [0, 1, 1])
    assert model.report_.radius == np.inf
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == model.predict(X).tolist()


def test_float32_products_prove_nothing_false(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    exact = KernelPerceptron(degree=2, coef0=0.0, gamma=0.1, shuffle=False).fit(X, y).report_
    monkeypatch.setattr(KernelPerceptron, "_computing", {"dtype": "float32"})
    rough = KernelPerceptron(degree=2, coef0=0.0, gamma=0.1, shuffle=False).fit(X, y).report_
    assert rough.margin_high >= exact.margin_high * (1 - 1e-9)
    huge = KernelPerceptron(degree=150, gamma=1.0).fit([[-1.422, -0.198], [1.364, 2.13]], [0, 1]).report_
    assert huge.margin_low <= huge.margin_high


def test_votes_far_from_all_support_rows_are_counted_in_bulk(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.integers(0, 2, 600)
    model = KernelPerceptron("rbf", gamma=20.0, max_iter=1, hypothesis="vote", shuffle=False).fit(X, y)
    asked = []
    settled = voting.filtered_sign
    monkeypatch.setattr(voting, "filtered_sign", lambda *given: asked.append(1) or settled(*given))
    model.predict(rng.normal(size=(20, 4)))
    assert len(asked) < 200


def test_complex_kernel_values_are_refused():
    with pytest.raises(ValueError, match="expected kernel values"):
        KernelPerceptron(lambda A, B: (A @ B.T) * 1j).fit([[1.0], [2.0]], [0, 1])
