"""Equality constraints of MuJoCo as loops: a connect is a cut ball joint, a weld a cut fixed one.

A joint constraint couples two joints by a polynomial, or holds one.

MuJoCo softens constraints (``solref``, ``solimp``) and so accepts redundant rows; here they are
hard.  Rows that the tree's joints satisfy by themselves in every state are left out: one of three
where a planar linkage is closed by a connect.  Rows that follow from others wherever the loops are
closed, one of four where a bar hangs on three cranks of one length, are set aside: states must
still keep them, and are refused where they do not follow (``Loop.implied``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from ..base.errors import ModelError
from .couplings import taylor
from .fields import Floats
from .loops import Loop, coupled_joints, cut_joint
from .spatial import extends, matmul, matvec

Home = tuple[str | None, Floats, Floats]  # the tree's body that MuJoCo's is part of, and the pose
RANK = 1e-9  # of the largest singular value; singular values below count as zero
FOLLOWS = 1e-7  # of a row's size: its part across the rows before it that counts as zero
CLOSED, NEAR, FAR = 1e-10, 0.1, 1.0  # rad or m: gaps, draws about qpos0, and what leads away from it
STATES, STEPS = 4, 50  # positions that are looked at, and steps of Newton's method to each
Frame = tuple[Floats, Floats]  # orientation and origin, in the first of MuJoCo's bodies
Tie = tuple[int, Loop, list[int], Frame]  # number in MuJoCo, loop, MuJoCo's bodies, frame


def loops_of(
    model: Any, tree: nx.DiGraph, home: list[Home], carrier: dict[int, str]
) -> tuple[tuple[Loop, ...], list[str]]:
    """The loops of a compiled ``mujoco.MjModel``, and in words the constraints that are left out.

    ``carrier`` has, for each joint of MuJoCo, the body of the tree that it carries.
    """
    loops: dict[int, Loop] = {}
    ties: list[Tie] = []
    left = []
    for i in range(model.neq):
        what = kind_of(model, i)
        name = model.equality(i).name or f"equality {i}"
        if not model.eq_active0[i]:
            left.append(f"{what} {name!r}, which is not active")
        elif what in ("connect", "weld"):
            ties += _tied(model, i, what, name, home)
        elif what == "joint":
            to = None if model.eq_obj2id[i] < 0 else carrier[model.eq_obj2id[i]]
            offset, ratio, *higher = _polynomial(model, i)
            line: dict[str, Any] = {"offset": offset, "higher": higher, "name": name}
            loops[i] = coupled_joints(tree, carrier[model.eq_obj1id[i]], to, ratio, **line)
        else:
            left.append(f"{what} {name!r}")
    loops |= independent(model, ties, [*loops])
    return tuple(loops[i] for i in sorted(loops)), left


def _polynomial(model: Any, i: int) -> list[float]:
    """q of coupled joints as a polynomial of q_to, lowest first; MuJoCo's begins at qpos0 of both."""
    found, to = model.eq_data[i, :5].tolist(), model.eq_obj2id[i]
    found[0] += float(model.qpos0[model.jnt_qposadr[model.eq_obj1id[i]]])
    while len(found) > 2 and (found[-1] == 0.0 or to < 0):
        found.pop()
    return found if to < 0 else taylor(found, -float(model.qpos0[model.jnt_qposadr[to]]))


def kind_of(model: Any, i: int) -> str:
    """The name in MJCF of an equality constraint's kind."""
    import mujoco

    return mujoco.mjtEq(int(model.eq_type[i])).name.removeprefix("mjEQ_").lower()


def turn_of(wxyz: Floats) -> Floats:
    """The rotation of a quaternion (4,)."""
    w, x, y, z = wxyz / np.sqrt((wxyz * wxyz).sum())
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _tied(model: Any, i: int, what: str, name: str, home: list[Home]) -> list[Tie]:
    """The loop of a connect or weld, where it is in MuJoCo, or none between parts of the world.

    Its frames on both bodies coincide where it is closed.  Between bodies, eq_data of a connect
    holds the anchors on the first and second; of a weld the anchors on the second and first, then
    the orientation of the second in the first.
    """
    import mujoco

    data, eye = model.eq_data[i], np.eye(3)
    ids = [int(model.eq_obj1id[i]), int(model.eq_obj2id[i])]
    if int(model.eq_objtype[i]) == int(mujoco.mjtObj.mjOBJ_SITE):
        frames = [(turn_of(model.site_quat[s]), model.site_pos[s]) for s in ids]
        ids = [int(model.site_bodyid[s]) for s in ids]
    elif what == "connect":
        frames = [(eye, data[:3]), (eye, data[3:6])]
    else:
        frames = [(eye, data[3:6]), (turn_of(data[6:10]).T, data[:3])]
    (first, R, p), (second, R2, p2) = (
        (home[b][0], matmul(home[b][1], turn), home[b][2] + matvec(home[b][1], at))
        for b, (turn, at) in zip(ids, frames, strict=True)
    )
    if first is None and second is None:
        return []
    # what a weld holds of the orientation is scaled: by 0, it is a connect
    joint = "fixed" if what == "weld" and data[10] else "spherical"
    loop = cut_joint(first, second, joint, R=R, p=p, R_second=R2, p_second=p2, name=name)
    kept = of_their_own(model, loop, ids, frames[0], f"{what} {name!r}")
    return [(i, kept, ids, frames[0])]


# -- rows that others do not imply -----------------------------------------------------------------


def of_their_own(model: Any, loop: Loop, ids: list[int], frame: Frame, what: str) -> Loop:
    """The loop without rows that hold in every state.  Raises ModelError for numbers that are none."""
    J = [_apart(model, state, ids, frame) for state in _positions(model, 1.0)]
    moved = loop.C.T @ np.concatenate(J, axis=1)
    if not np.isfinite(moved).all():
        raise ModelError(f"{what}: its bodies are too far apart for MuJoCo's numbers")
    U, size, _ = np.linalg.svd(moved)
    rank = int((size > RANK * size.max(initial=0.0)).sum())
    if rank == loop.rows or not rank:
        return loop
    kept = U[:, :rank] @ U[:, :rank].T
    rows = np.flatnonzero(np.abs(kept).max(axis=1) > RANK)
    return _with(loop, loop.C[:, rows] if len(rows) == rank else loop.C @ U[:, :rank])


def independent(model: Any, ties: Sequence[Tie], coupled: Sequence[int]) -> dict[int, Loop]:
    """The loops by their number in MuJoCo, rows set aside that follow from those before them.

    ``coupled`` are the numbers of joints' equalities, which come first.  A row says something new
    where it does in one of the closed positions.  All rows stay where a loop would have none left,
    and where Newton's method closes no position near qpos0.
    """
    loops = {i: loop for i, loop, *_ in ties}
    if not ties or len(ties) + len(coupled) < 2:
        return loops
    with _equalities_alone(model):
        closed = _positions(model, NEAR)
        for state in closed:
            state.eq_active[:] = np.isin(np.arange(model.neq), [*loops, *coupled])
        closed = [state for state in closed if _close(state, model)]
    bases: list[list[Floats]] = [[] for _ in closed]
    for state, basis in zip(closed, bases, strict=True):
        for row in _rows(model, state)[np.isin(state.efc_id[: state.ne], coupled)]:
            extends(basis, row, FOLLOWS * float(np.linalg.norm(row)))
    for i, loop, ids, frame in ties:
        J = [loop.C.T @ _apart(model, state, ids, frame) for state in closed]
        new = [_new(bases, [j[r] for j in J]) for r in range(loop.rows)]
        if closed and any(new) and not all(new):
            aside = loop.C[:, np.flatnonzero(~np.array(new))]
            loops[i] = replace(_with(loop, loop.C[:, np.flatnonzero(new)]), implied=aside)
    return loops


def _new(bases: list[list[Floats]], row: list[Floats]) -> bool:
    """Whether a row, as it is in each closed position, says something new in one; it is then added."""
    sizes = [FOLLOWS * float(np.linalg.norm(r)) for r in row]
    return sum(extends(*one) for one in zip(bases, row, sizes, strict=True)) > 0


def _with(loop: Loop, C: Floats) -> Loop:
    rows = C.shape[1]
    return replace(loop, C=C, compliance=loop.compliance[:rows], numbers=tuple(range(rows)))


def _positions(model: Any, size: float) -> list[Any]:
    """MuJoCo's data at positions drawn about qpos0, ``size`` rad or m from it."""
    import mujoco

    draw, found = np.random.default_rng(1996), []
    for _ in range(STATES):
        state = mujoco.MjData(model)
        state.qpos[:] = model.qpos0
        mujoco.mj_integratePos(model, state.qpos, size * draw.normal(size=model.nv), 1.0)
        mujoco.mj_kinematics(model, state)
        mujoco.mj_comPos(model, state)
        found.append(state)
    return found


def _apart(model: Any, state: Any, ids: list[int], frame: Frame) -> Floats:
    """(6, nv) Jacobian of the second body relative to the first, in c, in one position."""
    import mujoco

    turn, at = frame
    here = state.xmat[ids[0]].reshape(3, 3)
    point = state.xpos[ids[0]] + here @ at
    J = np.zeros((2, 6, model.nv))
    for side, body in enumerate(ids):
        mujoco.mj_jac(model, state, J[side, 3:], J[side, :3], point, body)
    back = (here @ turn).T
    apart = J[1] - J[0]
    return np.concatenate([back @ apart[:3], back @ apart[3:]])


@contextmanager
def _equalities_alone(model: Any) -> Iterator[None]:
    """MuJoCo without other constraints, and with Jacobians that are full matrices."""
    import mujoco

    bits = mujoco.mjtDisableBit
    before = model.opt.disableflags, model.opt.jacobian
    model.opt.disableflags |= int(bits.mjDSBL_CONTACT | bits.mjDSBL_LIMIT | bits.mjDSBL_FRICTIONLOSS)
    model.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    try:
        yield
    finally:
        model.opt.disableflags, model.opt.jacobian = before


def _close(state: Any, model: Any) -> bool:
    """Newton's method to a position that keeps all equalities; False where it leads to none."""
    import mujoco

    for _ in range(STEPS):
        mujoco.mj_fwdPosition(model, state)
        apart = state.efc_pos[: state.ne]
        if not np.isfinite(apart).all():
            return False
        if np.abs(apart).max(initial=0.0) < CLOSED:
            break
        step = np.linalg.lstsq(_rows(model, state), -apart, rcond=RANK)[0]
        size = max(float(np.abs(step).max(initial=0.0)), FAR / 2)
        mujoco.mj_integratePos(model, state.qpos, step, FAR / 2 / size)
    else:
        return False
    way = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, way, 1.0, model.qpos0, state.qpos)
    return bool(np.abs(way).max(initial=0.0) < FAR)  # else the loops may close in another way


def _rows(model: Any, state: Any) -> Floats:
    """(ne, nv) Jacobian of the equality constraints."""
    return np.array(state.efc_J[: state.ne * model.nv]).reshape(-1, model.nv)
