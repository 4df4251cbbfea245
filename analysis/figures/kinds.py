"""The kinds of figure there are, by name: ``pivotree figure KIND``.

A kind makes a Figure from a request; one has LaTeX of its own.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pivotree import kkt, orderings
from pivotree.kkt import Elimination, FormatError, Matrix, OrderError, PivotreeError, SymbolicFactor
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.base.files import beside, check_file, made, stems
from pivotree.kkt.order.sequence import OrderLike, as_orders

from .charts import error_bars, pivot_errors
from .spy import before_after, compare_orders, filmstrip, spy
from .style import RASTER_DPI, SCREEN, settings, theme
from .tex import pmatrix

# what would differ from one run to the next, or between versions of matplotlib, is left out
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
}
_SUFFIXES = (*_METADATA, ".tex")


def save(figure: Figure | str, path: str | Path, dpi: int = RASTER_DPI) -> Path:
    """Write a figure (.png of ``dpi``, .pdf, .svg) or the text of `pmatrix` (.tex); returns the path.

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
        raise FormatError(f"figure {path}", f"{suffix} does not hold {what}", f"use {fit}")
    stream = io.BytesIO()  # matplotlib's PDF makes another error of what a full disk refuses
    if isinstance(figure, str):
        stream.write(figure.encode())
    else:
        check_file(path)  # before the drawing
        fonts = logging.getLogger("fontTools.ttLib.tables._h_e_a_d")  # says of each that it has no date
        with settings(), ExitStack() as after:
            after.callback(fonts.setLevel, fonts.level)
            fonts.setLevel(logging.ERROR)
            figure.savefig(
                stream,
                format=suffix[1:],
                dpi=dpi if suffix == ".png" else RASTER_DPI,
                metadata=_METADATA[suffix],
                facecolor=figure.get_facecolor(),
            )
    with beside(path) as part:
        part.write_bytes(stream.getbuffer())
    return path


def check_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        what = f"suffix {path.suffix!r} is unknown" if path.suffix else "has no suffix"
        raise FormatError(f"figure {path}", what, f"use {', '.join(_SUFFIXES)}")
    return suffix


def write_all(comparison: Any, folder: str | Path) -> list[Path]:
    """All figures of an ``analysis.Comparison``, each as PDF and, for screens, PNG; returns their paths.

    Orders with the same blocks, as ABM and gain ABM, share a picture, whose caption names them.

    >>> from pivotree.analysis.figures import write_all
    >>> table = pt.compare(pt.build(pt.chain(2)), ["abm"], ["float32"])
    >>> sorted({path.stem for path in write_all(table, "pictures")})
    ['digits', 'pivot_errors_float32', 'spy_abm']
    """
    rows = [row.as_dict() for row in comparison.rows]
    of, unknowns = comparison.counted
    about = f"{comparison.model}: {comparison.bodies} {of}, {comparison.dof} {unknowns}"
    figures = {"digits": error_bars(rows, title=about)}
    by_format: dict[str, dict[str, Any]] = {}
    alike: dict[tuple[bytes, ...], dict[str, SymbolicFactor]] = {}  # by their names
    for (order, format), result in comparison.eliminations.items():
        one, plan = result.symbolic, result.symbolic.plan  # of a refined answer those of its order
        key = tuple(x.tobytes() for x in (plan.blocks, plan.group, one.pivot, one.column_index))
        alike.setdefault(key, {})[plan.sequence.name] = one
        if any(step.pivot_error is not None for step in result.steps):
            by_format.setdefault(format, {})[order] = result
    for format, results in by_format.items():
        figures[f"pivot_errors_{format}"] = pivot_errors(results, title=f"{about}, {format}")
    for orders in alike.values():
        first, told = next(iter(orders)), _listed(theme().named(x).replace(r"\$", "$") for x in orders)
        figures[f"spy_{first}"] = before_after(orders[first], style=replace(theme(), labels=((first, told),)))
    made(folder)
    paths = []
    for name, stem in stems(figures).items():
        paths.append(save(figures[name], Path(folder) / f"{stem}.png", dpi=2 * SCREEN))
        figures[name].set_layout_engine("none")  # it is laid out
        paths.append(save(figures[name], Path(folder) / f"{stem}.pdf"))
    return paths


GRAPHS = ("natural", "reverse_cuthill_mckee", "minimum_degree", "minimum_fill")  # of a matrix
USUAL = ("crbm", "abm", "virtual_work", "divide_and_conquer")  # where several orders are compared
OF_MATRICES = ("spy", "before-after", "film", "orders")  # kinds that need no robot
STEPPED = ("spy", "film")  # kinds that show a step
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What a figure is asked to show, and how it should look.

    >>> from pivotree.analysis.figures import Request
    >>> asked = Request(pt.build(pt.chain(3)), ("abm",), width="single", style="dark")
    >>> asked.about, asked.symbolic.fill_blocks
    ('chain_3: 3 bodies, 3 freedoms', 2)
    """

    system: Any  # System, or Matrix
    orders: tuple[str, ...] = ()  # names; a kind's own choice where empty
    step: int | None = None
    format: str = "float32"
    width: str = "double"
    style: str = "light"
    font: str = "stix"
    labels: tuple[tuple[str, str], ...] = ()  # orders, and what they are called in the figure
    progress: Progress = field(default=logging.getLogger("pivotree").debug, repr=False)
    #: what has been measured, so that the same figure in another style does not measure again
    memory: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Any, measure: Callable[[], Any]) -> Any:
        """What ``measure`` returns, remembered by a key."""
        if key not in self.memory:
            self.memory[key] = measure()
        return self.memory[key]

    @property
    def look(self) -> dict[str, Any]:
        style = replace(theme(style=self.style), font=self.font, labels=self.labels)
        return {"width": self.width, "style": style}

    def named(self, order: str) -> str:
        """An order's name in a sentence."""
        return self.look["style"].named(order).replace(r"\$", "$")

    @cached_property
    def symbolic(self) -> SymbolicFactor:
        """Of the one order that most kinds show."""
        if len(self.orders) > 1:
            raise OrderError(
                "option --order", f"this kind shows one order, not {len(self.orders)}", "name one"
            )
        usual = "minimum_degree" if isinstance(self.system, Matrix) else "abm"
        return self.factor(self.orders[0] if self.orders else usual)

    @property
    def orders_shown(self) -> tuple[str, ...]:
        """Of a figure that compares orders on structure."""
        return self.orders or (GRAPHS if isinstance(self.system, Matrix) else USUAL)

    @cached_property
    def symbolics(self) -> list[SymbolicFactor]:
        return [self.factor(order) for order in as_orders(self.orders_shown)]

    def factor(self, order: OrderLike) -> SymbolicFactor:
        found = kkt.symbolic(kkt.plan(order, self.system.structure))
        groups = found.plan.groups
        if self.step is not None and not 0 <= self.step <= groups:
            raise OrderError(
                "option --step", f"{self.step} is outside this order's steps", f"use 0 to {groups}"
            )
        return found

    @property
    def about(self) -> str:
        n, dof = self.system.structure.n, int(self.system.structure.dof.sum())
        if isinstance(self.system, Matrix):
            return f"{self.system.name}: {n:,} blocks, {dof:,} unknowns"
        return f"{self.system.name}: {n:,} {'body' if n == 1 else 'bodies'}, {dof:,} freedoms"


@dataclass(frozen=True)
class Kind:
    """One kind of figure.

    >>> from pivotree.analysis.figures import Kind, Request, spy
    >>> mine = Kind("mine", "blocks, without a legend of mine", lambda asked: spy(asked.symbolic))
    >>> len(mine.make(Request(pt.build(pt.chain(3)))).axes)
    1
    """

    name: str
    what: str
    make: Callable[[Request], Figure]
    latex: Callable[[Request], str] | None = None


def _spy(r: Request) -> Figure:
    return spy(r.symbolic, r.step, zeros=True, title="", **r.look)


def _film(r: Request) -> Figure:
    chosen = None if r.step is None else sorted({0, r.step, r.symbolic.plan.groups})
    return filmstrip(r.symbolic, chosen, title="", zeros=True, **r.look)


def _orders(r: Request) -> Figure:
    return compare_orders(r.symbolics, title="", **r.look)


def _pivots(r: Request) -> Figure:
    """Of orders that this robot does not rule out; where it rules out all, the first refusal is raised."""
    results: dict[str, Elimination] = {}
    refused = []
    for name, order in {name: orderings.get(name) for name in r.orders or USUAL}.items():
        r.progress(name)
        try:
            results[name] = r.once(("run", name, r.format), partial(kkt.eliminate, r.system, order, r.format))
        except PivotreeError as error:
            refused.append(error)
    if not results:
        raise refused[0]
    return pivot_errors(results, title="", among=r.orders or USUAL, **r.look)


def _digits(r: Request) -> Figure:
    from ..comparison import compare

    def compared() -> list[dict[str, Any]]:
        return [row.as_dict() for row in compare(r.system, names, formats, progress=r.progress).rows]

    names, formats = r.orders or USUAL, tuple(dict.fromkeys((r.format, "float64")))
    return error_bars(r.once(("rows", names, formats), compared), title="", **r.look)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "spy",
            "blocks after step K (all if not given): entries, fill, pivots, zeros made; .tex: a pmatrix",
            _spy,
            lambda r: pmatrix(r.symbolic, r.step, r.width),
        ),
        Kind(
            "before-after",
            "the matrix beside all that the elimination makes of it",
            lambda r: before_after(r.symbolic, **r.look),
        ),
        Kind("film", "the elimination in six pictures (before, K and after with --step)", _film),
        Kind("orders", "the same matrix after several orders, side by side", _orders),
        Kind("pivots", "errors of the pivots, step by step", _pivots),
        Kind("digits", "correct digits of each order, in the format and in float64", _digits),
    )
}
"""The kinds of figure of this package, by name.

>>> from pivotree.analysis.figures import KINDS
>>> KINDS["orders"].what
'the same matrix after several orders, side by side'
"""


def kind_of(name: str) -> Kind:
    """The kind of that name.  Raises PivotreeError with the nearest names for another."""
    if name not in KINDS:
        raise PivotreeError("figure", f"kind {name!r} is unknown", nearest(name, KINDS))
    return KINDS[name]


def write(kind: Kind, request: Request, path: str | Path) -> Path:
    """Make a figure and write it; the suffix says as what.

    Raises FormatError for a suffix that is unknown or that this kind does not come in, and
    whatever the kind raises.

    >>> from pivotree.analysis.figures import KINDS, Request, write
    >>> asked = Request(pt.build(pt.chain(3)), ("crbm",), width="single")
    >>> [write(KINDS["spy"], asked, f"matrix.{end}").name for end in ("pdf", "tex")]
    ['matrix.pdf', 'matrix.tex']
    """
    path = Path(path)
    if isinstance(request.system, Matrix) and kind.name in KINDS and kind.name not in OF_MATRICES:
        raise OrderError(
            "figure",
            f"kind {kind.name!r} is of robots, and {request.system.name} is a matrix",
            f"use {', '.join(OF_MATRICES)}",
        )
    if request.step is not None and kind.name in KINDS and kind.name not in STEPPED:
        raise OrderError("option --step", f"kind {kind.name!r} shows no step", f"use {' or '.join(STEPPED)}")
    if check_suffix(path) == ".tex":
        if kind.latex is None:
            able = ", ".join(k.name for k in KINDS.values() if k.latex)
            raise FormatError(
                f"figure {path}", f"kind {kind.name!r} has no LaTeX", f"write a .pdf, or use kind {able}"
            )
        return save(kind.latex(request), path)
    return save(kind.make(request), path)


# -- captions: what a figure shows, and its numbers, in sentences to paste --------------------------


def caption(kind: Kind, request: Request) -> str:
    """What the figure shows of which robot, and the numbers that it was made of.

    Raises what the orders raise on this robot.

    >>> from pivotree.analysis.figures import KINDS, Request, caption
    >>> print(caption(KINDS["spy"], Request(pt.build(pt.chain(10)), ("crbm",))).strip())
    Blocks of the system matrix of chain_10 (10 bodies, 10 freedoms) after elimination by CRBM.
    CRBM fills in 90 blocks off the diagonal (315 entries); its longest chain of dependent pivots has ...
    """
    model, dof = request.about.split(": ", 1)
    what = kind.what.replace("{", "{{").replace("}", "}}")
    others = (f"{what}, for {{model}}", _fills if len(request.orders) > 1 else _filled)
    first, numbers = _SAID.get(kind.name, others)
    order = request.named(request.symbolic.plan.sequence.name) if "{order}" in first else ""
    said = first.format(model=f"{model} ({dof})", order=order, steps=_steps(request), format=request.format)
    return f"{said[0].upper()}{said[1:]}.\n{numbers(request)}.\n"


def _steps(request: Request) -> str:
    """When in the elimination: at its end, or after some of its brackets."""
    if request.step is None:
        return "after elimination"
    groups = request.symbolic.plan.groups
    return f"after {request.step} of {groups} bracket{'s' if groups != 1 else ''} eliminated"


def _listed(texts: Iterable[str]) -> str:
    """One, two and three."""
    *most, last = [*texts] or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _filled(request: Request) -> str:
    """What the one order of a figure fills in, on structure alone."""
    symbolic: SymbolicFactor = request.symbolic
    name, blocks = request.named(symbolic.plan.sequence.name), _count(symbolic.fill_blocks, "block")
    begin = f"{name[:1].upper()}{name[1:]}" if request.step is None else f"In the end, {name}"
    return (
        f"{begin} fills in {blocks} off the diagonal "
        f"({symbolic.fill_entries:,} entries); its longest chain of dependent pivots has "
        f"{_count(symbolic.height, 'block')}"
    )


def _fills(request: Request) -> str:
    said = (
        f"{_count(one.fill_blocks, 'block')} with {request.named(one.plan.sequence.name)}"
        for one in request.symbolics
    )
    return f"Fill: {_listed(said)}"


def _kept(request: Request, *keys: str) -> list[Any]:
    """What the figure has just measured under these names."""
    return [(key, value) for key, value in request.memory.items() if key[0] in keys]


def _digits_told(request: Request) -> str:
    def said(row: dict[str, Any]) -> str:
        name = request.named(row["order"])
        return (
            f"{name} gives no answer" if row["digits"] is None else f"{name} keeps {row['digits']:.1f} digits"
        )

    rows = [row for _, rows in _kept(request, "rows") for row in rows if row["format"] == request.format]
    return f"In {request.format}, {_listed(map(said, rows))}"


def _pivots_told(request: Request) -> str:
    worst = (
        (name, max((s.pivot_error for s in result.steps if s.pivot_error is not None), default=0.0))
        for (_, name, *_), result in _kept(request, "run")
    )
    return f"The largest error: {_listed(f'{x:.1e} with {request.named(name)}' for name, x in worst)}"


_QDD = "the joint accelerations of {model}"
_SAID: dict[str, tuple[str, Callable[[Request], str]]] = {
    "spy": ("blocks of the system matrix of {model} {steps} by {order}", _filled),
    "before-after": (
        "blocks of the system matrix of {model} before and after elimination by {order}",
        _filled,
    ),
    "film": ("stages of the elimination of the system matrix of {model} by {order}", _filled),
    "orders": ("blocks of the system matrix of {model} after elimination by several orders", _fills),
    "pivots": ("relative errors of the pivots for {model} in {format}, step by step", _pivots_told),
    "digits": (f"correct decimal digits of {_QDD}", _digits_told),
}
