"""
A spiral with a Gaussian kernel
===============================

Separate two arms of a spiral with a kernel perceptron. Circles mark the support rows.
"""

from rosenblatt import KernelPerceptron, data
from rosenblatt.plots import plot_support

X, y = data.make_spiral(200, random_state=0)
model = KernelPerceptron(kernel="rbf", gamma=4.0, hypothesis="last", max_iter=100, random_state=0)
print(model.fit(X, y).report_)
plot_support(model, X, y)
