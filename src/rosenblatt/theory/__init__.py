"""Proofs about data sets and training runs: margins, verdicts, bounds, linear programs and VC dimension."""
