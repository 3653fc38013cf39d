"""The perceptron for Python: exact, fast, and it hands back proofs."""

import importlib

from rosenblatt import data, textbook
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.learners.explain import contributions, explain
from rosenblatt.learners.geometry import boundary, distance, unit_weights
from rosenblatt.learners.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.theory import vc

__version__ = "0.1.0"

__all__ = [
    "AveragedPerceptron",
    "Perceptron",
    "VotedPerceptron",
    "boundary",
    "contributions",
    "data",
    "distance",
    "explain",
    "textbook",
    "unit_weights",
    "vc",
    "visiting_order",
]


def __getattr__(name: str) -> object:
    """Import the pictures when they are first asked for, as ``rosenblatt.plots``."""
    if name == "plots":
        return importlib.import_module("rosenblatt.plots")
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
