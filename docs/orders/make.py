"""The folder docs/orders of the site: a page for every order, pictures, and the tables of all.

``make pages`` writes it under build/made; two minutes.  Texts say what the code does now; notes.toml
holds what no code can tell, README.md the words before the tables.
"""

from __future__ import annotations

from pathlib import Path

import loop_pages
import order_notes
import order_pages
import order_pictures
import order_table
import png
from generated import MARK, blank

from pivotree import orderings
from pivotree.kkt.base import write_whole

HERE = Path(__file__).resolve().parent


def texts() -> dict[str, str]:
    """File name -> text, of all pages and the tables."""
    everyone = {name: order_notes.about(name) for name in orderings.ORDERS}
    chosen = order_pictures.choose(orderings.ORDERS)
    pages = {one.file: order_pages.page(one, everyone, chosen[name]) for name, one in everyone.items()}
    tables = order_table.table(everyone) + loop_pages.table()
    head = (HERE / "README.md").read_text(encoding="utf-8")
    return {"README.md": head.replace(MARK, tables), **pages, **loop_pages.texts()}


def write(folder: Path, drawn: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        write_whole(folder / name, text)
    if not drawn:
        return blank(folder)
    order_pictures.write_all(orderings.ORDERS, folder)
    for file, name in loop_pages.pictures().items():
        for style, path in (("light", file), ("dark", order_pictures.twin(file))):
            png.write(loop_pages.film(name, style), folder / path, order_pictures.DPI, order_pictures.COLOURS)
