"""Readers of tables, and how their columns become features."""
