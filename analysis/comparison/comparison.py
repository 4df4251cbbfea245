"""Compare orders on one system: fill, cost, and the digits that each number format keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

from pivotree import kkt, orderings
from pivotree.kkt import (
    CertificationError,
    Certified,
    Elimination,
    FormatError,
    ModelError,
    Partition,
    PivotreeError,
    System,
    eliminate,
    trace,
)
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.errors import require_once
from pivotree.kkt.base.shown import Tabled
from pivotree.kkt.matrix.system import require_system
from pivotree.kkt.order.sequence import as_orders
from pivotree.kkt.solution.conditioning import Conditioning
from pivotree.kkt.solution.eliminate import require_iterable, require_refinable
from pivotree.kkt.tape.tape import Tape

from .row import Row, cancelling, finite, known_conditioning, reference, rows_of
from .verdict import verdict


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Tabled):
    """Rows in the order asked for, with the eliminations behind them.

    >>> found = pt.compare(pt.build(pt.chain(30)), ["crbm", "abm"], ["float32"])
    >>> print(found.verdict)
    In float32 crbm keeps 2.9 digits on chain_30 in this one state; abm keeps 6.7 digits. The ...
    """

    model: str
    bodies: int
    dof: int
    rows: tuple[Row, ...]
    eliminations: dict[tuple[str, str], Elimination] = field(repr=False, default_factory=dict)
    units: dict[str, float] = field(default_factory=dict)  # unit roundoff of each rounded format
    conditioning: Conditioning | None = None  # None where it is not known
    cancelling: str = ""  # what errors are relative to, where all that moves the robot nearly cancels
    counted: tuple[str, str] = ("bodies", "freedoms")  # what these are; of a matrix blocks and unknowns
    composites: str = "counted"  # as in kkt.PivotSequence, but where an order says otherwise
    state: str = ""  # what the one state is called that all rows are of
    data: str = "the data as rounded to the format, so that the arithmetic alone is judged"
    shown: ClassVar[tuple[str, ...]] = (
        "order",
        "format",
        "digits",
        "fill_blocks",
        "flops",
        "height",
        "marked",
        "failed_at",
    )

    def facts(self) -> dict[str, Any]:
        counts = zip((*self.counted, "rows"), (self.bodies, self.dof, len(self.rows)), strict=True)
        return {"name": self.model, **dict(counts)}

    def records(self) -> list[dict[str, Any]]:
        return [row.as_dict() for row in self.rows]

    @property
    def verdict(self) -> str:
        """Some sentences for each number format: which orders keep digits, and which lose them."""
        place = self.model + " in this one state" * (self.counted[0] == "bodies")
        text = verdict(place, self.rows, self.eliminations, self.units, self.kappa)
        return f"{text}\n{self.cancelling}" if self.cancelling else text

    @property
    def kappa(self) -> float | None:
        """Componentwise condition number of qdd; None where it is not known, or infinite."""
        return None if self.conditioning is None else finite(self.conditioning.kappa)

    @property
    def kappa_inertia(self) -> float | None:
        """2-norm condition number of the joint-space inertia."""
        return None if self.conditioning is None else finite(self.conditioning.kappa_inertia)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree compare --json``."""
        return {
            "model": self.model,
            "state": self.state,
            "bodies": self.bodies,
            "dof": self.dof,
            "kappa": self.kappa,
            "kappa_inertia": self.kappa_inertia,
            "rows": self.records(),
        }


def compare(
    system: System | kkt.Matrix,
    orders: Iterable[str | Callable[..., Any]] | None = None,
    formats: Iterable[str | Format] = ("float32", "float64"),
    *,
    refine: int = 0,
    residual: str = "dynamics",
    composites: str | None = None,
    reach: bool = True,
    progress: Callable[[str], None] = lambda step: None,
) -> Comparison:
    """Run orders in number formats on one system.

    Where orders are None they are all registered ones; those that place multipliers are among
    them for a system with closed loops or contacts.

    With ``refine`` K, every order has a second row in floating-point formats, "crbm +1" where K
    is 1: the same answer after K corrections (:mod:`kkt.solution.refine`).

    Operations are counted with inertias behind which no joint has been eliminated as ten numbers,
    with ``composites`` "general" as 6 x 6 blocks, by which they are formed but with "rigid"
    (:func:`kkt.trace`); where it is None each order decides.  With ``reach`` False, single steps are
    looked at only where the verdict may tell of them, which is faster.

    Every format is held against the certified solution for the data rounded to it (forward errors:
    Higham 2002, section 1.5; of these orders Ascher, Pai & Cloutier 1996, section 3).  An order
    that cannot pivot on this robot, or that its inertias, loops or size rule out, gives a row with
    ``failed_at``.  Raises OrderError for an order that is unknown, FormatError for a format that means
    nothing, PivotreeError for one of either that is asked for twice, and CertificationError where
    the joint-space inertia is singular.

    >>> for row in pt.compare(pt.build(pt.chain(30)), ["crbm", "abm"], ["float32"]).rows:
    ...     print(row.order, row.fill_blocks, row.flops, round(row.digits, 1))
    crbm 870 31585 2.9
    abm 29 11256 6.7
    """
    functions, chosen = asked(system, orders, formats, refine, residual)
    units = {f.name: f.unit for f in chosen if f.unit > 0.0}
    if not isinstance(system, System):
        if composites is not None:
            raise ModelError("compare", "a matrix has no inertias", "leave composites out")
        rows, results = _on_matrix(system, functions, chosen, progress)
        told = ("blocks", "unknowns")
        return Comparison(system.name, system.structure.n, system.size, rows, results, units, counted=told)
    proof = trace(system, orderings.get("abm"))  # once for all formats
    references = _references(system, chosen, proof, progress)
    progress("condition number")
    condition = known_conditioning(system, proof)

    seen = reach or refine > 0
    most = {f.name: 10.0 * f.unit for f in chosen}  # error so far; the verdict tells where it enters

    def traced(name: str, function: Callable[..., Any]) -> Tape:
        progress(name)
        return trace(system, function, composites)

    def answers(name: str, tape: Tape, f: Format) -> list[Elimination]:
        exact = references[f.name]
        if isinstance(exact, str):
            raise FormatError(exact)
        progress(f"{name} in {f.name}")
        result = eliminate(system, tape, f, records=seen, reach=reach, reference=exact if reach else None)
        error = None if seen or result.failed_at else exact.error(result.qdd)
        if error is not None and error > most[f.name]:
            most[f.name], result = error, eliminate(system, tape, f)
        if not refine or f.kind != "float":
            return [result]
        from pivotree.kkt.solution.refine import refined

        return [result, refined(system, tape, f, result, refine, residual)]

    exact: Any = references.__getitem__
    rows, results = rows_of(functions, chosen, traced, answers, exact, condition)
    dof = system.tree.N
    beside = next((cancelling(x) for x in references.values() if isinstance(x, Certified)), "")
    named = Comparison(system.name, system.tree.n, dof, rows, results, units, condition, beside)
    return replace(named, composites=composites or "counted")


Orders = dict[str, Callable[..., Any]]  # by name


def asked(
    system: Any, orders: Any, formats: Any, refine: int = 0, residual: str = "dynamics"
) -> tuple[Orders, tuple[Format, ...]]:
    """The orders and formats that a comparison is asked for, checked before any work."""
    if isinstance(getattr(system, "structure", None), Partition):  # of a matrix
        orders = usual_of_matrices(system) if orders is None else orders
        if refine:
            raise ModelError("compare", "a matrix takes orders and formats", "leave refine out")
    else:
        require_system(system)
    orders = [orders] if isinstance(orders, str) else orders
    formats = [formats] if isinstance(formats, str | Format) else formats
    orders = orderings.names(loops=bool(system.loops)) if orders is None else orders
    for name, value in (("orders", orders), ("formats", formats)):
        if not isinstance(value, Iterable):
            raise ModelError("compare", f"{name} is {value!r}", "give a list of names")
    chosen = tuple(get_format(name) for name in formats)
    for f in chosen:
        require_iterable(system, f, 0, bool(refine))
    functions = as_orders(orders)
    names = [f.name for f in functions]
    require_once("order", names)
    require_once("format", [f.name for f in chosen])
    for f in [f for f in chosen if f.kind == "float"] or chosen:
        require_refinable(f, refine, residual)
    return dict(zip(names, functions, strict=True)), chosen


def _references(
    system: System, formats: tuple[Format, ...], proof: Tape, progress: Callable[[str], None]
) -> dict[str, Certified | str]:
    """The certified answer for each format, or why it cannot hold this robot's data."""
    references: dict[str, Certified | str] = {}
    for f in formats:
        progress(f"certified answer for {f.name}")
        try:
            references[f.name] = reference(system, f, proof)
        except CertificationError as error:
            overflowed = sum(isinstance(found, str) for found in references.values())
            if overflowed + 1 == len(formats) or "overflows" not in str(error):
                raise
            references[f.name] = str(error)
    return references


USUAL = ("natural", "minimum_degree", "minimum_fill", "reverse_cuthill_mckee", "nested_dissection")


def _on_matrix(
    system: kkt.Matrix, orders: Orders, formats: tuple[Format, ...], progress: Callable[[str], None]
) -> tuple[tuple[Row, ...], dict[tuple[str, str], Elimination]]:
    """A row for each order and format, held against x that is certified by the first order that can.

    Raises CertificationError where none of the orders certifies x.
    """

    @cache
    def truth(name: str) -> Certified:
        progress(f"certified answer for {name}")
        trouble: PivotreeError = CertificationError(system.name, "no order certifies x")
        for order in orders.values():
            try:
                return reference(system, get_format(name), order)
            except PivotreeError as error:
                trouble = error
        raise trouble

    from pivotree.kkt.solution.matrix import tape_of

    def traced(name: str, order: Any) -> Tape:
        progress(name)
        return tape_of(system, order)

    return rows_of(orders, formats, traced, lambda name, tape, f: [eliminate(system, tape, f)], truth)


def usual_of_matrices(system: kkt.Matrix) -> list[str]:
    """Orders that are compared where none are named: METIS's where it is installed, pairs where zeros are."""
    from importlib.util import find_spec

    pairs = [] if system.structure.armature.all() else ["bunch_kaufman"]
    return [name for name in USUAL if name != "nested_dissection" or find_spec("pymetis")] + pairs
