"""Colours told apart by all, fonts, symbols and LaTeX of figures."""

import re
import shlex
import subprocess
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from designs import covering
from figured import ORDERS, factor, request
from helpers import ROOT
from latex import compiled, needs_latex
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pivotree import kkt
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.figures.kinds import KINDS, Request, write
from pivotree.analysis.figures.matrix import face, strong
from pivotree.analysis.figures.state import FILL, NEW, ORIGINAL, ZERO, ZEROED, block_state
from pivotree.analysis.figures.style import DARK, LIGHT, MARKERS, STYLES

# -- colours -----------------------------------------------------------------------------------------

KINDS_DRAWN = (ORIGINAL, FILL, NEW, ZEROED)

# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB; gray is the luminance alone
VISION = {
    "everyone": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "gray": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(rgb, vision):
    """CIE L*a*b* (D65) of sRGB colours (..., 3) as someone sees them."""
    rgb = np.asarray(rgb, dtype=float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.asarray(VISION[vision]).T, 0, 1)
    xyz = linear @ _XYZ.T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=STYLES)
def test_small_blocks_are_told_apart_by_lightness(look):
    """Where there is no room for glyphs: every pair, and each from the page and the shade."""
    colours = {kind: strong(kind, look) for kind in KINDS_DRAWN} | {"page": look.page}
    for vision in VISION:
        lightness = {name: seen(to_rgb(c), vision)[0] for name, c in colours.items()}
        for a, b in combinations(lightness, 2):
            assert abs(lightness[a] - lightness[b]) > 9, (a, b, vision)


def swatch(kind, look):
    """A block as it is drawn, 40 x 40 pixels, in RGB."""
    figure = Figure(figsize=(0.4, 0.4), dpi=100, facecolor=look.page)
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_axis_off()
    ax.add_patch(Rectangle((0.1, 0.1), 0.8, 0.8, **face(kind, look, cells=True)))
    if kind == ZEROED:
        ax.plot(0.5, 0.5, "o", markersize=3.6, markerfacecolor="none", markeredgecolor=look.zero)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3] / 255


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=STYLES)
def test_blocks_are_told_apart_as_they_are_drawn(look):
    """By colour and glyph together: lightness alone, pixel by pixel, in the mean."""
    swatches = {kind: swatch(kind, look) for kind in KINDS_DRAWN}
    for vision in VISION:
        drawn = {kind: seen(image, vision)[..., 0] for kind, image in swatches.items()}
        for a, b in combinations(KINDS_DRAWN, 2):
            assert np.abs(drawn[a] - drawn[b]).mean() > 8, (a, b, vision)


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=STYLES)
def test_lines_are_told_apart_and_seen(look):
    assert len({*MARKERS}) == len(MARKERS) >= 6  # in every style, whatever the colours
    for vision in VISION:
        page = seen(to_rgb(look.page), vision)[0]
        assert all(abs(seen(to_rgb(c), vision)[0] - page) > 25 for c in look.series)


# -- fonts and symbols -------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize(
    ("kind", "font", "name"), [("digits", "stix", b"STIXGeneral"), ("pivots", "sans", b"DejaVuSans")]
)
def test_all_of_a_figure_is_in_its_font(kind, font, name, tmp_path):
    path = write(KINDS[kind], request(width="single", font=font), tmp_path / "figure.pdf")
    found = {*re.findall(rb"/BaseFont /(?:[A-Z]+\+)?(\w+)", path.read_bytes())}
    assert found and all(one.startswith(name) for one in found), found


# -- LaTeX -------------------------------------------------------------------------------------------

LATEX = [name for name, kind in KINDS.items() if kind.latex]
HOSTILE = ["left_arm", "50%", "a&b", "x^2 #1", "{$\\alpha$}", "~tilde\\", "größe_µ"]


@pytest.mark.parametrize("order", covering(ORDERS))
def test_tex_is_balanced_and_circles_every_pivot(order):
    symbolic = factor("chain:3", order)
    text = figures.pmatrix(symbolic)
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended) == ["document", "pmatrix"]
    body = re.sub(r"%.*", "", text)
    assert body.count("{") == body.count("}") and body.count("[") == body.count("]")
    rows = [line for line in body.splitlines() if line.rstrip().endswith(r"\\")]
    state = block_state(symbolic)
    assert len(rows) == state.blocks
    cells = [row.rstrip().removesuffix(r"\\").split("&") for row in rows]
    assert {len(row) for row in cells} == {state.blocks}
    circled = {(i, j) for i, row in enumerate(cells) for j, c in enumerate(row) if "pivot" in c}
    assert circled == {tuple(p) for p in state.pivots.tolist()}
    empty = np.array([[not cell.strip() for cell in row] for row in cells])
    assert (empty == (state.table(zeros=True) == ZERO)).all()


@needs_latex
@pytest.mark.product
@pytest.mark.parametrize("kind", LATEX)
def test_latex_takes_a_picture(kind, tmp_path):
    """Of bodies of any names: cut to the picture, and no wider than the column."""
    tree = kkt.binary(2)
    hostile = kkt.build(nx.relabel_nodes(tree, dict(zip(tree, HOSTILE, strict=True)), copy=True))
    path = write(KINDS[kind], Request(hostile, width="single"), tmp_path / "figure.tex")
    assert "(1 page" in compiled(path)[0]
    told = subprocess.run(["pdfinfo", path.with_suffix(".pdf")], capture_output=True, text=True)
    wide, high = map(float, re.search(r"Page size:\s+([\d.]+) x ([\d.]+)", told.stdout).groups())
    assert wide < 3.4 * 72.27 + 13 and high < 9.5 * 72


@needs_latex
@pytest.mark.docs
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
    assert "Figure 1: Blocks of the system matrix of chain 3" in words
    assert words.count("ABM fills in 2 blocks") == 2
