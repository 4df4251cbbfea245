"""Which command takes loops and contacts, and what is told of rows that follow from others."""

import json

import pytest

from pivotree import kkt, orderings

TAKES = (
    "compare four_bar --orders abm",
    "solve four_bar --order abm",
    "blame four_bar --order abm",
    "figure spy four_bar -o m.svg",
    "tune chain:3 --contact j3,compliance=1 --most 5",
    "list chain:3 --contact j3,compliance=1e-3",
    "explore four_bar -o x.html",
    "export four_bar --outputs qdd,lambda -o a.c",
    "export chain:3 --contact j3,compliance=1e-3 -o b.c",
)
REFUSED = {
    "no random state can be closed": "report four_bar --loops loops.json -o r",
    "distribution = 'given'": "report four_bar --loops loops.json -o s",
}


@pytest.mark.product
@pytest.mark.parametrize("words", TAKES)
def test_commands_that_take_loops(words, run, tmp_path):
    code, out, err = run(*words.split())
    assert code == 0 and out and "takes trees" not in err
    if words.startswith("export"):
        header = next(tmp_path.glob("*.h")).read_text()
        assert ("_ROWS 2" in header) == ("lambda" in words)


@pytest.mark.parametrize("sentence", REFUSED)
def test_commands_that_do_not_say_so_and_what_does(sentence, refused, tmp_path):
    turns = {"joint": "general", "S": [[0], [0], [0], [1], [0], [0]], "p": [3, 0, 0], "p_second": [2.5, 0, 0]}
    loop = {"first": "coupler", "second": "rocker", "rows": [3], "compliance": 1, **turns}
    (tmp_path / "loops.json").write_text(json.dumps({"schema": "pivotree-loops/1", "loops": [loop]}))
    assert sentence in refused(*REFUSED[sentence].split())
    assert [path.name for path in tmp_path.iterdir()] == ["loops.json"]


# -- rows that follow from others ----------------------------------------------------------------

AGAIN = {"first": "coupler", "second": "rocker", "joint": "revolute", "name": "again"}
TWICE = {"schema": "pivotree-loops/1", "loops": [AGAIN | {"p": [3, 0, 0], "p_second": [2.5, 0, 0]}]}


def test_redundant_rows_are_refused_without_it_and_answered_with_it(run, tmp_path):
    (tmp_path / "loops.json").write_text(json.dumps(TWICE))
    code, _, said = run("solve", "four_bar", "--loops", "loops.json")
    assert code == 2 and "follow from" in said and "proximal=100" in said
    tree = kkt.load("four_bar")
    loops = [*tree.graph["loops"], *kkt.read_loops(tmp_path / "loops.json", tree)]
    system = kkt.build(tree, loops=kkt.softened(loops, 1e-4))
    found = kkt.eliminate(system, orderings.get("abm"), proximal=100)
    alone = kkt.eliminate(kkt.build(tree), orderings.get("abm"))
    assert found.qdd == pytest.approx(alone.qdd, rel=1e-10) and len(found.lam) == 7
