"""Which command takes loops and contacts, and what ``--proximal`` answers."""

import json

import pytest

TAKES = (
    "compare four_bar --proximal 1e-4 --orders abm",
    "compare four_bar --states 3 --orders abm",
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
    "distribution = 'given'": "compare four_bar --loops loops.json --states 5",
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
FLAT = "four_bar:crank=1,coupler=3,rocker=1,base=3,angle=1 --q crank=0,coupler=0,rocker=0"


def test_redundant_rows_are_refused_without_it_and_answered_with_it(run, tmp_path):
    (tmp_path / "loops.json").write_text(json.dumps(TWICE))
    asked = ["solve", "four_bar", "--loops", "loops.json"]
    code, _, said = run(*asked)
    assert code == 2 and "follow from" in said and "--proximal 1e-4" in said
    code, out, _ = run(*asked, "--proximal", "1e-4")
    assert code == 0 and "with mu = 0.0001, converged" in out and "5 of 7 rows follow" in out
    found = json.loads(run(*asked, "--proximal", "1e-4", "--json")[1])
    alone = json.loads(run("solve", "four_bar", "--proximal", "1e-4", "--json")[1])
    assert found["error"] < 1e-13 and alone["error"] < 1e-13
    assert found["qdd"] == pytest.approx(alone["qdd"], rel=1e-10)
    assert len(found["lam"]) == 7 and found["proximal"]["mu"] == 1e-4


@pytest.mark.product
@pytest.mark.parametrize("model", [FLAT, "four_bar --loops loops.json"])
def test_compare_answers_where_rows_are_refused(run, tmp_path, model):
    """Rows that are redundant, and those of a mechanism that lies flat, which is singular."""
    (tmp_path / "loops.json").write_text(json.dumps(TWICE))
    words = ["compare", *model.split(), "--orders", "abm,lcaba,crbm"]
    code, out, said = run(*words)
    assert code == 2 and not out and "follow" in said and "--proximal" in said
    code, out, _ = run(*words, "--proximal", "1e-3")
    assert code == 0 and "made rigid by proximal iteration" in out and "mu = 0.001" in out
    rows = json.loads(run(*words, "--proximal", "1e-3", "--json")[1])["rows"]
    assert [row["order"] for row in rows[::2]] == ["abm proximal", "lcaba proximal", "crbm proximal"]
    for row in rows:
        bound = 1e-6 if row["format"] == "float32" else 1e-13
        assert row["error"] < bound and row["iterations"] > 0 and row["marked"] is None
        assert row["rows_left"] < 100 * bound
