"""One file replays a run without a server: everything is inside, and nothing can break out of its place."""

import json
import re

import pytest

from helpers.lab_server import write_page
from helpers.lab_states import FOUR
from rosenblatt.lab.export import export_html
from rosenblatt.lab.learning import run_message
from rosenblatt.lab.questions import exported, start_answer
from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import FAMILIES

EVIL = "</script><script>document.title='stolen'</script><!-- \u2028"
STATE = LabState(points=FOUR, order="fixed", lesson=EVIL[:40])
PAGE = {
    "index.html": """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Lab</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
<link rel="stylesheet" href="print.css" media="print">
<link rel="modulepreload" href="replay.js">
<script type="module" src="main.js"></script></head>
<body><p id="out">waiting</p></body></html>
""",
    "main.js": """import { weights } from "./replay.js";
import * as panel from './panels/panel.js';
/** @typedef {import("./types.js").Scene} Scene */
const recording = JSON.parse(document.getElementById("recording").textContent);
const lazy = await import("./panels/lazy.js");
const out = document.getElementById("out");
out.textContent = [panel.title, lazy.minus, weights(recording.answers.run)].join(" ");
let reached = "no connection";
try {
  await fetch("https://example.com/");
  reached = "a connection";
} catch {}
out.dataset.done = reached;
""",
    "replay.js": "export const weights = (run) => JSON.stringify([run.w, run.b]);\n",
    "panels/panel.js": 'import { weights } from "../replay.js";\nexport const title = typeof weights + " é";\n',
    "panels/lazy.js": 'export { minus } from "./minus.js";\n',
    "panels/minus.js": 'export const minus = "−";\n',
    "unused.js": "export const unused = 1;\n",
    "style.css": 'p { color: rgb(1, 2, 3); }\np::after { content: "</style>"; }\n',
    "print.css": "p { color: black; }\n",
    "icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}


def answers(run=None):
    return {"start": start_answer(STATE), "run": run or run_message(STATE)}


def recording(html):
    found = re.findall(r'<script type="application/json" id="recording">(.*?)</script>', html, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


@pytest.fixture
def page(tmp_path):
    return write_page(tmp_path / "page", PAGE)


def test_the_answers_are_in_the_file_and_stay_in_their_place(page):
    run = run_message(STATE) | {"code": EVIL}
    html = export_html(answers(run) | {"errors": {"passes": [1]}}, page)
    found = recording(html)
    assert LabState.from_plain(found["state"]) == STATE
    assert found["answers"]["run"] == run
    assert found["answers"]["errors"] == {"passes": [1]}
    assert found["answers"]["start"]["state"] == found["state"]
    assert html.count("</script>") == 3
    assert "stolen" in html
    assert "<script>document" not in html
    assert "\u2028" not in html


def test_the_file_of_a_state_has_the_answers_that_there_are():
    found = recording(exported(STATE))["answers"]
    assert set(found) == {"start", "run", "errors", *(f"vc {family}" for family in FAMILIES)}
    assert found["start"] == start_answer(STATE) | {"presets": []}, "a file makes no points"
    assert set(recording(exported(LabState()))["answers"]) == {"start", "run"}


def test_nothing_is_left_that_another_file_must_answer(page):
    html = export_html(answers(), page)
    for pattern in (r'src="', r'href="(?!data:)', r"unused", r"modulepreload"):
        assert not re.search(pattern, html), pattern
    imports = json.loads(re.search(r'<script type="importmap">(.*?)</script>', html)[1])["imports"]
    names = ["main.js", "panels/lazy.js", "panels/minus.js", "panels/panel.js", "replay.js"]
    assert list(imports) == [f"lab/{name}" for name in names]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert html.index("Content-Security-Policy") < 1024
    assert html.index("charset") < html.index("Content-Security-Policy") < html.index("importmap")


def test_a_page_that_cannot_be_exported_is_told(page):
    (page / "index.html").write_text("<!doctype html><title>Lab</title>")
    with pytest.raises(RuntimeError, match=r"main\.js"):
        export_html(answers(), page)


@pytest.mark.slow
def test_the_file_replays_in_a_browser_without_a_network(page, tmp_path, browser):
    html = export_html(answers(run_message(STATE) | {"code": EVIL}), page)
    (tmp_path / "run.html").write_text(html, encoding="utf-8")
    context = browser.new_context()
    context.set_offline(True)
    tab, asked, said = context.new_page(), [], []
    tab.on("request", lambda request: asked.append(request.url.split(",")[0]))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda fault: said.append(str(fault)))
    tab.goto((tmp_path / "run.html").as_uri())
    tab.wait_for_selector("#out[data-done]")
    assert tab.inner_text("#out") == "function é − [[2,1],0]"
    assert tab.get_attribute("#out", "data-done") == "no connection"
    assert tab.title() == "Lab"
    assert tab.evaluate("getComputedStyle(document.getElementById('out')).color") == "rgb(1, 2, 3)"
    assert {url.split(":")[0] for url in asked} <= {"file", "data"}
    assert all("example.com" in text for text in said), said  # the connection that was refused, and nothing else
    context.close()
