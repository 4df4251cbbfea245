"""Where multipliers stand: the same answer from every place, and not the same digits."""

import json

import numpy as np
import pytest
from designs import listed
from helpers import ROOT
from mechanisms import differential, geared

from pivotree import analysis, kkt, orderings
from pivotree.kkt.model.load import from_spec

pytestmark = pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")


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
    tree = from_spec("stewart")
    system = kkt.build(tree, loops=kkt.softened(tree.graph["loops"], 1e-4))
    bodies = [group[0][1] for group in orderings.get("lcaba")(system.structure)[6:]]
    assert bodies[-1] == "platform" and len(bodies) == 13
    ours, other = (kkt.eliminate(system, orderings.get(name)) for name in ("lcaba", "lambda_first_abm"))
    assert (ours.fill, other.fill) == (30, 60) and ours.flops < other.flops / 3
    assert np.abs(ours.qdd - other.qdd).max() < 1e-8 * np.abs(other.qdd).max()


MADE = {f"an arm of {n} geared links": lambda n=n: geared(n) for n in (6, 12)}
MADE |= {"a differential on an arm": differential}
MADE |= {f"`{spec}`": lambda spec=spec: from_spec(spec) for spec in ("four_bar", "gripper", "stewart")}


@pytest.mark.parametrize("name", MADE)
def test_clusters_have_the_answer_of_the_others_and_cost_what_the_page_says(name):
    """In fractions, to the last digit; a differential's cluster is what its motors move."""
    system = kkt.build(MADE[name]())
    if system.tree.n < 13:
        found = [kkt.eliminate(system, order, "exact") for order in orderings.LOOPS]
        assert all((one.qdd == found[0].qdd).all() and (one.lam == found[0].lam).all() for one in found)
    if name == "a differential on an arm":
        groups = [{k for _, k in group} for group in orderings.get("clusters")(system.structure)]
        assert groups[0] == {"tool"} and groups[-1] == {"base"}
        assert groups[-2] == {*system.structure.names, *system.structure.constraints} - {"tool", "base"}
    orders = map(orderings.get, ("clusters", "closed_early", "abm", "crbm"))
    cells = [name, system.tree.n, *(kkt.trace(system, order).flops for order in orders)]
    page = (ROOT / "docs" / "loops.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(map(str, cells))} |" in page or name == "`four_bar`"


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


@pytest.mark.parametrize(("spec", "there"), listed([("chain:2", False), ("four_bar", True)], unmarked=1))
def test_compare_has_them_where_there_are_loops_and_only_there(spec, there):
    rows = analysis.compare(kkt.build(from_spec(spec)), formats=["float64"]).rows
    assert {row.order for row in rows} & set(orderings.LOOPS) == (set(orderings.LOOPS) if there else set())


# -- the search for their places ------------------------------------------------------------------


def robot(soft=0.0):
    """An arm of two joints and a finger, their tips on the ground."""
    tree = kkt.chain(2, axes="zy", length=0.5)
    finger = {"mass": 0.5, "com": (0.1, 0, 0), "inertia": 0.1 * np.eye(3), "axis": (0, 1, 0)}
    kkt.add_body(tree, "finger", "j1", p=(0, 0.3, 0.1), **finger)
    kkt.default_state(tree)
    loops = [
        kkt.contact("j2", (0.5, 0.1, 0), compliance=soft, name="tip"),
        kkt.contact("finger", (0.2, 0, 0.1), (1, 0, 0), compliance=soft, name="touch"),
    ]
    return kkt.build(tree, loops=loops)


@pytest.mark.parametrize(("soft", "composites"), listed([(0.0, "rigid"), (0.1, "general")], unmarked=1))
def test_the_winner_costs_what_its_tape_costs_and_no_more_than_known_orders(soft, composites):
    system = robot(soft)
    found = analysis.search(system, composites=composites)
    assert found.cost == kkt.trace(system, found.sequence, composites).flops
    for name in ("abm", "crbm", "closed_early", "lambda_first", "lambda_first_abm"):
        assert found.cost <= kkt.trace(system, orderings.get(name), composites).flops


@pytest.mark.product
def test_soft_multipliers_go_first_and_come_back_from_a_file(tmp_path):
    system = kkt.build(kkt.load("quadruped:feet=1,compliance=1"))
    found = analysis.search(system, most=5)
    assert found.sequence.groups[0] == [("lam", system.structure.constraints[0])]
    path = tmp_path / "order.json"
    path.write_text(json.dumps(found.as_json()))
    order = orderings.get(str(path))
    assert kkt.trace(system, order).flops == found.cost
    result = kkt.eliminate(system, order)
    assert kkt.certify(system).error(result.qdd) < 1e-12
