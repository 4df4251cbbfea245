"""Figures for papers: every kind in every look, their numbers and captions, files and the command."""

import inspect
import re
from dataclasses import replace
from itertools import combinations, product

import matplotlib
import networkx as nx
import numpy as np
import pytest
from designs import covering
from figured import factor, request
from helpers import system_of
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from pivotree import analysis, kkt, orderings
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.comparison import compare
from pivotree.analysis.figures import error_bars
from pivotree.analysis.figures.kinds import KINDS, Request, caption, write
from pivotree.analysis.figures.spy import filmstrip, stops
from pivotree.analysis.figures.style import LEAST, LIGHT, STYLES

WIDTHS = {"single": 3.4, "double": 7.0}
STARTS = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize(("kind", "style"), covering(product(KINDS, WIDTHS), STYLES))
def test_every_kind_fits_a_journal_and_can_be_read(kind, style):
    """As wide as a column, no text cut off, and letters of eight points where no block holds them."""
    name, width = kind
    figure = KINDS[name].make(request(width=width, style=style))
    assert isinstance(figure, Figure) and figure.get_figwidth() == WIDTHS[width]
    assert figure.get_figheight() < 9.5
    assert figure.get_facecolor()[:3] == pytest.approx(to_rgb(STYLES[style].page))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page, texts = figure.bbox, list(_texts(figure))
    assert texts
    for text in texts:
        box = text.get_window_extent(canvas.get_renderer())
        inside = page.x0 - 1 <= box.x0 and box.x1 <= page.x1 + 1
        assert inside and page.y0 - 1 <= box.y0 and box.y1 <= page.y1 + 1, text.get_text()
    assert all(text.get_fontsize() >= LEAST for text in figure.findobj(Text) if text.get_text())
    if name not in ("spy", "film"):
        small = [t for t in figure.findobj(Text) if t.get_text() and 0 < t.get_fontsize() < 7.0]
        assert {t.get_text()[0] for t in small} <= {"$"}, [(t.get_text(), t.get_fontsize()) for t in small]


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


@pytest.mark.parametrize(("kind", "suffix"), covering(KINDS, STARTS, unmarked=1))
def test_suffixes_decide_and_what_a_kind_lacks_is_refused(kind, suffix, tmp_path):
    """And its caption has two sentences with numbers."""
    chosen = KINDS[kind]
    asked = request()
    path = write(chosen, asked, tmp_path / f"x{suffix}")
    assert path.read_bytes().startswith(STARTS[suffix])
    if chosen.latex is None:
        with pytest.raises(kkt.FormatError, match=f"kind '{kind}' has no LaTeX"):
            write(chosen, asked, tmp_path / "x.tex")
    assert not list(tmp_path.glob(".*"))
    first, second = caption(chosen, asked).splitlines()
    assert " (3 bodies, 3 freedoms)" in first and "{" not in first and first.endswith(".")
    assert re.search(r"\d", second) and "ABM" in second and second.endswith(".")


@pytest.mark.parametrize("kind", covering(KINDS))
def test_no_kind_stops_at_an_order_that_a_robot_rules_out(kind):
    """A link without mass, as the tool of ur5 where fixed links are kept, stops virtual work alone."""
    tree = kkt.chain(3)
    kkt.add_body(tree, "tool", "j3", mass=0.0, joint="fixed")
    asked = Request(kkt.build(kkt.default_state(tree)))
    assert KINDS[kind].make(asked).axes
    with pytest.raises(kkt.SingularError, match="'tool'"):
        KINDS["pivots"].make(replace(asked, orders=("virtual_work",)))


# -- numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", covering(["exact", "mp:20", "dd", "ball:20"], unmarked=1))
def test_pivots_and_digits_in_numbers_that_are_no_floats(format):
    asked = request("chain:4", format=format, orders=("crbm", "abm"))
    for kind in ("pivots", "digits"):
        assert KINDS[kind].make(asked).axes


def texts_of(figure):
    shown = [*figure.legends[0].texts, *figure.axes[0].texts]
    return {text.get_text() for text in shown}


def test_answers_that_are_not_to_be_relied_on_are_marked_and_a_failed_order_is_a_cross():
    asked = Request(system_of("chain:60"), ("crbm", "abm"), format="float16")
    rows = {row.order: row for row in compare(asked.system, asked.orders, ["float16"]).rows}
    assert rows["crbm"].error is None or rows["crbm"].marked
    marked = {"order": "abm", "format": "bfloat16", "error": 1.3, "digits": 0.0, "marked": "1.3"}
    bars = error_bars([marked, {"order": "crbm", "format": "bfloat16", "error": None}])
    assert {"0.0*", "not to be relied on", "failed"} <= texts_of(bars)
    assert any(line.get_marker() == "x" for line in bars.axes[0].lines)


# -- captions, titles, labels ------------------------------------------------------------------------


def test_a_caption_has_the_numbers_of_the_factor():
    asked = request("chain:4", orders=("crbm",))
    made = factor("chain:4", "crbm")
    told = f"CRBM fills in {made.fill_blocks} blocks off the diagonal ({made.fill_entries} entries)"
    for step in (None, 2):
        text = caption(KINDS["spy"], replace(asked, step=step))
        after = f"after 2 of {made.plan.groups} brackets" in text
        assert after == (step is not None) == ("In the end" in text) and told in text


def test_orders_are_called_by_their_names_as_text_or_as_one_says(tmp_path):
    """In the picture and in its caption alike."""
    asked = request("chain:3", orders=("abm", "virtual_work"), labels=(("abm", "ours $2"),))
    drawn = KINDS["orders"].make(asked)
    titles = [text.get_text().replace("\n", " ") for text in drawn.texts]
    assert titles[0].startswith(r"ours \$2: ") and titles[1].startswith("virtual work: ")
    assert "with ours $2 and" in caption(KINDS["orders"], asked)
    file = tmp_path / "mine.py"
    file.write_text("def mine(structure): return [[('pdd', 'j1'), ('qdd', 'j1'), ('f', 'j1')]]")
    words = f"figure spy chain:1 --order {file}:mine --label {file}:mine=ours -o {file}.svg"
    assert main(words.split()) == 0 and "by ours" in file.with_name(f"{file.name}_caption.tex").read_text()


@pytest.mark.parametrize("kind", ["before-after", "orders"])
def test_no_text_stands_on_another_in_one_column(kind):
    """A key of long names and the legend; titles of three lines and superscripts of small rows."""
    names = {k: f"a_long_name_of_body_{k}" for k in kkt.chain(6)}
    tree = kkt.load("four_bar") if kind == "orders" else nx.relabel_nodes(kkt.chain(6), names)
    figure = KINDS[kind].make(Request(kkt.build(tree), width="single"))
    assert len(_texts(figure)) > 30 and not _overlapping(FigureCanvasAgg(figure))


def test_an_order_keeps_its_colour_where_another_is_left_out():
    result = kkt.eliminate(kkt.build(kkt.chain(12)), orderings.get("abm"), "float32")
    told = figures.pivot_errors({"abm": result}, among=("crbm", "abm")).legends[0].legend_handles
    assert {h.get_color() for h in told if h.get_label() == "ABM"} == {LIGHT.series[1]}


@pytest.mark.product
def test_few_lines_of_a_large_robot_have_a_colour():
    """The pivots of a humanoid: of four orders the best and the worst, the others one gray."""
    orders = ("crbm", "abm", "gain_abm", "divide_and_conquer")
    figure = KINDS["pivots"].make(Request(system_of("humanoid"), orders))
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    colours = [line.get_color() for line in lines]
    assert len(lines) == 4 and colours.count(LIGHT.faint) == 2
    assert len({*colours}) == 3
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "other orders" in names and len({*map(LIGHT.named, orders)} & {*names}) == 2


CRBM = factor("chain:4", "crbm")
MEASURED = [
    {"order": order, "format": format, "error": unit * lost, "marked": "yes" * (lost > 1e4)}
    for order, lost in (("abm", 2), ("divide_and_conquer", 30), ("crbm", 1e5))
    for format, unit in (("float32", 2**-24), ("float64", 2**-53))
]
DRAWN = {  # what each function of a figure is given, and how many pictures it draws
    "spy": ([CRBM, 3], 1),
    "before_after": ([CRBM], 2),
    "filmstrip": ([CRBM, (0, 2, 5, 8)], 4),
    "compare_orders": ([[CRBM, factor("humanoid", "crbm"), factor("chain:4", "abm")]], 3),
    "error_bars": ([MEASURED], 1),
    "pivot_errors": ([{"crbm": kkt.eliminate(system_of("chain:4"), "crbm", "float32")}], 1),
}


def titled(name):
    function = getattr(figures, name)
    return inspect.isfunction(function) and "title" in inspect.signature(function).parameters


@pytest.mark.parametrize("name", [*filter(titled, figures.__all__)])
def test_figures_are_drawn_into_a_users_axes_which_come_back(name):
    """Small ones, beside each other; no text stands on another, and the legend is the user's to call."""
    draw, (given, pictures) = getattr(figures, name), DRAWN[name]
    figure = Figure(figsize=(2.2 * pictures, 2.2), layout="constrained")
    ax = figure.subplots(1, pictures)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert draw(*given, ax=ax) is ax
    panels = list(np.ravel(ax))
    assert figure.axes == panels and all(one.has_data() or one.collections for one in panels)
    assert not figure.legends and not figure.texts and not any(one.get_legend() for one in panels)
    assert not _overlapping(canvas)
    legend = [text.get_text() for text in draw(*given).legends[0].get_texts()]
    assert panels[0].get_legend_handles_labels()[1] == legend
    for wrong, told in ((panels * 2 + [figure], "ax is .*give matplotlib's Axes"), ([], "and 0 axes; give")):
        with pytest.raises(kkt.OrderError, match=told):
            draw(*given, ax=wrong)
    panels[0].remove()
    with pytest.raises(kkt.OrderError, match="no figure any more"):
        draw(*given, ax=ax)


def test_a_users_axes_are_one_a_picture_and_bear_no_common_title():
    panels = Figure().subplots(2, 2)
    assert figures.filmstrip(CRBM, ax=panels) is panels and panels[1, 1].get_title().startswith("8 of 8")
    with pytest.raises(kkt.OrderError, match="2 pictures and 1 axes"):
        figures.before_after(CRBM, ax=panels[0, [0, 0]])
    with pytest.raises(kkt.OrderError, match="call its suptitle"):
        figures.before_after(CRBM, ax=panels[0], title="mine")


def _overlapping(canvas):
    canvas.draw()
    boxes = [t.get_window_extent(canvas.get_renderer()).padded(-1) for t in _texts(canvas.figure)]
    return [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]


# -- films -------------------------------------------------------------------------------------------


def test_a_strip_marks_what_is_new_since_the_picture_before():
    assert stops(3, 6) == [0, 1, 2, 3] and stops(0, 5) == [0] and stops(100, 5) == [0, 25, 50, 75, 100]
    many = Figure().subplots(3, 4)  # of eight steps and the matrix
    assert filmstrip(CRBM, ax=many) is many and [ax.axison for ax in many.flat] == [True] * 9 + [False] * 3
    assert filmstrip(CRBM, ax=many[2, 3]).get_title().startswith("8 of 8")
    with pytest.raises(kkt.OrderError, match="has no picture; give one step or order"):
        filmstrip(CRBM, [])
    figure = filmstrip(factor("chain:6", "crbm"), np.arange(0, 13, 4), zeros=True)
    texts = [t.get_text() for t in figure.texts]
    assert "the matrix" in texts and "12 of 12: 30 blocks of fill + 6 diagonal" in texts
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert {"made zero", "new fill"} <= set(legend) and any(x.startswith("earlier fill") for x in legend)


# -- files and the command ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", covering([".tex", ".svg", ".png", ".pdf"], unmarked=1))
def test_files_are_the_same_every_time(suffix, tmp_path):
    symbolic = factor("chain:2", "crbm")
    drawn = figures.pmatrix if suffix == ".tex" else figures.spy
    first, second = (
        figures.save(drawn(symbolic), tmp_path / f"{name}{suffix}").read_bytes() for name in "ab"
    )
    assert first == second
    assert not re.search(rb"CreationDate|<dc:date>", first)


def test_global_settings_stay_as_they_are(tmp_path):
    def now():
        return {key: value for key, value in matplotlib.rcParams.items() if key != "backend"}

    before, figure = now(), figures.spy(factor("chain:3", "abm"))
    figures.save(figure, tmp_path / "spy.svg")
    with pytest.raises(kkt.FormatError, match="does not hold a drawn figure"):
        figures.save(figure, tmp_path / "spy.tex")
    assert now() == before


@pytest.mark.product
def test_write_all(tmp_path):
    comparison = analysis.compare(system_of("chain:2"), ["crbm", "abm", "gain_abm"], ["float32"], refine=1)
    assert len(comparison.rows) == 6  # refined answers share their order's picture, and gain_abm ABM's
    paths = figures.write_all(comparison, tmp_path)
    names = {"digits", "pivot_errors_float32", "spy_crbm", "spy_abm"}
    assert {p.name for p in paths} == {f"{n}{s}" for n in names for s in (".png", ".pdf")}
    assert sorted(tmp_path.iterdir()) == sorted(paths)
