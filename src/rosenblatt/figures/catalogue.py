"""All figures by their ids, with the texts that they are from."""

from __future__ import annotations

from rosenblatt.figures.ciml import (
    figure_3_1,
    figure_3_3,
    figure_3_4,
    figure_4_3,
    figure_4_4,
    figure_4_5,
    figure_4_6,
    figure_4_7,
    figure_4_8,
    figure_4_9,
    figure_4_12,
    figure_30_2,
)
from rosenblatt.figures.drawing import CIML, HAR_PELED, NOTES, Drawing, Entry
from rosenblatt.figures.har_peled import figure_30_1, figure_30_2_circle, figure_30_3_1
from rosenblatt.figures.notes import figure_3_2, figure_4_1, figure_4_2, figure_4_10, figure_4_11
from rosenblatt.messages import ParameterError, did_you_mean, shorten

catalogue: dict[str, Entry] = {
    entry.id: entry
    for entry in (
        Entry("4.1", "A neuron", CIML, figure_4_1),
        Entry("4.2", "Feature vector, weights, products and sum", CIML, figure_4_2),
        Entry("4.3", "Training and test error by pass", CIML, figure_4_3),
        Entry("4.4", "Order: fixed, shuffled once, shuffled anew", CIML, figure_4_4),
        Entry("4.5", "A dot product is a projection", CIML, figure_4_5),
        Entry("4.6", "Data, boundary and weight vector", CIML, figure_4_6),
        Entry("4.7", "Projections onto the weight vector", CIML, figure_4_7),
        Entry("4.8", "The bias as a shift", CIML, figure_4_8),
        Entry("4.9", "One update without a bias", CIML, figure_4_9),
        Entry("4.10", "Separable data", CIML, figure_4_10),
        Entry("4.11", "Inseparable data", CIML, figure_4_11),
        Entry("4.12", "XOR, impossible and possible", CIML, figure_4_12),
        Entry("30.1", "Two separable point sets", HAR_PELED, figure_30_1),
        Entry("30.2", "The perceptron algorithm, run", HAR_PELED, figure_30_2),
        Entry("30.2-circle", "A circle learned by lifting", HAR_PELED, figure_30_2_circle),
        Entry("30.3.1", "Subsets of four points cut by discs", HAR_PELED, figure_30_3_1),
        Entry("3.1", "With a bias and without", NOTES, figure_3_1),
        Entry("3.2", "A hyperplane in space", NOTES, figure_3_2),
        Entry("3.3", "Linear and non-linear boundaries", NOTES, figure_3_3),
        Entry("3.4", "The geometric margin", NOTES, figure_3_4),
    )
}
"""Every figure: id, title, the text that it is from, and the function that draws it."""


def draw(id: str) -> Drawing:
    """Draw one figure of the texts, from its data and a run with a fixed seed.

    Parameters
    ----------
    id : str
        One of ``figures.catalogue``, such as "4.7".

    Returns
    -------
    Drawing
        Its ``picture`` is a matplotlib Figure, ``caption`` one paragraph, ``numbers`` what it shows.

    Examples
    --------
    >>> from rosenblatt import figures
    >>> drawing = figures.draw("4.5")
    >>> drawing.title, round(drawing.numbers["dot"], 3)
    ('A dot product is a projection', 0.734)
    >>> drawing.picture.savefig("dot_product.svg")  # doctest: +SKIP
    """
    return find(id).draw()


def find(id: str) -> Entry:
    """Return a figure by its id; a ValueError that names the nearest, or all, where there is none."""
    if not isinstance(id, str):
        raise ParameterError(f'the id of a figure is a string such as "4.7", got {shorten(id)}.')
    if id in catalogue:
        return catalogue[id]
    known = "; ".join(f"{entry.id} {entry.title}" for entry in catalogue.values())
    raise ParameterError(f"there is no figure {shorten(id)}: {did_you_mean(id, catalogue) or f'there are {known}.'}")
