"""An order is taken by its name, as FILE.py:FUNCTION, as a function or as groups, wherever one is taken."""

import matplotlib
import numpy as np
import pytest

import pivotree as pt
from pivotree import analysis, kkt, orderings

TREE = kkt.chain(3)
SYSTEM = kkt.build(TREE)
RNEA = "inverse_dynamics"
TAKING = {  # every public function that takes an order
    "eliminate": lambda o: kkt.eliminate(SYSTEM, o).qdd,
    "trace": lambda o: kkt.trace(SYSTEM, o).flops,
    "plan": lambda o: kkt.plan(o, SYSTEM.structure).blocks,
    "permutation": lambda o: kkt.permutation(SYSTEM, o),
    "factor": lambda o: kkt.factor(SYSTEM, o).L.toarray(),
    "certify": lambda o: kkt.certify(SYSTEM, 10, order=o).decimals(),
    "conditioning": lambda o: kkt.conditioning(SYSTEM, o).kappa,
    "derivatives": lambda o: kkt.derivatives(SYSTEM, o).dq,
    "joint_space_inverse": lambda o: kkt.joint_space_inverse(SYSTEM, o).values,
    "compile": lambda o: kkt.compile(TREE, o)(SYSTEM.state.q, SYSTEM.state.qd, SYSTEM.state.tau),
    "solve_large": lambda o: kkt.solve_large(SYSTEM, o).qdd,
    "guarantee": lambda o: kkt.guarantee(TREE, o).digits,
    "guarantee_qdd": lambda o: kkt.guarantee_qdd(TREE, o).digits,
    "blame": lambda o: pt.blame(SYSTEM, o).sentence,
    "compare": lambda o: pt.compare(SYSTEM, [o], ["float32"]).rows[0].flops,
    "listing": lambda o: analysis.listing.of(SYSTEM, o).holds_on,
    "spy": lambda o: pt.spy(SYSTEM, o).get_title(),
}


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("orders") / "mine.py"
    path.write_text(
        "def abm(structure):\n"
        '    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]\n'
    )
    return f"{path}:abm"


@pytest.mark.parametrize("name", sorted(TAKING))
def test_a_name_and_a_file_are_the_order(name, mine):
    take = TAKING[name]
    right = take(orderings.get("abm"))
    for given in ("abm", mine):
        assert np.array_equal(take(given), right)
    with pytest.raises(kkt.OrderError, match="order 'ABN' is unknown; nearest: abm"):
        take("ABN")


def test_every_public_function_that_takes_an_order_is_here():
    import inspect

    own = {"inverse_dynamics": "tau", "joint_space_inertia": "crbm"}  # take orders of another kind
    faces = {name: getattr(pt, name) for name in dir(pt) if callable(getattr(pt, name))}
    taking = {
        name
        for name, function in faces.items()
        if inspect.isfunction(function)
        and {"order", "orders", "tape"} & set(inspect.signature(function).parameters)
    }
    assert taking - {*TAKING, *own} <= {"search", "to_jax", "symbolic", "closed_form"}, taking
    assert np.array_equal(
        kkt.joint_space_inertia(SYSTEM, "crbm"), kkt.joint_space_inertia(SYSTEM, orderings.get("crbm"))
    )
    tau = [kkt.inverse_dynamics(SYSTEM, np.ones(3), o).tau for o in (RNEA, orderings.get(RNEA))]
    assert np.array_equal(*tau)


def test_the_picture_stands_in_the_axes_that_are_given():
    figure = matplotlib.figure.Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    for ax, name, told in ((left, "abm", "ABM: 2 blocks"), (right, "crbm", "CRBM: 6 blocks")):
        assert pt.spy(SYSTEM, name, ax=ax) is ax
        assert ax.get_title().startswith(told)
    assert figure.axes == [left, right]
    drawn = [sum(len(boxes.get_paths()) for boxes in ax.collections) for ax in (left, right)]
    assert drawn[1] == drawn[0] + 2 * 4 + 3  # fill, its mirror images, and frames of three groups more
    assert "after" not in pt.spy(SYSTEM, "abm", 0).get_title()
    with pytest.raises(kkt.OrderError, match="order 'abm': has no step 9; use 0 to 3"):
        pt.spy(SYSTEM, "abm", 9)
