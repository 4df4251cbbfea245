"""Orders as arrays: plans of a million bodies without a Python object for each block."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import OrderError
from ..matrix.blocks import FC, FJ, PDD, QDD, F, Structure, require_structure
from ..model.tree_order import breadth_first, children_first
from .pivots import Plan, plan_of
from .sequence import PivotSequence, Rules


def plan_from_arrays(
    structure: Structure,
    kind: ArrayLike,
    body: ArrayLike,
    group: ArrayLike,
    *,
    name: str = "order",
    rules: Rules | None = None,
) -> Plan:
    """The plan that :func:`kkt.plan` makes of a list of groups of blocks, from arrays of integers.

    docs/elimination.md says what blocks and brackets are.

    ``kind``, ``body`` and ``group`` are (B,), whole numbers [1], one for each block.  Block t,
    of the body with index ``body[t]`` and the kind that stands at ``kind[t]`` in
    ("pdd", "qdd", "f", "fJ", "fC"), is in group ``group[t]``; groups ascend.  Joints of no
    freedom may be named or left out.  Raises LoopError for closed loops, and OrderError where
    arrays disagree, a block is unknown, eliminated twice, or left out.

    >>> structure = pt.build(pt.chain(2)).structure
    >>> kind, body, group = [0, 1, 2, 0, 1, 2], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]
    >>> plan = pt.plan_from_arrays(structure, kind, body, group)
    >>> pt.symbolic(plan).fill_blocks
    1
    """
    require_structure(structure)
    structure.require_tree("plan_from_arrays")
    try:
        kinds, bodies, groups = (np.asarray(x) for x in (kind, body, group))
        alike = kinds.shape == bodies.shape == groups.shape and kinds.ndim == 1
    except ValueError:  # rows of different lengths
        alike = False
    if not alike or any(x.dtype.kind not in "iu" for x in (kinds, bodies)):
        raise OrderError(f"order {name!r}: kind, body and group must be integers, equally many")
    outside = (kinds < PDD) | (kinds > FC) | (bodies < 0) | (bodies >= structure.n)
    if outside.any():
        t = int(np.flatnonzero(outside)[0])
        raise OrderError(
            f"order {name!r}: block {t} is kind {kinds[t]} of body {bodies[t]}; kinds run from 0 "
            f"to {FC}, bodies from 0 to {structure.n - 1}"
        )
    if (np.diff(groups) < 0).any():
        raise OrderError(f"order {name!r}: groups must ascend; sort the blocks by group")
    sequence = PivotSequence((), name, rules=rules or Rules())
    return plan_of(sequence, structure, kinds, bodies, groups, bool((kinds >= FJ).any()))


def leaf_to_root(structure: Structure) -> Plan:
    """One bracket a body, children first: the articulated body method's plan, from arrays.

    The method is that of Featherstone 1983; Ascher, Pai & Cloutier 1996, equations (5) to (7).

    Raises LoopError for closed loops, as :func:`plan_from_arrays` does.

    >>> structure = pt.build(pt.chain(100)).structure
    >>> pt.symbolic(pt.leaf_to_root(structure)).fill_blocks
    99
    """
    require_structure(structure)
    order = children_first(*breadth_first(structure.parent))
    kinds = np.tile([PDD, F, QDD], structure.n)
    group = np.repeat(np.arange(structure.n), 3)
    return plan_from_arrays(structure, kinds, np.repeat(order, 3), group, name="abm")
