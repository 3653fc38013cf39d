"""The perceptron family as scikit-learn estimators, and what they say of themselves."""

from rosenblatt.learners.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron

__all__ = ["AveragedPerceptron", "Perceptron", "VotedPerceptron"]
