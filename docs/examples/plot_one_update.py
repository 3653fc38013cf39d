"""
What one update does
====================

Trace a run, and draw the boundary before and after one of its updates.
"""

from rosenblatt import trace
from rosenblatt.plots import plot_update

X, y = [[4, 3], [1, 1], [3, 1], [0, 2]], [1, -1, 1, -1]
run = trace(X, y)
print(run.table())
plot_update(run, 3, X, y)
