"""Pages and pictures that the site shows and the repository does not keep, made by the code.

``python docs/generated.py FOLDER [--blank] [NAME ...]`` makes those of these names, or all; ``make site``
makes them on its way.  They stand in FOLDER under the paths that they would have in the repository.
``--blank`` draws no picture: a white dot stands for each, which is enough to follow links.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import png
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MARK = "<!-- made by make site -->"  # on a page that is kept: here the site goes on
NAMED = re.compile(r'(?:src|srcset)="([^"]+)"|\]\(([^)\s]+\.(?:png|gif|tex))\)')


@contextlib.contextmanager
def beside(folder: Path) -> Iterator[Callable[[str], ModuleType]]:
    """``import_module`` among the files of a folder that is no package; others have a make.py, too."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield import_module
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            file = Path(getattr(module, "__file__", None) or "/")
            if name not in before and file.is_relative_to(folder):
                del sys.modules[name]


def orders(folder: Path, drawn: bool) -> None:
    """A page for every order, and the tables of all."""
    with beside(HERE / "orders") as load:
        load("make").write(folder, drawn)


def gallery(folder: Path, drawn: bool) -> None:
    """Every kind of figure."""
    with beside(HERE / "gallery") as load:
        load("make").write(folder, drawn)


def lessons(folder: Path, drawn: bool) -> None:
    """The six lessons as pages, and the answers."""
    with beside(HERE / "lessons") as load:
        load("make").write(folder, drawn)


def counts(folder: Path, drawn: bool) -> None:
    """Polynomials of every order on every family of robots."""
    with beside(HERE) as load:
        load("counts_page").write(folder, drawn)


def pictures(folder: Path, drawn: bool) -> None:
    """What pages that are kept show on the site alone, where they say ``<!-- picture NAME: words -->``."""
    for name, (place, module) in PICTURES.items():
        with beside(ROOT / place) as load:
            for style, end in (("light", ""), ("dark", "_dark")):
                path = folder / f"{name}{end}.png"
                named = (path.stem.removesuffix("_dark"),) if module == "pictures" else ()
                png.write(load(module).figure(*named, style), path) if drawn else dot(path)


# below docs, and who draws it: the figure(style) of a module, or figure(name, style) of pictures.py
PICTURES = {
    "benchmarks": ("benchmarks", "growth_plot"),
    "counts": ("docs", "counts_page"),
    "derivatives": ("docs", "derivatives_picture"),
    **dict.fromkeys(("crbm_abm", "simulate", "report", "readings"), ("docs", "pictures")),
    "multipliers": ("benchmarks", "multipliers"),
    "gradients": ("docs", "gradients_picture"),
    **{f"study/{name}": ("docs/study", "pictures") for name in ("by_ratio", "against_kappa", "random_trees")},
    "study/exhaustion": ("docs/study", "pictures"),
}
MAKERS: dict[str, tuple[Callable[[Path, bool], None], str]] = {  # and where each writes
    "orders": (orders, "docs/orders"),
    "gallery": (gallery, "docs/gallery"),
    "lessons": (lessons, "docs/lessons"),
    "counts": (counts, "docs/theory"),
    "pictures": (pictures, "docs"),
}


def blank(folder: Path) -> None:
    """A dot for each picture that the pages of a folder name, and that is not there."""
    for page in folder.glob("*.md"):
        for match in NAMED.finditer(page.read_text(encoding="utf-8")):
            path = folder / (match[1] or match[2])
            if not path.exists():
                dot(path) if path.suffix in (".png", ".gif") else path.touch()


def dot(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (1, 1), 255).save(path)


def main(folder: Path, names: list[str], drawn: bool) -> None:
    for name in names or MAKERS:
        make, place = MAKERS[name]
        make(folder / place, drawn)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Make what the site shows and the repository does not keep.")
    words.add_argument("folder", type=Path)
    words.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MAKERS)}; all if not given")
    words.add_argument("--blank", action="store_true", help="a dot for each picture")
    asked = words.parse_intermixed_args()
    if unknown := [name for name in asked.names if name not in MAKERS]:
        words.error(f"{unknown[0]!r} is unknown; a NAME is one of {', '.join(MAKERS)}")
    main(asked.folder, asked.names, not asked.blank)
