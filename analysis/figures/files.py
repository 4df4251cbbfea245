"""Writing figures: whole or not at all, and the same bytes every time."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pivotree.kkt import FormatError, SymbolicFactor
from pivotree.kkt.base.files import beside, check_file, made, stems

from .charts import error_bars, pivot_errors
from .spy import before_after
from .style import RASTER_DPI, settings

# what would differ from one run to the next, or between versions of matplotlib, is left out
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
}
_SUFFIXES = (*_METADATA, ".tex")


def save(figure: Figure | str, path: str | Path) -> Path:
    """Write a figure (.png, .pdf, .svg) or the text of `pmatrix` (.tex); returns the path.

    The file is written beside its place and then moved there, so that no half of it is ever
    seen.  Raises FormatError for another suffix or a folder that cannot be written to.

    >>> from pivotree.analysis.figures import save, spy
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.quadruped()).structure))
    >>> save(spy(factor), "abm.svg").name
    'abm.svg'
    """
    path = Path(path)
    suffix = check_suffix(path)
    if isinstance(figure, str) != (suffix == ".tex"):
        what = "LaTeX text" if isinstance(figure, str) else "a drawn figure"
        fit = ".tex" if isinstance(figure, str) else ", ".join(_METADATA)
        raise FormatError(f"figure {path}: {suffix} does not hold {what}; use {fit}")
    stream = io.BytesIO()  # matplotlib's PDF makes another error of what a full disk refuses
    if isinstance(figure, str):
        stream.write(figure.encode())
    else:
        check_file(path)  # before the drawing
        with settings(), _without_font_dates():
            figure.savefig(
                stream,
                format=suffix[1:],
                dpi=RASTER_DPI,
                metadata=_METADATA[suffix],
                facecolor=figure.get_facecolor(),
            )
    with beside(path) as part:
        part.write_bytes(stream.getbuffer())
    return path


@contextmanager
def _without_font_dates() -> Iterator[None]:
    """Fonts are embedded without dates, and fontTools says so for every one of them."""
    logger = logging.getLogger("fontTools.ttLib.tables._h_e_a_d")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def check_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        what = f"suffix {path.suffix!r} is unknown" if path.suffix else "has no suffix"
        raise FormatError(f"figure {path}: {what}; use {', '.join(_SUFFIXES)}")
    return suffix


def write_all(comparison: Any, folder: str | Path) -> list[Path]:
    """All figures of an ``analysis.Comparison``, each as PNG and PDF; returns their paths.

    >>> from pivotree.analysis.figures import write_all
    >>> table = pt.compare(pt.build(pt.chain(2)), ["abm"], ["float32"])
    >>> sorted({path.stem for path in write_all(table, "pictures")})
    ['digits', 'pivot_errors_float32', 'spy_abm']
    """
    rows = [row.as_dict() for row in comparison.rows]
    about = f"{comparison.model}: {comparison.bodies} bodies, {comparison.dof} freedoms"
    figures = {"digits": error_bars(rows, title=about)}
    by_format: dict[str, dict[str, Any]] = {}
    symbolics: dict[str, SymbolicFactor] = {}
    for (order, format), result in comparison.eliminations.items():
        # a refined answer has its order's pivots, and one picture serves both
        symbolics.setdefault(result.symbolic.plan.sequence.name, result.symbolic)
        if any(step.pivot_error is not None for step in result.steps):
            by_format.setdefault(format, {})[order] = result
    for format, results in by_format.items():
        figures[f"pivot_errors_{format}"] = pivot_errors(results, title=f"{about}, {format}")
    figures |= {f"spy_{order}": before_after(factor) for order, factor in symbolics.items()}
    made(folder)
    stem = stems(figures)
    return [
        save(figure, Path(folder) / f"{stem[name]}{suffix}")
        for name, figure in figures.items()
        for suffix in (".png", ".pdf")
    ]
