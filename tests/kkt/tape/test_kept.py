"""An order is traced once on a system, for all its states; what is kept is bounded."""

import copy
import pickle

import numpy as np
import pytest
from helpers import every_joint

from pivotree import kkt, orderings
from pivotree.kkt.tape import trace as tracing


@pytest.mark.uncached
def test_an_order_is_traced_once_for_all_states():
    system, abm = kkt.build(kkt.chain(5)), orderings.get("abm")
    tape = kkt.trace(system, abm)
    moved = system.refresh(q=np.full(5, 0.2))
    assert kkt.trace(system, abm) is tape and kkt.trace(moved, abm) is tape
    # a list of groups that says the same under the same name is the same order
    groups = [list(group) for group in abm(system.structure)]
    same = kkt.PivotSequence(groups, abm.name, abm.source, abm.rules)
    assert kkt.trace(system, same) is tape
    # another bracket, another switch, other composites: other tapes
    others = [kkt.PivotSequence(groups, abm.name, abm.source, kkt.Rules(rank_update="gain"))]
    others += [kkt.PivotSequence(groups, "mine", abm.source, abm.rules), orderings.get("bad_abm")]
    tapes = [kkt.trace(system, order) for order in others] + [kkt.trace(system, abm, "rigid")]
    assert len({id(x) for x in (tape, *tapes)}) == 5
    # another system, or another pattern, keeps its own
    assert kkt.trace(kkt.build(kkt.chain(5)), abm) is not tape


def test_an_order_that_says_something_else_is_traced_again():
    """What is kept is kept by what an order says of the structure, not by the function."""
    system, turn = kkt.build(kkt.star(4)), []

    def fickle(structure):
        turn.append(1)
        bodies = sorted(structure.tip_to_base[:-1], reverse=len(turn) > 1) + structure.tip_to_base[-1:]
        return [[("pdd", k), ("qdd", k), ("f", k)] for k in bodies]

    first, second = kkt.trace(system, fickle), kkt.trace(system, fickle)
    assert first is not second
    assert first.program.symbolic.plan.sequence.groups != second.program.symbolic.plan.sequence.groups


def test_a_state_that_the_kept_tape_cannot_read_has_its_own():
    """A general joint that leaves its zeros has another pattern; split forces follow the axes."""
    system = kkt.build(kkt.default_state(every_joint()))
    order = orderings.get("virtual_work")
    for q in (system.state.q + 0.3, system.state.q):
        other = system.refresh(q=q)
        tape = kkt.trace(other, order)
        tape.require(other)
        plain = kkt.eliminate(kkt.build(system.graph, q=q), order)
        assert np.array_equal(kkt.eliminate(other, order).qdd, plain.qdd)


def test_what_is_kept_is_bounded_and_does_not_travel(monkeypatch):
    system = kkt.build(kkt.chain(4))
    longest = kkt.trace(system, orderings.get("crbm")).length
    monkeypatch.setattr(tracing, "KEPT", 3 * longest)
    tapes = {f"random:{seed}": kkt.trace(system, orderings.get(f"random:{seed}")) for seed in range(12)}
    held = system.plans["tapes, by order"].values()
    assert 1 <= len(held) < 12 and sum(tape.length for tape in held) <= 3 * longest
    assert kkt.trace(system, orderings.get("random:11")) is tapes["random:11"]
    assert not pickle.loads(pickle.dumps(system)).plans and not copy.copy(system).plans


def test_blocks_that_are_lists_are_traced_every_time():
    system = kkt.build(kkt.chain(2))
    groups = [[["pdd", k], ["qdd", k], ["f", k]] for k in system.structure.tip_to_base]
    assert np.array_equal(kkt.eliminate(system, groups).qdd, kkt.eliminate(system, orderings.get("abm")).qdd)
