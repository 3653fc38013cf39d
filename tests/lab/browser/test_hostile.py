"""Links, files and pages made to do harm: nothing in them runs, nothing hangs, and one sentence says what is wrong."""

import base64
import json

import pytest

import rosenblatt.lab
from helpers.lab_engine import start
from helpers.lab_page import state_with
from helpers.lab_states import FOUR

EVIL = "<img src=x onerror=\"document.title='stolen'\"><script>document.title='stolen'</script>"
DEEP = '{"version": 1, "seed": ' + "[" * 100_000 + "]" * 100_000 + "}"


def fragment_of(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def written(**fields):
    return json.dumps({"version": 1, **fields})


def assert_unharmed(lab):
    """Check that nothing of what was opened ran, and that the page still trains."""
    assert lab.get("document.title") == "Perceptron lab"
    assert lab.get("document.images.length") == 0
    runs = lab.get("lab.runs")
    lab.change(seed=17)
    lab.until(f"lab.runs > {runs}", seconds=5)


LINKS = {
    "a megabyte of letters": "A" * 1_000_000,
    "a megabyte that is no base64": "%" * 1_000_000,
    "a megabyte of points": fragment_of(written(points=[[0, 0, 1]] * 75_000)),
    "a megabyte of one word": fragment_of(written(lesson="x" * 750_000)),
    "a megabyte of fields": fragment_of(written(**{f"field {i}": i for i in range(40_000)})),
    "lists in lists": fragment_of(DEEP),
    "no number": fragment_of('{"version": 1, "points": [[NaN, 0, 1]]}'),
    "infinity": fragment_of('{"version": 1, "points": [[1e999, 0, 1]]}'),
    "a script as a coordinate": fragment_of(written(points=[[EVIL, 0, 1]])),
    "a script as a field": fragment_of(written(**{EVIL: 1})),
    "a script as a panel": fragment_of(written(panel=EVIL)),
    "a prototype": fragment_of('{"version": 1, "__proto__": {"points": []}, "constructor": 1}'),
    "a script": EVIL,
}


@pytest.mark.parametrize("name", LINKS)
def test_a_hostile_link_is_one_sentence(lab, name):
    lab.page.goto(f"{lab.address}#{LINKS[name]}")
    lab.until("window.lab && lab.runs > 0", seconds=10)
    said = lab.text("#notice-words")
    assert said.startswith(("This state cannot be opened. ", "What follows # in the address is not a state"))
    assert said.endswith(".")
    assert len(said) < 250
    assert lab.state.points == start().points
    assert_unharmed(lab)


def test_a_lesson_with_the_name_of_a_script_is_no_lesson(lab):
    lab.page.goto(f"{lab.address}#{fragment_of(written(lesson='<script>alert(1)</script>'))}")
    lab.until("window.lab && lab.runs > 0")
    assert not lab.page.locator("#lesson").is_visible()
    assert_unharmed(lab)


@pytest.mark.parametrize(
    "query",
    [
        "embed=<script>alert(1)</script>",
        "embed=__proto__",
        "embed=../x",
        "lesson=__proto__",
        "present=" + "x" * 50_000,
    ],
)
def test_a_hostile_query_shows_the_page(lab, query):
    lab.page.goto(f"{lab.address}?{query}")
    lab.until("window.lab && lab.runs > 0")
    assert lab.page.locator("#plane-canvas").is_visible()
    assert_unharmed(lab)


TABLES = {
    "scripts as classes": (f'x1,x2,label\n1,2,"{EVIL.replace(chr(34), chr(34) * 2)}"\n3,4,b\n', "Class <img src=x"),
    "scripts as names": (f'"{EVIL.replace(chr(34), chr(34) * 2)}",b\n1,2\n', "The table needs two columns of numbers"),
    "a script as a number": (f"x1,x2,label\n1,2,a\n3,{EVIL.replace(',', ' ')},b\n", "Expected a number in line 3"),
    "no numbers": ("x1,x2,label\nNaN,2,a\n3,inf,b\n1,1,a\n", "Line 3 has inf"),
    "a quote that does not end": ('x1,x2,label\n"1,2,a\n' + "3,4,b\n" * 500_000, "The table needs"),
    "ten megabytes of rows": ("x1,x2,label\n" + "1,2,a\n3,4,b\n" * 800_000, "Class a is drawn"),
    "ten megabytes on a line": ("1," * 5_000_000, "The table needs"),
    "a state of lists in lists": (DEEP, ""),
    "a state of scripts": (written(panel=EVIL), "'panel' must be"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_hostile_file_is_one_sentence(lab, name):
    content, part = TABLES[name]
    lab.open(state_with(FOUR))
    with lab.page.expect_file_chooser() as coming:
        lab.page.get_by_role("button", name="File", exact=True).click()
        lab.page.get_by_role("button", name="Open a table").click()
    coming.value.set_files({"name": f"{EVIL}.csv", "mimeType": "text/csv", "buffer": content.encode()})
    lab.until("!document.getElementById('notice').hidden", seconds=15)
    said = lab.text("#notice-words")
    assert said.startswith(part)
    assert said.endswith(".")
    assert len(said) < 250
    assert_unharmed(lab)


def test_a_page_with_hostile_labels_holds_them_as_text(new_lab, tmp_path):
    X, y = [[0, 0], [1, 1]], [EVIL, "</script><script>document.title='stolen'</script>"]
    path = tmp_path / "page.html"
    path.write_text(rosenblatt.lab.page(X, y, lesson="</script><b>"), encoding="utf-8")
    lab = new_lab(path.as_uri()).open()
    assert len(lab.state.points) == 2
    lab.page.get_by_role("button", name="File", exact=True).click()
    with lab.page.expect_download() as coming:
        lab.page.get_by_role("button", name="This page, HTML").click()
    (tmp_path / "again.html").write_bytes(coming.value.path().read_bytes())
    again = new_lab((tmp_path / "again.html").as_uri()).open()
    assert again.state == lab.state
    for page in (lab, again):
        assert_unharmed(page)


def test_a_run_of_the_largest_size_leaves_the_page_at_work(lab):
    """The most points, updates and visits that a state may have: frames still come while it is worked on."""
    points = [[i % 37 / 7, i * 17 % 41 / 7, 1 if i * 7919 % 13 < 6 else -1] for i in range(1000)]
    for learner in ("kernel", "voted", "arow"):
        lab.page.goto("about:blank")
        lab.page.goto(
            f"{lab.address}#{fragment_of(written(points=points, learner=learner, updates=2000, passes=10_000))}"
        )
        lab.until("window.lab && (lab.runs > 0 || !document.getElementById('notice').hidden)", seconds=60)
        lab.frame()
        assert lab.get("document.title") == "Perceptron lab"
