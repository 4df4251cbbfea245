"""The principle of virtual work (Yamane & Nakamura, "O(N) forward dynamics", secs 3 and 4)."""

from pivotree.kkt import Structure

from .registry import order


@order("virtual_work", source="Yamane & Nakamura, eqs (21), (36), (37)")
def virtual_work(structure: Structure) -> list:
    """All bodies set free, then all joint torques, then constraint forces leaf to root."""
    return free_bodies(structure, structure.tip_to_base)


@order("virtual_work_split", source="Yamane & Nakamura, sec. 4, Fig. 3", links="split")
def virtual_work_split(structure: Structure) -> list:
    """Virtual work after bodies with more than two children are split into pieces."""
    split = structure.split_links()
    return free_bodies(split, split.tip_to_base)


def free_bodies(structure: Structure, constraints: list) -> list:
    """pdd of every body, (qdd fJ) of every joint, then fC in the order given."""
    bodies = structure.tip_to_base
    return [
        *([("pdd", k)] for k in bodies),
        *([("qdd", k), ("fJ", k)] for k in bodies),
        *([("fC", k)] for k in constraints),
    ]
