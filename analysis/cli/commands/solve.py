"""``pivotree solve``: joint accelerations, with their certified error or as certified balls."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.names import MAX_DIGITS
from pivotree.kkt.proof.trust import decimal
from pivotree.kkt.solution.conditioning import Conditioning

from ..arguments import Parser, add_format, add_json, add_model, add_order, add_refinement
from ..limits import SMALLER, SPARSER, admit, played
from ..progress import progress_shown
from .shared import (
    matrix_of,
    one_state,
    print_json,
    refinement,
    refuse_beside,
    state_document,
    system_and_state,
    tree_of,
)

if TYPE_CHECKING:
    from ...comparison.row import Row


class _Solved(NamedTuple):
    """An answer, and all that is told of it."""

    system: kkt.System | kkt.Matrix
    state: str  # "" of a matrix
    chosen: Format
    result: kkt.Elimination
    exact: kkt.Certified
    proved: kkt.Certified | None  # with --certify
    row: Row
    condition: Conditioning | None

    @property
    def kappa(self) -> float | None:
        """Condition number of qdd; None where it is not known, or infinite."""
        from ...comparison.row import finite

        return None if self.condition is None else finite(self.condition.kappa)

    @property
    def names(self) -> list[str]:
        """Of the unknowns."""
        system = self.system
        return system.unknowns if isinstance(system, kkt.Matrix) else system.tree.freedom_names

    @property
    def values(self) -> list[Any]:
        """qdd as numbers, or as decimals of the format; None where there is no answer."""
        if self.result.failed_at:  # the balls stand without it
            return [None] * len(self.result.qdd)
        floats = self.chosen.kind == "float"
        return [float(x) if floats else decimal(x, self.chosen.places) for x in self.result.qdd]


# an operation in balls takes as long as so many in float64 for each digit, and for LEAST digits more
PROVED, LEAST = 4e-3, 1000.0

EXAMPLES = (
    "solve chain:3 --q -0.3,1,0.5",
    "solve robot.urdf --order crbm --format float32",
    "solve chain:100 --certify 50",
    "solve rr_arm --symbolic",
)


def declare(command: Parser) -> None:
    add_model(command, matrix=True)
    add_order(command, "abm")
    add_format(command, "float64")
    command.add_argument(
        "--symbolic", nargs=0, dest="format", const="sympy", help="in letters: --format sympy"
    )
    add_refinement(command)
    command.add_argument("--certify", type=int, metavar="D", help="prove D digits of qdd and lambda")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    if options.certify is not None and not 1 <= options.certify <= MAX_DIGITS:
        raise kkt.CertificationError(
            "option --certify", f"{options.certify} is no number of digits", f"use 1 to {MAX_DIGITS}"
        )
    corrections, residual = refinement(options)
    if options.format == "sympy":
        return _letters(options)
    found = _solved(options, corrections, residual)
    if found.result.failed_at and found.proved is None:
        why = str(found.result.failed_at)
        why += "" if "; " in why else "; use another order or a longer format"
        raise kkt.SingularError(f"order {found.result.order!r} in {found.chosen.name}", why)
    if options.json:
        print_json(_document(options.model, found))
        return 0
    _print_values(found)
    if found.row.error is None:
        print(f"{found.row.order} in {found.chosen.name} gives no answer: {found.result.failed_at}")
        return 0
    _print_digits(found, corrections)
    if found.state:
        print(one_state(options.model, found.state))
    return 0


def _letters(options: argparse.Namespace) -> int:
    """The closed form of an order, as text or as LaTeX and Python."""
    from ...letterfile import load_letters
    from ...letters import closed_form

    others = {x: f"--{x}" for x in ("refine", "certify", "q", "state")}
    refuse_beside("--symbolic", "gives a closed form, exact in every state", options, **others)
    with progress_shown() as progress:
        progress(f"{options.order} in letters")
        found = closed_form(tree_of(options, load_letters), options.order)
    if options.json:
        texts = {str(name): str(value) for name, value in found.lines()}
        numbers = {str(name): value for name, value in found.values.items()}
        document = {"model": options.model, "order": found.order, "format": "sympy", "letters": numbers}
        print_json(document | {"lines": texts, "latex": found.to_latex(), "python": found.to_python()})
        return 0
    if found.inertia is not None:
        print(f"M = {found.inertia.tolist()}")
    print(found)
    letters = ", ".join(f"{name} = {value:.6g}" for name, value in found.values.items())
    print(f"letters: {letters}" if letters else "letters: q, qd and tau of each joint")
    return 0


def _solved(options: argparse.Namespace, corrections: int, residual: str) -> _Solved:
    from ...comparison.row import known_conditioning, reference, row_of

    chosen, digits = get_format(options.format), options.certify
    proved: kkt.Certified | None = None
    if (matrix := matrix_of(options, "certify")) is not None:
        order = orderings.get(options.order)
        times = played(matrix, [chosen]) + (0.0 if digits is None else PROVED * (digits + LEAST))
        admit(options, matrix, {options.order: order}, times, SPARSER)
        exact = reference(matrix, chosen, order)
        if digits is not None:
            proved = kkt.certify(matrix, digits, order=order)
        result = kkt.eliminate(matrix, order, chosen)
        return _Solved(matrix, "", chosen, result, exact, proved, row_of(result, exact, chosen), None)
    function = orderings.get(options.order)
    with progress_shown() as progress:
        system, state = system_and_state(options)
        plays = [chosen] * (1 + corrections)
        times = played(system, plays) + (0.0 if digits is None else PROVED * (digits + LEAST))
        smaller = SMALLER if digits is None else f"{SMALLER}, or give fewer digits with --certify"
        admit(options, system, {options.order: function}, times, smaller)
        progress(f"tracing {options.order}")
        tape = kkt.trace(system, function)
        progress(f"certified answer for {chosen.name}")
        proof = kkt.trace(system, orderings.get("abm"))
        exact = reference(system, chosen, proof)
        if digits is not None:
            progress(f"{digits} digits proved by {options.order}")
            proved = kkt.certify(system, digits, order=tape)
        progress("condition number")
        condition = known_conditioning(system, proof)
        progress(f"{options.order} in {chosen.name}")
        result = kkt.eliminate(system, tape, chosen, records=False, refine=corrections, residual=residual)
    row = row_of(result, exact, chosen, condition)
    return _Solved(system, state, chosen, result, exact, proved, row, condition)


def _document(model: str, found: _Solved) -> dict[str, Any]:
    """The document of ``--json``."""
    result, proved, system = found.result, found.proved, found.system
    document: dict[str, Any] = {
        "model": model,
        **({} if isinstance(system, kkt.Matrix) else state_document(system, found.state)),
        "order": result.order,
        "format": found.chosen.name,
        "qdd" if found.state else "x": found.values,
        "error": found.row.error,
        "kappa": found.kappa,
        "lost_by_order": found.row.lost_by_order,
        "certified_digits": (proved or found.exact).digits,
        "marked": result.marked,
    }
    if result.backward_error is not None:
        document["backward_error"] = dict(vars(result.backward_error))
    if result.refinement is not None:
        document["refinement"] = dict(vars(result.refinement))
    if proved is not None:
        document["balls"] = [ball._asdict() for ball in proved.balls()]
        if proved.lam:
            document["lam_balls"] = [ball._asdict() for ball in proved.balls("lam")]
        document["bits"] = proved.bits
        document["nonsingular"] = f"proved: {proved.nonsingular}"
    return document


def _print_values(found: _Solved) -> None:
    """Every qdd, and with --certify the balls that hold them and lambda."""
    proved, chosen = found.proved, found.chosen
    if proved is not None:
        texts = [f"{ball.mid} +/- {ball.rad}" for ball in proved.balls()]
    else:
        texts = [f"{x:.{chosen.places}g}" if chosen.kind == "float" else x for x in found.values]
    for joint, text in zip(found.names, texts, strict=True):
        print(f"{joint}\t{text}")
    if proved is None:
        return
    rows = _rows(found.system)
    for row, ball in zip(rows, proved.balls("lam"), strict=True):
        print(f"{row}\t{ball.mid} +/- {ball.rad}")
    unknowns = "qdd and lambda" if rows else "qdd" if found.state else "x"
    print(
        f"{proved.digits} digits of every {unknowns} proved by {proved.order} in balls of "
        f"{proved.bits} bits; nonsingular: proved: {proved.nonsingular}"
    )


def _print_digits(found: _Solved, corrections: int) -> None:
    """How many digits are right, what they are relative to, and where they went."""
    from ...comparison.row import cancelling
    from ...comparison.verdict import BEHIND

    row, result = found.row, found.result
    print(
        f"{row.order} in {row.format}: error {row.error:.1e} ({row.digits:.1f} digits) against "
        f"{found.exact.digits} certified digits, {_operations(result)}"
    )
    if found.kappa is not None and (row.lost_by_order or 0.0) >= BEHIND:
        print(
            f"{row.order} lost {row.lost_by_order:.1f} digits more than the condition number of qdd, "
            f"{found.kappa:.2g}, may cost any order"
        )
    if sentence := cancelling(found.exact):
        print(sentence)
    if result.marked:
        advice = "" if "; use " in result.marked else "; use another order or a longer format"
        print(f"do not rely on it: {result.marked}{advice}")
    if result.refinement is not None:
        record = result.refinement
        print(
            f"refinement by the residual of {record.residual}: {record.status}; "
            f"{record.kept} of {corrections} corrections in the answer"
        )


def _operations(result: kkt.Elimination) -> str:
    """How many, and what they count."""
    from ..table import counted

    plan = result.symbolic.plan
    told = "" if isinstance(plan.graph.structure, kkt.Partition) else f" {counted(plan.sequence.composites)}"
    return f"{result.flops:,} operations{told}"


def _rows(system: kkt.System | kkt.Matrix) -> list[str]:
    """A name for each multiplier: lam loop, or lam loop[i]."""
    return [
        f"lam {tie.name}[{i}]" if tie.rows > 1 else f"lam {tie.name}"
        for tie in system.structure.ties
        for i in range(tie.rows)
    ]
