r"""
A circle learned as a plane
===========================

Lift points to :math:`(x, \lVert x \rVert^2)`, where a circle becomes a plane, and find the circle.
"""

from rosenblatt import data, fit_circle
from rosenblatt.plots import plot_circle

points, labels = data.make_circle(100, radius=2.0, center=[1, 1], gap=0.3, random_state=0)
circle = fit_circle(points, labels, largest_margin=True)
print(circle)
plot_circle(circle, points, labels)
