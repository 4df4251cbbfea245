"""Which command takes loops and contacts, as the table of docs/loops.md has it."""

import json
import re

import pytest
from helpers import ROOT

from pivotree import kkt
from pivotree.analysis.cli import main

TAKES = (
    ["compare", "four_bar", "--orders", "abm"],
    ["solve", "four_bar", "--order", "abm"],
    ["blame", "four_bar", "--order", "abm"],
    ["spy", "four_bar", "-o", "{out}/m.svg"],
    ["tune", "four_bar", "--most", "5"],
    ["tune", "chain:3", "--contact", "j3", "--compliance", "1", "--most", "5"],
    ["list", "four_bar", "--order", "closed_early"],
    ["list", "chain:3", "--contact", "j3", "--compliance", "1e-3"],
    ["compare", "four_bar", "--proximal", "1e-4", "--orders", "abm"],
    ["explore", "four_bar", "-o", "{out}/x.html"],
    ["export", "four_bar", "--outputs", "qdd,lambda", "-o", "{out}/a.c"],
    ["export", "chain:3", "--contact", "j3", "--compliance", "1e-3", "-o", "{out}/b.c"],
    ["report", "four_bar", "--states", "3", "--orders", "abm", "-o", "{out}/r"],
    ["report", "four_bar", "--armature", "--states", "3", "--orders", "abm"],
    ["compare", "four_bar", "--states", "3", "--orders", "abm"],
)
REFUSED = (
    (["report", "four_bar", "--loops", "{file}", "-o", "{out}/r"], "no random state can be closed"),
    (["compare", "four_bar", "--loops", "{file}", "--states", "5"], "distribution = 'given'"),
)
ROWS = r"^\| (`.*?) \| (.*) \|$"


@pytest.mark.product
@pytest.mark.parametrize("arguments", TAKES, ids=" ".join)
def test_commands_that_take_loops(arguments, tmp_path, capsys):
    assert main([text.replace("{out}", str(tmp_path)) for text in arguments]) == 0
    told = capsys.readouterr()
    assert told.out and "takes trees" not in told.err
    if arguments[0] == "export":
        header = next(tmp_path.glob("*.h")).read_text()
        assert ("_ROWS 2" in header) == ("lambda" in " ".join(arguments))


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED, ids=lambda x: " ".join(x)[:30])
def test_commands_that_do_not_say_so_and_what_does(arguments, sentence, tmp_path, capsys):
    out, file = tmp_path / "out", tmp_path / "loops.json"
    turns = {"joint": "general", "S": [[0], [0], [0], [1], [0], [0]], "p": [3, 0, 0], "p_second": [2.5, 0, 0]}
    loop = {"first": "coupler", "second": "rocker", "rows": [3], "compliance": 1, **turns}
    file.write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [loop]}))
    names = {"{out}": str(out), "{file}": str(file)}
    for name, path in names.items():
        arguments = [text.replace(name, path) for text in arguments]
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert sentence in told and told.count("\n") == 1
    assert not out.exists()


def test_large_trees_say_what_takes_loops():
    system = kkt.build(kkt.load("four_bar"))
    with pytest.raises(kkt.LoopError, match=r"use kkt\.eliminate, which takes it"):
        kkt.solve_large(system)
    with pytest.raises(kkt.LoopError, match=r"use kkt\.compile, which takes it"):
        kkt.compile_large(system.graph)


def test_the_table_of_the_page_names_every_command():
    page = (ROOT / "docs" / "loops.md").read_text()
    rows = re.findall(ROWS, page.partition("| command | loops and contacts |")[2], re.M)
    named = {name for cell, _ in rows for name in re.findall(r"`([a-z]+)", cell)}
    commands = {a[0] for a in TAKES} | {a[0] for a, _ in REFUSED}
    assert commands <= named and {"simulate", "sweep", "counts", "guarantee", "figure"} <= named
