"""Readings: programs' frames keep the answer, round more of it, and are told in a sentence."""

import re

import numpy as np
import pytest
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis import readings
from pivotree.analysis.readings.readings import of_order
from pivotree.analysis.rounding import linearised
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt import FormatError, LoopError, ModelError
from pivotree.kkt.machine.frames import PLACES

TREES = ("chain:4", "quadruped", "random_tree:n=7,seed=3")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("spec", TREES)
def test_the_answer_stays_where_frames_change(spec, place):
    system = system_of(spec)
    moved = kkt.gathered(system, place)
    inner = system.tree.parent >= 0
    assert place == "directions" or (moved.entries.Phi[inner] == np.eye(6)).all()
    assert not np.array_equal(moved.entries.M, system.entries.M)
    expected = kkt.certify(system, digits=20)
    for order in ("abm", "crbm"):
        assert expected.error(kkt.eliminate(moved, orderings.get(order)).qdd) < 1e-9


def test_what_frames_do_not_take_is_refused():
    with pytest.raises(LoopError, match="moves no closed loops or contacts"):
        kkt.gathered(system_of("four_bar"))
    with pytest.raises(ModelError, match="gathered: at is 'moon'; give one of com"):
        kkt.gathered(system_of("chain:2"), "moon")
    with pytest.raises(FormatError, match="'dd': readings change frames in float64"):
        readings.compare_as(system_of("chain:2"), "mjx", "dd")


def test_a_chain_far_from_the_origin_loses_what_its_frames_round():
    found = readings.compare_as(system_of("chain:12"), ["newton", "pinocchio"])
    digits = {row.order: row.digits for row in found.rows}
    assert list(digits) == ["newton", "pinocchio", "crbm", "abm"]
    assert digits["newton"] < digits["crbm"] - 0.5 and digits["pinocchio"] == digits["abm"]
    (told,) = readings.advice(found)
    assert told.startswith("Newton, SolverFeatherstone writes inertias and axes about the world's origin")
    assert f"{digits['newton']:.1f} digits" in told and f"{digits['crbm']:.1f} in each body's own" in told


def test_a_program_that_forms_both_triangles_is_told_on_long_chains_alone():
    for spec, lost in (("chain:50", True), ("humanoid", False)):
        found = readings.compare_as(system_of(spec), ["rbdl", "pinocchio"])
        digits = {row.order: row.digits for row in found.rows}
        told = readings.advice(found)
        assert digits["pinocchio"] == digits["abm"] and (digits["rbdl"] < digits["abm"] - 2) is lost
        assert [x.startswith("RBDL, ForwardDynamics forms both triangles") for x in told] == [True] * lost
        blamed = readings.fault(readings.get("rbdl"), system_of(spec)).sentence
        assert ("With one triangle of its inertias formed, and mirrored, the same order" in blamed) is lost


def test_the_sentences_that_the_page_quotes():
    (told,) = readings.advice(readings.compare_as(system_of("humanoid"), "mjx", "float32"))
    blamed = readings.fault(readings.get("mjx"), system_of("humanoid")).sentence
    page = " ".join((ROOT / "docs" / "readings.md").read_text(encoding="utf-8").replace("> ", "").split())
    assert told in page and blamed in page


def test_a_fault_s_shares_are_parts_of_the_error_that_is_there():
    """Rounding of the data by its derivatives, and operations by blame's, are the error of a program."""
    system, float32 = system_of("random_tree:n=7,seed=3"), kkt.arithmetic.get_format("float32")
    own, tape = readings.get("newton").traced(system)
    order, exact = TracedOrder(tape, own), kkt.certify(system, digits=30)
    pair = linearised(tape, own.entries, float32)
    slot = int(order.qdd[-1])
    operations, adjoint = pair.swept({slot: 1.0})
    values = order.values(own)
    data = adjoint[np.abs(order.places)] * np.sign(order.places) * (float32.cast(values) - values)
    off = pair.output(slot) - float(exact.qdd[-1].mid())
    assert operations.sum() + data.sum() == pytest.approx(off, rel=1e-2)
    found = readings.fault(readings.get("newton"), system_of("chain:12"))
    shares = [part.share for part in found.parts]
    assert shares == sorted(shares, reverse=True) and 0.0 < sum(shares) <= 1.0
    assert max(found.instead.values()) > found.digits + 0.5
    assert f"keeps {found.digits:.1f} digits in this state" in found.sentence
    eleven = readings.fault(readings.get("newton"), system_of("chain:11")).sentence  # 4.54 and 6.77
    first, last = map(float, re.findall(r"keeps (\d+\.\d) digits", eleven))
    assert eleven.endswith(f": {last - first:.1f} more.")
    assert found.sentence.endswith(" more.") and found.parts[0].body in found.sentence
    none = readings.fault(of_order("crbm", "float32"), system_of("example3:m1=1e8"))
    assert "In other frames no more" in readings.fault(readings.get("rbdl"), system_of("chain:2")).sentence
    assert "has no answer in this state: pivot qdd_2, step 4: zero" in none.sentence and not none.parts
    with pytest.raises(FormatError, match="'mp:30': readings change frames in float64"):
        readings.fault(readings.get("mjx"), system, "mp:30")
