"""The engine: training and prediction of all perceptrons, built on numpy, scipy.sparse and the compiled kernels."""
