"""Every figure that the texts name, drawn from data and a real run, with a caption and its numbers.

``draw("4.7")`` draws one, ``write("out")`` all of them into a folder, and ``catalogue`` lists them. Each module of a
text is an example of the library: data, a run with a fixed seed, the drawing by `rosenblatt.plots`, a caption.
"""

# importing a text adds its figures to the catalogue, in this order
from rosenblatt.figures import ciml as ciml
from rosenblatt.figures import har_peled as har_peled
from rosenblatt.figures import notes as notes
from rosenblatt.figures.catalogue import Drawing, Entry, catalogue, draw, write

__all__ = ["Drawing", "Entry", "catalogue", "draw", "write"]
