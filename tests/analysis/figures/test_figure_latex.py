"""Figures as LaTeX: what stands in them, and that LaTeX takes them."""

import re
import shlex
import shutil
import subprocess

import networkx as nx
import numpy as np
import pytest
from helpers import ROOT
from test_figure_kinds import SMALL, request
from test_figures import factor

from pivotree import kkt
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.figures.kinds import KINDS, Request, write
from pivotree.analysis.figures.state import FILL, ORIGINAL, ZERO, ZEROED, block_state
from pivotree.analysis.figures.tex import escaped

LATEX = [name for name, kind in KINDS.items() if kind.latex]
HOSTILE = ["left_arm", "50%", "a&b", "x^2 #1", "{$\\alpha$}", "~tilde\\", "größe_µ"]
needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("pdftotext") is None,
    reason="pdflatex or pdftotext is not installed",
)


def compiled(path):
    """What pdflatex says of a file, and the words on its only page."""
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
        cwd=path.parent,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-1500:]
    assert "(1 page" in done.stdout and "Missing character" not in done.stdout
    words = subprocess.run(
        ["pdftotext", "-layout", path.with_suffix(".pdf").name, "-"],
        cwd=path.parent,
        capture_output=True,
        text=True,
    )
    return done.stdout, " ".join(words.stdout.split())


def size_of(path):
    told = subprocess.run(["pdfinfo", path.with_suffix(".pdf")], capture_output=True, text=True)
    return [float(x) for x in re.search(r"Page size:\s+([\d.]+) x ([\d.]+)", told.stdout).groups()]


def test_pmatrix_circles_the_pivots_and_shows_the_zeros():
    symbolic = factor("chain:3", "abm")
    text = figures.pmatrix(symbolic)
    body = text.partition(r"\begin{pmatrix}")[2].partition(r"\end{pmatrix}")[0]
    rows = [re.sub(r"%.*", "", line).strip() for line in body.splitlines() if "&" in line]
    cells = [[c.strip() for c in row.removesuffix(r"\\").split("&")] for row in rows]
    state = block_state(symbolic)
    table = state.table(zeros=True)
    assert np.shape(cells) == table.shape
    for i, j in np.ndindex(table.shape):
        cell = cells[i][j]
        assert (cell == "") == (table[i, j] == ZERO) and (cell == "0") == (table[i, j] == ZEROED)
        assert (r"\pivot{" in cell) == ([i, j] in state.pivots.tolist())
        assert (r"\filled{" in cell) == (table[i, j] == FILL)
    assert cells[1][3] == r"-\Phi_{21}^{*}" and cells[2][2] == r"\pivot{\filled{D_{1}}}"
    assert table[1, 3] == ORIGINAL


def hostile():
    tree = kkt.binary(2)
    return kkt.build(nx.relabel_nodes(tree, dict(zip(tree, HOSTILE, strict=True)), copy=True))


@needs_latex
@pytest.mark.thorough
@pytest.mark.parametrize("kind", LATEX)
def test_latex_takes_a_picture_of_any_names(kind, tmp_path):
    path = write(KINDS[kind], Request(hostile(), width="single"), tmp_path / "figure.tex")
    compiled(path)
    wide, high = size_of(path)
    # cut to the picture, not a sheet of paper, and no wider than the column
    assert wide < 3.4 * 72.27 + 13 and high < 9.5 * 72


@needs_latex
@pytest.mark.thorough
@pytest.mark.parametrize("kind", [name for name in LATEX if name != "matrix"])
def test_latex_takes_a_humanoid(kind, tmp_path):
    path = write(KINDS[kind], request("humanoid"), tmp_path / "figure.tex")
    compiled(path)
    wide, high = size_of(path)
    assert wide < 7.0 * 72.27 + 13 and high < 9.0 * 72


def test_symbols_of_a_humanoid_are_refused(tmp_path):
    with pytest.raises(kkt.FormatError, match="135 block rows are too many to be set as symbols"):
        write(KINDS["matrix"], request("humanoid"), tmp_path / "figure.tex")


@needs_latex
@pytest.mark.thorough
def test_the_paper_of_the_how_to_compiles(tmp_path, monkeypatch, capsys):
    """Its commands are run and its LaTeX is copied, as they stand on the page."""
    page = (ROOT / "docs" / "howto.md").read_text(encoding="utf-8")
    part = page.partition("## Put a figure into a LaTeX paper")[2]
    monkeypatch.chdir(tmp_path)
    for line in re.search(r"```sh\n(.*?)```", part, re.S)[1].splitlines():
        assert main(shlex.split(line)[1:]) == 0
    paper = tmp_path / "paper.tex"
    paper.write_text(re.search(r"```latex\n(.*?)```", part, re.S)[1], encoding="utf-8")
    log, words = compiled(paper)
    assert "Overfull" not in log
    assert "Figure 1: The block matrix in symbols, pivots circled, for chain" in words
    assert "elimination tree of abm" in words and words.count("abm fills in 2 blocks") == 2


@needs_latex
@pytest.mark.thorough
def test_a_pgf_has_the_fonts_of_the_document(tmp_path):
    kinds = ("digits", "heat", "condition")
    for kind in kinds:
        write(KINDS[kind], request(width="single"), tmp_path / f"{kind}.pgf")
    paper = tmp_path / "paper.tex"
    paper.write_text(
        r"\documentclass{article}\usepackage{pgf}\begin{document}\thispagestyle{empty}"
        + "".join(rf"\resizebox{{2in}}{{!}}{{\input{{{kind}.pgf}}}}\par" for kind in kinds)
        + r"\end{document}"
    )
    words = compiled(paper)[1]
    assert "correct decimal digits" in words and "float64" in words and "crbm" in words
    assert "virtual work" in words and "condition number times unit roundoff" in words
    text = (tmp_path / "digits.pgf").read_text("utf-8")
    assert r"virtual\_work" in text and "{use as bounding box}" in text
    fonts = subprocess.run(["pdffonts", "paper.pdf"], cwd=tmp_path, capture_output=True, text=True)
    assert "STIX" not in fonts.stdout and "CMR" in fonts.stdout


@pytest.mark.thorough
def test_a_pgf_needs_latex(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(kkt.FormatError, match="needs the program pdflatex, which is not found"):
        write(KINDS["digits"], request(SMALL), tmp_path / "digits.pgf")
    assert not list(tmp_path.iterdir())


def test_words_are_escaped():
    assert escaped("a_b 50% #1 {x}") == r"a\_b 50\% \#1 \{x\}"
    assert escaped("^~\\<") == r"\textasciicircum{}\textasciitilde{}\textbackslash{}\textless{}"
