"""The page as one HTML file: nothing is fetched, and what is in it stays data."""

import base64
import hashlib
import html
import json
import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

from helpers.lab_engine import ask, needs_node
from helpers.lab_state import LARGEST, MOST_POINTS, LabState
from helpers.lab_states import FOUR
from rosenblatt import lab
from rosenblatt.lab.bundle import bundle

EVIL = "</script><script>document.title='stolen'</script><!-- \u2028"


def given(page):
    """Return what a page opens with."""
    (found,) = re.findall(r'<script type="application/json" id="given">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def test_the_script_and_the_styles_are_those_that_the_policy_allows():
    page = bundle({})
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src" not in policy
    (program,) = re.findall(r'<script id="program">(.*?)</script>', page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(styles) == 2
    for text in (program, *styles):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r'(?:src|href)="(?!data:|#)', page.replace(program, ""))


def test_what_a_page_opens_with_stays_in_its_place():
    state = {"version": 1, "lesson": EVIL}
    page = bundle({"state": state, "table": EVIL})
    assert given(page) == {"state": state, "table": EVIL}
    assert page.count("</script>") == bundle({}).count("</script>")


def test_points_and_settings_are_in_the_page():
    page = lab.page([[0, 1], [2, 3]], ["no", "yes"], [False, True], learner="arow", seed=3)
    assert given(page)["state"] == {"version": 1, "learner": "arow", "seed": 3, "points": [[0, 1, -1], [2, 3, 1, True]]}
    assert given(lab.page()) == {}


def test_what_is_not_valid_is_refused():
    with pytest.raises(TypeError, match="no setting 'colour'"):
        lab.page(colour=1)
    with pytest.raises(ValueError, match="must be given together"):
        lab.page([[0, 1]])


@needs_node
def test_settings_and_limits_are_those_of_the_page():
    defaults = ask("defaults", {})
    assert LabState().to_plain() == defaults["state"]
    assert {"version", "points", *lab._SETTINGS} == set(defaults["state"])
    assert (defaults["points"], defaults["largest"]) == (MOST_POINTS, LARGEST)


def test_a_notebook_shows_the_page_as_often_as_asked(monkeypatch):
    shown = []
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=shown.append))
    points = [point[:2] for point in FOUR]
    for _ in range(2):
        lab.show(points, [1, 1, -1, -1], height=500, order="fixed")
    for frame in shown:
        (source,) = re.findall(r'srcdoc="([^"]*)"', frame)
        assert html.unescape(source) == lab.page(points, [1, 1, -1, -1], order="fixed")
        assert "height: 500px" in frame
    assert len(shown) == 2
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match=r"lab\.page"):
        lab.show()
