"""Digits that are proved for every state of a robot: the bounds of the guarantee, and their theorem."""
