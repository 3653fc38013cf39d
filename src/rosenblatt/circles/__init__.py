"""Circles and spheres learned by lifting the points."""
