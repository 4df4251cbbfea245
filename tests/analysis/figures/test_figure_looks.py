"""Colours told apart by all, fonts, films, the command and the gallery."""

import importlib.util
import re
import shutil
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image
from test_figure_kinds import GALLERY, SMALL, model_of, request
from test_figures import factor

from pivotree import kkt
from pivotree.analysis import figures
from pivotree.analysis.cli import main
from pivotree.analysis.figures.captions import caption
from pivotree.analysis.figures.density import KINDS as BLOCK_KINDS
from pivotree.analysis.figures.density import strong
from pivotree.analysis.figures.film import stops
from pivotree.analysis.figures.kinds import KINDS, Request, write
from pivotree.analysis.figures.matrix import face
from pivotree.analysis.figures.state import ZEROED
from pivotree.analysis.figures.style import DARK, GRAY, LIGHT, MARKERS, STYLES, theme

# -- colours --------------------------------------------------------------------------------------

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


@pytest.mark.thorough
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


# -- fonts ----------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("font, name", [("stix", b"STIXGeneral"), ("sans", b"DejaVuSans")])
@pytest.mark.parametrize("kind", ["curves", "heat"])
def test_all_of_a_figure_is_in_its_font(kind, font, name, tmp_path):
    path = write(KINDS[kind], request(width="single", font=font), tmp_path / "figure.pdf")
    found = {*re.findall(rb"/BaseFont /(?:[A-Z]+\+)?(\w+)", path.read_bytes())}
    assert found and all(one.startswith(name) for one in found), found


@pytest.mark.thorough
@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("spy", "film", "trees")])
def test_letters_have_eight_or_nine_points(kind, width):
    """Where they are not inside a block, which may be small."""
    figure = KINDS[kind].make(request(model_of(kind), width=width))
    FigureCanvasAgg(figure).draw()
    small = [t for t in figure.findobj(Text) if t.get_text() and 0 < t.get_fontsize() < 7.0]
    assert {t.get_text()[0] for t in small} <= {"$"}, [(t.get_text(), t.get_fontsize()) for t in small]


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


@pytest.mark.thorough
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


@pytest.mark.slow
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


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_command_lists_and_draws(tmp_path, capsys):
    assert main(["figure", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(KINDS)
    path = tmp_path / "x.svg"
    assert main(["figure", "spy", SMALL, "--step", "1", "--gray", "-o", str(path)]) == 0
    assert GRAY.new.lower() in path.read_text().lower()


@pytest.mark.thorough
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
        for stem in gallery.models_of(kind):
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
    from pivotree.analysis.cli.parser import parser

    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"pivotree (figure [^`\n]+)", text):
        options = parser().parse_args([w for w in line.split() if w not in ("KIND",)])
        assert options.list or options.kind in KINDS or "KIND" in line


# -- symbols --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("spec", ["chain:3", "chain:6", "chain:7", "star:6", "chain:13"])
def test_symbols_of_the_matrix_do_not_touch_and_can_be_read(spec, width):
    """By matplotlib's own boxes; symbols that have no room are left out, and that is said."""
    asked = Request(kkt.build(kkt.load(spec)), ("crbm",), width=width)
    if (spec, width) == ("chain:13", "single"):
        with pytest.raises(kkt.FormatError, match=r"39 block rows leave no room.*width double"):
            KINDS["matrix"].make(asked)
        return
    figure = KINDS["matrix"].make(asked)
    figure.set_dpi(300)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    cells = figure.axes[0].texts
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in cells]
    touching = [
        (a.get_text(), b.get_text())
        for (a, one), (b, two) in combinations(zip(cells, boxes, strict=True), 2)
        if one.overlaps(two)
    ]
    assert touching == []
    assert min(text.get_fontsize() for text in cells) >= 5.0
    told = " ".join(" ".join(text.get_text().split()) for text in figure.texts)
    crowded = "symbol has no room" in told
    assert crowded == ("no room" in caption(KINDS["matrix"], asked))
    assert crowded == ((spec != "chain:3" and width == "single") or spec == "chain:13")


# -- what a reader is spared ----------------------------------------------------------------------


@pytest.mark.thorough
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


@pytest.mark.slow
def test_a_film_of_the_command_has_twice_the_resolution(tmp_path):
    asked = Request(kkt.build(kkt.chain(1)), width="single")
    once = figures.animation(asked.symbolic, tmp_path / "once.gif")
    twice = write(KINDS["film"], asked, tmp_path / "twice.gif")
    sizes = [Image.open(path).size for path in (once, twice)]
    assert sizes[1][0] == 2 * sizes[0][0] and abs(sizes[1][1] - 2 * sizes[0][1]) <= 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if not kind.loops], ids=lambda kind: kind.name
)
def test_no_kind_stops_at_an_order_that_a_robot_rules_out(kind):
    """A link without mass, as the tool of ur5 where fixed links are kept, stops virtual work."""
    tree = kkt.chain(3)
    kkt.add_body(tree, "tool", "j3", mass=0.0, joint="fixed")
    asked = Request(kkt.build(kkt.default_state(tree)))
    assert kind.make(asked).axes
