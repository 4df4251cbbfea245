"""Bodies from the base outward: what tip to base avoids (Brandl, Johanni & Otter 1986)."""

from pivotree.kkt import Structure

from .registry import order


@order("base_to_tip", source="reverse of Brandl, Johanni & Otter 1986")
def base_to_tip(structure: Structure) -> list:
    """Brackets as in ABM, root first: 1/m of a body is absorbed where ABM absorbs m."""
    return [[("pdd", k), ("f", k), ("qdd", k)] for k in structure.base_to_tip]
