"""The minimum number of misclassified rows of any hyperplane (agnostic learning), with proved bounds."""
