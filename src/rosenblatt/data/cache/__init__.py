"""Parsed rows kept for further passes."""
