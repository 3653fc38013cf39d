"""The convergence theorem: the bound on mistakes, and its proof beside a run."""
