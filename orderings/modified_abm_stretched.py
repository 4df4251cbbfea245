"""Modified ABM (Ascher, Pai & Cloutier 1996, equation (11)) as pivots of a larger matrix."""

from pivotree.kkt import Structure

from .registry import order


@order("modified_abm_stretched", source="Ascher, Pai & Cloutier 1996, eq (11)", links="stretched")
def modified_abm_stretched(structure: Structure) -> list:
    """One bracket a body, on links in two: M and M~ are blocks of their own, D_k sees each apart.

    No rule of accumulation is needed, which is what eq (11) means; it costs more than the rule.
    """
    of = structure.stretched()
    groups = []
    for k in structure.order:
        parts = [k, *([of.carriers[k]] if k in of.carriers else [])]
        pairs = [(kind, of.names[part]) for part in parts for kind in ("pdd", "f")]
        groups.append([*pairs, ("qdd", of.names[k])])
    return groups
