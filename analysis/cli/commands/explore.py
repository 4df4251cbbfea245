"""``pivotree explore``: the explorer as one HTML page, as a folder, or served on this machine."""

from __future__ import annotations

import argparse

from pivotree import kkt

from ..progress import progress_shown
from .shared import file_of, folder_of, items, system_of, written


def run(options: argparse.Namespace) -> int:
    path = None
    if options.output is not None:
        page = options.output.lower().endswith((".html", ".htm"))
        path = file_of(options.output) if page else folder_of(options.output)
    if path and (options.port is not None or options.no_browser):
        raise kkt.PivotreeError("option -o: writes a page and serves none; leave out -o or --port")
    from ...explorer import explorer_data, write_folder, write_page

    formats = items("--formats", options.formats)
    orders = None if options.orders is None else items("--orders", options.orders)
    with progress_shown() as progress:
        system = system_of(options)
        data = explorer_data(system, options.model, orders, formats, progress=progress)
        progress("the page")
        if path and page:
            write_page(data, path)
            told = written(path)
        elif path:
            write_folder(data, path)
            told = f"{path}: open index.html through any web server"
    if not path:
        from ...explorer.server import serve

        serve(system, data, options.port or 0, not options.no_browser)
    else:
        print(told)
    return 0
