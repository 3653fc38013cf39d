"""Every picture; matplotlib is imported when one is drawn.

Each function draws on the matplotlib Axes ``ax``, or on those of a new figure where none are given, and returns them.
"""

from rosenblatt.plots.proof import plot_cosine, plot_proof
from rosenblatt.plots.support import plot_support
from rosenblatt.plots.training import plot_history, plot_projection, plot_weights

__all__ = ["plot_cosine", "plot_history", "plot_projection", "plot_proof", "plot_support", "plot_weights"]
