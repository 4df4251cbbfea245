"""Trees from arrays, for more bodies than a graph of Python objects can hold quickly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError
from ..base.foreign import of_kind
from .fields import Floats, check_names, checked
from .joints import GENERAL, TYPES
from .tree import STANDARD_GRAVITY, BodyTree, check_values, unit_axes
from .tree_kernels import breadth_first


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
            raise ModelError(f"tree: field {field!r} is {value!r}; give {n}, one for each body")
    kinds = (joint,) * n if isinstance(joint, str) else tuple(map(str, joint))
    known = tuple(kind for kind in TYPES if kind != GENERAL)
    if len(kinds) != n or (set(kinds) - set(known)):
        wrong = sorted(set(map(str, kinds)) - set(known))
        found = f"holds {wrong[0]!r}" if wrong else f"has {len(kinds)} entries"
        raise ModelError(
            f"tree: field 'joint' {found}; give {n} of {', '.join(sorted(known))}, or one for all"
        )
    labels = tuple(range(n)) if names is None else tuple(names)
    if not all(isinstance(label, Hashable) for label in labels):
        raise ModelError("tree: field 'names' holds what names nothing, such as a list; give texts")
    if len(labels) != n or len(set(labels)) < n:
        raise ModelError(f"tree: field 'names' must hold {n} different names")
    check_names(labels)
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
        raise ModelError("tree: field 'parent' must be one integer for each body, -1 for a root")
    up = given.astype(np.int64)
    outside = np.flatnonzero((up < -1) | (up >= len(up)))
    if outside.size:
        k = int(outside[0])
        raise ModelError(
            f"tree: field 'parent' holds {up[k]} at {k}; give an index from 0 to {len(up) - 1}, "
            "or -1 for a root"
        )
    reached = breadth_first(up)[0]
    if len(reached) < len(up):
        lost = int(np.setdiff1d(np.arange(len(up)), reached)[0])
        raise ModelError(f"tree: body {lost} hangs on a cycle; a tree has none")
    return up


def _rows(field: str, value: ArrayLike, n: int, shape: tuple[int, ...]) -> Floats:
    """An array (n, *shape), from one of this shape or from one value for all bodies."""
    try:
        one = np.shape(value) == shape
    except ValueError:  # rows of different lengths
        one = False
    if one:
        return np.broadcast_to(checked("tree", field, value, shape), (n, *shape)).copy()
    return checked("tree", field, value, (n, *shape))


def _axes(axis: ArrayLike, kinds: tuple[str, ...], labels: tuple[Hashable, ...]) -> Floats:
    n = len(kinds)
    wanted = {kind: TYPES[kind].axes for kind in set(kinds)}
    count = np.array([wanted[kind] for kind in kinds])
    result = np.zeros((n, 2, 3))
    try:
        shape = np.shape(axis)
    except ValueError:  # rows of different lengths, which _rows refuses
        shape = ()
    if shape[-2:] == (2, 3) and len(shape) > 1 and shape != (n, 3):
        result[:] = _rows("axis", axis, n, (2, 3))
    else:
        result[:, 0] = _rows("axis", axis, n, (3,))
    result[count < 1, 0] = 0.0
    result[count < 2, 1] = 0.0
    return unit_axes(result, labels, kinds)
