"""``pivotree counts``: what it prints and refuses; the page that it writes is held by docs-check."""

import json

import pytest

from pivotree.analysis import counts
from pivotree.analysis.cli import main
from pivotree.analysis.counts.words import count_cells


def test_the_command_prints_polynomials_and_the_crossing(capsys):
    assert main(["counts", "--orders", "crbm,abm", "--family", "planar"]) == 0
    out = capsys.readouterr().out
    assert "109 n - 122" in out and "proved for n >= 2" in out and "from n = 4" in out


@pytest.mark.product
def test_the_command_as_json(capsys):
    assert main(["counts", "--orders", "abm,virtual_work", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert row["order"] == "abm" and row["mul"] == ["-311", "305"] and row["proved_from"] == 2
    assert row["counted"]["3"]["mul"] == 305 * 3 - 311 and len(document["refused"]) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--family", "revolut"], "revolute"),
        (["--orders", "amb"], "abm"),
        (["--orders", ","], "is empty"),
        (["--orders", ""], "is empty"),
        (["--orders", "virtual_work"], "singular"),
        (["-o", "counts.html"], ".md"),
        (["-o", "counts.md", "--json"], "leave out"),
        (["-o", "counts.md", "--family", "star"], "leave out --orders, --family"),
    ],
)
def test_bad_input_is_one_sentence(capsys, arguments, told):
    assert main(["counts", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and told in captured.err


def test_a_count_without_polynomial_is_a_row_too():
    cells = count_cells(counts.polynomial("random:0", "dh_whole"))
    assert cells == ("random:0", "none", "none", "none", "no polynomial in n")
