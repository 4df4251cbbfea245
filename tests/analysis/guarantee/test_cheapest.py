"""Formats by role: operands that are rounded count, and the cheapest assignment is found."""

import itertools
import json

import numpy as np
import pytest
from designs import covering

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.guarantee import by_role, cheapest, guarantee, pivot_errors
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem.roundings import roundings, unit_of

ABM = orderings.get("abm")
BY_ROLE = (
    "float32+mul=p22",
    "float32+add=p22",
    "p22+mul=float64+add=float64",
    "float32+div=p21",
    "float32+D=p21",
    "float64+operands=p22",
    "p22+add=float64",
)


def link():
    """A body that turns about an axis that is none of its frame: D = H M H*."""
    tree = kkt.chain(1)
    for _, data in tree.nodes(data=True):
        data.update(axis=np.array([0.8, 0.6, 0.0]), com=np.zeros(3), inertia=np.eye(3))
    return kkt.build(tree)


@pytest.mark.product
def test_operands_that_are_rounded_count():
    """Two products after one another: 6 u are promised, and more is seen than the 2 u of results"""
    system = link()
    order = TracedOrder(kkt.trace(system, ABM), system)
    draw = np.random.default_rng(0)
    values = order.values(system) * draw.uniform(1.0, 1.5, (8000, 1))
    values = values * draw.uniform(1.0, 1.1, values.shape)
    u, chosen = 2.0**-12, get_format("float64+mul=p12")
    seen = pivot_errors(order, values, chosen).max()
    assert 2.5 * u < seen <= 2.0 * unit_of(chosen) <= 6.01 * u


def test_a_format_of_one_part_is_counted_as_it_was():
    tape = kkt.trace(kkt.build(kkt.chain(3)), ABM)
    plain, same = roundings(tape), roundings(tape, get_format("float32"))
    for name in ("gathered", "product", "pivot", "inner", "frame", "beside", "before", "last"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(same, name))
    assert plain.frame.max() > 1.0 and (plain.frame == np.round(plain.frame)).all()
    assert all(own.path(7) == 7.0 and own.divided == own.most == 1.0 for own in plain.costs)


@pytest.mark.parametrize("name,order", covering(BY_ROLE, ["abm", "gain_abm"], unmarked=1))
def test_no_state_is_further_off_than_proved(name, order):
    """Where a joint has several freedoms, abm has a promise of its pivots, and gain_abm says why none."""
    for tree in (kkt.chain(3), kkt.load("quadruped", floating=True), kkt.star(2, joint="spherical")):
        (row,) = guarantee(tree, [order], [name], states=3)
        if order == "gain_abm" and tree.graph["name"] == "star_2":
            assert "several freedoms" in row.bound.why
            continue
        assert not row.bound.why and 0.0 < row.error < row.bound.pivot.max() < 1.0
        if tree.graph["name"] != "star_2":
            assert not row.qdd.bound.why and (row.qdd.joint < row.qdd.bound.joint).all()


@pytest.mark.product
def test_the_cheapest_is_the_first_that_keeps_the_digits():
    """Every assignment that costs less, but for those that a longer one rules out, misses."""
    tree, digits = kkt.chain(2), 5.0
    found = cheapest(tree, digits, ["float64", "float32"])
    assert found.found.digits >= digits
    promised = kkt.guarantee(tree, ABM, found.found.format)
    assert promised.digits == found.found.pivots >= digits
    assert found.alone[0].format == "float32" and found.alone[0].digits < digits
    assert found.alone[0].cost < found.found.cost < found.alone[1].cost
    for roles in itertools.product(("float32", "float64"), repeat=3):
        name = "float32+add={}+mul={}+div={}".format(*roles)
        keeps = min(kkt.guarantee(tree, ABM, name).digits, kkt.guarantee_qdd(tree, ABM, name).digits)
        if roles[0] == roles[1] == "float32":
            assert keeps < digits


@pytest.mark.product
def test_payloads_in_a_range_count(capsys):
    """Fewer digits are kept than without, of pivots and of qdd."""
    given = ["guarantee", "chain:2", "--digits", "3.2", "--formats", "float32,p20", "--states", "5"]
    assert main([*given, "--payload", "j2=0:5", "--json"]) == 0
    chosen = json.loads(capsys.readouterr().out)["chosen"]
    alone = kkt.guarantee(kkt.chain(2), ABM, chosen["format"])
    assert 3.2 <= chosen["pivots"] < alone.digits
    assert 3.2 <= chosen["qdd"] < kkt.guarantee_qdd(kkt.chain(2), ABM, chosen["format"]).digits
    assert main([*given, "--payload", "j2=0:5"]) == 0
    assert "3.2 digits of pivots and qdd in every state" in capsys.readouterr().out


def test_what_has_no_bound_says_why():
    other = kkt.guarantee(kkt.chain(2), orderings.get("crbm"), BY_ROLE[0])
    assert other.why == "formats by role are proved for abm and gain_abm alone, not for crbm"


def test_operands_of_products_are_named_where_they_are_shorter():
    """Else a cost would be that of other formats than those that are promised."""
    parts = [get_format(x) for x in ("p22", "p24", "p24", "p22", "p22", "p22")]
    assert by_role(tuple(parts)).name == "p22+add=p24+mul=p24+operands=p22"
    longer = get_format("p24")
    assert by_role((*parts[:-1], longer)).name == "p22+add=p24+mul=p24"


def test_formats_are_chosen_for_gain_abm_too(capsys):
    given = ["--digits", "3", "--orders", "gain_abm", "--states", "5", "--json"]
    assert main(["guarantee", "chain:2", *given]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["chosen"]["order"] == "gain_abm" == found["rows"][0]["order"]
