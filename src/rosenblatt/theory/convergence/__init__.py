"""The perceptron convergence theorem: the mistake bound, and its proof checked on a training run."""
