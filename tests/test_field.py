"""Small robots and files on which something went wrong once, each with its right value."""

import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis import blame, compare
from pivotree.analysis.cli import main
from pivotree.analysis.comparison import compare_derivatives
from pivotree.analysis.report.make import prepare
from pivotree.analysis.states.sample import draw, drawn_system, system_at
from pivotree.analysis.study.measure import SINGULAR as UNSOLVABLE
from pivotree.analysis.study.measure import WHY, States, measure
from pivotree.kkt.model.spatial import rotation_vector
from pivotree.kkt.theorem.ranges import ranges_of

FIELD = Path(__file__).parent / "models" / "field"


def test_an_order_that_cannot_pivot_leaves_the_others_their_rows():
    """A massless link between two joints is no matter but for the orders that pivot on its M_k."""
    system = kkt.build(kkt.load(str(FIELD / "massless_middle.urdf")))
    found = compare(system, ["lagrange", "abm", "crbm", "virtual_work"], ["float64"])
    why = {row.order: row.failed_at for row in found.rows}
    assert why["abm"] is why["crbm"] is None
    assert "pivot pdd_cross at step 4 is structurally singular (rank 5 of 6)" in why["lagrange"]
    assert "since f_cross comes after it" in why["lagrange"]
    assert "body 'cross'" in why["virtual_work"]
    right = (-15.65013329, 65.72706721, 15.70235976)
    assert np.abs(found.eliminations["abm", "float64"].qdd - right).max() < 1e-8
    with pytest.raises(kkt.OrderError, match="order 'lagrange': pivot pdd_cross"):
        compare(system, ["lagrange"])


SINGULAR = {
    "parallel_hinges": "the joints of 'dummy', 'arm' can move against each other",
    "floating_world": "the joints of 'world', 'drum' can move against each other",
    "no_mass": "no_mass: no link has a mass",
}


@pytest.mark.parametrize("order", ["abm", "lagrange", "crbm"])
@pytest.mark.parametrize("name", SINGULAR)
def test_a_singular_robot_is_told_in_its_own_words(name, order):
    tree = kkt.load(str(FIELD / f"{name}.urdf"), floating=name == "floating_world")
    with pytest.raises(kkt.SingularError, match=SINGULAR[name]):
        kkt.trace(kkt.build(tree), orderings.get(order))


@pytest.mark.parametrize("name", ["dd_wide_balls_1", "dd_wide_balls_2"])
def test_an_answer_in_dd_is_not_judged_by_balls_that_are_wide(name):
    """Balls of the usual bits are wider than dd's error there, and their midpoints say nothing."""
    system = kkt.build(kkt.read_model(FIELD / f"{name}.json"))
    found = kkt.eliminate(system, orderings.get("lagrange"), "dd", records=False)
    error = kkt.certify(system, 40, rounded_to="float64").error(found.qdd)
    assert found.marked is None
    assert found.error_estimate == pytest.approx(error, rel=0.01) and error < 1e-24


def test_a_robot_that_holds_still_keeps_its_digits(capsys):
    """Its qdd is 0 but for rounding, which is small beside what its weight and efforts do alone."""
    file = str(FIELD / "hold_still.urdf")
    words = [file, "--state", str(FIELD / "hold_still.state.json"), "--json"]
    assert main(["compare", *words, "--orders", "abm,crbm,lagrange"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    least = {"float32": 4.0, "float64": 13.0}
    assert all(row["digits"] > least[row["format"]] and row["marked"] is None for row in rows)
    assert main(["solve", *words[:-1]]) == 0
    told = capsys.readouterr().out
    assert "Efforts, gravity and rates nearly cancel here: errors are relative to 0.32" in told
    state = json.loads((FIELD / "hold_still.state.json").read_text())
    for name in ("float32", "float64"):
        kernel = kkt.compile(kkt.load(file), orderings.get("crbm"), name, check=True)
        qdd, status = kernel(state["q"], state["qd"], state["tau"])
        assert status == 0 and np.abs(qdd).max() < 1e-5


def test_a_light_finger_does_not_hide_what_the_hip_loses():
    """2 N m turn a finger of 1 g at 1e6 rad/s2, beside which all that crbm loses looks small."""
    tree = kkt.chain(20)
    finger = {"mass": 1e-3, "com": (0.02, 0.0, 0.0), "inertia": 1e-7 * np.eye(3)}
    kkt.add_body(tree, "finger", "j20", axis=(0, 1, 0), p=(1.0, 0.0, 0.0), **finger)
    kkt.default_state(tree)
    tree.graph["tau"][-1] = 2.0
    system = kkt.build(tree)
    abm, crbm = compare(system, ["abm", "crbm"], ["float32"]).rows
    assert min(abm.digits, crbm.digits, abm.worst_digits) > 5.5 and crbm.worst_digits < 5.0
    exact = kkt.certify(system, 30, rounded_to="float32")
    crbm_qdd = kkt.eliminate(system, orderings.get("crbm"), "float32").qdd
    inverse = np.linalg.inv(kkt.joint_space_inertia(system, orderings.get("crbm")))
    zero, rnea = np.zeros(21), orderings.get("inverse_dynamics")
    held = kkt.inverse_dynamics(system.refresh(qd=zero), zero, rnea).tau
    rates = kkt.inverse_dynamics(system, zero, rnea).tau - held
    reach = np.abs(inverse) @ (np.abs(system.state.tau) + np.abs(held) + np.abs(rates))
    off = np.abs(exact.differences(crbm_qdd)) / reach
    assert crbm.worst_joint == system.tree.names[int(off.argmax())]
    assert crbm.worst_digits == pytest.approx(-np.log10(off.max()), abs=0.01)
    assert "At the joint of" in compare(system, ["crbm"], ["float32"]).verdict


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with a name")
@pytest.mark.parametrize("name", ["nofolder/pipe.obj", r"no\folder\pipe.obj"])
def test_mujoco_waits_for_no_pipe_whose_path_is_stripped(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    os.mkfifo(tmp_path / "pipe.obj")
    (tmp_path / "strip.xml").write_text(
        f'<mujoco><compiler strippath="true"/><asset><mesh name="m" file="{name}"/></asset>'
        '<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "strip.xml"]) == 2
    assert "file 'pipe.obj' is no plain file" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["a", '"a,="', "'a#'"])
def test_a_key_of_many_parts_is_refused_before_it_takes_memory(part, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("keys.toml").write_text(f"{'.'.join([part] * 20_000)} = 1\n")
    assert main(["sweep", "keys.toml"]) == 2
    assert "keys.toml: has a key of more than 100 parts" in capsys.readouterr().err
    Path("dots.toml").write_text(f"# {'.' * 500}\nmodels = 1.5\n")
    main(["sweep", "dots.toml"])
    assert "parts" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["solve", "compare --orders abm", "blame"])
def test_json_carries_the_numbers_of_its_state(command, tmp_path, capsys):
    """They are a file for --state, in which the same model has the same answer."""
    words, file = command.split(), str(tmp_path / "state.json")
    assert main([words[0], "quadruped", *words[1:], "--state", "random:3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    Path(file).write_text(json.dumps({field: told[field] for field in ("q", "qd", "tau")}))
    for given in (["--state", "random:3"], ["--state", file]):
        assert main(["solve", "quadruped", "--json", *given]) == 0
    drawn, read = (json.loads(part + "}") for part in capsys.readouterr().out.split("\n}\n")[:2])
    assert drawn["qdd"] == read["qdd"]


def solved(capsys, words):
    """What ``pivotree solve`` tells as JSON."""
    assert main(["solve", *words.split(), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_joints_that_mimic_follow_in_every_state(capsys):
    jaw = f"{FIELD / 'mimic_jaw.urdf'} --urdf mimic=coupled"
    told = solved(capsys, f"{jaw} --q l=0.1 --state qd:l=1 --state tau:l=0,r=0")
    assert told["qdd"] == pytest.approx([8.70547393, -17.41094786])
    for seed in range(5):
        q, qd = (np.array(solved(capsys, f"{jaw} --state random:{seed}")[field]) for field in ("q", "qd"))
        assert q[1] == pytest.approx(-2 * q[0] + 0.1) and qd[1] == pytest.approx(-2 * qd[0])
        assert abs(q[1]) <= 1  # the limits of the one that follows
    for q, gap in (("0.1,0.3", "0.4"), ("r=0.3", "0.79")):
        assert main(["solve", *jaw.split(), "--q", q]) == 2
        assert f"loop 'r' is open by {gap}" in capsys.readouterr().err
    assert main(["solve", *jaw.split(), "--state", "qd:1,1"]) == 2
    assert "loop 'r' is torn at 3 (rad/s or m/s)" in capsys.readouterr().err
    tree = kkt.load(str(FIELD / "mimic_jaw.urdf"), mimic="coupled")
    with pytest.warns(kkt.LoopWarning, match="loop 'r' is open by 0.4"):
        kkt.build(tree, q=[0.1, 0.3])


def test_joints_that_follow_do_so_beside_closed_loops(tmp_path):
    """Where other loops close by iteration the coupling is one of its rows, and files keep it."""
    tree = kkt.four_bar()
    kkt.add_body(tree, "hand", "crank", mass=0.1, inertia=1e-3 * np.eye(3), axis=(0, 1, 0))
    follows = kkt.coupled_joints(tree, "hand", "crank", -0.5, offset=0.2)
    tree.graph.update(q=None, qd=None, tau=None, loops=(*tree.graph["loops"], follows))
    tree = kkt.default_state(tree)
    system, ranges = drawn_system(tree, 0)
    names = [str(name) for name in system.tree.names]
    crank, hand = names.index("crank"), names.index("hand")
    for number in range(4):
        q, qd, _ = draw(ranges, 1, number)
        assert q[hand] == pytest.approx(-0.5 * q[crank] + 0.2, abs=1e-8)
        assert qd[hand] == pytest.approx(-0.5 * qd[crank], abs=1e-8)
        assert max(np.abs(c.gap).max() for c in system.refresh(q, qd, 0 * q).state.loops) < 1e-8
    kkt.write_model(tmp_path / "robot.json", system.state)
    read = kkt.read_model(tmp_path / "robot.json")  # there positions are measured from this state's
    ratio, offset = read.graph["loops"][1].follows
    assert ratio == -0.5 and abs(offset) < 1e-8
    assert all(np.abs(c.gap).max() < 1e-8 for c in kkt.aligned(system).state.loops)


@pytest.mark.peers
def test_a_weld_without_torques_is_a_connect_and_couplings_keep_their_offset(capsys):
    pytest.importorskip("mujoco")
    told = solved(capsys, f"{FIELD / 'weld_torquescale0.xml'} --state tau:1,0.1,0.2,0.3,1,2,3")
    assert told["qdd"][:4] == pytest.approx([-8.914825, 506.329114, 6.855243, 5.425813], rel=1e-6)
    assert solved(capsys, f"{FIELD / 'coupled_offset.xml'} --q l=0.4")["q"] == pytest.approx([0.4, -0.7])
    assert solved(capsys, str(FIELD / "coupled_offset.xml"))["q"] == pytest.approx([0.0, 0.1])


@pytest.mark.parametrize("order", ["abm", "crbm"])
def test_products_that_leave_the_range_of_a_format_are_told_with_what_helps(order, capsys):
    """The advice is taken: as many digits with more exponents, and other units, gravity in them too."""
    robot, abm = str(FIELD / "micro_arm.urdf"), orderings.get(order)
    assert main(["solve", robot, "--order", order, "--format", "float32"]) == 2
    told = re.search(
        r"products leave the range of float32, 1e-45 to 2e\+38, and (p24e10) answers; use a format with "
        r"as many exponent bits, or units of (\S+) kg and (\S+) m$",
        capsys.readouterr().err.strip(),
    )
    assert main(["solve", robot, "--order", order, "--format", told[1]]) == 0
    tree = kkt.load(robot)
    right = kkt.eliminate(kkt.build(tree), abm).qdd
    mass, size = float(told[2]), float(told[3])
    for data in tree.nodes.values():
        data["mass"] /= mass
        data["inertia"] = np.asarray(data["inertia"]) / (mass * size**2)
        data["com"], data["p"] = np.asarray(data["com"]) / size, np.asarray(data["p"]) / size
    tree.graph["gravity"] = np.asarray(tree.graph["gravity"]) / size
    tree.graph["tau"] = np.asarray(tree.graph["tau"]) / (mass * size**2)
    found = kkt.eliminate(kkt.build(tree), abm, "float32")
    assert found.failed_at is None and found.qdd == pytest.approx(right, rel=1e-4)


def test_a_mark_names_the_range_that_products_leave(capsys, tmp_path):
    """In every place that shows marks: one state, its derivatives, and many states."""
    robot, abm, why = str(FIELD / "micro_arm.urdf"), orderings.get("abm"), "products leave the range"
    base, ranges = drawn_system(kkt.load(robot), 0)
    system = system_at(base, ranges, 0, 2)
    found = kkt.eliminate(system, abm, "float32")
    assert found.failed_at is None and why in found.marked
    assert kkt.eliminate(system, abm, "p24e10").marked is None  # the advice
    inverse = kkt.joint_space_inverse(system, abm, "float32")
    assert why in inverse.marked and kkt.joint_space_inverse(system, abm, "p24e10").marked is None
    rows = compare_derivatives(system, ["abm"], ["float32", "p24e10"])[:2]
    assert why in rows[0].marked and rows[1].marked is None and min(rows[0].digits.values()) < 3.6
    assert main(["report", robot, "--states", "5", "--orders", "abm", "-o", str(tmp_path / "report")]) == 0
    told = capsys.readouterr().out
    assert f"{why.capitalize()} of float32, 1e-45 to 2e+38, and p24e10 answers; use a format" in told
    assert why.capitalize() in (tmp_path / "report" / "report.html").read_text()
    coarse = kkt.eliminate(kkt.build(kkt.chain(30)), orderings.get("crbm"), "float32")
    assert coarse.marked and why not in coarse.marked  # lost in sums, which more exponents do not mend


def test_derivatives_that_lost_half_of_their_digits_are_marked(capsys):
    assert main(["compare", "chain:20", "--derivatives", "--orders", "crbm,abm", "--formats", "float32"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"crbm +float32\* ", told) and re.search(r"abm +float32 ", told)
    assert "\ndo not rely on crbm: float32 keeps fewer than half of its digits here (error about" in told
    assert float(re.search(r"here \(error about (\S+)\)", told)[1]) > 2e-4
    system = kkt.build(kkt.chain(20))
    crbm, abm = (kkt.derivatives(system, orderings.get(name), "float32") for name in ("crbm", "abm"))
    assert crbm.marked in told and abm.marked is None


@pytest.mark.parametrize("format", ["float64", "float32"])
def test_nothing_is_promised_of_a_massless_link_and_that_is_why(format):
    tree, abm = kkt.load(str(FIELD / "massless_middle.urdf")), orderings.get("abm")
    told = r"body cross: has no mass, and what hangs on it .*; give it an inertia$"
    assert re.match(told, kkt.guarantee(tree, abm, format).why)
    tree.nodes["cross"].update(mass=1.0, inertia=0.01 * np.eye(3))
    assert kkt.guarantee(tree, abm, format).digits > 0.0


def in_mujoco(mujoco, path, seed):
    """A random state of an MJCF file as q, qd and tau here, and MuJoCo's qacc.

    q is MuJoCo's qpos, but for rotation vectors: of a free joint that is split, from its qpos0.
    """
    model = mujoco.MjModel.from_xml_path(path)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION)
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    mujoco.mj_integratePos(model, data.qpos, 2.0 * rng.normal(size=model.nv), 1.0)
    data.qvel[:], data.qfrc_applied[:] = rng.normal(size=(2, model.nv))
    mujoco.mj_forward(model, data)
    q = []
    for kind, at in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        x = data.qpos[at:]
        if kind >= int(mujoco.mjtJoint.mjJNT_SLIDE):
            q.append(x[:1])
            continue
        free = 3 * (kind == int(mujoco.mjtJoint.mjJNT_FREE))
        turn = np.zeros(3)
        mujoco.mju_subQuat(turn, x[free : free + 4], model.qpos0[at + free : at + free + 4])
        q.append(np.concatenate([x[:free], turn]))
    return np.concatenate(q), data.qvel.copy(), data.qfrc_applied.copy(), data.qacc


@pytest.mark.peers
@pytest.mark.parametrize("name", ["free_joint_armature", "springs_and_armature"])
def test_springs_of_balls_and_armature_of_free_joints_are_mujoco_s(name, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path, abm = str(FIELD / f"{name}.xml"), orderings.get("abm")
    tree = kkt.load(path)
    assert [*tree][:4] == ["torso/root x", "torso/root y", "torso/root z", "torso"]
    for seed in range(5):  # rotation vectors of up to pi
        *state, qacc = in_mujoco(mujoco, path, seed)
        system = kkt.build(tree, *state)
        qdd = kkt.eliminate(system, abm).qdd
        assert np.abs(qdd - qacc).max() < 1e-12 * np.abs(qacc).max()
        large = kkt.solve_large(system, abm)
        assert np.abs(large.qdd - qacc).max() < 1e-12 * np.abs(qacc).max()
        kkt.write_model(tmp_path / "robot.json", system.state)
        read = kkt.build(kkt.read_model(tmp_path / "robot.json"))
        assert (kkt.eliminate(read, abm).qdd == qdd).all()


@pytest.mark.peers
def test_a_spring_of_a_ball_pulls_from_pose_to_pose(tmp_path):
    """Written in one state and moved to another, where its numbers do not add up; all the way round."""
    pytest.importorskip("mujoco")
    tree, abm = kkt.load(str(FIELD / "springs_and_armature.xml")), orderings.get("abm")
    system, ranges = drawn_system(tree, 0)
    kkt.write_model(tmp_path / "robot.json", system.state)
    file = kkt.build(kkt.read_model(tmp_path / "robot.json"))
    q, qd, tau = draw(ranges, 0, 1)
    here, there = system.state.q, q - system.state.q
    for at in (3, 6):
        turn = rotation_vector(here[None, at : at + 3])[0].T @ rotation_vector(q[None, at : at + 3])[0]
        there[at : at + 3] = Rotation.from_matrix(turn).as_rotvec()
    right = kkt.eliminate(system.refresh(q, qd, tau), abm).qdd
    assert kkt.eliminate(file.refresh(there, qd, tau), abm).qdd == pytest.approx(right, rel=1e-12)
    round_it = q.copy()
    round_it[3:6] *= 1.0 + 2.0 * np.pi / np.linalg.norm(q[3:6])
    assert kkt.eliminate(system.refresh(round_it, qd, tau), abm).qdd == pytest.approx(right, rel=1e-12)
    with pytest.raises(kkt.ModelError, match="motions of the spherical joint of body 'torso' do not commute"):
        kkt.compile(tree, abm)
    with pytest.raises(kkt.ModelError, match="motions of its spherical joint do not commute"):
        kkt.derivatives(system, abm)
    with pytest.raises(kkt.ModelError, match=r"'torso': the motions of its spherical joint .* implicit"):
        kkt.build(tree, implicit=1e-3)


PARALLELOGRAM = {  # commands, and what makes them short
    "blame": "--order abm",
    "compare": "--orders abm",
    "explore": "--orders abm -o page.html",
    "export": "-o arm.c",
    "guarantee": "--states 1",
    "list": "",
    "report": "--states 3 --orders abm --formats float32 -o report",
    "simulate": "--seconds 0.1 --order abm",
    "solve": "",
    "tune": "--most 3",
}


@pytest.mark.peers
@pytest.mark.parametrize("command", PARALLELOGRAM)
def test_commands_answer_where_rows_of_mujoco_follow_from_others(command, tmp_path, monkeypatch, capsys):
    """And do what the refusal says where the loop is of a file: keep these rows."""
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    text = (FIELD / "double_parallelogram.xml").read_text()
    Path("robot.xml").write_text(text)
    words = [command, "robot.xml", *PARALLELOGRAM[command].split()]
    assert main(words) == 0
    if command == "guarantee":  # it takes no loops beside the model
        return
    shutil.rmtree("report", ignore_errors=True)
    Path("robot.xml").write_text(re.sub(r'<connect name="pc".*?/>', "", text))
    pc = {"first": "c", "second": "bar", "joint": "spherical", "name": "pc", "p": [0, 0, -0.4]}
    loops = {"schema": "pivotree-loops/1", "loops": [pc | {"p_second": [0.8, 0, 0]}]}
    Path("loops.json").write_text(json.dumps(loops))
    assert main([*words, "--loops", "loops.json"]) == 2
    said = re.search(r"'pc'.* keep rows=\((.*?),?\), or .* the file of --loops", capsys.readouterr().err)
    loops["loops"][0]["rows"] = json.loads(f"[{said[1]}]")
    Path("loops.json").write_text(json.dumps(loops))
    assert main([*words, "--loops", "loops.json"]) == 0


@pytest.mark.peers
def test_rows_that_follow_from_others_are_kept_by_states(tmp_path, capsys):
    pytest.importorskip("mujoco")
    robot = str(FIELD / "double_parallelogram.xml")
    right = [-0.84656265, 0.84656265, -0.84656265, -0.84656265]
    assert solved(capsys, robot)["qdd"] == pytest.approx(right, abs=1e-8)
    for seed in range(3):
        q = np.array(solved(capsys, f"{robot} --state random:{seed}")["q"])
        assert np.abs(np.exp(1j * (q - q[0] * np.array([1, -1, 1, 1]))) - 1).max() < 1e-8
    # the kept row of pc alone would take this for closed: c stands upright, and bar is down
    assert main(["solve", robot, "--q", f"0,0,0,{np.pi}", "--state", "qd:0,0,0,0"]) == 2
    assert "loop 'pc' is open by 0.8" in capsys.readouterr().err
    tree = kkt.load(robot)
    kkt.write_model(tmp_path / "robot.json", kkt.build(tree).state)
    read, first = kkt.read_model(tmp_path / "robot.json").graph["loops"][1], tree.graph["loops"][1]
    assert first.rows == 1 and (read.implied == first.implied).all()


def test_loops_of_dialects_are_named_where_they_are_left_out():
    with pytest.warns(kkt.UrdfWarning) as said:
        kkt.load(str(FIELD / "loop_dialects.urdf"))
    for name in ("<loop_joint> pin", "<ball_constraint>", "<joint> pin in <gazebo>", "--loops"):
        assert name in str(said[0].message)


def test_promises_of_a_model_file_hold_in_every_pose(tmp_path):
    """All of its joints are general ones, whose zeros at q = 0 are no zeros elsewhere."""
    tree = kkt.chain(3)
    kkt.write_model(tmp_path / "chain.json", kkt.build(tree, q=[0.0, 0.3, 0.4]).state)
    read = kkt.read_model(tmp_path / "chain.json")
    abm = orderings.get("abm")
    found = kkt.guarantee(read, abm, "float32").digits
    read.graph["q"] = [0.5, -0.2, 0.1]
    assert kkt.guarantee(read, abm, "float32").digits == found


def test_nothing_is_promised_of_what_the_theorem_leaves_out():
    abm, tree = orderings.get("abm"), kkt.chain(3)
    tree.nodes["j2"]["wrench"] = np.full(6, 10.0)
    assert (
        kkt.guarantee_qdd(tree, abm).why
        == "body j2: an external wrench acts on it, which the bound leaves out"
    )
    tree = kkt.chain(3)
    tree.nodes["j3"]["inertia"] = np.diag([1.0, 1.0, -0.001])
    with pytest.warns(kkt.InertiaWarning):
        for order in ("abm", "gain_abm"):
            why = kkt.guarantee(tree, orderings.get(order)).why
            assert why.startswith("body j3: its inertia is not positive semidefinite")


def test_a_long_rail_is_no_placeholder(tmp_path, capsys):
    """Limits of slides count up to a kilometre, and the longer a rail the less is promised."""
    abm, digits = orderings.get("abm"), []
    for limit in (1.0, 19.9, 20.1, 30.0):
        tree, unit = kkt.new_tree("rail"), {"inertia": 0.1 * np.eye(3)}
        kkt.add_body(tree, "base", mass=50.0, axis=(0, 1, 0), **unit)
        kkt.add_body(tree, "cart", "base", mass=5.0, joint="prismatic", axis=(1, 0, 0), **unit)
        kkt.add_body(tree, "arm", "cart", mass=3.0, com=(0.1, 0.2, 0.3), axis=(0, 0.6, 0.8), **unit)
        tree.nodes["cart"]["limits"] = (0.0, limit, 1.0)
        digits.append(kkt.guarantee(tree, abm, "float32").digits)
    assert digits == sorted(digits, reverse=True) and len(set(digits)) == 4
    tree.nodes["cart"]["limits"] = (-1e4, 1e4, 1.0)
    said = ranges_of(kkt.build(tree)).positions_in_words()
    assert said == "within ±π and ±0.5 m (limits wider than 2000 m are taken for none: cart)"


def nearly(name):
    """Robots that are singular but for the rounding of one number."""
    if name.endswith(".urdf"):
        return kkt.load(str(FIELD / name))
    tree, bar = kkt.new_tree(name), {"mass": 1.0, "inertia": np.diag([0.01, 0.02, 0.02])}
    if name == "point mass":  # on the axis of a wrist, whose mount is turned by pi/2
        kkt.add_body(tree, "arm", axis=(0, 1, 0), com=(0.1, 0, 0), **bar)
        mount = rotation_vector(np.array([[0.0, np.pi / 2, 0.0]]))[0]
        kkt.add_body(tree, "wrist", "arm", axis=(1, 0, 0), R=mount, mass=1.0, com=mount.T @ (0, 0, -0.3))
        return tree
    if name == "gimbal lock":
        kkt.add_body(tree, "fork", axis=(0, 0, 1), mass=0.0)
        kkt.add_body(tree, "ring", "fork", axis=(0, 1, 0), mass=0.0)
        kkt.add_body(tree, "wheel", "ring", axis=(1, 0, 0), com=(0.1, 0.0, 0.0), **bar)
        tree.graph["q"] = np.array([0.3, np.pi / 2, 0.2])
        return tree
    kkt.add_body(tree, "first", axis=(0, 1, 0), mass=0.0)
    kkt.add_body(tree, "second", "first", axis=(float(name), 1, 0), com=(0.2, 0, 0), **bar)
    return tree


CHANCES = ["almost_parallel.urdf", "near_parallel_1e-17.urdf", "point mass", "gimbal lock", "1e-16", "1e-50"]


@pytest.mark.parametrize("name", CHANCES)
def test_what_is_regular_by_rounding_alone_is_refused_in_every_format(name):
    tree, abm = nearly(name), orderings.get("abm")
    n = len(tree)
    q = tree.graph.get("q", np.array([0.3, 0.2]))
    system = kkt.build(tree, q, np.zeros(n), 0.1 + 0.1 * np.arange(n))
    for format in ("float32", "float64", "dd", "mp:50", "exact"):
        try:
            told = kkt.eliminate(system, abm, format, records=False).failed_at
        except kkt.SingularError as error:
            told = str(error)
        assert told and ("singular" in told or "carries a joint but no mass" in told), format
    with suppress(kkt.SingularError, kkt.CertificationError):  # a pivot that is exactly zero
        assert kkt.eliminate(system, abm, "ball:30").marked
    for refused in (kkt.solve_large, blame):
        with pytest.raises((kkt.SingularError, kkt.CertificationError)):
            refused(system, abm)
    for format in ("float32", "float64", "mp:50", "exact"):
        for asked in (
            lambda: kkt.joint_space_inverse(system, abm, format),  # noqa: B023
            lambda: kkt.derivatives(system, abm, format),  # noqa: B023
        ):
            with pytest.raises(kkt.SingularError):
                asked()
    if name != "gimbal lock":  # in every state; in this one it is a status
        with pytest.raises(kkt.SingularError, match=r"singular|zero"):
            kkt.compile(system, abm, check=True)
    else:
        kernel = kkt.compile(system, abm, check=True)
        assert kernel(kernel.configuration(q), np.zeros(n), 0.1 + 0.1 * np.arange(n))[1] != 0


def test_states_of_a_report_and_a_sweep_are_asked_whether_they_are_singular(tmp_path, monkeypatch):
    """Efforts that are drawn for small accelerations hide it; a fork, ring and wheel are regular."""
    for name in ("almost_parallel.urdf", "point mass", "gimbal lock"):
        setup, _ = prepare(nearly(name), name, ["abm", "crbm"], ["float32", "float64"], 0)
        states = States.drawn(setup.system, setup.ranges, 0, [1])
        (state,) = measure(states, setup.orders, setup.proof, setup.formats)
        why = None if name == "gimbal lock" else WHY[UNSOLVABLE]
        assert all(case.get("failed_as") == why for order in state for case in order)
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(
        f'output = "s.csv"\nmodels = ["{FIELD / "almost_parallel.urdf"}"]\norders = ["abm"]\n'
        'formats = ["float64"]\nmeasure = ["failed_at"]\n[states]\nnumber = 2'
    )
    assert main(["sweep", "s.toml"]) == 0
    assert Path("s.csv").read_text().count("equation (4) is singular but for rounding of the model") == 2


def test_small_inertias_that_are_no_rounding_are_answered():
    """Micro robots, and a finger of 1e-12 kg at a hand of 1 kg, have all of their digits."""
    for mass in (1e-3, 1e-9, 1e-12):
        tree = kkt.chain(2)
        tree.nodes["j2"].update(mass=mass, inertia=mass * np.diag([1e-6, 2e-6, 2e-6]))
        system, abm = kkt.build(tree), orderings.get("abm")
        found = kkt.eliminate(system, abm)
        assert found.failed_at is None and found.marked is None
        assert kkt.joint_space_inverse(system, abm).marked is None


@pytest.mark.parametrize("format", ["float32", "float64"])
def test_a_checked_kernel_does_not_trust_arguments_that_are_too_large(format):
    abm, none = orderings.get("abm"), np.zeros(3)
    kernel = kkt.compile(kkt.chain(3), abm, format, check=True)
    for angle in (1e2, 1e4, -1e4):
        assert kernel(np.array([0.25, angle, -0.5]), none, none)[1] == 0
    for angle in (2e4, -1e6, 1e15):
        assert kernel(np.array([0.25, angle, -0.5]), none, none)[1] != 0
    tree = kkt.new_tree("ball")
    inertia = np.diag([1.0, 2.0, 2.5])
    kkt.add_body(tree, "ball", mass=1.0, com=(0.1, 0.2, 0.3), inertia=inertia, joint="spherical")
    kernel, unit = kkt.compile(tree, abm, format, check=True), np.array([0.1, -0.5, 0.3, 0.7])
    right = kernel(unit, none, none)[0]
    for length in (1e-5, 1.0, 1e5):
        qdd, status = kernel(length * unit, none, none)
        assert status == 0 and np.abs(qdd - right).max() < 1e-5
    for length in (1e-20, 1e-7, 1e7, 1e20, 1e155 if format == "float64" else 1e30):
        assert kernel(length * unit, none, none)[1] != 0


def test_no_digit_is_shown_that_is_not_proved():
    system = kkt.build(kkt.read_model(FIELD / "exact_zero.json"))
    proved = kkt.certify(system, 5)
    *others, zero = proved.decimals()
    assert zero == "0" and kkt.eliminate(system, orderings.get("abm"), "exact").qdd[-1] == 0
    assert others == [f"{float(x):.5g}" for x in kkt.eliminate(system, orderings.get("abm")).qdd[:-1]]
    for asked, right in zip(proved.decimals(45)[:-1], kkt.certify(system, 60).decimals()[:-1], strict=True):
        with mp.workdps(70):
            assert abs(mpf(asked) - mpf(right)) <= abs(mpf(right)) * mpf(10) ** -(len(asked.strip("-")) - 2)


ARM = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 -0.5"/>
<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>"""
DIALECTS = {
    "as it should be": ARM,
    "blanks before the declaration": f'\n  <?xml version="1.0"?>{ARM}',
    "products of inertia left out": ARM.replace(' ixy="0" ixz="0" iyz="0"', ""),
    "a default namespace": ARM.replace('name="r"', 'name="r" xmlns="http://ros.org"'),
    "a prefix that is not declared": ARM.replace("</robot>", "<drake:x drake:y='1'/></robot>"),
    "what xacro left in gazebo's part": ARM.replace(
        'name="r"', 'name="r" xmlns:xacro="http://ros.org/wiki/xacro"'
    ).replace("</robot>", "<gazebo><xacro:grey/></gazebo></robot>"),
    "UTF-8 under its other name": f'<?xml version="1.0" encoding="utf8"?>{ARM}',
    "letters of Windows": f'<?xml version="1.0" encoding="windows-1252"?><!-- \xe9 -->{ARM}'.encode("cp1252"),
    "UTF-16": f'<?xml version="1.0" encoding="UTF-16"?>{ARM}'.encode("utf-16"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_simulators_read_is_read(dialect, tmp_path):
    text = DIALECTS[dialect]
    (tmp_path / "r.urdf").write_bytes(text if isinstance(text, bytes) else text.encode())
    found = kkt.eliminate(
        kkt.build(kkt.load(str(tmp_path / "r.urdf")), [0.3], [0], [1]), orderings.get("abm")
    )
    assert found.qdd[0] == pytest.approx((1 - 9.81 * 0.5 * np.sin(0.3)) / 0.35)


@pytest.mark.parametrize("kind", ["spherical", "ball", "universal"])
def test_joints_that_urdf_lacks_are_read(kind, tmp_path):
    two = '<axis xyz="0 1 0"/><axis2 xyz="1 0 0"/>' if kind == "universal" else '<axis xyz="0 1 0"/>'
    text = ARM.replace("continuous", kind).replace('<axis xyz="0 1 0"/>', two)
    (tmp_path / "r.urdf").write_text(text)
    tree = kkt.load(str(tmp_path / "r.urdf"))
    assert tree.nodes["arm"]["joint"] == ("universal" if kind == "universal" else "spherical")
    assert kkt.compile_tree(tree).dof.tolist() == [2 if kind == "universal" else 3]
    if kind == "universal":
        (tmp_path / "r.urdf").write_text(text.replace('<axis2 xyz="1 0 0"/>', ""))
        with pytest.raises(kkt.ModelError, match="joint 'j': has no <axis2>, and a universal joint turns"):
            kkt.load(str(tmp_path / "r.urdf"))


def test_a_link_with_two_parents_is_told_as_the_loop_that_closes_it(tmp_path, monkeypatch, capsys):
    """The advice is followed: the joint leaves the file, and the sentence holds the file of its loop."""
    monkeypatch.chdir(tmp_path)
    text = (FIELD / "two_parents.urdf").read_text()
    Path("robot.urdf").write_text(text)
    assert main(["solve", "robot.urdf"]) == 2
    loop = json.loads(re.search(r"in a file that holds (\{.*\})", capsys.readouterr().err)[1])
    Path("loop.json").write_text(json.dumps(loop))
    Path("robot.urdf").write_text(re.sub(r'<joint name="jp".*?</joint>', "", text, flags=re.DOTALL))
    solve = ["solve", "robot.urdf", "--loops", "loop.json", "--q", "0,0,0", "--state", "qd:0,0,0"]
    assert main(solve) == 2  # three of five rows of a planar loop follow from the others
    loop["loops"][0]["rows"] = json.loads(
        re.search(r"keep rows=\((.*?)\)", capsys.readouterr().err)[1].join("[]")
    )
    Path("loop.json").write_text(json.dumps(loop))
    assert main([*solve, "--state", "tau:1,0,0", "--json"]) == 0
    qdd = json.loads(capsys.readouterr().out)["qdd"]
    assert np.abs(qdd).max() < 1e-12  # the pin lies on the rocker's own axis: nothing can move


@pytest.mark.peers
def test_a_linkage_in_free_fall_is_certified(capsys):
    """Its multipliers are exactly zero, beside forces that all are."""
    pytest.importorskip("mujoco")
    told = solved(capsys, f"{FIELD / 'falling_pair.xml'} --state tau:0,0,0,0,0,0,0")
    assert told["qdd"] == pytest.approx([-9.81, 0, 0, 0, 0, 0, -9.81], abs=1e-14)
    assert told["certified_digits"] >= 30
