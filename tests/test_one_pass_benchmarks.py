"""The benchmarks of one pass: the rows of Zipf's law, real sets as vw's text, and when a target is met."""

import gzip
import json
import lzma

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import family, one_pass, programs
from benchmarks import one_pass as one_pass_sets
from benchmarks import programs as streams
from benchmarks.measure import Figure


def parsed(path):
    """Return the labels and the pairs of each line of vw's text."""
    lines = [line.split(" | ", 1) for line in path.read_text().splitlines()]
    pairs = [[pair.rpartition(":") for pair in features.split()] for _, features in lines]
    return [int(label) for label, _ in lines], [{name: float(value) for name, _, value in row} for row in pairs]


def test_columns_of_zipfs_law_are_in_order_and_written_once(tmp_path):
    streams.write(tmp_path / "rows.vw", 500, 1, streams.zipf_pieces)
    ((labels, columns, thousandths),) = streams.zipf_pieces(500, 1)
    read_labels, read_rows = parsed(tmp_path / "rows.vw")
    assert read_labels == labels.tolist()
    assert columns.min() >= 1
    assert columns.max() <= streams.ZIPF_COLUMNS
    repeated = 0
    for row, names, values in zip(read_rows, columns, thousandths, strict=True):
        kept = values > 0
        assert list(row) == [str(name) for name in np.unique(names)]
        assert list(row.values()) == (values[kept] / 1000.0).tolist()
        repeated += np.count_nonzero(~kept)
    assert repeated > 500


def test_three_percent_of_zipf_labels_are_flipped_and_the_rule_is_that_of_every_seed():
    rule = np.random.default_rng(0).standard_normal(streams.ZIPF_COLUMNS + 1)
    for seed in (1, 2):
        ((labels, columns, thousandths),) = streams.zipf_pieces(20_000, seed)
        right = np.where((rule[columns] * thousandths).sum(axis=1) > 0, 1, -1)
        assert 0.025 < np.mean(labels != right) < 0.035


def test_pieces_are_joined_to_rows_in_memory():
    n = streams.PIECE + 10
    X, y = family.zipf_text(n)
    made = list(streams.zipf_pieces(n, seed=1))
    assert len(made) == 2
    assert X.shape == (n, streams.ZIPF_COLUMNS + 1)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_canonical_format
    assert y.tolist() == np.concatenate([labels for labels, _, _ in made]).tolist()
    last = X[n - 1]
    _, columns, thousandths = (part[-1] for part in made[1])
    assert last.indices.tolist() == columns[thousandths > 0].tolist()
    assert last.data.tolist() == (thousandths[thousandths > 0] / 1000.0).tolist()


def test_rows_of_numbers_leave_out_zeros(tmp_path):
    X = sp.csr_matrix(([1.5, 0.0, -2.0], ([0, 0, 1], [0, 1, 2])), shape=(3, 3))
    texts, y = one_pass_sets.number_lines(X, np.array([7, 8, 7]))
    assert texts == ["1:1.5", "3:-2", ""]
    assert one_pass_sets.number_lines(X.toarray(), y)[0] == texts
    one_pass_sets.write(tmp_path / "two.vw", (texts, y), np.array([7, 8]))
    assert (tmp_path / "two.vw").read_text() == "-1 | 1:1.5\n1 | 3:-2\n-1 | \n"
    one_pass_sets.write(tmp_path / "three.vw", (texts, y), np.array([6, 7, 8]))
    assert (tmp_path / "three.vw").read_text() == "2 | 1:1.5\n3 | 3:-2\n2 | \n"


def test_words_are_counted_without_regard_to_case():
    texts, y = one_pass_sets.word_lines(["To be: or not | to BE", "?"], ["a", "b"])
    assert texts == ["to:2 be:2 or:1 not:1", ""]
    assert y.tolist() == ["a", "b"]


def test_sets_without_a_test_part_are_split_three_times():
    rows = [str(i) for i in range(10)], np.arange(10)
    parts = list(one_pass_sets.TextSet("made", lambda: (rows,)).parts())
    assert len(parts) == one_pass_sets.SPLITS
    for learned, tested in parts:
        assert len(tested[1]) == 3
        assert sorted([*learned[1], *tested[1]]) == list(range(10))
        assert learned[0] == [str(i) for i in learned[1]]
        assert tested[0] == [str(i) for i in tested[1]]
    assert len({tuple(tested[0]) for _, tested in parts}) == len(parts)


@pytest.mark.parametrize("by_class", [False, True])
def test_a_test_part_stays_and_only_rows_that_go_by_class_are_shuffled(by_class):
    rows, test = ([str(i) for i in range(10)], np.arange(10)), (["a"], np.array([3]))
    ((learned, tested),) = one_pass_sets.TextSet("made", lambda: (rows, test), by_class=by_class).parts()
    assert (learned[0] != rows[0]) == by_class
    assert sorted(learned[0]) == rows[0]
    assert learned[0] == [str(i) for i in learned[1]]
    assert tested is test


def test_real_files_are_read_as_vws_text(monkeypatch, tmp_path):
    monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    (tmp_path / "text").mkdir()
    (tmp_path / "vw").mkdir()
    for name, text in zip(one_pass_sets.NEWS, ("One two two", "Three"), strict=True):
        with lzma.open(tmp_path / name, "wt", encoding="utf-8") as file:
            file.write(json.dumps({"group": "b", "id": "1", "text": text}) + "\n")
    for name in one_pass_sets.RCV1:
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            file.write("-1 |f 9:6.5e-02 14:3\n1 |f 2:1\n")
    sets = {data.name: data for data in one_pass_sets.SETS}
    ((learned, tested),) = sets["20 newsgroups"].parts()
    assert (learned[0], tested[0], tested[1].tolist()) == (["one:1 two:2"], ["three:1"], ["b"])
    ((learned, _),) = sets["rcv1, 1,000 rows"].parts()
    assert (learned[0], learned[1].tolist()) == (["9:6.5e-02 14:3", "2:1"], [-1, 1])


def test_weights_of_all_classes_need_places(monkeypatch):
    monkeypatch.setattr(one_pass_sets, "VW_PLACES", 6)
    assert not one_pass_sets.crowded(["a:1 b:2", "b:3"], 3)
    assert one_pass_sets.crowded(["a:1 b:2", "b:3"], 4)
    assert not one_pass_sets.crowded(["a:1 b:2 c:1 d:1"], 2)


@pytest.mark.parametrize(
    ("ours", "met"),
    [((6.0, 0.9), True), ((6.1, 0.95), False), ((1.0, 0.899), False)],
    ids=["both equal", "too slow", "less accurate"],
)
def test_a_race_needs_time_and_accuracy(ours, met):
    assert one_pass.verdict("race", ours, (10.0, 0.9), 0.6).met is met
    assert one_pass.verdict("race", ours, (10.0, 0.9), None).met is None


def test_eight_of_ten_sets_are_enough():
    won, lost = (one_pass_sets.figure("made", ours, 0.5, None) for ours in (0.5, 0.49))
    assert one_pass_sets.summary("all", [won] * 8 + [lost] * 2, []).met
    assert not one_pass_sets.summary("all", [won] * 7 + [lost] * 3, []).met
    assert not one_pass_sets.summary("all", [won] * 10 + [lost] * 3, []).met
    assert one_pass_sets.summary("all", [], ["a.gz"]).met is None


def test_without_vw_nothing_is_measured(monkeypatch):
    monkeypatch.setattr(programs, "has_vw", lambda: False)
    for measure in (programs.programs, one_pass.races, one_pass_sets.accuracies):
        (figure,) = measure(quick=True)
        assert isinstance(figure, Figure)
        assert figure.measured == programs.WITHOUT_VW
        assert figure.met is None


def test_the_worst_fit_counts_against_a_limit():
    times = {
        1: {"Perceptron": 1.0, "AROW": 2.6, "SGDClassifier": 3.0},
        5: {"Perceptron": 1.0, "AROW": 2.0, "SGDClassifier": 1.9},
    }
    assert family.against_perceptron("AROW", "rows", times, 2.5).met is False
    assert family.against_perceptron("AROW", "rows", times, 2.6).met is True
    assert family.against_perceptron("AROW", "rows", times, None).met is None
    assert family.against_peer("AROW", "SGDClassifier", "rows", times).met is False
    assert "2.60 in a fit of 1 (2600 / 1000 ms)" in family.against_perceptron("AROW", "rows", times, None).measured


def test_every_learner_makes_the_passes_that_are_timed():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), rng.integers(0, 2, 300)
    assert family.pass_times(X, y, 2, shuffle=False).keys() >= {
        "Perceptron",
        "PassiveAggressive",
        "AROW",
        "SGDClassifier",
    }
