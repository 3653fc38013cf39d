"""The lab's page in Chromium: frames while a point is dragged, the first paint, and the size of its own code."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import rosenblatt.lab
from benchmarks.measure import Figure

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]

DRAG = """async ([id, seconds]) => {
  const canvas = document.querySelector("#plane canvas");
  const box = canvas.getBoundingClientRect();
  const send = (name, x, y) => canvas.dispatchEvent(new PointerEvent(name, {
    bubbles: true, pointerId: id, pointerType: "mouse", button: 0, buttons: 1, clientX: box.x + x, clientY: box.y + y,
  }));
  canvas.setPointerCapture = () => {};
  const [cx, cy, half] = lab.state.view;
  const at = (x, y) => [((x - cx + half) * box.width) / (2 * half), ((cy + half - y) * box.width) / (2 * half)];
  const start = at(lab.state.points[0][0], lab.state.points[0][1]);
  const [frames, runs] = [[], []];
  let painted = lab.runs;
  send("pointerdown", ...start);
  const begun = performance.now();
  for (let now = begun; now - begun < 1000 * seconds; ) {
    const turn = (now - begun) / 300;
    send("pointermove", start[0] + 40 * Math.sin(turn), start[1] + 40 * (1 - Math.cos(turn)));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    now = performance.now();
    frames.push(now);
    if (lab.runs > painted) runs.push(now);
    painted = lab.runs;
  }
  send("pointerup", ...start);
  return { frames, runs };
}"""


def lab(quick: bool) -> list[Figure]:
    """Return frames a second of a drag with 200 points, the first paint, and the size of the page's own code."""
    content = rosenblatt.lab.page().encode()
    packed = len(gzip.compress(content))
    words = f"{packed / 1000:.0f} kB, before compression {len(content) / 1000:.0f} kB with comments and types"
    code = Figure("lab: own code as it travels", words, "< 150 kB", packed < 150_000)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return [code, Figure("lab: frames, first paint", "not measured: no Chromium on the path")]
    found = [code]
    with page() as address, opened(browser) as context:
        paints = [first_paint(context, address) for _ in range(3 if quick else 9)]
        median = statistics.median(paints)
        found.append(Figure("lab: first paint, median", f"{median:.0f} ms", "< 500 ms", median < 500))
        for name, state in states().items():
            painted, learned = drag(context, address, state, 1 if quick else 5)
            words = f"{learned:.0f} frames a second with a new run, {painted:.0f} in all"
            found.append(Figure(f"lab: drag, 200 points, {name}, median", words, ">= 30", learned >= 30))
    return found


def states() -> dict[str, dict[str, Any]]:
    """Return two hundred points that a line separates, and as many that none does."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.5, 2.5, (200, 2)).round(3)
    X[:, 0] += np.where(X[:, 0] > 0, 0.2, -0.2)
    apart, mixed = np.where(X[:, 0] > 0, 1, -1), rng.choice([-1, 1], 200)
    return {
        name: {"version": 1, "points": [[*x, label] for x, label in pairs], "view": [0, 0, 3.5], "at": None}
        for name, y in {"separable": apart, "inseparable": mixed}.items()
        for pairs in [list(zip(X.tolist(), y.tolist(), strict=True))]
    }


@contextmanager
def page() -> Iterator[str]:
    """Write the page to a file and yield its address."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lab.html"
        path.write_text(rosenblatt.lab.page(), encoding="utf-8")
        yield path.as_uri()


@contextmanager
def opened(browser: str) -> Iterator[Any]:
    """Yield a context of a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        try:
            yield chromium.new_context(viewport={"width": 1280, "height": 800})
        finally:
            chromium.close()


def first_paint(context: Any, address: str) -> float:
    """Return the milliseconds from the beginning of the navigation to the first paint with content."""
    page = context.new_page()
    page.goto(address)
    script = """async () => {
      for (;;) {
        const [paint] = performance.getEntriesByName("first-contentful-paint");
        if (paint && window.lab?.runs) return paint.startTime;
        await new Promise(requestAnimationFrame);
      }
    }"""
    taken = page.evaluate(script)
    page.close()
    return taken


def drag(context: Any, address: str, state: dict[str, Any], seconds: float) -> tuple[float, float]:
    """Return frames a second while the first point is dragged: all that were painted, and those with a new run."""
    page = context.new_page()
    fragment = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
    page.goto(f"{address}#{fragment}")
    page.evaluate("async () => { while (!lab.runs || lab.busy) await new Promise(requestAnimationFrame) }")
    page.evaluate(DRAG, [1, 0.5])  # both sides have been warm for a while
    times = page.evaluate(DRAG, [1, seconds])
    page.close()
    return rate(times["frames"]), rate(times["runs"])


def rate(times: list[float]) -> float:
    """Return how many there are in a second, by the median of the pauses between them."""
    return 1000 / float(np.median(np.diff(times))) if len(times) > 2 else 0.0
