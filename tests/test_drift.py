"""Streams that drift: how they are made and read, and that each row is predicted before it is learned."""

import sys
import zipfile
from collections import Counter

import numpy as np
import pytest
from benchmarks import drift
from benchmarks.drift import (
    BALANCED,
    FIRST,
    FLIPPED,
    FOLDER,
    LINES,
    MADE,
    WINDOW,
    Classifier,
    CommonestLabel,
    LabelBefore,
    Stream,
    draw_drift,
    make_stream,
    read_stream,
    real_streams,
    scaled,
    wrong_rows,
)

from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron


def normals(name, n=400, seed=0):
    return MADE[name](n, np.random.default_rng(seed))


def test_planes_have_normals_of_length_1_and_change_as_their_names_say():
    for name in MADE:
        assert normals(name).shape == (400, 10)
        assert np.allclose((normals(name) ** 2).sum(axis=1), 1.0)
    assert len(np.unique(normals("no drift"), axis=0)) == 1
    planes = normals("abrupt")
    changes = np.flatnonzero((planes[1:] != planes[:-1]).any(axis=1)) + 1
    assert changes.tolist() == [100, 200, 300]
    assert len(np.unique(planes, axis=0)) == 4
    planes = normals("turning")
    assert np.allclose((planes[1:] * planes[:-1]).sum(axis=1), np.cos(2 * np.pi / 400)), "equal steps"
    assert np.allclose(planes[200], -planes[0]), "once round"


def test_gradual_drift_mixes_two_planes_around_each_change_and_only_there():
    n = 40_000
    planes, pure = normals("gradual", n), normals("abrupt", n)
    other = (planes != pure).any(axis=1)
    for change in (10_000, 20_000, 30_000):
        before, after = other[change - 5_000 : change], other[change : change + 5_000]
        assert not before[:2500].any()
        assert not after[2500:].any()
        assert before[2500:].mean() == pytest.approx(0.25, abs=0.03)  # the chance grows from 0 to a half, and
        assert after[:2500].mean() == pytest.approx(0.25, abs=0.03)  # that of the earlier plane falls to 0
        assert before[3750:].sum() > 2 * before[2500:3750].sum()
    assert not other[:7_500].any()
    assert not other[32_500:].any()


@pytest.mark.parametrize("name", MADE)
def test_labels_are_the_sides_of_the_plane_but_for_those_that_are_flipped(name):
    stream, again = make_stream(name, 3), make_stream(name, 3)
    assert np.array_equal(stream.X, again.X)
    assert np.array_equal(stream.y, again.y)
    assert not np.array_equal(stream.y, make_stream(name, 4).y)
    rng = np.random.default_rng(3)
    assert np.array_equal(rng.standard_normal(stream.X.shape), stream.X)
    sides = (stream.X * MADE[name](len(stream.X), rng)).sum(axis=1)
    assert (np.sign(sides) != stream.y).mean() == pytest.approx(FLIPPED, abs=0.01)


def test_a_stream_is_scaled_by_its_first_rows_and_not_by_what_comes_later():
    rng = np.random.default_rng(0)
    X, y = rng.normal(5, 3, (FIRST + 20, 3)), np.arange(FIRST + 20)
    X[:FIRST, 2] = 0.422915  # whose mean is rounded, so that its deviation is not 0
    assert X[:FIRST].std(axis=0)[2] > 0
    rows, labels = scaled(X, y)
    assert labels.tolist() == list(range(FIRST, FIRST + 20))
    assert np.allclose(rows[:, 0], (X[FIRST:, 0] - X[:FIRST, 0].mean()) / X[:FIRST, 0].std())
    assert np.array_equal(rows[:, 2], X[FIRST:, 2] - 0.422915)
    X[FIRST + 10 :] *= 100
    assert np.array_equal(scaled(X, y)[0][:10], rows[:10])


def written_wheel(folder):
    """Write a wheel with small tables of the names and the shape that the real one has."""
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(folder / "some.whl", "w") as archive:
        for name, n, columns in (("elec", 1010, 6), ("weather", 1010, 8), ("covtype", BALANCED + 1010, 54)):
            lines = [",".join(map(str, [*row.round(3), i % 2])) for i, row in enumerate(rng.random((n, columns)))]
            archive.writestr(f"{FOLDER}/{name}.csv", "\n".join(["a head", *lines]))
    return folder / "some.whl"


def test_real_streams_are_read_from_the_wheel(tmp_path):
    streams = {stream.name: stream for stream in real_streams(written_wheel(tmp_path))}
    assert {name: (stream.X.shape, stream.late) for name, stream in streams.items()} == {
        "Electricity": ((10, 6), 0),
        "Electricity, a day late": ((10, 6), 48),
        "Weather": ((10, 8), 0),
        "Cover type": ((10, 54), 0),
        "Cover type, 100 rows late": ((10, 54), 100),
    }
    assert streams["Weather"].y.tolist() == [0, 1] * 5
    assert np.array_equal(streams["Weather"].X, scaled(*read_stream(tmp_path / "some.whl", "weather"))[0])


def tied_stream(n=150, classes=2, late=0):
    """Return a stream of small integers, so that many scores are 0, whose labels turn over in the middle."""
    rng = np.random.default_rng(classes)
    X = rng.integers(-2, 3, (n, 3)).astype(float)
    y = (X[:, 0] > 0).astype(int) + (classes == 3) * (X[:, 1] > 0)
    return Stream("ties", X, np.where(np.arange(n) < n // 2, y, classes - 1 - y), late)


class Verbs:
    """A learner as users have it: records that are predicted and learned one by one."""

    def __init__(self, stream, model):
        names = [str(j) for j in range(stream.X.shape[1])]
        self.records = [dict(zip(names, row, strict=True)) for row in stream.X.tolist()]
        self.labels, self.model = stream.y.tolist(), model

    def predict(self, i):
        return self.model.predict_one(self.records[i])

    def learn(self, i):
        self.model.learn_one(self.records[i], self.labels[i])


FAMILY = [
    (Perceptron, {}),
    (AveragedPerceptron, {}),
    (AveragedPerceptron, {"decay": 0.05}),
    (MarginPerceptron, {"margin": 2.0}),
    (PassiveAggressive, {"C": 0.1, "hypothesis": "average", "decay": 0.05}),
    (AROW, {"r": 1.0}),
]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("late", [0, 7])
@pytest.mark.parametrize(("kind", "parameters"), FAMILY)
def test_errors_are_those_of_predict_one_before_each_learn_one(kind, parameters, late):
    stream = tied_stream(late=late)
    wrong = wrong_rows(Classifier(stream, kind(**parameters)), stream)
    by_verbs = wrong_rows(Verbs(stream, kind(**parameters)), stream)
    both_known = late + 1 + np.flatnonzero(stream.y != stream.y[0])[0]  # until then the verbs have one class to name
    assert wrong[both_known:].tolist() == by_verbs[both_known:].tolist()
    assert 0 < wrong[both_known:].sum() < len(wrong) - both_known


class Diary:
    """Writes down what it is asked."""

    def __init__(self):
        self.asked = []

    def predict(self, i):
        self.asked.append(("predict", i))

    def learn(self, i):
        self.asked.append(("learn", i))


@pytest.mark.parametrize(
    ("late", "asked"),
    [
        (0, "predict 0, learn 0, predict 1, learn 1, predict 2, learn 2, predict 3, learn 3"),
        (2, "predict 0, predict 1, predict 2, learn 0, predict 3, learn 1"),
        (5, "predict 0, predict 1, predict 2, predict 3"),
    ],
)
def test_a_row_is_predicted_first_and_learned_when_its_label_comes(late, asked):
    diary = Diary()
    assert wrong_rows(diary, Stream("four", np.zeros((4, 1)), np.zeros(4, int), late)).all()
    assert ", ".join(f"{verb} {i}" for verb, i in diary.asked) == asked


@pytest.mark.parametrize("late", [0, 3])
def test_the_label_before_is_the_last_one_that_is_known(late):
    stream = tied_stream(late=late)
    gap = late + 1
    expected = [True] * gap + (stream.y[gap:] != stream.y[:-gap]).tolist()
    assert wrong_rows(LabelBefore(stream), stream).tolist() == expected


def test_the_commonest_label_is_counted_from_what_came():
    stream = tied_stream(classes=3)
    labels = stream.y.tolist()
    guesses = [Counter(labels[:i]).most_common(1)[0][0] for i in range(1, len(labels))]
    assert wrong_rows(CommonestLabel(stream), stream).tolist() == [
        True,
        *(guess != label for guess, label in zip(guesses, labels[1:], strict=True)),
    ]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", drift.LEARNERS)
def test_every_learner_knows_nothing_at_first_and_then_learns(name):
    stream = make_stream("no drift", 0, 300)
    wrong = wrong_rows(drift.LEARNERS[name](stream), stream)
    assert wrong[0]
    if "label" not in name:
        assert wrong[100:].mean() < 0.35


def test_the_least_error_of_a_column_is_bold(monkeypatch):
    monkeypatch.setattr(drift, "LEARNERS", {"one": None, "other": None})
    text = drift.table({"a": {"one": [0.1, 0.2], "other": [0.3, 0.1]}, "b": {"one": [0.04], "other": [0.0401]}})
    assert text.splitlines() == [
        "| errors in percent | a | b |",
        "| --- | ---: | ---: |",
        "| one | **15.0** | **4.0** |",
        "| other | 20.0 | **4.0** |",
    ]


def written(folder, monkeypatch, *arguments):
    """Run the program on a page with both tables; return the page, and the names of the learners that were asked."""
    page = folder / "page.md"
    page.write_text("\n".join(["top", *drift.MADE_MARKS, "between", *drift.REAL_MARKS, "end"]))
    asked = []

    def error(name, stream):
        asked.append(name)
        return 0.25

    monkeypatch.setattr(drift, "LEARNERS", {"mine": None})
    monkeypatch.setattr(drift, "error", error)
    monkeypatch.setattr(sys, "argv", ["drift", "--quick", *map(str, arguments), "--write", str(page)])
    drift.main()
    return page.read_text(), asked


def test_the_tables_whose_streams_are_there_are_written_and_the_others_stay(tmp_path, monkeypatch):
    page, asked = written(tmp_path, monkeypatch)
    assert page.count("| mine | **25.0** | **25.0** | **25.0** | **25.0** |") == 1
    assert "\n".join(drift.REAL_MARKS) in page
    assert len(asked) == 4
    wheel = written_wheel(tmp_path)
    page, asked = written(tmp_path, monkeypatch, "--wheel", wheel)
    assert "| mine | **25.0** | **25.0** | **25.0** | **25.0** | **25.0** |" in page
    assert len(asked) == 9
    page, asked = written(tmp_path, monkeypatch, "--wheel", wheel, "--only", "real")
    assert "\n".join(drift.MADE_MARKS) in page
    assert len(asked) == 5
    first, asked = written(tmp_path, monkeypatch, "--keep", tmp_path / "errors.json")
    assert len(asked) == 4
    assert written(tmp_path, monkeypatch, "--keep", tmp_path / "errors.json") == (first, []), "measured before"


@pytest.mark.slow
def test_the_picture_has_a_line_for_each_learner_that_ends_at_its_last_error():
    stream = make_stream("abrupt", 0, 2 * WINDOW)
    (ax,) = draw_drift([stream]).axes
    lines = {line.get_label(): line for line in ax.lines}
    assert list(lines) == [*(label for label, *_ in LINES.values()), "the least possible"]
    for name, (label, *_) in LINES.items():
        wrong = wrong_rows(drift.LEARNERS[name](stream), stream)
        assert lines[label].get_xdata()[-1] == 2 * WINDOW
        assert lines[label].get_ydata()[-1] == pytest.approx(100 * wrong[WINDOW:].mean())
