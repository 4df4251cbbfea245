"""Coupled mimic joints beside Pinocchio's reduced model (``mimic=True``): inertia and forces."""

from xml.etree.ElementTree import parse

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
from random_states import difference, robots  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402


def mimicking():
    """Robots with joints that move and mimic others that move, which Pinocchio asks for."""
    found = []
    for name, path in robots().items():
        joints = {x.get("name"): x for x in parse(path).getroot().findall("joint")}
        pairs = [
            (x, joints.get(x.find("mimic").get("joint"))) for x in joints.values()
            if x.find("mimic") is not None and x.get("type") != "fixed"
        ]  # fmt: skip
        if pairs and all(to is not None and to.get("type") != "fixed" for _, to in pairs):
            found.append(name)
    return found


@pytest.mark.parametrize("robot", mimicking())
def test_mimic_joints_are_coupled_as_pinocchio_reduces_them(robot):
    path = robots()[robot]
    tree = kkt.read_urdf(path, merge_fixed=True, mimic="coupled")
    try:
        model = pin.buildModelFromUrdf(str(path), mimic=True)
    except ValueError as error:  # the joint that is followed comes later in its tree
        pytest.skip(f"Pinocchio: {error}")
    data = model.createData()
    system = kkt.build(tree)
    draw = np.random.default_rng(len(robot))
    q, v = pin.neutral(model), np.zeros(model.nv)
    ours = np.zeros(len(system.state.qd))
    tau = np.zeros(len(ours))
    columns = {}  # of the joints that follow nobody: here, there
    for k, body in enumerate(system.tree.names):
        number = model.getJointId(tree.nodes[body]["joint_name"])
        joint = model.joints[number]
        at = int(system.tree.offset[k])
        if "Mimic" in joint.shortname():
            continue
        assert joint.nv == 1
        angle, rate, effort = tree.graph["q"][at], tree.graph["qd"][at], draw.normal()
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            angle if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        )
        v[joint.idx_v], tau[at], columns[at] = rate, effort, joint.idx_v
    assert 0 < len(columns) == model.nv < len(ours)
    here, there = np.array(list(columns)), np.array(list(columns.values()))
    effort = np.zeros(model.nv)
    effort[there] = tau[here]
    M = np.triu(pin.crba(model, data, q))
    M = M + np.triu(M, 1).T
    expected = np.linalg.solve(M, effort - pin.nonLinearEffects(model, data, q, v))
    system = kkt.build(tree, tau=tau)
    for order in ("abm", "crbm", "lambda_first"):
        qdd = kkt.eliminate(system, orderings.get(order)).qdd
        assert difference(qdd[here], expected[there]) <= 1e-9, order
