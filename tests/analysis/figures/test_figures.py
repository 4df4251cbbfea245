"""Figures: 0-structures block by block against Ascher 1996, files, and what is refused."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from pivotree import analysis, kkt, orderings
from pivotree.analysis import figures
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.matrix import draw
from pivotree.analysis.figures.state import FILL, NEW, ORIGINAL, ZERO, block_state
from pivotree.analysis.figures.style import LIGHT

ORDERS = ("abm", "crbm", "bad_abm", "virtual_work", "lagrange", "natural", "divide_and_conquer")
ROWS = [
    {"order": "abm", "format": "float32", "error": 2e-7, "digits": 6.7, "fill_blocks": 2, "flops": 1000},
    {
        "order": "modified_abm",
        "format": "float32",
        "error": 2e-7,
        "digits": 6.7,
        "fill_blocks": 2,
        "flops": 1010,
    },
    {"order": "crbm", "format": "float32", "error": None, "digits": None, "fill_blocks": 6, "flops": 900},
    {"order": "crbm", "format": "float64", "error": 0.0, "digits": None, "fill_blocks": 6, "flops": 900},
    {
        "order": "refused",
        "format": "float64",
        "error": None,
        "digits": None,
        "fill_blocks": None,
        "flops": None,
    },
]


def factor(spec, order):
    structure = kkt.build(kkt.load(spec)).structure
    return kkt.symbolic(kkt.plan(orderings.get(order), structure))


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


@pytest.mark.parametrize("order", ["abm", "crbm"])
def test_matrix_of_equation_6(order):
    symbolic = factor("chain:3", order)
    table = in_rows_of_6(symbolic, block_state(symbolic, 0).table())
    assert (table == np.where(MATRIX, ORIGINAL, ZERO)).all()


@pytest.mark.parametrize("order, printed", [("abm", AFTER_ABM), ("crbm", AFTER_CRBM)])
def test_zero_structure_after_elimination(order, printed):
    """As Ascher 1996 prints it after (6): rows as they were pivots; a pair keeps its identities."""
    symbolic = factor("chain:3", order)
    state = block_state(symbolic)
    kept = np.triu(state.table() != ZERO)
    for i, j in state.pivots[state.pivots[:, 0] > state.pivots[:, 1]]:
        kept[i, j] = True
    assert (in_rows_of_6(symbolic, kept) == printed).all()


def test_circled_pivots_of_ascher():
    """(3k, 3k-2), here with its mirror image, and (3k-1, 3k-1)."""
    symbolic = factor("chain:3", "abm")
    state = block_state(symbolic)
    circles = np.zeros((9, 9), dtype=int)
    circles[tuple(state.pivots.T)] = 1
    found = {(int(i) + 1, int(j) + 1) for i, j in np.argwhere(in_rows_of_6(symbolic, circles))}
    ks = (1, 2, 3)
    assert found == {
        *((3 * k, 3 * k - 2) for k in ks),
        *((3 * k - 2, 3 * k) for k in ks),
        *((3 * k - 1, 3 * k - 1) for k in ks),
    }


def test_fill_of_abm_is_each_joint_with_its_parents_acceleration():
    symbolic = factor("humanoid", "abm")
    graph, state = symbolic.plan.graph, block_state(symbolic)
    filled = state.kind != ORIGINAL
    pairs = {
        frozenset(graph.block(int(symbolic.plan.blocks[t])) for t in pair)
        for pair in zip(state.row[filled], state.col[filled], strict=True)
    }
    s = graph.structure
    assert pairs == {
        frozenset([kkt.Block("qdd", b), kkt.Block("pdd", s.parent_of(b))])
        for b in s.names
        if s.parent_of(b) is not None and s.dof[s.index[b]]
    }


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("spec", ["chain:5", "random_tree:n=12,seed=1", "star:4"])
def test_counts_grow_to_the_symbolic_factors(spec, order):
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


@pytest.mark.parametrize("order", ["abm", "crbm", "bad_abm", "natural", "base_to_tip"])
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
    assert names.key() == "1 = j3, 2 = j2, 3 = j1"


def test_names_are_given_only_where_they_are_right():
    symbolic = factor("chain:3", "crbm")
    before = Labels(block_state(symbolic, 3))  # the joint-space inertia has appeared
    assert [before.cell(t, t) for t in (2, 4)] == ["R_{2}", "R_{3}"]
    assert before.cell(7, 7) == r"\mathcal{M}_{22}" and before.cell(7, 8) == r"\mathcal{M}_{23}"
    after = Labels(block_state(symbolic))
    assert [after.cell(t, t) for t in (6, 7, 8)] == ["D_{1}", "D_{2}", "D_{3}"]
    assert after.cell(6, 7) == r"\mathcal{M}_{12}" and after.cell(7, 8) == ""


def test_named_inertias_are_the_schur_complements():
    """D_2 and M-hat_2 of the labels, by the dense matrix, against eq (7)."""
    system = kkt.build(kkt.chain(3))
    names = system.structure.tip_to_base
    e = system.entries
    k = [system.structure.index[b] for b in names]
    H = [e.S[system.tree.offset[i] : system.tree.offset[i + 1]] for i in k]
    Phi, M = e.Phi[k[0]], e.M[k[0]]
    bar = M - M @ H[0].T @ np.linalg.solve(H[0] @ M @ H[0].T, H[0] @ M)
    M_hat = e.M[k[1]] + Phi @ bar @ Phi.T
    A = system.matrix.toarray()
    out = np.concatenate(
        [np.arange(system.size)[system.blocks[kind, names[0]]] for kind in ("pdd", "f", "qdd")]
    )
    at = np.arange(system.size)[system.blocks["pdd", names[1]]]
    schur = A[np.ix_(at, at)] - A[np.ix_(at, out)] @ np.linalg.solve(A[np.ix_(out, out)], A[np.ix_(out, at)])
    assert np.allclose(schur, M_hat, atol=1e-12)


def test_a_step_there_is_not_is_refused():
    with pytest.raises(kkt.OrderError, match=r"has no step 4; use 0 to 3"):
        block_state(factor("chain:3", "abm"), 4)


# -- drawing --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("spec, mode", [("chain:6", "cells"), ("humanoid", "vector")])
def test_every_block_is_drawn(spec, mode):
    state = block_state(factor(spec, "crbm"))
    ax = Figure().add_axes((0, 0, 1, 1))
    assert draw(ax, state, 300.0, LIGHT, labels=False, circles=False) == mode
    if mode == "cells":
        cells = sum(len(c.get_paths()) for c in ax.collections)
        assert cells == np.count_nonzero(state.table()) + state.symbolic.plan.groups


@pytest.mark.thorough
def test_a_density_raster_shows_each_kind():
    state = block_state(factor("chain:1000", "crbm"))
    ax = Figure().add_axes((0, 0, 1, 1))
    assert draw(ax, state, 300.0, LIGHT, labels=False, circles=False) == "raster"
    image = np.asarray(ax.images[0].get_array())
    assert (image == np.swapaxes(image, 0, 1)).all()  # a symmetric matrix
    assert image[-1, -1, 3] > 200 and image[0, 400, 3] == 0


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", ["single", "double"])
def test_all_figures_in_both_widths_and_themes(dark, width, tmp_path):
    style = {"dark": dark, "width": width}
    symbolic = factor("chain:3", "virtual_work")
    drawn = [
        figures.spy(symbolic, 2, **style),
        figures.before_after(symbolic, **style),
        figures.compare_orders([factor("chain:6", o) for o in ("crbm", "abm")], **style),
        figures.error_bars(ROWS, **style),
        figures.fill_cost(ROWS, **style),
    ]
    for figure in drawn:
        assert figure.get_figwidth() == {"single": 3.4, "double": 7.0}[width]
        path = figures.save(figure, tmp_path / "figure.png")
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_compared_orders_say_their_fill():
    figure = figures.compare_orders([factor("chain:6", o) for o in ("crbm", "abm")])
    texts = [text.get_text() for text in figure.texts]
    assert "crbm: 30 blocks of fill" in texts and "abm: 5 blocks of fill" in texts


def test_a_failed_order_is_a_cross_and_labels_do_not_overlap():
    ax = figures.error_bars(ROWS).axes[0]
    assert any(line.get_marker() == "x" for line in ax.lines)
    rows = [{"order": f"order{i}", "fill_blocks": 10 + i, "flops": 1000 + 9 * i} for i in range(9)]
    figure = figures.fill_cost(rows)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.thorough
@pytest.mark.parametrize("dpi", [72, 130, 300])
def test_no_label_leaves_the_axes_at_any_resolution(dpi):
    # humanoid: the longest name belongs to the point at the right edge
    points = {
        "crbm": (598, 33_500),
        "abm": (44, 15_900),
        "virtual_work": (262, 44_900),
        "divide_and_conquer": (284, 61_200),
    }
    rows = [{"order": o, "fill_blocks": f, "flops": c} for o, (f, c) in points.items()]
    figure = figures.fill_cost(rows, title="humanoid: 45 bodies, 50 freedoms")
    figure.set_dpi(dpi)
    figure.canvas.draw()
    frame = figure.axes[0].get_window_extent()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert frame.x0 < box.x0 and box.x1 < frame.x1, text.get_text()


@pytest.mark.thorough
def test_a_title_in_two_lines_is_even():
    figure = figures.before_after(factor("random_tree:n=1000", "modified_abm_stretched"))
    (title,) = [t.get_text() for t in figure.texts if "entries" in t.get_text()]
    first, second = title.split("\n")
    assert abs(len(first) - len(second)) <= 8


def test_no_fill_has_a_place_on_the_axis():
    row = {"order": "abm", "format": "float32", "fill_blocks": 0, "flops": 10}
    assert figures.fill_cost([row]).axes[0].get_yscale() == "symlog"


def test_pivot_errors_of_the_records():
    system = kkt.build(kkt.chain(12))
    results = {o: kkt.eliminate(system, orderings.get(o), "float32") for o in ("crbm", "abm")}
    lines = {line.get_label(): line for line in figures.pivot_errors(results).axes[0].lines}
    drawn = [line.get_ydata() for line in lines.values() if len(line.get_xdata()) > 2]
    errors = [s.pivot_error for s in results["crbm"].steps if s.pivot_error > 1e-10]
    assert any(np.array_equal(y, errors) for y in drawn)


def test_an_order_keeps_its_colour_where_another_is_left_out():
    result = kkt.eliminate(kkt.build(kkt.chain(12)), orderings.get("abm"), "float32")
    told = figures.pivot_errors({"abm": result}, among=("crbm", "abm")).legends[0].legend_handles
    assert {h.get_color() for h in told if h.get_label() == "abm"} == {LIGHT.series[1]}


@pytest.mark.slow
def test_write_all(tmp_path):
    comparison = analysis.compare(kkt.build(kkt.chain(3)), ["crbm", "abm"], ["float32"], refine=1)
    assert len(comparison.rows) == 4  # refined answers share their order's picture
    paths = figures.write_all(comparison, tmp_path)
    names = {"digits", "fill_cost", "pivot_errors_float32", "cancelled_float32", "spy_crbm", "spy_abm"}
    assert {p.name for p in paths} == {f"{n}{s}" for n in names for s in (".png", ".pdf")}
    assert sorted(tmp_path.iterdir()) == sorted(paths)
