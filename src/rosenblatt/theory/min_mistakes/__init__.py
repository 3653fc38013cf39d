"""How far data is from separable: the fewest rows to remove, bracketed and proved."""
