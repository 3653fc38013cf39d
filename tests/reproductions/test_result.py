import csv
import sys

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from rosenblatt.reproductions.freund_schapire import PAPER, DegreeRun, Moment, reproduction

RUNS = [
    DegreeRun(2, [Moment(0.1, 10.1, 6.3, 5.95, 1900, 1500), Moment(1, 3.4, 2.87, 2.77, 10_120, 8_148)], 60.0, 2.0),
    DegreeRun(5, [Moment(0.1, 8.0, 5.3, 5.31, 1880, 1414), Moment(10, 1.75, 1.55, 1.58, 18_266, 9_872)], 37.2, 1.25),
]


@pytest.fixture
def found():
    return reproduction("MNIST: 60,000 rows.", RUNS, with_paper=True)


@pytest.fixture(autouse=True)
def no_windows():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def test_the_papers_numbers_stand_beside_ours(found):
    assert found.table["degree"] == [2, 2, 5, 5]
    assert found.table["vote"] == [5.95, 2.77, 5.31, 1.58]
    assert found.table["paper vote"] == [6.0, 2.8, None, None]
    assert found.table["paper average"] == [None, 2.8, None, None]
    assert found.table["paper mistakes"] == [None, 10_201, None, None]
    assert found.table["paper support vectors"] == [None, 8_190, None, None]
    assert found.seconds.to_dict() == {"degree": [2, 5], "training": [60.0, 37.2], "evaluation": [2.0, 1.25]}


def test_it_prints_within_eighty_columns(found):
    lines = str(found).splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0] == "MNIST: 60,000 rows."
    assert "Degree 5: trained in 37.2 s, evaluated in 1.2 s." in lines
    assert "    1   3.40   2.87   2.77    10,120    8,148     2.8    2.8    10,201    8,190" in lines
    assert "   10   1.75   1.55   1.58    18,266    9,872       -      -         -        -" in lines


def test_other_data_are_not_compared():
    found = reproduction("Digits.", RUNS, with_paper=False)
    assert "paper" not in str(found).lower()
    assert set(found.table["paper vote"]) == {None}


def test_the_paper_has_what_it_has():
    assert PAPER[1, 1] == (8.7, 8.5, 25_461, 19_795)
    assert PAPER[3, 10] == (1.6, 1.6, None, None)
    assert {degree for degree, _ in PAPER} == {1, 2, 3}


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


def test_a_picture_is_written_in_the_format_of_its_name(found, tmp_path):
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a", b"\x89PNG")):
        assert len(found.plot(tmp_path / name)) == 2
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 6])
def test_there_is_a_panel_for_each_degree_and_no_other(count, tmp_path):
    runs = [DegreeRun(degree, RUNS[0].moments, 1.0, 1.0) for degree in range(1, count + 1)]
    panels = reproduction("", runs, with_paper=True).plot(tmp_path / "a.png")
    assert len(panels) == len(panels[0].figure.axes) == count


def test_axes_may_be_given(found):
    axes = Figure().subplots(1, 2)
    assert found.plot(axes) == list(axes)
    one = reproduction("", RUNS[:1], with_paper=True)
    ax = Figure().subplots()
    assert one.plot(ax) == [ax]
    with pytest.raises(ValueError, match="a picture of 2 degrees needs so many axes, got 1"):
        found.plot(ax)


def test_no_error_at_all_can_be_drawn(tmp_path):
    clean = [DegreeRun(2, [Moment(0.1, 5.0, 0.0, 0.0, 3, 3), Moment(1, 0.0, 0.0, 0.0, 3, 3)], 1.0, 1.0)]
    (ax,) = reproduction("", clean, with_paper=False).plot(tmp_path / "a.png")
    assert ax.get_yscale() == "linear"


def labelled(ax):
    """Return the labels of the ticks on the axis of errors, those within its limits."""
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    return [label.get_text() for label in ax.yaxis.get_ticklabels() if low <= label.get_position()[1] <= high]


@pytest.mark.parametrize("factor", [0.01, 0.3, 0.77, 1, 1.3, 2, 4, 9])
@pytest.mark.parametrize("ratio", [1.02, 1.5, 2, 3.9, 4.1, 10, 49, 51, 1000])
def test_errors_have_some_plain_ticks_and_the_axis_says_whether_it_is_logarithmic(factor, ratio):
    moments = [Moment(0.1, factor * ratio, factor, factor, 3, 3), Moment(1, factor, factor, factor, 3, 3)]
    (ax,) = reproduction("", [DegreeRun(2, moments, 1.0, 1.0)], with_paper=False).plot(Figure().subplots())
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


def test_without_matplotlib_it_says_what_to_install(found, monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'rosenblatt\[plots\]'"):
        found.plot(tmp_path / "a.png")
