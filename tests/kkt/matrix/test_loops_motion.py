"""Closed loops and contacts are the right equation, held against what is not the project's.

Mechanisms of one degree of freedom in closed form, and velocities and poses of
:class:`helpers.Mechanics`, differentiated by central differences.
"""

import warnings

import mpmath
import numpy as np
import pytest
from designs import covering, listed
from helpers import Mechanics, every_joint, tilted
from mechanisms import TILT, arms, crossed, four_bar, four_bar_angles, standing, system_q
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings


@pytest.mark.parametrize(("angle", "tilt"), listed([(2.0, TILT), (0.3, None), (-2.5, TILT)], unmarked=1))
def test_a_four_bar_linkage_in_closed_form(angle, tilt):
    """Along T = dq/dtheta of its triangles: T* M T theta'' = T* M (qdd_free - dT/dtheta theta'^2)."""
    rate, tau = 2.0, (1.0, 2.0, 3.0)
    tree, q, qd, loop = four_bar(angle, rate, tilt)
    system, free = (kkt.build(tree, q, qd, tau, loops=loops) for loops in ([loop], ()))

    def joints(t):
        phi, psi = four_bar_angles(t)
        return [t, phi - t, psi]

    with mpmath.workdps(30):
        T, bend = (
            np.array([float(mpmath.diff(lambda s, i=i: joints(s)[i], angle, n)) for i in range(3)])
            for n in (1, 2)
        )
    M, bent = kkt.joint_space_inertia(free, orderings.get("crbm")), bend * rate**2
    rest = kkt.eliminate(free, orderings.get("abm")).qdd - bent
    right = bent + T * (T @ M @ rest) / (T @ M @ T)
    ours = kkt.eliminate(system, orderings.get("abm")).qdd
    assert np.allclose(ours, right, rtol=0, atol=1e-11 * np.abs(right).max())


def apart(mechanics, loop):
    """C* (X_2 v_2 - X_1 v_1) in the constraint's frame, from the test's own poses and velocities.

    The frame is fixed on the first body; a contact's goes with the point, in the first's axes.
    """
    first, second = loop.bodies

    def world(body):
        return (np.eye(3), np.zeros(3)) if body is None else mechanics.world(body)

    (R1, p1), (R2, p2) = world(first), world(second)
    if loop.point:
        frame, origin = R1, p2 + R2 @ loop.p[1]
    else:
        frame, origin = R1 @ loop.R[0], p1 + R1 @ loop.p[0]
    total = np.zeros(6)
    for body, (R, p), sign in ((first, (R1, p1), -1), (second, (R2, p2), 1)):
        if body is not None:
            w, v = R @ mechanics.v[body][:3], R @ mechanics.v[body][3:]
            total += sign * np.r_[frame.T @ w, frame.T @ (v + np.cross(w, origin - p))]
    return loop.C.T @ total


KINDS = ["fixed", "revolute", "prismatic", "cylindrical", "spherical", "planar"]


@pytest.mark.parametrize(
    ("kind", "seed"), covering([*KINDS, "general", "contact", "on the world"], range(4), unmarked=1)
)
def test_accelerations_keep_the_loop_in_any_state(kind, seed):
    """Open loops too: u' + a u = 0, u by the test's own kinematics, differentiated centrally."""
    draw = np.random.default_rng(seed)
    tree = every_joint()
    first, second = [("tip", 3.5), ("arm", "tip"), (3.5, "post"), ("post", "screw")][seed]
    if first == "arm":
        first = ("arm", 1)
    R = Rotation.random(random_state=seed).as_matrix()
    a = 4.0
    if kind == "contact":
        loop = kkt.contact(first, draw.normal(size=3), R[0], R[1:], on=second, damping=a)
    elif kind == "on the world":
        free = "slide" if first == "post" else first  # joints enough for four rows
        loop = kkt.cut_joint(None, free, "cylindrical", axis=R[0], R=R, baumgarte=(a, 0.0))
    else:
        loop = kkt.cut_joint(
            first,
            second,
            kind,
            axis=R[0],
            S=draw.normal(size=(6, 3)),
            R=R,
            p=draw.normal(size=3),
            baumgarte=(a, 0.0),
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kkt.LoopWarning)
        system = kkt.build(tree, loops=[loop])
    here = Mechanics(tree, tree.graph["q"], tree.graph["qd"])
    qdd = kkt.eliminate(system, orderings.get("abm")).qdd
    h = 1e-5
    later, earlier = (apart(here.moved(qdd, s * h), loop) for s in (1, -1))
    rate, now = (later - earlier) / (2 * h), apart(here, loop)
    assert np.abs(rate + a * now).max() <= 1e-6 * max(np.abs(qdd).max(), np.abs(now).max())
    assert np.abs(now).max() > 1e-2  # it was not there that the loop moved with its joint


@pytest.mark.product
@pytest.mark.parametrize("kind", KINDS)
def test_baumgarte_pulls_an_open_loop_together(kind):
    """At rest, gap'' = -b gap, the gap by the test's own poses."""
    tree, b, size = arms(), 1e4, 1e-4
    q = system_q(kkt.build(tree), 5)
    here = Mechanics(tree, q, np.zeros_like(q))
    (R1, p1), (R2, p2) = here.world((0, 4)), here.world((1, 4))
    turned, place = Rotation.random(random_state=2).as_matrix(), np.array([0.1, 0.2, 0.3])
    bent = Rotation.from_rotvec(size * np.array([1.0, -2.0, 0.5])).as_matrix()
    far = (R2.T @ R1 @ turned @ bent, R2.T @ (R1 @ place + p1 - p2) + size)

    def gap(mechanics):
        (R1, p1), (R2, p2) = mechanics.world((0, 4)), mechanics.world((1, 4))
        frame = R1 @ turned
        turn = frame.T @ R2 @ far[0]
        shift = frame.T @ (p2 + R2 @ far[1] - p1 - R1 @ place)
        z = np.cross([0, 0, 1], turn[:, 2])[:2]
        whole = Rotation.from_matrix(turn).as_rotvec()
        return {
            "fixed": np.r_[whole, shift],
            "prismatic": np.r_[whole, shift[:2]],
            "revolute": np.r_[z, shift],
            "cylindrical": np.r_[z, shift[:2]],
            "planar": np.r_[z, shift[2:]],
            "spherical": shift,
        }[kind]

    loop = kkt.cut_joint(
        (0, 4), (1, 4), kind, R=turned, p=place, R_second=far[0], p_second=far[1], baumgarte=(0.0, b)
    )
    with pytest.warns(kkt.LoopWarning, match="is open by 0.000"):
        system = kkt.build(tree, q, np.zeros_like(q), loops=[loop])
    now = gap(here)
    assert np.allclose(system.state.loops[0].gap, now, rtol=0, atol=1e-12)
    free = kkt.eliminate(kkt.build(tree, q, loops=()), orderings.get("abm")).qdd
    qdd = kkt.eliminate(system, orderings.get("abm")).qdd
    h = 1e-4
    after = gap(Mechanics(tree, q + h * h / 2 * qdd, np.zeros_like(q)))
    loose = gap(Mechanics(tree, q + h * h / 2 * free, np.zeros_like(q)))
    closing = now * b * h * h / 2  # 5e-9
    assert np.abs(now - closing - after).max() <= 1e-3 * np.abs(closing).max()
    assert np.abs(loose - now).max() > np.abs(closing).max()


def test_a_compliance_is_a_soft_row():
    """G acceleration + c lambda = gamma; as c goes to zero the rigid force is reached."""
    tree, q, qd, loop = four_bar(1.0, 2.0)
    rigid = kkt.eliminate(kkt.build(tree, q, qd, loops=[loop]), orderings.get("abm"))
    for c in (1e-6, 1e-9):
        soft = kkt.cut_joint(*loop.bodies, p=(3, 0, 0), p_second=(2.5, 0, 0), compliance=c)
        system = kkt.build(tree, q, qd, loops=[soft])  # all five rows
        result = kkt.eliminate(system, orderings.get("abm"))
        x = dict(zip(system.tree.names, -result.pdd, strict=True))
        G = system.entries.G.reshape(2, 5, 6)
        left = G[1] @ x["rocker"] - G[0] @ x["coupler"] + c * result.lam
        assert np.allclose(left, system.entries.gamma, rtol=0, atol=1e-12 * np.abs(result.qdd).max())
        assert np.allclose(result.lam[2:4], rigid.lam, rtol=0, atol=1e3 * c * np.abs(rigid.lam).max())
    assert np.allclose(result.qdd, rigid.qdd, atol=1e-6)


def test_frames_turned_and_aligned():
    system = crossed(2)
    right = kkt.eliminate(system, orderings.get("abm"))
    turned = tilted(system, 3)
    for other in (turned, kkt.aligned(turned)):
        result = kkt.eliminate(other, orderings.get("abm"))
        assert np.allclose(result.qdd, right.qdd, rtol=0, atol=1e-11 * np.abs(right.qdd).max())
        assert np.allclose(result.lam, right.lam, rtol=0, atol=1e-11 * np.abs(right.lam).max())
    resting = standing()
    turned = tilted(resting, 3)
    ours = [kkt.eliminate(x, orderings.get("abm")).lam for x in (resting, turned)]
    assert np.allclose(*ours, rtol=0, atol=1e-10 * np.abs(ours[0]).max())
