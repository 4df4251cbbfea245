"""The trace of an order as a program on blocks: fronts, brackets, rotations, composites."""

from .program import BlockReader, Instruction, Program
from .residual_program import trace_substitution

__all__ = ["BlockReader", "Instruction", "Program", "trace_substitution"]
