"""Facts about blocks and indices that need no program."""

from __future__ import annotations

from .nodes import Node, Sum, Term


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
