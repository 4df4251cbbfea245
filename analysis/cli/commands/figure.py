"""``pivotree figure``: one figure for a page, of a kind that has a name."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.files import write_whole

from ..arguments import Parser, add_format, add_model, add_order
from ..limits import admit, played
from ..progress import progress_shown
from .shared import file_of, matrix_of, one_of, orders_of, system_of, written

EXAMPLES = (
    "figure",
    "figure spy chain:3 --width single -o matrix.tex",
    "figure orders humanoid --order abm,crbm -o orders.pdf",
)


def declare(command: Parser) -> None:
    command.add_argument("kind", nargs="?", metavar="KIND", help="of figure; without it the kinds are listed")
    add_model(command, needed=False, matrix=True)
    add_order(command, None, several=True)
    command.add_argument("--step", type=int, metavar="K", help="after this many brackets")
    add_format(command, "float32")
    command.add_argument("--width", default="double", help="single or double column (double)")
    command.add_argument(
        "--style",
        default="light",
        metavar="LOOK",
        help="light or dark (light); ,sans for letters without serifs",
    )
    command.add_argument("--label", action="append", metavar="ORDER=TEXT", help="what an order is called")
    command.add_argument("-o", "--output", metavar="FILE", help=".pdf, .svg, .png; of kind spy also .tex")


def _labels(texts: Iterable[str]) -> dict[str, str]:
    """What orders are to be called, by the names that are given and those that they have themselves."""
    labels: dict[str, str] = {}
    for text in texts:
        name, parted, label = text.partition("=")
        if not (name and parted and label.strip()) or name in labels:
            twice = f"names {name!r} twice" if name in labels else f"{text!r} is no name and text"
            raise kkt.PivotreeError("option --label", twice, "give ORDER=TEXT, as abm=ours")
        labels |= dict.fromkeys((name, orderings.get(name).name), label)
    return labels


def run(options: argparse.Namespace) -> int:
    from ...figures.kinds import KINDS, USUAL, Request, caption, kind_of, write
    from ...figures.style import STYLES, WIDTHS
    from ...symbols import escaped

    if options.kind is None:
        wide = max(map(len, KINDS))
        print("\n".join(f"{name:{wide}}  {kind.what}" for name, kind in KINDS.items()))
        return 0
    for value, what in ((options.model, "MODEL"), (options.output, "-o")):
        if value is None:
            raise kkt.PivotreeError(
                "figure", f"{what} is missing", "give KIND MODEL -o FILE, or nothing for the kinds"
            )
    kind, path = kind_of(options.kind), file_of(options.output)
    one_of("--width", options.width, WIDTHS)
    orders = tuple(orders_of(options) or ())
    style, comma, letters = options.style.partition(",")
    if style not in STYLES or letters not in (("sans",) if comma else ("",)):
        raise kkt.PivotreeError(
            "option --style",
            f"{options.style!r} is unknown",
            f"use {', '.join(STYLES)}, each also with ,sans, or write a .tex, which has your document's own "
            "letters",
        )
    labels = _labels(options.label or ())
    with progress_shown() as progress:
        matrix = matrix_of(options, "kind", "output", "step", "width", "style", "label")
        system = system_of(options) if matrix is None else matrix
        if kind.name in ("pivots", "digits") and isinstance(system, kkt.System):
            wanted = {name: orderings.get(name) for name in orders or USUAL}
            admit(options, system, wanted, played(system, [get_format(options.format)]))
        request = Request(
            system,
            orders,
            options.step,
            options.format,
            options.width,
            style,
            letters or "stix",
            tuple(labels.items()),
            progress,
        )
        write(kind, request, path)
        beside = path.with_name(f"{path.stem}_caption.tex")
        how = f"% \\caption{{\\protect\\input{{{beside.name}}}}}\n"
        write_whole(beside, how + escaped(caption(kind, request)))
    print(f"{written(path)}, {written(beside)}")
    return 0
