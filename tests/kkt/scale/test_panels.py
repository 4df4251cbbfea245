"""Panels, for orders whose groups are of too many kinds to be traced, beside the tape."""

import dataclasses

import numpy as np
import pytest
from test_any_order import SYSTEMS, same_as_the_tape

from pivotree import kkt, orderings
from pivotree.kkt.scale import front_solve, numeric, schedule, waiting
from pivotree.kkt.scale.numeric import Analysis, analyse

ON_PANELS = (  # orders that are sent there where a tree is large, and abm
    "abm",
    "crbm",
    "natural",
    "virtual_work",
    "virtual_work_split",
    "constraint_force",
    "divide_and_conquer",
)
# brackets of several coupled pairs, or of single blocks alone, whose inverse panels form otherwise
OTHER_BRACKETS = ("crbm_block_row", "base_to_tip")


@pytest.fixture
def panels(monkeypatch):
    """No kind of group is few enough to be traced."""
    monkeypatch.setattr(front_solve, "MOST_OPERATIONS", 0)


@pytest.mark.thorough
@pytest.mark.parametrize("name", OTHER_BRACKETS)
def test_other_brackets_differ_on_panels_by_what_rounding_leaves(panels, name):
    """x - y is K^-1 of what the two leave of (4): at most n units of ||K|| ||x|| in every row."""
    system = SYSTEMS["all joints"]
    solution = kkt.solve_large(system, orderings.get(name))
    tape = kkt.eliminate(system, orderings.get(name), records=False)
    K, x = system.matrix.toarray(), solution.unknowns
    left = len(x) * 2.0**-53 * np.linalg.norm(K, np.inf) * np.abs(x).max()
    bound = 2 * left * np.abs(np.linalg.inv(K)).sum(axis=1)
    of_tape = np.concatenate([tape.pdd.ravel(), tape.qdd, tape.f.ravel()])
    assert (np.abs(x - of_tape) <= bound).all()


@pytest.mark.thorough
@pytest.mark.parametrize("apart", [False, True], ids=["one", "subtrees"])
@pytest.mark.parametrize("tree", SYSTEMS)
@pytest.mark.parametrize("name", ON_PANELS)
def test_no_bit_differs_on_panels(panels, monkeypatch, tree, name, apart):
    """Brackets, pairs, single blocks, the joints that end an order, the way back, and all sums."""
    monkeypatch.setattr(numeric, "bodywise", lambda plan: None)
    if apart:
        monkeypatch.setattr(schedule, "ENOUGH", 0.0)
    system, order = SYSTEMS[tree], orderings.get(name)
    assert isinstance(analyse(kkt.plan(order, system.structure)), Analysis)
    same_as_the_tape(system, order)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["virtual_work", "constraint_force", "divide_and_conquer"])
def test_sums_of_branches_are_added_up_where_they_meet(panels, name):
    """On a tree with forks some updates wait apart; with them all in the panels, bits differ."""
    system, order = kkt.build(kkt.random_tree(60, seed=2, joints="revolute")), orderings.get(name)
    found = analyse(kkt.plan(order, system.structure))
    wait = found.layout.waiting
    assert 0 < wait.several.sum() < 0.3 * len(wait.several) and len(wait.added)
    same_as_the_tape(system, order)
    split, layout = found.schedule, found.layout
    at_once = waiting.at_once(len(layout.size), len(split.task))
    one_by_one = dataclasses.replace(found, layout=layout._replace(waiting=at_once))
    other, own = (kkt.solve_large(system, way) for way in (one_by_one, found))
    assert not np.array_equal(other.unknowns, own.unknowns)
    assert np.abs(other.unknowns - own.unknowns).max() < 1e-9 * np.abs(own.unknowns).max()
