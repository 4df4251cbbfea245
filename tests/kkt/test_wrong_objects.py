"""A tree in the place of a system, a name in that of a tree, True in that of a number: a sentence.

Each sentence says what was given, and what makes of it what is wanted.
"""

import numpy as np
import pytest

import pivotree as pt
from pivotree.kkt.machine.forward_dynamics import system_to_trace

TREE = pt.chain(3)
BUILT = pt.build(TREE)
ABM = pt.orderings.get("abm")
POINTS = [pt.contact("j3", (0.1, 0.0, 0.0))]

OF_A_SYSTEM = {
    "adjoint_derivatives": lambda x: pt.adjoint_derivatives(x, ABM, np.ones(3)),
    "aligned": pt.aligned,
    "certify": lambda x: pt.certify(x, 20),
    "compare": pt.compare,
    "conditioning": pt.conditioning,
    "delassus_matrix": lambda x: pt.delassus_matrix(x, ABM, POINTS),
    "derivatives": lambda x: pt.derivatives(x, ABM),
    "directional_derivatives": lambda x: pt.directional_derivatives(x, ABM, np.ones(3)),
    "eliminate": lambda x: pt.eliminate(x, ABM),
    "inertial_parameters": pt.inertial_parameters,
    "inverse_dynamics": lambda x: pt.inverse_dynamics(x, np.zeros(3), ABM),
    "joint_space_inertia": lambda x: pt.joint_space_inertia(x, ABM),
    "joint_space_inverse": lambda x: pt.joint_space_inverse(x, ABM),
    "rigid": pt.rigid,
    "solve_large": pt.solve_large,
    "tilted": lambda x: pt.tilted(x, np.eye(3)),
    "trace": lambda x: pt.trace(x, ABM),
}


@pytest.mark.parametrize("name", OF_A_SYSTEM)
@pytest.mark.parametrize(
    ("given", "right"),
    [
        (TREE, "system: DiGraph is none; pass build(...) of a tree"),
        (pt.compile_tree(TREE), "system: BodyTree is none; pass build(...) of a tree"),
        ("chain:3", "system: str is none; pass build(load(...))"),
    ],
    ids=["tree", "arrays", "name"],
)
def test_what_is_no_system(name, given, right):
    with pytest.raises(pt.ModelError) as error:
        OF_A_SYSTEM[name](given)
    assert str(error.value) == right


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda: pt.symbolic(ABM), "plan: function is none; pass plan(order, system.structure)"),
        (lambda: pt.column_counts(TREE), "plan: DiGraph is none; pass plan("),
        (lambda: pt.plan(ABM, BUILT), "structure: System is none; pass build(...).structure"),
        (lambda: pt.nested_dissection(TREE), "structure: DiGraph is none; pass build("),
        (lambda: pt.leaf_to_root(BUILT), "structure: System is none; pass build("),
        (lambda: pt.write_model("chain:3", "a.json"), "write_model: str is no state; give a path"),
        (lambda: pt.write_model("a.json", BUILT), "write_model: System is no state; give a path"),
        (lambda: pt.softened(BUILT, 1e-4), "proximal: System is no loop or contact; give"),
        (lambda: pt.softened("pin", 1e-4), "proximal: str is no loop or contact; give"),
        (lambda: pt.random_turns(TREE), "random_turns: n is <networkx"),
        (lambda: pt.guarantee(pt.compile_tree(TREE), ABM), "tree: a networkx.DiGraph is expected"),
        (lambda: pt.guarantee_qdd("chain:3", ABM), "tree 'chain:3': is a name; pass load('chain"),
        (lambda: pt.fixed_point(BUILT, ABM), "tree: a networkx.DiGraph is expected, not System"),
    ],
)
def test_what_is_another_thing(call, right, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pt.PivotreeError) as error:
        call()
    assert right in str(error.value) and "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [True, False, np.True_, [True]])
@pytest.mark.parametrize("field", ["mass", "armature", "damping", "friction", "stiffness", "rest"])
def test_a_truth_value_is_no_number(field, value):
    tree = pt.new_tree("flag")
    pt.add_body(tree, "a", **{"mass": 1.0, field: value})
    with pytest.raises(pt.ModelError, match=f"body 'a': field '{field}' (is|has)"):
        pt.compile_tree(tree)


def test_of_several_wrong_arguments_the_first_is_told():
    """Whatever order they are given in, and whatever the hashes of names are in this process."""
    with pytest.raises(pt.ModelError, match=r"chain: n is 1\.5; give a whole number"):
        pt.chain(mass="m", length="l", axes=4, joint=3, n=1.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.chain(), r"chain\(\) missing 1 required positional argument: 'n'"),
        (lambda: pt.chain(3, 4, bodies=5), r"chain\(\) got an unexpected keyword argument"),
    ],
)
def test_a_call_with_other_arguments_names_the_function(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_a_loop_that_no_program_follows_is_told_of_what_was_called():
    turning = pt.cut_joint(None, "j3", "prismatic", baumgarte=(1.0, 1.0), rows=(0, 2))
    with pytest.warns(pt.LoopWarning):
        system = pt.build(TREE, loops=[turning])
    for what in ("compile", "to_jax"):
        with pytest.raises(pt.LoopError, match=f"^{what}: loop 'world-j3' has a gain on the turn"):
            system_to_trace(system, what=what)
