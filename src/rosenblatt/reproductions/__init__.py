"""Experiments of papers, each as a function that repeats the protocol and compares the results with the paper's."""

from rosenblatt.reproductions.freund_schapire import Reproduction, freund_schapire_1999

__all__ = ["Reproduction", "freund_schapire_1999"]
