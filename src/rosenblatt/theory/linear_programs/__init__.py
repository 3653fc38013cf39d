"""Linear programs solved by the perceptron, with certificates."""
