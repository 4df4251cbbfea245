"""Read robots from MJCF files, MuJoCo's own format, by MuJoCo's own compiler.

A body of several joints becomes a chain of bodies of which the last has the mass; those before it
are called ``BODY/JOINT``; so does one of a free joint with armature or a spring, which is three slides,
``BODY/JOINT x`` to z, and a ball.  Each stands in the frame of its joint: MuJoCo's body frame, moved to the
joint's anchor.  q is MuJoCo's qpos (a free joint's quaternion is x, y, z, w here); bodies that
no joint moves are part of the world.  One warning names what equation (4) does not have, which is left
out: contacts, other equality constraints, tendons, actuators, friction loss, which is a constraint
in MuJoCo, and outside effects on bodies, such as a fluid's.

Before MuJoCo compiles a file, it is checked how much it asks for, and what it opens: the compiler
allocates until memory ends, without hearing Ctrl-C, and waits for pipes.

Equality constraints are loops: a connect is a cut ball joint, a weld a cut fixed one.  A joint
constraint couples two joints by a ratio and an offset, or holds one.

MuJoCo softens constraints (``solref``, ``solimp``) and so accepts redundant rows; here they are
hard.  Rows that the tree's joints satisfy by themselves in every state are left out: one of three
where a planar linkage is closed by a connect.  Rows that follow from others wherever the loops are
closed, one of four where a bar hangs on three cranks of one length, are set aside: states must
still keep them, and are refused where they do not follow (``Loop.implied``).
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any
from xml.etree.ElementTree import Element

import networkx as nx
import numpy as np

from ..base.errors import ModelError, PivotreeWarning, UnreadableError
from ..base.foreign import of_kind
from ..base.reading import read_bytes
from ..base.xml import root_of
from .fields import Floats
from .joints import TERMS, TYPES
from .loops import Loop, checked_loops, coupled_joints, cut_joint, extends, follow
from .rotations import from_quaternion, quaternion_to_vector
from .spatial import matmul, matvec
from .tree import add_body, default_state, new_tree

MOST_COPIES = 10**5  # copies of an element, words for each body or joint, and keyframes
CELLS = 10**8  # of a height field or texture
MODELS = 1000  # files that are included or attached, and files in these
COPIED = ("replicate", "flexcomp")


def check(file: str) -> None:
    """Raise UnreadableError, one sentence, for a file that should not be compiled.

    Files that it includes and models that it attaches are checked too, and those that they name;
    meshes and other files must be plain files where they exist.  MuJoCo looks, by its version, for a
    file beside the one that names it or beside the outermost; here all folders are looked in.
    """
    folders, files = {""}, set[tuple[str, str]]()
    attached: Counter[str | None] = Counter()  # how often each model is
    rest: list[tuple[str, Element | None, int, tuple[str, ...]]] = [(file, None, 1, ())]
    looked_at = 0
    while rest:
        looked_at += 1
        path, named_by, copies, outer = rest.pop()
        place = os.path.realpath(path)
        if place in outer or looked_at > MODELS:
            why = "names itself" if place in outer else f"is one of more than {MODELS:,} files"
            raise UnreadableError("<model>", f"file {path!r} {why}", "attach and include fewer")
        if named_by is not None and named_by.tag == "model":
            name = named_by.get("name")
            copies = max(copies, attached[name] if name else attached.total())
        try:
            found = list(_sizes(root_of(read_bytes(path)), copies))
        except UnreadableError as error:
            raise UnreadableError(path if outer else "", error) from None
        folders.add(os.path.dirname(path))
        for x, n in found:
            given = [x.attrib[key] for key in ("meshdir", "texturedir", "assetdir") if key in x.attrib]
            folders |= {os.path.join(*pair) for pair in product(folders, given)}
            files |= {(x.tag, name) for key, name in x.attrib.items() if key.startswith("file")}
            attached[x.get("model")] += n if x.tag == "attach" else 0
        for x, n in found:  # what is included comes first: it may hold what attaches models
            if x.tag in ("include", "model"):
                end = len(rest) if x.tag == "include" else 0
                rest[end:end] = [(p, x, n, (*outer, place)) for p in _there(folders, x.get("file", ""))]
    for tag, name in sorted(files):
        for path in _there(folders, name, re.split(r"[/\\]", name)[-1]):  # which strippath leaves
            if not os.path.isfile(path):
                raise UnreadableError(f"<{tag}>", f"file {path!r} is no plain file")


def _there(folders: Iterable[str], *names: str) -> Iterator[str]:
    """The files in folders that are there by one of these names; MuJoCo takes either slash."""
    given = (name for name in names if name and "\0" not in name)
    known = dict.fromkeys(x for name in given for x in (name, name.replace("\\", "/")))
    yield from filter(os.path.exists, (os.path.join(*pair) for pair in product(sorted(folders), known)))


def _sizes(root: Element, above: int) -> Iterator[tuple[Element, int]]:
    """Every element, and how often it is copied.

    Raises UnreadableError for more copies, cells or words than are allowed.
    """
    rest = [(root, above)]
    while rest:
        element, copies = rest.pop()
        if element.tag in COPIED:
            copies *= math.prod(_whole(element, "count") or [1])
        cells = math.prod(_whole(element, "nrow", "ncol", "width", "height") or [1])
        many = [key for key in element.attrib if key.startswith(("nuser", "nkey"))]
        words = _whole(element, *many)
        if copies > MOST_COPIES or cells > CELLS or max(words, default=0) > MOST_COPIES:
            what = f"asks for more than {MOST_COPIES:,} copies or words, or {CELLS:,} cells"
            raise UnreadableError(f"<{element.tag}>", what, "ask for fewer")
        yield element, copies
        rest += [(child, copies) for child in element]


def _whole(element: Element, *keys: str) -> list[int]:
    """The numbers in attributes, whole and at least 1; MuJoCo refuses words that are no numbers."""
    found = []
    for word in (word for key in keys for word in element.get(key, "").split()):
        with suppress(ValueError, OverflowError):
            found.append(max(1, int(float(word))))
    return found


Home = tuple[str | None, Floats, Floats]  # the tree's body that MuJoCo's is part of, and the pose
RANK = 1e-9  # of the largest singular value; singular values below count as zero
FOLLOWS = 1e-7  # of a row's size: its part across the rows before it that counts as zero
CLOSED, NEAR, FAR = 1e-10, 0.1, 1.0  # rad or m: gaps, draws about qpos0, and what leads away from it
STATES, STEPS = 4, 50  # positions that are looked at, and steps of Newton's method to each
Frame = tuple[Floats, Floats]  # orientation and origin, in the first of MuJoCo's bodies
Tie = tuple[int, Loop, list[int], Frame]  # number in MuJoCo, loop, MuJoCo's bodies, frame


def loops_of(
    model: Any, tree: nx.DiGraph[Any], home: list[Home], carrier: dict[int, str]
) -> tuple[tuple[Loop, ...], list[str]]:
    """The loops of a compiled ``mujoco.MjModel``, and in words the constraints that are left out.

    ``carrier`` has, for each joint of MuJoCo, the body of the tree that it carries.
    """
    import mujoco

    loops: dict[int, Loop] = {}
    ties: list[Tie] = []
    left = []
    for i in range(model.neq):
        what = mujoco.mjtEq(int(model.eq_type[i])).name.removeprefix("mjEQ_").lower()  # its name in MJCF
        name = model.equality(i).name or f"equality {i}"
        if not model.eq_active0[i]:
            left.append(f"{what} {name!r}, which is not active")
        elif what in ("connect", "weld"):
            ties += _tied(model, i, what, name, home)
        elif what == "joint":
            to = None if model.eq_obj2id[i] < 0 else carrier[model.eq_obj2id[i]]
            ratio, offset = _line(model, i, name)
            loops[i] = coupled_joints(tree, carrier[model.eq_obj1id[i]], to, ratio, offset=offset, name=name)
        else:
            left.append(f"{what} {name!r}")
    loops |= independent(model, ties, [*loops])
    return tuple(loops[i] for i in sorted(loops)), left


def _line(model: Any, i: int, name: str) -> tuple[float, float]:
    """Ratio and offset of coupled joints; MuJoCo's begin at qpos0 of both.  Raises ModelError for a curve."""
    (start, ratio, *higher), to = model.eq_data[i, :5].tolist(), model.eq_obj2id[i]
    if any(higher) and to >= 0:
        told = "give two numbers, an offset and a ratio, by which joints are coupled here"
        raise ModelError(f"joint {name!r}", "'polycoef' bends", told)
    start += float(model.qpos0[model.jnt_qposadr[model.eq_obj1id[i]]])
    return ratio, start if to < 0 else start - float(model.qpos0[model.jnt_qposadr[to]]) * ratio


def turn_of(wxyz: Floats) -> Floats:
    """The rotation of MuJoCo's quaternion (4,)."""
    return from_quaternion(np.roll(wxyz, -1))


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
    J = [_apart(model, state, ids, frame) for state in _drawn(model, 1.0)]
    moved = loop.C.T @ np.concatenate(J, axis=1)
    if not np.isfinite(moved).all():
        raise ModelError(what, "its bodies are too far apart for MuJoCo's numbers")
    U, size, _ = np.linalg.svd(moved)
    rank = int((size > RANK * size.max(initial=0.0)).sum())
    if rank == loop.rows or not rank:
        return loop
    kept = U[:, :rank] @ U[:, :rank].T
    rows = np.flatnonzero(np.abs(kept).max(axis=1) > RANK)
    return loop.having(loop.C[:, rows] if len(rows) == rank else loop.C @ U[:, :rank])


def independent(model: Any, ties: Sequence[Tie], coupled: Sequence[int]) -> dict[int, Loop]:
    """The loops by their number in MuJoCo, rows set aside that follow from those before them.

    ``coupled`` are the numbers of joints' equalities, which come first.  A row says something new
    where it does in one of the closed positions.  All rows stay where a loop would have none left,
    and where Newton's method closes no position near qpos0.
    """
    import mujoco

    loops = {i: loop for i, loop, *_ in ties}
    if not ties or len(ties) + len(coupled) < 2:
        return loops
    off = mujoco.mjtDisableBit  # equalities alone, with Jacobians that are full matrices
    model.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS)
    model.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    # positions near qpos0 that keep all of them
    closed = _drawn(model, NEAR)
    for state in closed:
        state.eq_active[:] = np.isin(np.arange(model.neq), [*loops, *coupled])
    closed = [state for state in closed if _closed(model, state)]
    # for each a basis of the rows before, which begins with those of joints
    bases: list[list[Floats]] = [[] for _ in closed]
    for state, basis in zip(closed, bases, strict=True):
        for row in _rows(model, state)[np.isin(state.efc_id[: state.ne], coupled)]:
            extends(basis, row, FOLLOWS * float(np.linalg.norm(row)))
    for i, loop, ids, frame in ties:
        J = [loop.C.T @ _apart(model, state, ids, frame) for state in closed]
        new = np.zeros(loop.rows, dtype=bool)  # rows that add to the basis of one position or more
        for r in range(loop.rows):
            for basis, j in zip(bases, J, strict=True):
                new[r] |= extends(basis, j[r], FOLLOWS * float(np.linalg.norm(j[r])))
        if closed and new.any() and not new.all():
            loops[i] = replace(loop.having(loop.C[:, new]), implied=loop.C[:, ~new])
    return loops


def _drawn(model: Any, size: float) -> list[Any]:
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


def _closed(model: Any, state: Any) -> bool:
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


KINDS = ("floating", "spherical", "prismatic", "revolute")  # mjtJoint: free, ball, slide, hinge


class MjcfWarning(PivotreeWarning):
    """An MJCF file holds elements that equation (4) leaves out.

    >>> pt.MjcfWarning.code
    'mjcf'
    """

    code = "mjcf"


@of_kind
def read_mjcf(path: str | os.PathLike[str]) -> nx.DiGraph[Any]:
    """The tree of an MJCF file, bodies depth first; armature, damping and springs with it.

    The joint's own name stands in the attribute ``joint_name``, ``limits`` as for
    :func:`kkt.read_urdf`; the state is that of :func:`kkt.model.tree.default_state`, with
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
            file, "MJCF is read by MuJoCo's compiler, which is not installed", "python -m pip install mujoco"
        ) from None
    try:
        check(file)
        model, said = _compiled(mujoco, file)
    except UnreadableError as error:
        raise ModelError(file, error) from None
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ModelError(file, f"MuJoCo refuses it: {' '.join(str(error).split())}") from None
    _require_numbers(model, file)
    if said:
        warnings.warn(f"{file}: MuJoCo warns: {'; '.join(said)}", MjcfWarning, stacklevel=2)
    _switch_off(model)
    _rotors(model)
    try:
        tree = tree_of(model, os.path.splitext(os.path.basename(file))[0], file)
    except ModelError as error:
        raise ModelError(file, error) from None
    except UnicodeDecodeError:
        raise ModelError(
            file, "the name of a body or joint is not text in UTF-8", "write the file in UTF-8"
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


def _require_numbers(model: Any, where: str) -> None:
    """Raise ModelError for a place, axis or inertia that is infinite or no number."""
    bodies = ("body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia")
    for field in (*bodies, "jnt_pos", "jnt_axis", "qpos0", "eq_data"):
        values = getattr(model, field)
        if not np.isfinite(values).all():
            k = int(np.argwhere(~np.isfinite(values))[0][0])
            raise ModelError(where, f"{field}[{k}] of MuJoCo's model is no finite number", "mend it")


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


def tree_of(model: Any, name: str, where: str) -> nx.DiGraph[Any]:
    """The tree of a compiled ``mujoco.MjModel``; warnings begin with ``where``."""
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
        moving = [(j, *part) for j in joints for part in _joints(model, j)]
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
        raise ModelError("no body moves", remedy="give one a joint")
    loops, unknown = loops_of(model, tree, home, carrier)
    default_state(tree, rate=0.5, effort=2.0, most=100.0)
    _tell(model, unknown, where)
    if loops:
        _close(tree, loops, _positions(model))
    return tree


def _close(tree: nx.DiGraph[Any], loops: tuple[Loop, ...], q: Floats) -> None:
    """Put loops into a tree, and the state at rest at MuJoCo's own positions, where they are closed."""
    checked_loops(loops, list(tree))
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


def _joints(model: Any, j: int) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of add_body for a joint; "turned" and "slid" take its frame from qpos0 to q = 0."""
    label = model.joint(j).name or f"joint {j}"
    first, q = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
    kind = KINDS[model.jnt_type[j]]
    own = slice(first, first + TYPES[kind].dof)
    polynomials = (("jnt_stiffnesspoly", j), ("dof_dampingpoly", own))
    if any(np.any(getattr(model, field)[k]) for field, k in polynomials if hasattr(model, field)):
        raise ModelError(f"joint {label!r}", "damping or stiffness is a polynomial", "give one number")
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
