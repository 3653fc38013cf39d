"""Freund and Schapire's experiment: MNIST's files, the protocol against its definition, the table and the picture."""

import csv
import gzip
import warnings
from functools import partial
from urllib.error import URLError

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from helpers import slow_dual
from helpers.idx_files import NAMES, idx_bytes, write_mnist
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.reproductions import freund_schapire as paper
from rosenblatt.reproductions import freund_schapire_1999
from rosenblatt.reproductions.freund_schapire import Images, degree_run, images_of, read_mnist, reproduction, scaled
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import Kernel

# The four files of MNIST.


@pytest.mark.parametrize("packed", [False, True])
def test_the_four_files_are_read_also_with_a_dot_for_the_line(tmp_path, packed):
    arrays = write_mnist(tmp_path, packed)
    for _ in range(2):
        parts = read_mnist(str(tmp_path))
        for one, other in zip([*parts["train"], *parts["test"]], arrays, strict=True):
            assert np.array_equal(one, other.reshape(len(other), -1) if other.ndim == 3 else other)
        for path in list(tmp_path.iterdir()):  # as some mirrors name them, packed without saying so
            path.rename(tmp_path / path.name.replace("-idx", ".idx").removesuffix(".gz"))


GOOD = idx_bytes(np.arange(12).reshape(3, 2, 2))
DAMAGED = {
    "empty": b"",
    "three bytes": GOOD[:3],
    "labels": idx_bytes([1, 2, 3]),
    "another type": GOOD[:2] + b"\x0d" + GOOD[3:],
    "text": b"<html>not found</html>",
    "half a head": GOOD[:9],
    "no rows": GOOD[:4] + bytes(4) + GOOD[8:],
    "endless": GOOD[:4] + b"\xff" * 12 + GOOD[16:],
    "cut short": GOOD[:-1],
    "too long": GOOD + b"\0",
    "packed and cut short": gzip.compress(GOOD)[:-9],
    "packed and damaged": gzip.compress(GOOD)[:-8] + bytes(8),
    "packed nonsense": gzip.compress(GOOD)[:10] + b"\xff" * 20,
    "hardly packed": b"\x1f\x8b",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_named_with_the_place_to_get_it(tmp_path, content):
    write_mnist(tmp_path)
    (tmp_path / NAMES[2]).write_bytes(content)
    with pytest.raises(
        ValueError, match=r"is not a valid copy of this MNIST file: .*fetch_openml.*small=True"
    ) as error:
        read_mnist(tmp_path)
    assert str(error.value).startswith(str(tmp_path / NAMES[2]))
    assert "\n" not in str(error.value)


def test_a_missing_file_or_folder_is_named(tmp_path):
    for name in NAMES:
        write_mnist(tmp_path)
        (tmp_path / name).unlink()
        with pytest.raises(ValueError, match=f"there is no file {name} or {name}.gz in .*any mirror"):
            read_mnist(tmp_path)
    with pytest.raises(ValueError, match=r"data must be a folder, and .*nowhere is not one.*any mirror"):
        read_mnist(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("place", "array", "words"),
    [
        (3, [1, 2], "30 images and .* 2 labels, expected equal numbers"),
        (2, np.zeros((30, 2, 2)), "got 6 pixels for training and 4 for testing"),
        (1, np.arange(40) % 2, "must have 3 classes or more, got 2"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, place, array, words):
    write_mnist(tmp_path)
    (tmp_path / NAMES[place]).write_bytes(idx_bytes(array))
    with pytest.raises(ValueError, match=words):
        images_of(tmp_path, small=False)


def test_every_third_of_the_small_digits_is_for_testing():
    digits = images_of(None, small=True)
    assert (digits.X_train.shape, digits.X_test.shape) == ((1198, 64), (599, 64))
    assert set(digits.y_train.tolist()) == set(digits.y_test.tolist()) == set(range(10))
    assert digits.X_train.max() == digits.brightest == 16
    assert digits.y_test[:3].tolist() == [2, 5, 8]
    assert not digits.are_mnist


def test_images_of_a_folder_have_rows_of_pixels(tmp_path):
    write_mnist(tmp_path)
    found = images_of(tmp_path, small=False)
    assert (found.X_train.shape, found.X_test.shape, found.brightest) == ((40, 6), (30, 6), 255)
    assert not found.are_mnist


def test_without_a_network_it_says_where_to_get_mnist(monkeypatch):
    def unreachable(*_, **__):
        warnings.warn("Retrying", UserWarning, stacklevel=2)
        raise URLError("Name or service not known")

    monkeypatch.setattr(paper, "fetch_openml", unreachable)
    with pytest.raises(
        ValueError, match=r"MNIST could not be downloaded from OpenML \(.*not known.*any mirror.*small=True"
    ):
        images_of(None, small=False)


def test_openml_has_the_rows_to_train_on_first_and_other_rows_are_refused(monkeypatch):
    X, y = np.zeros((70_000, 784), np.uint8), np.full(70_000, "3")
    X[:60_000, 0], y[:60_000] = 255, "7"
    monkeypatch.setattr(paper, "fetch_openml", lambda *_, **__: (X, y))
    found = images_of(None, small=False)
    assert found.are_mnist
    assert (found.X_train[:, 0].min(), found.X_test.max()) == (255, 0)
    assert (set(found.y_train.tolist()), set(found.y_test.tolist())) == ({7}, {3})
    monkeypatch.setattr(paper, "fetch_openml", lambda *_, **__: (np.zeros((5, 784)), np.zeros(5)))
    with pytest.raises(ValueError, match=r"must have shape .70000, 784., got \(5, 784\)"):
        images_of(None, small=False)


# The protocol, with learners that are its definition: rows in one order, moments of one run.


@pytest.fixture
def digits(tmp_path):
    write_mnist(tmp_path)
    return images_of(tmp_path, small=False)


def slow_run(images, degree, epochs, seed=0):
    return degree_run(images, degree, epochs, seed, partial(slow_dual.train, epochs=epochs), slow_dual.scores_at)


def test_looks_are_those_of_the_paper_and_the_last():
    nothing = DualState.zeros(3, 6, kernel=Kernel("poly", 1), direct=False)
    for n, epochs, looks, visits in (
        (40, 1, [0.1, 1], [4, 40]),
        (1, 5, [0.1, 1, 2, 3, 4, 5], [1, 1, 2, 3, 4, 5]),
        (12, 12, [0.1, 1, 2, 3, 4, 10, 12], [1, 12, 24, 36, 48, 120, 144]),
    ):
        X, asked = np.zeros((n, 6), np.uint8), []
        images = Images("zeros", X, np.zeros(n, int), X, np.zeros(n, int))

        def score(state, rows, moments, asked=asked):
            asked.extend(moments)
            return slow_dual.scores_at(state, rows, moments)

        rows, _, _ = degree_run(images, 1, epochs, 0, lambda *_: nothing, score)
        assert ([row["epoch"] for row in rows], asked) == (looks, visits)


def explicit_run(X, y, X_test, y_test, visits):
    """Degree 1 by weights: test errors of last, average and vote after so many visits, mistakes, support vectors."""
    Z, Z_test = (np.column_stack([A.astype(np.int64), np.ones(len(A), np.int64)]) for A in (X, X_test))
    classes = np.unique(y)
    scores, mistakes, rows = np.zeros((3, len(y_test), len(classes))), 0, set()
    for k, one in enumerate(classes):
        w = np.zeros(Z.shape[1], np.int64)
        for t in range(visits):
            i = t % len(Z)
            sign = 1 if y[i] == one else -1
            if sign * (Z[i] @ w) <= 0:
                w, mistakes = w + sign * Z[i], mistakes + 1
                rows.add(i)
            scores[1, :, k] += Z_test @ w
            scores[2, :, k] += np.sign(Z_test @ w)
        scores[0, :, k] = Z_test @ w
    errors = [100 * int((classes[one.argmax(axis=1)] != y_test).sum()) / len(y_test) for one in scores]
    return [*errors, mistakes, len(rows)]


@pytest.mark.parametrize("seed", [0, 1])
def test_degree_one_is_a_perceptron_on_the_pixels_as_they_are(digits, seed):
    order = visiting_order(40, seed)
    for row, visits in zip(slow_run(digits, 1, 3, seed)[0], [4, 40, 80, 120], strict=True):
        X, y = digits.X_train[order], digits.y_train[order]
        expected = explicit_run(X, y, digits.X_test, digits.y_test, visits)
        assert list(row.values())[2:] == expected


def test_a_long_run_was_the_short_one_at_first(digits):
    assert slow_run(digits, 2, 3)[0][:2] == slow_run(digits, 2, 1)[0]


def test_machines_that_stop_early_count_on():
    X = np.repeat(np.eye(3, dtype=np.uint8), 4, axis=0)
    y = np.repeat([1, 2, 3], 4)
    *_, before, last = slow_run(Images("apart", X, y, X, y, brightest=1), 1, 10)[0]
    assert (last["epoch"], last["last"], last["average"], last["vote"]) == (10, 0.0, 0.0, 0.0)
    assert last["mistakes"] == before["mistakes"]
    X, y = X[visiting_order(12, 0)], y[visiting_order(12, 0)]
    assert explicit_run(X, y, X, y, 120)[:3] == [0.0, 0.0, 0.0]


def test_every_degree_gets_the_rows_in_one_order_and_its_scale(digits):
    given = {}

    def train(X, y, degree):
        given[degree] = X, y
        return DualState.zeros(3, 6, kernel=Kernel("poly", degree), direct=False)

    rows = [row for degree in (1, 2, 3) for row in degree_run(digits, degree, 2, 5, train, slow_dual.scores_at)[0]]
    order = visiting_order(40, 5)
    for degree, (X, y) in given.items():
        assert X.dtype == np.float64
        assert np.array_equal(X, digits.X_train[order] / (1 if degree == 1 else 255))
        assert np.array_equal(y, digits.y_train[order])
    # nothing was learned: all scores are 0, and the first of equals is class 0
    share = 100 * int(np.count_nonzero(digits.y_test)) / 30
    assert {tuple(row.values())[2:] for row in rows} == {(share, share, share, 0, 0)}
    assert scaled(np.array([[1, 51, 255]], np.uint8), 255, 4).tolist() == [[1 / 255, 51 / 255, 1.0]]


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_it_is_the_protocol_with_the_definition_of_the_learner(tmp_path, packed):
    write_mnist(tmp_path, packed, tied=False)  # equal scores of test rows could be rounded to different ones
    images = images_of(tmp_path, False)
    assert len(set(images.y_train[visiting_order(40, 10)][:4])) == 3  # nor are machines equal at the first look
    found = freund_schapire_1999(tmp_path, degrees=(1, 2, 3), epochs=4, random_state=10)
    slow = [slow_run(images, degree, 4, 10) for degree in (1, 2, 3)]
    assert found.table.to_dict() == reproduction("", slow, with_paper=False).table.to_dict()


def test_small_digits_are_learned():
    found = freund_schapire_1999(small=True, degrees=[3, 3], epochs=2)
    assert found.title == "scikit-learn's digits: 1,198 rows to train on, 599 to test on."
    assert found.table["epoch"] == [0.1, 1, 2]
    assert found.table["vote"][-1] < 5
    assert found.table["mistakes"] == sorted(found.table["mistakes"])
    assert set(found.table["paper vote"]) == {None}
    assert found.seconds["training"][0] > 0
    assert found.table.to_dict() == freund_schapire_1999(small=True, degrees=[3], epochs=2).table.to_dict()
    other = freund_schapire_1999(small=True, degrees=[3], epochs=2, random_state=1, cache_size=20)
    assert other.table["mistakes"] != found.table["mistakes"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"degrees": ()}, "degrees must hold at least one integer, got none"),
        ({"degrees": (0,)}, "degrees must be an integer of at least 1, got 0"),
        ({"degrees": "12"}, r"degrees must be integers such as \(1, 2, 3\), got '12'"),
        ({"degrees": 3}, r"degrees must be integers such as \(1, 2, 3\), got 3"),
        ({"epochs": 0}, "epochs must be an integer of at least 1, got 0"),
        ({"random_state": -1}, "random_state must be an integer of at least 0, got -1"),
        ({"small": "yes"}, "small must be True or False, got 'yes'"),
        ({"data": "mnist"}, "small uses the digits of scikit-learn, so it cannot be combined with data"),
    ],
)
def test_bad_parameters_are_one_sentence(given, words):
    with pytest.raises(ValueError, match=f"^{words}.$"):
        freund_schapire_1999(**({"small": True} | given))


def test_the_cache_takes_half_of_the_free_memory_at_most(monkeypatch):
    for free, megabytes in ((64_000_000_000, 8000), (6_000_000_000, 3000), (0, 1)):
        with monkeypatch.context() as patch:
            patch.setattr(paper, "free_bytes", lambda free=free: free)
            assert paper.free_cache_size() == megabytes
    known = {"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 8 kB\n", "/sys/fs/cgroup/memory.max": "max\n"}
    monkeypatch.setattr(paper.Path, "read_text", lambda path: known[str(path)])
    assert paper.free_bytes() == 8192
    known["/sys/fs/cgroup/memory.max"] = "5000\n"
    assert paper.free_bytes() == 5000
    known["/proc/meminfo"] = ""
    assert paper.free_bytes() == 2_000_000_000


# The table and the picture.


def run(degree, *rows):
    names = ("degree", "epoch", "last", "average", "vote", "mistakes", "support vectors")
    return [dict(zip(names, (degree, *row), strict=True)) for row in rows], 37.2, 1.25


RUNS = [
    run(2, (0.1, 10.1, 6.3, 5.95, 1900, 1500), (1, 3.4, 2.87, 2.77, 10_120, 8_148)),
    run(5, (0.1, 8.0, 5.3, 5.31, 1880, 1414), (10, 1.75, 1.55, 1.58, 18_266, 9_872)),
]


@pytest.fixture
def found():
    return reproduction("MNIST: 60,000 rows.", RUNS, with_paper=True)


def test_the_papers_numbers_stand_beside_ours(found):
    assert paper.PAPER[1, 1] == (8.7, 8.5, 25_461, 19_795)
    assert found.table["degree"] == [2, 2, 5, 5]
    assert found.table["vote"] == [5.95, 2.77, 5.31, 1.58]
    assert found.table["paper vote"] == [6.0, 2.8, None, None]
    assert found.table["paper average"] == [None, 2.8, None, None]
    assert found.table["paper mistakes"] == [None, 10_201, None, None]
    assert found.table["paper support vectors"] == [None, 8_190, None, None]
    assert found.seconds.to_dict() == {"degree": [2, 5], "training": [37.2] * 2, "evaluation": [1.25] * 2}


def test_it_prints_within_eighty_columns(found):
    lines = str(found).splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0] == "MNIST: 60,000 rows."
    assert "Degree 5: trained in 37.2 s, evaluated in 1.2 s." in lines
    assert "    1   3.40   2.87   2.77    10,120    8,148     2.8    2.8    10,201    8,190" in lines
    assert "   10   1.75   1.55   1.58    18,266    9,872       -      -         -        -" in lines
    other = reproduction("Digits.", RUNS, with_paper=False)
    assert "paper" not in str(other).lower()
    assert set(other.table["paper vote"]) == {None}


def test_csv_has_every_number_and_leaves_out_what_there_is_not(found, tmp_path):
    path = tmp_path / "table.csv"
    found.to_csv(path)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == found.table.columns
    assert [row["epoch"] for row in rows] == ["0.1", "1", "0.1", "10"]
    assert [float(row["average"]) for row in rows] == found.table["average"]
    assert [row["paper mistakes"] for row in rows] == ["", "10201", "", ""]


def test_lines_differ_without_colour(found):
    panels = found.plot()
    assert [ax.get_title() for ax in panels] == ["degree 2", "degree 5"]
    for ax in panels:
        lines = {line.get_label(): line for line in ax.get_lines()}
        ours = [lines[name] for name in ("last", "average", "vote")]
        assert len({line.get_linestyle() for line in ours}) == 3
        assert len({line.get_marker() for line in ours}) == 3
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert ax.get_xlim()[0] < 0.1
    drawn = {line.get_label(): line for line in panels[0].get_lines()}
    assert drawn["vote"].get_ydata().tolist() == [5.95, 2.77]
    assert drawn["paper: vote"].get_ydata().tolist() == [6.0, 2.8]
    assert drawn["paper: vote"].get_fillstyle() == "none"
    assert "paper: vote" not in {line.get_label() for line in panels[1].get_lines()}


def test_a_picture_is_written_in_the_format_of_its_name_even_without_an_error(found, tmp_path):
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a", b"\x89PNG")):
        assert len(found.plot(tmp_path / name)) == 2
        assert (tmp_path / name).read_bytes().startswith(start)
    clean = run(2, (0.1, 5.0, 0.0, 0.0, 3, 3), (1, 0.0, 0.0, 0.0, 3, 3))
    (ax,) = reproduction("", [clean], with_paper=False).plot(tmp_path / "a.png")
    assert ax.get_yscale() == "linear"


def test_there_is_a_panel_for_each_degree_and_no_other():
    plt.switch_backend("Agg")
    for count in (1, 3, 4, 5, 6):
        runs = [run(degree, (1, 3.4, 2.87, 2.77, 10_120, 8_148)) for degree in range(1, count + 1)]
        panels = reproduction("", runs, with_paper=True).plot()
        assert len(panels) == len(panels[0].figure.axes) == count


def test_axes_may_be_given(found):
    axes = Figure().subplots(1, 2)
    assert found.plot(axes) == list(axes)
    one = reproduction("", RUNS[:1], with_paper=True)
    ax = Figure().subplots()
    assert one.plot(ax) == [ax]
    with pytest.raises(ValueError, match="a plot for 2 kernel degrees needs 2 axes, got 1"):
        found.plot(ax)


def labelled(ax):
    """Return the labels of the ticks on the axis of errors, those within its limits."""
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    return [label.get_text() for label in ax.yaxis.get_ticklabels() if low <= label.get_position()[1] <= high]


@pytest.mark.parametrize("ratio", [1.02, 1.5, 2, 3.9, 4.1, 10, 49, 51, 1000])
@pytest.mark.parametrize("factor", [0.01, 1.3])
def test_errors_have_some_plain_ticks_and_the_axis_says_whether_it_is_logarithmic(factor, ratio):
    made = run(2, (0.1, factor * ratio, factor, factor, 3, 3), (1, factor, factor, factor, 3, 3))
    (ax,) = reproduction("", [made], with_paper=False).plot(Figure().subplots())
    labels = labelled(ax)
    assert 3 <= len(labels) <= 16
    assert len(set(labels)) == len(labels)
    assert all(float(label) >= 0 and "e" not in label for label in labels)
    logarithmic = ratio > 4
    assert ax.get_yscale() == ("log" if logarithmic else "linear")
    assert ax.get_ylabel() == ("test error (%, logarithmic)" if logarithmic else "test error (%)")
    assert ax.get_xlabel() == "epoch (logarithmic)"


def test_panels_have_one_scale_of_errors(found):
    first, second = found.plot(Figure().subplots(1, 2))
    assert first.get_ylim() == second.get_ylim()
    assert labelled(first) == labelled(second) == ["2", "3", "5", "8", "10"]
