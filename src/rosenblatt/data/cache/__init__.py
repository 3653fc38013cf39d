"""A cache of parsed rows for further passes."""
