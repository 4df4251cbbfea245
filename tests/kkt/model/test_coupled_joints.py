"""Joints that move together, against a reduction of coordinates: qdd = T ydd.

T* M T ydd = T* M qdd0, and qdd0 is what the free tree does.  Nothing of a loop enters it.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from designs import listed
from helpers import every_joint

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.simulation import Integration, simulate
from pivotree.analysis.states.sample import draw, drawn_system, entries_at

CURVE = str(Path(__file__).parents[2] / "models" / "field" / "coupled_curve.xml")

RATIOS = {  # tree: body -> (what its joint follows, ratio)
    "chain:5": {"j5": ("j1", -1.7), "j3": ("j2", 0.5)},  # with parents of their own
    "binary:3": {"j2": ("j3", -1.0), "j5": ("j2", 2.0)},  # one parent; one the other's parent
    "star:4": {"j2": ("j1", 0.3), "j3": ("j1", -2.0), "j4": (None, 1.0)},  # on the world; held
    "every joint": {"slide": ("post", 0.02), "screw": ("slide", 30.0)},  # a pinion, its rack, a screw
}
ORDERS = ("abm", "crbm", "lambda_first", "lambda_last", "closed_early", "virtual_work")


def case(name):
    """The tree, its loops, and T."""
    tree = every_joint() if name == "every joint" else kkt.from_spec(name)
    ratios = RATIOS[name]
    loops = [kkt.coupled_joints(tree, k, to, ratio) for k, (to, ratio) in ratios.items()]
    bare = kkt.build(tree)
    first = dict(zip(bare.tree.names, bare.tree.offset, strict=False))
    rows = np.zeros((len(loops), len(bare.state.qd)))
    for row, (k, (to, ratio)) in zip(rows, ratios.items(), strict=True):
        row[first[k]] = 1.0
        if to is not None:
            row[first[to]] = -ratio
    T = np.linalg.svd(rows)[2][len(rows) :].T  # any basis of the rates that keep the rows
    return tree, loops, bare, T, rows


def reduced(bare, T):
    M = kkt.joint_space_inertia(bare, orderings.get("crbm"))
    free = kkt.eliminate(bare, orderings.get("abm")).qdd
    return T @ np.linalg.solve(T.T @ M @ T, T.T @ M @ free)


@pytest.mark.parametrize("name", listed(RATIOS, unmarked=1))
def test_coupled_joints_are_a_reduction_of_coordinates(name):
    tree, loops, bare, T, rows = case(name)
    qd = T @ (T.T @ bare.state.qd)  # rates that keep the coupling
    bare, system = kkt.build(tree, qd=qd), kkt.build(tree, qd=qd, loops=loops)
    expected = reduced(bare, T)
    size = np.abs(expected).max()
    for order in ORDERS:
        found = kkt.eliminate(system, orderings.get(order))
        assert np.abs(found.qdd - expected).max() <= 1e-12 * size, order
        effort = bare.state.tau + rows.T @ found.lam  # lambda is the coupling's own effort
        pushed = kkt.eliminate(kkt.build(tree, qd=qd, tau=effort), orderings.get("abm")).qdd
        assert np.abs(pushed - expected).max() <= 1e-11 * size, order
    assert np.abs(rows @ expected).max() <= 1e-12 * size


@pytest.mark.parametrize("name", listed(RATIOS, unmarked=1))
def test_the_same_in_other_frames_and_from_a_file(name, tmp_path):
    tree, loops, bare, *_ = case(name)
    system = kkt.build(tree, loops=loops)
    expected = kkt.eliminate(system, orderings.get("abm")).qdd
    kkt.write_model(tmp_path / "model.json", system.state)
    read = kkt.build(kkt.read_model(tmp_path / "model.json"))
    assert np.array_equal(read.entries.G, system.entries.G)
    for other in (read, kkt.aligned(system)):
        found = kkt.eliminate(other, orderings.get("crbm")).qdd
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
    assert system.pattern.holds(system.refresh(0.3 + bare.state.qd).entries)


def test_a_coupling_is_certified_and_compiled():
    tree, loops, *_ = case("chain:5")
    system = kkt.build(tree, loops=loops)
    kernel = kkt.compile(system, orderings.get("abm"), outputs=("qdd", "lambda"))
    q = [0.1, 0.2, 0.3, 0.4, 0.5]
    there = kkt.build(tree, q=q, loops=loops)
    expected, proved = kkt.eliminate(there, orderings.get("abm")), kkt.certify(there, 50)
    qdd, lam = kernel(np.array(q), there.state.qd, there.state.tau)
    for found in (qdd, np.array([float(x) for x in proved.qdd])):
        assert np.abs(found - expected.qdd).max() <= 1e-12
    assert np.abs(lam - expected.lam).max() <= 1e-12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("j9", "j1", 1.0), "loop 'j9': body 'j9' is unknown"),
        (("j2", "j9", 1.0), "loop 'j2': body 'j9' is unknown"),
        (("j2", "j2", 1.0), "couples the joint of 'j2' to itself"),
        (("j2", "j1", np.nan), "loop 'j2': field 'ratio'"),
        (("ball", "j1", 1.0), "the spherical joint of body 'ball' has 3 freedoms"),
    ],
)
def test_what_cannot_be_coupled_is_refused(given, message):
    tree = kkt.chain(3)
    kkt.add_body(tree, "ball", "j3", mass=1.0, inertia=np.eye(3), joint="spherical")
    with pytest.raises(kkt.ModelError, match=message) as error:
        kkt.coupled_joints(tree, *given)
    assert "\n" not in str(error.value)


def test_a_file_of_loops_couples_joints(tmp_path):
    tree, path = kkt.chain(3), tmp_path / "loops.json"
    entry = {"body": "j3", "to": "j1", "ratio": -2, "damping": 1.5, "name": "gear"}
    path.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [entry]}))
    system = kkt.build(tree, loops=kkt.read_loops(path, tree))
    loop = kkt.coupled_joints(tree, "j3", "j1", -2.0, damping=1.5, name="gear")
    same = kkt.build(tree, loops=[loop])
    assert np.array_equal(system.entries.G, same.entries.G) and system.loops[0].name == "gear"
    assert np.array_equal(system.rhs, same.rhs)
    for change, told in (
        ({"to": "j9"}, "body 'j9' is unknown"),
        ({"to": 3}, "field 'to' is 3; give a text"),
        ({"ratio": "two"}, "loop 'gear': field 'ratio'"),
        ({"rate": 2}, "field 'rate' is unknown; did you mean ratio"),
    ):
        path.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [entry | change]}))
        with pytest.raises(kkt.ModelError, match=told) as error:
            kkt.read_loops(path, tree)
        assert str(path) in str(error.value) and "\n" not in str(error.value)


def curved_in_mujoco(mujoco, path, q, qd, tau):
    """qdd where MuJoCo's equalities hold in (4)'s way: its M, bias and rows, whose rate it leaves out."""
    model = mujoco.MjModel.from_xml_path(path)
    data, rows = mujoco.MjData(model), []
    for ahead in (1e-6, -1e-6, 0.0):
        data.qpos[:], data.qvel[:] = q + ahead * qd, qd
        mujoco.mj_forward(model, data)
        rows.append(np.array(data.efc_J[: data.ne * model.nv]).reshape(-1, model.nv))
    M, (after, before, J) = np.zeros((model.nv, model.nv)), rows
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-15 and np.abs(J @ qd).max() < 1e-14
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([tau - data.qfrc_bias, (before - after) @ qd / 2e-6])
    return np.linalg.solve(K, right)[: model.nv]


@pytest.mark.peers
def test_joints_that_follow_by_a_curve_do_so_in_every_way_of_solving(tmp_path):
    """MuJoCo's polycoef of all degrees: r follows l, and a slide follows r; qpos0 is not 0."""
    mujoco, path = pytest.importorskip("mujoco"), CURVE
    tree, abm, tau = kkt.load(path), orderings.get("abm"), np.array([0.1, -0.2, 0.3])
    assert tree.graph["q"] == pytest.approx([0.2, 0.0, 0.004])
    base, ranges = drawn_system(tree, 0)
    kernel = kkt.compile(tree, orderings.get("crbm"), outputs=("qdd", "lambda"), check=True)
    world = kkt.compile(tree, abm, frames="world")
    states = [draw(ranges, 0, number)[:2] for number in range(4)]
    for q, qd in states:
        system = base.refresh(q, qd, tau)
        right = curved_in_mujoco(mujoco, path, q, qd, tau)
        size = np.abs(right).max()
        qdd = kkt.eliminate(system, abm).qdd
        assert np.abs(qdd - right).max() < 1e-9 * size  # the rows' rate is a difference of MuJoCo's
        proved = np.array([float(x) for x in kkt.certify(system, 30).qdd])
        kkt.write_model(tmp_path / "robot.json", system.state)
        read = kkt.build(kkt.read_model(tmp_path / "robot.json"))
        found, lam, status = kernel(q, qd, tau)
        ways = [qdd, found, world(q, qd, tau)]
        ways += [kkt.eliminate(x, abm).qdd for x in (read, kkt.aligned(system))]
        assert status == 0 and max(np.abs(way - proved).max() for way in ways) < 1e-13 * size
        assert np.abs(lam - kkt.eliminate(system, abm).lam).max() < 1e-12
    many = entries_at(base, ranges, 0, range(4))
    for entries, (q, qd) in zip(many.gamma, states, strict=True):
        assert (entries == base.refresh(q, qd, tau).entries.gamma).all()
    swing = simulate(tree, integration=Integration(seconds=0.5, eps=1e-10), q=states[0][0], qd=states[0][1])
    (left, right, slide, *_) = swing.records[0].y[-1]
    assert swing.drift < 1e-8 and swing.doubt is None and abs(left - states[0][0][0]) > 0.1
    assert right == pytest.approx(np.polyval([-0.2, 0.3, 0.7, -0.5, 0.0], left - 0.2), abs=1e-12)
    assert slide == pytest.approx(0.4 * (right + 0.1) ** 2, abs=1e-12)


@pytest.mark.peers
def test_a_curve_is_kept_by_given_states_and_refused_where_it_is_not_known(capsys):
    """The leader's rate is given: the others' are the slopes there times it."""
    pytest.importorskip("mujoco")
    path, abm = CURVE, orderings.get("abm")
    assert main(["solve", path, "--q", "l=0.5", "--state", "qd:l=2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    slope = np.polyval([-0.8, 0.9, 1.4, -0.5], 0.3)
    right = np.polyval([-0.2, 0.3, 0.7, -0.5, 0.0], 0.3)
    assert told["q"] == pytest.approx([0.5, right, 0.4 * (right + 0.1) ** 2])
    assert told["qd"] == pytest.approx([2.0, 2 * slope, 0.8 * (right + 0.1) * 2 * slope])
    assert main(["solve", path, "--q", "0.5,0,0"]) == 2
    assert "loop 'equality 0': is open by" in capsys.readouterr().err
    assert main(["solve", path, "--q", "l=0.5", "--state", "qd:1,1,1"]) == 2
    assert "loop 'equality 0': is torn at" in capsys.readouterr().err
    tree = kkt.load(path)
    system = kkt.build(tree)
    tau = kkt.compile(tree, abm, outputs=("dqdd_dtau",))(*(tree.graph[x] for x in ("q", "qd", "tau")))
    assert np.abs(tau - kkt.joint_space_inverse(system, abm).values).max() < 1e-12
    met = kkt.delassus_matrix(system, abm, system.loops).values
    assert np.linalg.matrix_rank(met) == 0 or np.abs(met).max() < 1e-12  # these rows hold already
    knows_not = {
        "its ratio depends on q, .* ask for those by tau": lambda: kkt.derivatives(system, abm),
        "by the model's numbers do not know": lambda: kkt.compile(tree, abm, outputs=("dqdd_dq",)),
        "its rows depend on q; give it to build": lambda: kkt.delassus_matrix(
            system, abm, kkt.load(path).graph["loops"]
        ),
        "'higher' bends a line of q_to; give an offset": lambda: kkt.coupled_joints(
            tree, "right", "left", higher=[1.0]
        ),
    }
    for sentence, call in knows_not.items():
        with pytest.raises(kkt.PivotreeError, match=sentence) as error:
            call()
        assert "\n" not in str(error.value)


def test_a_curve_in_a_file_needs_the_joint_that_leads(tmp_path):
    tree = kkt.chain(3)
    tree.graph["loops"] = (kkt.coupled_joints(tree, "j3", "j1", 0.5, offset=0.1, higher=[0.2]),)
    system = kkt.build(tree, q=[0.3, 0.0, 0.1 + 0.15 + 0.018], qd=[1.0, 0.0, 0.62])
    kkt.write_model(tmp_path / "model.json", system.state)
    written = json.loads((tmp_path / "model.json").read_text())
    assert written["loops"][0]["follows"] == pytest.approx([0.62, 0.0, 0.2], abs=1e-15)
    del written["loops"][0]["beside"]
    (tmp_path / "model.json").write_text(json.dumps(written))
    with pytest.raises(kkt.ModelError, match="'follows' bends, and no other pair is there; give 'beside'"):
        kkt.read_model(tmp_path / "model.json")
    written["loops"][0]["follows"] = [[1], [2, 3]]
    (tmp_path / "model.json").write_text(json.dumps(written))
    with pytest.raises(kkt.ModelError, match="'follows' is"):
        kkt.read_model(tmp_path / "model.json")
