"""Model files without the columns that are zero: the same bits come back, files are small, and none claims too much."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.forging import alike, compact, forge
from helpers.pipelines import FAMILY
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, RescaledPerceptron, VotedPerceptron, data
from rosenblatt.messages import ParameterError
from rosenblatt.persistence.files import load, save
from rosenblatt.storage.columns import names_from_plain, names_to_plain, pack_columns, unpack_columns
from rosenblatt.storage.container import read_container
from rosenblatt.training.model_file import TrainedModel


def wide_rows(n=40, d=5000, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    X[:, rng.choice(d, 6, replace=False)] = rng.standard_normal((n, 6))
    return sp.csr_array(X), np.arange(n) % classes


LEARNERS = [
    Perceptron(random_state=0, max_iter=3),
    AveragedPerceptron(random_state=0, multi_class="direct"),
    Perceptron("pocket", random_state=0, max_iter=4, early_stopping=True, warm_start=True, validation_fraction=0.3),
    VotedPerceptron(random_state=0, max_iter=2),
    RescaledPerceptron(random_state=0, max_rescalings=2),
    KernelPerceptron("rbf", gamma=0.5, random_state=0),
    *FAMILY,
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_wide_model_is_small_and_comes_back(path, learner, classes):
    rescaled = isinstance(learner, RescaledPerceptron)  # takes longer, and dense rows only
    X, y = wide_rows(d=300 if rescaled else 5000, classes=classes)
    model = learner.fit(X.toarray() if rescaled else X, y)
    save(model, path)
    assert path.stat().st_size < 30_000 + 8 * 5000 * isinstance(learner, KernelPerceptron)
    again = load(path)
    if not rescaled:  # its verdict is compared elsewhere
        alike(again, model)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    first = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == first
    if not isinstance(learner, KernelPerceptron | RescaledPerceptron):
        header, arrays = read_container(path)
        assert header["width"] == 5000
        assert 0 < len(arrays["columns"]) <= 6
        alike(again.fit(X, y).state_, model.fit(X, y).state_)


def test_a_table_with_a_column_of_text_takes_less_than_50_kilobytes(path, tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["a", "small", "set", "of", "words", "into", "notes"])
    lines = ["p,q,r,s,t,colour,note,y"]
    for i in range(400):
        numbers = ",".join(f"{v:.3f}" for v in rng.standard_normal(5))
        lines.append(f"{numbers},{'red' if i % 3 else 'blue'},{' '.join(rng.choice(words, 6))},{i % 2}")
    (tmp_path / "a.csv").write_text("\n".join(lines))
    stream = data.open(tmp_path / "a.csv", "y", column_types={"note": "text"}, keep_words=True)
    model = AveragedPerceptron(random_state=0).fit_stream(stream)
    model.preparation_, model.feature_names_in_ = stream.preparation, np.array(stream.feature_names, object)
    save(model, path)
    assert path.stat().st_size < 50_000
    alike(load(path), model)
    alike(TrainedModel.load(path).state, model.state_)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.0, 0.0, -0.0, 1.5, -2.0, 5e-324]), min_size=9, max_size=9), min_size=1),
    st.booleans(),
)
def test_packing_keeps_every_bit(lines, ranged):
    arrays = {"w": np.array(lines), "u": np.array(lines)[::-1] * 2.0, "a.best.w": np.array(lines) * 0.5}
    arrays |= {"b": np.zeros(3), "done": np.zeros(1, bool)}
    if ranged:
        arrays["feature_ranges"] = np.abs(arrays["u"]).max(axis=0)
    width, packed = pack_columns(arrays)
    assert (width is None) == ("columns" not in packed)
    assert sum(a.nbytes for a in packed.values()) <= sum(a.nbytes for a in arrays.values())
    if width is not None:
        kept = np.any([np.any(np.atleast_2d(a).view(np.int64), axis=0) for n, a in arrays.items() if n[-1] in "wu"], 0)
        assert packed["columns"].tolist() == np.flatnonzero(kept).tolist() or ranged
    again = unpack_columns(width, packed, None)
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        assert again[name].tobytes() == array.tobytes()
        assert again[name].shape == array.shape


def few_entries(n_rows=20, width=3000, seed=0):
    """Return arrays of which few entries are used, in many columns; the values of ``w`` fit into float32."""
    rng = np.random.default_rng(seed)
    w, s = np.zeros((n_rows, width)), np.ones((n_rows, width))
    places = rng.random(w.shape) < 0.05
    w[places], s[places] = rng.integers(-9, 9, places.sum()) / 4, rng.random(places.sum())
    w[0, :3] = -0.0, 1e-310, np.float32(1e38)
    return {"learned.state.w": w, "learned.state.u": np.zeros_like(w), "learned.state.s": s, "b": np.zeros(n_rows)}


def test_few_entries_of_many_columns_are_stored_alone():
    arrays = few_entries()
    width, packed = pack_columns(arrays)
    assert (width, "columns" in packed) == (3000, False)
    assert sum(array.nbytes for array in packed.values()) < 0.05 * sum(array.nbytes for array in arrays.values())
    assert (packed["learned.state.w"].dtype, packed["learned.state.s"].dtype) == (np.float64, np.float64)
    again = unpack_columns(width, packed, None)
    assert {name: array.tobytes() for name, array in again.items()} == {
        name: array.tobytes() for name, array in arrays.items()
    }
    arrays["learned.state.w"][0, 1] = 0.0  # the only number that float32 cannot represent
    width, packed = pack_columns(arrays)
    assert packed["learned.state.w"].dtype == np.float32
    assert unpack_columns(width, packed, None)["learned.state.w"].tobytes() == arrays["learned.state.w"].tobytes()
    arrays["feature_ranges"] = (np.arange(3000) % 3 == 0) * 2.5
    width, packed = pack_columns(arrays)
    assert packed["columns"].tolist() == list(range(0, 3000, 3))
    assert packed["feature_ranges"].tolist() == [2.5] * 1000
    assert unpack_columns(width, packed, None)["feature_ranges"].tolist() == arrays["feature_ranges"].tolist()


FORGED_ENTRIES = {
    "w.ends": ([], [5, 3], [-1], [[2]], [1.0]),
    "w.columns": ([0, 3000], [-1, 0], [1, 0], [0, 0], [0.0, 1.0], [0], [[0, 1]], None),
    "w": ([1, 2], [1.0], [[1.0, 2.0]]),
}


@pytest.mark.parametrize(("name", "value"), [(name, one) for name, some in FORGED_ENTRIES.items() for one in some])
def test_forged_entries_are_refused(name, value):
    arrays = {"w": np.array([1.0, 2.0]), "w.columns": np.array([0, 7], np.int32), "w.ends": np.array([2])}
    assert unpack_columns(3000, arrays, None)["w"][0, [0, 7]].tolist() == [1.0, 2.0]
    del arrays[name]
    if value is not None:
        arrays[name] = np.array(value) if name != "w.columns" or type(value[0]) is not int else np.array(value, "i4")
    with pytest.raises(ValueError, match=r"the array 'w.*' must"):
        unpack_columns(3000, arrays, None)


@pytest.mark.parametrize(
    "names",
    [None, [], ["a", "b"], ["#0", "#1"], ["a", "#0", "#1", "b", "#3"], ["#00", "#1"], ["#5", "#6", "a"], ["#3", "#2"]],
)
def test_names_come_back(names):
    plain = names_to_plain(names)
    assert names_from_plain(plain, len(names or ()), None) == names


def test_a_small_file_claims_no_more_names_than_allowed():
    """Names of 16,777,216 columns once took over 1 GB, for a header of a kilobyte."""
    n = 2**21 + 1
    plain = {"count": n, "first": 0, "columns": [], "names": []}
    tracemalloc.start()
    try:
        with pytest.raises(ParameterError, match="allow them with max_features=16777224") as refusal:
            names_from_plain(plain, n, 2**24)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert str(refusal.value).startswith("the names of its 2,097,153 columns take 134,217,792 bytes")
    assert len(names_from_plain(plain, n, 16777224)) == n


def forged_width(path, width, columns=(0,), max_features=None):
    """Load a file that claims so many columns; return how it is refused."""
    save(Perceptron(max_iter=1).fit(np.eye(4000)[:2], [0, 1]), path)
    header, arrays = read_container(path)
    columns = np.array(columns)
    wide = [name for name in arrays if name.endswith((".w", ".u", ".feature_ranges"))]
    stored = {name: arrays[name][..., : len(columns)] for name in wide}
    path.write_bytes(forge(compact({**header, "width": width}), {**arrays, **stored, "columns": columns}))
    options = {} if max_features is None else {"max_features": max_features}
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"\.$") as refusal:
            load(path, **options)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert str(refusal.value).startswith(f"{path} holds no valid model: ")
    return refusal.value


@pytest.mark.parametrize("columns", [[1, 0], [0, 0], [-1, 0], [0, 50], [0.0, 1.0], [[0, 1]]])
def test_columns_are_indices_that_rise(path, columns):
    assert "'columns'" in str(forged_width(path, 50, columns))


@pytest.mark.parametrize("width", [0, -1, 1.0, "4", True, 2**80])
def test_the_width_is_a_number_of_columns(path, width):
    assert "'width' must be an integer" in str(forged_width(path, width))


def test_a_file_claims_no_more_columns_than_allowed(path):
    fault = forged_width(path, 2**40)
    assert isinstance(fault, ParameterError)
    assert str(fault).endswith(
        "it has 1,099,511,627,776 columns, but at most 16,777,216 are allowed: if you trust it, allow them with "
        "max_features=1099511627776."
    )
    assert isinstance(forged_width(path, 1001, max_features=1000), ParameterError)
    header, arrays = read_container(path)
    many = {**header, "width": 2**24, "classes": {"type": "int64", "values": list(range(300))}}
    lines = {f"learned.state.{name}": np.zeros((300, 1)) for name in ("w", "u")}
    path.write_bytes(forge(compact(many), {**arrays, **lines}))
    with pytest.raises(ParameterError, match="bytes of memory: if you trust it, allow them with max_features="):
        load(path)
    with pytest.raises(ParameterError, match="max_features must be an integer of at least 1, got 0"):
        load(path, max_features=0)


@pytest.mark.slow
def test_more_columns_are_loaded_where_they_are_allowed(path):
    """The file stores one column in 64, so that None and the command take it, and memory is in proportion to it."""
    d = 2**24 + 1
    X = sp.csr_array((np.ones(2), ([0, 1], [3, d - 1])), shape=(2, d))
    model = Perceptron(max_iter=1, shuffle=False).fit(X, [0, 1])
    save(model, path)
    assert 64 * path.stat().st_size > 8 * d
    with pytest.raises(ParameterError, match="allow them with max_features=16777217"):
        load(path)
    for again in (load(path, max_features=d), load(path, max_features=None)):
        assert again.coef_.tobytes() == model.coef_.tobytes()
    assert TrainedModel.load(path).n_features == d


def test_names_that_count_are_checked(path):
    X, y = wide_rows()
    model = Perceptron(max_iter=1).fit(X, y)
    model.feature_names_in_ = np.array(["age", *(f"#{j}" for j in range(4999))], object)
    save(model, path)
    assert path.stat().st_size < 10_000
    header, arrays = read_container(path)
    assert header["feature_names"] == {"count": 5000, "first": 1, "columns": [0], "names": ["age"]}
    changes = {"count": 4999}, {"first": 5001}, {"columns": [5000]}, {"names": ["a", "b"]}, {"names": [1]}, {"x": 1}
    for change in changes:
        path.write_bytes(forge(compact({**header, "feature_names": header["feature_names"] | change}), arrays))
        with pytest.raises(ValueError, match="'feature_names"):
            load(path)
