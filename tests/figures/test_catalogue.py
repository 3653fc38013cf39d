"""Figures as files."""

import importlib
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rcParams, style
from matplotlib.colors import to_hex

from rosenblatt import figures
from rosenblatt.figures.drawing import Entry, number_words, page_section


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.pictures, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[name] for name in ("href", "src") if name in found]
        self.ids += [found["id"]] if "id" in found else []
        self.pictures += [found["alt"]] if tag == "img" else []
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_files_page_and_numbers(tmp_path):
    times = []
    folder = tmp_path / "deep" / "out"
    written = figures.write(folder, ["4.5", "4.8", "4.5"], "svg", lambda entry, took: times.append((entry.id, took)))
    assert [path.name for path in written] == ["figure-4.5.svg", "figure-4.8.svg", "index.html", "figures.json"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in written)
    assert [id for id, _ in times] == ["4.5", "4.8"]
    assert all(took > 0 for _, took in times)
    found = Page((folder / "index.html").read_text())
    assert found.open == []
    assert found.pictures == ["Figure 4.5: A dot product is a projection", "Figure 4.8: The bias as a shift"]
    for link in found.links:
        assert link[1:] in found.ids if link.startswith("#") else (folder / link).is_file()
    kept = json.loads((folder / "figures.json").read_text())
    assert list(kept) == ["4.5", "4.8"]
    assert kept["4.5"]["numbers"]["dot"] == pytest.approx(0.734)
    assert kept["4.8"]["caption"] == figures.draw("4.8").caption
    assert kept["4.8"]["file"] == "figure-4.8.svg"


def test_the_style_of_the_session_changes_nothing_and_is_kept(tmp_path):
    figures.write(tmp_path / "a", "4.8")
    with style.context("dark_background"):
        figures.write(tmp_path / "b", "4.8")
        assert rcParams["axes.facecolor"] == "black"
        assert to_hex(figures.draw("4.5").picture.get_facecolor()) == "#ffffff"
    for name in ("figure-4.8.svg", "index.html", "figures.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    drawn = (tmp_path / "a" / "figure-4.8.svg").read_bytes()
    assert b"<dc:date>" not in drawn
    assert b"<text" not in drawn


def test_numbers_read_alike_on_the_page_and_in_words():
    numbers = {"w": [-1.23456789, 2], "range": {"low": 0.5, "count": 12345}, "proved": True}
    shown = page_section(figures.Drawing("1", "One", None, "Words.", numbers), "text", "file.svg")
    for name, value in (("w", numbers["w"]), ("range: low", 0.5), ("range: count", 12345), ("proved", True)):
        assert f"<th scope='row'>{name}</th><td>{number_words(value)}</td>" in shown
    assert number_words(numbers["w"]) == "−1.23457, 2"
    assert number_words([1e-7, 2e9]) == "1e−07, 2e+09"
    assert number_words((-3, "a", [0.1])) == "−3, a, (0.1)"


def test_the_gallery_of_the_documentation_writes_numbers_as_the_page_does(tmp_path, monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "_ext"))
    gallery = importlib.import_module("gallery")
    (tmp_path / "gallery").mkdir()
    found = gallery.draw(tmp_path / "gallery", figures.catalogue["4.8"], True)["numbers"]
    assert found == {name: number_words(value) for name, value in figures.draw("4.8").numbers.items()}
    assert found["b"] == "−5"


@pytest.mark.parametrize(("format", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats(tmp_path, format, start):
    figures.write(tmp_path, ["4.5"], format)
    assert (tmp_path / f"figure-4.5.{format}").read_bytes().startswith(start)
    shown = (tmp_path / "index.html").read_text()
    assert f'href="figure-4.5.{format}"' in shown
    assert ('<object data="figure-4.5.pdf' in shown) == (format == "pdf")


def test_wrong_ids_and_formats_are_refused_before_anything_is_made(tmp_path):
    for wrong, words in (
        ({"only": ["4.77"]}, r"there is no figure '4.77': did you mean '4.7'\?"),
        (
            {"only": ["4.5", "nine"]},
            r"there is no figure 'nine': choose one of 4\.1 A neuron; 4\.2 Feature .*; 3\.4 The ",
        ),
        ({"only": []}, "only is empty: give the ids of figures, or leave it out"),
        ({"format": "gif"}, "format must be one of svg, png, pdf, got 'gif'"),
    ):
        with pytest.raises(ValueError, match=words):
            figures.write(tmp_path / "out", **wrong)
    with pytest.raises(ValueError, match=r'the id of a figure must be a string such as "4.7", got 4.5.'):
        figures.draw(4.5)
    with pytest.raises(ValueError, match="expected a folder for the figures, got an empty path"):
        figures.write("")
    taken = tmp_path / "file"
    taken.write_text("mine")
    with pytest.raises(ValueError, match=r"got .*file, which is a file: choose another name"):
        figures.write(taken, "4.5")
    assert taken.read_text() == "mine"
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_it_says_how_to_get_it(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install 'rosenblatt\\[plots\\]'"):
        figures.write(tmp_path / "out", ["4.5"])
    assert not (tmp_path / "out").exists()


def test_numbers_that_are_no_numbers_are_refused():
    good, bad = ({"one": value} for value in ([np.int64(3), np.ones(2)], object()))
    assert Entry("1", "One", "text", lambda: (None, "{one[0]}", good)).draw().numbers == {"one": [3, [1.0, 1.0]]}
    with pytest.raises(TypeError, match="as the values of a figure"):
        Entry("1", "One", "text", lambda: (None, "Words.", bad)).draw()


def test_the_catalogue_has_every_figure_of_the_texts():
    ciml = [f"4.{number}" for number in range(1, 13)]
    ciml.insert(11, "algorithm-7")  # the picture of what CIML leaves to the reader
    assert list(figures.catalogue) == [*ciml, "30.1", "30.2", "30.2-circle", "30.3.1", "3.1", "3.2", "3.3", "3.4"]
    for id, entry in figures.catalogue.items():
        assert entry.id == id
        assert entry.function.__name__ == f"figure_{id.replace('.', '_').replace('-', '_')}"
        assert entry.function.__doc__
        assert entry.text
