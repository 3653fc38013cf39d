"""Plots of models, runs, proofs, verdicts and point sets. matplotlib is imported when a plot is drawn.

Most functions draw on the matplotlib Axes ``ax``, or on a new figure if ``ax`` is None, and return the axes. A model
may be a scikit-learn pipeline that ends in a perceptron; its earlier steps are then applied to the rows.
"""

from rosenblatt.plots.by_pass import ErrorsDisplay, plot_errors, plot_history, plot_orders
from rosenblatt.plots.circle import plot_circle, plot_lift
from rosenblatt.plots.neuron import plot_activation, plot_neuron
from rosenblatt.plots.plane import PlaneDisplay, plot_plane, plot_support, plot_votes
from rosenblatt.plots.projection import plot_projection
from rosenblatt.plots.proof import plot_cosine, plot_proof
from rosenblatt.plots.reliability import plot_reliability
from rosenblatt.plots.stream import plot_stream
from rosenblatt.plots.update import animate, plot_update
from rosenblatt.plots.vc import plot_dichotomies, plot_growth
from rosenblatt.plots.verdict import plot_bracket, plot_verdict
from rosenblatt.plots.weights import plot_weights

__all__ = [
    "ErrorsDisplay",
    "PlaneDisplay",
    "animate",
    "plot_activation",
    "plot_bracket",
    "plot_circle",
    "plot_cosine",
    "plot_dichotomies",
    "plot_errors",
    "plot_growth",
    "plot_history",
    "plot_lift",
    "plot_neuron",
    "plot_orders",
    "plot_plane",
    "plot_projection",
    "plot_proof",
    "plot_reliability",
    "plot_stream",
    "plot_support",
    "plot_update",
    "plot_verdict",
    "plot_votes",
    "plot_weights",
]
