"""Figures of the textbooks, each drawn from data and a real run, with a caption and the numbers that it shows.

``draw("4.7")`` draws one figure, ``write("out")`` writes all figures to a folder, and ``catalogue`` lists them. Each
module contains the figures of one text, and serves as an example of how to use the library: it loads data, trains with
a fixed seed, and draws with `rosenblatt.plots`.
"""

# importing the module of a text adds its figures to the catalogue, in this order
from rosenblatt.figures import ciml as ciml
from rosenblatt.figures import har_peled as har_peled
from rosenblatt.figures import notes as notes
from rosenblatt.figures.drawing import Drawing, Entry, catalogue, draw, write

__all__ = ["Drawing", "Entry", "catalogue", "draw", "write"]
