"""``pivotree export``: an order on a robot as a portable C file and its header, or as CUDA."""

from __future__ import annotations

import argparse
import sys

from pivotree import kkt, orderings

from ..arguments import Parser, add_format, add_model, add_order
from ..limits import admit
from ..progress import progress_shown
from .shared import file_of, items, system_of_any, tree_of, written

EXAMPLES = ("export robot.urdf -o robot.c", "export robot.urdf --order crbm --format float32 -o robot.cu")


def declare(command: Parser) -> None:
    add_model(command, state=False)
    add_order(command, "abm")
    add_format(command, "float64", known="float64 or float32")
    outputs = (
        "of qdd, pdd, f, inertia, lambda; dqdd_dq, dqdd_dqd, dqdd_dtau; likewise dlambda_dq and so on (qdd)"
    )
    command.add_argument("--outputs", default="qdd", metavar="A,B", help=outputs)
    command.add_argument("--wrench", action="store_true", help="wrenches on bodies are an input")
    command.add_argument("--name", help="of the function; from the model and the order if not given")
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE.c",
        help="C99, and FILE.h beside; FILE.cu: CUDA, one thread solves one state",
    )


def run(options: argparse.Namespace) -> int:
    order, outputs = orderings.get(options.order), items("--outputs", options.outputs)
    path = file_of(options.output)
    cuda = path.suffix == ".cu"
    if options.format not in ("float64", "float32"):  # before anything is compiled
        language = "CUDA" if cuda else "C"
        raise kkt.FormatError(
            "option --format", f"{language} has no {options.format!r}", "use float64 or float32"
        )
    system = system_of_any(tree_of(options))
    admit(options, system, {options.order: order})
    inputs = ("wrench",) if options.wrench else ()
    with progress_shown() as progress:
        progress(f"compiling {options.order} in {options.format}")
        kernel = kkt.compile(system, order, options.format, outputs=outputs, inputs=inputs)
        progress(f"writing {path}")
        files = [kernel.export_cuda(path, options.name)] if cuda else [*kernel.export_c(path, options.name)]
    from ..table import in_kernel

    told = f"{', '.join(map(written, files))}: {kernel.counted}\noperations: {in_kernel(order.composites)}"
    sys.stdout.write(f"{told}, a sine or cosine as one\n")
    return 0
