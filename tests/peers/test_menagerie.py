"""Closed robots of MuJoCo Menagerie beside MuJoCo: Cassie, two grippers, and arms that hold one.

A checkout of github.com/google-deepmind/mujoco_menagerie is looked for where the environment
variable ``MUJOCO_MENAGERIE`` says, then where robot_descriptions keeps its own.  ``-rP`` prints the
figures of docs/loops.md.
"""

import os
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

from random_states import difference  # noqa: E402
from test_mjcf_loops import Closed  # noqa: E402
from test_multipliers_of_mujoco import forces, soft_ones_agree  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

ROBOTS = {  # rows: a connect in a planar linkage has two
    "agility_cassie/cassie.xml": 10,
    "robotiq_2f85/2f85.xml": 5,
    "franka_emika_panda/hand.xml": 1,
    "franka_emika_panda/panda.xml": 1,
    "ufactory_xarm7/hand.xml": 5,
    "ufactory_xarm7/xarm7.xml": 5,
}
ORDERS = ("abm", "crbm", "closed_early", "lambda_last")


def found(name):
    """The path of a robot's file, or the test is skipped with what would let it run."""
    told = os.environ.get("MUJOCO_MENAGERIE")
    kept = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
    folder = Path(told) if told else Path(kept).expanduser() / "mujoco_menagerie"
    if told and not folder.is_dir():
        pytest.fail(f"MUJOCO_MENAGERIE is {told!r}, which is no folder; name a checkout")
    if not (folder / name).is_file():
        pytest.skip(f"no {folder / name}; MUJOCO_MENAGERIE=FOLDER names a checkout")
    return folder / name


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_closed_robots_are_mujoco_s(name):
    """In four motions that keep the loops, and certified; then softened, with mj_forward's own."""
    apart = dict.fromkeys(("qdd", "lambda", "certified"), 0.0)
    for seed in range(4):
        there = Closed.read(found(name), seed)
        state, loops = there.state(moving=1.0), there.tree.graph["loops"]
        system = there.system(state)
        assert sum(loop.rows for loop in loops) == ROBOTS[name]
        qacc, force = there.constrained()
        qacc = there.peer._from_world(state, qacc)
        sure = kkt.certify(system, 50)
        assert sure.digits == 50
        true = [np.array([float(ball) for ball in x]) for x in (sure.qdd, sure.lam)]
        for order in ORDERS:
            ours = kkt.eliminate(system, orderings.get(order))
            for which, here, other in (
                ("qdd", ours.qdd, qacc),
                ("lambda", forces(there, loops, ours.lam), force),
                ("certified", ours.qdd, true[0]),
                ("certified", ours.lam, true[1]),
            ):
                apart[which] = max(apart[which], difference(here, other))
        soft_ones_agree(there)
    print(
        f"{name}: {len(there.tree)} bodies, {ROBOTS[name]} rows; largest differences: "
        + ", ".join(f"{which} {x:.0e}" for which, x in apart.items())
    )
    assert max(apart.values()) <= 1e-9
