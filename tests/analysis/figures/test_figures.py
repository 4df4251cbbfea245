"""Figures: 0-structures block by block against Ascher 1996, labels, rasters."""

import re

import numpy as np
import pytest
from designs import covering, listed
from figured import ORDERS, factor
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure

from pivotree import kkt, orderings
from pivotree.analysis import figures
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.matrix import draw, strong
from pivotree.analysis.figures.state import FILL, NEW, ORIGINAL, ZERO, ZEROED, block_state
from pivotree.analysis.figures.style import LIGHT


@pytest.mark.parametrize("order", [*ORDERS, "random:3"])
@pytest.mark.parametrize("step", [None, 2])
def test_a_title_counts_what_is_marked_below_it(order, step):
    """Blocks that are hatched or new: fill, and the diagonal; beside them mirror images of what is left."""
    symbolic = factor("chain:3", order)
    figure = figures.spy(symbolic, step, zeros=True)
    told = [int(n) for n in re.findall(r"(\d+)(?: blocks? of fill| diagonal)", figure.texts[0].get_text())]
    colours = {to_rgb(LIGHT.fill), to_rgb(LIGHT.new)}
    drawn = [c for c in figure.axes[0].collections if {*map(to_rgb, c.get_facecolor())} & colours]
    corners = {tuple(path.get_extents().min.round(9)) for c in drawn for path in c.get_paths()}
    below = [(x, y) for x, y in corners if x < y]
    assert told and sum(told) == len(corners) - len(below) and {(y, x) for x, y in below} <= corners
    legend = " ".join(text.get_text() for text in figure.legends[0].get_texts())
    assert ("mirror images not counted" in legend) <= bool(below)


def in_rows_of_6(symbolic, table):
    """A table in elimination order, permuted to the rows of equation (6)."""
    plan = symbolic.plan
    n = plan.graph.structure.n
    rank = {int(k): i for i, k in enumerate(plan.graph.structure.order)}
    kinds = {0: 0, 1: 1, 2: 2}  # pdd, qdd, f
    where = [3 * rank[int(b) % n] + kinds[int(b) // n] for b in plan.blocks]
    result = np.zeros_like(table)
    result[np.ix_(where, where)] = table
    return result


def picture(text):
    return np.array([[c != "." for c in line] for line in text.split()])


# rows of (6): pdd_1 qdd_1 f_1 pdd_2 qdd_2 f_2 pdd_3 qdd_3 f_3
MATRIX = picture("""
    x.x......
    ..x......
    xx.x.....
    ..xx.x...
    .....x...
    ...xx.x..
    .....xx.x
    ........x
    ......xx.
""")
# qdd_k keeps D_k and its parent's pdd; -Phi_21 and -Phi_32 are gone
AFTER_ABM = picture("""
    x.x......
    .x.x.....
    xx.x.....
    ...x.x...
    ....x.x..
    ...xx.x..
    ......x.x
    .......x.
    ......xx.
""")
# the joints last: each row of qdd holds the joints above, pdd_k the joints below it
AFTER_CRBM = picture("""
    x.x......
    .x..x..x.
    xx.x.....
    .x.x.x...
    ....x..x.
    ...xx.x..
    .x..x.x.x
    .......x.
    ......xx.
""")


@pytest.mark.parametrize("order, printed", [("abm", AFTER_ABM), ("crbm", AFTER_CRBM)])
def test_zero_structure_before_and_after_elimination(order, printed):
    """As Ascher 1996 prints (6) and what follows: rows as they were pivots; a pair keeps its identities."""
    symbolic = factor("chain:3", order)
    before = block_state(symbolic, 0)
    assert (in_rows_of_6(symbolic, before.table()) == np.where(MATRIX, ORIGINAL, ZERO)).all()
    assert not (before.table(zeros=True) == ZEROED).any()
    state = block_state(symbolic)
    kept = np.triu(state.table() != ZERO)
    for i, j in state.pivots[state.pivots[:, 0] > state.pivots[:, 1]]:
        kept[i, j] = True
    assert (in_rows_of_6(symbolic, kept) == printed).all()
    drawn = in_rows_of_6(symbolic, state.table(zeros=True))
    assert ((drawn != ZERO) & (drawn != ZEROED) == printed).all()
    whole = in_rows_of_6(symbolic, state.table())
    assert ((drawn == ZEROED) == ((whole != ZERO) & ~printed)).all()


def test_circled_pivots_of_ascher():
    """(3k, 3k-2), here with its mirror image, and (3k-1, 3k-1)."""
    symbolic = factor("chain:3", "abm")
    state = block_state(symbolic)
    circles = np.zeros((9, 9), dtype=int)
    circles[tuple(state.pivots.T)] = 1
    found = {(int(i) + 1, int(j) + 1) for i, j in np.argwhere(in_rows_of_6(symbolic, circles))}
    assert found == {pair for k in (3, 6, 9) for pair in ((k, k - 2), (k - 2, k), (k - 1, k - 1))}


@pytest.mark.parametrize(
    ("order", "spec"), covering(ORDERS, ["chain:5", "random_tree:n=12,seed=1", "star:4"])
)
def test_counts_grow_to_the_symbolic_factors(order, spec):
    symbolic = factor(spec, order)
    groups = symbolic.plan.groups
    states = [block_state(symbolic, step) for step in range(groups + 1)]
    new = [int((s.kind == NEW).sum()) for s in states]
    assert new == [0, *np.bincount(symbolic.fill_step, minlength=groups)]
    assert [s.fill_blocks for s in states] == list(np.cumsum(new))
    last = block_state(symbolic)
    assert last.fill_blocks == symbolic.fill_blocks
    assert last.fill_entries == symbolic.fill_entries
    assert not (last.kind == NEW).any() and last.eliminated.all() and (last.kind == FILL).any()


@pytest.mark.parametrize("order", covering(["abm", "crbm", "bad_abm", "natural", "base_to_tip"]))
def test_blocks_cover_a_numeric_elimination(order):
    """Schur complements of the dense matrix are nonzero inside the active blocks only."""
    system = kkt.build(kkt.random_tree(6, seed=3))
    symbolic = kkt.symbolic(kkt.plan(orderings.get(order), system.structure))
    graph = symbolic.plan.graph
    blocks = [graph.block(int(b)) for b in symbolic.plan.blocks]
    slices = [np.arange(system.size)[system.blocks[b]] for b in blocks]
    A = system.matrix.toarray()
    for step in range(symbolic.plan.groups):
        state = block_state(symbolic, step)
        gone = int(state.done.sum())
        left = np.concatenate(slices[gone:])
        schur = A[np.ix_(left, left)]
        if gone:
            out = np.concatenate(slices[:gone])
            schur = schur - A[np.ix_(left, out)] @ np.linalg.solve(A[np.ix_(out, out)], A[np.ix_(out, left)])
        owner = np.repeat(np.arange(gone, state.blocks), [len(s) for s in slices[gone:]])
        size = np.zeros((state.blocks,) * 2)
        np.maximum.at(size, (owner[:, None], owner[None, :]), np.abs(schur))
        active = np.zeros_like(size, dtype=bool)
        active[gone:, gone:] = True
        assert ((size > 1e-9 * np.abs(A).max()) <= ((state.table() != ZERO) & active)).all()


# -- labels ------------------------------------------------------------------------------------------


def test_names_of_blocks_in_the_papers_notation():
    symbolic = factor("chain:3", "abm")
    names = Labels(block_state(symbolic, 1))
    assert [names.unknown(t) for t in range(3)] == [r"\ddot{p}_{1}", "f_{1}", r"\ddot{q}_{1}"]
    assert names.cell(0, 0) == "M_{1}" and names.cell(0, 1) == names.cell(1, 0) == "I"
    assert names.cell(2, 1) == "H_{1}" and names.cell(1, 2) == "H_{1}^{*}"
    assert names.cell(3, 1) == r"-\Phi_{21}" and names.cell(1, 3) == r"-\Phi_{21}^{*}"
    assert names.cell(2, 2) == "D_{1}" and names.cell(3, 3) == r"\hat{M}_{2}"
    assert names.cell(2, 3) == r"-H_{1}M_{1}\Phi_{21}^{*}"
    assert names.cell(3, 2) == r"-\Phi_{21}M_{1}H_{1}^{*}"
    assert names.cell(6, 6) == "M_{3}"  # nothing has reached the base yet
    assert names.key().replace("\xa0", " ") == "1 = j3, 2 = j2, 3 = j1"


def test_names_are_given_only_where_they_are_right():
    symbolic = factor("chain:3", "crbm")
    before = Labels(block_state(symbolic, 3))  # the joint-space inertia has appeared
    assert [before.cell(t, t) for t in (2, 4)] == ["R_{2}", "R_{3}"]
    assert before.cell(7, 7) == r"\mathcal{M}_{22}" and before.cell(7, 8) == r"\mathcal{M}_{23}"
    after = Labels(block_state(symbolic))
    assert [after.cell(t, t) for t in (6, 7, 8)] == ["D_{1}", "D_{2}", "D_{3}"]
    assert after.cell(6, 7) == r"\mathcal{M}_{12}" and after.cell(7, 8) == ""


# -- blocks as they are drawn, and curves ------------------------------------------------------------


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("spec, order", [("humanoid", "crbm"), ("chain:40", "virtual_work")])
def test_a_pixel_has_the_colour_of_its_block(spec, order, zeros):
    state = block_state(factor(spec, order), 20)
    table = state.table(zeros=zeros)
    ax = Figure().add_axes((0, 0, 1, 1))
    draw(ax, state, 300.0, LIGHT, labels=False, circles=False, zeros=zeros)
    image = np.asarray(ax.images[0].get_array())
    assert (table == NEW).any() and (table == ZEROED).any() == zeros
    for kind in (ORIGINAL, FILL, NEW, ZEROED):
        assert (image[table == kind] == np.multiply(to_rgba(strong(kind, LIGHT)), 255).round()).all()
    gone = np.arange(state.blocks) < state.done.sum()
    shaded = np.where(gone[:, None] | gone, 0xEC, 0xFF)  # what is eliminated, and the page
    assert (image[table == ZERO, :3] == shaded[table == ZERO, None]).all()


@pytest.mark.parametrize("spec, mode", listed([("chain:6", "cells"), ("chain:1000", "raster")]))
def test_every_block_is_drawn(spec, mode):
    state = block_state(factor(spec, "crbm"))
    ax = Figure().add_axes((0, 0, 1, 1))
    assert draw(ax, state, 300.0, LIGHT, labels=False, circles=False) == mode
    if mode == "cells":
        cells = sum(len(c.get_paths()) for c in ax.collections)
        assert cells == np.count_nonzero(state.table()) + state.symbolic.plan.groups
    if mode == "raster":
        image = np.asarray(ax.images[0].get_array())
        assert (image == np.swapaxes(image, 0, 1)).all()  # a symmetric matrix
        assert (image[0, 400] == 255).all() and (image[-1, -1, :3] < 255).any()
