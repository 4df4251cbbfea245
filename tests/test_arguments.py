"""Every public function with something of another kind in the place of each argument, in turn.

It is taken, or refused by an error of the project: no TypeError from within.
"""

import inspect
import re

import numpy as np
import pytest

import pivotree as pt
from pivotree import kkt, orderings

TREE = kkt.chain(2)
SYSTEM = kkt.build(TREE)
STRUCTURE = SYSTEM.structure
ABM = orderings.get("abm")
PLAN = kkt.plan(ABM, STRUCTURE)
FOOT = kkt.contact("j2", (0.1, 0.0, 0.0))
FREE = kkt.random_tree(2, joints="floating")
LAST = list(FREE)[1]
EYE = np.eye(3)
MANY = {"system": SYSTEM, "order": ABM}
GIVEN = {  # arguments without a default, and those whose defaults do no more than that
    "add_body": {"tree": TREE, "name": "new", "mass": 1.0},
    "adjoint_derivatives": {**MANY, "weights": np.ones(2)},
    "aligned": {"system": SYSTEM},
    "binary": {"depth": 2},
    "blame": {"system": SYSTEM, "order": "abm"},
    "build": {"tree": TREE},
    "certify": {"system": SYSTEM, "digits": 5},
    "chain": {"n": 2},
    "column_counts": {"plan": PLAN},
    "comb": {"n": 3},
    "compare": {"system": SYSTEM, "orders": ["abm"], "formats": ["float32"]},
    "compile": {"model": TREE, "order": ABM},
    "compile_large": {"model": TREE},
    "compile_tree": {"tree": TREE},
    "conditioning": {"system": SYSTEM},
    "contact": {"body": "j1", "point": (0.0, 0.0, 0.0)},
    "coupled_joints": {"tree": TREE, "body": "j1", "to": "j2"},
    "cut_joint": {"first": "j1", "second": "j2"},
    "default_state": {"tree": TREE},
    "delassus_matrix": {**MANY, "points": [FOOT]},
    "delta": {},
    "derivatives": MANY,
    "directional_derivatives": {**MANY, "dq": np.ones(2)},
    "eliminate": MANY,
    "example1": {},
    "example2": {},
    "example3": {},
    "export_fixed": {"found": None, "path": "arm.c"},
    "factored": {"tree": TREE},
    "featherstone": {"bodies": 3},
    "find_robot": {"name": "no-such-robot"},
    "fixed_point": {"tree": TREE, "order": ABM},
    "four_bar": {},
    "from_spec": {"text": "chain:3"},
    "get": {"name": "abm"},
    "gripper": {},
    "guarantee": {"tree": TREE, "order": ABM},
    "guarantee_qdd": {"tree": TREE, "order": ABM},
    "inertial_parameters": {"system": SYSTEM},
    "inverse_dynamics": {"system": SYSTEM, "qdd": np.ones(2), "order": orderings.get("inverse_dynamics")},
    "joined": {"tree": FREE, "body": LAST, "onto": None},
    "joint_space_inertia": {"system": SYSTEM, "order": orderings.get("crbm")},
    "joint_space_inverse": MANY,
    "leaf_to_root": {"structure": STRUCTURE},
    "load": {"spec": "chain:3"},
    "names": {},
    "nested_dissection": {"structure": STRUCTURE},
    "new_tree": {"name": "t"},
    "plan": {"order": ABM, "structure": STRUCTURE},
    "plan_from_arrays": {
        "structure": STRUCTURE,
        "kind": [0, 1, 2] * 2,
        "body": [1] * 3 + [0] * 3,
        "group": [0] * 6,
    },
    "quadruped": {},
    "random_tree": {"n": 3},
    "random_turns": {"n": 3},
    "read_loops": {"path": "none.json", "tree": TREE},
    "read_mjcf": {"path": "none.xml"},
    "read_model": {"path": "none.json"},
    "read_urdf": {"path": "none.urdf"},
    "released": {"tree": TREE, "what": "j2"},
    "rerooted": {"tree": FREE, "body": LAST},
    "rigid": {"system": SYSTEM},
    "search": {"model": TREE, "states": 1, "most": 3},
    "softened": {"loops": [FOOT], "mu": 1e-4},
    "solve_large": {"system": SYSTEM},
    "star": {"n": 3},
    "stewart": {},
    "symbolic": {"plan": PLAN},
    "tilted": {"system": SYSTEM, "turns": EYE},
    "trace": MANY,
    "tree_from_arrays": {"parent": [-1, 0], "mass": 1.0, "inertia": EYE},
    "two_link": {},
    "write_model": {"path": "m.json", "state": SYSTEM.state},
    "Payload": {"body": "j1", "most": 1.0},
    "PivotSequence": {"groups": [[("f", "j1")]]},
    "Rules": {},
}
LATER = {  # what the function itself does not look at, but whoever reads what it makes
    "add_body": {
        "mass",
        "com",
        "inertia",
        "joint",
        "axis",
        "R",
        "p",
        "S",
        "armature",
        "damping",
        "friction",
        "stiffness",
        "rest",
    },
    "cut_joint": {"S"},  # of a general joint
    "joined": {"axis", "S", "rows", "name"},  # of joints that a fixed one is not
}
WITHOUT = {"humanoid", "rr_arm", "named_models"}  # take nothing
OTHERS = {"to_jax", "order"}  # not asked: needs jax; a decorator, whose rules are texts
FOUND = {
    name: getattr(room, name)
    for room, names in ((pt, ["blame", "compare"]), (kkt, kkt.__all__), (orderings, orderings.__all__))
    for name in names
    if inspect.isfunction(getattr(room, name)) or name in ("Payload", "PivotSequence", "Rules")
}
RIGHT = r"; |: give|must|cannot be read|does not exist"
WRONG = {"None": None, "list": [], "rows": [[1], [2, 3]], "int": 3, "text": "xyz", "object": object()}
UNASKED = ("bool", bool, "bool | None", "Callable[[str], None]")  # all that is true or false
ARGUMENTS = [
    (name, argument)
    for name, given in GIVEN.items()
    for argument, parameter in inspect.signature(FOUND[name]).parameters.items()
    if argument in given or parameter.annotation not in UNASKED
]


def test_every_public_function_is_asked():
    assert GIVEN.keys() | WITHOUT | OTHERS == FOUND.keys()
    assert not any(inspect.signature(FOUND[name]).parameters for name in WITHOUT)


@pytest.mark.product
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS, ids=str)
def test_another_kind_of_argument_is_taken_or_refused(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = 0
    for wrong in WRONG.values():
        given = {key: x.copy() if x is TREE else x for key, x in GIVEN[name].items()}
        try:
            FOUND[name](**given | {argument: wrong})
        except kkt.PivotreeError as error:
            refused += 1
            assert re.search(RIGHT, str(error)), error
    assert refused or argument in LATER.get(name, ())
