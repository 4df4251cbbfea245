"""The trace of an order as a program on blocks: fronts, brackets, rotations, composites."""
