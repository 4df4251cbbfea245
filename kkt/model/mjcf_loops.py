"""Equality constraints of MuJoCo as loops: a connect is a cut ball joint, a weld a cut fixed one.

A joint constraint couples two joints by a polynomial, or holds one.

Rows that others imply are left out (:mod:`kkt.model.mjcf_rows`).
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .couplings import taylor
from .fields import Floats
from .loops import Loop, coupled_joints, cut_joint
from .mjcf_rows import Tie, independent, of_their_own
from .spatial import matmul, matvec

Home = tuple[str | None, Floats, Floats]  # the tree's body that MuJoCo's is part of, and the pose


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
