"""Readers of tables, and the encoding of their columns as features."""
