"""Minimum number of misclassified rows of any hyperplane (the agnostic learning problem), bracketed with proof."""
