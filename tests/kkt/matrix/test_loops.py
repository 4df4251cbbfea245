"""Closed loops and contacts as rows and multipliers of equation (4): every order solves it."""

from fractions import Fraction

import numpy as np
import pytest
from designs import covering, listed
from helpers import bracketed
from mechanisms import SYSTEMS, bar, built, crossed, four_bar, off, rod, system_q, tape_of

from pivotree import analysis, kkt, orderings
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.state import block_state
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.entries import assemble
from pivotree.kkt.proof.soundness import residual as rows_left
from pivotree.kkt.solution import refine
from pivotree.kkt.tape.player import run

ORDERS = orderings.names(loops=True)


@pytest.fixture(scope="module", params=listed(SYSTEMS))
def solved(request):
    """A system and LAPACK's solution of its matrix, by block."""
    system = SYSTEMS[request.param]()
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    return system, {tuple(block): x[where] for block, where in system.blocks.items()}


@pytest.mark.parametrize(("solved", "order"), covering(SYSTEMS, ORDERS), indirect=["solved"])
def test_every_order_of_whole_links_agrees_with_a_dense_solve(solved, order):
    system, exact = solved
    result = kkt.eliminate(system, orderings.get(order))
    assert result.failed_at is None
    assert off(result, system, exact) <= 1e-9


def test_the_matrix_is_symmetric_and_its_multipliers_come_last(solved):
    system, _ = solved
    K, structure = system.matrix.toarray(), system.structure
    bare = kkt.build(system.graph, system.graph.graph.get("q"), loops=()).size
    assert (K == K.T).all() and system.size == len(K) == len(system.rhs)
    last = [block for block, where in system.blocks.items() if where.start >= bare]
    assert last == [("lam", name) for name in structure.constraints]
    assert max(at.stop for at in system.blocks.values()) == len(K)


def test_one_bracket_of_all_multipliers_and_one_after_another(solved):
    system, exact = solved
    names = system.structure.constraints
    together = [*bracketed(system.structure), [("lam", c) for c in names]]
    backwards = [*bracketed(system.structure), *([("lam", c)] for c in names[::-1])]
    for order in (together, backwards):
        assert off(kkt.eliminate(system, order), system, exact) <= 1e-9


def test_fractions_solve_the_equations_exactly():
    tree, q, qd, loop = four_bar(1.0, 2.0, rows=None, compliance=0.01)
    system = kkt.build(tree, q, qd, loops=[loop])
    entries = assemble(system.state, Fraction)
    solution, _, _ = run(tape_of(system, "abm"), entries, Fraction)
    rows = rows_left(system, entries, solution)
    assert ("lam", "pin") in rows and all((row == 0).all() for row in rows.values())


@pytest.mark.parametrize("format", listed(["float32", "exact", "dd", "bfloat16", "mp:30", "ball:30"]))
def test_number_formats(format):
    system = bar()
    exact = kkt.certify(system, 30)
    result = kkt.eliminate(system, orderings.get("abm"), format)
    bound = {"float32": 1e-5, "bfloat16": 0.2}.get(format, 1e-14)
    qdd = [x.mid() for x in result.qdd] if format == "ball:30" else result.qdd
    assert exact.error(np.array([float(x) for x in qdd])) <= bound


@pytest.mark.parametrize("residual", ["dynamics", "equations"])
def test_the_first_correction_of_nothing_is_the_solution(residual):
    tree, q, qd, _ = four_bar(1.0, 2.0)
    for given in ({}, {"rows": None, "compliance": 0.01}):
        system = kkt.build(tree, q, qd, [1.0, 2.0, 3.0], loops=[four_bar(1.0, **given)[3]])
        tape = tape_of(system, "crbm")
        right = kkt.eliminate(system, tape)
        loop = refine.Corrections(system, tape, get_format("float64"), residual)
        nothing = right.unknowns._make(map(np.zeros_like, right.unknowns))
        found, _ = loop.correction(loop.defect(nothing))
        assert np.allclose(found.qdd, right.qdd, rtol=0, atol=1e-12 * np.abs(right.qdd).max())
        assert np.allclose(found.lam, right.lam, rtol=0, atol=1e-12 * np.abs(right.lam).max())
        left = loop.defect(right.unknowns)
        assert np.abs(left.qdd).max() <= 1e-12 * np.abs(right.f).max()
        assert np.abs(left.lam).max() <= 1e-12 * np.abs(right.qdd).max()


@pytest.mark.uncached
def test_records_name_the_multipliers():
    system = crossed(2)
    exact = kkt.certify(system, 30, rounded_to="float32")
    steps = kkt.eliminate(system, orderings.get("abm"), "float32", reference=exact).steps
    assert [s.blocks for s in steps[-2:]] == [(("lam", 1),), (("lam", 3),)]
    assert all(len(s.pivots) == 3 and s.error < 1e-4 and s.flops > 0 for s in steps[-2:])
    assert all(d < 0 for s in steps[-2:] for d in s.pivots)  # -G M^-1 G*
    assert sum(s.fill_blocks for s in steps) == kkt.eliminate(system, orderings.get("abm")).fill


def test_the_joint_space_inertia_stands_before_the_multipliers():
    system = crossed(1)
    bare = kkt.build(system.graph, system_q(system), loops=())
    crbm = orderings.get("crbm")
    assert (kkt.joint_space_inertia(system, crbm) == kkt.joint_space_inertia(bare, crbm)).all()


def test_condition_numbers_leave_out_what_the_loops_hold():
    system = bar()
    found = kkt.conditioning(system)
    assert found.held == 2 and found.kappa_inertia == 1.0  # one degree of freedom is left
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert np.linalg.matrix_rank(found.inverse_inertia, tol=1e-9) == 1


# -- where multipliers may stand ------------------------------------------------------------------


def test_before_that_they_are_refused_with_the_joints_that_are_missing():
    system = bar()
    structure, pin = system.structure, ("lam", "pin")
    assert structure.closing("pin") == "rocker" and structure.tied("pin") == ["coupler", "rocker"]
    coupler, crank, rocker = bracketed(structure)
    with pytest.raises(kkt.OrderError, match=r"lam_pin at step 1 is structurally zero; eliminate "):
        kkt.eliminate(system, [[pin], coupler, crank, rocker])
    with pytest.raises(
        kkt.OrderError,
        match=r"lam_pin at step 2 is structurally singular \(rank 1 of 2\); eliminate qdd_crank "
        r"and 1 more of its loop's joints first, or leave it out",
    ):
        kkt.eliminate(system, [coupler, [pin], crank, rocker])
    two = [coupler, crank, [pin], rocker]  # two joints hold two rows
    assert np.allclose(kkt.eliminate(system, two).qdd, kkt.eliminate(system, "closed_early").qdd)


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([[("lam", "pn")]], r"names the unknown loop 'pn'; did you mean pin"),
        ([[("lam", "pin")], [("lam", "pin")]], r"eliminates lam_pin twice"),
    ],
)
def test_an_order_that_names_multipliers_wrongly(groups, told):
    system = bar()
    with pytest.raises(kkt.OrderError, match=told):
        kkt.plan([*bracketed(system.structure), *groups], system.structure)


# -- trees as data, other states, other readers ---------------------------------------------------


def test_loops_stand_in_the_tree_or_are_given():
    tree, q, qd, loop = four_bar(1.0, 2.0)
    given = kkt.build(tree, q, qd, loops=[loop])
    tree.graph["loops"] = [loop]
    assert (kkt.build(tree, q, qd).matrix != given.matrix).nnz == 0
    assert kkt.build(tree, q, qd, loops=()).structure.constraints == ()


def test_another_state_shares_pattern_and_tape():
    tree, q, qd, loop = four_bar(1.0, 2.0)
    system = kkt.build(tree, q, qd, loops=[loop])
    _, there, rate, _ = four_bar(2.0, -1.0)
    moved, fresh = system.refresh(there, rate), kkt.build(tree, there, rate, loops=[loop])
    assert moved.pattern is system.pattern
    assert (moved.matrix != fresh.matrix).nnz == 0 and (moved.rhs == fresh.rhs).all()
    tape = tape_of(system, "abm")
    assert (kkt.eliminate(moved, tape).qdd == kkt.eliminate(fresh, tape).qdd).all()
    with pytest.raises(kkt.OrderError, match="traced on another tree"):
        kkt.eliminate(kkt.build(tree, q, qd), tape)


def test_blame_follows_multipliers():
    culprits = analysis.blame(bar(), orderings.get("lagrange"), "float32")
    assert culprits.ratio == pytest.approx(1.0, abs=1e-6)


def test_pictures_name_the_multipliers():
    system = bar()
    factor = kkt.symbolic(kkt.plan(orderings.get("abm"), system.structure))
    labels = Labels(block_state(factor, 0))
    last = len(factor.plan.blocks) - 1
    assert labels.unknown(last) == r"\lambda_{1}"
    assert labels.cell(last, 0) == "-G_{1,1}" and labels.cell(0, last) == "-G_{1,1}^{*}"
    assert labels.cell(last, last) == "0"


# -- what they cost -------------------------------------------------------------------------------


def hand(n, fingers):
    """A chain of n links whose tip carries fingers, each with one point on the ground."""
    tree, tip, loops, inertia = kkt.new_tree("hand"), None, [], np.diag([1.0, 2.0, 2.5])
    link = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": inertia, "axis": (1, 2, 3), "p": (0.3, 0.2, 0.1)}
    for j in range(n):
        kkt.add_body(tree, j, tip, **link)
        tip = j
    for i in range(fingers):
        kkt.add_body(tree, f"finger {i}", tip, **link | {"mass": 0.1, "joint": "spherical"})
        loops.append(kkt.contact(f"finger {i}", (0.2, 0.1, 0.3)))
    return built(tree, loops)


def counted(system, order="abm"):
    tape = kkt.trace(system, orderings.get(order) if isinstance(order, str) else order)
    return tape.program.symbolic.fill_blocks, tape.flops


@pytest.mark.parametrize("fingers", listed([1, 3], unmarked=1))
def test_linear_in_the_bodies_for_a_fixed_number_of_loops(fingers):
    """Ascher, Pai & Cloutier 1996, section 2: O(N), "only for a fixed number of closed loops"."""
    fill, flops = np.array([counted(hand(n, fingers)) for n in range(3, 7)]).T
    assert set(np.diff(fill)) == {1 + 2 * fingers}  # qdd_k with pdd_p; lam with qdd_k and pdd_k
    assert len(set(np.diff(flops))) == 1


@pytest.mark.parametrize("order", listed(["abm", "crbm"], unmarked=1))
def test_cubic_in_the_number_of_loops(order):
    fill, flops = np.array([counted(hand(5, k), order) for k in range(1, 7)]).T
    assert set(np.diff(fill, n=2)) == {1}  # every two multipliers meet
    assert set(np.diff(flops, n=3)) == {3}  # k^3 / 2: a product, a quotient and a difference each


@pytest.mark.product
def test_loops_that_are_closed_early_cost_the_same_each():
    """Every link carries two fingers that hold each other: linear, where carrying all is not."""

    def chain_of_loops(n):
        tree, up, loops, skew = kkt.new_tree("loops"), None, [], {"axis": (1, 2, 3)}
        for j in range(n):
            kkt.add_body(tree, j, up, p=(1, 0.1, 0.2), **(rod(1.0, 1.0) | skew))
            for side in "ab":
                kkt.add_body(tree, (j, side), j, p=(1, 0, 0.1), **(rod(0.5, 0.3) | skew))
            pad = kkt.contact((j, "a"), (0.5, 0, 0), (0, 1, 0), on=(j, "b"))
            loops.append(pad)
            up = j
        return built(tree, loops)

    systems = [chain_of_loops(n) for n in range(2, 7)]
    early, late = (np.array([counted(s, o) for s in systems]).T for o in ("closed_early", "abm"))
    assert len(set(np.diff(early[0])[1:])) == 1 and len(set(np.diff(early[1])[1:])) == 1
    assert (np.diff(late[0], n=2) > 0).all() and (np.diff(late[1], n=2) > 0).all()
