"""Commands on FILE.mtx: the matrix of a Matrix Market file in a robot's place."""

import json
import os
import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite
from scipy.linalg import hilbert

import pivotree as pt
from pivotree import kkt
from pivotree.analysis import listing
from pivotree.analysis.cli import main

ROBOTS = ("check", "report", "guarantee", "simulate")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    mmwrite("grid.mtx", sp.coo_matrix(sp.kron(line, sp.eye_array(4)) + sp.kron(sp.eye_array(4), line)))
    return "grid.mtx"


def test_x_is_solved_and_certified(file, capsys):
    assert main(["solve", file, "--certify", "25", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["order"], told["certified_digits"], len(told["balls"])) == ("minimum_degree", 25, 16)
    assert all(abs(Fraction(ball["mid"]) - 1) <= Fraction(ball["rad"]) for ball in told["balls"])  # b = A 1
    assert main(["solve", file, "--order", "natural", "--format", "float32"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("x_0\t1") and "natural in float32: error" in out and "(4)" not in out


def test_orders_of_a_matrix_stand_in_the_table_of_robots(file, capsys):
    assert main(["compare", file, "--order", "natural,minimum_degree"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "grid.mtx: 16 blocks, 16 unknowns order fill entries operations height float32 digits" in told
    assert "from A and b to x" in told and "max |x - exact|" in told and "qdd" not in told
    row = pt.compare(pt.matrix(file), ["natural"], ["float32"]).rows[0]
    assert f"natural {row.fill_blocks} {row.fill_entries} {row.flops} {row.height} {row.error:.1e}" in told


def test_shares_of_a_matrix_s_error_add_up_to_it(file, capsys):
    matrix = pt.matrix(np.linalg.inv(hilbert(6)).round() / 7, blocks=[2, 1, 3], name="hilbert")
    for order, output in (("natural", None), ([[2], [0], [1]], "2[1]")):
        found = pt.blame(matrix, order, "float32", output)
        assert found.bodies == () and abs(found.ratio - 1.0) < 1e-6
        exact = kkt.certify(matrix, 30, order=order, rounded_to="float32")
        off = np.abs(exact.differences(kkt.eliminate(matrix, order, "float32").qdd)) / exact.size
        k = matrix.unknowns.index(found.output)
        assert np.isclose(found.true_error, off[k], rtol=1e-6) and (output or off[k] == off.max())
    assert main(["blame", file, "--order", "natural", "--of", "5"]) == 0
    assert "natural in float32 on grid.mtx: x_5 is off by" in capsys.readouterr().out
    assert not pt.blame(pt.matrix(np.array([[4.0, 1, 0], [1, 5, 1], [0, 1, 6]])), "natural").top


def test_an_order_is_listed_by_the_matrix_s_own_names(file, capsys):
    assert main(["list", file]) == 0
    out = capsys.readouterr().out
    assert out.startswith("minimum_degree on grid (Tinney & Walker 1967)") and "  W_01 = A_01\n" in out
    matrix = pt.matrix(np.linalg.inv(hilbert(6)).round(), blocks={"a": [1, 0], "b": [2], "c": [3, 5, 4]})
    told = listing.of(matrix, [["b"], ["c", "a"]])
    assert "D_(c a) = A_{(c a),(c a)} - W_{b,(c a)}ᵀ D_b⁻¹ W_{b,(c a)}" in listing.render(told)
    assert r"D_{\text{(c a)}} &= A_{\text{(c a)},\text{(c a)}} - W_" in listing.render(told, "latex")
    A = pt.matrix(file).matrix.toarray()
    for order in ([["b"], ["c", "a"]], [["c"], ["a"], ["b"]]):
        script: dict = {}
        exec(listing.render(listing.of(matrix, order), "python"), script)
        assert np.allclose(script["solve"](2 * script["A"], script["b"]), 0.5)
    known = {f"b_{i}": row.sum() for i, row in enumerate(A)}
    known |= {f"A_{i}{'_' * (max(i, j) > 9)}{j}": A[i, j] for i in range(16) for j in range(16)}
    for line in re.findall(r"^  (\S+ = .*)$", re.sub(r"{(\d+),(\d+)}", r"\1_\2", out), re.M):
        exec(re.sub(r"(\w) (\w)", r"\1 * \2", line), known)
    assert np.allclose([known[f"x_{i}"] for i in range(16)], 1.0)


def test_the_cheapest_order_that_is_found_is_taken_as_it_is_written(file, capsys):
    assert main(["tune", file, "-o", "best.py", "--most", "9", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(told["value"] <= row["flops"] for row in [*told["rows"], *told["ranking"]])
    assert told["value"] < pt.eliminate(pt.matrix(file), "minimum_degree").flops
    assert "rows; no order has less than 5." in told["words"]
    assert main(["compare", file, "--order", "best.py:tuned", "--format", "float32", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["bodies"], found["dof"]) == (file, 16, 16)
    assert found["rows"][0]["flops"] == told["value"]


def test_figures_of_a_matrix(file, tmp_path, capsys):
    for kind, name in (("spy", "a.tex"), ("orders", "b.pdf"), ("before-after", "c.pdf")):
        assert main(["figure", kind, file, "-o", name]) == 0 and (tmp_path / name).stat().st_size > 500
    assert "I &" not in (tmp_path / "a.tex").read_text()  # the letters are those of robots
    assert "(16 blocks, 16 unknowns)" in (tmp_path / "b_caption.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("compare grid.mtx --q 1", "option --q is of robots, and grid.mtx is a matrix; leave it out"),
        ("compare grid.mtx -o figures", "option -o is of robots"),
        ("solve pipe.mtx", "pipe.mtx: cannot be read (is no plain file); give a Matrix Market file"),
        ("compare bad.mtx", "give a Matrix Market file"),
        ("figure pivots grid.mtx -o a.pdf", "kind 'pivots' is of robots, and grid is a matrix; use spy"),
        ("blame grid.mtx --of 16", "output '16' is no block here; use a block's name"),
        ("tune zero.mtx", "zero.mtx: row 1 holds zeros alone; give a matrix of full rank"),
        ("tune large.mtx", "large.mtx: has shape (999999999, 999999999), and rows or columns of zeros"),
        ("tune beyond.mtx", "beyond.mtx: Integer out of range; give a Matrix Market file"),
        ("tune full.mtx", "full.mtx: Unable to allocate"),
        ("compare pattern.mtx", "pattern.mtx: holds a pattern without numbers; give numbers, or pt.matrix("),
        ("compare huge.mtx", "which is minutes at least; use a smaller matrix, or larger blocks in pt.m"),
        ("compare close.mtx", "close: pivot x_1 cannot be told from zero at 23680 bits for the data rounded"),
        ("compare close.mtx --format float32", "or a pivot is zero; rounded to float64 it may not be"),
        ("solve dense.mtx --order natural", "use an order with less fill, or a"),
        ("solve wide.mtx", "wide.mtx: wide: pivot x_1 cannot be told from zero"),
        ("tune grid.mtx --composites rigid", "option --composites is of robots"),
        ("list wide.mtx", "takes 2,208 lines on wide, and 2,000 are told"),
        ("list grid.mtx --notation ascher", "notation 'ascher' is of robots, and grid is a matrix"),
        ("blame grid.mtx --derivatives", "option --derivatives is of robots"),
        *((f"{command} grid.mtx", "grid.mtx is a matrix, and this asks for a robot") for command in ROBOTS),
    ],
)
def test_what_a_matrix_does_not_take_is_one_sentence(file, words, told, capsys, tmp_path):
    (tmp_path / "bad.mtx").write_text("hello\n")
    os.mkfifo("pipe.mtx")
    for name, kind, size in (("large", "coordinate", 9), ("beyond", "coordinate", 99), ("full", "array", 9)):
        shape = f"{'9' * size} {'9' * size} 0"[: None if kind == "coordinate" else -2]
        (tmp_path / f"{name}.mtx").write_text(f"%%MatrixMarket matrix {kind} real symmetric\n{shape}\n")
    (tmp_path / "pattern.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 3\n1 1\n2 1\n2 2\n"
    )
    mmwrite("close.mtx", sp.coo_matrix(np.array([[1.0, 1.0], [1.0, 1.0 + 2**-40]])))
    mmwrite("huge.mtx", sp.eye_array(9000).tocoo())
    arrow = sp.eye_array(1500).tolil()
    arrow[0], arrow[:, 0] = 1.0, 1.0
    mmwrite("dense.mtx", arrow.tocoo())
    mmwrite("wide.mtx", sp.coo_matrix(np.ones((64, 64))))
    mmwrite("zero.mtx", sp.coo_matrix(np.diag([1.0, 0.0])))
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert told in said and len(said.strip().splitlines()) == 1
