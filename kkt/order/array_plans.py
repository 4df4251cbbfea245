"""Orders as arrays: plans of a million bodies without a Python object for each block."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import OrderError
from ..matrix.blocks import FC, FJ, LAM, PDD, QDD, F, Structure, require_structure
from ..matrix.system import System, require_system
from ..model.tree_kernels import breadth_first, children_first
from .pivots import Plan, plan, plan_of
from .sequence import OrderFunction, PivotSequence, Rules


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


def permutation(
    system: System, order: Plan | PivotSequence | OrderFunction | None = None
) -> NDArray[np.int64]:
    """Numbers of the unknowns of (4), (12 n + N,) and multipliers, as an order eliminates them.

    For sparse solvers, which take an order as a permutation, and for trees that are too large for
    :func:`kkt.solve_large` in this order: ``K = system.matrix; splu(K[p][:, p], permc_spec="NATURAL")``.
    ``order`` is an order, or its plan; None is ABM.  Raises OrderError where its unknowns are not those
    of (4): where forces are split, or bodies stand in pieces.

    >>> system = pt.build(pt.chain(2))
    >>> pt.permutation(system)[:7].tolist()  # pdd of the tip, then its force
    [6, 7, 8, 9, 10, 11, 20]
    """
    require_system(system)
    chosen = leaf_to_root(system.structure) if order is None else order
    chosen = chosen if isinstance(chosen, Plan) else plan(chosen, system.structure)
    graph, n = chosen.graph, system.tree.n
    if graph.split or graph.structure.n != n:
        what = "splits forces" if graph.split else "puts bodies into pieces"
        raise OrderError(
            f"order {chosen.sequence.name!r}: {what}, so that its unknowns are not those of equation "
            "(4); use an order of pdd, qdd and f"
        )
    start = np.zeros(graph.count, dtype=np.int64)
    for kind, first in zip((PDD, QDD, F), system.starts, strict=True):
        start[kind * n : (kind + 1) * n] = first
    rows = graph.size[LAM * n :]
    start[LAM * n :] = system.size - rows.sum() + np.cumsum(rows) - rows
    size = graph.size[chosen.blocks]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return np.asarray(np.repeat(start[chosen.blocks], size) + within)
