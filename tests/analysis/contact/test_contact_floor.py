"""Chains on a floor, and friction in joints: beside dense mechanics; what no contact can be."""

import numpy as np
import pytest
from helpers import Mechanics, every_joint
from scipy.spatial.transform import Rotation
from test_contact import Dense

from pivotree import kkt, orderings
from pivotree.analysis import contact
from pivotree.papers.cloutier1995 import rigid
from pivotree.papers.cloutier1995.floor import Floor
from pivotree.papers.cloutier1995.springs import Springs

# -- a floor --------------------------------------------------------------------------------------


LEVEL = np.eye(3)


def rod(turn=LEVEL, length=0.25, mass=0.5):
    """A thin rod, free in space, over a floor that is turned with gravity."""
    tree, J = kkt.new_tree("rod", tuple(turn @ (0.0, 0.0, -9.8))), mass * length**2 / 12
    given = {"mass": mass, "com": (length / 2, 0.0, 0.0), "inertia": np.diag([1e-5, J, J])}
    kkt.add_body(tree, "rod", joint="floating", R=turn, **given)
    ends = [("rod", (0.0, 0.0, 0.0)), ("rod", (length, 0.0, 0.0))]
    return Floor.of(tree, ends, normal=turn[:, 2])


@pytest.mark.product
def test_a_floor_knows_its_points_and_its_energy():
    """Places, speeds, weights and forces of every kind of joint, beside mechanics apart."""
    tree = every_joint()
    del tree.graph["tau"]
    q, qd = np.array(tree.graph["q"]), np.array(tree.graph["qd"])
    draw = np.random.default_rng(2)
    points = [("base", draw.normal(size=3)), (("arm", 1), draw.normal(size=3)), ("tip", draw.normal(size=3))]
    floor = Floor.of(tree, points, normal=(0.2, 0.3, 0.9))
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
    h, speeds = 1e-6, np.zeros((2, 3))
    for moved_by, found in zip((h, -h), speeds, strict=True):
        later = here.moved(free, moved_by)
        for i, (body, x) in enumerate(points):
            found[i] = n @ later.world(body)[0] @ (later.v[body][3:] + np.cross(later.v[body][:3], x))
    assert up == pytest.approx((speeds[0] - speeds[1]) / (2 * h), abs=1e-5)


def test_a_floor_says_where_its_accelerations_do_not_hold():
    """Two point masses on hinges whose axes are parallel: singular where the arm is stretched."""
    tree, axis, arm = kkt.new_tree("two points"), (0.6, 0.0, 0.8), (0.8, 0.0, -0.6)
    point = {"axis": axis, "inertia": np.zeros((3, 3))}
    kkt.add_body(tree, "a", mass=0.0, **point)
    kkt.add_body(tree, "b", "a", mass=1.0, com=arm, p=arm, **point)
    floor = Floor.of(tree, [("b", arm)])
    bent, straight = floor.start([0.3, 1.0]), floor.start([0.3, 0.0])
    assert floor.doubt(bent[None]) is None
    assert floor.doubt(np.array([bent, straight])).startswith("1 of 2 states (pivot qdd_a, step 2")
    assert rigid.fall(floor, bent, seconds=0.01).doubt is None


@pytest.mark.product
def test_a_level_rod_bounces_as_a_ball():
    """Both ends touch at once: e^k of the speed after k bounces, at the times of free fall.

    Nothing knows which way is up but the normal.
    """
    floor, height, e = rod(Rotation.from_euler("xyz", [0.3, -0.4, 0.2]).as_matrix()), 0.2, 0.6
    y = floor.start([0, 0, 0, 0, 0, height])
    found = rigid.fall(floor, y, seconds=0.65, restitution=e, step=5e-3)
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


@pytest.mark.product
def test_a_robot_on_its_feet_falls_and_comes_to_rest():
    """A floating body with a leg on a hinge: energy only falls, and nothing sinks."""
    tree = kkt.new_tree("hopper")
    kkt.add_body(tree, "box", mass=2.0, inertia=np.diag([0.02, 0.03, 0.04]), joint="floating")
    leg = {"mass": 0.3, "com": (0, 0, -0.1), "inertia": np.diag([2e-3] * 3)}
    kkt.add_body(tree, "leg", "box", axis=(0, 1, 0), p=(0.1, 0, 0), **leg)
    corners = [("box", (x, y, -0.1)) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    floor = Floor.of(tree, [*corners, ("leg", (0, 0, -0.3))])
    y = floor.start([0.1, 0.2, 0.0, 0.0, 0.0, 0.5, 0.3])
    found = rigid.fall(floor, y, seconds=0.4, restitution=0.3, step=4e-3)
    assert len(found.blows) >= 4 and max(blow.gain for blow in found.blows) <= 1e-9
    assert found.depth <= 1e-5 and found.smooth_gain <= 1e-5 * found.energy[0]


@pytest.mark.product
def test_springs_conserve_and_their_friction_stops():
    floor = rod()
    springs = Springs(floor, relax=1.0)
    y = springs.start([0.3, 0.2, 0, 0, 0, 0.2], np.zeros(6), (1e4,))
    record = springs.run(y, 0.3)[0]
    energy = springs.energy(record.y)
    assert (floor.heights(record.y[:, :-1]) < 0).any()
    assert np.ptp(energy) <= 1e-5 * energy[0]
    rubbing = Springs(floor, damping=0.5, friction=0.4)
    deep = 0.5 * 9.8 / 2 / 1e4
    y = rubbing.start([0, 0, 0, 0, 0, -deep], [0, 0, 0, 0.5, 0, 0], (1e4,))
    speed = rubbing.run(y, 0.1, 1e-6)[0].y[-1, floor.nx + 3]
    assert speed == pytest.approx(0.5 - 0.4 * 9.8 * 0.1, abs=5e-3)


# -- what cannot be -------------------------------------------------------------------------------


def one(**more):
    return kkt.build(kkt.chain(3), loops=[kkt.contact("j3", (1.0, 0.0, 0.0), **more, name="p")])


BAD = [
    (lambda: contact.impact(kkt.build(kkt.chain(2))), "this system has none"),
    (lambda: contact.impact(one(), restitution=1.5), "restitution of 'p' is 1.5.*0 to 1"),
    (lambda: contact.impact(one(), friction=-1.0), "friction of 'p' is -1.0"),
    (lambda: contact.impact(one(tangents=((1.0, 0.0, 1.0),)), friction=0.5), "across the normal"),
    (lambda: contact.forces(one(tangents=((1.0, 0.0, 0.0),))), "has tangents"),
    (lambda: Floor.of(kkt.chain(2), [("j9", (0, 0, 0))]), "j9"),
    (lambda: Floor.of(kkt.chain(2), ["j1"]), "no \\(body, point\\)"),
    (lambda: Floor.of(kkt.chain(2), [("j1", (0, 0))]), "point"),
]


@pytest.mark.product
@pytest.mark.parametrize("ask,said", BAD)
def test_what_cannot_be_is_one_sentence(ask, said):
    with pytest.raises(kkt.PivotreeError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)
