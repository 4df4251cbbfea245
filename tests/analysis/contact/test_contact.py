"""Blows, pressing contacts and springs on trees of the reader's own."""

from itertools import product as pairs

import numpy as np
import pytest
from designs import listed
from helpers import Mechanics, every_joint
from scipy.optimize import brentq

from pivotree import kkt, orderings
from pivotree.analysis import contact
from pivotree.analysis.contact.laws import complementary, gain, newton, poisson
from pivotree.papers.cloutier1995.floor import Floor

UP, TANGENTS = (0.0, 0.0, 1.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


# -- the laws, on a few numbers -------------------------------------------------------------------


def test_complementarity_keeps_its_conditions():
    """p >= 0, A p + b >= 0, and one of both is zero; also where points follow from others, as of a stool."""
    draw = np.random.default_rng(2)
    for _ in range(80):
        c, rank = draw.integers(1, 7), draw.integers(2, 8)
        J = draw.normal(size=(c, rank))
        A, b = J @ J.T, J @ draw.normal(size=rank)
        p = complementary(A, b)
        w = A @ p + b
        assert (p >= 0).all() and (w >= -1e-9).all() and abs(p @ w) <= 1e-9


LAWS = {"newton": newton, "poisson": poisson}


def most_dissipating(A, c, mu):
    """f, at most mu long, against the sliding A f + c that it leaves (a trust region's step)."""

    def f(more):
        return -np.linalg.solve(A + more * np.eye(len(c)), c)

    if np.linalg.norm(f(0.0)) <= mu:
        return f(0.0)
    return f(brentq(lambda more: np.linalg.norm(f(more)) - mu, 0.0, np.linalg.norm(c) / mu + 1.0))


@pytest.mark.product
def test_poisson_is_the_limit_of_small_steps():
    """In the plane and in space, against increments of the normal impulse (Mirtich & Canny)."""
    draw = np.random.default_rng(8)
    for tangents in (1, 2):
        for _ in range(3):
            A = draw.normal(size=(1 + tangents, 4))
            A, mu, e = A @ A.T, float(draw.uniform(0.1, 1)), 0.5
            v = np.concatenate([[-1.0], draw.normal(size=tangents)])
            now, p, end, d = v.copy(), np.zeros(1 + tangents), np.inf, 1e-3
            while p[0] < end:
                f = most_dissipating(A[1:, 1:], A[1:, 0] + now[1:] / d, mu)
                p, now = p + d * np.array([1.0, *f]), now + d * A @ [1.0, *f]
                if end == np.inf and now[0] >= 0.0:
                    end = (1 + e) * p[0]
            assert poisson(A, v, e, mu) == pytest.approx(p, abs=1e-2 * max(1.0, p[0]))


def test_laws_on_a_ball():
    for tangents, slip in ((1, [0.1]), (2, [0.06, 0.08])):
        A, v = 2.0 * np.eye(1 + tangents), np.array([-1.0, *slip])
        for law in (newton, poisson):
            assert law(A, v, 0.5, 0.9) == pytest.approx([0.75, *(-0.5 * np.array(slip))])  # sticks
            slid = law(A, v, 0.5, 0.01)
            assert slid == pytest.approx([0.75, *(-0.075 * np.array(slip))])
            assert gain(A, v, slid) < 0.0


@pytest.mark.parametrize("lean", [0.9, -0.9])
def test_a_still_point_slides_where_friction_is_against_it(lean):
    A, v = np.array([[2.0, lean], [lean, 1.0]]), np.array([-1.0, 0.0])
    for law in (newton, poisson):
        p = law(A, v, 0.5, 0.1)
        assert abs(p[1]) == pytest.approx(0.1 * p[0]) and p[1] * (A @ p)[1] < 0.0


@pytest.mark.product
def test_poisson_never_gains_and_newton_may():
    draw = np.random.default_rng(5)
    gains, pulled = {"newton": [], "poisson": []}, 0
    for _ in range(120):
        t = int(draw.integers(1, 3))
        A = draw.normal(size=(1 + t, 1 + t))
        A, mu = A @ A.T + 0.05 * np.eye(1 + t), float(draw.uniform(0, 1))
        v = np.concatenate([[-1.0], draw.normal(size=t)])
        for name, law in LAWS.items():
            try:
                p = law(A, v, 0.8, mu)
            except kkt.PivotreeError as error:
                assert name == "newton" and "the floor would have to pull" in str(error)
                pulled += 1
                continue
            gains[name].append(gain(A, v, p))
            assert p[0] > 0.0 and np.linalg.norm(p[1:]) <= mu * p[0] * (1 + 1e-9)
    assert max(gains["poisson"]) <= 1e-8 < max(gains["newton"]) and 0 < pulled < 30


# -- impacts of trees, beside dense mechanics -----------------------------------------------------


class Dense:
    """Joint-space inertia and rows of points, from velocities at unit rates (tests/helpers.py)."""

    def __init__(self, tree, q, points):
        self.tree, self.q, self.points = tree, q, points
        N = len(q)
        here = [Mechanics(tree, q, e) for e in np.eye(N)]
        names = list(tree.nodes)
        v = {b: np.stack([m.v[b] for m in here], 1) for b in names}
        self.M = sum(v[b].T @ here[0].M[b] @ v[b] for b in names)
        rows = []
        for body, point in points:
            R, _ = here[0].world(body)
            rows.append(R @ (v[body][3:] + np.cross(v[body][:3], np.array(point)[:, None], axis=0)))
        self.J = np.stack(rows)  # (p, 3, N), world directions


def robot(seed, loops=()):
    """All kinds of joints; points on three bodies, rates with which they come down."""
    tree = every_joint()
    del tree.graph["q"], tree.graph["qd"], tree.graph["tau"]
    draw = np.random.default_rng(seed)
    N = kkt.compile_tree(tree).N
    q, qd = draw.uniform(-1, 1, N), draw.normal(size=N)
    points = [(b, tuple(draw.normal(size=3) * 0.3)) for b in ("base", ("arm", 1), "tip")]
    dense = Dense(tree, q, points)
    down = dense.J[:, 2]
    qd -= np.linalg.lstsq(down, down @ qd + draw.uniform(0.2, 1.0, 3))[0]
    return tree, q, qd, dense


BLOWS = ("newton", "abm", [0]), ("poisson", "crbm", [1, 2]), ("newton", "virtual_work", [0, 1])


@pytest.mark.parametrize("law,order,seeds", listed(BLOWS, unmarked=1))
def test_impacts_without_friction_beside_dense_mechanics(law, order, seeds):
    for seed in seeds:
        tree, q, qd, dense = robot(seed)
        loops = [kkt.contact(b, x, UP, name=i) for i, (b, x) in enumerate(dense.points)]
        system = kkt.build(tree, q, qd, loops=loops)
        for e in (0.0, 0.6, 1.0):
            blow = contact.impact(system, restitution=e, law=law, order=order)
            p = np.array([blow.impulses[i][0] for i in range(3)])
            J = dense.J[:, 2]
            before, after = J @ qd, J @ blow.qd
            assert dense.M @ (blow.qd - qd) == pytest.approx(J.T @ p, abs=1e-10)
            assert (before < 0).all() and (p >= 0).all()
            assert [x[0] for x in blow.after.values()] == pytest.approx(after, abs=1e-11)
            if law == "newton":
                left = after + e * before
                assert (left >= -1e-10).all() and abs(p @ left) <= 1e-10
            energy = 0.5 * (blow.qd @ dense.M @ blow.qd - qd @ dense.M @ qd)
            assert blow.gain == pytest.approx(energy, abs=1e-10)
            assert energy <= 1e-10
            if e == 1.0 and law == "newton":
                assert abs(energy) <= 1e-10


@pytest.mark.product
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_one_point_with_friction_beside_dense_mechanics(law):
    for seed in range(1, 2):
        tree, q, qd, dense = robot(seed)
        body, point = dense.points[2]
        system = kkt.build(tree, q, qd, loops=[kkt.contact(body, point, UP, TANGENTS, name="p")])
        J = dense.J[2][[2, 0, 1]]
        A = J @ np.linalg.solve(dense.M, J.T)
        for mu in (0.2, 5.0):
            blow = contact.impact(system, restitution=0.5, friction={"p": mu}, law=law)
            p = LAWS[law](A, J @ qd, 0.5, mu)
            assert blow.impulses["p"] == pytest.approx(p, abs=1e-7)
            assert dense.M @ (blow.qd - qd) == pytest.approx(J.T @ blow.impulses["p"], abs=1e-9)
        if law == "newton":
            assert blow.after["p"] == pytest.approx([-0.5 * (J @ qd)[0], 0.0, 0.0], abs=1e-9)


def test_points_with_friction_give_blows_until_none_comes_nearer():
    tree, q, qd, dense = robot(7)
    loops = [kkt.contact(b, x, UP, TANGENTS, name=i) for i, (b, x) in enumerate(dense.points)]
    system = kkt.build(tree, q, qd, loops=loops)
    blow = contact.impact(system, restitution=0.3, friction=0.4, law="poisson")
    assert blow.blows >= 2 and blow.gain < 0.0
    assert min(x[0] for x in blow.after.values()) >= -1e-11
    p = np.concatenate([blow.impulses[i] for i in range(3)])
    J = dense.J[:, [2, 0, 1]].reshape(9, -1)
    assert dense.M @ (blow.qd - qd) == pytest.approx(J.T @ p, abs=1e-10)
    for i in range(3):
        assert np.linalg.norm(blow.impulses[i][1:]) <= 0.4 * blow.impulses[i][0] * (1 + 1e-9)
    A, v, given = J @ np.linalg.solve(dense.M, J.T), J @ qd, np.zeros(9)
    while v[::3].min() < -1e-10:  # the one that comes down fastest is next
        own = 3 * np.argmin(v[::3]) + np.arange(3)
        given[own] += (blown := poisson(A[np.ix_(own, own)], v[own], 0.3, 0.4))
        v = v + A[:, own] @ blown
    assert p == pytest.approx(given, abs=1e-6)


def test_a_point_that_moves_off_is_not_pulled_down_by_a_blow_beside_it():
    """A rod on two points: one comes down, the other rises slowly, and would go under by the blow alone."""
    tree = kkt.new_tree("rod", (0.0, 0.0, -9.81))
    kkt.add_body(tree, "rod", joint="floating", mass=1.0, inertia=0.05 * np.eye(3))
    ends = [kkt.contact("rod", (x, 0.0, 0.0), name=x) for x in (-0.5, 0.5)]
    system = kkt.build(tree, qd=[0.0, 1.3, 0.0, 0.0, 0.0, -0.35], loops=ends)
    blow = contact.impact(system, restitution=0.5)
    before, after, p = (np.concatenate([*x.values()]) for x in (blow.before, blow.after, blow.impulses))
    assert before == pytest.approx([0.3, -1.0]) and (p > 0.0).all()
    assert after == pytest.approx([0.0, 0.5], abs=1e-12)


def test_a_loop_stays_closed_through_a_blow_and_takes_its_impulse():
    """Beside the dense equations of impulses, two contacts and a cut joint together."""
    tree, q, qd, dense = robot(1)
    R, p = (Mechanics(tree, q, qd).world(b) for b in ("slide", "plate"))
    far = R[0].T @ (p[1] - R[1])
    cut = kkt.cut_joint("slide", "plate", "spherical", p=far, name="cut")
    feet = [kkt.contact(b, x, UP, name=i) for i, (b, x) in enumerate(dense.points[:2])]
    system = kkt.build(tree, q, qd, loops=[feet[0], cut, feet[1]])
    blow = contact.impact(system, restitution=0.5)
    ends = Dense(tree, q, [("slide", far), ("plate", (0.0, 0.0, 0.0))])
    G, J = R[0].T @ (ends.J[1] - ends.J[0]), dense.J[:2, 2]
    assert np.abs(G @ qd).max() > 0.1  # they did not agree before
    assert G @ blow.qd == pytest.approx(np.zeros(3), abs=1e-10)
    p = np.concatenate([blow.impulses[i] for i in range(2)])
    impulses = G.T @ blow.loops["cut"] + J.T @ p
    assert (p > 0.0).all()
    assert dense.M @ (blow.qd - qd) == pytest.approx(impulses, abs=1e-9)
    soft = kkt.build(tree, q, qd, loops=[*kkt.softened([cut], 0.1), *feet])
    for loops in (system, soft):  # a soft loop gives way, and its impulse has worked
        blow = contact.impact(loops, restitution=0.5)
        assert blow.gain == pytest.approx((blow.qd @ dense.M @ blow.qd - qd @ dense.M @ qd) / 2)


@pytest.mark.product
def test_which_contacts_press_beside_all_active_sets():
    """Every set of rows as equation (4) has it; one presses nowhere negative and sinks nowhere."""
    for seed in range(2):
        tree, q, _, dense = robot(seed)
        N = len(q)
        loops = [kkt.contact(b, x, UP, name=i) for i, (b, x) in enumerate(dense.points)]
        found = contact.forces(kkt.build(tree, q, np.zeros(N), loops=loops))
        fits = []
        for on in pairs((False, True), repeat=3):
            kept = [loop for loop, one in zip(loops, on, strict=True) if one]
            system = kkt.build(tree, q, np.zeros(N), loops=kept)
            here = kkt.eliminate(system, orderings.get("abm"), records=False)
            up = dense.J[:, 2] @ here.qdd  # at rest
            if (here.lam >= 0).all() and (up >= -1e-9).all():
                fits.append(here.qdd)
        assert len(fits) == 1
        assert found.qdd == pytest.approx(fits[0], abs=1e-9)
        for i in range(3):
            assert (found.forces[i] > 0.0) != (found.accelerations[i] > 0.0)


@pytest.mark.parametrize("implicit", [None, 0.1])
def test_forces_of_moving_contacts_are_those_of_the_rows(implicit):
    """Where all press, the multipliers are the contact rows' own, velocities, damping and all."""
    tree = kkt.new_tree("table", (0.0, 0.0, -9.81))
    kkt.add_body(tree, "top", mass=4.0, inertia=np.eye(3) * 0.4, joint="floating")
    arm = {"mass": 0.5, "com": (0.2, 0.0, 0.0), "inertia": np.eye(3) * 0.01, "damping": 0.5}
    kkt.add_body(tree, "arm", "top", axis=(0.0, 1.0, 0.0), **arm)
    feet = [(1.0, 0.0, -1.0), (-0.7, 0.7, -1.0), (-0.7, -0.7, -1.0)]
    loops = [kkt.coupled_joints(tree, "arm", damping=3.0, name="brake")]
    loops += [kkt.contact("top", x, name=i) for i, x in enumerate(feet)]
    system = kkt.build(tree, qd=[0, 0, 0.4, 0.3, -0.2, 0, 1.5], loops=loops, implicit=implicit)
    rows = kkt.eliminate(system, orderings.get("abm"))
    found = contact.forces(system)
    assert (rows.lam[1:] > 0).all() and abs(rows.lam[0]) > 0.1
    assert list(found.forces.values()) == pytest.approx(list(rows.lam[1:]))
    assert found.loops["brake"] == pytest.approx(rows.lam[:1])
    assert found.qdd == pytest.approx(rows.qdd)


# -- terms of joints ------------------------------------------------------------------------------


def geared_ball(**terms):
    """A ball of 2 kg on a vertical slide with a rotor of 1 kg behind its gear."""
    tree, slide = kkt.new_tree("ball"), {"joint": "prismatic", "axis": (0.0, 0.0, 1.0)}
    kkt.add_body(tree, "ball", mass=2.0, inertia=np.eye(3), armature=1.0, **slide, **terms)
    return tree


@pytest.mark.parametrize("implicit", [None, 0.1])
def test_a_blow_turns_the_rotor_too(implicit):
    """v+ = -e v-, by p = (m + A)(1 + e) |v-|; an implicit step's damping makes no jump."""
    at = kkt.contact("ball", (0.0, 0.0, -0.5))
    tree = geared_ball(damping=4.0, stiffness=3.0)
    system = kkt.build(tree, qd=[-3.0], loops=[at], implicit=implicit)
    for law in ("newton", "poisson"):
        blow = contact.impact(system, restitution=0.5, law=law)
        assert blow.qd == pytest.approx([1.5]) and blow.impulses["world-ball"] == pytest.approx(13.5)
        assert blow.gain == pytest.approx(0.5 * 3.0 * (1.5**2 - 3.0**2))
    soft = contact.impact(kkt.build(tree, qd=[-3.0], loops=kkt.softened([at], 0.5), implicit=implicit))
    assert soft.impulses["world-ball"] == pytest.approx(3.0 / (1.0 / 3.0 + 0.5))  # (4)'s row: v+ + c p = 0
    assert soft.qd == pytest.approx(-0.5 * soft.impulses["world-ball"])


@pytest.mark.uncached
def test_a_floor_holds_weight_and_spring():
    """The force of a ball that rests is its weight and what its spring pushes with."""
    tree = geared_ball(stiffness=10.0, rest=-0.2)
    floor = Floor.of(tree, [("ball", (0.0, 0.0, 0.0))])
    y = floor.start([0.0], [0.0])[None]
    free = floor.accelerations(y, np.zeros((1, 1, 3)), floor.pose(y))
    assert free == pytest.approx(np.array([[-(2.0 * 9.81 + 10.0 * 0.2) / 3.0]]))
    assert floor.responses(y, 0, np.array([UP])) == pytest.approx(np.array([[1.0 / 3.0]]))
