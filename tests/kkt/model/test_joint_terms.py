"""Terms of joints: what is taken, what is refused in one sentence, and files that hold them."""

import json

import numpy as np
import pytest
from armature import with_terms
from helpers import every_joint
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.matrix.configuration import Configuration
from pivotree.kkt.model import joints

BALL = {"mass": 1.0, "inertia": np.eye(3)}
WRONG = [
    ({"armature": -1.0}, "'armature' holds -1.0; give a number, zero or more, in kg m"),
    ({"damping": np.inf}, "'damping' holds inf"),
    ({"friction": "much"}, "'friction' is 'much'"),
    ({"stiffness": [1.0, 2.0]}, r"'stiffness' has shape \(2,\)"),
    ({"rest": np.nan, "stiffness": 1.0}, "'rest' holds nan; give finite numbers"),
    ({"armature": 1.0, "joint": "fixed"}, "a fixed joint has no freedom"),
    ({"stiffness": [1.0, 1.0, 2.0], "joint": "spherical"}, "coordinates of a spherical joint"),
]


@pytest.mark.product
@pytest.mark.parametrize(("given", "sentence"), WRONG)
def test_what_is_wrong_is_refused_with_the_body_and_the_field(given, sentence):
    tree = kkt.new_tree("wrong")
    kkt.add_body(tree, "arm", **BALL, **given)
    with pytest.raises(kkt.ModelError, match=sentence) as error:
        kkt.compile_tree(tree)
    assert "body 'arm'" in str(error.value)


@pytest.mark.parametrize("implicit", [0.0, np.inf, "soon"])
def test_a_step_is_above_zero(implicit):
    with pytest.raises(kkt.ModelError, match="give a step in s, above 0"):
        kkt.build(kkt.chain(2), implicit=implicit)


def test_a_number_stands_for_all_freedoms_of_a_joint():
    tree = kkt.new_tree("one")
    kkt.add_body(tree, "ball", joint="spherical", armature=0.5, **BALL)
    assert kkt.build(tree).entries.A.tolist() == [0.5] * 3


def test_the_spring_of_a_ball_pulls_from_pose_to_pose():
    tree, (rest, q) = kkt.new_tree("sprung", (0.0, 0.0, 0.0)), np.array([[0.3, -0.8, 0.5], [-0.4, 0.9, 0.7]])
    kkt.add_body(tree, "ball", joint="spherical", stiffness=2.0, rest=rest, **BALL)
    turned = Rotation.from_rotvec(rest).inv() * Rotation.from_rotvec(q)
    assert np.allclose(kkt.build(tree, q).entries.tau, -2.0 * turned.as_rotvec(), atol=1e-14)


def test_in_a_model_file_too(tmp_path):
    path, tree = tmp_path / "robot.json", kkt.chain(2)
    tree.nodes["j1"]["armature"] = 0.5
    kkt.write_model(path, kkt.build(tree).state)
    document = json.loads(path.read_text())
    document["bodies"][1]["armature"] = 0.25
    path.write_text(json.dumps(document))
    assert kkt.build(kkt.read_model(path)).entries.A.tolist() == [0.5, 0.25]
    document["bodies"][1]["armature"] = -1
    path.write_text(json.dumps(document))
    with pytest.raises(kkt.ModelError, match=r"'armature' holds -1\.0; give a number, zero or more"):
        kkt.build(kkt.read_model(path))


@pytest.mark.product
def test_model_files_hold_the_terms_and_only_then_are_of_schema_2(tmp_path):
    tree = with_terms(every_joint(), 3)
    rng, N = np.random.default_rng(3), kkt.compile_tree(tree).N
    system = kkt.build(tree, rng.uniform(-1, 1, N), rng.normal(size=N), rng.normal(size=N))
    path = tmp_path / "robot.json"
    kkt.write_model(path, system.state)
    again = kkt.build(kkt.read_model(path))
    assert json.loads(path.read_text())["schema"] == "pivotree-model/2"
    assert (again.matrix != system.matrix).nnz == 0 and (again.rhs == system.rhs).all()
    kkt.write_model(path, kkt.build(kkt.chain(2)).state)
    assert json.loads(path.read_text())["schema"] == "pivotree-model/1"


def test_a_term_in_a_file_of_schema_1_is_no_silent_nothing(tmp_path):
    path = tmp_path / "robot.json"
    kkt.write_model(path, kkt.build(with_terms(kkt.chain(2), 1)).state)
    path.write_text(path.read_text().replace("pivotree-model/2", "pivotree-model/1"))
    with pytest.raises(kkt.ModelError, match=r"known from 'pivotree-model/2' on"):
        kkt.read_model(path)


# -- a type of one's own: nothing else in the house knows its name --------------------------------

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
        tree = kkt.new_tree("gantry")
        own = {"mass": 3.0, "com": (0.0, 0.1, 0.2), "inertia": 0.1 * np.eye(3)}
        if new:
            kkt.add_body(tree, "z", joint="cartesian", **own)
        else:
            kkt.add_body(tree, "x", mass=0.0, joint="prismatic", axis=(1, 0, 0))
            kkt.add_body(tree, "y", "x", mass=0.0, joint="prismatic", axis=(0, 1, 0))
            kkt.add_body(tree, "z", "y", joint="prismatic", axis=(0, 0, 1), **own)
        arm = {"mass": 1.0, "com": (0.3, 0.0, 0.1), "inertia": 0.02 * np.eye(3)}
        kkt.add_body(tree, "arm", "z", axis=(0, 1, 0), p=(0.1, 0.2, 0.3), **arm)
        trees.append(kkt.default_state(tree))
    return trees


def test_it_is_built_eliminated_compiled_and_written(gantry, tmp_path):
    new, old = gantry
    abm = orderings.get("abm")
    expected = kkt.eliminate(kkt.build(old), abm).qdd
    assert kkt.eliminate(kkt.build(new), abm).qdd == pytest.approx(expected, rel=1e-12)
    state = [np.asarray(new.graph[field]) for field in ("q", "qd", "tau")]
    kernel = kkt.compile(new, abm)
    assert kernel(*state) == pytest.approx(expected, rel=1e-12)
    assert kkt.solve_large(kkt.build(new)).qdd == pytest.approx(expected, rel=1e-12)
    assert kkt.guarantee(new, abm).why == "joint z: cartesian, whose motion has no bound yet"
    assert Configuration(kkt.compile_tree(new), new).rate(*state[:2]) == pytest.approx(state[1])
    system = kkt.build(new)
    kkt.write_model(tmp_path / "gantry.json", system.state)
    assert (kkt.build(kkt.read_model(tmp_path / "gantry.json")).matrix != system.matrix).nnz == 0
