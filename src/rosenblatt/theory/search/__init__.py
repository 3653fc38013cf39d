"""Search for separating hyperplanes, or for proofs that none exists. Checks of certificates do not use this code."""
