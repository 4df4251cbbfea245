"""``pivotree figure``: one figure for a page, of a kind that has a name."""

from __future__ import annotations

import argparse

from pivotree import kkt, orderings
from pivotree.kkt.base.files import write_whole

from ..estimate import admit_figure
from ..progress import progress_shown
from .shared import file_of, items, system_of, written


def run(options: argparse.Namespace) -> int:
    from ...figures.captions import caption
    from ...figures.kinds import Request, kind_of, kinds, write
    from ...figures.style import FONTS, WIDTHS
    from ...figures.tex import escaped

    if options.list:
        known = kinds()
        wide = max(map(len, known))
        print("\n".join(f"{name:{wide}}  {what}" for name, what in known.items()))
        return 0
    for value, what in ((options.kind, "KIND"), (options.model, "MODEL"), (options.output, "-o")):
        if value is None:
            raise kkt.PivotreeError(
                f"figure: {what} is missing; give KIND MODEL -o FILE, or --list for the kinds"
            )
    kind, path = kind_of(options.kind), file_of(options.output)
    if options.width not in WIDTHS:
        raise kkt.PivotreeError(f"option --width: {options.width!r} is unknown; use {' or '.join(WIDTHS)}")
    if options.font not in FONTS:
        raise kkt.PivotreeError(
            f"option --font: {options.font!r} is unknown; use {' or '.join(FONTS)}, or write a "
            ".tex or .pgf, which has your document's own"
        )
    orders = () if options.orders is None else tuple(items("--orders", options.orders))
    for name in orders:  # one sentence at once, not after a minute
        orderings.get(name)
    style = "dark" if options.dark else "gray" if options.gray else "light"
    with progress_shown() as progress:
        system = system_of(options)
        admit_figure(options, system, orders)
        request = Request(
            system,
            orders,
            options.step,
            options.format,
            options.width,
            style,
            options.font,
            options.title,
            progress,
        )
        write(kind, request, path)
        beside = path.with_name(f"{path.stem}_caption.tex")
        how = f"% \\caption{{\\protect\\input{{{beside.name}}}}}\n"
        write_whole(beside, how + escaped(caption(kind, request)))
    print(f"{written(path)}, {written(beside)}")
    return 0
