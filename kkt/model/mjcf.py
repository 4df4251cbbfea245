"""Read robots from MJCF files, MuJoCo's own format, by MuJoCo's own compiler.

A body of several joints becomes a chain of bodies of which the last has the mass; those before it
are called ``BODY/JOINT``; so does one of a free joint with armature or a spring, which is three slides,
``BODY/JOINT x`` to z, and a ball.  Each stands in the frame of its joint: MuJoCo's body frame, moved to the
joint's anchor.  q is MuJoCo's qpos (a free joint's quaternion is x, y, z, w here); bodies that
no joint moves are part of the world.  Equality constraints connect, weld and joint are loops
(:mod:`kkt.model.mjcf_loops`).  One warning names what equation (4) does not have, which is left
out: contacts, other equality constraints, tendons, actuators, friction loss, which is a constraint
in MuJoCo, and outside effects on bodies, such as a fluid's.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import networkx as nx
import numpy as np

from ..base.errors import ModelError, UnreadableError
from ..base.kinds import of_kind
from .couplings import follow
from .default_state import default_state
from .fields import Floats
from .joint_terms import TERMS
from .joints import TYPES, quaternion_to_vector
from .loops import Loop, checked_loops
from .mjcf_guard import check
from .mjcf_loops import Home, loops_of, turn_of
from .spatial import matmul, matvec
from .tree import add_body, new_tree

KINDS = ("floating", "spherical", "prismatic", "revolute")  # mjtJoint: free, ball, slide, hinge


class MjcfWarning(UserWarning):
    """An MJCF file holds elements that equation (4) leaves out.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", pt.MjcfWarning)  # what is left out is known
    ...     tree = pt.load("chain:3")
    """


@of_kind
def read_mjcf(path: str | os.PathLike[str]) -> nx.DiGraph:
    """The tree of an MJCF file, bodies depth first; armature, damping and springs with it.

    The joint's own name stands in the attribute ``joint_name``, ``limits`` as for
    :func:`kkt.read_urdf`; the state is that of :func:`kkt.model.default_state.default_state`, with
    loops MuJoCo's qpos0 at rest, and ``source`` is the path.  Warns (MjcfWarning) of what is left
    out.  Raises ModelError, one sentence, where MuJoCo is not installed or refuses the file, and
    where nothing moves.

    >>> pt.read_mjcf("robot.xml")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.ModelError: robot.xml: cannot be read (No such file or directory)
    """
    file = os.fspath(path)
    try:
        import mujoco
    except ImportError:
        raise ModelError(
            f"{file}: MJCF is read by MuJoCo's compiler, which is not installed; python -m pip install mujoco"
        ) from None
    try:
        check(file)
        model, said = _compiled(mujoco, file)
    except UnreadableError as error:
        raise ModelError(f"{file}: {error}") from None
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ModelError(f"{file}: MuJoCo refuses it: {' '.join(str(error).split())}") from None
    _require_terms(model, file)
    _require_numbers(model, file)
    if said:
        warnings.warn(f"{file}: MuJoCo warns: {'; '.join(said)}", MjcfWarning, stacklevel=2)
    _switch_off(model)
    _rotors(model)
    try:
        tree = tree_of(model, os.path.splitext(os.path.basename(file))[0], file)
    except UnicodeDecodeError:
        raise ModelError(
            f"{file}: the name of a body or joint is not text in UTF-8; write the file in UTF-8"
        ) from None
    tree.graph["source"] = file
    return tree


def _compiled(mujoco: Any, file: str) -> tuple[Any, list[str]]:
    """The model, and MuJoCo's warnings, which it would else print and log in the current folder."""
    said: list[str] = []
    before = getattr(mujoco, "get_mju_user_warning", lambda: None)()
    mujoco.set_mju_user_warning(said.append)
    try:
        return mujoco.MjModel.from_xml_path(file), said
    finally:
        mujoco.set_mju_user_warning(before)


def _require_terms(model: Any, where: str) -> None:
    """Raise ModelError for a joint's armature, damping or spring that is negative or no number."""
    for field, of in (("armature", "dof"), ("damping", "dof"), ("stiffness", "jnt")):
        values = getattr(model, f"{of}_{field}")
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
        if wrong.size:
            j = int(model.dof_jntid[wrong[0]] if of == "dof" else wrong[0])
            label = model.joint(j).name or f"joint {j}"
            raise ModelError(
                f"{where}: joint {label!r}: field {field!r} is {values[wrong[0]]:g}; give zero or more"
            )


def _require_numbers(model: Any, where: str) -> None:
    """Raise ModelError for a place, axis or inertia that is infinite or no number."""
    for field in (
        "body_pos",
        "body_quat",
        "body_ipos",
        "body_iquat",
        "body_mass",
        "body_inertia",
        "jnt_pos",
        "jnt_axis",
        "qpos0",
        "eq_data",
    ):
        values = getattr(model, field)
        if not np.isfinite(values).all():
            k = int(np.argwhere(~np.isfinite(values))[0][0])
            raise ModelError(f"{where}: {field}[{k}] of MuJoCo's model is no finite number; mend it")


def _switch_off(model: Any) -> None:
    """Set to zero what the file's <flag> disables."""

    def off(*names: str) -> bool:
        import mujoco

        bits = mujoco.mjtDisableBit  # versions differ in what they have
        known = [int(getattr(bits, f"mjDSBL_{name}", 0)) for name in names]
        return any(model.opt.disableflags & bit for bit in known)

    if off("GRAVITY"):
        model.opt.gravity[:] = 0.0
    for kinds, names in (
        (("SPRING", "PASSIVE"), ("jnt_stiffness", "jnt_stiffnesspoly")),
        (("DAMPER", "PASSIVE"), ("dof_damping", "dof_dampingpoly")),
        (("FRICTIONLOSS", "CONSTRAINT"), ("dof_frictionloss",)),
        (("EQUALITY", "CONSTRAINT"), ("eq_active0",)),
        (("CONTACT", "CONSTRAINT"), ("geom_contype", "geom_conaffinity")),
    ):
        if off(*kinds):
            for name in (name for name in names if hasattr(model, name)):
                getattr(model, name)[:] = 0


def _rotors(model: Any) -> None:
    """Armature of an actuator on a hinge or slide is gear^2 times that on the joint."""
    import mujoco

    on_joints = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for i, armature in enumerate(getattr(model, "actuator_armature", ())):
        j = model.actuator_trnid[i, 0]
        if model.actuator_trntype[i] in on_joints and TYPES[KINDS[model.jnt_type[j]]].dof == 1:
            model.dof_armature[model.jnt_dofadr[j]] += armature * model.actuator_gear[i, 0] ** 2


def tree_of(model: Any, name: str, where: str) -> nx.DiGraph:
    """The tree of a compiled ``mujoco.MjModel``; errors and warnings begin with ``where``."""
    tree = new_tree(name, tuple(model.opt.gravity))
    eye, zero = np.eye(3), np.zeros(3)
    # for each body of MuJoCo: the body of the tree that it is part of, and its pose in that body
    home: list[Home] = [(None, eye, zero)]
    carrier: dict[int, str] = {}  # for each joint of MuJoCo: the body of the tree that it carries
    for b in range(1, model.nbody):
        up, R0, p0 = home[model.body_parentid[b]]
        R, p = matmul(R0, turn_of(model.body_quat[b])), p0 + matvec(R0, model.body_pos[b])
        joints = range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b])
        if up is None and not joints:
            home.append((None, R, p))
            continue
        body = model.body(b).name or f"body {b}"
        turn = turn_of(model.body_iquat[b])
        mass = {"mass": float(model.body_mass[b]), "com": model.body_ipos[b].copy()}
        inertia = matmul(matmul(turn, np.diag(model.body_inertia[b])), turn.T)
        mass["inertia"] = (inertia + inertia.T) / 2
        if not joints:
            add_body(tree, body, up, joint="fixed", R=R, p=p, **mass)
            home.append((body, eye, zero))
            continue
        anchor = zero
        moving = [(j, *part) for j in joints for part in _joints(model, j, where)]
        for number, (j, label, given) in enumerate(moving, 1):
            last = number == len(moving)
            free = KINDS[model.jnt_type[j]] == "floating"
            at = zero if free else model.jnt_pos[j]
            if free:  # its position is the world's
                R, p = eye, zero
            place = p + matvec(R, at - anchor + given.pop("slid"))
            here = body if last else f"{body}/{label}"
            own: dict[str, Any] = {"mass": 0.0}
            if last:
                own = mass | {"com": mass["com"] - at}
            add_body(tree, here, up, R=matmul(R, given.pop("turned")), p=place, **given, **own)
            tree.nodes[here]["joint_name"] = label
            carrier[j] = here
            if model.jnt_limited[j] and TYPES[given["joint"]].dof == 1:
                low, high = (float(x) for x in model.jnt_range[j])
                tree.nodes[here]["limits"] = (low, high, np.inf)
            up, R, p, anchor = here, eye, zero, at
        home.append((body, eye, -anchor))
    if not tree:
        raise ModelError(f"{where}: no body moves; give one a joint")
    try:
        loops, unknown = loops_of(model, tree, home, carrier)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None
    _tell(model, unknown, where)
    default_state(tree, rate=0.5, effort=2.0, most=100.0)
    if loops:
        _close(tree, loops, _positions(model), where)
    return tree


def _close(tree: nx.DiGraph, loops: tuple[Loop, ...], q: Floats, where: str) -> None:
    """Put loops into a tree, and the state at rest at MuJoCo's own positions, where they are closed."""
    try:
        checked_loops(loops, list(tree))
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None
    coupled = ", and as it follows for coupled joints" if any(x.follows for x in loops) else ""
    tree.graph.update(q=q, qd=0.0 * tree.graph["qd"], loops=loops)
    follow(tree)
    tree.graph["state_formulas"] |= {"q": f"MuJoCo's qpos0{coupled}", "qd": "0"}


def _positions(model: Any) -> Floats:
    """qpos0 as q (N,): rotation vectors, before the positions of free joints."""
    found = [np.zeros(0)]
    for j, (kind, at) in enumerate(zip(model.jnt_type, model.jnt_qposadr, strict=True)):
        x = model.qpos0[at : at + 7]
        if _split(model, j):
            found.append(np.concatenate([x[:3], np.zeros(3)]))
        elif KINDS[kind] == "floating":
            found.append(np.concatenate([quaternion_to_vector(x[[4, 5, 6, 3]]), x[:3]]))
        else:
            found.append(np.zeros(3) if KINDS[kind] == "spherical" else x[:1].copy())
    return np.concatenate(found)


def _joints(model: Any, j: int, where: str) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of add_body for a joint; "turned" and "slid" take its frame from qpos0 to q = 0."""
    label = model.joint(j).name or f"joint {j}"
    first, q = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
    kind = KINDS[model.jnt_type[j]]
    own = slice(first, first + TYPES[kind].dof)
    polynomials = (("jnt_stiffnesspoly", j), ("dof_dampingpoly", own))
    if any(np.any(getattr(model, field)[k]) for field, k in polynomials if hasattr(model, field)):
        raise ModelError(f"{where}: joint {label!r}: damping or stiffness is a polynomial; give one number")
    if not _split(model, j):
        return [(label, _joint(model, j, kind, first, q))]
    slides = [_joint(model, j, "prismatic", first + i, q + i) | {"axis": np.eye(3)[i]} for i in range(3)]
    for slide in slides:
        slide["slid"] = np.zeros(3)  # q is the place in the world
    ball = _joint(model, j, "spherical", first + 3, q + 3)
    ball["turned"] = turn_of(model.qpos_spring[q + 3 : q + 7])
    return [(f"{label} {axis}", slide) for axis, slide in zip("xyz", slides, strict=True)] + [(label, ball)]


def _split(model: Any, j: int) -> bool:
    """Whether a joint is free, with armature or a spring: three slides along the world's axes, and a ball.

    Their rates, and the numbers that springs pull at, are MuJoCo's; those of a floating joint are not.
    """
    own = slice(model.jnt_dofadr[j], model.jnt_dofadr[j] + 6)
    bound = bool(model.jnt_stiffness[j] or model.dof_armature[own].any())
    return KINDS[model.jnt_type[j]] == "floating" and bound


def _joint(model: Any, j: int, kind: str, first: int, q: int) -> dict[str, Any]:
    """The joint of one kind whose rates begin at ``first`` and positions at q in MuJoCo's."""
    own, axis = slice(first, first + TYPES[kind].dof), model.jnt_axis[j].copy()
    given: dict[str, Any] = {"joint": kind, "axis": axis, "turned": np.eye(3), "slid": np.zeros(3)}
    order = np.r_[3:6, 0:3] if kind == "floating" else np.arange(TYPES[kind].dof)
    given["armature"] = model.dof_armature[own][order]
    given["damping"] = model.dof_damping[own][order]
    if model.jnt_stiffness[j]:
        given["stiffness"] = np.full(len(order), model.jnt_stiffness[j])
        given["rest"] = model.qpos_spring[q] if len(order) == 1 else 0.0  # a ball's: where q is 0
    if kind == "revolute":
        turned = TYPES[kind].pose(axis[None, None], -model.qpos0[None, q : q + 1])[0]
        given["turned"] = turned[0]
    if kind == "prismatic":
        given["slid"] = -axis * model.qpos0[q]
    return {key: x for key, x in given.items() if key not in TERMS or np.any(x)}


def _tell(model: Any, equal: list[str], where: str) -> None:
    """One warning for all that is left out; ``equal`` are the constraints that are no loops."""
    touching = int(((model.geom_contype != 0) | (model.geom_conaffinity != 0)).sum())
    geared = bool(np.any(getattr(model, "actuator_armature", 0.0)))
    fluid = bool(model.opt.density or model.opt.viscosity)
    found = [
        (touching, f"contacts of {touching} geoms"),
        (equal, f"equality constraints ({', '.join(equal)})"),
        (model.ntendon, f"{model.ntendon} tendons"),
        (model.nu, f"{model.nu} actuators" + ", their armature apart" * geared),
        ((model.dof_frictionloss > 0).any(), "friction loss of joints"),
        (model.body_gravcomp.any(), "compensation of gravity"),
        (fluid, "the fluid around bodies"),
        (getattr(model, "nflex", 0), "soft bodies"),
        (getattr(model, "nplastic", 0), "yield of springs"),
        (model.nplugin, f"{model.nplugin} plugins"),
    ]
    left = [text for there, text in found if there]
    if left:
        warnings.warn(
            f"{where}: left out, not being in equation (4) here: {'; '.join(left)}", MjcfWarning, stacklevel=4
        )
