"""Proofs about data sets and training runs: separability, margins, mistake bounds, linear programs, VC dimension."""
