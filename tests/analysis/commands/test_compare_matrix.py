"""pivotree compare FILE.mtx: a matrix of a Matrix Market file in a robot's place."""

import json

import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from pivotree.analysis.cli import main


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    mmwrite("grid.mtx", sp.coo_matrix(sp.kron(line, sp.eye_array(4)) + sp.kron(sp.eye_array(4), line)))
    return "grid.mtx"


def test_orders_of_graphs_are_compared(file, capsys):
    assert main(["compare", file, "--order", "natural,minimum_degree", "--format", "float32", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    by = {row["order"]: row for row in told["rows"]}
    assert (told["model"], told["bodies"], told["dof"]) == (file, 16, 16)
    assert by["minimum_degree"]["fill_blocks"] < by["natural"]["fill_blocks"] and by["natural"]["digits"] > 5
    assert main(["compare", file, "--order", "natural", "--format", "float32"]) == 0
    assert "16 blocks, 16 unknowns" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("compare grid.mtx --q 1", "option --q: is of robots, and grid.mtx is a matrix; leave it out"),
        ("compare grid.mtx -o figures", "option -o: is of robots"),
        ("compare bad.mtx", "give a Matrix Market file"),
    ],
)
def test_what_a_matrix_does_not_take_is_one_sentence(file, words, told, capsys):
    with open("bad.mtx", "w") as bad:
        bad.write("hello\n")
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert told in said and len(said.strip().splitlines()) == 1
