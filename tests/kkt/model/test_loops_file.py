"""Loops and contacts in files and from the gallery: to the last bit and back, and what is wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import one_sentence
from mechanisms import four_bar

from pivotree import kkt, orderings
from pivotree.kkt.model.load import from_spec
from pivotree.kkt.model.modelfile import loop_document, loops_from, write_model

CLOSED = ["four_bar", "gripper", "delta", "stewart"]


def assert_same(some, others):
    """The same loops to the last bit."""
    np.testing.assert_equal([vars(loop) for loop in some], [vars(loop) for loop in others])


@pytest.mark.parametrize("spec", [*CLOSED, "quadruped:feet=3"])
def test_a_model_file_keeps_loops_to_the_last_bit(spec, tmp_path):
    """One that calls itself of the schema before refuses them."""
    system = kkt.build(from_spec(spec))
    file = tmp_path / "robot.json"
    write_model(file, system.state)
    again = kkt.build(kkt.load(file))
    assert len(system.loops) > 0
    assert_same(system.loops, again.loops)
    assert (system.matrix != again.matrix).nnz == 0 and (system.rhs == again.rhs).all()
    text = file.read_text()
    assert json.loads(text)["schema"] == "pivotree-model/2"
    file.write_text(text.replace("pivotree-model/2", "pivotree-model/1"))
    with pytest.raises(kkt.ModelError, match="field 'loops' is known from 'pivotree-model/2' on"):
        kkt.load(file)


def test_soft_rows_and_rows_set_aside_come_back_too():
    tree = from_spec("four_bar")
    soft = [replace(x, implied=x.C) for x in kkt.softened(tree.graph["loops"], 0.01)]
    assert_same(soft, loops_from([loop_document(loop) for loop in soft], tree))


def test_a_file_of_loops_says_what_the_functions_take(tmp_path):
    tree, _, _, pin = four_bar(1.0)
    foot = kkt.contact("crank", (0.5, 0, 0), (0, 1, 0), compliance=1e-3, damping=2.0, name="foot")
    file = tmp_path / "loops.json"
    joint = {"first": "coupler", "second": "rocker", "p": [3, 0, 0], "p_second": [2.5, 0, 0], "rows": [2, 3]}
    point = {"body": "crank", "point": [0.5, 0, 0], "normal": [0, 1, 0], "compliance": 1e-3, "damping": 2.0}
    loops = [joint | {"name": "pin"}, point | {"name": "foot"}]
    file.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": loops}))
    assert_same(kkt.read_loops(file, tree), (pin, foot))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", ": line 1, column 2 is not JSON (Expecting value); give a file of loops"),
        ("[]", " is no file of loops; give an object with 'schema': 'pivotree-loops/1'"),
        ('{"schema": "pivotree-model/2"}', " is no file of loops; give an object with 'schema'"),
        ('{"schema": "pivotree-loops/1"}', ": has the fields 'schema'; give 'schema' and 'loops'"),
        ('{"schema": "pivotree-loops/1", "loops": {}}', ": field 'loops' is no list; give a list"),
    ],
)
def test_a_file_that_holds_no_loops_is_told_in_one_sentence(text, told, tmp_path):
    file = tmp_path / "loops.json"
    file.write_text(text)
    with one_sentence(kkt.ModelError, start=f"{file}{told}"):
        kkt.read_loops(file, four_bar(1.0)[0])


@pytest.mark.product
@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("pin", "loop 1 of 'loops' is no object"),
        ({}, "loop 1 of 'loops': field 'first' is missing"),
        ({"first": "crank", "secnd": "rocker"}, "field 'secnd' is unknown; did you mean second"),
        ({"first": "crank", "second": 3}, "field 'second' is 3; give a text"),
        ({"first": "crank", "second": "rocker", "joint": 1}, "field 'joint' is 1; give a text"),
        ({"first": "", "second": "rocker"}, "field 'first' is empty; give a text, or leave it out"),
        ({"first": "crank", "second": "rocker", "p": [True, 0, 0]}, "a truth value is no number"),
        ({"first": "crank", "second": "rocker", "S": [1]}, "that of a joint 'general', and this one"),
        ({"body": "crank"}, "field 'point' is missing"),
        ({"body": "crank", "point": [0, 0, 0], "tangents": 3}, "field 'tangents'"),
        ({"bodies": ["crank", "rocker"]}, "is missing"),
        ({"first": None, "second": None}, "ties the world to itself"),
        ({"first": "crank", "second": "rocker", "p": [10**400, 0, 0]}, "field 'p' holds inf; give finite"),
        ({"body": "crank", "point": [0, 0, 0], "damping": [1, 2]}, "give a number"),
        ({"body": "crank", "point": [0, 0, 0], "on": "table"}, "body 'table' is unknown"),
    ],
)
def test_a_loop_in_a_file_that_is_wrong_is_told_in_one_sentence(entry, told, tmp_path):
    file = tmp_path / "loops.json"
    file.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [entry]}))
    with one_sentence(kkt.ModelError, r"loops\.json: ", told=told):
        kkt.read_loops(file, four_bar(1.0)[0])


@pytest.mark.product
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"bodies": ["crank"]}, "field 'bodies'"),
        ({"bodies": ["crank", 1]}, "field 'bodies'"),
        ({"numbers": [2, 2]}, "field 'numbers'"),
        ({"point": 1}, "field 'point' is 1; give true or false"),
        ({"C": [[0.0, 0.0]] * 6}, "field 'C' has rank 0 and 2 columns"),
        ({"C": [[0.0]] * 6}, "field 'C' has shape"),
        ({"R": np.stack([-np.eye(3)] * 2).tolist()}, "field 'R' is not a rotation"),
        ({"compliance": [-1, 0]}, "field 'compliance' holds -1.0; give"),
        ({"free": "z"}, "field 'free'"),
        ({"R": np.eye(3).tolist()}, "field 'R' has shape (3, 3); give 2 x 3 x 3 numbers"),
        ({"baumgarte": [0, -1]}, "field 'baumgarte' holds -1.0; give 2 numbers, zero or more"),
        ({"beside": 1}, "field 'beside' is no object; give another pair of bodies"),
        ({"more": 1}, "field 'more' is unknown"),
    ],
)
def test_a_written_loop_that_was_changed_is_told_in_one_sentence(change, told, tmp_path):
    file = tmp_path / "robot.json"
    write_model(file, kkt.build(from_spec("four_bar")).state)
    document = json.loads(file.read_text())
    document["loops"][0] |= change
    file.write_text(json.dumps(document))
    with one_sentence(kkt.ModelError, told=told):
        kkt.load(file)


@pytest.mark.parametrize("gains", [5, None, [1.0], "ab"])
def test_gains_of_a_general_joint_are_two_numbers_in_whatever_holds_them(gains):
    with pytest.raises(kkt.ModelError, match="loop 'j1-j3': field 'baumgarte'"):
        kkt.cut_joint("j1", "j3", "general", S=np.eye(6)[:, :2], baumgarte=gains)
    for right in ([1.0, 0.0], np.array([1.0, 0.0])):
        made = kkt.cut_joint("j1", "j3", "general", S=np.eye(6)[:, :2], baumgarte=right)
        assert made.baumgarte == (1.0, 0.0)


def test_the_other_pair_of_a_coupling_has_as_many_rows(tmp_path):
    tree, file = from_spec("chain:2"), tmp_path / "robot.json"
    pair = kkt.coupled_joints(tree, "j1", "j2", 2.0, name="gear")
    write_model(file, kkt.build(tree, loops=[pair]).state)
    document = json.loads(file.read_text())
    C = np.eye(6)[:, :2].tolist()
    document["loops"][0]["beside"] |= {"numbers": [0, 1], "C": C, "compliance": [0, 0]}
    file.write_text(json.dumps(document))
    with pytest.raises(kkt.ModelError, match="'gear': field 'beside' has 2 rows; give 1"):
        kkt.load(file)


@pytest.mark.parametrize(
    ("spec", "freedoms"),
    [("four_bar", 1), ("stewart", 6), ("delta", 3), ("gripper", 3), ("quadruped:feet=4", 6)],
)
def test_mechanisms_of_the_gallery_are_closed_and_have_their_freedoms(spec, freedoms):
    """Rows are independent (build refuses others), so that freedoms are joints' less rows."""
    system = kkt.build(from_spec(spec))
    rows = sum(loop.rows for loop in system.loops)
    assert len(system.state.qd) - rows == freedoms
    assert max(np.abs(closure.gap).max() for closure in system.state.loops) < 1e-14


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("quadruped:compliance=1", "compliance and no foot on the ground; give feet"),
        ("quadruped:feet=1,compliance=-1", "field 'compliance' holds -1.0; give 3 numbers, zero or more"),
        ("quadruped:feet=5", "5 feet on the ground; ask for 0 to 4"),
    ],
)
def test_mechanisms_that_cannot_be_are_told_in_one_sentence(spec, told):
    with pytest.raises(kkt.ModelError, match=told):
        from_spec(spec)


URDF = """<robot name="leg"><link name="base"/>
<link name="shin"><inertial><origin xyz="0 0 -0.2"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
<link name="foot"/><link name="floor"/>
<joint name="knee" type="revolute"><parent link="base"/><child link="shin"/><axis xyz="0 1 0"/>
<limit effort="1" velocity="1"/></joint>
<joint name="ankle" type="fixed"><parent link="shin"/><child link="foot"/>
<origin xyz="0 0 -0.4" rpy="0.3 0.2 0.1"/></joint>
<joint name="ground" type="fixed"><parent link="base"/><child link="floor"/>
<origin xyz="0 0 -0.5" rpy="0 0 0.2"/></joint></robot>"""


@pytest.mark.parametrize("on", [None, "floor"])
def test_a_contact_may_name_links_that_are_merged_into_others(tmp_path, on):
    file = tmp_path / "leg.urdf"
    file.write_text(URDF)
    point = (0.1, 0.02, 0.0)
    merged, kept = (kkt.load(file, merge_fixed=merged) for merged in (True, False))
    foot = kkt.contact("foot", point, (1, 0, 0), on=on, name="foot")
    one, other = (kkt.build(tree, loops=[foot]) for tree in (merged, kept))
    assert "foot" in other.tree.names and "foot" not in one.tree.names
    (both,) = (one.loops[0].bodies,)
    assert both == (None, "shin")
    lam = [kkt.eliminate(s, orderings.get("abm")).lam for s in (one, other)]
    assert np.allclose(lam[0], lam[1], rtol=1e-12)
    with pytest.raises(kkt.ModelError, match="ties 'shin' to itself, of which both links are part"):
        kkt.build(merged, loops=[kkt.cut_joint("foot", "shin")])
