"""The search for a cheap order where multipliers have places, too."""

import json
from itertools import product

import pytest

from pivotree import kkt, orderings
from pivotree.orderings.cheapest.bound_of_loops import added_by_loops
from pivotree.orderings.cheapest.multipliers import CLOSED, FIRST, LAST, placed
from pivotree.orderings.cheapest.operations import Meter
from pivotree.orderings.cheapest.places import every

pytestmark = pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")


def robot(soft=0.0):
    """An arm of two joints and a finger, their tips on the ground."""
    tree = kkt.chain(2, axes="zy", length=0.5)
    kkt.add_body(
        tree,
        "finger",
        "j1",
        mass=0.5,
        com=(0.1, 0, 0),
        inertia=[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
        p=(0, 0.3, 0.1),
        axis=(0, 1, 0),
    )
    kkt.default_state(tree)
    loops = [
        kkt.contact("j2", (0.5, 0.1, 0), compliance=soft, name="tip"),
        kkt.contact("finger", (0.2, 0, 0.1), (1, 0, 0), compliance=soft, name="touch"),
    ]
    return kkt.build(tree, loops=loops)


@pytest.mark.product
@pytest.mark.parametrize("soft", [0.0, 0.1])
@pytest.mark.parametrize("composites", ["general", "rigid"])
def test_the_winner_costs_what_its_tape_costs_and_no_order_of_the_family_is_below_the_bound(soft, composites):
    system = robot(soft)
    found = orderings.search(system, composites=composites)
    assert found.cost == kkt.trace(system, found.sequence, composites).flops
    for name in ("abm", "crbm", "closed_early", "lambda_first", "lambda_first_abm"):
        assert found.cost <= kkt.trace(system, orderings.get(name), composites).flops
    structure, meter = system.structure, Meter(system, composites)
    places = (FIRST, CLOSED, LAST) if soft else (CLOSED, LAST)
    least = found.cost
    for at in every(structure):
        sequence = at.sequence(structure, found.sequence.rules)[0]
        for where in product(places, repeat=2):
            order = placed(sequence, structure, dict(zip(structure.constraints, where, strict=True)))
            least = min(least, int(meter.groups(order).sum()))
    assert found.bound <= least <= found.cost <= 1.1 * least and not found.exact


@pytest.mark.product
@pytest.mark.parametrize(
    "model", ["four_bar", "gripper", "stewart", "quadruped:feet=3,compliance=0.1", "robot"]
)
def test_loops_add_no_less_than_the_bound_says(model):
    """Of orders whose tree is in the family, on planar mechanisms, in space and in the air."""
    system = robot() if model == "robot" else kkt.build(kkt.load(model))
    bare = kkt.build(system.graph, loops=())
    for composites in ("general", "rigid"):
        least = added_by_loops(system.structure, Meter(system, composites).inputs)
        assert least > 0
        for name in ("abm", "gain_abm", "crbm", "closed_early", "lambda_first", "lambda_first_abm"):
            order = orderings.get(name)
            with_loops = kkt.trace(system, order, composites).flops
            assert least <= with_loops - kkt.trace(bare, order, composites).flops


def test_the_bound_counts_what_every_order_does_of_a_loop():
    """A point of a slide held along it: one row, one joint; the quotient and the product."""
    tree = kkt.new_tree("slide")
    kkt.add_body(
        tree, "slide", mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], joint="prismatic", axis=(0, 0, 1)
    )
    system = kkt.build(tree, loops=[kkt.contact("slide", (0.1, 0.0, 0.0))])
    assert added_by_loops(system.structure, Meter(system, "general").inputs) == 1


@pytest.mark.product
def test_soft_multipliers_go_first_and_come_back_from_a_file(tmp_path):
    system = kkt.build(kkt.load("quadruped:feet=1,compliance=1"))
    found = orderings.search(system, most=5)
    assert found.sequence.groups[0] == [("lam", system.structure.constraints[0])]
    path = tmp_path / "order.json"
    path.write_text(json.dumps(found.as_json()))
    order = orderings.get(str(path))
    assert kkt.trace(system, order).flops == found.cost
    result = kkt.eliminate(system, order)
    assert kkt.certify(system).error(result.qdd) < 1e-12


@pytest.mark.product
def test_contacts_are_measured_in_random_states():
    found = orderings.search(robot(), "digits", states=2)
    assert 1e-9 < found.cost < 1e-4


@pytest.mark.product
def test_closed_loops_are_measured_in_their_own_state():
    system = kkt.build(kkt.load("four_bar"))
    found = orderings.search(system, "digits", states=3)
    errors = kkt.certify(system, rounded_to="float32")
    result = kkt.eliminate(system, found.sequence, "float32")
    assert errors.error(result.qdd) == found.cost
