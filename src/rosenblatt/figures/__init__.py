"""Every figure that the texts name, drawn from data and a real run, with a caption and its numbers.

``draw("4.7")`` draws one, ``write("out")`` all of them into a folder, and ``catalogue`` lists them. Each module here is
an example of the library: data, a run with a fixed seed, the drawing by `rosenblatt.plots`, a caption.
"""

from rosenblatt.figures.catalogue import catalogue, draw
from rosenblatt.figures.drawing import Drawing, Entry
from rosenblatt.figures.writing import write

__all__ = ["Drawing", "Entry", "catalogue", "draw", "write"]
