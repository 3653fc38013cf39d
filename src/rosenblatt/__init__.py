"""The perceptron for Python: exact, fast, and it hands back proofs."""

from rosenblatt import data, textbook
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.learners import AveragedPerceptron, Perceptron, VotedPerceptron

__version__ = "0.1.0"

__all__ = [
    "AveragedPerceptron",
    "Perceptron",
    "VotedPerceptron",
    "data",
    "textbook",
    "visiting_order",
]
