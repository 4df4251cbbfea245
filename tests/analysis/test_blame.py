"""Blame: contributions of all operations add up to the true error, and name what caused it."""

import numpy as np
import pytest
from designs import listed
from helpers import system_of, tape_of

from pivotree import analysis, kkt
from pivotree.analysis.rounding.blame import Culprits
from pivotree.analysis.rounding.formulas import Formulas
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.rounding.contributions import linearised

ABM_LIKE = ("abm", "bad_abm", "modified_abm", "virtual_work")
TREES = [f"random_tree:n={5 + seed},seed={seed}" for seed in range(20)]
SPECS = listed(["ur5", "anymal_c_ff", "baxter", "panda", *TREES[:5]], unmarked=1)
SPECS += [pytest.param(spec, marks=pytest.mark.soak) for spec in ("chain_100", "random_64", *TREES[5:])]
ABSORBED = "example3:m1=1e7.5,case=1"


@pytest.mark.parametrize("spec", SPECS)
def test_explained_is_the_true_float32_error(spec):
    """Within 1 % for ABM-like orders and 5 % for crbm, against the certified answer."""
    system = system_of(spec)
    exact = kkt.certify(system, 30, rounded_to="float32")
    scale = exact.size
    for order in (*ABM_LIKE, "crbm"):
        tape = tape_of(spec, order)
        pair = linearised(tape, system.entries, get_format("float32"))
        slots = [s for block in exact.blocks for s in tape.solution[block][:, 0].tolist()]
        computed = kkt.eliminate(system, tape, "float32", records=False).qdd
        true = exact.differences(computed)
        worst = int(np.abs(true).argmax())
        explained = float(pair.swept({slots[worst]: 1.0})[0].sum())
        allowed = 0.05 if order == "crbm" else 0.01
        assert abs(explained - true[worst]) <= allowed * abs(true[worst]), order
        assert abs(true[worst]) / scale == pytest.approx(exact.error(computed), rel=1e-6)


@pytest.mark.product
@pytest.mark.parametrize("format", ["float64", "p11", "bfloat16:zero", "p9:stochastic:1"])
def test_other_formats(format):
    """A shadow of twice the digits: double-double for float64, float64 for shorter formats."""
    found = analysis.blame(system_of("chain:8"), "abm", format)
    assert found.ratio == pytest.approx(1.0, abs=1e-6)
    assert found.shadow == ("dd" if format == "float64" else "float64")


@pytest.mark.uncached
@pytest.mark.parametrize("order", ["crbm", "bad_abm"])
def test_the_absorbed_mass_is_named_first(order):
    """m1 = 10^7.5 swallows M_2, so that the pivot D_2 = 1 becomes 0 and qdd says nothing."""
    found = analysis.blame(system_of(ABSORBED), order)
    assert found.ratio is None and found.explained is None
    assert "pivot qdd_2" in found.why and "became zero" in found.why
    first = found.top[0]
    assert first.formula == "M_2 + Phi_21 M_1 Phi_21^T"
    assert first.entry == (6, 6) and first.body == 2
    assert first.share == pytest.approx(1.0, abs=1e-6)
    assert "M_2 + Phi_21 M_1 Phi_21^T, entry (6,6), body 2: 100 % of the error" in found.sentence


def test_shares_add_up_in_every_grouping():
    system, tape = system_of("random_tree:n=9,seed=4"), tape_of("random_tree:n=9,seed=4", "crbm")
    exact = kkt.certify(system, 30, rounded_to="float32")
    slot = int(tape.solution[exact.blocks[0]][0, 0])
    pair = linearised(tape, system.entries, get_format("float32"))
    culprits = Culprits(tape, pair.swept({slot: 1.0})[0])
    everything = 10**6
    for kind in ("top", "blocks", "pivots", "bodies"):
        shares = [c.share for c in getattr(culprits, kind)(everything)]
        assert sum(shares) == pytest.approx(1.0, abs=1e-9)
        assert [abs(s) for s in shares] == sorted((abs(s) for s in shares), reverse=True)


def test_contributions_are_what_an_exact_operation_would_save():
    """Where one rounding is all: 20000006 + 1 becomes 20000008, D_2 = 2, and qdd_1 is half off."""
    spec = "example3:m1=20000006,case=1"
    system, tape = system_of(spec), tape_of(spec, "crbm")
    exact = kkt.certify(system, 30, rounded_to="float32")
    format = get_format("float32")
    pair = linearised(tape, system.entries, format)
    slot = int(tape.solution[exact.blocks[0]][0, 0])
    found = pair.swept({slot: 1.0})[0]
    worst = int(np.abs(found).argmax())
    before, after = pair.output(slot), _run_with_one_exact(tape, system, worst, slot)
    assert abs(found[worst]) > 400.0
    assert before - after == pytest.approx(found[worst], rel=1e-6)


def _run_with_one_exact(tape, system, which, slot):
    """float32, but one operation's result kept in float64, where its rounding is far smaller."""
    from pivotree.kkt.tape.player import started

    v = started(tape, system.entries, get_format("float32")).astype(float)
    at = 0
    operate = (np.add, np.subtract, np.multiply, np.divide)
    for chunk in tape.chunks():
        for op, d, a, b in zip(*(c.tolist() for c in chunk[:4]), strict=True):
            r = operate[op](v[a], v[b])
            v[d] = r if at == which else np.float32(r)
            at += 1
    return float(np.sign(slot) * v[abs(slot)])


def test_overflow_is_named():
    """float16 holds m1 = 60000, but not its square, which crbm's factor forms."""
    found = analysis.blame(system_of("example3:m1=60000,case=1"), "crbm", "float16")
    assert found.ratio is None and "not a number" in found.why
    (first,) = found.top
    assert first.share == 1.0 and first.formula.startswith("LDL^T")


def formulas_of(order):
    system, tape = system_of("example1:q1=1"), tape_of("example1:q1=1", order)
    return Formulas(tape.program, system.tree.names, system.tree.parent), tape


def test_formulas_are_those_of_the_papers():
    """Ascher 1996, equations (5) to (7), from the program alone."""
    formulas, tape = formulas_of("abm")
    texts = {}
    for k, instruction in enumerate(tape.program.instructions):
        name = formulas._named.get(instruction.out)
        texts.setdefault(name, []).append(formulas.instruction(k))
    assert "M_2 + Phi_21 Mbar_1 Phi_21^T" in texts["M^_2"]
    assert "M_1 H_1^T D_1^-1 H_1 M_1 - M_1" in texts["-Mbar_1"]
    assert "-a_2 - H_2^T qdd_2" in texts["pdd_2"]
    assert any(t.startswith("D_2^-1 (tau_2 - H_2 ") for t in texts["qdd_2"])


def test_formulas_of_rotations():
    """square_root_abm in its own letters; the sign of a sum is not taken out of it."""
    formulas, tape = formulas_of("square_root_abm")
    texts = [formulas.instruction(k) for k in range(len(tape.program.instructions))]
    assert "G_1 Phi_21^T" in texts and "z_1 + G_1 a_1" in texts
    assert "X_1 C_1^T (-Phi_21^T pdd_2 + a_1)" in texts
    assert any(t.startswith("D_2^-1 (tau_2 - H_2 ") and t.endswith(")") for t in texts)


# -- command line ---------------------------------------------------------------------------------


def test_several_freedoms_are_outputs_of_their_own():
    system = system_of("anymal_c_ff")
    free = next(b for b, d in zip(system.tree.names, system.tree.dof, strict=True) if d == 6)
    found = analysis.blame(system, "abm", output=f"{free}[4]")
    assert found.output == f"qdd_{free}[4]" and found.ratio == pytest.approx(1.0, abs=0.01)
