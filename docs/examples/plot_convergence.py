"""
The convergence proof, update by update
=======================================

Run a perceptron beside its convergence proof. The number of updates is squeezed between two curves.
"""

from sklearn.datasets import load_iris

from rosenblatt import proof
from rosenblatt.plots import plot_proof

X, y = load_iris(return_X_y=True)
run = proof(X[:, 2:], y == 0)
print(run)
plot_proof(run)
