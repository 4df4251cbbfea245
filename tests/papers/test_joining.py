"""Links joined and cut between steps: poses and velocities go on, momentum is kept in a blow."""

import networkx as nx
import numpy as np
import pytest
from designs import covering, listed
from helpers import Mechanics
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt import ModelError
from pivotree.papers.yamane2001 import joining

KINDS = ["floating", "revolute", "universal", "planar", "spherical", "cylindrical", "prismatic"]


def tree_of(kinds, seed, name="tree", gravity=(0.0, 0.0, -9.81)):
    """A free tree with a body for each joint, in a random state; branches included."""
    draw = np.random.default_rng(seed)
    tree = kkt.new_tree(name, gravity)
    add(tree, name, kinds, draw)
    settle(tree, draw)
    return tree


def add(tree, prefix, kinds, draw):
    for k, kind in enumerate(kinds):
        axes, place = (Rotation.random(random_state=int(draw.integers(1 << 30))).as_matrix() for _ in "ab")
        body = {"mass": 1.0 + k, "com": draw.normal(size=3)}
        body["inertia"] = place @ np.diag([0.2, 0.3, 0.4]) @ place.T
        axis = {"universal": axes[:2], "planar": (0.0, 0.0, 1.0)}.get(kind, axes[0])
        parent = None if k == 0 else f"{prefix}{max(0, k - 1 - k % 2)}"
        kkt.add_body(
            tree, f"{prefix}{k}", parent, R=place, p=draw.normal(size=3), joint=kind, axis=axis, **body
        )


def settle(tree, draw):
    N = int(kkt.compile_tree(tree).offset[-1])
    tree.graph["q"], tree.graph["qd"] = 0.7 * draw.normal(size=(2, N))


def world(tree, *moved):
    """Centre of mass, angular velocity, the centre's velocity, inertia and mass of every body.

    Now, or a time h later with some accelerations; nothing of it comes from the project.
    """
    mechanics, found = Mechanics(tree, tree.graph["q"], tree.graph["qd"]), {}
    mechanics = mechanics.moved(*moved) if moved else mechanics
    for body, data in tree.nodes(data=True):
        (R, p), v = mechanics.world(body), mechanics.v[body]
        arm, w = R @ np.asarray(data["com"], float), R @ v[:3]
        found[body] = p + arm, w, R @ v[3:] + np.cross(w, arm), R @ data["inertia"] @ R.T, data["mass"]
    return found


def assert_same_motion(first, second):
    a, b = world(first), world(second)
    assert a.keys() == b.keys()
    for name in a:
        for x, y in zip(a[name], b[name], strict=True):
            assert np.allclose(x, y, rtol=1e-11, atol=1e-11), name


def momentum(tree):
    """Linear and angular momentum about the world's origin, and kinetic energy."""
    total, energy = np.zeros(6), 0.0
    for center, w, c, J, m in world(tree).values():
        total += np.concatenate([m * c, J @ w + np.cross(center, m * c)])
        energy += 0.5 * (m * c @ c + w @ J @ w)
    return total, energy


def accelerations(tree):
    """World acceleration of every body's centre of mass, and angular acceleration."""
    qdd, h = kkt.eliminate(kkt.build(tree), orderings.get("abm")).qdd, 1e-6
    before, after = (world(tree, qdd, s) for s in (-h, h))  # velocities along the motion
    pairs = {k: zip(x[1:3], after[k][1:3], strict=True) for k, x in before.items()}
    return {k: [(y - x) / (2 * h) for x, y in pair] for k, pair in pairs.items()}


@pytest.mark.parametrize(("body", "seed"), covering([f"tree{k}" for k in range(1, 7)], range(3)))
def test_another_root_is_the_same_motion(body, seed):
    tree = tree_of(KINDS, seed)
    other = joining.rerooted(tree, body)
    assert next(k for k, d in other.in_degree if d == 0) == body
    assert_same_motion(tree, other)
    a, b = accelerations(tree), accelerations(other)
    for name in a:
        assert np.allclose(a[name], b[name], rtol=1e-5, atol=2e-5), name


@pytest.mark.parametrize("body", listed(["tree1", "tree3", "tree5"], unmarked=1))
def test_a_released_body_flies_on(body):
    tree = tree_of(["revolute", *KINDS[1:]], 5)
    free = joining.released(tree, body)
    assert_same_motion(tree, free)
    assert free.in_degree(body) == 0 and free.nodes[body]["joint"] == "floating"
    subtree, accelerated = world(free), accelerations(free)
    from_here = [body, *nx.descendants(free, body)]
    force = sum(subtree[k][4] * accelerated[k][1] for k in from_here)
    mass = sum(subtree[k][4] for k in from_here)
    assert np.allclose(force / mass, (0, 0, -9.81), atol=1e-5)  # nothing but gravity


@pytest.mark.parametrize(
    "joint", listed(["revolute", "fixed", "spherical", "universal", "planar"], unmarked=1)
)
def test_joining_two_free_trees_keeps_momentum(joint):
    """Linear and angular momentum of all stay, energy does not grow, poses do not move."""
    draw = np.random.default_rng(11)
    tree = kkt.new_tree("two", (0.0, 0.0, 0.0))
    add(tree, "a", KINDS, draw)
    add(tree, "b", KINDS, draw)
    settle(tree, draw)
    turn = Rotation.random(random_state=3).as_matrix()
    axis = {"universal": turn[:2], "planar": (0.0, 0.0, 1.0)}.get(joint, turn[0])
    for body, onto in (("b0", "a4"), ("b5", "a0"), ("a3", "b6")):
        one = joining.joined(tree, body, onto, joint, axis=axis, R=turn, p=(0.1, 0.2, 0.3))
        assert sum(d == 0 for _, d in one.in_degree) == 1
        before, after = world(tree), world(one)
        for name in before:
            assert np.allclose(before[name][0], after[name][0], atol=1e-12)
            assert np.allclose(before[name][3], after[name][3], atol=1e-12)
        (p0, e0), (p1, e1) = momentum(tree), momentum(one)
        assert np.allclose(p0, p1, rtol=1e-11, atol=1e-11)
        assert e1 < e0 - 1e-3  # the blow takes energy: the two did not move together
        # released and joined again, it moves as the joint allows already, and nothing changes
        again = joining.joined(joining.released(one, body), body, onto, joint, axis=axis)
        assert_same_motion(one, again)


def test_a_loop_that_closes_takes_its_velocity_away():
    """Both ends of an arm on the world: the cut joint's rows hold, the blow is Gauss's."""
    tree = tree_of(["revolute"] * 8, 2)
    end = next(k for k in tree if tree.out_degree(k) == 0)
    point, columns = np.array([0.1, 0.0, 0.2]), []
    closed = joining.joined(tree, end, None, "spherical", p=point, name="grip")
    assert [loop.name for loop in closed.graph["loops"]] == ["grip"]
    assert len(kkt.build(closed).state.loops) == 1
    for rate in np.eye(8):
        here = Mechanics(tree, tree.graph["q"], rate)
        columns.append(here.world(end)[0] @ (here.v[end][3:] + np.cross(here.v[end][:3], point)))
    G, M, before, after = np.array(columns).T, here.inertia(), tree.graph["qd"], closed.graph["qd"]
    assert np.abs(G @ after).max() < 1e-10 and np.abs(G @ before).max() > 0.1
    impulse = np.linalg.solve(G @ np.linalg.solve(M, G.T), -G @ before)
    assert np.allclose(after, before + np.linalg.solve(M, G.T @ impulse), atol=1e-10)
    open_again = joining.released(closed, "grip")
    assert open_again.graph["loops"] == [] and np.array_equal(open_again.graph["qd"], after)


def test_rows_that_hold_by_themselves_are_left_out_of_a_loop():
    arm = kkt.chain(4, axes="y", length=0.5)
    arm.graph["q"] = [0.9, 0.7, -0.4, 0.3]
    with pytest.raises(ModelError, match=r"keep rows=\(2, 3\)"):
        joining.joined(arm, "j4", None, "revolute", axis=(0, 1, 0), p=(0.5, 0, 0))
    closed = joining.joined(arm, "j4", None, "revolute", axis=(0, 1, 0), p=(0.5, 0, 0), rows=(2, 3))
    assert closed.graph["loops"][0].rows == 2


def test_a_free_body_is_caught_by_an_arm_whichever_is_named_first():
    draw = np.random.default_rng(9)
    tree = kkt.new_tree("catch")
    add(tree, "arm", ["revolute"] * 4, draw)
    add(tree, "ball", ["floating", "revolute"], draw)
    settle(tree, draw)
    one = joining.joined(tree, "ball1", "arm3", "revolute", axis=(0, 1, 0), p=(0.1, 0, 0))
    assert one.has_edge("arm3", "ball1") and one.has_edge("ball1", "ball0")
    place = joining.rerooted(tree, "ball1")
    other = joining.joined(place, "arm3", "ball1", "fixed")
    assert other.has_edge("arm3", "ball1")  # the arm stays where it is, the ball comes to it
    still = joining.joined(tree, "ball1", None)
    assert still.in_degree("ball1") == 0 and still.nodes["ball1"]["joint"] == "fixed"
    assert np.abs(world(still)["ball1"][2]).max() < 1e-12


def test_what_cannot_be_is_told():
    tree = tree_of(KINDS, 0)
    fixed = kkt.chain(3)
    for call, words in (
        (lambda: joining.released(tree, "nobody"), "neither a body nor a loop"),
        (lambda: joining.released(tree, "tree0"), "hangs on nothing"),
        (lambda: joining.rerooted(fixed, list(fixed)[2]), "another root"),
        (lambda: joining.joined(tree, "tree1", "tree1"), "to itself"),
        (lambda: joining.joined(tree, "tree1", "tree3", "universal", axis=np.eye(3)[:2]), "joint"),
        (lambda: joining.joined(tree, "tree1", "tree2", p=(1.0, 2.0)), "shape"),
    ):
        with pytest.raises(ModelError, match=words):
            call()
    screws = tree_of(["floating", "revolute"], 1)
    screws.nodes["tree1"].update(joint="general", S=np.eye(6)[:, [0, 4]])
    settle(screws, np.random.default_rng(1))
    with pytest.raises(ModelError, match="turns with it"):
        joining.rerooted(screws, "tree1")
