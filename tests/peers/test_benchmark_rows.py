"""Rows of the table that need Pinocchio and MuJoCo, at small sizes."""

from pathlib import Path

import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import peers

    monkeypatch.setattr(peers, "CHECKED", 2)


def test_an_arm_beside_pinocchio_and_mujoco_is_compiled_and_read_again(monkeypatch):
    import peers
    import robots

    rows = list(robots.rows((("chain:3",), 0.08), 16, 1))
    assert {row.peer for row in rows} >= {"Pinocchio", "our float64"}
    for row in rows:
        assert row.ours > 0 and row.theirs > 0 and row.ratio > 0
        assert row.error < (1e-5 if "float32" in row.work else 1e-12)
        assert row.target is None or row.met is not None
    anew, kept = robots.compiling(("chain:3",), 1)
    assert anew.ours > kept.ours > 0
    monkeypatch.setattr(peers, "_version", lambda name: None)
    (row,) = robots.rows((("ur5",), 0.08), 16, 1)
    assert row.note == "not installed" and row.met is None


def test_a_robot_on_its_feet_beside_pinocchio():
    import robots
    from random_states import robots as files

    if robots.STANDING not in files():
        pytest.skip("example-robot-data is not installed")
    rows = list(robots.standing(16, 1))
    assert [row.peer.split(", ")[1] for row in rows] == ["constraintDynamics", "lcaba"] * 3
    for row in rows:
        assert row.ours > 0 and row.theirs > 0 and row.met is not None
        assert row.error < 1e-12 and row.their_error < 1e-6


def test_a_chain_beside_mujoco():
    pytest.importorskip("mujoco")
    import scale

    rows = [row for row in scale.one_state(10, 1) if row.peer.startswith("MuJoCo")]
    assert rows and all(row.error < 1e-13 and row.their_error < 1e-8 for row in rows)
