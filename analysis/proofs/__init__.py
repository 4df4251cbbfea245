"""The closed forms of the papers, proved against the elimination engine.

A statement has two sides that never come from the same code: the left is what the engine made, the
right is typed from the paper.  A file of this folder holds the statements of one source.
"""

from __future__ import annotations

from importlib import import_module

from .claim import REGISTRY, Statement

SOURCES = (
    "ascher1996",
    "induction",
    "positive",
    "loewner",
    "rotations",
    "cloutier1995",
    "featherstone1983",
    "yamane2001",
    "mobility",
    "baraff1996",
    "motion",
    "impacts",
    "solves",
    "pasic1999",
    "interfaces",
    "fill",
)


def statements() -> dict[str, Statement]:
    """Every statement by its name, in the order in which the papers are told."""
    for source in SOURCES:
        import_module(f".{source}", __name__)
    return REGISTRY
