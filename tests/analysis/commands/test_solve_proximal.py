"""``pivotree solve --proximal``: redundant rows are answered, and what is wrong is one sentence."""

import json

import pytest

TWICE = {
    "schema": "pivotree-loops/1",
    "loops": [{"first": "coupler", "second": "rocker", "joint": "revolute", "name": "again",
               "p": [3, 0, 0], "p_second": [2.5, 0, 0]}],
}  # fmt: skip


def test_redundant_rows_are_refused_without_it_and_answered_with_it(run, tmp_path):
    path = tmp_path / "loops.json"
    path.write_text(json.dumps(TWICE))
    code, _, said = run("solve", "four_bar", "--loops", str(path))
    assert code == 2 and "follow from" in said
    code, out, _ = run("solve", "four_bar", "--loops", str(path), "--proximal", "1e-4")
    assert code == 0 and "with mu = 0.0001, converged" in out and "lambda is the least" in out
    code, out, _ = run("solve", "four_bar", "--loops", str(path), "--proximal", "1e-4", "--json")
    found = json.loads(out)
    code, out, _ = run("solve", "four_bar", "--proximal", "1e-4", "--json")
    alone = json.loads(out)
    assert found["error"] is None and alone["error"] < 1e-13
    assert found["qdd"] == pytest.approx(alone["qdd"], rel=1e-10)
    assert len(found["lam"]) == 7 and found["proximal"]["mu"] == 1e-4


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
