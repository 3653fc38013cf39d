"""Moving pictures: what each frame says, the file that is written, and the page that plays it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from helpers.browser import chromium
from helpers.pictures import legend
from rosenblatt import trace
from rosenblatt.data import make_separable

pytest.importorskip("matplotlib").use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from rosenblatt.plots import animate, plot_update  # noqa: E402

X, Y = make_separable(30, 2, margin=0.05, random_state=0)
RUN = trace(X, Y)
AWAY = np.array([[5.0, 5.0], [5.2, 5.1], [5.1, 5.3], [5.3, 5.2]]), np.array([1, 1, -1, -1])
AWAY_RUN = trace(*AWAY, max_iter=3)  # its first line is far from the rows


def small():
    """Return axes of a small figure."""
    return Figure((3, 3), dpi=40).subplots()


def notes(ax):
    """Return the sentences that stand in the axes."""
    return [text.get_text() for text in ax.texts if " " in text.get_text()]


def frames(made):
    """Return a function that draws one frame."""
    made._draw_was_started = True  # nothing is rendered, and no warning of that
    return made._func


def test_a_page_needs_nothing_from_elsewhere(tmp_path):
    animate(RUN, X, Y, tmp_path / "run.html", max_frames=3, ax=small())
    page = (tmp_path / "run.html").read_text()
    assert "//" not in re.sub(r"base64,[^\"]*", "", page)
    assert page.count("data:image/png;base64") == 3
    for part in ('<html lang="en">', "<title>A run of the perceptron</title>", 'name="viewport"', "color-scheme"):
        assert part in page


@pytest.mark.slow
def test_the_buttons_of_a_page_work(tmp_path):
    animate(RUN, X, Y, tmp_path / "run.html", max_frames=4, interval=60, ax=small())
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 360, "height": 700})
        wanted = []
        page.on("request", lambda request: wanted.append(request.url))
        page.goto((tmp_path / "run.html").as_uri())
        where = page.locator("#where")
        assert where.inner_text() == "1 of 4"
        page.get_by_role("button", name="Next").click()
        assert where.inner_text() == "2 of 4"
        assert page.locator("img").get_attribute("alt").startswith("Update ")
        page.get_by_role("button", name="Play").click()
        page.wait_for_function("document.getElementById('where').textContent === '4 of 4'")
        page.get_by_role("button", name="Play").wait_for()
        page.get_by_role("button", name="First").click()
        assert where.inner_text() == "1 of 4"
        page.locator("#place").fill("2")
        assert where.inner_text() == "3 of 4"
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert {url.split(":")[0] for url in wanted} <= {"file", "data"}


def test_the_legend_names_the_broken_line_in_every_frame():
    ax = small()
    draw = frames(animate(RUN, X, Y, max_frames=5, ax=ax))
    first = legend(ax)
    assert "boundary before" in first
    assert "row of the update" in first
    draw(2)
    assert legend(ax) == first
    assert len([line for line in ax.collections if line.get_label() == "row of the update"]) == 1


def test_a_line_out_of_view_is_said_to_be():
    ax = small()
    draw = frames(animate(AWAY_RUN, *AWAY, ax=ax))
    draw(0)
    assert notes(ax) == ["the boundary is out of view"]
    seen = small()
    frames(animate(RUN, X, Y, max_frames=2, ax=seen))(-1)
    assert notes(seen) == []


def test_an_update_names_no_line_that_is_not_seen():
    left, right = plot_update(AWAY_RUN, 1, *AWAY, [small(), small()])
    assert notes(left) == ["all weights are zero: no boundary"]
    assert notes(right) == ["the boundary is out of view"]
    _, after = plot_update(AWAY_RUN, 2, *AWAY, [small(), small()])
    assert "boundary before" not in legend(after)


def test_each_frame_is_drawn_once(tmp_path, monkeypatch):
    drawn = []
    figure = Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda *args: (drawn.append(1), figure(*args)))
    animate(RUN, X, Y, tmp_path / "run.gif", max_frames=3, ax=small())
    assert len(drawn) <= 3 + 3


def test_frames_are_counted_on_request(tmp_path, capsys):
    animate(RUN, X, Y, tmp_path / "run.gif", max_frames=2, ax=small())
    assert capsys.readouterr() == ("", "")
    animate(RUN, X, Y, tmp_path / "run.gif", max_frames=2, ax=small(), verbose=True)
    assert capsys.readouterr().err == "\rframe 1 of 2\rframe 2 of 2\n"


@pytest.mark.parametrize("path", [b"a.gif", 3])
def test_a_path_is_a_word(path):
    with pytest.raises(TypeError, match=r"expected a path such as 'run\.gif' or 'run\.html', got (bytes|int)\."):
        animate(RUN, X, Y, path)


def test_an_interval_has_an_end(tmp_path):
    with pytest.raises(ValueError, match="interval must be an integer from 1 to 600000, got 10000000"):
        animate(RUN, X, Y, tmp_path / "run.gif", interval=10**7)


def test_a_missing_folder_is_told_before_anything_is_drawn(tmp_path):
    plt.close("all")
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*none' to write 'run\.gif' into"):
        animate(RUN, X, Y, tmp_path / "none" / "run.gif")
    assert plt.get_fignums() == []


def test_an_interrupt_while_writing_leaves_no_figure_and_no_file(tmp_path, monkeypatch):
    plt.close("all")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("rosenblatt.plots.update._gif", interrupt)
    with pytest.raises(KeyboardInterrupt):
        animate(RUN, X, Y, tmp_path / "run.gif", max_frames=1)
    assert plt.get_fignums() == []
    assert list(tmp_path.iterdir()) == []


def test_the_canvas_of_a_figure_is_its_own_afterwards(tmp_path):
    ax = small()
    before = ax.figure.canvas
    animate(RUN, X, Y, tmp_path / "run.gif", max_frames=1, ax=ax)
    assert ax.figure.canvas is before
