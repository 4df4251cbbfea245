"""``--proximal`` of solve and compare: redundant rows are answered, errors one sentence."""

import json

import pytest

TWICE = {
    "schema": "pivotree-loops/1",
    "loops": [
        {
            "first": "coupler",
            "second": "rocker",
            "joint": "revolute",
            "name": "again",
            "p": [3, 0, 0],
            "p_second": [2.5, 0, 0],
        }
    ],
}


def test_redundant_rows_are_refused_without_it_and_answered_with_it(run, tmp_path):
    path = tmp_path / "loops.json"
    path.write_text(json.dumps(TWICE))
    code, _, said = run("solve", "four_bar", "--loops", str(path))
    assert code == 2 and "follow from" in said and "--proximal 1e-4" in said
    code, out, _ = run("solve", "four_bar", "--loops", str(path), "--proximal", "1e-4")
    assert code == 0 and "with mu = 0.0001, converged" in out and "5 of 7 rows follow" in out
    code, out, _ = run("solve", "four_bar", "--loops", str(path), "--proximal", "1e-4", "--json")
    found = json.loads(out)
    code, out, _ = run("solve", "four_bar", "--proximal", "1e-4", "--json")
    alone = json.loads(out)
    assert found["error"] < 1e-13 and alone["error"] < 1e-13
    assert found["qdd"] == pytest.approx(alone["qdd"], rel=1e-10)
    assert len(found["lam"]) == 7 and found["proximal"]["mu"] == 1e-4


FLAT = "four_bar:crank=1,coupler=3,rocker=1,base=3,angle=1 --q crank=0,coupler=0,rocker=0"


@pytest.mark.product
@pytest.mark.parametrize("model", [FLAT, "four_bar --loops"])
def test_compare_answers_where_rows_are_refused(run, tmp_path, model):
    """Rows that are redundant, and those of a mechanism that lies flat, which is singular."""
    path = tmp_path / "loops.json"
    path.write_text(json.dumps(TWICE))
    words = ["compare", *model.split(), *([str(path)] if "--loops" in model else [])]
    words += ["--orders", "abm,lcaba,crbm"]
    code, out, said = run(*words)
    assert code == 2 and not out and "follow" in said and "--proximal" in said
    code, out, _ = run(*words, "--proximal", "1e-3")
    assert code == 0 and "made rigid by proximal iteration" in out and "mu = 0.001" in out
    code, out, _ = run(*words, "--proximal", "1e-3", "--json")
    rows = json.loads(out)["rows"]
    assert [row["order"] for row in rows[::2]] == ["abm proximal", "lcaba proximal", "crbm proximal"]
    for row in rows:
        bound = 1e-6 if row["format"] == "float32" else 1e-13
        assert row["error"] < bound and row["iterations"] > 0 and row["marked"] is None
        assert row["rows_left"] < 100 * bound


@pytest.mark.parametrize(
    "words, said",
    [
        ("four_bar --proximal 1e-4 --refine 1", "not with refine"),
        ("four_bar --proximal 1e-4 --formats mp:20", "is not iterated"),
        ("four_bar --proximal 1e-4 --states 3", "leave out --proximal"),
        ("chain:3 --proximal 1e-4", "the model has none"),
        ("four_bar --proximal 0", "more than zero"),
    ],
)
def test_what_compare_cannot_iterate_is_one_sentence(run, words, said):
    code, out, told = run("compare", *words.split())
    assert code == 2 and not out and said in told and len(told.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments, said",
    [
        ("four_bar --proximal small", "'small' is no compliance"),
        ("four_bar --proximal -1", "more than zero"),
        ("chain:3 --proximal 1e-4", "the model has none"),
        ("four_bar --proximal 1e-4 --refine 2", "not with --refine"),
        ("four_bar --proximal 1e-4 --certify 20", "not with --certify"),
        ("four_bar --proximal 1e-4 --format mp:30", "is not iterated"),
        ("chain:3 --contact j3 --compliance 1 --proximal 1e-4", "leave one of the two out"),
    ],
)
def test_what_cannot_be_is_one_sentence(run, arguments, said):
    code, out, told = run("solve", *arguments.split())
    assert code == 2 and not out and said in told and len(told.strip().splitlines()) == 1
