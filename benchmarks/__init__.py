"""Benchmarks: workloads, our side, the peers' side, one report. Run ``python -m benchmarks``."""
