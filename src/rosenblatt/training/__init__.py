"""The engine: how perceptrons are trained and what they answer, on numpy, scipy.sparse and the kernels alone."""
