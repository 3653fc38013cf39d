"""Compiled code: passes over dense and CSR rows, visiting orders, exact signs, and parsers."""
