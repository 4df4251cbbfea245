"""Figures for papers: every kind in every look, their numbers and captions, files and the command."""

import re
import shutil
from dataclasses import replace
from itertools import pairwise, product

import matplotlib
import numpy as np
import pytest
from designs import covering
from figured import SMALL, factor, model_of, request
from helpers import system_of
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from pivotree import analysis, kkt, orderings
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.comparison import compare, placements
from pivotree.analysis.figures import data
from pivotree.analysis.figures.film import stops
from pivotree.analysis.figures.kinds import KINDS, Request, kind_of, write
from pivotree.analysis.figures.state import ZERO, block_state
from pivotree.analysis.figures.style import GRAY, LIGHT, STYLES
from pivotree.kkt.arithmetic import get_format

FIELDS = ("order", "format", "error", "digits", "fill_blocks", "flops")
MEASURED_ROWS = (
    ("abm", "float32", 2e-7, 6.7, 2, 1000),
    ("modified_abm", "float32", 2e-7, 6.7, 2, 1010),
    ("crbm", "float32", None, None, 6, 900),
    ("crbm", "float64", 0.0, None, 6, 900),
    ("refused", "float64", None, None, None, None),
)
ROWS = [dict(zip(FIELDS, row, strict=True)) for row in MEASURED_ROWS]


WIDTHS = {"single": 3.4, "double": 7.0}


@pytest.mark.parametrize(("kind", "style"), covering(product(KINDS, WIDTHS), STYLES))
def test_every_kind_fits_a_journal_and_can_be_read(kind, style, monkeypatch):
    """As wide as a column, no text cut off, and letters of eight points where no block holds them."""
    monkeypatch.setattr(data, "STATES", 3)
    name, width = kind
    figure = KINDS[name].make(request(model_of(name), width=width, style=style))
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
    if name not in ("spy", "film", "trees"):
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


@pytest.mark.parametrize("kind", covering(KINDS, unmarked=1))
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


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["spy", "before-after", "film", "orders", "trees", "curves", "heat"])
def test_svg_of_a_thousand_bodies_is_small(kind, tmp_path):
    asked = request("random_tree:n=1000", orders=("abm",))
    path = write(KINDS[kind], asked, tmp_path / "x.svg")
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("kind", covering([name for name, kind in KINDS.items() if not kind.loops]))
def test_no_kind_stops_at_an_order_that_a_robot_rules_out(kind):
    """A link without mass, as the tool of ur5 where fixed links are kept, stops virtual work alone."""
    tree = kkt.chain(3)
    kkt.add_body(tree, "tool", "j3", mass=0.0, joint="fixed")
    asked = Request(kkt.build(kkt.default_state(tree)), titled=True)
    assert asked.affordable() == ("crbm", "abm")
    assert "without virtual_work" in asked.told(("crbm", "abm"))
    assert KINDS[kind].make(asked).axes
    with pytest.raises(kkt.SingularError, match="'tool'"):
        replace(asked, orders=("virtual_work",)).affordable()


def test_an_order_out_of_reach_is_left_out_or_refused():
    asked = request("random_tree:n=1000")
    assert asked.affordable() == ("abm", "virtual_work", "divide_and_conquer")
    assert "without crbm" in replace(asked, titled=True).told(asked.affordable())
    with pytest.raises(kkt.SizeError, match="order 'crbm': a figure of its numbers on 1000 bodies"):
        kind_of("heat").make(request("random_tree:n=1000", orders=("crbm",)))


# -- numbers -----------------------------------------------------------------------------------------


def test_curves_count_on_structure_where_tapes_are_out_of_reach(monkeypatch):
    def labels(figure):
        return [ax.get_ylabel() for ax in figure.axes]

    assert labels(KINDS["curves"].make(request()))[1] == "operations"
    monkeypatch.setattr("pivotree.analysis.figures.kinds.HEAVY", 10)
    assert labels(KINDS["curves"].make(request()))[1] == "operations, dense blocks"


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


@pytest.mark.parametrize("format", covering(["exact", "mp:20", "dd", "ball:20"], unmarked=1))
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


@pytest.mark.product
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


@pytest.mark.product
def test_a_tree_grows_with_the_loops_among_its_bodies():
    tree = kkt.stewart()
    parts = [kkt.build(data.grown(tree, n)) for n in (2, 9, 13)]
    assert [len(part.loops) for part in parts] == [0, 2, 6]
    whole = kkt.build(tree)
    assert np.array_equal(parts[-1].state.p, whole.state.p)
    (last,) = data.costs(tree, ["abm"])["abm"][-1:]
    assert last == (13, kkt.trace(whole, orderings.get("abm")).flops)


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


def test_pivot_errors_of_the_records():
    system = kkt.build(kkt.chain(12))
    results = {o: kkt.eliminate(system, orderings.get(o), "float32") for o in ("crbm", "abm")}
    lines = {line.get_label(): line for line in figures.pivot_errors(results).axes[0].lines}
    drawn = [line.get_ydata() for line in lines.values() if len(line.get_xdata()) > 2]
    errors = [s.pivot_error for s in results["crbm"].steps if s.pivot_error > 1e-10]
    assert any(np.array_equal(y, errors) for y in drawn)


# -- captions, titles, labels ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", covering(KINDS, unmarked=1))
def test_a_caption_has_two_sentences_with_numbers(kind, tmp_path, capsys):
    path = tmp_path / "a.svg"
    assert main(["figure", kind, model_of(kind), "--width", "single", "-o", str(path)]) == 0
    text = (tmp_path / "a_caption.tex").read_text().replace("\\_", "_")
    first, second = text.rstrip().split(". In numbers: ")
    name = model_of(kind).replace(":", "_")
    assert f"{name}: 3 bodies, 3 freedoms" in first and second.endswith(".")
    assert re.search(r"\d", second) and "step K" not in text
    assert "abm" in second


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


def test_there_is_no_title_unless_it_is_asked_for():
    def words(titled):
        made = KINDS["digits"].make(Request(kkt.build(kkt.chain(2)), titled=titled))
        return [ax.get_title(loc="left") for ax in made.axes]

    assert words(False) == [""] and words(True) == ["chain_2: 2 bodies, 2 freedoms"]


@pytest.mark.product
def test_a_title_in_two_lines_is_even():
    figure = figures.before_after(factor("random_tree:n=1000", "modified_abm_stretched"))
    (title,) = [t.get_text() for t in figure.texts if "entries" in t.get_text()]
    first, second = title.split("\n")
    assert abs(len(first) - len(second)) <= 8


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


@pytest.mark.parametrize("dpi", covering([72, 130, 300], unmarked=1))
def test_no_label_leaves_the_axes_at_any_resolution(dpi):
    # humanoid: the longest name belongs to the point at the right edge
    points = {"crbm": (598, 33_500), "abm": (44, 15_900), "virtual_work": (262, 44_900)}
    points["divide_and_conquer"] = (284, 61_200)
    rows = [{"order": o, "fill_blocks": f, "flops": c} for o, (f, c) in points.items()]
    figure = figures.fill_cost(rows, title="humanoid: 45 bodies, 50 freedoms")
    figure.set_dpi(dpi)
    figure.canvas.draw()
    frame = figure.axes[0].get_window_extent()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert frame.x0 < box.x0 and box.x1 < frame.x1, text.get_text()


def test_no_fill_has_a_place_on_the_axis():
    row = {"order": "abm", "format": "float32", "fill_blocks": 0, "flops": 10}
    assert figures.fill_cost([row]).axes[0].get_yscale() == "symlog"


def test_an_order_keeps_its_colour_where_another_is_left_out():
    result = kkt.eliminate(kkt.build(kkt.chain(12)), orderings.get("abm"), "float32")
    told = figures.pivot_errors({"abm": result}, among=("crbm", "abm")).legends[0].legend_handles
    assert {h.get_color() for h in told if h.get_label() == "abm"} == {LIGHT.series[1]}


@pytest.mark.product
def test_few_lines_of_a_large_robot_have_a_colour():
    """The pivots of a humanoid: of four orders the best and the worst, the others one gray."""
    orders = ("crbm", "abm", "gain_abm", "divide_and_conquer")
    asked = Request(kkt.build(kkt.humanoid()), orders)
    figure = KINDS["pivots"].make(asked)
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    colours = [line.get_color() for line in lines]
    assert len(lines) == 4 and colours.count(LIGHT.faint) == 2
    assert len({*colours}) == 3
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "other orders" in names and len({*orders} & {*names}) == 2


# -- films -------------------------------------------------------------------------------------------


def test_stops_begin_with_the_matrix_and_end_with_the_factor():
    assert stops(3, 6) == [0, 1, 2, 3] and stops(0, 5) == [0]
    assert stops(100, 5) == [0, 25, 50, 75, 100]


def test_a_strip_marks_what_is_new_since_the_picture_before():
    figure = figures.strip(factor("chain:6", "crbm"), frames=4)
    texts = [t.get_text() for t in figure.texts]
    assert "the matrix" in texts and "12 of 12: 30 filled" in texts
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert {"made zero", "new fill", "earlier fill"} <= set(legend)


def test_an_interrupted_film_is_not_put_together_first(tmp_path, monkeypatch):
    """matplotlib does so, and a long film takes it longer than Ctrl-C may."""
    from matplotlib.animation import PillowWriter

    seen = []

    def interrupted(self, **how):
        seen.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(PillowWriter, "grab_frame", interrupted)
    monkeypatch.setattr(PillowWriter, "finish", lambda self: pytest.fail("it is put together"))
    with pytest.raises(KeyboardInterrupt):
        figures.animation(factor("chain:1", "abm"), tmp_path / "film.gif")
    assert len(seen) == 1 and not list(tmp_path.iterdir())


@pytest.mark.product
def test_an_animation_has_a_picture_a_bracket_and_the_commands_twice_the_resolution(tmp_path):
    asked = request(width="single")
    path = write(KINDS["film"], asked, tmp_path / "film.gif")
    with Image.open(path) as image:
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGB"), dtype=int))
    different = 1 + sum((a != b).any() for a, b in pairwise(frames))
    assert different == 4  # the matrix and three brackets
    once = Image.open(figures.animation(asked.symbolic, tmp_path / "once.gif")).size
    assert image.size[0] == 2 * once[0] and abs(image.size[1] - 2 * once[1]) <= 1
    with pytest.raises(kkt.FormatError, match="cannot be written"):
        write(KINDS["film"], request(), tmp_path / "missing" / "film.gif")


def test_an_mp4_needs_ffmpeg(tmp_path, monkeypatch):
    if shutil.which("ffmpeg"):
        path = write(KINDS["film"], request(width="single"), tmp_path / "film.mp4")
        assert b"ftyp" in path.read_bytes()[:32]
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(kkt.FormatError, match="needs the program ffmpeg, which is not found"):
        write(KINDS["film"], request(), tmp_path / "other.mp4")
    assert not (tmp_path / "other.mp4").exists()


# -- files and the command ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", covering([".tex", ".svg", ".png", ".pdf"], unmarked=1))
def test_files_are_the_same_every_time(suffix, tmp_path):
    symbolic = factor("chain:4", "crbm")
    first, second = (figures.save_spy(symbolic, tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == second
    assert not re.search(rb"CreationDate|<dc:date>", first)


def test_global_settings_stay_as_they_are(tmp_path):
    def now():
        return {key: value for key, value in matplotlib.rcParams.items() if key != "backend"}

    before = now()
    figures.save_spy(factor("chain:3", "abm"), tmp_path / "spy.svg")
    assert now() == before


@pytest.mark.parametrize("place", ["missing/spy.png", "file/spy.tex"])
def test_a_folder_that_cannot_be_written_to(place, tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / place
    with pytest.raises(kkt.PivotreeError) as caught:
        figures.save_spy(factor("chain:3", "abm"), path)
    text = str(caught.value)
    assert text.startswith(f"{path}: cannot be written (") and "\n" not in text
    assert text.endswith("give a place that can, or make room")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("name", ["spy.gif", "spy"])
def test_an_unknown_suffix(name, tmp_path):
    with pytest.raises(kkt.FormatError, match=r"use \.png, \.pdf, \.svg, \.tex, \.pgf$"):
        figures.save_spy(factor("chain:3", "abm"), tmp_path / name)
    with pytest.raises(kkt.FormatError, match="does not hold a drawn figure"):
        figures.save(figures.error_bars(ROWS), tmp_path / "digits.tex")


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "spy.svg"
    path.write_text("old")

    def broken(self, data):
        self.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", broken)
    with pytest.raises(kkt.FormatError, match="No space left"):
        figures.save_spy(factor("chain:3", "abm"), path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.product
def test_write_all(tmp_path):
    comparison = analysis.compare(kkt.build(kkt.chain(3)), ["crbm", "abm"], ["float32"], refine=1)
    assert len(comparison.rows) == 4  # refined answers share their order's picture
    paths = figures.write_all(comparison, tmp_path)
    names = {"digits", "fill_cost", "pivot_errors_float32", "cancelled_float32", "spy_crbm", "spy_abm"}
    assert {p.name for p in paths} == {f"{n}{s}" for n in names for s in (".png", ".pdf")}
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_the_command_lists_and_draws(tmp_path, capsys):
    assert main(["figure", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(KINDS)
    path = tmp_path / "x.svg"
    assert main(["figure", "spy", SMALL, "--step", "1", "--gray", "-o", str(path)]) == 0
    assert GRAY.new.lower() in path.read_text().lower()


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["figure"], "KIND is missing"),
        (["figure", "spy"], "MODEL is missing"),
        (["figure", "spy", SMALL], "-o is missing"),
        (["figure", "spi", SMALL, "-o", "x.png"], "kind 'spi' is unknown; did you mean spy?"),
        (["figure", "spy", "chian:3", "-o", "x.png"], "did you mean chain?"),
        (["figure", "spy", SMALL, "--orders", "abn", "-o", "x.png"], "nearest: abm"),
        (["figure", "spy", SMALL, "--orders", "abm,crbm", "-o", "x.png"], "one order, not 2"),
        (["figure", "spy", SMALL, "--step", "9", "-o", "x.png"], "use 0 to 3"),
        (["figure", "heat", SMALL, "--format", "float33", "-o", "x.png"], "float33"),
        (["figure", "cancelled", SMALL, "--format", "mp:50", "-o", "x.png"], "nothing to hold"),
        (["figure", "condition", SMALL, "--format", "mp:30", "-o", "x.png"], "does not round"),
        (["figure", "spy", SMALL, "--font", "arial", "-o", "x.png"], "use stix or sans"),
        (["figure", "spy", SMALL, "--width", "triple", "-o", "x.png"], "use single or double"),
        (["figure", "spy", SMALL, "-o", "x.bmp"], "suffix '.bmp' is unknown"),
        (["figure", "curves", SMALL, "-o", "x.tex"], "use kind spy, before-after, matrix, orders"),
        (["figure", "curves", SMALL, "-o", "x.mp4"], "use kind film"),
        (["figure", "matrix", "chain:20", "-o", "x.png"], "too many to be set as symbols"),
        (["figure", "trees", "chain:100", "-o", "x.tex"], "too many for LaTeX"),
        (["figure", "spy", "chain:100", "-o", "x.tex"], "too many for LaTeX"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1 and error.startswith("pivotree: ")
    assert not list(tmp_path.iterdir())
