"""
Two species of iris, and the line between them
==============================================

Train a perceptron on two measurements of flowers, and draw the points, the boundary, the margin and the weights.
"""

from sklearn.datasets import load_iris

from rosenblatt import Perceptron
from rosenblatt.plots import plot_plane

iris = load_iris(as_frame=True)
two = iris.target != 1
X = iris.data.loc[two, ["petal length (cm)", "petal width (cm)"]]
y = iris.target_names[iris.target[two]]

model = Perceptron(random_state=0).fit(X, y)
print(model.report_)
plot_plane(model, X, y)
