"""Chains on a floor, and friction in joints: beside dense mechanics; what no contact can be."""

import numpy as np
import pytest
from helpers import Mechanics, every_joint, one_sentence
from test_contact import Dense

from pivotree import kkt, orderings
from pivotree.analysis import contact
from pivotree.papers.cloutier1995.floor import Floor, Springs

# -- a floor --------------------------------------------------------------------------------------


def rod(length=0.25, mass=0.5):
    """A thin rod, free in space, over a floor."""
    tree, J = kkt.new_tree("rod", (0.0, 0.0, -9.8)), mass * length**2 / 12
    given = {"mass": mass, "com": (length / 2, 0.0, 0.0), "inertia": np.diag([1e-5, J, J])}
    kkt.add_body(tree, "rod", joint="floating", **given)
    ends = [("rod", (0.0, 0.0, 0.0)), ("rod", (length, 0.0, 0.0))]
    return Floor.of(tree, ends)


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
    M, directions = Dense(tree, q, points).M, draw.normal(size=(2, 3))
    for i in range(3):
        across = directions @ J[i]
        asked = across @ np.linalg.solve(M, across.T)
        assert floor.responses(y, i, directions) == pytest.approx(asked, abs=1e-10)


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
    (lambda: Floor.of(kkt.chain(2), [("j9", (0, 0, 0))]), "body 'j9' is not of this tree"),
    (lambda: Floor.of(kkt.chain(2), [("j1", (0, 0))]), "point"),
]


@pytest.mark.product
@pytest.mark.parametrize("ask,said", BAD)
def test_what_cannot_be_is_one_sentence(ask, said):
    with one_sentence(kkt.PivotreeError, said):
        ask()
