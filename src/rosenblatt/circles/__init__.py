"""Circles and spheres that separate two classes, learned by lifting the points to (x, |x|^2)."""
