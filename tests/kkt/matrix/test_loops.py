"""Closed loops and contacts as rows and multipliers of equation (4): every order solves it."""

import json

import mpmath
import numpy as np
import pytest
from helpers import bracketed
from mechanisms import SYSTEMS, bar, closed_early, crossed, four_bar, off, system_q, tape_of

from pivotree import analysis, kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.solution import refine

ORDERS = orderings.names()


@pytest.fixture(scope="module", params=SYSTEMS, ids=lambda name: name.replace(" ", "_"))
def solved(request):
    """A system and LAPACK's solution of its matrix, by block."""
    system = SYSTEMS[request.param]()
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    return system, {tuple(block): x[where] for block, where in system.blocks.items()}


@pytest.mark.product
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_whole_links_agrees_with_a_dense_solve(solved, order):
    system, exact = solved
    result = kkt.eliminate(system, orderings.get(order))
    assert result.failed_at is None
    assert off(result, system, exact) <= 1e-9


def test_the_matrix_is_symmetric_and_its_multipliers_come_last(solved):
    system, _ = solved
    K, structure = system.matrix.toarray(), system.structure
    bare = kkt.build(system.graph, system.graph.graph.get("q"), layout=system.layout, loops=()).size
    assert (K == K.T).all() and system.size == len(K) == len(system.rhs)
    last = [block for block, where in system.blocks.items() if where.start >= bare]
    assert last == [("lam", name) for name in structure.constraints]
    assert system.blocks.size == len(K)


def test_one_bracket_of_all_multipliers_and_one_after_another(solved):
    system, exact = solved
    names = system.structure.constraints
    together = [*bracketed(system.structure), [("lam", c) for c in names]]
    backwards = [*bracketed(system.structure), *([("lam", c)] for c in names[::-1])]
    for order in (together, backwards):
        assert off(kkt.eliminate(system, order), system, exact) <= 1e-9


@pytest.mark.product
@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work", "random:3"])
def test_certified_answers_agree_with_mpmath(order):
    system = bar()
    with mpmath.workdps(60):
        K = mpmath.matrix([[mpmath.mpf(float(x)) for x in row] for row in system.matrix.toarray()])
        x = mpmath.lu_solve(K, mpmath.matrix([mpmath.mpf(float(b)) for b in system.rhs]))
        right = [x[system.blocks["qdd", b].start] for b in system.tree.names]
        found = kkt.certify(system, 40, tape=kkt.trace(system, orderings.get(order)))
        same = kkt.certify(system, 40, tape=tape_of(system, order), rounded_to="float64")
        for text, value in zip(same.decimals(), right, strict=True):
            assert abs(mpmath.mpf(text) - value) <= mpmath.mpf(10) ** -38 * abs(value)
    assert found.digits == 40


def test_fractions_solve_the_equations_exactly():
    from fractions import Fraction

    from pivotree.kkt.matrix.entries import assemble
    from pivotree.kkt.proof.residual import residual
    from pivotree.kkt.tape.run import run_objects

    tree, q, qd, loop = four_bar(1.0, 2.0, rows=None, compliance=0.01)
    system = kkt.build(tree, q, qd, loops=[loop])
    entries = assemble(system.state, Fraction)
    solution, _, _ = run_objects(tape_of(system, "abm"), entries, Fraction)
    rows = residual(system, entries, solution)
    assert ("lam", "pin") in rows and all((row == 0).all() for row in rows.values())


@pytest.mark.product
@pytest.mark.parametrize("format", ["float32", "bfloat16", "dd", "exact", "mp:30", "ball:30"])
def test_number_formats(format):
    system = bar()
    exact = kkt.certify(system, 30)
    result = kkt.eliminate(system, orderings.get("abm"), format)
    bound = {"float32": 1e-5, "bfloat16": 0.2}.get(format, 1e-14)
    assert (
        exact.error(
            np.array([float(x.mid() if format[0] == "b" and ":" in format else x) for x in result.qdd])
        )
        <= bound
    )


@pytest.mark.product
@pytest.mark.parametrize("residual", ["dynamics", "equations"])
@pytest.mark.parametrize("order", ["abm", "crbm", "lagrange"])
def test_refinement_sees_the_rows_of_loops(order, residual):
    system = crossed(2)
    exact = kkt.certify(system, 30, rounded_to="float32")
    tape = tape_of(system, order)
    first = kkt.eliminate(system, tape, "float32")
    better = kkt.eliminate(system, tape, "float32", refine=2, residual=residual)
    assert exact.error(better.qdd) <= max(2e-7, exact.error(first.qdd))
    long = kkt.eliminate(system, tape, "float64", refine=1, residual=residual)
    assert long.refinement.corrections[0] < 1e-12
    assert np.allclose(long.lam, better.lam, rtol=1e-4, atol=1e-4 * np.abs(long.lam).max())


@pytest.mark.parametrize("residual", ["dynamics", "equations"])
def test_the_first_correction_of_nothing_is_the_solution(residual):
    tree, q, qd, _ = four_bar(1.0, 2.0)
    for given in ({}, {"rows": None, "compliance": 0.01}):
        system = kkt.build(tree, q, qd, [1.0, 2.0, 3.0], loops=[four_bar(1.0, **given)[3]])
        tape = tape_of(system, "crbm")
        right = kkt.eliminate(system, tape)
        loop = refine.Corrections(system, tape, get_format("float64"), residual)
        shapes = (right.pdd.shape, right.qdd.shape, right.f.shape, right.lam.shape)
        nothing = refine.Answer(*map(np.zeros, shapes))
        found, _ = loop.correction(loop.defect(nothing))
        assert np.allclose(found.qdd, right.qdd, rtol=0, atol=1e-12 * np.abs(right.qdd).max())
        assert np.allclose(found.lam, right.lam, rtol=0, atol=1e-12 * np.abs(right.lam).max())
        left = loop.defect(refine.Answer(right.pdd, right.qdd, right.f, right.lam))
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


@pytest.mark.product
@pytest.mark.parametrize("spec", ["closed chain", "one cross link", "three cross links"])
def test_multipliers_as_soon_as_their_loop_is_closed(spec):
    system = SYSTEMS[spec]()
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    exact = {tuple(b): x[where] for b, where in system.blocks.items()}
    assert off(kkt.eliminate(system, closed_early), system, exact) <= 1e-9


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
    assert np.allclose(kkt.eliminate(system, two).qdd, kkt.eliminate(system, closed_early).qdd)


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([[("lam", "pn")]], r"names the unknown loop 'pn'; nearest: pin"),
        ([[("lam", "pin")], [("lam", "pin")]], r"eliminates lam_pin twice"),
    ],
)
def test_an_order_that_names_multipliers_wrongly(groups, told):
    system = bar()
    with pytest.raises(kkt.OrderError, match=told):
        kkt.plan([*bracketed(system.structure), *groups], system.structure)


def test_an_order_in_a_json_file_names_multipliers(tmp_path):
    system = crossed(1)
    groups = [[[kind, str(b)] for kind, b in group] for group in closed_early(system.structure)]
    path = tmp_path / "early.json"
    path.write_text(json.dumps(groups))
    ours = kkt.eliminate(system, orderings.get(str(path)))
    assert (ours.qdd == kkt.eliminate(system, closed_early).qdd).all()


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


@pytest.mark.product
def test_compare_blame_and_figures(tmp_path):
    system = bar()
    found = analysis.compare(system, formats=["float32"])
    assert {row.order for row in found.rows} >= set(ORDERS)
    assert all(row.failed_at is None and row.error < 1e-5 for row in found.rows)
    culprits = analysis.blame(system, orderings.get("lagrange"), "float32")
    assert culprits.ratio == pytest.approx(1.0, abs=1e-6)
    from pivotree.analysis.figures import save_spy

    for order in ("abm", "virtual_work"):
        factor = kkt.symbolic(kkt.plan(orderings.get(order), system.structure))
        for step in (0, 2, None):
            save_spy(factor, tmp_path / "spy.png", step=step)


def test_pictures_name_the_multipliers():
    from pivotree.analysis.figures.labels import Labels
    from pivotree.analysis.figures.state import block_state

    system = bar()
    factor = kkt.symbolic(kkt.plan(orderings.get("abm"), system.structure))
    labels = Labels(block_state(factor, 0))
    last = len(factor.plan.blocks) - 1
    assert labels.unknown(last) == r"\lambda_{1}"
    assert labels.cell(last, 0) == "-G_{1,1}" and labels.cell(0, last) == "-G_{1,1}^{*}"
    assert labels.cell(last, last) == "0"


def test_what_takes_trees_only_says_so():
    with pytest.raises(kkt.PivotreeError, match=r"'pin'") as told:
        kkt.inverse_dynamics(bar(), np.zeros(3), orderings.get("inverse_dynamics"))
    assert "\n" not in str(told.value)
