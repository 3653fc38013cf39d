"""The page's modules without a browser: their tests in Node, their types, their size, and their place in the wheel."""

import gzip
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import rosenblatt.lab
from rosenblatt.lab.bundle import bundle

ROOT = Path(__file__).parents[2]
PAGE = Path(rosenblatt.lab.__file__).parent / "page"
NODE = shutil.which("node")
TSC = shutil.which("tsc") or shutil.which("tsc", path=ROOT / "node_modules" / ".bin")
SERVED = {".html", ".css", ".js", ".svg"}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="no Node on the path: install it, and the page's modules are tested")
def test_pure_modules_pass_their_tests_in_node():
    tests = sorted(map(str, (ROOT / "tests" / "lab" / "js").glob("*.test.mjs")))
    assert tests
    assert "# fail 0" in run(NODE, "--test", "--test-reporter=tap", *tests)


@pytest.mark.slow
@pytest.mark.skipif(
    TSC is None, reason="no tsc on the path or in node_modules: npm install --prefix . --no-save typescript@5.9.3"
)
def test_types_of_the_page_are_right():
    run(TSC, "-p", str(PAGE))


def served():
    return {path: path.read_bytes() for path in PAGE.rglob("*") if path.suffix in SERVED}


def test_the_page_stays_under_150_kilobytes_as_it_travels():
    assert {"index.html", "main.js", "style.css", "plane.js", "bound.js"} <= {path.name for path in served()}
    assert len(gzip.compress(bundle({}).encode())) < 150_000


def test_nothing_in_the_page_comes_from_elsewhere():
    for path in PAGE.rglob("*"):
        if path.suffix in SERVED:
            text = path.read_text().replace("http://www.w3.org/", "").replace("http://127.0.0.1/", "")
            assert "//cdn" not in text, path
            assert "https://" not in text, path
            assert "http://" not in text, path


@pytest.mark.slow
def test_the_wheel_holds_the_page(tmp_path):
    pytest.importorskip("hatchling", reason="building a wheel needs hatchling")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name.removeprefix("rosenblatt/lab/page/") for name in archive.namelist() if "/lab/page/" in name}
    assert {str(path.relative_to(PAGE)) for path in PAGE.rglob("*") if path.suffix in SERVED} <= held
