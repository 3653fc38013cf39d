"""The documentation site: it builds without a warning, its links lead somewhere, and it has every public name."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import rosenblatt

ROOT = Path(__file__).parents[1]
MODULES = ("data", "distributed", "exercises", "figures", "lab", "plots", "reproductions", "textbook", "vc")


def module_of_docs(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "docs" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def check_links():
    return module_of_docs("check_links.py")


def public_names():
    yield from (name for name in rosenblatt.__all__ if name not in MODULES)
    for module in MODULES:
        yield from (f"{module}.{name}" for name in getattr(rosenblatt, module).__all__)


def test_the_reference_has_every_public_name_once():
    listed = re.findall(r"^   ~rosenblatt\.(\S+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    missing = set(public_names()) - set(listed)
    assert not missing, f"add to docs/api.md: {', '.join(sorted(missing))}"


def test_links_that_lead_nowhere_are_found(check_links, tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#here">fine</a><a href="#top">fine</a><a href="https://example.org">fine</a>'
        '<a href="b.html#gone">no anchor</a><a href="c.html">no file</a><img src="https://example.org/x.png">'
    )
    (tmp_path / "b.html").write_text(
        '<p id="here"><a href="a.html#top">back</a><img src="missing.png"></p>'
        '<a href="a.html">one <a href="#here">in another</a></a>'
    )
    assert check_links.faults(tmp_path) == [
        "a.html: b.html#gone leads to no anchor",
        "a.html: c.html leads to no file",
        "a.html: https://example.org/x.png is loaded from another host",
        "b.html: #here is a link inside a link",
        "b.html: missing.png leads to no file",
    ]


def test_pictures_are_drawn_anew_with_another_matplotlib(monkeypatch):
    gallery = module_of_docs("_ext/gallery.py")
    before = gallery.source_stamp(True)
    assert gallery.source_stamp(True) == before
    monkeypatch.setattr(gallery, "version", lambda name: "99" if name == "matplotlib" else version(name))
    assert gallery.source_stamp(True) != before


@pytest.fixture
def repository(tmp_path):
    """Return a folder like the repository, with a copy of the pages, without what an earlier build left among them."""
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
        elif path.name != "docs":
            (tmp_path / path.name).symlink_to(path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("api", "gallery"))
    return tmp_path


@pytest.mark.slow
def test_the_site_builds_without_a_warning(check_links, repository, tmp_path_factory):
    site, doctrees = (tmp_path_factory.mktemp(name) for name in ("site", "doctrees"))
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "gallery_pictures=0"]
        + ["-d", doctrees, repository / "docs", site],
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert check_links.faults(site) == []
    sheets, page_of_class = ("worksheet", "worksheet_solutions", "slides"), (site / "class.html").read_text()
    if module_of_docs("_ext/printed.py").browser():
        assert all((site / f"_static/{sheet}.pdf").read_bytes().startswith(b"%PDF") for sheet in sheets)
        assert page_of_class.count(".pdf") == len(sheets)
    else:
        assert "this site was built without Chromium" in page_of_class
    page = (site / "api" / "rosenblatt.Perceptron.html").read_text()
    assert "early_stopping" in page
    assert "[source]" in page
    assert "test_integers_equal_the_textbook" in (site / "seeds.html").read_text()
    names = re.findall(
        r'href="([\w.]+)\.html[^"]*"[^>]*><code[^>]*>', (site / "api" / "rosenblatt.Trace.html").read_text()
    )
    assert {"rosenblatt.trace", "rosenblatt.theory.convergence.trace.TracedUpdate"} <= set(names)
    assert not [name for name in names if "textbook" in name]
    figure = re.sub(r"<[^>]+>", "", (site / "gallery" / "figure-4-7.html").read_text())
    assert "rosenblatt.figures.ciml:" in figure
    assert "rosenblatt/figures" not in figure
