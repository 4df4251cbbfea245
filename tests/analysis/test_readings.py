"""Readings: programs' frames keep the answer, round more of it, and are told in a sentence."""

import numpy as np
import pytest
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis import readings
from pivotree.kkt import FormatError, LoopError, ModelError
from pivotree.kkt.matrix.frames import PLACES

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
    with pytest.raises(LoopError, match="written in their bodies' own frames"):
        kkt.gathered(system_of("four_bar"))
    with pytest.raises(ModelError, match="gathered: at is 'moon'; give one of com"):
        kkt.gathered(system_of("chain:2"), "moon")
    with pytest.raises(FormatError, match="'dd': readings change frames in float64"):
        readings.compare_as(system_of("chain:2"), ["mjx"], ["dd"])


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
        assert [line.startswith("RBDL, ForwardDynamics forms both triangles") for line in told] == [
            True
        ] * lost


def test_the_sentence_that_the_page_quotes():
    (told,) = readings.advice(readings.compare_as(system_of("humanoid"), ["mjx"]))
    page = " ".join((ROOT / "docs" / "readings.md").read_text(encoding="utf-8").replace("> ", "").split())
    assert told in page
