"""One update in the plane, before and after, and a run as a moving picture."""

import re

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from helpers.browser import chromium
from helpers.pictures import legend
from rosenblatt import trace
from rosenblatt.data import make_separable, make_xor
from rosenblatt.plots import animate, plot_update
from rosenblatt.theory.inputs import true_minus

RNG = np.random.default_rng(4)
X = RNG.integers(-9, 10, (20, 2)).astype(float)
Y = np.where(X @ [2, 1] > 0, "up", "down")
THROUGH_ORIGIN = trace(X, Y, fit_intercept=False)
WITH_BIAS = trace(X, Y)


def pair():
    return Figure((9, 4.6), layout="constrained").subplots(1, 2)


def arrows(ax):
    return [np.array([text.xyann, text.xy]) for text in ax.texts if getattr(text, "arrow_patch", None) is not None]


def ring(ax):
    (found,) = [part for part in ax.collections if part.get_label() == "row of the update"]
    return np.ravel(found.get_offsets())


def boundary(ax):
    """Return places on the line where the tints meet."""
    (line,) = [part for part in ax.collections if not hasattr(part, "get_sizes") and not part.get_facecolor().size]
    return np.concatenate([path.vertices for path in line.get_paths()])


@pytest.mark.parametrize("run", [THROUGH_ORIGIN, WITH_BIAS])
def test_each_side_has_the_line_of_its_weights_and_the_row_in_a_ring(run):
    for k in (2, 3):
        left, right = plot_update(run, k, X, Y, pair())
        (w, b), (w2, b2) = run.weights(k - 1), run.weights(k)
        reach = np.abs(X).max() * np.abs([w, w2]).max()
        np.testing.assert_allclose(boundary(left) @ w + b, 0, atol=1e-9 * reach)
        np.testing.assert_allclose(boundary(right) @ w2 + b2, 0, atol=1e-9 * reach)
        (old,) = right.get_lines()
        assert old.get_label() == "boundary before"
        np.testing.assert_allclose(np.array([old.get_xy1(), old.get_xy2()]) @ w + b, 0, atol=1e-9 * reach)
        assert ring(left).tolist() == ring(right).tolist() == X[run.row[k - 1]].tolist()
        assert (left.get_xlim(), left.get_ylim()) == (right.get_xlim(), right.get_ylim())


def test_without_a_bias_the_vectors_add_up_tip_to_tail():
    k = 2
    left, right = plot_update(THROUGH_ORIGIN, k, X, Y, pair())
    (before, _), (after, _) = THROUGH_ORIGIN.weights(k - 1), THROUGH_ORIGIN.weights(k)
    old, added, new = arrows(right)
    scale = np.linalg.norm(old[1]) / np.linalg.norm(before)
    assert scale <= 1
    np.testing.assert_allclose(old, np.array([[0, 0], before]) * scale)
    np.testing.assert_allclose(added, np.array([before, after]) * scale)
    np.testing.assert_allclose(new, np.array([[0, 0], after]) * scale)
    np.testing.assert_allclose(arrows(left)[0], old)
    note = [text.get_text() for text in right.texts if "length" in text.get_text()]
    assert note == ([] if scale == 1 else [f"arrows at 1/{1 / scale:g} of their length"])


def test_arrows_much_longer_than_the_rows_are_drawn_shorter():
    rows = np.array([[3.0, 1.0], [2.9, 1.2], [-0.1, 0.3]])
    run = trace(rows, [1, -1, -1], fit_intercept=False, max_iter=200)
    assert max(np.linalg.norm(step.w) for step in run) > 20
    k = int(np.argmax([np.linalg.norm(step.w) for step in run])) + 1
    _, right = plot_update(run, k, rows, [1, -1, -1], pair())
    assert max(np.abs(arrow).max() for arrow in arrows(right)) <= 4.5
    assert any("of their length" in text.get_text() for text in right.texts)


@pytest.mark.parametrize("run", [THROUGH_ORIGIN, WITH_BIAS])
def test_the_titles_have_the_activation_before_and_after_and_its_rise(run):
    bias = run.fit_intercept
    for k in (1, len(run)):
        left, right = plot_update(run, k, X, Y, pair())
        step, x = run.step(k), X[run.row[k - 1]]
        after, rise = step.w @ x + step.b, x @ x + bias
        sign = 1 if step.label == "up" else -1
        assert sign * (after - step.activation) == rise
        name = "w·x + b" if bias else "w·x"
        side = "on no side" if step.activation == 0 else "on the wrong side"
        start = f"Before update {k}, row {step.row} of label {step.label}:\n{name} = {step.activation:.4g}, {side}"
        assert left.get_title() == true_minus(start)
        assert right.get_title().startswith(true_minus(f"After: {name} = {after:.4g}, "))
        assert right.get_title().endswith(f"rose by {'|x|² + 1' if bias else '|x|²'} = {rise:.4g}")


def test_the_first_update_starts_from_nothing():
    left, right = plot_update(THROUGH_ORIGIN, 1, X, Y, pair())
    assert not arrows(left)
    assert not right.get_lines()
    assert len(arrows(right)) == 1
    assert left.get_title().endswith("w·x = 0, on no side")
    left, right = plot_update(WITH_BIAS, 1, X, Y, pair())
    right.figure.draw_without_rendering()


def test_weights_that_come_back_to_zero_are_drawn():
    rows, labels = make_xor()
    run = trace(rows, labels, fit_intercept=False, max_iter=2)
    back = next(step.k for step in run if not step.w.any())
    for k in (back, back + 1):
        plot_update(run, k, rows, labels, pair())[1].figure.draw_without_rendering()


# moving pictures


def test_a_gif_has_a_frame_for_each_update(tmp_path):
    ax = Figure((3, 3), dpi=40, layout="constrained").subplots()
    made = animate(WITH_BIAS, X, Y, tmp_path / "run.gif", interval=200, ax=ax)
    with Image.open(tmp_path / "run.gif") as picture:
        assert picture.n_frames == len(WITH_BIAS)
        assert picture.info["duration"] == 200
    assert list(tmp_path.iterdir()) == [tmp_path / "run.gif"]
    assert ax.get_title().startswith(f"Update {len(WITH_BIAS)} of {len(WITH_BIAS)}, pass")
    assert ax.get_title().endswith("then a pass without a mistake") == WITH_BIAS.converged
    assert ring(ax).tolist() == X[WITH_BIAS.row[-1]].tolist()
    made.event_source = None


def test_without_a_path_nothing_is_written_and_the_frames_can_be_drawn():
    from matplotlib import pyplot

    made = animate(WITH_BIAS, X, Y, max_frames=2)
    made._draw_frame(1)
    made._draw_was_started = True
    assert pyplot.gcf().axes[0].get_title().startswith(f"Update {len(WITH_BIAS)} of")
    pyplot.close()


# What each frame says, the file that is written, and the page that plays it.


PLANTED, SIGNS = make_separable(30, 2, margin=0.05, random_state=0)
RUN = trace(PLANTED, SIGNS)
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


def test_a_page_has_some_of_many_updates_and_the_last_and_needs_nothing_from_elsewhere(tmp_path):
    ax = small()
    animate(RUN, PLANTED, SIGNS, str(tmp_path / "run.html"), max_frames=3, ax=ax)
    assert ax.get_title().startswith(f"Update {len(RUN)} of {len(RUN)}, ")
    page = (tmp_path / "run.html").read_text()
    assert "//" not in re.sub(r"base64,[^\"]*", "", page)
    assert page.count("data:image/png;base64") == 3 < len(RUN)
    for part in ('<html lang="en">', "<title>A run of the perceptron</title>", 'name="viewport"', "color-scheme"):
        assert part in page


@pytest.mark.slow
def test_the_buttons_of_a_page_work(tmp_path):
    animate(RUN, PLANTED, SIGNS, tmp_path / "run.html", max_frames=4, interval=60, ax=small())
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
    draw = frames(animate(RUN, PLANTED, SIGNS, max_frames=5, ax=ax))
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
    frames(animate(RUN, PLANTED, SIGNS, max_frames=2, ax=seen))(-1)
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
    animate(RUN, PLANTED, SIGNS, tmp_path / "run.gif", max_frames=3, ax=small())
    assert len(drawn) <= 3 + 3


def test_frames_are_counted_on_request(tmp_path, capsys):
    animate(RUN, PLANTED, SIGNS, tmp_path / "run.gif", max_frames=2, ax=small())
    assert capsys.readouterr() == ("", "")
    animate(RUN, PLANTED, SIGNS, tmp_path / "run.gif", max_frames=2, ax=small(), verbose=True)
    assert capsys.readouterr().err == "\rframe 1 of 2\rframe 2 of 2\n"


def test_an_interrupt_while_writing_leaves_no_figure_and_no_file(tmp_path, monkeypatch):
    plt.close("all")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("rosenblatt.plots.update._gif", interrupt)
    with pytest.raises(KeyboardInterrupt):
        animate(RUN, PLANTED, SIGNS, tmp_path / "run.gif", max_frames=1)
    assert plt.get_fignums() == []
    assert list(tmp_path.iterdir()) == []


def test_the_canvas_of_a_figure_is_its_own_afterwards(tmp_path):
    ax = small()
    before = ax.figure.canvas
    animate(RUN, PLANTED, SIGNS, tmp_path / "run.gif", max_frames=1, ax=ax)
    assert ax.figure.canvas is before
