"""Elimination with letters: the block program as formulas, and a normal form that compares them."""
