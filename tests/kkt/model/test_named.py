"""What can be named: the gallery, robots of packages that are and are not there, and xacro."""

import json
import re
import stat
import sys
from pathlib import Path

import pytest

from pivotree import kkt
from pivotree.analysis.cli import main
from pivotree.kkt.model import robots

URDF = """<robot name="r"><link name="w"/><link name="a">
<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="j" type="continuous"><parent link="w"/><child link="a"/></joint></robot>"""


@pytest.mark.parametrize("model", [x for x in kkt.named_models() if x.source == "gallery"])
def test_every_example_of_the_gallery_is_built(model):
    tree, again = (kkt.load(model.example) for _ in range(2))
    compiled, N = kkt.compile_tree(tree), len(kkt.build(tree).entries.tau)
    assert [len(tree.graph[key]) for key in ("q", "qd", "tau")] == [N, N, N]
    assert (compiled.mass > 0).all() and not compiled.indefinite() and not compiled.singular()
    assert (kkt.compile_tree(again).inertia == compiled.inertia).all()
    assert len(tree) > 1 and model.example.startswith(model.name) and model.what.endswith(".")
    given = [part.partition("=")[0] for part in model.example.partition(":")[2].split(",")]
    assert all(key in model.arguments for key in given if "=" in key)
    missing = [key for key, default in model.arguments.items() if not default]
    if missing:
        with pytest.raises(kkt.ModelError, match=f"{model.name} needs '{missing[0]}'"):
            kkt.load(model.name)


def test_models_are_listed_and_robots_where_they_are_installed(capsys, monkeypatch):
    monkeypatch.setattr("pivotree.kkt.model.robots.robots_folder", lambda: None)
    assert main(["models", "--json"]) == 0
    rows = {x["name"]: x for x in json.loads(capsys.readouterr().out, parse_constant=pytest.fail)}
    assert rows["chain"]["arguments"]["n"] == "" and rows["four_bar"]["floating"] is None
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    missing = "robot:NAME of example-robot-data: not installed (pip install 'example-robot-data')"
    assert missing in out
    assert "four_bar" in out and "whose base floats" not in out


@pytest.fixture
def xacro(tmp_path, monkeypatch):
    """A made-up xacro, first on the path."""

    def put(text):
        tool = tmp_path / "xacro"
        tool.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("pivotree.kkt.model.urdf.sys.executable", str(tool))

    return put


def test_xacro_is_expanded_by_the_tool_that_is_installed(xacro, tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text("MASS")
    xacro(f"assert open(sys.argv[1]).read() == 'MASS'\nprint({URDF!r})")
    assert list(kkt.load(path)) == ["a"]


@pytest.mark.product
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "print('error: name zz is not defined', file=sys.stderr); sys.exit(2)",
            "xacro refuses it (error: name zz is not defined",
        ),
        ("sys.exit(1)", "xacro refuses it (it says nothing)"),
        ("print('<robot')", "is not XML"),
        (None, "is a xacro file, and no xacro is installed; pip install xacro"),
    ],
)
def test_xacro_that_fails_is_told_in_one_sentence(xacro, tmp_path, capsys, text, told, monkeypatch):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text("MASS")
    xacro(text or "")
    if text is None:
        (tmp_path / "xacro").unlink()
    assert main(["solve", str(path)]) == 2
    err = capsys.readouterr().err
    assert told in err and err.count("\n") == 1


FIND = """
import re
from ament_index_python.packages import get_package_share_directory
given = dict(word.split(":=") for word in sys.argv[2:])
def text(path):
    found = open(path).read()
    found = re.sub(r"\\$\\(find (\\w+)\\)", lambda m: get_package_share_directory(m[1]), found)
    found = re.sub(r"<include (.*?)/>", lambda m: text(m[1]), found)
    return found.replace("$(arg mass)", given.get("mass", "1"))
try:
    print(text(sys.argv[1]))
except LookupError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("where", ["above", "beside", "in ROS", "given", "nowhere"])
def test_packages_of_xacro_are_found_without_ros(xacro, tmp_path, monkeypatch, capsys, where):
    """A stand-in asks for them as xacro does; the advice of the refusal is taken."""
    xacro(FIND)
    home = {"above": "arm", "beside": "src/arm", "in ROS": "ros/share/arm"}.get(where, "elsewhere")
    folder = tmp_path / home
    (folder / "urdf").mkdir(parents=True)
    (folder / "mass.txt").write_text("$(arg mass)")
    file = (folder if where == "above" else tmp_path / "src" / "robot") / "urdf" / "arm.urdf.xacro"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(URDF.replace('mass value="2"', 'mass value="<include $(find arm)/mass.txt/>"'))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ros"))
    told = [] if where not in ("given", "nowhere") else ["--urdf", f"package:arm={folder}"]
    if where == "nowhere":
        assert main(["solve", str(file)]) == 2
        advice = re.search(r"--urdf (package:arm=)FOLDER", capsys.readouterr().err)[1]
        told = ["--urdf", f"{advice}{folder}"]
    assert main(["solve", str(file), *told, "--urdf", "mass:=2.5", "--json"]) == 0
    packages = {"arm": str(folder)} if told else {}
    tree = kkt.load(file, packages=packages, arguments={"mass": "2.5"})
    assert tree.nodes["a"]["mass"] == 2.5 and kkt.load(file, packages=packages).nodes["a"]["mass"] == 1.0


def test_options_of_xacro_that_are_wrong_are_told(xacro, tmp_path, monkeypatch, capsys):
    xacro("print()")
    monkeypatch.chdir(tmp_path)
    Path("arm.xacro").touch()
    for told, words in {
        "option --urdf: 'mass=2' is unknown; give floating, dynamics": ["arm.xacro", "--urdf", "mass=2"],
        "option --urdf: names 'a' twice": ["arm.xacro", *["--urdf", "package:a=."] * 2],
        "package 'a': nowhere is no folder": ["arm.xacro", "--urdf", "package:a=nowhere"],
        "chain:3 is no .xacro file": ["chain:3", "--urdf", "mass:=2"],
        "chain:3 is no .urdf or .xacro file, which": ["chain:3", "--urdf", "floating"],
    }.items():
        assert main(["solve", *words]) == 2
        assert told in capsys.readouterr().err


@pytest.mark.peers
def test_xacro_itself_finds_the_package_above_its_file(capsys):
    pytest.importorskip("xacro")
    file = Path(__file__).parents[2] / "models" / "field" / "my_robot" / "urdf" / "find_include.urdf.xacro"
    assert kkt.load(file, arguments={"mass": "2"}).nodes["rod"]["mass"] == 2.0


def test_an_expansion_that_does_not_end_or_start_is_told(xacro, tmp_path, monkeypatch):
    path = tmp_path / "arm.xacro"
    path.write_text("")
    monkeypatch.setattr("pivotree.kkt.model.urdf.SECONDS", 0.2)
    xacro("import time; time.sleep(60)")
    with pytest.raises(kkt.ModelError, match=r"arm\.xacro: cannot be expanded by .*timed out"):
        kkt.load(path)
    (tmp_path / "xacro").write_bytes(b"\0 no program")
    with pytest.raises(kkt.ModelError, match=r"arm\.xacro: cannot be expanded by .*; expand it else"):
        kkt.load(path)


def test_a_power_of_ten_in_a_spec_need_not_be_whole():
    for text in ("1e1.5", "10**1.5", "10^1.5"):
        assert kkt.load(f"example2:m1={text}").nodes[1]["mass"] == pytest.approx(10**1.5)


def test_robots_of_a_folder_go_by_short_names(tmp_path, monkeypatch):
    """Those of its table that are there, and every file by its own name."""
    home = tmp_path / robots.SHARE
    for name in ("panda_description/urdf/panda", "ur_description/urdf/ur5_robot", "mine/arm"):
        path = home / f"{name}.urdf"
        path.parent.mkdir(parents=True)
        path.write_text(URDF)
    monkeypatch.setattr(robots, "robots_folder", lambda: home)
    files = robots.robot_files()
    assert set(files) == {"panda", "ur5", "ur5_robot", "arm"}
    assert files["ur5"] == files["ur5_robot"] == (home / "ur_description/urdf/ur5_robot.urdf", False)
    assert kkt.find_robot("arm") == (home / "mine/arm.urdf", False)
    assert set(kkt.load("robot:ur5")) == {"a"}
    with pytest.raises(kkt.ModelError, match="robot: 'armm' is unknown; did you mean arm"):
        kkt.find_robot("armm")


def test_a_folder_of_robots_is_found_beside_other_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(robots, "PACKAGE", "no-such-package-of-robots")
    home = tmp_path / "cmeel.prefix" / robots.SHARE
    home.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert robots.robots_folder() == home
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert robots.robots_folder() is None
    with pytest.raises(kkt.ModelError, match="robot: example-robot-data is not installed; python -m"):
        robots.robot_files()


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr("pivotree.kkt.model.robots.robots_folder", lambda: None)
    with pytest.raises(kkt.ModelError, match="pip install example-robot-data"):
        kkt.load("robot:panda")
