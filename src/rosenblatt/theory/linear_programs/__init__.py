"""Linear programs by the perceptron, and what proves their answers."""
