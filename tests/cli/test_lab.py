"""``rosenblatt lab`` writes one HTML file, prints its path and opens it."""

import json
import re
import webbrowser

import pytest

from helpers.commands import command, ran, refused, written
from helpers.lab_state import LabState

POINTS = "x1,x2,label\n1,1,b\n2,0,b\n-1,0,a\n0,-2,a\n,1,a\n"


def given(path):
    """Return what the page in a file opens with."""
    (found,) = re.findall(r'json" id="given">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found)


def test_it_writes_a_page_with_the_points_and_prints_its_path(tmp_path):
    path, out = written(tmp_path, "points.csv", POINTS), tmp_path / "page.html"
    result = command("lab", path, "-o", out, "--no-browser")
    assert (result.exit_code, result.stdout.replace("\n", "")) == (0, str(out))
    assert given(out) == {"table": POINTS}


def test_it_opens_the_page(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.chdir(tmp_path)
    ran("lab")
    assert opened == [(tmp_path / "perceptron-lab.html").as_uri()]
    assert given(tmp_path / "perceptron-lab.html") == {}


def test_a_state_and_a_link_to_it_give_the_same_page(tmp_path):
    state = LabState(points=((1.0, 2.0, 1, False), (0.0, 0.0, -1, True)), seed=3)
    path = written(tmp_path, "state.json", state.to_json())
    ran("lab", path, "-o", tmp_path / "one.html", "--no-browser")
    ran("lab", f"file:///page.html#{state.to_fragment()}", "-o", tmp_path / "two.html", "--no-browser")
    assert given(tmp_path / "one.html")["state"] == state.to_plain()
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("none.csv", "There is no file none.csv"),
        ("rows.parquet", "must end in .csv"),
        ("http://127.0.0.1:1/x/", "nothing after a #"),
        ("-o .", "is not a regular file, so it cannot be written"),
        ("-o no/such/page.html", "There is no folder"),
    ],
)
def test_bad_use_is_one_sentence(words, part):
    assert part in refused("lab", "--no-browser", *words.split())


def test_the_table_that_is_read_is_not_written(tmp_path):
    path = written(tmp_path, "points.csv", POINTS)
    result = command("lab", path, "-o", path, "--no-browser")
    assert (result.exit_code, path.read_text()) == (2, POINTS)
