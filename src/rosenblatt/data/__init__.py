"""Where examples come from: generators whose answer is known beforehand."""

from rosenblatt.data.generators import make_circle, make_separable, make_sorted, make_xor

__all__ = ["make_circle", "make_separable", "make_sorted", "make_xor"]
