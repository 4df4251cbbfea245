"""A larger tree beside the model's, so that what is read off a small model holds in general.

On a chain of three, the children of a body and all bodies below it are the same wherever CRBM's
factor asks; on a tree with branches and depth they are not.  An order is a function of the tree: it
is folded on the model's tree and this one together, a forest, and told on the model's.
"""

from __future__ import annotations

import numpy as np

from kkt.blocks import Structure

PARENTS = (-1, 0, 0, 0, 1, 1, 4, 6, 6, 2, 7, -1)
DOF = (1, 2, 3)  # mixed, so that shapes are told apart


def beside(structure: Structure, mixed: bool) -> Structure:
    """The model's bodies, then the reference's: of the model's freedoms, ``mixed`` with DOF."""
    n = structure.n
    own = {int(d) for d in structure.dof[structure.parent >= 0]}
    inner = sorted(own | set(DOF) if mixed or not own else own)
    roots = sorted({int(d) for d in structure.dof[structure.parent < 0]})
    dof = []
    for i, up in enumerate(PARENTS):
        some = roots if up < 0 else inner
        dof.append(some[i % len(some)])
    return Structure(
        (*structure.names, *(("reference", i) for i in range(len(PARENTS)))),
        np.concatenate([structure.parent, [up + n if up >= 0 else -1 for up in PARENTS]]),
        np.concatenate([structure.dof, dof]),
    )
