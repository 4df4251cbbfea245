"""Blows, pressing contacts and springs on trees of the reader's own."""

from itertools import product as pairs

import numpy as np
import pytest
from helpers import Mechanics, every_joint
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis import contact
from pivotree.analysis.contact import rigid
from pivotree.analysis.contact.laws import complementary, gain, newton, poisson

UP, TANGENTS = (0.0, 0.0, 1.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


# -- the laws, on a few numbers -------------------------------------------------------------------


def test_complementarity_against_all_active_sets():
    draw = np.random.default_rng(2)
    for _ in range(60):
        c = int(draw.integers(1, 6))
        A = draw.normal(size=(c, c + 1))
        A, b = A @ A.T, draw.normal(size=c)
        p = complementary(A, b)
        fit = []
        for active in pairs((False, True), repeat=c):
            on, x = np.array(active), np.zeros(c)
            x[on] = np.linalg.solve(A[np.ix_(on, on)], -b[on])
            if (x >= 0).all() and (A @ x + b >= -1e-12).all():
                fit.append(x)
        assert any(np.allclose(p, x) for x in fit)


def test_complementarity_where_points_follow_from_others():
    """Four feet of a stool: how they share is free, what they do is not."""
    draw = np.random.default_rng(3)
    for _ in range(20):
        J = draw.normal(size=(6, 3))
        A, b = J @ J.T, J @ draw.normal(size=3)
        p = complementary(A, b)
        w = A @ p + b
        assert (p >= 0).all() and (w >= -1e-9).all() and abs(p @ w) <= 1e-9


def laws():
    return [("newton", newton), ("poisson", poisson)]


def most_dissipating(A, c, mu):
    """f, at most mu long, against the sliding A f + c that it leaves (a trust region's step)."""

    def f(more):
        return -np.linalg.solve(A + more * np.eye(len(c)), c)

    if np.linalg.norm(f(0.0)) <= mu:
        return f(0.0)
    return f(brentq(lambda more: np.linalg.norm(f(more)) - mu, 0.0, np.linalg.norm(c) / mu + 1.0))


@pytest.mark.thorough
def test_poisson_is_the_limit_of_small_steps():
    """In the plane and in space, against increments of the normal impulse (Mirtich & Canny)."""
    draw = np.random.default_rng(8)
    for tangents in (1, 2):
        for _ in range(6):
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


@pytest.mark.thorough
def test_poisson_never_gains_and_newton_may():
    draw = np.random.default_rng(5)
    gains = {"newton": [], "poisson": []}
    for _ in range(300):
        t = int(draw.integers(1, 3))
        A = draw.normal(size=(1 + t, 1 + t))
        A, mu = A @ A.T + 0.05 * np.eye(1 + t), float(draw.uniform(0, 1))
        v = np.concatenate([[-1.0], draw.normal(size=t)])
        for name, law in laws():
            p = law(A, v, 0.8, mu)
            if p[0] > 0.0:
                gains[name].append(gain(A, v, p))
                assert np.linalg.norm(p[1:]) <= mu * p[0] * (1 + 1e-9)
    assert max(gains["poisson"]) <= 1e-8 < max(gains["newton"])


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
    N = int(kkt.compile_tree(tree).offset[-1])
    q, qd = draw.uniform(-1, 1, N), draw.normal(size=N)
    points = [(b, tuple(draw.normal(size=3) * 0.3)) for b in ("base", ("arm", 1), "tip")]
    dense = Dense(tree, q, points)
    down = dense.J[:, 2]
    qd -= np.linalg.lstsq(down, down @ qd + draw.uniform(0.2, 1.0, 3))[0]
    return tree, q, qd, dense


@pytest.mark.slow
@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work"])
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_impacts_without_friction_beside_dense_mechanics(law, order):
    for seed in range(3):
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


@pytest.mark.thorough
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_one_point_with_friction_beside_dense_mechanics(law):
    for seed in range(4):
        tree, q, qd, dense = robot(seed)
        body, point = dense.points[2]
        system = kkt.build(tree, q, qd, loops=[kkt.contact(body, point, UP, TANGENTS, name="p")])
        J = dense.J[2][[2, 0, 1]]
        A = J @ np.linalg.solve(dense.M, J.T)
        for mu in (0.2, 5.0):
            blow = contact.impact(system, restitution=0.5, friction={"p": mu}, law=law)
            p = dict(laws())[law](A, J @ qd, 0.5, mu)
            assert blow.impulses["p"] == pytest.approx(p, abs=1e-7)
            assert dense.M @ (blow.qd - qd) == pytest.approx(J.T @ blow.impulses["p"], abs=1e-9)
        if law == "newton":
            assert blow.after["p"] == pytest.approx([-0.5 * (J @ qd)[0], 0.0, 0.0], abs=1e-9)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_loop_stays_closed_through_a_blow_and_takes_its_impulse():
    """Beside the dense equations of impulses, contact and cut joint together."""
    tree, q, qd, dense = robot(1)
    R, p = (Mechanics(tree, q, qd).world(b) for b in ("slide", "plate"))
    far = R[0].T @ (p[1] - R[1])
    cut = kkt.cut_joint("slide", "plate", "spherical", p=far, name="cut")
    body, point = dense.points[1]
    system = kkt.build(tree, q, qd, loops=[cut, kkt.contact(body, point, UP, name="p")])
    blow = contact.impact(system, restitution=0.5)
    ends = Dense(tree, q, [("slide", far), ("plate", (0.0, 0.0, 0.0))])
    G, J = R[0].T @ (ends.J[1] - ends.J[0]), dense.J[1][2:]
    assert np.abs(G @ qd).max() > 0.1  # they did not agree before
    assert G @ blow.qd == pytest.approx(np.zeros(3), abs=1e-10)
    impulses = G.T @ blow.loops["cut"] + J.T @ blow.impulses["p"]
    assert dense.M @ (blow.qd - qd) == pytest.approx(impulses, abs=1e-9)


@pytest.mark.thorough
def test_a_loop_that_is_closed_by_joining_takes_the_same_blow():
    """kkt.joined finds rates in the metric of kinetic energy, impact by equation (4): the same."""
    for seed in range(3):
        tree = kkt.from_spec(f"random_tree:n=6,seed={seed},joints=spherical+universal")
        draw = np.random.default_rng(seed)
        N = int(kkt.compile_tree(tree).offset[-1])
        q, qd = draw.uniform(-1, 1, N), draw.normal(size=N)
        first, *_, last = tree.nodes
        joined = kkt.joined(tree, last, None, "spherical", q, qd, name="held")
        q, before = joined.graph["q"], qd
        loops = [
            *joined.graph["loops"],
            kkt.contact(first, (0.3, 0.2, 0.1), (0.3, 0.4, 0.5), name="p"),
        ]
        bare = kkt.build(joined, q, before, loops=loops)
        blow = contact.impact(bare)
        if blow.impulses["p"][0] > 0.0:  # the point comes down: look at it from below
            loops[-1] = kkt.contact(first, (0.3, 0.2, 0.1), (-0.3, -0.4, -0.5), name="p")
            blow = contact.impact(kkt.build(joined, q, before, loops=loops))
        assert blow.impulses["p"][0] == 0.0
        assert np.abs(blow.qd - before).max() > 1e-2
        assert blow.qd == pytest.approx(joined.graph["qd"], abs=1e-9)


def test_momentum_of_a_free_robot_changes_by_the_floors_impulse_alone():
    tree = kkt.default_state(kkt.humanoid())
    draw = np.random.default_rng(3)
    system = kkt.build(tree, qd=draw.normal(size=len(kkt.build(tree).state.qd)))
    root = next(b for b in tree if not list(tree.predecessors(b)))
    tip = next(b for b in tree if not list(tree.successors(b)))
    normal = (0.3, -0.4, 0.8)
    loop = kkt.contact(tip, (0.05, 0.0, -0.1), normal, name="p")
    rising = contact.impact(kkt.build(tree, qd=system.state.qd, loops=[loop]))
    down = -np.sign(rising.before["p"][0])  # turned round, so that it comes down
    system = kkt.build(tree, qd=down * system.state.qd, loops=[loop])
    blow = contact.impact(system, restitution=0.7)

    def momentum(qd):
        here = Mechanics(tree, tree.graph["q"], qd)
        return sum(here.world(b)[0] @ (here.M[b] @ here.v[b])[3:] for b in tree)

    assert tree.nodes[root]["joint"] == "floating" and blow.impulses["p"][0] > 0
    gained = momentum(blow.qd) - momentum(system.state.qd)
    unit = np.array(normal) / np.linalg.norm(normal)
    assert gained == pytest.approx(blow.impulses["p"][0] * unit, abs=1e-9)


@pytest.mark.slow
def test_which_contacts_press_beside_all_active_sets():
    """Every set of rows as equation (4) has it; one presses nowhere negative and sinks nowhere."""
    for seed in range(4):
        tree, q, _, dense = robot(seed)
        N = len(q)
        loops = [kkt.contact(b, x, UP, name=i) for i, (b, x) in enumerate(dense.points)]
        found = contact.forces(kkt.build(tree, q, np.zeros(N), loops=loops))
        fits = []
        for on in pairs((False, True), repeat=3):
            kept = [loop for loop, one in zip(loops, on, strict=True) if one]
            system = kkt.build(tree, q, np.zeros(N), loops=kept)
            here = kkt.eliminate(system, orderings.get("abm"), records=False)
            up = dense.J[:, 2] @ here.qdd + _drift(tree, q, np.zeros(N), dense)
            if (here.lam >= 0).all() and (up >= -1e-9).all():
                fits.append(here.qdd)
        assert len(fits) == 1
        assert found.qdd == pytest.approx(fits[0], abs=1e-9)
        for i in range(3):
            assert (found.forces[i] > 0.0) != (found.accelerations[i] > 0.0)


def _drift(tree, q, qd, dense):
    """Normal accelerations of the points at qdd = 0: none at rest."""
    assert not qd.any()
    return np.zeros(3)


def test_forces_of_moving_contacts_are_those_of_the_rows():
    """Where all press, the multipliers are the contact rows' own, velocities and all."""
    tree = kkt.new_tree("table", (0.0, 0.0, -9.81))
    kkt.add_body(tree, "top", mass=4.0, inertia=np.eye(3) * 0.4, joint="floating")
    kkt.add_body(tree, "arm", "top", mass=0.5, com=(0.2, 0.0, 0.0), inertia=np.eye(3) * 0.01)
    feet = [(1.0, 0.0, -1.0), (-0.7, 0.7, -1.0), (-0.7, -0.7, -1.0)]
    loops = [kkt.contact("top", x, name=i) for i, x in enumerate(feet)]
    system = kkt.build(tree, qd=[0, 0, 0.4, 0.3, -0.2, 0, 1.5], loops=loops)
    rows = kkt.eliminate(system, orderings.get("abm"))
    found = contact.forces(system)
    assert (rows.lam > 0).all()
    assert list(found.forces.values()) == pytest.approx(list(rows.lam))
    assert found.qdd == pytest.approx(rows.qdd)


# -- a floor --------------------------------------------------------------------------------------


def rod(free=True, length=0.25, mass=0.5):
    """A thin rod, free in space."""
    tree = kkt.new_tree("rod", (0.0, 0.0, -9.8))
    J = mass * length**2 / 12
    kkt.add_body(tree, "rod", mass=mass, com=(length / 2, 0.0, 0.0), inertia=np.diag([1e-5, J, J]),
                 joint="floating")  # fmt: skip
    ends = [("rod", (0.0, 0.0, 0.0)), ("rod", (length, 0.0, 0.0))]
    return contact.Floor.of(tree, ends)


@pytest.mark.thorough
def test_a_floor_knows_its_points_and_its_energy():
    """Places, speeds, weights and forces of every kind of joint, beside mechanics apart."""
    tree = every_joint()
    del tree.graph["tau"]
    q, qd = np.array(tree.graph["q"]), np.array(tree.graph["qd"])
    draw = np.random.default_rng(2)
    points = [("base", draw.normal(size=3)), (("arm", 1), draw.normal(size=3)),
              ("tip", draw.normal(size=3))]  # fmt: skip
    floor = contact.Floor.of(tree, points, normal=(0.2, 0.3, 0.9))
    here = Mechanics(tree, q, qd)
    y = floor.start()[None]
    pose = floor.pose(y)
    J = Dense(tree, q, points).J
    for i, (body, x) in enumerate(points):
        R, p = here.world(body)
        assert pose.r[0, i] == pytest.approx(p + R @ x)
        assert pose.speed[0, i] == pytest.approx(J[i] @ qd)
    assert floor.energy(y)[0] == pytest.approx(here.energy())
    forces = draw.normal(size=(1, 3, 3))
    system = kkt.build(tree, q, qd, tau=np.einsum("pij,pi->j", J, forces[0]))
    asked = kkt.eliminate(system, orderings.get("abm"), records=False).qdd
    assert floor.accelerations(y, forces, pose)[0] == pytest.approx(asked, rel=1e-9)
    free, up, moved, A = floor.free_and_responses(y, pose, np.arange(3))
    n = floor.frame[0]
    M = Dense(tree, q, points).M
    assert moved == pytest.approx(np.linalg.solve(M, (n @ J).T).T, abs=1e-10)
    assert pytest.approx((n @ J) @ np.linalg.solve(M, (n @ J).T), abs=1e-10) == A
    h = 1e-6
    speeds = []
    for s in (h, -h):
        later = here.moved(free, s)
        step = [(b, later.world(b)) for b, _ in points]
        speeds.append([n @ (R @ (later.v[b][3:] + np.cross(later.v[b][:3], x)))
                       for (b, (R, _)), (_, x) in zip(step, points, strict=True)])  # fmt: skip
    assert up == pytest.approx((np.array(speeds[0]) - speeds[1]) / (2 * h), abs=1e-5)


def test_a_floor_says_where_its_accelerations_do_not_hold():
    """Two point masses on hinges whose axes are parallel: singular where the arm is stretched."""
    tree, axis, arm = kkt.new_tree("two points"), (0.6, 0.0, 0.8), (0.8, 0.0, -0.6)
    kkt.add_body(tree, "a", joint="revolute", axis=axis, mass=0.0, inertia=np.zeros((3, 3)))
    kkt.add_body(
        tree, "b", "a", joint="revolute", axis=axis, mass=1.0, com=arm, p=arm,
        inertia=np.zeros((3, 3)),
    )  # fmt: skip
    floor = contact.Floor.of(tree, [("b", arm)])
    bent, straight = floor.start([0.3, 1.0]), floor.start([0.3, 0.0])
    assert floor.doubt(bent[None]) is None
    assert floor.doubt(np.array([bent, straight])).startswith("1 of 2 states (pivot qdd_a, step 2")
    assert contact.fall(floor, bent, seconds=0.01).doubt is None


@pytest.mark.thorough
def test_a_level_rod_bounces_as_a_ball():
    """Both ends touch at once: e^k of the speed after k bounces, at the times of free fall."""
    floor, height, e = rod(), 0.2, 0.6
    y = floor.start([0, 0, 0, 0, 0, height])
    found = contact.fall(floor, y, seconds=1.1, restitution=e, step=5e-3)
    fall = np.sqrt(2 * height / 9.8)
    down = 9.8 * fall
    times = fall + np.cumsum([0.0, 2 * e * down / 9.8, 2 * e**2 * down / 9.8])
    assert [blow.t for blow in found.blows[:3]] == pytest.approx(list(times), abs=1e-6)
    assert all(blow.points == 2 for blow in found.blows[:3])
    lost = [0.5 * 0.5 * (down * e**k) ** 2 * (1 - e**2) for k in range(3)]
    assert [-blow.gain for blow in found.blows[:3]] == pytest.approx(lost, rel=1e-5)


def test_elastic_blows_keep_the_energy_and_others_lose_it():
    floor, draw = rod(), np.random.default_rng(4)
    for e in (0.0, 0.4, 1.0, 1.5):
        q = np.concatenate([draw.uniform(-0.4, 0.4, 3), np.zeros(3)])
        q[5] -= floor.heights(floor.start(q)).min()
        y = floor.start(q, [0.2, 1.0, 0.3, 0.3, 0.1, -2.0])[None]
        after, points = rigid.blow(floor, y, e)
        assert points
        gained = float(floor.energy(after)[0] - floor.energy(y)[0])
        assert np.sign(np.round(gained, 12)) == np.sign(e - 1.0)


@pytest.mark.slow
def test_a_robot_on_its_feet_falls_and_comes_to_rest():
    """A floating body with a leg on a hinge: energy only falls, and nothing sinks."""
    tree = kkt.new_tree("hopper")
    kkt.add_body(tree, "box", mass=2.0, inertia=np.diag([0.02, 0.03, 0.04]), joint="floating")
    kkt.add_body(tree, "leg", "box", mass=0.3, com=(0, 0, -0.1), inertia=np.diag([2e-3] * 3),
                 axis=(0, 1, 0), p=(0.1, 0, 0))  # fmt: skip
    corners = [("box", (x, y, -0.1)) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    floor = contact.Floor.of(tree, [*corners, ("leg", (0, 0, -0.3))])
    y = floor.start([0.1, 0.2, 0.0, 0.0, 0.0, 0.5, 0.3])
    found = contact.fall(floor, y, seconds=0.8, restitution=0.3, step=4e-3)
    assert len(found.blows) >= 4 and max(blow.gain for blow in found.blows) <= 1e-9
    assert found.depth <= 1e-5 and found.smooth_gain <= 1e-5 * found.energy[0]


@pytest.mark.thorough
def test_springs_conserve_and_their_friction_stops():
    floor = rod()
    springs = contact.Springs(floor, relax=1.0)
    y = springs.start([0.3, 0.2, 0, 0, 0, 0.2], np.zeros(6), (1e4,))
    record = springs.run(y, 0.4)[0]
    energy = springs.energy(record.y)
    assert (floor.heights(record.y[:, :-1]) < 0).any()
    assert np.ptp(energy) <= 1e-5 * energy[0]
    rubbing = contact.Springs(floor, damping=0.5, friction=0.4)
    deep = 0.5 * 9.8 / 2 / 1e4
    y = rubbing.start([0, 0, 0, 0, 0, -deep], [0, 0, 0, 0.5, 0, 0], (1e4,))
    speed = rubbing.run(y, 0.1, 1e-6)[0].y[-1, floor.nx + 3]
    assert speed == pytest.approx(0.5 - 0.4 * 9.8 * 0.1, abs=5e-3)


@pytest.mark.thorough
def test_a_sphere_on_a_slope_is_the_same_as_gravity_aslant():
    """Nothing knows which way is up but the normal."""
    turn = Rotation.from_euler("xyz", [0.3, -0.4, 0.2]).as_matrix()
    found = []
    for Q in (np.eye(3), turn):
        tree = kkt.new_tree("rod", tuple(Q @ [0.5, 0.0, -9.8]))
        kkt.add_body(tree, "rod", mass=0.5, com=(0.1, 0, 0), inertia=np.diag([1e-4, 2e-3, 2e-3]),
                     joint="floating", R=Q)  # fmt: skip
        floor = contact.Floor.of(tree, [("rod", (0, 0, 0)), ("rod", (0.25, 0, 0))], normal=Q[:, 2])
        y = floor.start([0, 0.2, 0, 0, 0, 0.1])
        found.append(contact.fall(floor, y, seconds=0.25, restitution=0.5))
    assert found[0].energy == pytest.approx(found[1].energy, abs=1e-7)


# -- friction in joints --------------------------------------------------------------------------


def test_a_block_on_a_slope_stays_until_the_slope_is_too_steep():
    for slope, holds in ((0.29, True), (0.31, False)):
        tree = kkt.new_tree("slope")
        kkt.add_body(tree, "block", mass=2.0, inertia=np.eye(3), joint="prismatic",
                     axis=(np.cos(slope), 0.0, -np.sin(slope)))  # fmt: skip
        rub = contact.JointFriction.of(tree, dry=2.0 * 9.81 * np.sin(0.30))
        found = rub.solve(kkt.build(tree))
        assert bool(found.sticks[0]) is holds
        pull = 9.81 * (np.sin(slope) - np.sin(0.30))
        assert found.qdd[0] == pytest.approx(0.0 if holds else pull, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["abm", "crbm", "square_root_abm"])
def test_sticking_joints_are_those_of_all_sets_that_fit(order):
    """Beside every choice of standing and sliding, solved by LAPACK: one fits."""
    for seed in range(6):
        tree = every_joint()
        draw = np.random.default_rng(seed)
        N = int(kkt.compile_tree(tree).offset[-1])
        still = draw.choice(N, 4, replace=False)
        q, qd, tau = draw.uniform(-1, 1, N), draw.normal(size=N), draw.normal(size=N)
        qd[still] = 0.0
        dry = draw.uniform(0.5, 8.0, N)
        rub = contact.JointFriction(dry, np.full(N, 0.1))
        system = kkt.build(tree, q, qd, tau)
        M = Dense(tree, q, [("base", (0.0, 0.0, 0.0))]).M
        free = np.linalg.solve(
            *Mechanics(tree, q, qd).equation4(tau - 0.1 * qd - dry * np.sign(qd))
        )
        free = free[6 * len(tree) : 6 * len(tree) + N]
        W, fits = np.linalg.inv(M), []
        for signs in pairs((-1, 0, 1), repeat=4):
            f = np.array(signs) * dry[still]
            on = np.flatnonzero(np.array(signs) == 0)
            off = np.flatnonzero(np.array(signs))
            A, b = W[np.ix_(still, still)], free[still]
            f[on] = np.linalg.solve(A[np.ix_(on, on)], -(b[on] + A[np.ix_(on, off)] @ f[off]))
            moved = A @ f + b
            if (np.abs(f[on]) <= dry[still][on]).all() and (f[off] * moved[off] <= 0).all():
                fits.append(free + W[:, still] @ f)
        assert len(fits) == 1
        found = rub.solve(system, order=order)
        assert found.qdd == pytest.approx(fits[0], abs=1e-8 * np.abs(fits[0]).max())


def test_smooth_friction_takes_the_energy_that_it_should():
    tree = kkt.default_state(kkt.chain(3))
    rub = contact.JointFriction.of(tree, dry=0.5, viscous={"j2": 0.2})
    qd = np.array([1.0, -2.0, 0.0])
    assert rub.efforts(qd, 1e-9) == pytest.approx([-0.5, 0.9, 0.0])
    kernel = kkt.compile(tree, orderings.get("abm"))
    system = kkt.build(tree, qd=qd, tau=np.zeros(3))
    x = kernel.configuration(tree.graph["q"])
    qdd = kernel(x, qd, rub.efforts(qd, 1e-9))
    sliding = np.flatnonzero(qd)
    asked = rub.solve(system)
    assert asked.friction[sliding] == pytest.approx([-0.5, 0.9])
    power = (
        qd
        @ kkt.joint_space_inertia(system, orderings.get("crbm"))
        @ (qdd - kernel(x, qd, np.zeros(3)))
    )
    assert power == pytest.approx(-0.5 - 0.9 * 2.0)


# -- what cannot be -------------------------------------------------------------------------------


def one(**more):
    return kkt.build(kkt.chain(3), loops=[kkt.contact("j3", (1.0, 0.0, 0.0), **more, name="p")])


BAD = [
    (lambda: contact.impact(kkt.build(kkt.chain(2))), "this system has none"),
    (lambda: contact.impact(one(), law="hertz"), "law is 'hertz'"),
    (lambda: contact.impact(one(), restitution=1.5), "restitution of 'p' is 1.5.*0 to 1"),
    (lambda: contact.impact(one(), friction={"q": 1.0}), "friction names 'q'"),
    (lambda: contact.impact(one(), friction=-1.0), "friction of 'p' is -1.0"),
    (lambda: contact.impact(one(), format="exact"), "floating-point"),
    (lambda: contact.impact(one(tangents=((1.0, 0.0, 1.0),)), friction=0.5), "across the normal"),
    (lambda: contact.forces(one(tangents=((1.0, 0.0, 0.0),))), "has tangents"),
    (lambda: contact.Floor.of(kkt.chain(2), [("j9", (0, 0, 0))]), "j9"),
    (lambda: contact.Floor.of(kkt.chain(2), ["j1"]), "no \\(body, point\\)"),
    (lambda: contact.Floor.of(kkt.chain(2), []), "no points"),
    (lambda: contact.Floor.of(kkt.chain(2), [("j1", (0, 0))]), "point"),
    (lambda: contact.Floor.of(kkt.chain(2), [("j1", (0, 0, 0))], normal=(0, 0, 0)), "normal"),
    (lambda: contact.Springs(rod(), relax=2.0), "relax"),
    (lambda: contact.JointFriction.of(kkt.chain(2), dry={"j3": 1.0}), "'j3' is unknown"),
    (lambda: contact.JointFriction.of(kkt.chain(2), dry=-1.0), "'dry' is -1.0"),
    (lambda: contact.JointFriction.of(kkt.chain(2), viscous={"j1": (1, 2)}), "'viscous' is"),
    (lambda: contact.JointFriction.of(kkt.chain(3), dry=1.0).solve(one()), "friction in joints"),
    (lambda: contact.Springs(rod()).start(np.zeros(6), np.zeros(6), (0.0,)), "stiffness"),
    (lambda: contact.Springs(rod()).run(np.zeros((1, 14)), 0.1, method="RK4"), "RK45"),
]


@pytest.mark.thorough
@pytest.mark.parametrize("ask,said", BAD)
def test_what_cannot_be_is_one_sentence(ask, said):
    with pytest.raises(kkt.PivotreeError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)
