"""``pivotree explore``: the explorer as one HTML page, or as a folder."""

from __future__ import annotations

import argparse

import kkt

from .shared import items, path_of, progress_shown, system_of


def run(options: argparse.Namespace) -> int:
    if not options.output:
        raise kkt.PivotreeError("option -o: is missing; name the page to write, such as page.html")
    path = path_of(options.output)
    from ..explorer import explorer_data, write_folder, write_page

    formats = items("--formats", options.formats)
    orders = items("--orders", options.orders) if options.orders else None
    with progress_shown() as progress:
        system = system_of(options)
        data = explorer_data(system, options.model, orders, formats, progress=progress)
        progress("the page")
        if path.suffix.lower() in (".html", ".htm"):
            write_page(data, path)
        else:
            write_folder(data, path)
    return 0
