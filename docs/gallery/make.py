"""The gallery of the site: every kind of figure on a chain, a humanoid and a tree of 200 bodies.

``make gallery`` writes it under build/made.  Pictures are PNG of few colours; the page is written
from the registry of kinds, so that none can be left out.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import png
from generated import MARK, blank
from PIL import Image

from pivotree import kkt
from pivotree.analysis.figures import KINDS, Kind, Request, save

HERE = Path(__file__).resolve().parent
MODELS = {  # file name: (spec, in words)
    "chain_3": ("chain:3", "A chain of 3 bodies"),
    "humanoid": ("humanoid", "A humanoid of 45 bodies"),
    "tree_200": ("random_tree:n=200", "A random tree of 200 bodies"),
}
STYLES = ("light", "dark")
DPI, COLOURS = 130, 128
SLOW = ("digits", "pivots")  # minutes on a large tree


def models_of(kind: Kind) -> dict[str, tuple[str, str]]:
    """What a kind is shown on."""
    return {stem: model for stem, model in MODELS.items() if stem != "tree_200" or kind.name not in SLOW}


def write(folder: Path, drawn: bool) -> None:
    """The page, and its pictures; a kind that refuses a model leaves the sentence there."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, (spec, _) in MODELS.items() if drawn else ():
        request = Request(kkt.build(kkt.load(spec)))
        for kind in (kind for kind in KINDS.values() if stem in models_of(kind)):
            try:
                draw(kind, request, stem, folder)
            except kkt.PivotreeError as refusal:
                (folder / refused(stem, kind)).write_text(f"{refusal}\n", encoding="utf-8")
    head = (HERE / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(head.replace(MARK, page(folder)), encoding="utf-8")
    if not drawn:
        blank(folder)


def draw(kind: Kind, request: Request, stem: str, folder: Path) -> None:
    """One kind on one model: light and dark, and of the small chain as LaTeX."""
    small = stem == "chain_3"
    for style in STYLES:
        png.write(kind.make(replace(request, style=style)), folder / picture(stem, kind, style), DPI, COLOURS)
    if kind.latex and small:
        text = kind.latex(request)
        save(text, folder / picture(stem, kind, "light", ".tex"))
        typeset(text, folder / f"{stem}_{kind.name}_tex.png")


def picture(stem: str, kind: Kind, style: str, suffix: str = ".png") -> str:
    return f"{stem}_{kind.name}{'' if style == 'light' else '_' + style}{suffix}"


def refused(stem: str, kind: Kind) -> str:
    return f"{stem}_{kind.name}_refused.txt"


def typeset(text: str, path: Path) -> None:
    """What LaTeX makes of a text, where pdflatex and pdftoppm are there."""
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
            png.write(image.convert("RGB"), path, colours=COLOURS)


def page(folder: Path) -> str:
    """The kinds, from the registry and from what is in the folder."""
    head = "| kind | what it shows |\n|---|---|\n"
    rows = "".join(f"| [`{k.name}`](#{k.name}) | {k.what} |\n" for k in KINDS.values())
    parts = [head, rows]
    for kind in KINDS.values():
        parts += [f"\n## {kind.name}\n\n{kind.what[0].upper()}{kind.what[1:]}.\n"]
        for stem, (spec, words) in models_of(kind).items():
            parts.append(f"\n{words}: `pivotree figure {kind.name} {spec} -o figure.pdf`\n\n")
            why = folder / refused(stem, kind)
            if why.exists():
                parts.append(f"> refused: {why.read_text(encoding='utf-8').strip()}\n")
                continue
            parts.append(_image(f"{kind.name} of {spec}", *(picture(stem, kind, s) for s in STYLES)))
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
