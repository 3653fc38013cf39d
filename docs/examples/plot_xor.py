"""
Why no line separates XOR
=========================

Ask for a verdict, check it, and draw its proof: the convex hulls of the two classes cross.
"""

from rosenblatt import separability
from rosenblatt.plots import plot_verdict

X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
verdict = separability(X, y)
print(verdict)
print("The proof holds:", verdict.check(X, y))
plot_verdict(verdict, X, y)
