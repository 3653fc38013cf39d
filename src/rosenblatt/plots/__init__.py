"""Every picture; matplotlib is imported when one is drawn.

Each function draws on the matplotlib Axes ``ax``, or on those of a new figure where none are given, and returns them.
A model may be a scikit-learn pipeline that ends in one: its other steps are applied to the rows.
"""

from rosenblatt.plots.activation import plot_activation
from rosenblatt.plots.animation import animate
from rosenblatt.plots.bracket import plot_bracket
from rosenblatt.plots.circle import plot_circle
from rosenblatt.plots.dichotomies import plot_dichotomies
from rosenblatt.plots.errors import ErrorsDisplay, plot_errors
from rosenblatt.plots.growth import plot_growth
from rosenblatt.plots.history import plot_history
from rosenblatt.plots.lift import plot_lift
from rosenblatt.plots.neuron import plot_neuron
from rosenblatt.plots.orders import plot_orders
from rosenblatt.plots.plane import PlaneDisplay, plot_plane
from rosenblatt.plots.projection import plot_projection
from rosenblatt.plots.proof import plot_cosine, plot_proof
from rosenblatt.plots.support import plot_support
from rosenblatt.plots.update import plot_update
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.plots.votes import plot_votes
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
    "plot_support",
    "plot_update",
    "plot_verdict",
    "plot_votes",
    "plot_weights",
]
