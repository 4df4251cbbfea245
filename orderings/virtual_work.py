"""The principle of virtual work (Yamane & Nakamura, "O(N) forward dynamics", secs 3 and 4).

Odd-even elimination of the same constraints is the constraint force algorithm (Fijany, Sharf &
D'Eleuterio 1995).
"""

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


@order("constraint_force", source="Fijany, Sharf & D'Eleuterio 1995 (cyclic reduction)")
def constraint_force(structure: Structure) -> list:
    """Constraint forces of every other joint, then of every other one left, and so on."""
    depth = dict(zip(structure.names, (structure.depth + 1).tolist(), strict=True))

    def round_of(body: object) -> int:
        """Trailing zeros of the joint's number along its branch: the round that takes it."""
        number = depth[body]
        return (number & -number).bit_length()

    return free_bodies(structure, sorted(structure.tip_to_base, key=round_of))


def free_bodies(structure: Structure, constraints: list) -> list:
    """pdd of every body, (qdd fJ) of every joint, then fC in the order given."""
    bodies = structure.tip_to_base
    return [
        *([("pdd", k)] for k in bodies),
        *([("qdd", k), ("fJ", k)] for k in bodies),
        *([("fC", k)] for k in constraints),
    ]
