"""Files and specs that went wrong anywhere, drawn at random; and one place for what is outside."""

import ast
import json
import re
import warnings

import networkx as nx
import pytest
from helpers import ROOT
from hostile_words import MODEL
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import changed, documents
from test_architecture import FILES

from pivotree import kkt, orderings
from pivotree.kkt.base.text import LONGEST

URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 0.1"/>
<mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<origin xyz="0 0 1" rpy="0 0.5 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
SPECS = [
    "chain:3",
    "random_tree:n=5,seed=1,joints=floating+fixed",
    "two_link:r=0.5",
    "robot:ur5",
    "example3:m1=1e8,case=2",
    "binary:2",
    "featherstone:4,branching=1.5",
]


def judged(read, *arguments):
    """A tree that is eliminated, or a refusal in one short line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = read(*arguments)
            assert isinstance(tree, nx.DiGraph)
            found = kkt.eliminate(kkt.build(tree), orderings.get("abm"))
            assert found.failed_at or len(found.qdd) == kkt.compile_tree(tree).offset[-1]
        except kkt.PivotreeError as error:
            told = str(error)
            assert told and len(told) <= LONGEST and all(c.isprintable() for c in told)


@pytest.mark.slow
@given(documents(MODEL))
@settings(max_examples=150)
def test_model_files_with_anything_changed(tmp_path_factory, document):
    path = tmp_path_factory.getbasetemp() / "changed.json"
    path.write_text(json.dumps(document))
    judged(kkt.read_model, path)


@pytest.mark.thorough
@given(changed(URDF))
@settings(max_examples=150)
def test_urdf_files_with_anything_changed(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "changed.urdf"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    judged(kkt.read_urdf, path)


@pytest.mark.thorough
@given(st.sampled_from(SPECS).flatmap(changed))
@settings(max_examples=150)
def test_specs_with_anything_changed(text):
    if not re.search(r"\d{3}|binary:\D*[1-9]\d", text):  # not a question of size
        judged(kkt.load, text)


# -- one place ------------------------------------------------------------------------------------

OWN = {  # files of the package itself, and those that grow or are locked while a command works
    "read_text": {
        "analysis/explorer/page.py",
        "papers/paper.py",
        "papers/cloutier1995/page.py",
        "papers/make.py",
    },
    "read_bytes": {"kkt/machine/store.py"},
    "write_text": set(),
    "write_bytes": {"papers/make.py"},
    "savefig": set(),
    "exec_module": set(),
    "open": {
        "kkt/base/reading.py",
        "analysis/report/notebook.py",
        "analysis/sweep/store.py",
        "analysis/cli/running.py",
        "analysis/cli/__init__.py",
        "kkt/machine/store.py",
    },
    "exec": {"kkt/base/foreign.py"},
}
MADE = {"part", "stream", "self.fronts", "Image"}  # by kkt.base.files.beside, in memory, no files


def calls(path):
    """Name and receiver, or first argument of ``savefig``, of every call that meets a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in ("open", "exec"):
            yield node.func.id, ""
        if isinstance(node.func, ast.Attribute) and node.func.attr in OWN:
            whose = node.args[0] if node.func.attr == "savefig" else node.func.value
            yield node.func.attr, ast.unparse(whose)


@pytest.mark.thorough
@pytest.mark.parametrize("package", FILES)
def test_files_are_opened_written_and_run_in_one_place(package):
    """kkt.base.reading opens what a user names, kkt.base.files writes, kkt.base.foreign runs."""
    for path in FILES[package]:
        where = str(path.relative_to(ROOT))
        for name, whose in calls(path):
            assert whose in MADE or where in {*OWN[name], "kkt/base/files.py"}, f"{where}: {name}"
