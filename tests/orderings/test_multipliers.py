"""Where multipliers stand: the same answer from every place, and not the same digits."""

from dataclasses import replace

import numpy as np
import pytest

from pivotree import analysis, kkt, orderings
from pivotree.kkt.model.specs import from_spec


@pytest.mark.product
@pytest.mark.parametrize("name", orderings.LOOPS)
def test_an_order_that_places_multipliers_solves_the_same_equations(name):
    system = kkt.build(from_spec("quadruped:feet=4,compliance=1e-3"))
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    result = kkt.eliminate(system, orderings.get(name))
    qdd = np.concatenate([x[system.blocks["qdd", body]] for body in system.tree.names])
    assert np.abs(result.qdd - qdd).max() < 1e-9 * np.abs(qdd).max()


@pytest.mark.parametrize("name", orderings.LOOPS)
def test_on_a_tree_it_is_the_order_that_it_comes_from(name):
    structure = kkt.build(kkt.binary(2)).structure
    origin = "crbm" if name == "lambda_first" else "abm"
    groups = orderings.get(name)(structure)
    if name == "lcaba":  # which of the tips goes first is its own
        groups.sort(key=lambda group: structure.tip_to_base.index(group[0][1]))
    assert groups == orderings.get(origin)(structure)


def test_lcaba_leaves_the_body_that_many_loops_tie_for_last():
    """The platform is a tip of the tree, but six legs are tied to it."""
    system = kkt.build(from_spec("stewart"))
    soft = [replace(c.loop, compliance=np.full(3, 1e-4)) for c in system.state.loops]
    system = kkt.build(system.graph, loops=soft)
    bodies = [group[0][1] for group in orderings.get("lcaba")(system.structure)[6:]]
    assert bodies[-1] == "platform" and len(bodies) == 13
    ours, other = (kkt.eliminate(system, orderings.get(name)) for name in ("lcaba", "lambda_first_abm"))
    assert (ours.fill, other.fill) == (30, 60) and ours.flops < other.flops / 3
    assert np.abs(ours.qdd - other.qdd).max() < 1e-8 * np.abs(other.qdd).max()


def test_multipliers_stand_where_the_name_says():
    structure = kkt.build(from_spec("quadruped:feet=2,compliance=1e-3")).structure
    lam = [("lam", c) for c in structure.constraints]
    for name in ("lambda_first", "lambda_first_abm"):
        assert orderings.get(name)(structure)[:2] == [[block] for block in lam]
    early = orderings.get("closed_early")(kkt.build(from_spec("gripper")).structure)
    place = {str(block): i for i, group in enumerate(early) for block in group}
    assert place[str(("lam", "left_pin"))] < place[str(("qdd", "palm"))]
    rigid = kkt.build(from_spec("quadruped:feet=2")).structure
    assert orderings.get("lambda_first")(rigid) == orderings.get("crbm")(rigid)


def test_stiff_contacts_first_absorb_the_robot_in_float32_and_last_they_do_not():
    """J^T D J is added to M: 1e8 beside a few kilograms is all that float32 keeps of the sum."""
    system = kkt.build(from_spec("quadruped:feet=4,compliance=1e-8"))
    orders = ["lambda_first", "lambda_first_abm", "crbm", "abm"]
    rows = {row.order: row for row in analysis.compare(system, orders, ["float32"]).rows}
    for name in ("lambda_first", "lambda_first_abm"):
        assert rows[name].failed_at is not None or rows[name].digits < 1.0
    for name in ("crbm", "abm"):
        assert rows[name].digits > 5.5


@pytest.mark.product
@pytest.mark.parametrize(("spec", "there"), [("gripper", True), ("chain:2", False)])
def test_compare_has_them_where_there_are_loops_and_only_there(spec, there):
    rows = analysis.compare(kkt.build(from_spec(spec)), formats=["float64"]).rows
    assert {row.order for row in rows} & set(orderings.LOOPS) == (set(orderings.LOOPS) if there else set())
