"""Every public function with something of another kind in the place of each argument, in turn.

It is taken, or refused by an error of the project: no TypeError from within.
"""

import inspect
import re
from inspect import Parameter, signature

import numpy as np
import pytest

import pivotree as pt
from pivotree import kkt, orderings

TREE = kkt.chain(2)
SYSTEM = kkt.build(TREE)
ABM = orderings.get("abm")
FOOT = kkt.contact("j2", (0.1, 0.0, 0.0))
GIVEN = {  # what an argument without a default is given, by its name
    "tree": TREE,
    "model": TREE,
    "system": SYSTEM,
    "state": SYSTEM.state,
    "structure": SYSTEM.structure,
    "order": ABM,
    "plan": kkt.plan(ABM, SYSTEM.structure),
    "groups": [[("f", "j1")]],
    **dict.fromkeys(["n", "depth", "bodies"], 3),
    **dict.fromkeys(["mass", "most", "mu"], 1.0),
    **dict.fromkeys(["spec", "text"], "chain:3"),
    **dict.fromkeys(["name", "path"], "abm"),
    **dict.fromkeys(["body", "second", "what"], "j2"),
    "points": [FOOT],
    "loops": [FOOT],
    "qdd": np.ones(2),
    "first": "j1",
    "point": (0.0, 0.0, 0.0),
    "turns": np.eye(3),
    "parent": [-1, 0],
    "kind": [0, 1, 2] * 2,
    "group": [0] * 6,
    "found": None,
}
OWN = {  # what a function is given beside these, or in their place
    "certify": {"digits": 5},
    "compare": {"orders": ["abm"], "formats": ["float32"]},
    "coupled_joints": {"to": "j1"},
    "inverse_dynamics": {"order": orderings.get("inverse_dynamics")},
    "joint_space_inertia": {"order": orderings.get("crbm")},
    "plan_from_arrays": {"body": [1] * 3 + [0] * 3},
    "search": {"most": 3},
    "tree_from_arrays": {"inertia": np.eye(3)},
}
TERMS = "armature damping friction stiffness rest"
LATER = {  # what the function itself does not look at, but whoever reads what it makes
    "add_body": {*f"mass com inertia joint axis R p S {TERMS}".split()},
    "cut_joint": {"S"},  # of a general joint
}
OTHERS = {"to_jax", "order", "varied"}  # not asked: needs jax; rules of these are texts
FOUND = {
    name: getattr(room, name)
    for room, names in (
        (pt, ["blame", "compare", "search"]),
        (kkt, kkt.__all__),
        (orderings, orderings.__all__),
    )
    for name in names
    if inspect.isfunction(getattr(room, name)) or name in ("PivotSequence", "Rules")
}
RIGHT = r"; |: give|must|cannot be read|does not exist"
WRONG = {"None": None, "list": [], "rows": [[1], [2, 3]], "int": 3, "text": "xyz", "object": object()}
UNASKED = ("bool", bool, "bool | None", "Callable[[str], None]")  # all that is true or false
ASKED = {
    name: {
        **{key: GIVEN[key] for key, x in signature(call).parameters.items() if x.default is Parameter.empty},
        **OWN.get(name, {}),
    }
    for name, call in FOUND.items()
    if name not in OTHERS
}
ARGUMENTS = [
    (name, argument)
    for name, given in ASKED.items()
    for argument, parameter in signature(FOUND[name]).parameters.items()
    if argument in given or parameter.annotation not in UNASKED
]


@pytest.mark.product
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS, ids=str)
def test_another_kind_of_argument_is_taken_or_refused(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = 0
    for wrong in WRONG.values():
        given = {key: x.copy() if x is TREE else x for key, x in ASKED[name].items()}
        try:
            FOUND[name](**given | {argument: wrong})
        except kkt.PivotreeError as error:
            refused += 1
            assert re.search(RIGHT, str(error)), error
    assert refused or argument in LATER.get(name, ())
