"""The lab's page in a browser, for tests: opening states, waiting for runs, and finding points on the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from helpers.lab_state import LabState

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}


def state_with(points: Sequence[tuple[float, ...]], **fields: Any) -> LabState:
    """Return a state with points [x, y, label] or [x, y, label, held_out]; the view is 3 wide each way."""
    told = tuple((float(x), float(y), int(label), bool(held and held[0])) for x, y, label, *held in points)
    return replace(LabState(view=(0.0, 0.0, 3.0)), points=told, **fields)


class Lab:
    """A page with the lab. ``faults`` collects errors in its console and requests that leave the machine."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        self.faults: list[str] = []
        server = urlsplit(address).netloc
        page.on("console", lambda said: said.type in ("error", "warning") and self.faults.append(said.text))
        page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        page.on("request", lambda request: self._watch(request.url, server))

    def _watch(self, url: str, server: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about", "file") and parts.netloc != server:
            self.faults.append(f"a request to {url}")

    def open(self, state: LabState | None = None) -> Lab:
        """Load the page with a state in its address, and wait for its run."""
        self.page.goto("about:blank")
        self.page.goto(self.address + (f"#{state.to_fragment()}" if state else ""))
        self.until("window.lab && lab.runs > 0")
        return self.wait()

    def show(self, state: LabState) -> Lab:
        """Show a state in the page as it is, without loading it again, and wait for its run."""
        self.page.evaluate("state => lab.open(state)", state.to_plain())
        return self.wait()

    def change(self, **patch: Any) -> Lab:
        """Change fields of the state as controls do, and wait for the run."""
        self.page.evaluate("patch => lab.change(patch)", patch)
        return self.wait()

    def more(self) -> Lab:
        """Open the menu More."""
        if not self.page.locator("#more").is_visible():
            self.page.get_by_role("button", name="More", exact=True).click()
        return self

    def wait(self) -> Lab:
        """Wait until the run of the state is there and drawn."""
        self.until("lab.busy === false")
        self.frame()
        return self

    def until(self, condition: str, seconds: float = 30) -> None:
        """Wait for a condition; Playwright's own way of it is forbidden by the page's Content-Security-Policy."""
        script = f"""async (end) => {{
          end += performance.now();
          while (!({condition})) {{
            if (performance.now() > end) return false;
            await new Promise((done) => setTimeout(done, 5));
          }}
          return true;
        }}"""
        assert self.page.evaluate(script, 1000 * seconds), f"{condition} did not come true. Faults: {self.faults}"

    def frame(self) -> None:
        """Wait for two frames: what was changed before has been drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    # what is there

    def get(self, expression: str) -> Any:
        """Return the value of an expression in the page, where ``lab`` is the app."""
        return self.page.evaluate(expression)

    @property
    def state(self) -> LabState:
        """The state of the page, as the server would read it."""
        return LabState.from_plain(self.get("lab.state"))

    @property
    def moment(self) -> dict[str, Any]:
        """The moment in sight."""
        return self.get("lab.scene().moment")

    def text(self, selector: str) -> str:
        """Return the text of an element that is in sight."""
        return self.page.locator(selector).first.inner_text()

    def numbers(self, selector: str) -> list[float]:
        """Return the numbers in a text: digits, or words such as 1.5e-7, with real minus signs."""
        return read_numbers(self.text(selector))

    # the plane

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the plane is on the screen."""
        box = self.page.locator("#plane canvas").first.bounding_box()
        middle_x, middle_y, half = self.get("lab.state.view")
        scale = box["width"] / (2 * half)
        return box["x"] + (x - (middle_x - half)) * scale, box["y"] + (middle_y + half - y) * scale

    def click(self, x: float, y: float) -> None:
        """Click on a point of the plane."""
        self.page.mouse.click(*self.pixel(x, y))

    def pixels(self, x: float, y: float) -> bytes:
        """Return a picture of the plane around a point, as a PNG."""
        px, py = self.pixel(x, y)
        return self.page.screenshot(clip={"x": px - 10, "y": py - 10, "width": 20, "height": 20})


def read_numbers(text: str) -> list[float]:
    """Return the numbers in a text with real minus signs, each to its last digit.

    >>> read_numbers("w = (−1.5, 2e−7), b = 3")
    [-1.5, 2e-07, 3.0]
    """
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text.replace("−", "-"))]
