"""A type of joint is one entry of the table: nothing else in the house knows its name."""

import numpy as np
import pytest

import pivotree as pt
from pivotree.kkt.machine.configuration import Configuration
from pivotree.kkt.model import joints

RAIL = joints.JointType(  # three slides along the frame's axes, as of a gantry
    "cartesian",
    3,
    0,
    lambda axis, q: np.broadcast_to(np.eye(6)[:, 3:], (len(q), 6, 3)).copy(),
    lambda axis, q: (np.broadcast_to(np.eye(3), (len(q), 3, 3)).copy(), q.copy()),
)


@pytest.fixture
def gantry(monkeypatch):
    """A tree with the new joint, and the same one with three prismatic joints of no mass."""
    monkeypatch.setitem(joints.TYPES, "cartesian", RAIL)
    trees = []
    for new in (True, False):
        tree = pt.new_tree("gantry")
        own = {"mass": 3.0, "com": (0.0, 0.1, 0.2), "inertia": 0.1 * np.eye(3)}
        if new:
            pt.add_body(tree, "z", joint="cartesian", **own)
        else:
            pt.add_body(tree, "x", mass=0.0, joint="prismatic", axis=(1, 0, 0))
            pt.add_body(tree, "y", "x", mass=0.0, joint="prismatic", axis=(0, 1, 0))
            pt.add_body(tree, "z", "y", joint="prismatic", axis=(0, 0, 1), **own)
        pt.add_body(
            tree,
            "arm",
            "z",
            mass=1.0,
            com=(0.3, 0.0, 0.1),
            inertia=0.02 * np.eye(3),
            axis=(0, 1, 0),
            p=(0.1, 0.2, 0.3),
        )
        trees.append(pt.default_state(tree))
    return trees


def test_it_is_built_eliminated_and_compiled(gantry):
    new, old = gantry
    abm = pt.orderings.get("abm")
    expected = pt.eliminate(pt.build(old), abm).qdd
    assert pt.eliminate(pt.build(new), abm).qdd == pytest.approx(expected, rel=1e-12)
    state = [np.asarray(new.graph[field]) for field in ("q", "qd", "tau")]
    kernel = pt.kkt.compile(new, abm)
    assert kernel(*state) == pytest.approx(expected, rel=1e-12)
    assert pt.kkt.compile_large(new)(*state) == pytest.approx(expected, rel=1e-12)
    places = Configuration(pt.compile_tree(new), new)
    assert places.rate(state[0], state[1]) == pytest.approx(state[1])


def test_it_can_be_written_and_read(gantry, tmp_path):
    new, _ = gantry
    system = pt.build(new)
    pt.write_model(tmp_path / "gantry.json", system.state)
    again = pt.build(pt.read_model(tmp_path / "gantry.json"))
    assert (again.matrix != system.matrix).nnz == 0
