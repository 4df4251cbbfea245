"""``compare --derivatives``: digits of gradients, held against what was not read from a float."""

import json

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.comparison.gradients import compare_derivatives


@pytest.mark.slow
def test_errors_are_those_against_40_digits():
    system = kkt.build(kkt.chain(3), qd=[1.0, -0.5, 0.25])
    exact = kkt.derivatives(system, orderings.get("abm"), "mp:40")
    for row in compare_derivatives(system, ["abm", "crbm"], ["float32"]):
        found = kkt.derivatives(system, orderings.get(row.order), "float32")
        for name in ("qdd", "dq", "dqd", "dtau"):
            x, y = (np.array(getattr(one, name), dtype=float) for one in (found, exact))
            wanted = np.abs(x - y).max() / np.abs(y).max()
            assert row.errors[name] == pytest.approx(wanted, rel=1e-6) and wanted > 0.0


@pytest.mark.slow
def test_the_command_tells_digits_and_what_has_none(capsys):
    asked = ["compare", "chain:3", "--derivatives", "--formats", "float32", "--json"]
    assert main([*asked, "--orders", "abm,square_root_abm"]) == 0
    abm, rotated = json.loads(capsys.readouterr().out)["rows"]
    assert 6.0 < abm["digits"]["dq"] <= 7.3 and abm["refused"] is None
    assert rotated["digits"] == {} and "rotations" in rotated["refused"]


def test_states_are_refused_in_one_sentence(capfd):
    assert main(["compare", "chain:3", "--derivatives", "--states", "5"]) == 2
    error = capfd.readouterr().err
    assert error.startswith("pivotree: ") and error.count("\n") == 1 and "--states" in error
