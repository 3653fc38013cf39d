"""Every picture; matplotlib is imported when one is drawn."""

from rosenblatt.plots.proof import plot_cosine, plot_proof
from rosenblatt.plots.training import plot_history, plot_projection, plot_weights

__all__ = ["plot_cosine", "plot_history", "plot_projection", "plot_proof", "plot_weights"]
