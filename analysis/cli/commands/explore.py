"""``pivotree explore``: the explorer as one HTML page, or served on this machine."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import Any

from pivotree import kkt, orderings

from ..arguments import Parser, add_format, add_model, add_order
from ..progress import progress_shown
from .shared import file_of, formats_of, matrix_of, orders_of, system_of, system_of_any, written

DEFAULT = "example3"  # where orders differ most: ABM keeps all digits, and CRBM none
EXAMPLES = ("explore", "explore chain:3", "explore robot.urdf -o page.html", "explore four_bar")


def declare(command: Parser) -> None:
    add_model(command, needed=False, matrix=True)
    command.set_defaults(model=DEFAULT)
    add_order(command, None, several=True)
    add_format(command, "float64,float32,bfloat16,float16", several=True)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="page.html; without it the page is served on this machine until Ctrl-C",
    )
    command.add_argument(
        "--port", type=int, help="of the served page (any that is free), whose address is printed only"
    )


def run(options: argparse.Namespace) -> int:
    path = None if options.output is None else file_of(options.output)
    if path and path.suffix.lower() not in (".html", ".htm"):
        raise kkt.PivotreeError("option -o", f"{path} is no page", "give a name that ends in .html")
    if path and options.port is not None:
        raise kkt.PivotreeError("option -o", "writes a page and serves none", "leave out -o or --port")
    from ...explorer import explorer_data, write_page
    from ...explorer.data import algorithm_of
    from ...explorer.server import ExplorerServer, serve

    orders, formats = orders_of(options), formats_of(options)
    shown: list[Any] = []

    def read(spec: str, name: str) -> dict[str, Any]:
        other = system_of_any(kkt.load(spec))
        document = explorer_data(other, name, orders, formats)
        shown[0] = other
        return document

    def tell(path: str) -> dict[str, str]:
        return algorithm_of(shown[0], orderings.get(path))

    with nullcontext() if path else ExplorerServer({"model": ""}, options.port or 0, read, tell) as server:
        with progress_shown() as progress:
            shown.append(matrix_of(options, "output", "port") or system_of(options))
            data = explorer_data(shown[0], options.model, orders, formats, progress=progress)
            progress("the page")
            if path:
                write_page(data, path)
        if path:
            print(written(path))
        if server:  # whose port was had before the work
            server.show(data)
            serve(server, options.port is None)
    return 0
