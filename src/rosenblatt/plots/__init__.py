"""Every picture; matplotlib is imported when one is drawn."""

from rosenblatt.plots.training import plot_history, plot_projection, plot_weights

__all__ = ["plot_history", "plot_projection", "plot_weights"]
