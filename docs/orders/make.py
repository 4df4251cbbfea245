"""Write docs/orders: a page for every order, pictures, and the table of all orders.

Run ``python docs/orders/make.py [FOLDER]``; a minute.  Texts say what the code does now, so that
they are right again after it; notes.toml holds what no code can tell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import loop_pages
import order_notes
import order_pages
import order_pictures
import order_table

from pivotree import orderings
from pivotree.kkt.base import write_whole

HERE = Path(__file__).resolve().parent
Progress = Callable[[str], None]


def texts(progress: Progress = lambda name: None) -> dict[str, str]:
    """File name -> text, of all pages and the table."""
    everyone = {}
    for name in orderings.ORDERS:
        progress(name)
        everyone[name] = order_notes.about(name)
    chosen = order_pictures.choose(orderings.ORDERS)
    pages = {one.file: order_pages.page(one, everyone, chosen[name]) for name, one in everyone.items()}
    text = order_table.table(everyone) + loop_pages.table()
    return {"README.md": text, **pages, **loop_pages.texts()}


def main(folder: Path) -> None:
    from rich.console import Console

    folder.mkdir(parents=True, exist_ok=True)
    with Console(stderr=True).status("orders") as status:
        for name, text in texts(status.update).items():
            write_whole(folder / name, text)
        status.update("pictures")
        order_pictures.write_all(orderings.ORDERS, folder)
        for file, name in loop_pages.pictures().items():
            order_pictures.write(loop_pages.film(name), folder / file)
            order_pictures.write(loop_pages.film(name, "dark"), folder / order_pictures.twin(file))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
