"""URDF: every joint type, fixed joints merged and kept, and what is refused."""

import json
import re

import numpy as np
import pytest
from helpers import Mechanics, hat, one_sentence
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.model.urdf import MimicWarning, read_urdf


def link(name, mass="1", com="0 0 0", rpy="0 0 0", moments="1 2 2.5"):
    a, b, c = moments.split()
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia ixx="{a}" ixy="0" ixz="0" iyy="{b}" iyz="0" izz="{c}"/></inertial></link>\n'
    )


def joint(name, parent, child, kind="revolute", inside='<axis xyz="0 0 1"/>'):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>\n"
    )


@pytest.fixture
def write(tmp_path):
    def put(*parts, head='<robot name="r">\n', tail="</robot>\n"):
        path = tmp_path / "r.urdf"
        path.write_text(head + "".join(parts) + tail, encoding="utf-8")
        return path

    return put


EVERY = (
    [link(name) for name in "wabcdef"]
    + [joint("j1", "w", "a", "revolute", '<axis xyz="0 3 4"/><origin xyz="1 2 3"/>')]
    + [joint("j2", "a", "b", "continuous", "")]
    + [joint("j3", "a", "c", "prismatic", '<axis xyz="0 0 -2"/>')]
    + [joint("j4", "c", "d", "fixed", '<origin xyz="0 0 1"/>')]
    + [joint("j5", "d", "e", "planar", '<axis xyz="0 1 0"/>')]
    + [joint("j6", "w", "f", "floating", "")]
)


def test_every_joint_type(write):
    tree = read_urdf(write(*EVERY), merge_fixed=False)
    compiled = kkt.compile_tree(tree)
    assert compiled.names == ("a", "b", "c", "d", "e", "f")
    assert list(compiled.parent) == [-1, 0, 0, 2, 3, -1]
    assert compiled.joint == ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
    assert list(compiled.dof) == [1, 1, 1, 0, 3, 6]
    np.testing.assert_allclose(compiled.axis[0, 0], [0, 0.6, 0.8])
    assert (compiled.axis[1, 0] == [1, 0, 0]).all()  # URDF's default axis
    assert (compiled.axis[2, 0] == [0, 0, -1]).all()
    assert (compiled.p[0] == [1, 2, 3]).all()
    assert [tree.nodes[name]["joint_name"] for name in tree] == ["j1", "j2", "j3", "j4", "j5", "j6"]
    assert len(tree.graph["q"]) == 12 and tree.graph["name"] == "r"


def test_a_floating_base_is_a_body(write):
    tree = read_urdf(write(*EVERY), floating=True, merge_fixed=False)
    compiled = kkt.compile_tree(tree)
    assert compiled.names[0] == "w" and compiled.joint[0] == "floating"
    assert list(compiled.parent) == [-1, 0, 1, 1, 3, 4, 0]
    assert int(compiled.dof.sum()) == 18 == len(tree.graph["qd"])


def test_rpy_is_yaw_after_pitch_after_roll_and_turns_the_inertia(write):
    angles = (0.3, -0.5, 1.1)
    R, text = Rotation.from_euler("xyz", angles).as_matrix(), " ".join(map(str, angles))
    turned = joint("j", "w", "a", inside=f'<origin rpy="{text}"/>')
    path = write(link("w"), link("a", com="0.1 0.2 0.3", rpy=text), turned)
    tree = kkt.compile_tree(read_urdf(path))
    np.testing.assert_allclose(tree.R[0], R, atol=1e-16)
    np.testing.assert_allclose(tree.inertia[0], R @ np.diag([1, 2, 2.5]) @ R.T, atol=1e-15)
    assert (tree.com[0] == [0.1, 0.2, 0.3]).all() and (tree.inertia[0] == tree.inertia[0].T).all()


ARM = [
    link("w", "7"),
    link("a", "3", "0.1 0 0", "0.2 0 0"),
    link("b", "2", "0 0.3 0", "0 0.7 0"),
    link("c", "0.5", "0 0 0.2", "0.1 0.2 0.3"),
    '<link name="tool"/>',
    link("d", "1.5"),
    joint("j1", "w", "a"),
    joint("j2", "a", "b", "fixed", '<origin xyz="0.5 0 0.1" rpy="0.4 0 1"/>'),
    joint("j3", "b", "c", "fixed", '<origin xyz="0 0.2 0" rpy="0 -0.6 0"/>'),
    joint("j4", "c", "tool", "fixed", '<origin xyz="0 0 9"/>'),
    joint("j5", "tool", "d", "revolute", '<origin xyz="0.1 0.2 0.3" rpy="1 0 0"/>'),
]


def total(tree, q):
    """Mass, centre and inertia of the whole tree: its spatial inertia at the world's origin."""
    here, whole = Mechanics(tree, q, 0.0 * q), np.zeros((6, 6))
    for body in here.names:
        R, p = here.world(body)
        back = np.linalg.inv(np.block([[R, np.zeros((3, 3))], [hat(p) @ R, R]]))
        whole += back.T @ here.M[body] @ back
    return whole


@pytest.mark.parametrize("floating", [False, True])
def test_merging_fixed_joints_keeps_mass_centre_and_inertia(write, floating):
    path = write(*ARM)
    kept, merged = (read_urdf(path, floating, merge_fixed=flag) for flag in (False, True))
    assert len(kept) == len(merged) + 3 == 5 + floating
    assert list(merged) == (["w"] if floating else []) + ["a", "d"]
    assert merged.has_edge("a", "d")
    for tree in (kept, merged):
        tree.nodes[next(iter(tree))]["axis"] = (0.0, 0.0, 1.0)  # that of a floating base is none
    q = 0.4 * np.arange(1, len(kept.graph["q"]) + 1)
    np.testing.assert_allclose(total(kept, q), total(merged, q), rtol=1e-14, atol=1e-14)


def test_a_part_without_mass_keeps_its_inertia_in_merging(write):
    rotor = link("rotor", mass="0", moments="0.1 0.2 0.25") + joint("j1", "a", "rotor", "fixed")
    tree = read_urdf(write(link("w"), link("a"), rotor, joint("j0", "w", "a")))
    assert np.allclose(tree.nodes["a"]["inertia"], np.diag([1.1, 2.2, 2.75]))


def test_links_fixed_to_the_world_vanish_in_merging(write):
    still = joint("j0", "w", "post", "fixed", '<origin xyz="0 0 2" rpy="0 0 1"/>')
    arm = joint("j1", "post", "a", inside='<origin xyz="1 0 0"/>')
    path = write(*map(link, ("w", "post", "a")), still, arm)
    assert list(read_urdf(path, merge_fixed=False)) == ["post", "a"]
    tree = kkt.compile_tree(read_urdf(path))
    assert tree.names == ("a",) and list(tree.parent) == [-1]
    np.testing.assert_allclose(tree.p[0], [np.cos(1), np.sin(1), 2])


def test_a_link_without_inertial_has_no_mass(write):
    tree = kkt.compile_tree(read_urdf(write(link("w"), '<link name="a"/>', joint("j", "w", "a"))))
    assert tree.mass[0] == 0 and not tree.inertia.any()


def test_mimic_joints_are_told_in_one_warning_and_free_or_fixed_at_their_offset(write):
    links = [link(name) for name in "wabc"]
    one, two = (
        joint(name, up, down, inside='<axis xyz="0 0 1"/><mimic joint="j1" multiplier="2" offset="0.5"/>')
        for name, up, down in (("j2", "a", "b"), ("j3", "b", "c"))
    )
    path = write(*links[:3], joint("j1", "w", "a"), one)
    with pytest.warns(MimicWarning, match="joint 'j2': mimics 'j1'; it moves freely"):
        assert kkt.compile_tree(read_urdf(path)).joint == ("revolute", "revolute")
    with pytest.warns(MimicWarning, match="held at its offset 0.5"):
        held = kkt.compile_tree(read_urdf(path, mimic="fixed", merge_fixed=False))
    assert held.joint == ("revolute", "fixed")
    assert held.R[1][0, 0] == np.cos(0.5)
    place = '<origin xyz="1 2 3" rpy="1.5707963267948966 0 0"/><mimic joint="j1" offset="0.5"/>'
    slide = joint("j2", "a", "b", "prismatic", f'<axis xyz="0 0 1"/>{place}')
    with pytest.warns(MimicWarning):  # along its own axis, which is -y of the parent
        slid = read_urdf(write(*links[:3], joint("j1", "w", "a"), slide), mimic="fixed", merge_fixed=False)
    assert slid.nodes["b"]["p"] == pytest.approx([1.0, 1.5, 3.0])
    with pytest.raises(kkt.ModelError, match="option mimic"):
        read_urdf(path, mimic="follow")
    path = write(*links, joint("j1", "w", "a"), one, two)
    for mimic, told in (("free", "move freely"), ("fixed", "are held at their offsets")):
        with pytest.warns(MimicWarning, match=f"2 joints mimic others and {told} here: 'j2'"):
            read_urdf(path, mimic=mimic)


@pytest.mark.uncached
def test_mimic_joints_are_coupled_in_a_state_that_keeps_them(write):
    def follows(name, ratio, offset):
        inside = f'<mimic joint="{name}" multiplier="{ratio}" offset="{offset}"/>'
        return {"inside": '<axis xyz="0 0 1"/>' + inside}

    two, three = follows("j1", 2, 0.5), follows("j2", -1, 0)
    joints = joint("j1", "w", "a") + joint("j3", "a", "b", **three) + joint("j2", "w", "c", **two)
    path = write(*map(link, "wabc"), joints)
    tree = read_urdf(path, mimic="coupled")
    q, qd = tree.graph["q"], tree.graph["qd"]
    assert list(tree) == ["a", "b", "c"]
    assert [q[2], q[1]] == [2 * q[0] + 0.5, -q[2]] and [qd[2], qd[1]] == [2 * qd[0], -qd[2]]
    system = kkt.build(tree)
    qdd = kkt.eliminate(system, orderings.get("abm")).qdd
    assert np.allclose(qdd, qdd[0] * np.array([1, -2, 2]), rtol=1e-13)
    alike = joint("j1", "w", "a") + joint("j2", "a", "b", inside='<mimic joint="j1"/>')
    (loop,) = read_urdf(write(*map(link, "wab"), alike), mimic="coupled").graph["loops"]
    assert loop.follows == (1.0, 0.0)  # where the file says neither


@pytest.mark.parametrize(
    ("other", "second", "message"),
    [
        ("j9", "", "joint 'j2': field 'mimic joint' is 'j9', which does not move"),
        ("j2", "", "joints j2 -> j2: mimic each other"),
        ("j1", '<mimic joint="j2"/>', "joints j1 -> j2 -> j1: mimic each other"),
    ],
)
def test_mimic_joints_that_follow_nothing_are_refused(write, other, second, message):
    follower = joint("j2", "a", "b", inside=f'<mimic joint="{other}"/>')
    path = write(*map(link, "wab"), joint("j1", "w", "a", inside=second), follower)
    with one_sentence(kkt.ModelError, message):
        read_urdf(path, mimic="coupled")


TWO = link("w") + link("a")


@pytest.mark.product
@pytest.mark.parametrize(
    "text, words",
    [
        (TWO + "<joint", "line 4, column 7 is not XML"),
        (TWO, "'w' and 'a': neither has a parent joint"),
        ("", "has no <link>"),
        (TWO + joint("j", "w", "b"), "joint 'j': child link 'b' is unknown; use one of a, w"),
        (TWO + joint("j", "v", "a"), "joint 'j': parent link 'v' is unknown"),
        (TWO + joint("j", "w", "a") * 2, "joint 'j': name is used twice"),
        (TWO + link("a") + joint("j", "w", "a"), "link 'a': name is used twice"),
        (TWO + joint("j", "w", "a") + joint("k", "w", "a"), "'a': has two parent joints, 'j'"),
        (
            TWO + joint("j", "w", "a") + joint("k", "w", "a", "fixed", inside='<origin rpy="0 0 1"/>'),
            r"'joint': 'fixed', 'R': \[\[0.54030\d*, -0.84147.*0.0, 1.0\]\]}\]}$".replace("'", '"'),
        ),
        (TWO + joint("j", "w", "w"), "links w -> w: form a cycle"),
        (TWO + link("b") + joint("j", "a", "b") + joint("k", "b", "a"), r"links \w -> \w -> \w: form a"),
        (TWO + joint("j", "w", "a", "revolut"), "did you mean revolute"),
        (TWO + joint("j", "w", "a", inside='<axis xyz="0 0 0"/>'), "joint 'j': field 'axis' is ze"),
        (TWO + joint("j", "w", "a", inside='<axis xyz="0 1"/>'), "'axis' is '0 1'; give 3 numb"),
        (TWO + joint("j", "w", "a", inside='<origin xyz="0 0 x"/>'), "'origin xyz' is 'x'"),
        (TWO + joint("j", "w", "a", inside='<origin rpy="0 inf 0"/>'), "'origin rpy' is 'inf'"),
        (TWO + joint("j", "w", "a", inside='<limit upper="x"/>'), "'limit upper' is 'x'; give a"),
        (link("w") + link("a", "-1") + joint("j", "w", "a"), "link 'a': field 'mass' is -1; giv"),
        (link("w") + link("a", "nan") + joint("j", "w", "a"), "'mass' is 'nan'; give a finite"),
        (link("w") + link("a", moments="1 1 b") + joint("j", "w", "a"), "'inertia izz' is 'b'"),
        (link("a") + '<link name="b"><inertial><mass value="1"/></inertial></link>', "'inertia ixx' is mis"),
        (TWO + joint("j", "w", "a", inside='<axis xyz="0 0 1"/>' * 2), "'j': <axis> is given twice; leave"),
        (TWO.replace("<mass", '<mass value="2"/><mass', 1), "<inertial/mass> is given tw"),
        ("<link/>", "a <link> after 0 others: field 'name' is missing"),
        (TWO + '<joint name="j" type="fixed"/>', "joint 'j': field 'parent link' is missing"),
        (link("w"), "no body is left"),
        ('<x:macro xmlns:x="http://ros.org/wiki/xacro"/>', "expand them first"),
    ],
)
def test_bad_files_are_told_in_one_sentence(write, text, words):
    path = write(text)
    with one_sentence(kkt.ModelError, words, start=f"{path}: "):
        read_urdf(path)


@pytest.mark.parametrize("rpy", ["0 0 0", "0.3 -0.5 1.1"])
def test_the_loop_that_a_second_parent_is_to_become_is_told_whole(write, rpy):
    """As a file that can be read; nine numbers of a rotation are too long for that, and told in words."""
    second = f'<axis xyz="0 1 0"/><origin xyz="1 2 3" rpy="{rpy}"/>'
    parts = joint("i", "w", "a"), joint("j", "a", "b"), joint("k", "w", "b", inside=second)
    with pytest.raises(kkt.ModelError) as told:
        read_urdf(write(*map(link, "wab"), *parts))
    said = re.search(r"holds (\{.*\})(.*)", str(told.value))
    wanted = {"name": "k", "first": "w", "second": "b", "joint": "revolute"}
    assert json.loads(said[1])["loops"] == [wanted | {"axis": [0, 1, 0], "p": [1, 2, 3]}]
    assert ('with "R" of its <origin rpy>' in said[2]) == (rpy != "0 0 0")


@pytest.mark.parametrize(
    "declared", ['<!ENTITY e SYSTEM "file:///etc/hostname">', '<!ENTITY e "1">', '<!ENTITY % e SYSTEM "x">']
)
def test_entities_are_refused(write, declared):
    head = f'<!DOCTYPE robot [{declared}]>\n<robot name="r">'
    path = write(link("w"), link("a", "&e;"), joint("j", "w", "a"), head=head)
    with pytest.raises(kkt.ModelError, match="holds an XML entity or document type that is refused"):
        read_urdf(path)


def test_files_that_are_no_urdf(tmp_path):
    other = tmp_path / "other.urdf"
    other.write_text("<sdf/>")
    with pytest.raises(kkt.ModelError, match="root element is <sdf>"):
        read_urdf(other)
    other.write_bytes(b'<?xml version="1.0" encoding="utf-8"?><robot name="\xff"/>')
    with pytest.raises(kkt.ModelError, match=r"(encoding|not XML)"):
        read_urdf(other)
    with pytest.raises(kkt.ModelError, match="No such file"):
        read_urdf(tmp_path / "none.urdf")
    with pytest.raises(kkt.ModelError, match="cannot be read"):
        read_urdf(tmp_path)


@pytest.mark.product
def test_a_deep_chain_is_no_recursion(write):
    n = 1500
    joints = (joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(n - 1))
    path = write(*(link(f"l{k}") for k in range(n)), *joints)
    assert len(kkt.compile_tree(read_urdf(path)).levels) == n - 1


# -- joints of their own --------------------------------------------------------------------------


def damped(write, dynamics='<dynamics damping="0.5" friction="0.25"/>'):
    free = joint("j2", "a", "b", "planar", '<dynamics damping="2"/>')
    return write(link("w"), link("a"), link("b"), joint("j1", "w", "a", inside=dynamics), free)


def test_damping_and_friction_are_read_on_request(write):
    path = damped(write)
    assert kkt.compile_tree(read_urdf(path)).terms is None
    terms = kkt.compile_tree(kkt.load(path, dynamics=True)).terms
    assert terms.damping.tolist() == [0.5, 2.0, 2.0, 2.0]
    assert terms.friction.tolist() == [0.25, 0.0, 0.0, 0.0]


def test_what_says_nothing_of_a_joint_is_no_term(write):
    """Zero damping, and damping of a joint that does not move."""
    still = joint("j0", "u", "w", "fixed", '<dynamics damping="3"/>')
    arm = joint("j1", "w", "a", inside='<dynamics damping="0"/>')
    path = write(link("u"), link("w"), link("a"), still, arm)
    assert kkt.compile_tree(read_urdf(path, dynamics=True)).terms is None


@pytest.mark.parametrize("effort", ["0", "inf", "nan"])
def test_an_effort_that_says_nothing_is_none(write, effort):
    path = write(TWO + joint("j", "w", "a", inside=f'<limit effort="{effort}" upper="nan"/>'))
    data = read_urdf(path).nodes["a"]
    assert "effort" not in data and data["limits"] == (-np.inf, np.inf, np.inf)
    limit = '<limit lower="-1" upper="1" velocity="3"/>'
    endless = read_urdf(write(TWO + joint("j", "w", "a", "continuous", limit)))
    assert endless.nodes["a"]["limits"] == (-np.inf, np.inf, 3.0)


def test_what_is_wrong_with_a_joint_is_one_sentence(write):
    path = damped(write, '<dynamics friction="x"/>')
    with pytest.raises(kkt.ModelError, match="'dynamics friction' is 'x'; give a finite number"):
        read_urdf(path, dynamics=True)
    read_urdf(path)
