"""Plots of the convergence proof: the two bounds on |w| from which the theorem follows, and the angle between w and w*.

Here w* is the separator of norm 1 with the largest margin gamma, and R is the largest norm of a row. Solid lines show
the run, and orange dashed or dotted lines the bounds of the theorem.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.messages import count_of, evenly_spaced
from rosenblatt.plots.axes import (
    BLUE,
    DOTS_UP_TO,
    GREEN,
    ORANGE,
    Axes,
    axes_for,
    closes_on_error,
    ink,
    tidy,
    whole_ticks,
)
from rosenblatt.theory.convergence.proof import EVEN_UP_TO, Proof
from rosenblatt.theory.inputs import bound_text

_POINTS = 2000  # number of points on a curve; of a longer run, this many evenly spaced updates are drawn


@closes_on_error
def plot_proof(proof: Proof, ax: Axes | None = None) -> Axes:
    """Draw the bounds of the convergence proof, k gamma <= w*.w <= |w| <= sqrt(k) R, against the updates k.

    The lower bound k gamma grows faster than the upper bound sqrt(k) R. They meet at k = (R / gamma)^2, so no run can
    make more updates. If this k is more than five times the number of updates made, both axes are logarithmic.

    Parameters
    ----------
    proof : Proof
        The result of `rosenblatt.proof`.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_cosine : Draw the angle between w and w* and its bound.

    Examples
    --------
    >>> from rosenblatt.theory.convergence.proof import proof
    >>> ax = plot_proof(proof([[1.0], [0.0]], [1, -1]))
    >>> ax.get_title()
    '5 updates; at most 10 are possible'
    """
    ax, n, end, even, k = _prepared("plot_proof", proof, ax)
    low, high = k * proof.gamma, np.sqrt(k) * proof.R
    ax.fill_between(k, low, high, where=low <= high, color=ORANGE, alpha=0.12, linewidth=0)
    ax.plot(k, high, "--", color=ORANGE, label="√k·R: |w| is at most this")
    _draw_run(ax, proof, proof.norm, BLUE, "|w|, the length of the weights", 0.0 if even else None)
    _draw_run(ax, proof, proof.projection, GREEN, "w*·w, the part of w along w*", 0.0 if even else None)
    ax.plot(k, low, ":", color=ORANGE, linewidth=2.5, label="k·γ: w*·w is at least this")
    top = math.sqrt(end) * proof.R
    ax.plot(end, top, "*", color=ink(), markersize=14, zorder=4)
    if even:
        ax.set(xlim=(0, k[-1]), ylim=(0, 1.2 * top))
        whole_ticks(ax)
    else:
        tall = top / proof.gamma  # leaves a fifth of the height free at the bottom
        ax.set(xscale="log", yscale="log", xlim=(1, k[-1]), ylim=(proof.gamma / tall**0.3, top * tall**0.2))
    _mark(ax, n, math.sqrt(n) * proof.R, f"the run ends at {n:,}" if proof.converged else f"stopped at {n:,}", even)
    _mark(ax, end, top, f"(R/γ)² = {bound_text(end)}", even, left=True)
    title = f"{count_of(n, 'update')}; at most {bound_text(proof.bound)} are possible"
    ax.set(title=title, xlabel="updates k", ylabel="length")
    ax.legend(frameon=False, loc="upper left")
    tidy(ax)
    return ax


@closes_on_error
def plot_cosine(proof: Proof, ax: Axes | None = None) -> Axes:
    """Draw the cosine of the angle between w and w* after each update, and its lower bound sqrt(k) gamma / R.

    No cosine exceeds 1, so the run must end before the bound exceeds 1. The cosine itself may decrease at an update,
    and the title gives the number of such updates.

    Parameters
    ----------
    proof : Proof
        The result of `rosenblatt.proof`.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_proof : Draw the bounds on the length of w.

    Examples
    --------
    >>> from rosenblatt.theory.convergence.proof import proof
    >>> ax = plot_cosine(proof([[1.0], [0.0]], [1, -1]))
    >>> ax.get_title()
    'The angle to w* grew at 1 of 5 updates'
    """
    ax, n, end, even, k = _prepared("plot_cosine", proof, ax)
    bound = np.sqrt(k) * proof.gamma / proof.R
    inside = k <= end
    ax.fill_between(k[inside], bound[inside], 1.0, color=ORANGE, alpha=0.12, linewidth=0)
    _draw_run(ax, proof, proof.cosine, BLUE, "the cosine", None)
    fell = proof.fell
    if len(fell) > 0 and n <= DOTS_UP_TO:
        ax.plot(fell, proof.cosine[fell - 1], "v", color=ink(), markersize=7, label="it fell here")
    ax.plot(k[inside], bound[inside], ":", color=ORANGE, linewidth=2.5, label="√k·γ/R: it is at least this")
    ax.axhline(1.0, color=ink(), linewidth=0.8)
    ax.plot(end, 1.0, "*", color=ink(), markersize=14, zorder=4)
    ax.set(xscale="linear" if even else "log", xlim=(k[0], k[-1]), ylim=(-0.13, 1.08))  # the space below 0 is for text
    ax.set_yticks(np.linspace(0, 1, 6))
    _mark(ax, n, float(proof.cosine[-1]), f"the run ends at {n:,}" if proof.converged else f"stopped at {n:,}", even)
    _mark(ax, end, 1.0, f"(R/γ)² = {bound_text(end)}", even, left=True)
    ax.set(
        title=f"The angle to w* grew at {len(fell):,} of {n:,} updates",
        xlabel="updates k",
        ylabel="cosine of the angle between w and w*",
    )
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
    tidy(ax)
    return ax


def _prepared(name: str, proof: Proof, ax: Axes | None) -> tuple[Axes, int, float, bool, np.ndarray]:
    """Return (ax, n, end, even, k) for a plot of the bounds.

    ``n`` is the number of updates, ``end`` the k at which the bounds meet, and ``even`` is True for linear scales. The
    array ``k`` contains the values at which the bounds are drawn, up to slightly more than ``end``.
    """
    if not isinstance(proof, Proof):
        raise ValueError(f"{name} expects the result of rosenblatt.proof, got {type(proof).__name__}.")
    n, end = proof.updates, proof.bound
    even = end <= EVEN_UP_TO * n
    k = np.linspace(0.0, 1.12 * end, _POINTS) if even else np.geomspace(1.0, end * end**0.12, _POINTS)
    return axes_for(ax), n, end, even, k


def _draw_run(ax: Axes, proof: Proof, values: np.ndarray, colour: str, label: str, start: float | None) -> None:
    """Draw a quantity at each update of the run, preceded by its value ``start`` at k = 0 unless that is None."""
    shown = evenly_spaced(proof.updates, _POINTS)
    k, drawn = proof.k[shown], values[shown]
    if start is not None:
        k, drawn = np.append(0, k), np.append(start, drawn)
    ax.plot(k, drawn, color=colour, marker="o" if len(k) <= DOTS_UP_TO else "", markersize=4, linewidth=2, label=label)


def _mark(ax: Axes, k: float, height: float, words: str, even: bool, left: bool = False) -> None:
    """Draw a vertical line from a point down to the horizontal axis, with text at its foot."""
    ax.plot([k, k], [ax.get_ylim()[0], height], color=ink(), linewidth=0.8, zorder=0)
    low, high = ax.get_xlim()
    place = k / high if even else math.log(k / low) / math.log(high / low)
    left = left or place > 0.38
    at = {"transform": ax.get_xaxis_transform(), "ha": "right" if left else "left", "color": ink()}
    ax.text(k, 0.03, f"{words} " if left else f" {words}", **at)
