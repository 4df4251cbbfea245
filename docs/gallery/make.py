"""The gallery: every kind of figure on a chain, a humanoid and a tree of 1000 bodies.

Kinds for closed loops and contacts are shown on a linkage and on a quadruped's feet.

    make gallery        or        python docs/gallery/make.py [KIND ...]

Pictures are PNG of few colours; the README is written from the registry of kinds, so that none
can be left out.  With kinds given, their pictures alone are made anew, and the page.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from pivotree import kkt
from pivotree.analysis.figures import KINDS, Kind, Request, save, settings
from pivotree.kkt.base import beside

HERE = Path(__file__).resolve().parent
MODELS = {  # file name: (spec, in words)
    "chain_3": ("chain:3", "A chain of 3 bodies"),
    "humanoid": ("humanoid", "A humanoid of 45 bodies"),
    "tree_1000": ("random_tree:n=1000", "A random tree of 1000 bodies"),
}
LOOPED = {
    "four_bar": ("four_bar", "A four-bar linkage"),
    "quadruped_feet": ("quadruped:feet=4", "A quadruped on four feet"),
}
STYLES = ("light", "dark")
_DPI, _COLOURS = 130, 128
_FRAMES, _SCALE = 24, 2


def models_of(kind: Kind) -> dict[str, tuple[str, str]]:
    """What a kind is shown on: trees, or mechanisms with closed loops and contacts."""
    return LOOPED if kind.loops else MODELS


def request_of(spec: str) -> Request:
    return Request(kkt.build(kkt.load(spec)), titled=True)


def make(kinds: list[Kind], folder: Path, say=print) -> None:
    """Pictures of these kinds in a folder; a kind that refuses a model leaves REFUSED there."""
    for stem, (spec, _) in (MODELS | LOOPED).items():
        request = request_of(spec)
        for kind in (kind for kind in kinds if stem in models_of(kind)):
            say(f"{kind.name} on {spec}")
            try:
                for style in (*STYLES, *(["gray"] if stem == "chain_3" else [])):
                    figure = kind.make(replace(request, style=style))
                    write_png(figure, folder / picture(stem, kind, style))
            except kkt.PivotreeError as refusal:
                (folder / refused(stem, kind)).write_text(f"{refusal}\n", encoding="utf-8")
            if kind.move and stem != "tree_1000":
                from pivotree.analysis.figures import animation

                for style in STYLES:
                    animation(
                        request.symbolic,
                        folder / picture(stem, kind, style, ".gif"),
                        frames=_FRAMES,
                        style=style,
                        scale=_SCALE,
                    )
            if kind.latex and stem == "chain_3":
                text = kind.latex(request)
                save(text, folder / picture(stem, kind, "light", ".tex"))
                if shutil.which("pdflatex"):
                    typeset(text, folder / f"chain_3_{kind.name}_tex.png")


def picture(stem: str, kind: Kind, style: str, suffix: str = ".png") -> str:
    return f"{stem}_{kind.name}{'' if style == 'light' else '_' + style}{suffix}"


def refused(stem: str, kind: Kind) -> str:
    return f"{stem}_{kind.name}_refused.txt"


# -- files ----------------------------------------------------------------------------------------


def write_png(figure: Figure, path: Path) -> None:
    with settings():
        figure.set_dpi(_DPI)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())
    _small(Image.fromarray(pixels).convert("RGB"), path)


def _small(image: Image.Image, path: Path) -> None:
    """A PNG of few colours, written beside its place and then moved there."""
    data = io.BytesIO()
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    with beside(path) as part:
        part.write_bytes(data.getvalue())


def typeset(text: str, path: Path) -> None:
    """What LaTeX makes of a text, where pdflatex and pdftoppm are there; else the old picture."""
    if not (shutil.which("pdflatex") and shutil.which("pdftoppm")):
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x.tex").write_text(text, encoding="utf-8")
        for command in (
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
            ["pdftoppm", "-png", "-singlefile", "-r", "140", "x.pdf", "x"],
        ):
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        with Image.open(Path(folder) / "x.png") as image:
            _small(image.convert("RGB"), path)


# -- the page -------------------------------------------------------------------------------------

_INTRO = """# Gallery of figures

Every kind of figure that `pivotree figure KIND MODEL -o FILE` draws, on a chain of 3 bodies, a
humanoid and a random tree of 1000 bodies; `make gallery` makes this page anew. Pages are light or
dark as the reader's are.

    pivotree figure
    pivotree figure spy chain:3 --orders crbm --step 4 --width single --style gray -o spy.pdf

Widths are those of journals: `single` 3.4 in, `double` 7 in. Letters are STIX, drawn after Times
(`--style light,sans` for another), of 8 or 9 pt; a formula inside a block is as large as fits, 5 pt at
least, and left out where it does not. Styles are light (the colours of Okabe & Ito), `--style
dark` and `gray`; in all of them what has a colour also has a glyph, a dash or a lightness of its own. The
suffix says what is written: .pdf, .svg or .png; .pgf, which has your document's font; .tex for some
kinds, and .gif or .mp4 (with ffmpeg) for the film. A caption lies beside each figure.
[How to put one into a paper](../howto.md#put-a-figure-into-a-latex-paper).
"""


def page(folder: Path = HERE) -> str:
    """The text of README.md, from the registry and from what is in the folder."""
    head = "| kind | what it shows |\n|---|---|\n"
    rows = "".join(f"| [`{k.name}`](#{k.name}) | {k.what} |\n" for k in KINDS.values())
    parts = [_INTRO, "\n", head, rows]
    for kind in KINDS.values():
        parts += [f"\n## {kind.name}\n\n{kind.what[0].upper()}{kind.what[1:]}.\n"]
        for stem, (spec, words) in models_of(kind).items():
            parts.append(f"\n{words}: `pivotree figure {kind.name} {spec} --title -o figure.pdf`\n\n")
            why = folder / refused(stem, kind)
            if why.exists():
                parts.append(f"> refused: {why.read_text(encoding='utf-8').strip()}\n")
                continue
            parts.append(_image(f"{kind.name} of {spec}", *(picture(stem, kind, s) for s in STYLES)))
            if stem == "chain_3":
                parts.append(f"\n[In gray]({picture(stem, kind, 'gray')}).\n")
            if kind.move and stem != "tree_1000":
                moving = (picture(stem, kind, s, ".gif") for s in STYLES)
                parts.append(f"\nMoving (`-o film.gif`):\n\n{_image('the same, moving', *moving)}")
            if kind.latex and stem == "chain_3":
                source = picture(stem, kind, "light", ".tex")
                name = f"chain_3_{kind.name}_tex.png"
                shown = f":\n\n![what LaTeX makes of it]({name})" if (folder / name).exists() else "."
                parts.append(f"\nAs LaTeX ([source]({source})){shown}\n")
    return "".join(parts)


def _image(what: str, light: str, dark: str) -> str:
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img alt="{what}" src="{light}"></picture>\n'
    )


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise SystemExit(f"gallery: kind {unknown[0]!r} is unknown; use one of {', '.join(KINDS)}")
    kinds = [KINDS[name] for name in names or KINDS]
    for kind in kinds:
        for stem in models_of(kind):
            (HERE / refused(stem, kind)).unlink(missing_ok=True)
    make(kinds, HERE, say=lambda text: print(text, file=sys.stderr, flush=True))
    (HERE / "README.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
