"""Linear programs by the perceptron, with certificates."""
