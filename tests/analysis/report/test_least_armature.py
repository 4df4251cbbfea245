"""The least armature that keeps an order's digits: held, and least, by other means."""

import json

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.report.armature import least_armature
from pivotree.analysis.states.sample import draw, system_at
from pivotree.kkt.matrix.ranges import ranges_of

STATES, WANTED = 6, 5.0


@pytest.fixture(scope="module")
def found():
    return least_armature(kkt.chain(12), digits=WANTED, states=STATES)


def digits(added):
    """Of crbm in float32 in the worst state, against certified answers, armature in the model."""
    tree = kkt.chain(12)
    plain = kkt.build(tree)
    heavier = tree.copy()
    for name, x in zip(heavier, added, strict=True):
        heavier.nodes[name]["armature"] = x
    worst = 0.0
    for i in range(STATES):
        state = system_at(plain, ranges_of(plain), 0, i)
        q = draw(ranges_of(plain), 0, i)[0]  # efforts as they were
        system = kkt.build(heavier, q, state.state.qd, state.state.tau)
        answer = kkt.eliminate(system, orderings.get("crbm"), "float32").qdd
        exact = kkt.certify(system, 20, rounded_to="float32")
        worst = max(worst, exact.error(answer))
    return -np.log10(worst)


@pytest.mark.thorough
def test_the_digits_are_kept_with_it_and_not_without(found):
    added = [joint.least for joint in found.joints]
    assert found.before < WANTED <= found.after
    assert digits(np.zeros(12)) == pytest.approx(found.before, abs=0.1)
    assert digits(added) == pytest.approx(found.after, abs=0.1)
    assert 0.0 < found.cost[0] <= found.cost[1] and found.uniform_cost > 0.0


@pytest.mark.thorough
def test_no_joint_can_do_with_a_tenth_of_it(found):
    added = np.array([joint.least for joint in found.joints])
    large = [j for j in np.flatnonzero(added) if added[j] > 1e-3 * max(added)]
    assert large
    for j in large[:2]:
        less = added.copy()
        less[j] /= 10.0
        assert digits(less) < WANTED


def test_where_the_digits_are_there_none_is_needed():
    found = least_armature(kkt.chain(2), "abm", digits=2.0, states=4)
    assert not any(joint.least for joint in found.joints)
    assert "no armature is needed for 2" in found.text()


def test_the_command_prints_it(capsys):
    asked = ["report", "chain:2", "--armature", "--digits", "2", "--states", "4"]
    assert main(asked) == 0
    assert "no armature is needed" in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["order"] == "crbm"
    assert main([*asked, "-o", "folder"]) == 2
