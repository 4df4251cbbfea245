"""MJCF files, read and solved here, against mj_forward without constraints."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

from mujoco_peer import Peer, mjcf_model  # noqa: E402
from random_states import difference, random_state  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402
from pivotree.analysis.cli import main  # noqa: E402
from pivotree.kkt.model import mjcf  # noqa: E402

HAND_WRITTEN = """
<mujoco><compiler angle="degree"/><option gravity="0 1 -9"/>
 <default><joint armature="0.1" damping="0.3"/><default class="stiff">
  <joint stiffness="4" springref="20"/></default></default>
 <worldbody><geom type="plane" size="1 1 1"/>
  <body name="rail" pos="0 0 1" euler="10 20 30"><geom size="0.1"/>
   <body name="base" pos="0.1 0.2 0.3" euler="40 0 10">
    <joint name="x" type="slide" axis="1 0 0" ref="0.2" armature="2"/>
    <joint name="turn" axis="0 1 1" pos="0.1 0 0.2" ref="30" class="stiff"/>
    <joint name="ball" type="ball" pos="0 0.3 0"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0.1 0"/>
    <body name="welded" pos="0.2 0 0" euler="0 30 0"><geom type="box" size="0.1 0.2 0.05"/>
     <body pos="0 0.1 0.4"><joint name="wrist" type="hinge" axis="1 1 0" range="-60 60"/>
      <geom type="ellipsoid" size="0.1 0.05 0.07" pos="0 0.1 0"/></body></body></body></body>
  <body name="drone" pos="1 0 1" euler="0 0 45"><freejoint name="free"/>
   <geom size="0.2" pos="0.1 0 0"/>
   <body name="arm" pos="0.2 0 0"><joint name="hinge" axis="0 0 1" pos="-0.1 0 0"/>
    <geom type="cylinder" size="0.05 0.2"/></body></body>
 </worldbody>
 <equality><connect name="tie" body1="arm" body2="base" anchor="0 0 0"/></equality>
 <actuator><motor joint="hinge"/></actuator>
</mujoco>
"""


def arm(first="", second=""):
    """Two links, with attributes of their joints a and b."""
    link = '<geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.4"/>'
    inner = f'<body pos="0 0 -0.4"><joint name="b" {second}/>{link}</body>'
    return f'<body><joint name="a" axis="0 1 0" {first}/>{link}{inner}</body>'


INSIDE = {
    "free bodies": '<body><freejoint/><geom size="0.1"/></body><body pos="1 0 0"><joint type="free" '
    'damping="0.1"/><geom type="cylinder" size="0.1 0.3"/></body>',
    "bodies that nothing moves": '<body pos="1 0 0.5" euler="0 0 30"><geom type="box" size="1 1 0.1"/>'
    f'<body pos="0 0 0.1" euler="20 0 0"><geom size="0.1"/>{arm()}</body></body>',
    "no gravity": arm(),
    "springs and dampers off": arm('stiffness="3" damping="1"', 'type="ball" damping="1"'),
    "rotors of actuators": arm('armature="0.1"', 'type="slide"'),
    "rotors on a free arm": '<body><freejoint align="false"/><geom type="box" size="0.2 0.1 0.1" '
    'pos="0.1 0 0"/>' + arm('armature="2" damping="3"', 'armature="0.5"') + "</body>",
}
BESIDE = {
    "no gravity": '<option><flag gravity="disable"/></option>',
    "springs and dampers off": '<option><flag spring="disable" damper="disable"/></option>',
    "rotors of actuators": '<actuator><motor joint="a" armature="0.02" gear="5"/><motor joint="b" '
    'armature="0.7"/><motor joint="a" armature="0.03"/></actuator>',
}


def drawn(seed):
    """A file of bodies with one to three joints, anchors anywhere, springs and armature."""
    rng = np.random.default_rng(seed)

    def numbers(count, size=1.0):
        return " ".join(f"{x:.6f}" for x in size * rng.normal(size=count))

    def body(depth, number):
        text = f'<body name="b{number[0]}" pos="{numbers(3, 0.3)}" quat="{numbers(4)}">'
        name, joints = number[0], []
        number[0] += 1
        if depth == 0 and rng.random() < 0.4:
            joints.append(f'<freejoint name="j{name}"/>')
        else:
            for j in range(rng.integers(0 if depth else 1, 4)):
                kind = ("hinge", "slide", "ball")[rng.choice(3, p=[0.6, 0.25, 0.15])]
                if any("ball" in x for x in joints):
                    kind = "slide"  # MuJoCo takes no rotation after a ball
                spring = f'stiffness="{rng.uniform(0, 5):.4f}" springref="{rng.normal():.4f}"'
                joints.append(
                    f'<joint name="j{name}_{j}" type="{kind}" axis="{numbers(3)}" '
                    f'pos="{numbers(3, 0.2)}" armature="{rng.uniform(0, 1):.4f}" '
                    f'damping="{rng.uniform(0, 2):.4f}" '
                    + (spring + f' ref="{rng.normal():.4f}"' if kind != "ball" else "")
                    + "/>"
                )
        text += "".join(joints)
        pose = f'pos="{numbers(3, 0.1)}" quat="{numbers(4)}"'
        text += f'<geom type="box" size="0.1 0.2 0.05" {pose}/>'
        if depth < 3:
            text += "".join(body(depth + 1, number) for _ in range(rng.integers(1, 3)))
        return text + "</body>"

    inside = "".join(body(0, [100 * r]) for r in range(2))
    return (
        '<mujoco><compiler angle="radian"/><default><geom contype="0" conaffinity="0"/></default>'
        f"<worldbody>{inside}</worldbody></mujoco>"
    )


def compared(path, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kkt.MjcfWarning)
        tree = kkt.load(path)
    system = kkt.build(tree, loops=())
    peer = Peer(system, mjcf_model(path))
    state = random_state(system, seed, forces=False)
    ours = kkt.build(tree, state.q, state.qd, state.tau, loops=())
    qdd = kkt.eliminate(ours, orderings.get("abm")).qdd
    assert difference(qdd, peer.qdd(state)) <= 1e-9
    M = kkt.joint_space_inertia(ours, orderings.get("crbm"))
    free = [k for k, kind in enumerate(ours.tree.joint) if kind == "floating"]
    if not free:  # rates of a free joint are others
        assert difference(M, peer.inertia(state)) <= 1e-10


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.soak] * (seed >= 8)) for seed in range(25)]
)
def test_files_of_all_joints_are_mujoco_s(written, seed):
    compared(written(drawn(seed)), seed)


SUITE = sorted((Path(__file__).parents[1] / "models" / "suite").glob("*.xml"))


@pytest.mark.product
@pytest.mark.parametrize("path", SUITE, ids=lambda path: path.stem)
def test_compare_gives_rows_for_robots_of_the_kind_of_dm_control_s(path, capsys):
    """Slides, hinges and balls on one body, so that links between them have no mass; tendons, defaults."""
    assert main(["compare", str(path), "--formats", "float64", "--json"]) == 0
    rows = {row["order"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["abm"]["failed_at"] is rows["crbm"]["failed_at"] is None and len(rows) >= 15
    for order, row in rows.items():  # others that pivot on a massless link say so
        assert row["error"] < 1e-12 if row["failed_at"] is None else "singular" in row["failed_at"], order
    for seed in range(3):
        compared(path, seed)


@pytest.mark.parametrize("name", INSIDE)
def test_models_as_people_write_them_are_mujoco_s(written, name):
    text = f"<mujoco>{BESIDE.get(name, '')}<worldbody>{INSIDE[name]}</worldbody></mujoco>"
    compared(written(text), len(name))


def test_a_file_by_hand_and_what_is_left_out_is_named(written):
    path = written(HAND_WRITTEN)
    compared(path, 3)
    with pytest.warns(kkt.MjcfWarning, match=r"contacts of \d geoms; 1 actuators"):
        tree = kkt.read_mjcf(path)
    assert [loop.name for loop in tree.graph["loops"]] == ["tie"]
    assert "rail" not in tree and {"base/x", "base/turn", "base", "welded"} <= set(tree)
    assert tree.nodes["base/x"]["armature"].tolist() == [2.0]


def test_the_model_of_the_mujoco_wheel():
    path = Path(mujoco.__file__).parent / "testdata" / "model.xml"
    if not path.exists():
        pytest.skip("this wheel has no test data")
    compared(path, 1)


WRONG = {
    "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>": "MuJoCo refuses it",
    "<mujoco": "line 1, column 1 is not XML",
    "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>": "no body moves",
}
WRONG |= {
    f"<mujoco><worldbody><body><joint name='hip' {field}='{value}'/><geom size='1'/></body>"
    "</worldbody></mujoco>": f"body 'body 1': field '{field}' holds {value}.*; give a number, zero or more"
    for field in ("armature", "damping", "stiffness")
    for value in ("-1", "nan")
}
HINGE = "<mujoco><worldbody><body name='a'><joint name='hip' {}/><geom size='1' {}/></body>{}</mujoco>"
WRONG |= {
    HINGE.format("axis='0 nan 0'", "", "</worldbody>"): r"jnt_axis\[0\] of MuJoCo's model is no",
    '<?xml version="1.0" encoding="latin-1"?>'
    + HINGE.format("", "name='\xff'", "</worldbody>").replace("'a'", "'\xff'"): "not text in UTF-8",
    HINGE.format(
        "",
        "",
        "</worldbody><equality><connect body1='a' anchor='0 0 0'/>"
        "<connect name='equality 0' body1='a' anchor='0 0 0'/></equality>",
    ): "loop 'equality 0': name is used twice",
}
if tuple(map(int, mujoco.__version__.split(".")[:2])) >= (3, 4):  # before, MuJoCo refuses it
    WRONG |= {
        HINGE.format(f"{field}='1 2'", "", "</worldbody>"): "'hip': damping or stiffness is a poly"
        for field in ("damping", "stiffness")
    }


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, text, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "robot.xml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(kkt.ModelError, match=WRONG[text]) as error:
        kkt.load(path)
    assert capfd.readouterr() == ("", "") and list(tmp_path.iterdir()) == [path]  # no log
    assert "robot.xml" in str(error.value) and "\n" not in str(error.value)


def test_nothing_is_told_where_nothing_is_left_out(written):
    path = written(HINGE.format("", "contype='0' conaffinity='0'", "</worldbody>"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(kkt.load(path)) == {"a"}


def test_mjcf_without_mujoco_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(kkt.ModelError, match="not installed; python -m pip install mujoco"):
        kkt.read_mjcf(tmp_path / "robot.xml")


def test_what_mujoco_warns_of_is_told_and_not_logged(written, tmp_path, monkeypatch):
    """Its own words, without a MUJOCO_LOG.TXT in the folder that one is in."""
    monkeypatch.chdir(tmp_path)
    path = written(HINGE.format("", "", "</worldbody>"))
    compiled = mjcf._compiled
    monkeypatch.setattr(mjcf, "_compiled", lambda *given: (compiled(*given)[0], ["inertia is odd"]))
    with pytest.warns(kkt.MjcfWarning, match="MuJoCo warns: inertia is odd"):
        kkt.load(path)
    assert list(tmp_path.iterdir()) == [path]
