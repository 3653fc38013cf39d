"""The benchmarks: plain programs that make our mistakes; tables and pictures of what was measured."""

import json
import subprocess
import sys

import numpy as np
import pytest
from benchmarks import comparison, kernels, pictures
from benchmarks import kernels as kernel_workers
from benchmarks.comparison import MADE, REAL, SHIPPED, data_sets
from benchmarks.programs import by_blocks, polynomial, row_by_row
from benchmarks.workloads import ROOT

import rosenblatt
from rosenblatt.reproductions.freund_schapire import read_mnist

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


def made_result(name="points", classes=2, **accuracy):
    """Return what a comparison may have measured: two splits, one learner faster than the unit, one slower."""
    learners = {**comparison.LEARNERS, **(comparison.SEVERAL_CLASSES if classes > 2 else {})}
    accuracies = {learner: accuracy.get(learner, [0.5, 0.7]) for learner in learners}
    fit = {learner: [0.2, 0.1] for learner in learners} | {"Averaged": [0.05, 0.4], "Kernel": [2.0, 3.0]}
    predict = {learner: [0.001, 0.001] for learner in learners}
    return comparison.Result(name, (1000, 20, classes), 0.5, accuracies, fit, predict)


def test_the_best_mean_of_a_row_is_bold_and_the_spread_is_shown():
    table = comparison.accuracy_table([made_result(Averaged=[0.8, 1.0], Tree=[0.9, 0.9])]).splitlines()
    cells = dict(zip(table[0].split(" | "), table[2].split(" | "), strict=True))
    assert cells["Averaged"] == "**90.0** ± 10.0"
    assert cells["Tree"] == "**90.0** ± 0.0"
    assert cells["Perceptron"] == "60.0 ± 10.0"
    assert table[2].count("**") == 4
    assert "1,000 x 20, 2" in table[2]


def test_times_are_multiples_of_logistic_regressions():
    head, _, row = comparison.time_table([made_result()], "fit").splitlines()
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    assert cells["Logistic, ms"] == "100"
    assert (cells["Averaged"], cells["Kernel"], cells["SGD"]) == ("0.5", "20", "1")


def test_only_sets_of_several_classes_have_a_direct_column():
    table = comparison.several_classes_table([made_result(), made_result("three", 3, Direct=[1.0, 1.0])])
    assert len(table.splitlines()) == 3
    assert "| three | 60.0 ± 10.0 | **100.0** ± 0.0 |" in table


def test_tables_are_placed_between_the_marks_of_a_page():
    page = f"before\n\n{comparison.START}\nold\n{comparison.END}\n\nafter\n"
    once = comparison.placed(page, "new")
    assert once == f"before\n\n{comparison.START}\n\nnew\n\n{comparison.END}\n\nafter\n"
    assert comparison.placed(once, "new") == once
    with pytest.raises(ValueError, match="must have the marks"):
        comparison.placed("no marks", "new")


def test_the_page_has_the_tables_of_the_program():
    page = (ROOT / "docs" / "when_not.md").read_text()
    assert comparison.placed(page, "") != page
    shown = page.split(comparison.START)[1].split(comparison.END)[0]
    heads = [line for line in shown.splitlines() if line.startswith("| data |")]
    assert heads[0].split(" | ")[3:] == [*list(comparison.LEARNERS)[:-1], "Neighbours |"]
    assert all(f"| {data.name} |" in shown for data in (*SHIPPED, *MADE, *REAL))


def test_without_files_only_sets_that_need_none_are_compared(monkeypatch):
    monkeypatch.delenv("ROSENBLATT_DATA", raising=False)
    assert data_sets(quick=False) == [*SHIPPED, *MADE]


@pytest.mark.slow
def test_the_comparison_finds_the_curve_that_no_line_follows(monkeypatch):
    monkeypatch.delenv("ROSENBLATT_DATA", raising=False)
    iris, moons = comparison.compare(quick=True)
    assert (iris.name, iris.shape, moons.name, moons.shape) == ("iris", (150, 4, 3), "moons", (1000, 2, 2))
    assert all(len(values) == comparison.QUICK_SEEDS for values in iris.accuracy.values())
    assert iris.mean("Direct") > 0.9
    assert (
        min(moons.mean("Kernel"), moons.mean("Neighbours")) > 0.93 > max(moons.mean("Averaged"), moons.mean("Logistic"))
    )
    assert all(seconds > 0 for kind in (moons.fit, moons.predict) for values in kind.values() for seconds in values)


@pytest.mark.slow
def test_boundaries_are_drawn_for_each_learner_and_set():
    figure = pictures.draw_boundaries()
    assert len(figure.axes) == len(pictures.SHOWN) * len(pictures.plane_sets()) == 18
    assert [ax.get_title().split("\n")[0] for ax in figure.axes[:3]] == ["two clouds", "moons", "XOR"]
    assert [ax.get_ylabel() for ax in figure.axes[::3]] == list(pictures.SHOWN.values())


def test_the_margins_that_are_drawn_are_those_of_their_titles():
    figure = pictures.draw_margins()
    titles = [ax.get_title() for ax in figure.axes]
    assert [title.split("\n")[0] for title in titles] == [
        "Geometric margin: 2",
        "Augmented margin: 1",
        "Homogeneous margin: 0.707",
        "A perceptron's last line: 0.5",
    ]
    assert titles[1].endswith("(the distance drawn is 1.34)")
    for ax, distance in zip(figure.axes, (2, 9 / 45**0.5, 0.5**0.5, 0.5), strict=True):
        line, *segments = [line for line in ax.get_lines() if line.get_linestyle() != "None"]
        first, second = np.array(line.get_xy1()), np.array(line.get_xy2())
        along = (second - first) / np.linalg.norm(second - first)
        for segment in segments:
            end, foot = segment.get_xydata()
            assert np.linalg.norm(end - foot) == pytest.approx(distance)
            assert (end - foot) @ along == pytest.approx(0, abs=1e-12)
            assert np.cross([*along, 0], [*(foot - first), 0])[2] == pytest.approx(0, abs=1e-12)


def test_pictures_are_small_files(tmp_path):
    pictures.save(pictures.draw_margins(), tmp_path / "margins.png")
    drawn = [tmp_path / "margins.png", *(ROOT / "docs" / "images" / f"{name}.png" for name in pictures.PICTURES)]
    assert all(5_000 < path.stat().st_size < 150_000 for path in drawn)


def test_the_citation_names_the_version():
    cited = (ROOT / "docs" / "cite.md").read_text()
    assert f"version = {{{rosenblatt.__version__}}}" in cited
    assert f"version: {rosenblatt.__version__}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.slow
def test_the_program_measures_and_writes_its_report():
    report = ROOT / "out" / "bench.json"
    before = report.read_bytes() if report.exists() else None
    words = ["-m", "benchmarks", "--quick", "--rounds", "1", "--only"]
    words += ["dense-60k", "csr-200k", "imports", "small-calls", "start"]
    try:
        done = subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True, text=True)
        found = json.loads(report.read_text())
    finally:
        if before is not None:
            report.write_bytes(before)
    assert "rosenblatt train on 1,000 svmlight rows" in done.stdout
    assert "partial_fit of ten rows" in done.stdout
    assert len(found["rows"]) > 3
    assert all(row["ratio"] > 0 for row in found["rows"])
