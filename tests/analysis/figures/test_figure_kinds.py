"""Figures for papers: every kind in every look, LaTeX that compiles, colours told apart by all."""

import re
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from helpers import ROOT, system_of
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from test_figures import AFTER_ABM, AFTER_CRBM, factor, in_rows_of_6

from pivotree import kkt, orderings
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.comparison import compare, placements
from pivotree.analysis.figures import data
from pivotree.analysis.figures.curves import step_counts, traced_counts
from pivotree.analysis.figures.density import KINDS as BLOCK_KINDS
from pivotree.analysis.figures.density import density
from pivotree.analysis.figures.kinds import KINDS, Request, kind_of, write
from pivotree.analysis.figures.state import NEW, ZERO, ZEROED, block_state
from pivotree.analysis.figures.style import STYLES
from pivotree.kkt.arithmetic import get_format

GALLERY = ROOT / "docs" / "gallery"
SMALL = "chain:3"


MEASURED = defaultdict(dict)  # by the model and the number of states; looks share it


def model_of(kind):
    """A small model that a kind shows."""
    return "four_bar" if KINDS[kind].loops else SMALL


def request(spec=SMALL, **options):
    return Request(system_of(spec), memory=MEASURED[spec, data.STATES], **options)


# -- every kind -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("width, inches", [("single", 3.4), ("double", 7.0)])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_figure_of_a_journals_width(kind, style, width, inches, monkeypatch):
    monkeypatch.setattr(data, "STATES", 3)
    figure = KINDS[kind].make(request(model_of(kind), width=width, style=style))
    assert isinstance(figure, Figure) and figure.get_figwidth() == inches
    assert figure.get_figheight() < 9.5
    assert figure.get_facecolor()[:3] == pytest.approx(to_rgb(STYLES[style].page))


@pytest.mark.thorough
@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_is_cut_off(kind, width):
    figure = KINDS[kind].make(request(model_of(kind), width=width))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page = figure.bbox
    texts = list(_texts(figure))
    assert texts
    for text in texts:
        box = text.get_window_extent(canvas.get_renderer())
        inside = page.x0 - 1 <= box.x0 and box.x1 <= page.x1 + 1
        assert inside and page.y0 - 1 <= box.y0 and box.y1 <= page.y1 + 1, text.get_text()


def _texts(figure):
    """All that is written; labels of ticks beyond an axis are not."""
    found = list(figure.texts) + [t for legend in figure.legends for t in legend.get_texts()]
    for ax in figure.findobj(Axes):
        found += [*ax.texts, ax.title, ax._left_title, ax._right_title]
        if not ax.axison:
            continue
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [t for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
            found += [axis.label, *(t.label1 for t in ticks), *(t.label2 for t in ticks)]
    return [t for t in found if t.get_visible() and t.get_text().strip()]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_suffixes_decide_and_what_a_kind_lacks_is_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "STATES", 3)
    chosen = KINDS[kind]
    asked = request(model_of(kind))
    for suffix, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        path = write(chosen, asked, tmp_path / f"x{suffix}")
        assert path.read_bytes().startswith(start)
    if chosen.latex is None:
        with pytest.raises(kkt.FormatError, match=f"kind '{kind}' has no LaTeX"):
            write(chosen, asked, tmp_path / "x.tex")
    if chosen.move is None:
        with pytest.raises(kkt.FormatError, match=f"kind '{kind}' does not move; use kind film"):
            write(chosen, asked, tmp_path / "x.gif")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["spy", "before-after", "film", "orders", "trees", "curves", "heat"])
def test_svg_of_a_thousand_bodies_is_small(kind, tmp_path):
    asked = request("random_tree:n=1000", orders=("abm",))
    path = write(KINDS[kind], asked, tmp_path / "x.svg")
    assert path.stat().st_size < 1_000_000


# -- 0-structures and rasters ---------------------------------------------------------------------


@pytest.mark.parametrize("order, printed", [("abm", AFTER_ABM), ("crbm", AFTER_CRBM)])
def test_zeros_made_are_what_the_printed_structure_lacks(order, printed):
    symbolic = factor("chain:3", order)
    state = block_state(symbolic)
    drawn = in_rows_of_6(symbolic, state.table(zeros=True))
    assert ((drawn != ZERO) & (drawn != ZEROED) == printed).all()
    whole = in_rows_of_6(symbolic, state.table())
    assert ((drawn == ZEROED) == ((whole != ZERO) & ~printed)).all()
    assert not (block_state(symbolic, 0).table(zeros=True) == ZEROED).any()


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("spec, order", [("humanoid", "crbm"), ("chain:40", "virtual_work")])
def test_density_counts_every_block(spec, order, zeros):
    state = block_state(factor(spec, order), 20)
    table = state.table(zeros=zeros)
    assert (table == NEW).any() and (table == ZEROED).any() == zeros
    whole = density(state, 10_000, zeros=zeros)
    for counted, kind in zip(whole, BLOCK_KINDS, strict=True):
        assert (counted == (table == kind)).all()
    pixels = 17
    coarse = density(state, pixels, zeros=zeros)
    at = np.arange(state.blocks) * pixels // state.blocks
    for counted, kind in zip(coarse, BLOCK_KINDS, strict=True):
        expected = np.zeros((pixels, pixels), dtype=int)
        for i, j in np.argwhere(table == kind):
            expected[at[i], at[j]] += 1
        assert (counted == expected).all()


# -- curves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["abm", "crbm", "lagrange", "divide_and_conquer"])
def test_curves_end_at_the_factors_counts(order):
    symbolic = factor("humanoid", order)
    fill, flops = step_counts(symbolic)
    assert fill[0] == flops[0] == 0 and len(fill) == len(flops) == symbolic.plan.groups + 1
    assert fill[-1] == symbolic.fill_blocks and int(flops[-1]) == symbolic.flops
    states = [block_state(symbolic, k).fill_blocks for k in range(0, len(fill), 7)]
    assert fill[::7].tolist() == states


@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work_split", "divide_and_conquer"])
def test_traced_curves_end_at_the_tapes_count(order):
    tape = kkt.trace(system_of("binary:2"), orderings.get(order))
    work = traced_counts(tape)
    assert work[-1] == tape.flops and len(work) == tape.program.groups + 1
    assert work[0] == 0 and (np.diff(work) >= 0).all()


def test_curves_count_on_structure_where_tapes_are_out_of_reach(monkeypatch):
    def labels(figure):
        return [ax.get_ylabel() for ax in figure.axes]

    assert labels(KINDS["curves"].make(request()))[1] == "operations"
    monkeypatch.setattr("pivotree.analysis.figures.kinds.HEAVY", 10)
    assert labels(KINDS["curves"].make(request()))[1] == "operations, dense blocks"


# -- numbers --------------------------------------------------------------------------------------


def test_heat_finds_the_pivot_that_is_lost():
    """Example 1 of Ascher 1996, tilted: ABM's D of the light base is off, all before it is not."""
    system = kkt.build(kkt.load("two_link:r=0.002"))
    tape = kkt.trace(system, orderings.get("bad_abm"))
    chosen = get_format("float32")
    loss = figures.block_loss(tape, system, chosen)
    result = kkt.eliminate(system, tape, "float32")
    for step in result.steps:
        at = _positions(tape, step.blocks[-1:])
        worst = max(
            (d for i, j, d in zip(loss.row, loss.col, loss.digits, strict=True) if i == j == at[0]),
            default=0.0,
        )
        if step.pivot_error and len(step.pivots) == 1:
            assert 10**worst * chosen.unit >= 0.99 * step.pivot_error
    assert (loss.digits >= 0).all() and (loss.row < loss.blocks).all()


def _positions(tape, blocks):
    factor = tape.program.symbolic
    order = [factor.plan.graph.block(int(b)) for b in factor.plan.blocks]
    return [order.index(block) for block in blocks]


@pytest.mark.thorough
def test_cancelled_shows_what_the_steps_say():
    """Bars are exact arithmetic's bits, points the format's, marks the sums that are apart."""
    asked = request("chain:10")
    figure = KINDS["cancelled"].make(asked)
    for ax, order in zip(figure.axes, ("crbm", "abm"), strict=True):
        steps = kkt.eliminate(asked.system, orderings.get(order), "float32", records=True, exact=True).steps
        held = [step.against for step in steps]
        assert ax.get_title(loc="left") == order
        assert [bar.get_height() for bar in ax.patches] == [h.order for h in held]
        lines = {line.get_marker(): line for line in ax.lines if line.get_linestyle() == "None"}
        assert lines["s"].get_ydata().tolist() == [h.format for h in held]
        for marker, counts in (("v", [h.residues for h in held]), ("x", [h.vanished for h in held])):
            assert len(lines[marker].get_xdata()) == sum(count > 0 for count in counts)
    assert max(h.order for h in held) < 24  # abm; crbm cancels more than there is
    with pytest.raises(kkt.FormatError, match="use float32"):
        KINDS["cancelled"].make(request("chain:3", format="mp:50"))


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["mp:20", "dd", "exact", "ball:20"])
def test_heat_and_pivots_in_numbers_that_are_no_floats(format):
    """Guard digits and radii are what is lost; nothing is lost in fractions."""
    asked = request("chain:4", format=format, orders=("crbm", "abm"))
    loss = figures.block_loss(asked.tape("crbm"), asked.system, get_format(format))
    assert np.isfinite(loss.digits).all()
    assert (loss.digits.max() > 0.0) == (format != "exact") and loss.digits.max() < 12.0
    for kind in ("heat", "pivots", "digits"):
        assert KINDS[kind].make(asked).axes


def test_heat_lies_on_blocks_of_the_factor():
    system = system_of("chain:6")
    tape = kkt.trace(system, orderings.get("crbm"))
    loss = figures.block_loss(tape, system, get_format("bfloat16"))
    table = block_state(tape.program.symbolic).table()
    inner = loss.col < loss.blocks
    assert (table[loss.row[inner], loss.col[inner]] != ZERO).all() and inner.any()
    assert (~inner).any()  # the right-hand side, and the answer
    exact = figures.block_loss(tape, system, get_format("float64"))
    assert np.median(exact.digits) < 1.0  # digits are counted from the format's own unit


def test_condition_of_random_states_is_kkts_own(monkeypatch):
    system = system_of("chain:3")
    found = data.instances(system, ["abm", "crbm"], get_format("float32"), states=3)
    assert [i.order for i in found] == ["abm", "crbm"] * 3
    from pivotree.analysis.states.sample import system_at
    from pivotree.kkt.matrix.ranges import ranges_of

    here = system_at(system, ranges_of(system), 0, 1)
    assert found[2].kappa == pytest.approx(kkt.conditioning(here).kappa)
    exact = kkt.certify(here, 30, rounded_to=get_format("float32"))
    result = kkt.eliminate(here, orderings.get("abm"), "float32")
    assert found[2].error == pytest.approx(exact.error(result.qdd), rel=1e-6)


@pytest.mark.thorough
def test_costs_are_those_of_grown_trees():
    tree = kkt.load("humanoid")
    found = data.costs(tree, ["abm"])["abm"]
    assert [n for n, _ in found] == data.sizes(45) and data.sizes(45)[-1] == 45
    whole = kkt.trace(kkt.build(tree), orderings.get("abm"))
    assert found[-1] == (45, whole.flops)
    part = data.grown(tree, 7)
    assert part.number_of_nodes() == 7 and part.number_of_edges() == 6
    assert data.costs(kkt.load("chain:9"), ["abm"])["abm"][4] == (
        5,
        kkt.trace(kkt.build(kkt.chain(5)), orderings.get("abm")).flops,
    )


@pytest.mark.thorough
def test_a_tree_grows_with_the_loops_among_its_bodies():
    tree = kkt.stewart()
    parts = [kkt.build(data.grown(tree, n)) for n in (2, 9, 13)]
    assert [len(part.loops) for part in parts] == [0, 2, 6]
    whole = kkt.build(tree)
    assert np.array_equal(parts[-1].state.p, whole.state.p)
    (last,) = data.costs(tree, ["abm"])["abm"][-1:]
    assert last == (13, kkt.trace(whole, orderings.get("abm")).flops)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_a_caption_has_two_sentences_with_numbers(kind, tmp_path, capsys):
    path = tmp_path / "a.svg"
    assert main(["figure", kind, model_of(kind), "--width", "single", "-o", str(path)]) == 0
    text = (tmp_path / "a_caption.tex").read_text().replace("\\_", "_")
    first, second = text.rstrip().split(". In numbers: ")
    name = model_of(kind).replace(":", "_")
    assert f"{name}: 3 bodies, 3 freedoms" in first and second.endswith(".")
    assert re.search(r"\d", second) and "step K" not in text
    assert "abm" in second


def test_multipliers_are_placed_as_compare_places_them():
    """Rows at each compliance; orders of soft multipliers leave rigid rows to the others."""
    found = placements(system_of("four_bar"), compliances=(1e-4, 0.0))
    assert [(p.order, p.compliance, len(p.errors)) for p in found[:2]] == [
        ("lambda_first", 1e-4, 1),
        ("lambda_first_abm", 1e-4, 1),
    ]
    assert [len(p.errors) for p in found[5:]] == [0, 0, 1, 1, 1]
    soft = kkt.four_bar()
    (pin,) = soft.graph["loops"]
    soft.graph["loops"] = [replace(pin, compliance=np.full(2, 1e-4))]
    rows = compare(kkt.build(soft), ["lambda_first", "abm"], ["float32"]).rows
    assert [row.error for row in rows] == [found[0].errors[0], found[3].errors[0]]
    assert found[0].errors[0] > 30 * found[3].errors[0]
    with pytest.raises(kkt.LoopError, match="this model has neither; hold bodies with --contact"):
        placements(kkt.build(kkt.chain(2)))


def test_there_is_no_title_unless_it_is_asked_for():
    def words(titled):
        made = KINDS["digits"].make(Request(kkt.build(kkt.chain(2)), titled=titled))
        return [ax.get_title(loc="left") for ax in made.axes]

    assert words(False) == [""] and words(True) == ["chain_2: 2 bodies, 2 freedoms"]


@pytest.mark.thorough
def test_numbers_of_a_caption_are_those_of_the_factor(tmp_path, capsys):
    made = kkt.symbolic(kkt.plan(orderings.get("crbm"), kkt.build(kkt.chain(4)).structure))
    path = tmp_path / "a.svg"
    main(["figure", "spy", "chain:4", "--orders", "crbm", "-o", str(path)])
    told = f"crbm fills in {made.fill_blocks} blocks ({made.fill_entries} entries)"
    text = (tmp_path / "a_caption.tex").read_text()
    assert told in text and text.startswith("% \\caption{\\protect\\input{a_caption.tex}}\n")
    main(["figure", "matrix", "chain:4", "--orders", "crbm", "--step", "2", "-o", str(path)])
    text = (tmp_path / "a_caption.tex").read_text()
    assert ", after 2 steps, for" in text and f"in the end {told}" in text


def test_an_order_that_gives_no_answer_is_left_out():
    """The links of ur5 without mass, where they are kept, stop virtual work alone."""
    tree = kkt.chain(3)
    kkt.add_body(tree, "tool", "j3", mass=0.0, joint="fixed")
    kkt.default_state(tree)
    made = Request(kkt.build(tree), titled=True)
    assert made.affordable() == ("crbm", "abm")
    assert "without virtual_work" in made.told(("crbm", "abm"))
    with pytest.raises(kkt.SingularError, match="'tool'"):
        Request(kkt.build(tree), ("virtual_work",)).affordable()


def test_an_order_out_of_reach_is_left_out_or_refused():
    asked = request("random_tree:n=1000")
    assert asked.affordable() == ("abm", "virtual_work", "divide_and_conquer")
    assert "without crbm" in replace(asked, titled=True).told(asked.affordable())
    with pytest.raises(kkt.SizeError, match="order 'crbm': a figure of its numbers on 1000 bodies"):
        kind_of("heat").make(request("random_tree:n=1000", orders=("crbm",)))
