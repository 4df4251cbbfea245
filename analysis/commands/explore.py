"""``pivotree explore``: the explorer as one HTML page, as a folder, or served on this machine."""

from __future__ import annotations

import argparse

import kkt

from .shared import items, path_of, progress_shown, system_of


def run(options: argparse.Namespace) -> int:
    path = path_of(options.output) if options.output is not None else None
    if path and (options.port is not None or options.no_browser):
        raise kkt.PivotreeError("option -o: writes a page and serves none; leave out -o or --port")
    from ..explorer import explorer_data, write_folder, write_page

    formats = items("--formats", options.formats)
    orders = None if options.orders is None else items("--orders", options.orders)
    with progress_shown() as progress:
        system = system_of(options)
        data = explorer_data(system, options.model, orders, formats, progress=progress)
        progress("the page")
        if path and path.suffix.lower() in (".html", ".htm"):
            write_page(data, path)
        elif path:
            write_folder(data, path)
    if not path:
        from ..explorer.server import serve

        serve(system, data, options.port or 0, not options.no_browser)
    return 0
