"""The trace of an order as a program on blocks: fronts, brackets, rotations, composites."""

from .program import Instruction, Program
from .reader import BlockReader
from .substitution import trace_substitution

__all__ = ["BlockReader", "Instruction", "Program", "trace_substitution"]
