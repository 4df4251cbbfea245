"""The closed forms of the papers, proved against the elimination engine.

A statement has two sides that never come from the same code: the left is what the engine made, the
right is typed from the paper.  Statements of a paper stand beside it, in ``papers/<paper>/proofs``;
those of other sources are files of this folder.
"""

from __future__ import annotations

from importlib import import_module

from ..algebra.algebra import Undecided
from .arm import Arm
from .bench import Bench, Engine, sum_of
from .claim import REGISTRY, Checked, Claim, Equal, Misprint, Statement, statement
from .induction import Blocks, any_freedom, leaves_first, left_is, of_equation_4
from .rigid import RigidBodies
from .scalars import Letters, Same

__all__ = [
    "REGISTRY",
    "Arm",
    "Bench",
    "Blocks",
    "Checked",
    "Claim",
    "Engine",
    "Equal",
    "Letters",
    "Misprint",
    "RigidBodies",
    "Same",
    "Statement",
    "Undecided",
    "any_freedom",
    "leaves_first",
    "left_is",
    "of_equation_4",
    "statement",
    "statements",
    "sum_of",
]

SOURCES = ("loewner", "rotations", "baraff1996")


def statements() -> dict[str, Statement]:
    """Every statement by its name: the papers' in their order, then those of other sources."""
    # the papers come after this package: they are loaded by name, and are not its base
    for paper in import_module("pivotree.papers").PAPERS:
        import_module(f"pivotree.papers.{paper}.proofs")
    for source in SOURCES:
        import_module(f".{source}", __name__)
    return REGISTRY
