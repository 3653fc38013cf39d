"""Searches for hyperplanes and for proofs that there are none; certificates do not trust them."""
