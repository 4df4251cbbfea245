"""Inputs drawn anew by their seed, and each that once went wrong, by name."""

import json
from pathlib import Path

import judge
import pytest
from fuzz import campaign
from inputs import Case

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Tests are not timed: here only what never answers is a hang."""
    monkeypatch.setattr(judge, "HANG", 100)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_once_went_wrong(path):
    assert judge.faults(Case(**json.loads(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "most",
    [pytest.param(20, marks=pytest.mark.thorough), pytest.param(1000, marks=pytest.mark.slow)],
)
def test_hostile_inputs_are_answered_or_refused(tmp_path, most):
    total, found = campaign(most, seed=most, folder=tmp_path)
    assert total >= most and not found


@pytest.mark.parametrize(
    "name,text",
    [("a.json", '{"a": NaN}'), ("a.csv", "name\n=1+1\n"),
     ("a.html", "<p><script>pwned()</script>"),
     ("a.py", "x = 1\npwned()\n"), ("a.c", "/* a */ pwned(); /* b */"),
     ("a.tex", "\\input{pwned}")],
)  # fmt: skip
def test_the_judge_finds_names_that_got_out(tmp_path, name, text):
    assert list(judge.READERS[Path(name).suffix](text, name))


def test_cells_of_tables_are_texts_and_numbers_stay_numbers():
    from pivotree.kkt.base.text import csv_line

    assert csv_line(["=1+1", "@a", "-a,b", "+", "a"]) == """'=1+1,'@a,"'-a,b",'+,a"""
    assert csv_line(["-1", "+1e-3", -1.5, "-.5", "", None]) == "-1,+1e-3,-1.5,-.5,,"


def test_the_judge_finds_tracebacks_and_files_left(monkeypatch):
    def broken(options):
        Path("out.json").write_text("{")
        return 2

    monkeypatch.setattr("pivotree.analysis.cli.commands.orders.run", broken)
    found = judge.faults(Case(["orders"]))
    assert any("refusal of 0 lines" in f for f in found) and "refused, and yet" in str(found)
    monkeypatch.setattr("pivotree.analysis.cli.commands.orders.run", lambda options: {}["a"])
    assert judge.faults(Case(["orders"]))[0].startswith("KeyError")
