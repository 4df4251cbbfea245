"""Figures for papers: every kind in every look, LaTeX that compiles, colours told apart by all."""

import importlib.util
import re
import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pytest
from helpers import ROOT, system_of
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from test_figures import AFTER_ABM, AFTER_CRBM, factor, in_rows_of_6

from pivotree import kkt, orderings
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.figures import data
from pivotree.analysis.figures.curves import step_counts
from pivotree.analysis.figures.density import KINDS as BLOCK_KINDS
from pivotree.analysis.figures.density import density, strong
from pivotree.analysis.figures.film import stops
from pivotree.analysis.figures.kinds import KINDS, Request, kind_of, write
from pivotree.analysis.figures.matrix import face
from pivotree.analysis.figures.state import FILL, NEW, ORIGINAL, ZERO, ZEROED, block_state
from pivotree.analysis.figures.style import DARK, GRAY, LIGHT, MARKERS, STYLES, theme
from pivotree.analysis.figures.trees import bodies_of, body_colours, tree_layout, walk
from pivotree.kkt.arithmetic import get_format

GALLERY = ROOT / "docs" / "gallery"
SMALL = "chain:3"


def request(spec=SMALL, **options):
    return Request(system_of(spec), **options)


# -- every kind -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("width, inches", [("single", 3.4), ("double", 7.0)])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_figure_of_a_journals_width(kind, style, width, inches, monkeypatch):
    monkeypatch.setattr(data, "STATES", 3)
    figure = KINDS[kind].make(request(width=width, style=style))
    assert isinstance(figure, Figure) and figure.get_figwidth() == inches
    assert figure.get_figheight() < 9.5
    assert figure.get_facecolor()[:3] == pytest.approx(to_rgb(STYLES[style].page))


@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_is_cut_off(kind, width):
    figure = KINDS[kind].make(request(width=width))
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
    monkeypatch.setattr(data, "STATES", 2)
    chosen = KINDS[kind]
    asked = request()
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


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", ["spy", "before-after", "film", "orders", "trees", "curves", "heat"]
)
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


# -- trees and curves -----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["chain:4", "star:5", "binary:3", "random_tree:n=60,seed=2"])
def test_layout_of_a_tree(spec):
    parent = system_of(spec).structure.parent
    place = tree_layout(parent)
    inner = parent >= 0
    assert (place[inner, 1] == place[parent[inner], 1] + 1).all()
    assert len({tuple(p) for p in place.round(6).tolist()}) == len(parent)  # no two on one place
    for k in np.unique(parent[inner]):
        x = place[parent == k, 0]
        assert place[k, 0] == pytest.approx((x.min() + x.max()) / 2)
    levels = [np.sort(place[place[:, 1] == d, 0]) for d in np.unique(place[:, 1])]
    assert all((np.diff(level) >= 1 - 1e-9).all() for level in levels)


def test_the_elimination_tree_has_the_colours_of_the_bodies():
    for order in ("abm", "virtual_work", "modified_abm_stretched"):
        symbolic = factor("binary:3", order)
        owner = bodies_of(symbolic)
        plan = symbolic.plan
        n = plan.graph.structure.n
        names = [plan.graph.structure.names[int(b) % n] for b in plan.blocks]
        own = system_of("binary:3").structure.names
        told = [name[0] if isinstance(name, tuple) else name for name in names]
        assert [own[k] for k in owner] == told
        colours = body_colours(symbolic, LIGHT)
        assert len({tuple(c) for c in colours.round(9).tolist()}) == len(own)


def test_walk_visits_parents_first_and_subtrees_together():
    parent = system_of("random_tree:n=50,seed=1").structure.parent
    order = walk(parent)
    assert sorted(order) == list(range(50))
    place = {k: i for i, k in enumerate(order)}
    for k in range(50):
        assert parent[k] < 0 or place[parent[k]] < place[k]
        below = [j for j in range(50) if k in _line(j, parent)]
        at = sorted(place[j] for j in below)
        assert at == list(range(at[0], at[0] + len(at)))


def _line(k, parent):
    while k >= 0:
        yield k
        k = int(parent[k])


@pytest.mark.parametrize("order", ["abm", "crbm", "lagrange", "divide_and_conquer"])
def test_curves_end_at_the_factors_counts(order):
    symbolic = factor("humanoid", order)
    fill, flops = step_counts(symbolic)
    assert fill[0] == flops[0] == 0 and len(fill) == len(flops) == symbolic.plan.groups + 1
    assert fill[-1] == symbolic.fill_blocks and int(flops[-1]) == symbolic.flops
    states = [block_state(symbolic, k).fill_blocks for k in range(0, len(fill), 7)]
    assert fill[::7].tolist() == states


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


def test_cancelled_shows_what_the_steps_say():
    """Bars are exact arithmetic's bits, points the format's, marks the sums that are apart."""
    asked = request("chain:10")
    figure = KINDS["cancelled"].make(asked)
    for ax, order in zip(figure.axes, ("crbm", "abm"), strict=True):
        steps = kkt.eliminate(
            asked.system, orderings.get(order), "float32", records=True, exact=True
        ).steps
        held = [step.against for step in steps]
        assert ax.get_title(loc="left") == order
        assert [bar.get_height() for bar in ax.patches] == [h.order for h in held]
        lines = {line.get_marker(): line for line in ax.lines if line.get_linestyle() == "None"}
        assert lines["s"].get_ydata().tolist() == [h.format for h in held]
        for marker, counts in (
            ("v", [h.residues for h in held]), ("x", [h.vanished for h in held])
        ):  # fmt: skip
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
    from pivotree.analysis.report.sample import ranges_of, system_at

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
        5, kkt.trace(kkt.build(kkt.chain(5)), orderings.get("abm")).flops,
    )  # fmt: skip


def test_an_order_out_of_reach_is_left_out_or_refused():
    asked = request("random_tree:n=1000")
    assert asked.affordable() == ("abm", "virtual_work", "divide_and_conquer")
    assert "too long for crbm" in asked.told(asked.affordable())
    with pytest.raises(kkt.SizeError, match="order 'crbm': a figure of its numbers on 1000 bodies"):
        kind_of("heat").make(request("random_tree:n=1000", orders=("crbm",)))


# -- colours --------------------------------------------------------------------------------------

# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB; gray is the luminance alone
VISION = {
    "everyone": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
    "gray": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}  # fmt: skip
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


def test_simulated_vision_is_that_of_the_tables():
    red, green = (0.8, 0.1, 0.1), (0.35, 0.4, 0.05)
    apart = {v: np.linalg.norm(seen(red, v) - seen(green, v)) for v in VISION}
    assert apart["everyone"] > 45 and apart["protanopia"] < 20 and apart["gray"] < 10
    assert seen((1, 1, 1), "everyone") == pytest.approx([100, 0, 0], abs=0.1)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("look", [LIGHT, DARK, GRAY], ids=STYLES)
def test_small_blocks_are_told_apart_by_lightness(look, vision):
    """Where there is no room for glyphs: every pair, and each from the page and the shade."""
    colours = {kind: strong(kind, look) for kind in BLOCK_KINDS}
    colours |= {"page": look.page}
    lightness = {name: seen(to_rgb(c), vision)[0] for name, c in colours.items()}
    names = list(lightness)
    for i, a in enumerate(names):
        for b in names[:i]:
            assert abs(lightness[a] - lightness[b]) > 9, (a, b)


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


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("look", [LIGHT, DARK, GRAY], ids=STYLES)
def test_blocks_are_told_apart_as_they_are_drawn(look, vision):
    """By colour and glyph together: lightness alone, pixel by pixel, in the mean."""
    drawn = {kind: seen(swatch(kind, look), vision)[..., 0] for kind in BLOCK_KINDS}
    for a in BLOCK_KINDS:
        for b in BLOCK_KINDS:
            if a < b:
                assert np.abs(drawn[a] - drawn[b]).mean() > 8, (a, b)


@pytest.mark.parametrize("look", [LIGHT, DARK, GRAY], ids=STYLES)
def test_lines_are_told_apart_and_seen(look):
    from pivotree.analysis.figures.curves import DASHES

    glyphs = list(zip(MARKERS, DASHES, strict=False))
    assert len(set(glyphs)) == len(glyphs) >= 6  # in every style, whatever the colours
    for vision in VISION:
        page = seen(to_rgb(look.page), vision)[0]
        assert all(abs(seen(to_rgb(c), vision)[0] - page) > 25 for c in look.series)


def test_scales_run_evenly_from_dark_to_light():
    import matplotlib

    for look in (LIGHT, DARK, GRAY):
        shades = matplotlib.colormaps[look.map](np.linspace(0, 1, 64))[:, :3]
        for vision in VISION:
            steps = np.diff(seen(shades, vision)[:, 0])
            assert (steps > 0).all() and steps.max() < 5 * np.median(steps)


def test_style_of_that_name():
    assert theme(True) is DARK and theme(False) is LIGHT and theme(style="gray") is GRAY
    with pytest.raises(ValueError, match="use light, dark, gray"):
        theme(style="blue")
    one = figures.spy(factor("chain:3", "abm"), dark=True)
    other = figures.spy(factor("chain:3", "abm"), style="dark")
    assert one.get_facecolor() == other.get_facecolor()


# -- films ----------------------------------------------------------------------------------------


def test_stops_begin_with_the_matrix_and_end_with_the_factor():
    assert stops(3, 6) == [0, 1, 2, 3] and stops(0, 5) == [0]
    assert stops(100, 5) == [0, 25, 50, 75, 100]


@pytest.mark.thorough
def test_a_strip_marks_what_is_new_since_the_picture_before():
    figure = figures.strip(factor("chain:6", "crbm"), frames=4)
    texts = [t.get_text() for t in figure.texts]
    assert "the matrix" in texts and "12 of 12: 30 filled" in texts
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert {"made zero", "new fill", "earlier fill"} <= set(legend)


def test_an_animation_has_a_picture_a_bracket(tmp_path):
    path = write(KINDS["film"], request(width="single"), tmp_path / "film.gif")
    with Image.open(path) as image:
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGB"), dtype=int))
    different = 1 + sum((a != b).any() for a, b in pairwise(frames))
    assert different == 4  # the matrix and three brackets
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


# -- LaTeX ----------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work"])
@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.latex])
def test_latex_compiles(kind, order, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    found = subprocess.run(["kpsewhich", "tikz.sty"], capture_output=True, text=True)
    if not found.stdout.strip():
        pytest.skip("TikZ is not installed")
    path = write(KINDS[kind], request("star:2", orders=(order,)), tmp_path / "figure.tex")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:]
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert "(1 page" in done.stdout and len(pdf) > 3000
    if shutil.which("pdfinfo"):  # cut to the picture, not a sheet of paper
        told = subprocess.run(
            ["pdfinfo", "figure.pdf"], cwd=tmp_path, capture_output=True, text=True
        )
        size = re.search(r"Page size:\s+([\d.]+) x ([\d.]+)", told.stdout)
        assert size and max(map(float, size.groups())) < 600


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.thorough
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
        (["figure", "spy", SMALL, "--width", "triple", "-o", "x.png"], "use single or double"),
        (["figure", "spy", SMALL, "-o", "x.bmp"], "suffix '.bmp' is unknown"),
        (["figure", "curves", SMALL, "-o", "x.tex"], "use kind spy, matrix, trees"),
        (["figure", "curves", SMALL, "-o", "x.mp4"], "use kind film"),
        (["figure", "matrix", "chain:20", "-o", "x.png"], "too many to be set as symbols"),
        (["figure", "trees", "chain:100", "-o", "x.tex"], "too many for LaTeX"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1 and error.startswith("pivotree: ")
    assert not list(tmp_path.iterdir())


# -- the gallery ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("make_gallery", GALLERY / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gallery_is_that_of_the_registry(gallery):
    """Stale?  Run ``make gallery``."""
    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    assert text == gallery.page()
    assert re.findall(r"^## (.+)$", text, re.M) == list(KINDS)
    for kind in KINDS.values():
        for stem in gallery.MODELS:
            shown = [(GALLERY / gallery.picture(stem, kind, s)).exists() for s in gallery.STYLES]
            assert all(shown) != (GALLERY / gallery.refused(stem, kind)).exists(), (kind.name, stem)
            if stem == "chain_3":
                assert all(shown) and (GALLERY / gallery.picture(stem, kind, "gray")).exists()


def test_files_of_the_gallery_are_shown_and_small():
    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    named = {*re.findall(r'(?:src|srcset)="([^"]+)"', text), *re.findall(r"\]\(([^#)]+)\)", text)}
    files = {p.name for p in GALLERY.iterdir() if p.suffix in (".png", ".gif", ".tex")}
    assert named == files
    assert sum(p.stat().st_size for p in GALLERY.iterdir() if p.is_file()) < 4_000_000


def test_refusals_are_still_the_commands(gallery):
    for kind in ("matrix",):
        for stem in ("humanoid", "tree_1000"):
            with pytest.raises(kkt.PivotreeError) as caught:
                KINDS[kind].make(gallery.request_of(gallery.MODELS[stem][0]))
            told = (GALLERY / gallery.refused(stem, KINDS[kind])).read_text(encoding="utf-8")
            assert told.strip() == str(caught.value)


def test_commands_of_the_gallery_are_understood():
    from pivotree.analysis.cli import parser

    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"pivotree (figure [^`\n]+)", text):
        options = parser().parse_args([w for w in line.split() if w not in ("KIND",)])
        assert options.list or options.kind in KINDS or "KIND" in line
