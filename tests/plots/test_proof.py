import numpy as np
import pytest

from helpers.pictures import axes, lines
from rosenblatt.plots.proof import plot_cosine, plot_proof
from rosenblatt.theory.convergence.proof import proof
from rosenblatt.theory.inputs import bound_text

TWO = proof([[1.0], [0.0]], [1, -1])
RNG = np.random.default_rng(0)
X = RNG.integers(-9, 10, (40, 3)).astype(float)
FAR = proof(X, np.where(X @ [1, -2, 3] + 0.5 > 0, 1, -1), max_iter=1000)
LONG = proof([[0.01], [0.0]], [1, -1], max_iter=100_000)


def words(ax):
    return [text.get_text().strip() for text in ax.texts]


def drawn(line):
    return np.column_stack([line.get_xdata(), line.get_ydata()])


def test_a_small_bound_is_drawn_on_even_scales_from_zero():
    ax = plot_proof(TWO, axes())
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    length = drawn(lines(ax)["|w|, the length of the weights"])
    np.testing.assert_allclose(length, [[0, 0], *np.column_stack([TWO.k, np.sqrt(TWO.norm2)])])
    along = drawn(lines(ax)["w*·w, the part of w along w*"])
    np.testing.assert_allclose(along, [[0, 0], *np.column_stack([TWO.k, TWO.projection])])
    assert ax.get_title() == "5 updates; at most 10 are possible"
    assert words(ax) == ["the run ends at 5", "(R/γ)² = 10"]


@pytest.mark.parametrize("gap", [1.0, 0.3, 2.5167930837535584e-4, 9.095164291230617e-05, 1.9e-07, 1e-11])
@pytest.mark.parametrize("picture", [plot_proof, plot_cosine])
def test_the_bound_is_one_number_wherever_it_is_shown(picture, gap):
    """With (R / gamma)^2 from the floats R and gamma, which are rounded, it has other last digits."""
    shown = proof([[gap], [0.0]], [1, -1], max_iter=50)
    ax = picture(shown, axes())
    assert f"(R/γ)² = {bound_text(shown.bound)}" in words(ax)
    assert bound_text(shown.bound) in str(shown)
    if picture is plot_proof:
        assert f"at most {bound_text(shown.bound)} are possible" in ax.get_title()


def test_a_large_bound_is_drawn_on_logarithmic_scales():
    ax = plot_proof(FAR, axes())
    assert FAR.bound > 5 * FAR.updates
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    np.testing.assert_allclose(lines(ax)["|w|, the length of the weights"].get_ydata(), np.sqrt(FAR.norm2))
    np.testing.assert_allclose(lines(ax)["w*·w, the part of w along w*"].get_ydata(), FAR.projection)
    assert f"{FAR.updates} updates; at most {int(FAR.bound):,} are possible" in ax.get_title()


@pytest.mark.parametrize("made", [TWO, FAR, LONG])
def test_the_two_bounds_enclose_the_run_and_meet_at_the_star(made):
    ax = plot_proof(made, axes())
    (star,) = [line for line in ax.get_lines() if line.get_marker() == "*"]
    k, top = star.get_xdata()[0], star.get_ydata()[0]
    assert k == pytest.approx((made.R / made.gamma) ** 2)
    assert top == pytest.approx(np.sqrt(k) * made.R) == pytest.approx(k * made.gamma)
    high, low = drawn(lines(ax)["√k·R: |w| is at most this"]), drawn(lines(ax)["k·γ: w*·w is at least this"])
    np.testing.assert_allclose(high[:, 1], np.sqrt(high[:, 0]) * made.R)
    np.testing.assert_allclose(low[:, 1], low[:, 0] * made.gamma)
    assert high[-1, 0] == low[-1, 0] > k
    for name in ("|w|, the length of the weights", "w*·w, the part of w along w*"):
        run = drawn(lines(ax)[name])
        assert run[-1, 0] == made.updates
        assert (run[:, 1] <= np.sqrt(run[:, 0]) * made.R * (1 + 1e-9)).all()
        assert (run[:, 1] >= run[:, 0] * made.gamma * (1 - 1e-9)).all()
    left, right = ax.get_xlim()
    bottom, above = ax.get_ylim()
    assert left < k < right
    assert bottom < top < above
    ax.figure.draw_without_rendering()


def test_a_run_that_was_stopped_says_so():
    ax = plot_proof(proof([[1.0], [0.0]], [1, -1], max_iter=2), axes())
    assert words(ax)[0] == "stopped at 3"


def test_the_cosine_is_drawn_over_its_bound_with_its_falls():
    ax = plot_cosine(TWO, axes())
    np.testing.assert_array_equal(drawn(lines(ax)["the cosine"]), np.column_stack([TWO.k, TWO.cosine]))
    np.testing.assert_array_equal(drawn(lines(ax)["it fell here"]), [[4, TWO.cosine[3]]])
    bound = drawn(lines(ax)["√k·γ/R: it is at least this"])
    np.testing.assert_allclose(bound[:, 1], np.sqrt(bound[:, 0]) * TWO.gamma / TWO.R)
    assert bound[:, 1].max() <= 1 + 1e-12
    assert ax.get_title() == "The angle to w* grew at 1 of 5 updates"
    assert ax.get_xscale() == "linear"
    assert plot_cosine(FAR, axes()).get_xscale() == "log"


def test_a_long_run_is_drawn_by_some_of_its_updates():
    ax = plot_cosine(LONG, axes())
    run = drawn(lines(ax)["the cosine"])
    assert len(run) == 2000 < LONG.updates
    assert (run[0, 0], run[-1, 0]) == (1, LONG.updates)
    assert lines(ax)["the cosine"].get_marker() == ""
    assert "it fell here" not in lines(ax)


def test_rows_whose_squares_leave_the_floats_are_drawn():
    made = proof([[2.0**600, 2.0**600], [-(2.0**601), 2.0**600]], [1, -1], fit_intercept=False)
    assert np.isinf(made.norm2).all()
    for picture in (plot_proof, plot_cosine):
        picture(made, axes()).figure.draw_without_rendering()
    length = lines(plot_proof(made, axes()))["|w|, the length of the weights"].get_ydata()
    assert np.isfinite(length).all()


def test_one_update_is_drawn():
    made = proof(np.empty((3, 0)), [1, 1, 1])
    assert made.updates == made.bound // 1 == 1
    for picture in (plot_proof, plot_cosine):
        picture(made, axes()).figure.draw_without_rendering()
