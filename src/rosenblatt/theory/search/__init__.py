"""Searches for hyperplanes and for proofs that none exists; certificates are checked without relying on them."""
