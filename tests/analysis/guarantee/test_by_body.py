"""Formats by body: every pivot keeps its own bound."""

import numpy as np
import pytest
from designs import covering

from pivotree import kkt, orderings
from pivotree.analysis.guarantee import guarantee
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem.guarantee import evaluated
from pivotree.kkt.theorem.ranges import ranges_of
from pivotree.kkt.theorem.roundings import roundings, unit_of

ABM = orderings.get("abm")
KINDS = ("float64", "float32", "p20", "p22+add=float32", "float32+D=p21")


def errors_by_pivot(system, tape, name, states):
    """(P,) the largest errors of pivots over states, and (P,) what is proved of each."""
    chosen, ranges = get_format(name), ranges_of(system)
    bound, _ = evaluated(system, system, tape, chosen, ranges)
    order, slots = TracedOrder(tape, system), tape.pivot_places[2]
    body = [tape.program.pivots[i].blocks[0].body for i in tape.pivot_places[1]]
    off = np.zeros(len(slots))
    for number in range(states):
        draw = np.random.default_rng(number)
        here = kkt.build(system.graph, q=draw.uniform(-3, 3, int(system.tree.offset[-1])))
        values = chosen.cast(order.values(here)[None])
        (found,) = order.found(chosen, values, slots)
        (exact,) = order.found(get_format("dd"), values, slots)
        apart = np.abs((found - exact.real) - exact.imag) / np.abs(exact.real)
        off = np.maximum(off, apart[0])
    return off, bound.pivot[[system.structure.index[b] for b in body]], bound


ROBOTS = ["chain:2", "star:3", "quadruped"]


@pytest.mark.parametrize("robot,order", covering(ROBOTS, ["abm", "gain_abm"], unmarked=1))
def test_no_pivot_is_further_off_than_its_own_bound(robot, order):
    tree = kkt.load(robot)
    system = kkt.build(tree)
    tape, draw = kkt.trace(system, orderings.get(order)), np.random.default_rng(1)
    promised = 0
    for _ in range(3):
        rule, *own = draw.choice(KINDS, size=system.tree.n + 1)
        name = rule + "".join(f"@{k}={x}" for k, x in zip(system.tree.names, own, strict=True))
        off, proved, bound = errors_by_pivot(system, tape, name, 3)
        promised += not bound.why
        assert (off <= proved).all() and np.isfinite(off).all()
        (row,) = guarantee(tree, [order], [name], states=3)
        assert row.qdd.bound.why or (row.qdd.joint < row.qdd.bound.joint).all()
    assert promised


def test_a_promise_that_knows_no_bodies_is_broken():
    """What float64 is promised does not hold where one body has fewer bits: they are noticed."""
    system = kkt.build(kkt.chain(3))
    tape = kkt.trace(system, ABM)
    off, _, _ = errors_by_pivot(system, tape, "float64@j2=p12", 3)
    _, proved, _ = errors_by_pivot(system, tape, "float64", 1)
    assert off.max() > 1e6 * proved.max()


def test_numbers_that_enter_a_shorter_body_are_rounded_there():
    """A sum of M_k and what a child of float64 hands on: the operand, and the result."""
    system = kkt.build(kkt.chain(2))
    tape, parent = kkt.trace(system, ABM), 0
    assert list(system.tree.names)[parent] == "j1"
    alike, shorter = "p20@j1=p20@j2=p20", "p20@j1=p20@j2=float64"
    unit, wider = unit_of(get_format(alike)), unit_of(get_format(shorter))
    assert wider == pytest.approx(3.0 * unit, rel=1e-6)
    alike, shorter = (roundings(tape, get_format(x)) for x in (alike, shorter))
    twice = 2.0 * unit * alike.gathered[parent].max()
    assert wider * shorter.gathered[parent].max() == pytest.approx(twice, rel=1e-6)
    assert shorter.costs[parent].entered > 0.0 and shorter.costs[1].entered == 0.0
    assert shorter.frame[1].max() < 1e-6 * alike.frame[1].max()


def test_a_body_of_data_that_are_longer_rounds_them_at_every_operation():
    system = kkt.build(kkt.chain(2))
    tape = kkt.trace(system, ABM)
    long, short = (roundings(tape, get_format(f"{x}@j1=p20")) for x in ("float64", "p20"))
    assert long.costs[0].operand.min() > 0.0 == short.costs[0].operand.max()
    assert long.costs[1].operand.max() == 0.0
