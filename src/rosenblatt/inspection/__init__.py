"""Inspection of trained models: largest weights, contributions to a prediction, geometry of the boundary."""
