"""A boundary that is straight, and two that are not (parametric learning notes, figure 3.3)."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from rosenblatt.data.curves import make_spiral
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.plane import plot_plane
from rosenblatt.theory.separability import separability
from rosenblatt.data.curves import make_rings
from rosenblatt.figures.real_data import flowers
