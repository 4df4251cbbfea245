"""Facts about families and indices that need no program: columns, signs, bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pivotree.kkt.program.columns import LETTER

from .derivatives import BY
from .nodes import Family, Leaf, Node, Sum, Term


def column_of(family: Family) -> str:
    """The variable that a column is a derivative by, q, qd or tau; "" for other families."""
    kinds = family[1]
    return kinds[-1] if isinstance(kinds, tuple) and kinds and kinds[-1] in BY else ""


def base_of(family: Family) -> Family | None:
    """The family of the same quantity in the elimination itself; None for what is no column."""
    if family == ("input", "one"):
        return ("input", "tau")
    if not column_of(family):
        return None
    label, rest = family[0], family[1][:-1]
    if label == "change":
        return ("input", LETTER[rest[0]][0])
    if label in ("entry", "children", "second", "half", "residual", "update"):
        rest = (*rest, "rhs")
    return ("velocity" if label == "shifted" else label, rest, *family[2:])


def linear_of(node: Any, sign: int = 1) -> Iterator[tuple[Family, int]]:
    """Families of an expression's leaves, with the sign that each has when brackets are opened."""
    if isinstance(node, Leaf):
        yield node.family, sign
    elif isinstance(node, Sum):
        for term in node.terms:
            yield from linear_of(term.node, sign * term.sign)
    else:
        for arg in node.args:
            yield from linear_of(arg, sign)


def split(blocks: tuple[tuple[str, int], ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Bodies and kinds apart: an index and what is the same for all indices."""
    return tuple(k for _, k in blocks), tuple(kind for kind, _ in blocks)


def listed(blocks: list[tuple[str, int]]) -> Sum:
    """Blocks in an order that counts."""
    return Sum(tuple(Term(1, Node("block", (), *split((b,)))) for b in blocks), "list")


def independent(indices: list[tuple[int, ...]]) -> list[int]:
    """Positions of an index that do not always repeat an earlier one."""
    keep: list[int] = []
    for p in range(len(indices[0])):
        if not any(all(i[p] == i[q] for i in indices) for q in keep):
            keep.append(p)
    return keep
