"""What leaves the page: addresses, files, and one file that replays without a server."""

import csv
import json
import shutil
import struct
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from helpers.lab_page import PHONE, WIDE, state_with
from helpers.lab_state import LabState

POINTS = [(1.25, 1, 1), (2, 0.5, 1), (-1, 0, -1), (0, -2, -1), (0.5, 0.5, 1, True)]
STATE = state_with(POINTS, order="each", seed=9, at=3, panel="verdict", learner="averaged")


def saved(lab, title):
    """Choose an entry of the menu File and return the path of the file that comes."""
    with lab.page.expect_download() as coming:
        entry(lab, title)
    return coming.value.path()


def entry(lab, title):
    """Choose an entry of the menu File."""
    lab.page.get_by_role("button", name="File", exact=True).click()
    lab.page.get_by_role("button", name=title).click()


def test_an_address_opened_in_a_second_browser_shows_the_same_state(lab, new_lab):
    lab.open(STATE)
    lab.change(features=["x", "y", "xy"], bias=False)
    lab.page.keyboard.press("ArrowRight")
    entry(lab, "Share")
    command = lab.page.locator("#share-address").input_value()
    assert LabState.from_fragment(command.rstrip('"').partition("#")[2]) == lab.state
    other = new_lab()
    other.page.goto(lab.address + command.rstrip('"')[command.index("#") :])
    other.until("window.lab && lab.runs > 0")
    other.wait()
    assert other.state == lab.state
    assert other.moment == lab.moment
    for selector in ("#sentence", "#verdict-headline", "#place"):
        assert other.text(selector) == lab.text(selector)


def test_the_address_follows_the_state(lab):
    lab.open(STATE)
    lab.change(seed=12)
    before = lab.page.url
    lab.until(f"location.href !== {json.dumps(before)}")  # it is written a moment after a change
    assert LabState.from_fragment(lab.page.url.partition("#")[2]) == lab.state


@pytest.mark.slow
def test_pictures_are_valid_files(lab):
    lab.open(STATE)
    content = saved(lab, "PNG").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width == height == 2 * lab.get("document.querySelector('#plane canvas').clientWidth")
    root = ElementTree.fromstring(saved(lab, "SVG").read_text())
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    scale = float(root.get("width")) / 6
    discs = {(float(disc.get("cx")), float(disc.get("cy"))) for disc in root.iter(f"{space}circle")}
    for x, y, sign, *_ in POINTS:
        near = [abs((x + 3) * scale - cx) + abs((3 - y) * scale - cy) < 0.1 for cx, cy in discs]
        assert any(near) or sign < 0, (x, y)
    assert len(list(root.iter(f"{space}polygon"))) >= 2, "triangles"


def opened(lab, name, content):
    """Open a file by the menu File."""
    with lab.page.expect_file_chooser() as coming:
        entry(lab, "Open a table")
    coming.value.set_files({"name": name, "mimeType": "text/csv", "buffer": content.encode()})


@pytest.mark.slow
def test_states_and_points_are_valid_files_and_can_be_opened_again(lab):
    lab.open(STATE)
    state = saved(lab, "JSON").read_text()
    assert LabState.from_json(state) == lab.state == STATE
    table = saved(lab, "CSV").read_text()
    rows = list(csv.DictReader(table.splitlines()))
    assert [(float(row["x1"]), float(row["x2"])) for row in rows] == [point[:2] for point in STATE.points]
    lab.change(points=[])
    opened(lab, "points.csv", table)
    lab.until("lab.state.points.length")
    assert lab.wait().state.points == STATE.points
    lab.change(seed=1, points=[])
    opened(lab, "state.json", state)
    lab.until("lab.state.points.length")
    assert lab.wait().state == STATE
    lab.page.keyboard.press("Control+z")
    assert lab.wait().state.points == (), "undo takes a file back"


@pytest.mark.slow
def test_one_file_is_the_page_with_its_state_and_works_with_the_network_off(lab, new_lab, tmp_path):
    lab.open(STATE)
    path = tmp_path / "run.html"
    path.write_bytes(saved(lab, "HTML").read_bytes())
    moments = lab.get("Array.from({length: lab.replay.visits + 1}, (_, t) => lab.replay.at(t))")
    alone = new_lab(path.as_uri(), offline=True)
    requests = []
    alone.page.on("request", lambda request: requests.append(request.url))
    alone.open()
    assert {url.partition(":")[0] for url in requests} <= {"file", "blob", "about"}
    assert alone.state == STATE
    assert alone.get("Array.from({length: lab.replay.visits + 1}, (_, t) => lab.replay.at(t))") == moments
    alone.page.keyboard.press("Home")
    alone.page.keyboard.press("ArrowRight")
    alone.frame()
    assert alone.moment["t"] > 0
    assert alone.text("#sentence").startswith("Point ")
    for panel in ("bound", "error", "weights", "lift", "vc", "projection"):
        alone.change(panel=panel)
    alone.click(2.5, -2.5)
    assert len(alone.wait().state.points) == len(STATE.points) + 1
    again = tmp_path / "again.html"
    again.write_bytes(saved(alone, "HTML").read_bytes())
    assert new_lab(again.as_uri(), offline=True).open().state.points == alone.state.points


def test_a_file_that_cannot_be_opened_is_told(lab):
    lab.open(STATE)
    opened(lab, "bad.json", "{nothing")
    lab.until("!document.getElementById('notice').hidden")
    assert lab.text("#notice-words").startswith("The file is not JSON")
    opened(lab, "points.csv", "1,2,a\n3,4,b\n")
    lab.until("lab.state.points.length === 2")
    assert [point[:2] for point in lab.wait().state.points] == [(1, 2), (3, 4)]


def test_on_the_site_of_the_docs_help_leads_to_the_texts(lab, new_lab, address, tmp_path):
    (tmp_path / "_static").mkdir()
    shutil.copy(urlsplit(address).path, tmp_path / "_static" / "lab.html")
    for page, count in ((lab, 0), (new_lab((tmp_path / "_static" / "lab.html").as_uri()), 1)):
        page.open(STATE).page.keyboard.press("?")
        assert "A Course in Machine Learning" in page.text("#help")
        links = page.page.locator("#help a[href='../textbook.html']")
        assert links.count() == count


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_help_opens_at_its_top_and_stays_on_the_screen(new_lab, size):
    lab = new_lab(viewport=size).open(STATE)
    lab.page.keyboard.press("?")
    lab.frame()
    assert lab.get("[document.activeElement.id, document.getElementById('help').scrollTop]") == ["help-title", 0]
    box = lab.page.locator("#help").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size["height"]
    captions = lab.page.locator("#help caption").all_inner_texts()
    assert [caption.split()[0] for caption in captions] == ["Words", "Mouse", "Keys,", "Keys"]
    close = lab.page.locator("#help").get_by_role("button", name="Close")
    close.scroll_into_view_if_needed()
    close.click()
    assert not lab.page.locator("#help").is_visible()
