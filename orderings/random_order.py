"""A random feasible sequence: any order of blocks with pdd_k before f_k before qdd_k."""

import random

from pivotree.kkt import Order, Structure

from .registry import order


def random_order(seed: int = 0) -> Order:
    """The random order of a seed; every linear extension can come up."""

    @order(f"random:{seed}", source="any linear extension of pdd < f < qdd")
    def shuffled(structure: Structure) -> list:
        """Blocks in a random order of this seed, pdd before f before qdd in every body."""
        turns = [k for k in structure.names for _ in range(3)]
        random.Random(seed).shuffle(turns)
        kinds = {k: iter(("pdd", "f", "qdd")) for k in structure.names}
        return [[(next(kinds[k]), k)] for k in turns]

    return shuffled
