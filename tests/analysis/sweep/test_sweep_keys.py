"""Keys of rows: of all that a model is made of, files that its file includes and meshes too."""

import itertools
import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from sweep_runs import table

from pivotree import kkt
from pivotree.analysis.cli import main
from pivotree.analysis.sweep import read_config
from pivotree.analysis.sweep.measure import fingerprint, positions, tasks

CONFIG = """output = "s.csv"
models = [{}]
orders = ["abm"]
formats = ["float32"]
measure = ["error"]
"""
URDF = """<robot name="r"><link name="w"/><link name="a"><inertial><mass value="MASS"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="w"/><child link="a"/></joint></robot>"""
MJCF = """<mujoco><worldbody><body name="b"><joint name="j"/>
<geom size="0.1" mass="MASS"/></body></worldbody></mujoco>"""
MESHED = """<mujoco><asset><mesh name="m" file="t.obj"/></asset><worldbody><body name="b"><joint/>
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
MESH = "v 0 0 0\nv MASS 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ATTACHING = """<mujoco><asset><model name="m" file="part.xml"/></asset>
<worldbody><attach model="m" body="b" prefix="x"/></worldbody></mujoco>"""
INCLUDING = '<mujoco><include file="s/{}.xml"/></mujoco>'
MODEL = """{"schema": "pivotree-model/1", "name": "m", "gravity": [0, 0, -9.81],
"bodies": [{"name": "a", "parent": null, "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "p": [0, 0, 0],
"S": [[0], [0], [1], [0], [0], [0]], "mass": MASS, "com": [0.1, 0, 0],
"inertia_com": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}], "velocity": [0.1], "effort": [1]}"""
STAND_IN = """#!{}
import re, sys
text = open(sys.argv[1]).read()
print(re.sub("<include (.*)/>", lambda found: open(found[1]).read(), text))
"""

# files by their names; MASS is the number that changes, and each model is the first file's
KINDS = {
    "a URDF": {"r.urdf": URDF},
    "a model file": {"r.json": MODEL},
    "xacro": {"r.xacro": URDF},
    "a file that xacro includes": {"r.xacro": "<include part.txt/>", "part.txt": URDF},
    "MJCF": {"r.xml": MJCF},
    "MJCF that is included": {"r.xml": INCLUDING.format("a"), "s/a.xml": MJCF},
    "MJCF that an included file includes": {
        "r.xml": INCLUDING.format("a"),
        "s/a.xml": INCLUDING.format("b").replace("s/", ""),
        "s/b.xml": MJCF,
    },
    "MJCF that is attached": {"r.xml": ATTACHING, "part.xml": MJCF},
    "a mesh": {"r.xml": MESHED, "t.obj": MESH},
    "a mesh of an included file": {"r.xml": INCLUDING.format("a"), "s/a.xml": MESHED, "s/t.obj": MESH},
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Files written with a mass; xacro is stood in for."""
    monkeypatch.chdir(tmp_path)
    tool = tmp_path / "xacro"
    tool.write_text(STAND_IN.format(sys.executable))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("pivotree.kkt.model.urdf.sys.executable", str(tool))

    seconds = itertools.count(10**9)

    def write(files, mass):
        for name, text in files.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text.replace("MASS", mass))
            os.utime(name, times=(next(seconds),) * 2)  # MuJoCo keeps a mesh for a second

    return write


def digest(*models):
    """Of the only model of a sweep, by entries of its list as TOML has them."""
    Path("c.toml").write_text(CONFIG.format(", ".join(models)))
    (model,) = read_config(Path("c.toml")).models
    return model.digest


@pytest.mark.product
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_another_where_any_of_its_files_changes(kind, written):
    files = KINDS[kind]
    model = json.dumps(next(iter(files)))
    if model.endswith('.xml"'):
        pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    found = []
    for mass in ("2.0", "2.0", "2.0000000000000004", "3"):
        written(files, mass)
        found.append(digest(model))
    if "mesh" in kind:  # MuJoCo keeps its vertices in float32
        found[2] = None
    assert found[0] == found[1] and len(set(found)) == 3


def test_a_robot_by_its_name_is_known_by_what_it_is(written, monkeypatch):
    place = "pivotree.kkt.model.robots.find_robot"
    monkeypatch.setattr(place, lambda name: (Path(f"{name}.urdf"), False))
    found = []
    for mass in ("2", "3"):
        written({"arm.urdf": URDF}, mass)
        found.append(digest('"robot:arm"'))
    assert len(set(found)) == 2


def test_how_a_file_is_read_is_of_its_key(written):
    written({"r.urdf": URDF}, "2")
    ways = ["", ", floating = true", ", merge_fixed = false"]
    assert len({digest(f'{{model = "r.urdf"{way}}}') for way in ways}) == len(ways)


def test_where_a_file_lies_and_what_its_comments_say_is_not_of_its_key(written):
    written({"r.urdf": URDF, "s/other.urdf": "<!-- the same -->" + URDF}, "2")
    assert digest('"r.urdf"') == digest('"s/other.urdf"')


def test_rows_are_measured_anew_where_an_included_file_has_changed(written, capsys):
    files = KINDS["a file that xacro includes"]
    Path("c.toml").write_text(CONFIG.format('"r.xacro"'))
    keys = []
    for mass in ("2", "2", "3"):
        written(files, mass)
        assert main(["sweep", "c.toml", "-j", "1"]) == 0
        keys.append([row["key"] for row in table(Path("s.csv"))])
    assert keys[0] == keys[1] == keys[2][1:] and len(keys[2]) == 2  # what was measured stays behind


def test_cases_of_another_seed_have_other_keys_and_pieces_end_with_the_states(tmp_path):
    def asked(seed):
        text = CONFIG.format('"chain:2"') + f"[states]\nnumber = 300\nseed = {seed}\n"
        (tmp_path / "s.toml").write_text(text)
        return read_config(tmp_path / "s.toml")

    first, second = (positions(asked(seed)) for seed in (1, 2))
    assert len(first) == len(second) == 300 and not first.keys() & second.keys()
    assert [len(task.keys) for task in tasks(asked(1), set())] == [240, 60]


def test_a_tape_is_shared_where_all_is_alike_that_it_is_made_from():
    """Numbers of axes, places of zeros, and loops; not masses."""

    def made(axis=(2.0, 3.0, 6.0), p=(0.3, 0.0, 0.0), mass=1.0, tied=None):
        tree = kkt.new_tree("pair")
        for name, up in (("a", None), ("b", "a")):
            kkt.add_body(tree, name, up, axis=axis, p=p, mass=mass, com=(0.1, 0.2, 0.3), inertia=np.eye(3))
        loops = [kkt.contact("b", (0.1, 0.0, 0.0), name=tied)] if tied else []
        return fingerprint(kkt.build(tree, loops=loops))

    others = [made(axis=(3.0, 2.0, 6.0)), made(p=(0.3, 0.1, 0.0)), made(tied="x"), made(tied="y")]
    assert made() == made(mass=2.0) and len({made(), *others}) == 5
