"""ABM from cluster to cluster of bodies that loops tie to each other (GRBDA; Chignoli et al. 2023)."""

from pivotree.kkt import Structure

from ..registry import order


@order("clusters", loops=True, source="Chignoli et al. 2023 (GRBDA); rows of loops in place of their G")
def clusters(structure: Structure) -> list:
    """ABM; bodies that loops tie to each other: CRBM among them, then their joints and lambda at once."""
    place = {k: i for i, k in enumerate(structure.tip_to_base)}
    cluster = {k: [k] for k in place}
    moving = {c: structure.moving(c) for c in structure.constraints if len(structure.tied(c)) > 1}
    for bodies in moving.values():
        one = sorted({k for body in bodies for k in cluster[body]}, key=place.__getitem__)
        cluster |= dict.fromkeys(one, one)
    groups = []
    for bodies in (cluster[k] for k in place if cluster[k][-1] == k):
        lam = [("lam", c) for c, tied in moving.items() if tied[0] in bodies]
        if lam:
            groups += [[("pdd", k), ("f", k)] for k in bodies] + [[("qdd", k) for k in bodies] + lam]
        else:
            groups += [[("pdd", k), ("qdd", k), ("f", k)] for k in bodies]
    return groups
