"""Joints that move together, against a reduction of coordinates: qdd = T ydd.

T* M T ydd = T* M qdd0, and qdd0 is what the free tree does.  Nothing of a loop enters it.
"""

import json

import numpy as np
import pytest
from designs import listed
from helpers import every_joint, one_sentence

from pivotree import kkt, orderings

RATIOS = {  # tree: body -> (what its joint follows, ratio)
    "chain:5": {"j5": ("j1", -1.7), "j3": ("j2", 0.5)},  # with parents of their own
    "binary:3": {"j2": ("j3", -1.0), "j5": ("j2", 2.0)},  # one parent; one the other's parent
    "star:4": {"j2": ("j1", 0.3), "j3": ("j1", -2.0), "j4": (None, 1.0)},  # on the world; held
    "every joint": {"slide": ("post", 0.02), "screw": ("slide", 30.0)},  # a pinion, its rack, a screw
}
ORDERS = ("abm", "crbm", "lambda_first", "lambda_last", "closed_early", "virtual_work")


def case(name):
    """The tree, its loops, and T."""
    tree = every_joint() if name == "every joint" else kkt.from_spec(name)
    ratios = RATIOS[name]
    loops = [kkt.coupled_joints(tree, k, to, ratio) for k, (to, ratio) in ratios.items()]
    bare = kkt.build(tree)
    first = dict(zip(bare.tree.names, bare.tree.offset, strict=False))
    rows = np.zeros((len(loops), len(bare.state.qd)))
    for row, (k, (to, ratio)) in zip(rows, ratios.items(), strict=True):
        row[first[k]] = 1.0
        if to is not None:
            row[first[to]] = -ratio
    T = np.linalg.svd(rows)[2][len(rows) :].T  # any basis of the rates that keep the rows
    return tree, loops, bare, T, rows


def reduced(bare, T):
    M = kkt.joint_space_inertia(bare, orderings.get("crbm"))
    free = kkt.eliminate(bare, orderings.get("abm")).qdd
    return T @ np.linalg.solve(T.T @ M @ T, T.T @ M @ free)


@pytest.mark.parametrize("name", listed(RATIOS, unmarked=1))
def test_coupled_joints_are_a_reduction_of_coordinates(name):
    tree, loops, bare, T, rows = case(name)
    qd = T @ (T.T @ bare.state.qd)  # rates that keep the coupling
    bare, system = kkt.build(tree, qd=qd), kkt.build(tree, qd=qd, loops=loops)
    expected = reduced(bare, T)
    size = np.abs(expected).max()
    for order in ORDERS:
        found = kkt.eliminate(system, orderings.get(order))
        assert np.abs(found.qdd - expected).max() <= 1e-12 * size, order
        effort = bare.state.tau + rows.T @ found.lam  # lambda is the coupling's own effort
        pushed = kkt.eliminate(kkt.build(tree, qd=qd, tau=effort), orderings.get("abm")).qdd
        assert np.abs(pushed - expected).max() <= 1e-11 * size, order
    assert np.abs(rows @ expected).max() <= 1e-12 * size


@pytest.mark.parametrize("name", listed(RATIOS, unmarked=1))
def test_the_same_in_other_frames_and_from_a_file(name, tmp_path):
    tree, loops, bare, *_ = case(name)
    system = kkt.build(tree, loops=loops)
    expected = kkt.eliminate(system, orderings.get("abm")).qdd
    kkt.write_model(tmp_path / "model.json", system.state)
    read = kkt.build(kkt.read_model(tmp_path / "model.json"))
    assert np.array_equal(read.entries.G, system.entries.G)
    for other in (read, kkt.aligned(system)):
        found = kkt.eliminate(other, orderings.get("crbm")).qdd
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
    assert system.pattern.holds(system.refresh(0.3 + bare.state.qd).entries)


def test_a_coupling_is_certified_and_compiled():
    tree, loops, *_ = case("chain:5")
    system = kkt.build(tree, loops=loops)
    kernel = kkt.compile(system, orderings.get("abm"), outputs=("qdd", "lambda"))
    q = [0.1, 0.2, 0.3, 0.4, 0.5]
    there = kkt.build(tree, q=q, loops=loops)
    expected, proved = kkt.eliminate(there, orderings.get("abm")), kkt.certify(there, 50)
    qdd, lam = kernel(np.array(q), there.state.qd, there.state.tau)
    for found in (qdd, np.array([float(x) for x in proved.qdd])):
        assert np.abs(found - expected.qdd).max() <= 1e-12
    assert np.abs(lam - expected.lam).max() <= 1e-12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("j9", "j1", 1.0), "loop 'j9': body 'j9' is unknown"),
        (("j2", "j9", 1.0), "loop 'j2': body 'j9' is unknown"),
        (("j2", "j2", 1.0), "couples the joint of 'j2' to itself"),
        (("j2", "j1", np.nan), "loop 'j2': field 'ratio'"),
        (("ball", "j1", 1.0), "the spherical joint of body 'ball' has 3 freedoms"),
    ],
)
def test_what_cannot_be_coupled_is_refused(given, message):
    tree = kkt.chain(3)
    kkt.add_body(tree, "ball", "j3", mass=1.0, inertia=np.eye(3), joint="spherical")
    with one_sentence(kkt.ModelError, message):
        kkt.coupled_joints(tree, *given)


def test_a_file_of_loops_couples_joints(tmp_path):
    tree, path = kkt.chain(3), tmp_path / "loops.json"
    entry = {"body": "j3", "to": "j1", "ratio": -2, "damping": 1.5, "name": "gear"}
    path.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [entry]}))
    system = kkt.build(tree, loops=kkt.read_loops(path, tree))
    loop = kkt.coupled_joints(tree, "j3", "j1", -2.0, damping=1.5, name="gear")
    same = kkt.build(tree, loops=[loop])
    assert np.array_equal(system.entries.G, same.entries.G) and system.loops[0].name == "gear"
    assert np.array_equal(system.rhs, same.rhs)
    for change, told in (
        ({"to": "j9"}, "body 'j9' is unknown"),
        ({"to": 3}, "field 'to' is 3; give a text"),
        ({"ratio": "two"}, "loop 'gear': field 'ratio'"),
        ({"rate": 2}, "field 'rate' is unknown; did you mean ratio"),
    ):
        path.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [entry | change]}))
        with one_sentence(kkt.ModelError, told, told=str(path)):
            kkt.read_loops(path, tree)


@pytest.mark.peers
def test_a_curve_of_mujoco_is_refused(tmp_path):
    pytest.importorskip("mujoco")
    hinge = "<body name='{0}'><joint name='{0}'/><geom size='1'/></body>"
    bodies = f"<worldbody>{hinge.format('l')}{hinge.format('r')}</worldbody>"
    row = "<equality><joint name='cam' joint1='r' joint2='l' polycoef='0 1 0.5 0 0'/></equality>"
    (tmp_path / "cam.xml").write_text(f"<mujoco>{bodies}{row}</mujoco>")
    with pytest.raises(kkt.ModelError, match=r"cam\.xml: joint 'cam': 'polycoef' bends; give two numbers"):
        kkt.load(tmp_path / "cam.xml")


def test_what_a_file_says_of_positions_that_follow_is_checked(tmp_path):
    tree = kkt.chain(3)
    tree.graph["loops"] = (kkt.coupled_joints(tree, "j3", "j1", 0.5, offset=0.1),)
    kkt.write_model(tmp_path / "model.json", kkt.build(tree, q=[0.3, 0.0, 0.25]).state)
    written = json.loads((tmp_path / "model.json").read_text())
    assert written["loops"][0]["follows"] == pytest.approx([0.5, 0.0], abs=1e-15)
    with pytest.warns(kkt.LoopWarning, match="is open by 0.2 "):
        kkt.write_model(tmp_path / "open.json", kkt.build(tree, q=[0.3, 0.0, 0.45]).state)
    with pytest.warns(kkt.LoopWarning, match="is open by 0.2 "):
        (closure,) = kkt.build(kkt.read_model(tmp_path / "open.json")).state.loops
    assert closure.gap == pytest.approx([0.2])
    written["loops"][0]["follows"] = [1, 2, 3]
    (tmp_path / "model.json").write_text(json.dumps(written))
    with pytest.raises(kkt.ModelError, match=r"'follows' has shape \(3,\); give 2 numbers"):
        kkt.read_model(tmp_path / "model.json")
