"""What Freund and Schapire 1999 report of MNIST, as far as we have it."""

from __future__ import annotations

from typing import NamedTuple


class PaperRow(NamedTuple):
    """Test errors in percent, mistakes of all ten machines, support vectors in their union; None where we have none."""

    average: float | None = None
    vote: float | None = None
    mistakes: int | None = None
    supports: int | None = None


PAPER = {
    (1, 1): PaperRow(8.7, 8.5, 25_461, 19_795),
    (1, 10): PaperRow(8.3, 8.1),
    (2, 0.1): PaperRow(vote=6.0),
    (2, 1): PaperRow(2.8, 2.8, 10_201, 8_190),
    (2, 10): PaperRow(1.9, 1.8),
    (3, 0.1): PaperRow(vote=5.4),
    (3, 1): PaperRow(2.3, 2.3, 8_475, 6_774),
    (3, 10): PaperRow(1.6, 1.6),
}
"""By degree and epoch: Y. Freund and R. Schapire, Large Margin Classification Using the Perceptron Algorithm, Machine
Learning 37(3):277-296, 1999."""
