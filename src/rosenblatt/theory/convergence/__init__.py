"""The convergence theorem: the mistake bound, and its proof beside a run."""
