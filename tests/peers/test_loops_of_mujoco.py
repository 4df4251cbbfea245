"""Closed loops and contacts beside MuJoCo's: rows, accelerations and forces.

MuJoCo softens every constraint; hard ones are solved with its inertia, forces and Jacobians.  Robots
are those of MJCF files with equality constraints, and closed ones of MuJoCo Menagerie: a checkout of
github.com/google-deepmind/mujoco_menagerie is looked for where the environment variable
``MUJOCO_MENAGERIE`` says, then where robot_descriptions keeps its own.  ``-rP`` prints the figures of
docs/loops.md.
"""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

from mujoco_peer import Peer, mjcf_model  # noqa: E402
from random_states import RandomState, difference  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

FOUR_BAR = """<mujoco><compiler angle="radian"/><worldbody><body name="frame" euler="0.3 0.2 0.1">
 <body name="crank"><joint name="a" axis="0 0 1" damping="0.1"/><geom type="capsule" size="0.02"
   fromto="0 0 0 0 0.3 0"/>
  <body name="coupler" pos="0 0.3 0"><joint name="b" axis="0 0 1" armature="0.01"/>
   <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0.1 0"/></body></body>
 <body name="rocker" pos="0.5 0 0"><joint name="c" axis="0 0 1"/><geom type="capsule" size="0.02"
   fromto="0 0 0 0 0.4 0"/></body></body></worldbody><equality>{}</equality></mujoco>"""
HAND = """<mujoco><compiler angle="radian"/><worldbody>
 <body name="wall" pos="0.1 0 0.3" euler="0.2 0 0.4"><geom size="0.01"/>
  <site name="hook" pos="0.3 0.1 0"/></body>
 <body name="box" pos="0.4 0 0.5" euler="0.1 0.2 0.3"><freejoint name="free"/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/><site name="lug" pos="0.1 0.1 0.1"
   euler="0.3 0 0"/></body>
 <body name="upper" euler="0 0.2 0.1"><joint name="yaw" axis="0 0 1"/><joint name="pitch"
   axis="0 1 0" armature="0.1"/><joint name="roll" axis="1 0 0" pos="0.1 0 0"/><geom type="capsule"
   size="0.03" fromto="0 0 0 0.3 0 0"/>
  <body name="lower" pos="0.3 0 0"><joint name="ball" type="ball" pos="0.05 0 0"/><geom
    type="capsule" size="0.03" fromto="0 0 0 0.3 0.1 0"/>
   <body name="tip" pos="0.3 0.1 0"><joint name="slide" type="slide" axis="1 1 1" stiffness="5"/>
    <geom size="0.1"/><site name="claw" pos="0 0 0.1" euler="0 0.4 0"/></body></body></body>
 </worldbody><equality>{}</equality></mujoco>"""
CASES = {
    "four-bar": (FOUR_BAR, '<connect body1="coupler" body2="rocker" anchor="0.5 0.1 0"/>', 2),
    "four-bar to the world": (FOUR_BAR, '<connect body1="coupler" anchor="0.5 0.1 0.02"/>', 2),
    "triangle": (FOUR_BAR, '<weld body1="crank" body2="coupler"/>', 1),
    "connect": (HAND, '<connect body1="box" body2="tip" anchor="0.1 0.2 0.3"/>', 3),
    "connect sites": (HAND, '<connect site1="claw" site2="lug"/>', 3),
    "connect to a static site": (HAND, '<connect site1="hook" site2="lug"/>', 3),
    "weld": (HAND, '<weld body1="lower" body2="box" anchor="0.1 0.2 0"/>', 6),
    "weld to the world": (HAND, '<weld body1="tip"/>', 6),
    "weld with a pose": (
        HAND,
        '<weld body1="box" body2="tip" relpose="0.1 0 0.2 0.8 0.6 0 0" anchor="0 0.1 0.3"/>',
        6,
    ),
    "weld sites": (HAND, '<weld site1="lug" site2="claw" torquescale="3"/>', 6),
    "joints": (HAND, '<joint joint1="pitch" joint2="slide" polycoef="0.1 2.5 0 0 0"/>', 1),
    "held joint": (FOUR_BAR, '<joint joint1="b"/>', 1),
    "closed and coupled": (
        HAND,
        '<joint joint1="yaw" joint2="roll" polycoef="0 -3 0 0 0"/>'
        '<connect body1="box" body2="tip" anchor="0.1 0.2 0.3"/>',
        4,
    ),
    "both": (HAND, '<connect body1="box" body2="tip" anchor="0 0 0.3"/><weld body1="box" body2="wall"/>', 9),
}


MANY = ("triangle", "both", "closed and coupled")  # rows that are dropped, or of two kinds


class Closed:
    """A robot in a closed position, here and in MuJoCo, and MuJoCo's rows there."""

    def __init__(self, path, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kkt.MjcfWarning)
            warnings.simplefilter("ignore", kkt.LoopWarning)
            self.tree = kkt.load(path)
        self.peer = Peer(kkt.build(self.tree, loops=()), mjcf_model(path))
        self.model, self.data = self.peer.model, self.peer.data
        off = mujoco.mjtDisableBit
        flags = off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS
        flags |= off.mjDSBL_ACTUATION
        self.model.opt.disableflags = int(flags)
        self.model.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
        self.model.opt.tolerance, self.model.opt.iterations = 0.0, 100
        self.draw = np.random.default_rng(seed)
        self.close()

    def close(self):
        """A drawn position, moved until MuJoCo's own residuals are rounding."""
        model, data = self.model, self.data
        mujoco.mj_integratePos(model, data.qpos, 0.1 * self.draw.normal(size=model.nv), 1.0)
        for _ in range(50):
            mujoco.mj_forward(model, data)
            step = np.linalg.lstsq(self.theirs, -data.efc_pos, rcond=1e-9)[0]
            mujoco.mj_integratePos(model, data.qpos, step, 1.0)
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos).max() < 1e-13

    @property
    def theirs(self):
        return self.data.efc_J.reshape(-1, self.model.nv)

    def state(self, moving):
        """A state with rates that keep the loops, or at rest."""
        v = self.draw.normal(size=self.model.nv) * moving
        v = v - np.linalg.lstsq(self.theirs, self.theirs @ v, rcond=1e-9)[0]
        at = self.peer.positions()
        rest = RandomState(at, np.zeros(len(v)), np.zeros(len(v)), {})
        qd = self.peer._from_world(rest, v)
        state = RandomState(at, qd, 5.0 * self.draw.normal(size=len(v)), {})
        self.peer.put(state)
        mujoco.mj_forward(self.model, self.data)
        return state

    def system(self, state, loops=None):
        with warnings.catch_warnings():
            warnings.simplefilter("error", kkt.LoopWarning)  # closed here where it is there
            return kkt.build(self.tree, state.q, state.qd, state.tau, loops=loops)

    def ours(self, system):
        """Rows on the rates of MuJoCo, from equation (4): pdd as it follows from qdd."""
        A = system.matrix.toarray()
        n, N = system.tree.n, system.tree.N
        p, q, f = slice(0, 6 * n), slice(6 * n, 6 * n + N), slice(6 * n + N, 12 * n + N)
        J = A[12 * n + N :, p] @ -np.linalg.solve(A[f, p], A[f, q])
        rest = RandomState(self.peer.positions(), np.zeros(N), np.zeros(N), {})
        return np.array([self.peer._to_world(rest, row) for row in J])

    def constrained(self):
        """qacc and forces of the hard constraints, with MuJoCo's inertia, forces and Jacobians.

        These Jacobians' rates are differences along the motion, extrapolated to the sixth power of
        their size: mj_jacDot is off where a chain hangs on a free joint.
        """
        model, data, J = self.model, self.data, self.theirs.copy()
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        free = np.linalg.solve(M, data.qfrc_applied + data.qfrc_passive - data.qfrc_bias)
        weighted = np.linalg.solve(M, J.T)

        def later(h):
            moved = mujoco.MjData(model)
            moved.qpos[:] = data.qpos
            mujoco.mj_integratePos(model, moved.qpos, data.qvel, h)
            mujoco.mj_forward(model, moved)
            return moved.efc_J.reshape(J.shape) @ data.qvel

        rates = [(later(h) - later(-h)) / (2 * h) for h in (4e-3, 2e-3, 1e-3)]
        once = [(4 * rates[i + 1] - rates[i]) / 3 for i in range(2)]
        turning = (16 * once[1] - once[0]) / 15
        force = np.linalg.lstsq(J @ weighted, -turning - J @ free, rcond=1e-10)[0]
        return free + weighted @ force, force


def same_rows(a, b):
    """Largest sine of an angle between two row spaces, of one dimension."""
    bases = []
    for J in (a, b):
        _, size, V = np.linalg.svd(J)
        bases.append(V[: int((size > 1e-9 * size[0]).sum())])
    assert len(bases[0]) == len(bases[1])
    return np.abs(bases[0] - bases[0] @ bases[1].T @ bases[1]).max()


def agree(there, rows=None):
    state = there.state(moving=1.0)
    system = there.system(state)
    ours = there.ours(system)
    assert rows is None or len(ours) == rows
    assert same_rows(ours, there.theirs) <= 1e-13 * max(1.0, np.linalg.cond(ours))
    expected = there.peer._from_world(state, there.constrained()[0])
    for name in ("abm", "crbm", "lambda_last"):
        qdd = kkt.eliminate(system, orderings.get(name)).qdd
        assert difference(qdd, expected) <= 1e-9, name


@pytest.mark.parametrize("case", CASES)
def test_hard_constraints_are_mujoco_s_and_softened_ones_what_mj_forward_gives(written, case):
    """At rest MuJoCo solves J qacc + R f = 0: a compliance R of our rows."""
    text, equality, rows = CASES[case]
    there = Closed(written(text.format(equality)), 7)
    agree(there, rows)
    if case in MANY:
        return
    state = there.state(moving=0.0)
    (loop,), R = there.tree.graph["loops"], there.data.efc_R
    soft = np.full(loop.rows, R[0])
    if loop.rows == 6:  # ours turn first; MuJoCo's rows of turning are scaled
        soft[:3] = R[3:] / (0.5 * there.model.eq_data[0, 10]) ** 2
    qdd = kkt.eliminate(there.system(state, [replace(loop, compliance=soft)]), orderings.get("abm")).qdd
    assert difference(qdd, there.peer._from_world(state, there.data.qacc)) <= 1e-9


FIELD = Path(__file__).parents[1] / "models" / "field"


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_follow_from_others_are_set_aside(seed):
    """MuJoCo has six rows there, of rank three, and the answer is that of all six."""
    agree(Closed(FIELD / "double_parallelogram.xml", seed), 3)


NO_LOOPS = {
    r"\(weld 'off', which is not active\)": FOUR_BAR.format(
        '<weld name="off" body1="crank" active="false"/>'
    ),
    "equality 0', which is not active": FOUR_BAR.format(CASES["four-bar"][1]).replace(
        "<worldbody>", '<option><flag constraint="disable"/></option><worldbody>'
    ),
    r"equality constraints \(tendon 'e'\); 1 tendons": "<mujoco><worldbody><body name='a'><joint name='h'/>"
    "<geom size='.1' pos='.1 0 0'/></body><body name='still'><geom size='.1'/></body></worldbody><tendon>"
    "<fixed name='t'><joint joint='h' coef='1'/></fixed></tendon><equality><weld body1='still'/>"
    "<tendon name='e' tendon1='t'/></equality></mujoco>",
}


@pytest.mark.parametrize("said", NO_LOOPS)
def test_what_is_no_loop_is_named(written, said):
    with pytest.warns(kkt.MjcfWarning, match=said) as told:
        assert "loops" not in kkt.load(written(NO_LOOPS[said])).graph
    assert "constraint" not in NO_LOOPS[said] or "contacts" not in str(told[0].message)


@pytest.mark.filterwarnings("ignore::pivotree.kkt.MjcfWarning")
def test_coupled_joints_begin_at_their_references(written):
    """MuJoCo: joint1 - ref1 = c0 + c1 (joint2 - ref2)."""
    hinge = "<body><joint name='{}' ref='{}'/><geom size='1'/></body>"
    bodies = f"<worldbody>{hinge.format('l', 0.3)}{hinge.format('r', 0.7)}</worldbody>"
    row = "<equality><joint joint1='l' joint2='r' polycoef='0.1 2 0 0 0'/></equality>"
    text = f"<mujoco><compiler angle='radian'/>{bodies}{row}</mujoco>"
    (loop,) = kkt.read_mjcf(written(text)).graph["loops"]
    assert loop.follows == pytest.approx((2.0, 0.3 + 0.1 - 2.0 * 0.7))


def test_a_loop_within_a_body_is_refused(written):
    with pytest.raises(kkt.ModelError, match="MuJoCo refuses it"):
        kkt.load(written(HAND.format('<connect name="x" site1="hook" body2="box"/>')))
    text = HAND.replace('<site name="lug"', '<site name="lag"/><site name="lug"')
    path = written(text.format('<connect name="x" site1="lag" site2="lug"/>'))
    with pytest.warns(kkt.MjcfWarning), pytest.raises(kkt.ModelError, match="'x': ties 'box' to"):
        kkt.load(path)


def test_bodies_too_far_apart_for_the_rows_of_a_loop_are_refused(written):
    path = written(
        "<mujoco><worldbody><body name='b' pos='1e308 1e308 1e308'><joint axis='0 1 0'/>"
        "<geom size='.1'/><body name='d' pos='1 0 0'><joint type='slide'/><geom size='.1'/></body>"
        "</body><body name='c'><freejoint/><geom size='.1'/></body></worldbody><equality>"
        "<connect body1='d' body2='c' anchor='0 0 0'/></equality></mujoco>"
    )
    with pytest.raises(kkt.ModelError, match=r"robot\.xml: connect 'equality 0': .* too far apart"):
        kkt.load(path)


TWICE = "".join(f'<connect body1="coupler" body2="rocker" anchor="{x} 0.1 0"/>' for x in (0.5, 3))


@pytest.mark.filterwarnings("ignore::pivotree.kkt.MjcfWarning")
@pytest.mark.parametrize("at", ["9", "1e308"])
def test_where_no_position_closes_the_loops_all_rows_stay(written, at):
    held = f'<joint joint1="c" polycoef="{at} 0 0 0 0"/>'
    closed, open_ = (kkt.load(written(FOUR_BAR.format(x))).graph["loops"] for x in (TWICE, TWICE + held))
    assert [x.rows for x in closed] == [2, 1] and sorted(x.rows for x in open_) == [1, 2, 2]


@pytest.mark.filterwarnings("ignore::pivotree.kkt.MjcfWarning", "error::pivotree.kkt.LoopWarning")
def test_a_free_body_with_armature_is_closed_where_mujoco_has_it(written):
    text = HAND.replace('<freejoint name="free"/>', '<joint name="free" type="free" armature="0.1"/>')
    tree = kkt.load(written(text.format('<connect body1="box" body2="tip" anchor="0.1 0.2 0.3"/>')))
    assert kkt.build(tree).loops[0].rows == 3 and "free x" in str(kkt.compile_tree(tree).names)


# -- robots of MuJoCo Menagerie ---------------------------------------------------------------------


def forces(there, loops, lam):
    """Of an answer here, as MuJoCo has them: of a connect (3,) on the first body, in world axes."""
    result = []
    parts = np.split(lam, np.cumsum([loop.rows for loop in loops])[:-1])
    for loop, own, kind in zip(loops, parts, there.model.eq_type, strict=True):
        if kind != mujoco.mjtEq.mjEQ_JOINT:  # in the first body's frame, on the second
            body = there.data.body(str(loop.bodies[0]))
            own = -body.xmat.reshape(3, 3) @ loop.R[0] @ loop.C[3:] @ own
        result.append(own)
    return np.concatenate(result)


def soft_ones_agree(there):
    """At rest, with what mj_forward solves to convergence."""
    state = there.state(moving=0.0)
    data, loops = there.data, there.tree.graph["loops"]
    R = [data.efc_R[data.efc_id == i][0] for i in range(len(loops))]
    soft = [replace(x, compliance=np.full(x.rows, r)) for x, r in zip(loops, R, strict=True)]
    expected = there.peer._from_world(state, data.qacc)
    for name in ("abm", "crbm", "closed_early", "lambda_first"):
        ours = kkt.eliminate(there.system(state, soft), orderings.get(name))
        assert difference(ours.qdd, expected) <= 1e-9, name
        assert difference(forces(there, loops, ours.lam), data.efc_force) <= 1e-9, name


ROBOTS = {  # rows: a connect in a planar linkage has two
    "agility_cassie/cassie.xml": 10,
    "robotiq_2f85/2f85.xml": 5,
    "franka_emika_panda/hand.xml": 1,
    "franka_emika_panda/panda.xml": 1,
    "ufactory_xarm7/hand.xml": 5,
    "ufactory_xarm7/xarm7.xml": 5,
}


def found_in_the_menagerie(name):
    """The path of a robot's file, or the test is skipped with what would let it run."""
    told = os.environ.get("MUJOCO_MENAGERIE")
    kept = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
    folder = Path(told) if told else Path(kept).expanduser() / "mujoco_menagerie"
    if told and not folder.is_dir():
        pytest.fail(f"MUJOCO_MENAGERIE is {told!r}, which is no folder; name a checkout")
    if not (folder / name).is_file():
        pytest.skip(f"no {folder / name}; MUJOCO_MENAGERIE=FOLDER names a checkout")
    return folder / name


@pytest.mark.parametrize("name", ROBOTS)
def test_closed_robots_are_mujoco_s(name):
    """In four motions that keep the loops, and certified; then softened, with mj_forward's own."""
    apart = dict.fromkeys(("qdd", "lambda", "certified"), 0.0)
    for seed in range(4):
        there = Closed(found_in_the_menagerie(name), seed)
        state, loops = there.state(moving=1.0), there.tree.graph["loops"]
        system = there.system(state)
        assert sum(loop.rows for loop in loops) == ROBOTS[name]
        qacc, force = there.constrained()
        qacc = there.peer._from_world(state, qacc)
        sure = kkt.certify(system, 50)
        assert sure.digits == 50
        true = [np.array([float(ball) for ball in x]) for x in (sure.qdd, sure.lam)]
        for order in ("abm", "crbm", "closed_early", "lambda_last"):
            ours = kkt.eliminate(system, orderings.get(order))
            for which, here, other in (
                ("qdd", ours.qdd, qacc),
                ("lambda", forces(there, loops, ours.lam), force),
                ("certified", ours.qdd, true[0]),
                ("certified", ours.lam, true[1]),
            ):
                apart[which] = max(apart[which], difference(here, other))
        soft_ones_agree(there)
    print(
        f"{name}: {len(there.tree)} bodies, {ROBOTS[name]} rows; largest differences: "
        + ", ".join(f"{which} {x:.0e}" for which, x in apart.items())
    )
    assert max(apart.values()) <= 1e-9
