"""Separation in logistic regression: which maximum-likelihood estimates are infinite, with a proof."""
