"""Saving and loading of models, and their export for other programs."""
