"""Trees and orders from arrays, for more bodies than Python objects can hold quickly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.compiled import njit
from ..base.errors import ModelError, OrderError
from ..base.foreign import of_kind
from ..matrix.blocks import FC, FJ, PDD, QDD, F, Structure, require_structure
from ..matrix.system import System, require_system
from ..model.fields import Floats, check_names, checked, shape_of
from ..model.joints import GENERAL, TYPES, each
from ..model.spatial import breadth_first
from ..model.tree import STANDARD_GRAVITY, BodyTree, check_values, unit_axes
from ..order.sequence import OrderLike, PivotSequence, Plan, Rules, plan, plan_of, unknowns_of


@of_kind
def tree_from_arrays(
    parent: ArrayLike,
    *,
    mass: ArrayLike,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike = ((0.0,) * 3,) * 3,
    joint: str | Sequence[str] = "revolute",
    axis: ArrayLike = (0.0, 0.0, 1.0),
    R: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    p: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = STANDARD_GRAVITY,
    names: Sequence[Hashable] | None = None,
    name: str = "tree",
) -> BodyTree:
    """A tree of n bodies from arrays of their attributes, or from one value for all of them.

    :func:`kkt.build` takes the tree in place of a graph, with q, qd and tau of length N.
    ``parent`` (n,) holds indices, -1 for a body that hangs from the world.  The others are those
    of :mod:`kkt.model.tree`, with n in front: ``mass`` (n,) [kg], ``com`` and ``p`` (n, 3) [m],
    ``inertia`` (n, 3, 3) [kg m^2], ``R`` (n, 3, 3), ``axis`` (n, 3), or (n, 2, 3) where universal
    joints have a second one; ``gravity`` (3,) [m/s^2].  Bodies are named 0 to n - 1 where
    ``names`` is None.  General joints need a graph.  Raises ModelError, one sentence, as
    :func:`kkt.compile_tree` does.

    >>> rod = {"mass": 1.0, "com": (0.05, 0, 0), "inertia": 1e-3 * np.eye(3), "p": (0.1, 0, 0)}
    >>> pt.build(pt.tree_from_arrays([-1, 0, 1], **rod))
    <System tree: 3 bodies, 3 freedoms, 39 unknowns, 124 nonzeros>
    """
    up = _parents(parent)
    n = len(up)
    for field, value in (("joint", joint), ("names", names)):
        if not isinstance(value, Iterable) and (value is not None or field == "joint"):
            raise ModelError("tree", f"field {field!r} is {value!r}", f"give {n}, one for each body")
    kinds = (joint,) * n if isinstance(joint, str) else tuple(map(str, joint))
    known = tuple(kind for kind in TYPES if kind != GENERAL)
    if len(kinds) != n or (set(kinds) - set(known)):
        wrong = sorted(set(map(str, kinds)) - set(known))
        found = f"holds {wrong[0]!r}" if wrong else f"has {len(kinds)} entries"
        raise ModelError(
            "tree", f"field 'joint' {found}", f"give {n} of {', '.join(sorted(known))}, or one for all"
        )
    labels: Sequence[Hashable] = range(n) if names is None else tuple(names)
    if names is not None and not all(issubclass(kind, Hashable) for kind in set(map(type, labels))):
        raise ModelError("tree", "field 'names' holds what names nothing, such as a list", "give texts")
    if len(labels) != n or (names is not None and len(set(labels)) < n):
        raise ModelError("tree", f"field 'names' must hold {n} different names")
    check_names(() if names is None else labels)
    check_names((name,), "tree")
    tree = BodyTree(
        name,
        labels,
        up,
        kinds,
        _axes(axis, kinds, labels),
        {},
        _rows("R", R, n, (3, 3)),
        _rows("p", p, n, (3,)),
        _rows("mass", mass, n, ()),
        _rows("com", com, n, (3,)),
        _rows("inertia", inertia, n, (3, 3)),
        checked("tree", "gravity", gravity, (3,)),
    )
    check_values(tree)
    return tree


def _parents(parent: ArrayLike) -> NDArray[np.int64]:
    try:
        given = np.asarray(parent)
    except ValueError:  # rows of different lengths
        given = np.zeros(0)
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iu":
        raise ModelError("tree", "field 'parent' must be one integer for each body, -1 for a root")
    up = given.astype(np.int64)
    outside = np.flatnonzero((up < -1) | (up >= len(up)))
    if outside.size:
        k = int(outside[0])
        what = f"field 'parent' holds {up[k]} at {k}"
        raise ModelError("tree", what, f"give an index from 0 to {len(up) - 1}, or -1 for a root")
    reached = up if (up < np.arange(len(up))).all() else breadth_first(up)[0]
    if len(reached) < len(up):
        lost = int(np.setdiff1d(np.arange(len(up)), reached)[0])
        raise ModelError("tree", f"body {lost} hangs on a cycle", "a tree has none")
    return up


def _rows(field: str, value: ArrayLike, n: int, shape: tuple[int, ...]) -> Floats:
    """An array (n, *shape), from one of this shape or from one value for all bodies."""
    if shape_of(value) == shape and (shape or np.isscalar(value) or isinstance(value, np.ndarray)):
        return np.broadcast_to(checked("tree", field, value, shape), (n, *shape))
    return checked("tree", field, value, (n, *shape))


def _axes(axis: ArrayLike, kinds: tuple[str, ...], labels: Sequence[Hashable]) -> Floats:
    n = len(kinds)
    count = each(kinds, {kind: TYPES[kind].axes for kind in set(kinds)})
    result = np.zeros((n, 2, 3))
    shape = shape_of(axis)
    if shape[-2:] == (2, 3) and len(shape) > 1 and shape != (n, 3):
        result[:] = _rows("axis", axis, n, (2, 3))
    else:
        result[:, 0] = _rows("axis", axis, n, (3,))
    result[np.arange(2) >= count[:, None]] = 0.0
    return unit_axes(result, labels, kinds)


# -- orders ----------------------------------------------------------------------------------------


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
        raise OrderError(f"order {name!r}", "kind, body and group must be integers, equally many")
    outside = (kinds < PDD) | (kinds > FC) | (bodies < 0) | (bodies >= structure.n)
    if outside.any():
        t = int(np.flatnonzero(outside)[0])
        raise OrderError(
            f"order {name!r}",
            f"block {t} is kind {kinds[t]} of body {bodies[t]}",
            f"kinds run from 0 to {FC}, bodies from 0 to {structure.n - 1}",
        )
    if (np.diff(groups) < 0).any():
        raise OrderError(f"order {name!r}", "groups must ascend", "sort the blocks by group")
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


@njit(cache=True)
def children_first(breadth, start):  # pragma: no cover
    """Deepest bodies first, each depth in its own order: Structure.order."""
    order = np.empty_like(breadth)
    filled = 0
    for d in range(len(start) - 2, -1, -1):
        for t in range(start[d], start[d + 1]):
            order[filled] = breadth[t]
            filled += 1
    return order


def permutation(system: System, order: OrderLike | Plan | None = None) -> NDArray[np.int64]:
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
    return unknowns_of(chosen, system)
