"""Inspection of trained models: weights, contributions to one prediction, geometry."""
