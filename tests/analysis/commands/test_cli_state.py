"""The command line says in which state it computes, and takes others."""

import argparse
import json
import re
import shlex
from importlib import import_module

import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli.parser import COMMANDS, parser
from pivotree.analysis.states.sample import system_at
from pivotree.kkt.theorem.ranges import ranges_of

EXAMPLES = {name: import_module(f"pivotree.analysis.cli.commands.{name}").EXAMPLES for name in COMMANDS}
ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
<link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="tool"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
<joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def solved(run, *arguments):
    code, out, err = run("solve", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_joints_have_names_and_the_others_stay(run, arm):
    by_name = solved(run, arm, "--q", "elbow=0.3", "--state", "qd:0,0")
    own = kkt.load(arm, merge_fixed=True).graph["q"]
    both = f"{float(own[0])!r},0.3"
    assert by_name["qdd"] == solved(run, arm, "--q", both, "--state", "qd:0,0")["qdd"]
    assert by_name["qdd"] == solved(run, arm, "--q", "fore=0.3", "--state", "qd:0,0")["qdd"]
    assert by_name["state"].startswith("q = 0.3 sin(1.7 k) but elbow=0.3, qd = 0,0, tau = 2 sin(")


def test_a_joint_s_name_goes_before_that_of_another_s_body(run, arm, tmp_path):
    other = tmp_path / "other" / "arm.urdf"
    other.parent.mkdir()
    other.write_text(ARM.replace('joint name="elbow"', 'joint name="upper"'))
    for words in (("solve", "--q"), ("guarantee", "--states", "0", "--orders", "abm", "--limits")):
        own = "0.3" if words[0] == "solve" else "-0.1:0.1"
        told = [
            run(*words, f"{joint}={own}", file, "--json")
            for file, joint in ((arm, "elbow"), (other, "upper"))
        ]
        plain = [re.sub("elbow|upper|fore|/other", "", out) for _, out, _ in told]
        assert told[0][0] == 0 and plain[0] == plain[1]


def test_a_list_may_begin_with_a_minus(run, arm):
    assert solved(run, arm, "--q", "-0.3,1")["qdd"] == solved(run, arm, "--q=-0.3,1")["qdd"]
    assert solved(run, arm, "--state", "tau:-.3,1")["qdd"] == solved(run, arm, "--state=tau:-.3,1")["qdd"]


def test_a_state_comes_from_a_file(run, arm, tmp_path):
    file = tmp_path / "state.json"
    file.write_text('{"schema": "pivotree-state/1", "q": {"elbow": 0.3}, "qd": [0, 0]}')
    found = solved(run, arm, "--state", file)
    assert found["qdd"] == solved(run, arm, "--q", "elbow=0.3", "--state", "qd:0,0")["qdd"]
    assert str(file) in found["state"]
    motion = "simulate", arm, "--order", "abm", "--seconds", "2", "--json"
    named = "--q", "elbow=0.3", "--state", "qd:0,0"
    rows = [json.loads(run(*motion, *words)[1])["rows"] for words in (("--state", file), named, ())]
    steps = [[row["evaluations"], row["accepted"], row["rejected"]] for (row,) in rows]
    assert steps[0] == steps[1] != steps[2]


def test_a_random_state_is_the_first_that_a_report_measures(run, arm):
    system = kkt.build(kkt.load(arm, merge_fixed=True))
    drawn = system_at(system, ranges_of(system), 7, 0)
    answer = kkt.eliminate(drawn, kkt.trace(drawn, orderings.get("abm")))
    found = solved(run, arm, "--state", "random:7")
    assert found["qdd"] == pytest.approx(answer.qdd.tolist(), rel=1e-12)
    assert found["state"] == "random state 0 of seed 7"


def test_links_without_mass_stop_no_order_unless_they_are_kept(run, arm):
    _, out, _ = run("compare", arm, "--orders", "abm,natural", "--json")
    assert all(row["error"] is not None for row in json.loads(out)["rows"])
    _, out, _ = run("compare", arm, "--orders", "abm,natural", "--urdf=keep-fixed", "--json")
    failed = {row["order"]: row["failed_at"] for row in json.loads(out)["rows"]}
    assert failed["abm"] is None and "no --urdf keep-fixed" in failed["natural"]


@pytest.mark.parametrize("command", EXAMPLES)
def test_every_help_has_defaults_and_examples_that_parse(run, command, monkeypatch):
    for columns in (80, 250):
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, _ = run(command, "--help")
        assert code == 0 and "examples:" in out
        assert max(map(len, out.splitlines())) <= columns
        assert all(f"  pivotree {example}" in out for example in EXAMPLES[command])
    for example in EXAMPLES[command]:
        assert parser().parse_args(shlex.split(example)).command == command
    for action in parser()._subparsers._group_actions[0].choices[command]._actions:
        default = f"{action.default:g}" if isinstance(action.default, float) else action.default
        if action.option_strings and default not in (None, False, argparse.SUPPRESS):
            assert f"({default})" in action.help, action.option_strings


def test_help_shows_an_order_of_ones_own_that_runs(run, tmp_path):
    text = run("orders", "--help")[1]
    lines = text.partition("every other body goes first:\n")[2].partition("\nthen:\n  ")
    (tmp_path / "mine.py").write_text("\n".join(x[2:] for x in lines[0].splitlines()), "utf-8")
    code, out, _ = run(*shlex.split(lines[2])[1:])
    assert code == 0 and re.search(r"odds_first +6 +66 +2,349 ", out)
    headings = re.findall(r"\w+", next(x for x in out.splitlines() if x.startswith(" order ")))
    told = "".join(out.partition("fill: ")[1:])
    assert not [x for x in headings if x not in told and not x.startswith(("order", "float"))]


def test_contacts_and_loops_stand_beside_the_model_on_the_command_line(run, refused, arm, tmp_path):
    """The tool is a link on a fixed joint; merged or kept, it is held in the same place."""
    merged = solved(run, arm, "--contact", "tool@0.4:0:0,compliance=0.5")
    kept = solved(run, arm, "--contact", "tool@0.4:0:0,compliance=0.5", "--urdf=keep-fixed")
    free = solved(run, arm)
    assert merged["qdd"] == pytest.approx(kept["qdd"], rel=1e-12) != free["qdd"]
    file = tmp_path / "loops.json"
    entry = {"body": "tool", "point": [0.4, 0, 0], "normal": [0, 0, 1], "name": "tip"}
    entry |= {"tangents": [[1, 0, 0], [0, 1, 0]], "compliance": 0.5}
    file.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [entry]}))
    assert solved(run, arm, "--loops", file)["qdd"] == pytest.approx(merged["qdd"], rel=1e-12)
    told = refused("solve", arm, "--contact", "tol")
    assert "option --contact: body 'tol' is unknown; did you mean tool" in told
