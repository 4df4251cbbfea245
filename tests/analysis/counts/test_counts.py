"""Operation counts: polynomials against counted tapes, closed costs, and printed numbers."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from designs import covering
from flint import fmpq, fmpq_poly

from pivotree import kkt, orderings
from pivotree.analysis import counts
from pivotree.analysis.counts import FAMILIES, family_of, polynomial, proof
from pivotree.analysis.counts.counting import KINDS, count_robot
from pivotree.analysis.counts.polynomials import fit, fits, largest_root, text_of, through
from pivotree.analysis.states import ranges_of, system_at


def counted_tape(order, system):
    """Operations of a kind in the tape that every number format reads, all unknowns included."""
    tape = kkt.trace(system, orderings.get(order))
    ops = np.concatenate([chunk.op for chunk in tape.chunks()])
    return tape, np.bincount(ops, minlength=5)


# -- polynomials ----------------------------------------------------------------------------------


def test_polynomials_are_exact():
    p = fmpq_poly([-109, fmpq("481/3"), fmpq("23/2"), fmpq("1/6")])
    assert text_of(p) == "1/6 n^3 + 23/2 n^2 + 481/3 n - 109" and text_of(p - p) == "0"
    assert through([(n, p(n)) for n in (2, 5, 7, 11)]) == p
    assert largest_root(fmpq_poly([-6, 11, -6, 1])) == pytest.approx(3, rel=1e-15)
    assert largest_root(fmpq_poly([6, 1])) is None is largest_root(fmpq_poly([6]))


def test_a_fit_needs_counts_to_spare():
    cubic = {n: n**3 - n for n in range(1, 8)}
    assert fit(cubic) == (fmpq_poly([0, -1, 0, 1]), 1)
    assert fit({n: cubic[n] for n in range(1, 7)}) is None  # four used, two to spare
    late = {n: 5 * n if n > 2 else 100 for n in range(1, 9)}
    assert fit(late) == (fmpq_poly([0, 5]), 3)
    assert fit({n: n & (n - 1) for n in range(1, 12)}) is None
    assert fits({n: (n**3 - n, late[n]) for n in range(1, 9)}, ("mul", "add"))[1] == 3  # that of all kinds


# -- scalar counts --------------------------------------------------------------------------------

CHECKED = [
    *(("abm", "dh"), ("crbm", "dh"), ("gain_abm", "planar"), ("square_root_abm", "revolute")),
    *(("virtual_work", "spherical"), ("crbm", "planar"), ("lagrange", "prismatic")),
    *(("crbm_block_row", "dh_whole"), ("virtual_work", "star"), ("abm", "binary")),
]


@cache
def counted(order, family):
    return counts.polynomial(order, family)


@pytest.mark.product
@pytest.mark.parametrize("pair", CHECKED[::2])
def test_polynomials_meet_counts_that_took_no_part(pair):
    """Far beyond the members that were counted for the fit."""
    order, family = pair
    count = counted(order, family)
    n = 127 if family_of(family).doubles else 21
    assert n > 1.5 * max(count.counted)
    total = count_robot(orderings.get(order), family_of(family).system(n)).total
    assert total == tuple(count.polynomials[kind](n) for kind in KINDS)


@pytest.mark.uncached
@pytest.mark.parametrize("pair", covering(CHECKED[:6]))
def test_counts_are_those_of_the_tape(pair):
    order, family = pair
    system = family_of(family).system(4)
    mine = count_robot(orderings.get(order), system)
    tape, ops = counted_tape(order, system)
    assert sum(mine.total) == tape.flops
    # the tape holds pdd and f too
    assert all(x <= y for x, y in zip(mine.total, (ops[2], ops[0] + ops[1], *ops[3:]), strict=True))


@pytest.mark.parametrize("order", covering(["abm", "crbm", "square_root_abm"], unmarked=1))
def test_armature_is_an_addition_a_joint_and_to_rotations_a_row(order):
    plain, geared = (polynomial(order, family) for family in ("revolute", "revolute+armature"))
    assert geared.proof.proved and geared.holds_from == plain.holds_from
    more = {kind: text_of(geared.polynomials[kind] - plain.polynomials[kind]) for kind in KINDS}
    if order == "square_root_abm":
        assert more["div"] == "31 n - 12"
    else:
        assert more == {"mul": "0", "add": "n", "div": "0", "sqrt": "0"}
    system = family_of("revolute+armature").system(4)
    assert sum(count_robot(orderings.get(order), system).total) == counted_tape(order, system)[0].flops
    with pytest.raises(kkt.ModelError, match=r"write revolute\+armature or revolute\+contact"):
        family_of("revolute+springs")


@pytest.mark.parametrize("order", covering(["lambda_first_abm", "abm", "crbm"], unmarked=1))
def test_rows_of_a_contact_are_counted_with_its_multiplier(order):
    """As the tape has them; lambda last is carried by every link, lambda first is a constant."""
    system = family_of("revolute+contact+armature").system(4)
    assert [loop.rows for loop in system.loops] == [3] and system.structure.armature.all()
    made = orderings.get(order)
    assert sum(count_robot(made, system).total) == counted_tape(order, system)[0].flops
    more = {"abm": "243 n - 134", "lambda_first_abm": "96"}  # multiplications, beside a free tip
    if order in more:
        held, free = (polynomial(*x) for x in ((order, "revolute+contact"), ("abm", "revolute")))
        assert text_of(held.polynomials["mul"] - free.polynomials["mul"]) == more[order]


@pytest.mark.parametrize("pair", covering(CHECKED))
def test_these_are_proved(pair):
    count = counted(*pair)
    assert count.proof.proved, count.proof.why_not
    assert count.proved_from == count.holds_from and count.status.startswith("proved")
    assert count.degree <= count.proof.degree
    if count.proof.kind == "repeats":
        slopes = tuple(count.polynomials[kind](1) - count.polynomials[kind](0) for kind in KINDS)
        assert count.proof.segment == slopes
    # below what the proof reaches, every n was counted
    sizes = map(family_of(count.family).size, range(1, 30))
    assert {n for n in sizes if count.holds_from <= n < count.proof.start} <= {*count.counted}


@pytest.mark.product
def test_a_proof_can_fail():
    """A random order, a search, and a chain whose every second link is odd are not proved."""
    count = counts.polynomial("random:3", "dh_whole")
    assert not count.polynomials and count.proved_from is None
    search = counts.polynomial("minimum_degree", "dh")
    assert search.polynomials and search.proved_from is None and "fitted" in search.status

    def odd(n):
        """Every second link is a sliding one: the count still grows, but not by one segment."""
        tree = FAMILIES["revolute"].build(n)
        for k in range(2, n + 1, 2):
            tree.nodes[k]["joint"], tree.nodes[k]["axis"] = "prismatic", (0.0, 0.0, 1.0)
        return tree

    family = replace(FAMILIES["revolute"], build=odd)
    sizes = {n: count_robot(orderings.get("abm"), family.system(n)) for n in range(1, 10)}
    assert not proof.prove(family, sizes).proved


def test_orders_that_halve_are_regular_at_powers_of_two():
    """On 2^h - 1 links nested dissection and cyclic reduction cost the same, and on others not."""
    halving = [orderings.get(order) for order in ("constraint_force", "divide_and_conquer")]
    for n in (7, 12, 15):
        first, second = (count_robot(order, FAMILIES["dh_whole"].system(n)).total for order in halving)
        assert (first == second) == (n != 12)


def test_an_order_that_is_refused_says_why():
    with pytest.raises(kkt.SingularError, match="singular"):
        counts.polynomial("virtual_work", "dh")
    (text,) = counts.table(["virtual_work"], ["dh"])
    assert text.startswith("virtual_work on dh: body") and text.endswith("at step 2")  # no file to change


@pytest.mark.parametrize("spec", ["chain:10", "comb:4", "quadruped", "humanoid"])
def test_composites_played_by_ten_numbers_keep_the_digits(spec):
    system, crbm, digits = kkt.build(kkt.load(spec)), orderings.get("crbm"), []
    for i in range(12):
        state = system_at(system, ranges_of(system), 0, i)
        exact = kkt.certify(state, 20, rounded_to="float32")
        played = [kkt.trace(state, crbm, how) for how in ("counted", "rigid")]
        digits.append([-np.log10(exact.error(kkt.eliminate(state, p, "float32").qdd)) for p in played])
    assert abs(np.subtract(*np.median(digits, axis=0))) < 0.2


# -- published ------------------------------------------------------------------------------------


@pytest.mark.product
def test_crossings_are_those_of_the_counts():
    crbm, abm = (counts.polynomial(order, "dh").polynomials for order in ("crbm", "abm"))
    found = counts.crossings(crbm, abm)
    both = [
        {n: count_robot(orderings.get(o), family_of("dh").system(n)).total for n in (11, 12, 13, 14)}
        for o in ("crbm", "abm")
    ]
    for j, kind in enumerate(("mul", "add")):
        dearer = [n for n in both[0] if both[0][n][j] > both[1][n][j]]
        assert dearer == list(range(found[kind].first, 15))
        assert found[kind].first - 1 <= found[kind].root <= found[kind].first
    crbm, abm = (counts.polynomial(order, "star").polynomials for order in ("crbm", "abm"))
    assert counts.crossings(crbm, abm)["all"].first is None
