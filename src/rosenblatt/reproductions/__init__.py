"""Experiments of papers, each as one function: the same data, the same protocol, our numbers beside theirs."""

from rosenblatt.reproductions.freund_schapire import Reproduction, freund_schapire_1999

__all__ = ["Reproduction", "freund_schapire_1999"]
