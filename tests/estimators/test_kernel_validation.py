"""One clear sentence for what cannot be, and nothing that was learned is lost."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.kernel_sets import tied_set
from rosenblatt import KernelPerceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
        ({"gamma": -0.5}, r'gamma must be "scale", "auto" or a number from 0 on, got -0\.5'),
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
        ({"device": 1}, 'device must be a word such as "cuda" or None, got 1'),
        ({"device": "toaster"}, "toaster"),
        ({"hypothesis": "best"}, "hypothesis must be 'last' or 'average'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
        ({"multi_class": "ovo"}, "multi_class must be 'ovr' or 'direct'"),
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
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.fit(layout(spoiled), y)
    assert learned(model) == before
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.partial_fit(layout(spoiled), y)
    assert learned(model) == before
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(layout(spoiled))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.fit_stream([(layout(X), y), (layout(spoiled), y)])
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


@pytest.mark.parametrize("warm_start", [False, True])
def test_whatever_fails_leaves_the_model_alone(warm_start):
    X, y = small_set("gauss", n=40, seed=3)
    model = KernelPerceptron(gamma=0.5, max_iter=2, random_state=0, warm_start=warm_start).fit(X, y)
    before = learned(model)
    for call in (
        lambda: model.fit(X, y[:-1]),
        lambda: model.fit(X, y, sample_weight=-np.ones(40)),
        lambda: model.fit(X, ["a"] * 40),
        lambda: model.partial_fit(X[:, :2], y),
        lambda: model.fit_stream([(X, y), (X[:, :2], y)]),
        lambda: model.fit_stream([]),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own message, tested elsewhere)
            call()
        assert learned(model) == before


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


def test_one_class_is_refused():
    X, _ = tied_set("ties")
    with pytest.raises(ValueError, match="at least two classes, got one class"):
        KernelPerceptron().fit(X, np.ones(len(X)))
