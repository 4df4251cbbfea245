"""``pivotree solve``: joint accelerations, with their certified error or as certified balls."""

from __future__ import annotations

import argparse
from typing import Any

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.arithmetic.names import MAX_DIGITS
from pivotree.kkt.proof.balls import decimal
from pivotree.kkt.solution.refine import MOST

from ..estimate import admit, certificate, eliminated
from ..progress import progress_shown
from .shared import one_state, print_json, refinement, state_document, system_and_state


def run(options: argparse.Namespace) -> int:
    from ...comparison import digits_of, reference

    chosen = get_format(options.format)
    digits = options.certify
    if digits is not None and not 1 <= digits <= MAX_DIGITS:
        raise kkt.CertificationError(
            f"option --certify: {digits} is no number of digits; use 1 to {MAX_DIGITS}"
        )
    corrections = refinement(options)
    if options.proximal is not None:
        return _proximal(options)
    function = orderings.get(options.order)
    proved: kkt.Certified | None = None
    with progress_shown() as progress:
        system, state = system_and_state(options)
        rest = certificate(system, orderings.get("abm"))
        if digits is not None:
            rest = rest.plus(certificate(system, function, digits))
        less = "use an order with less fill, such as abm, or a smaller model"
        smaller = less if digits is None else f"{less}, or give fewer digits with --certify"
        plays = [chosen] * (1 + corrections)
        admit(options, system, {options.order: function}, eliminated(plays), rest, smaller)
        progress(f"tracing {options.order}")
        tape = kkt.trace(system, function)
        progress(f"certified answer for {chosen.name}")
        exact = reference(system, chosen)
        if digits is not None:
            progress(f"{digits} digits proved by {options.order}")
            proved = kkt.certify(system, digits, tape=tape)
        progress(f"{options.order} in {chosen.name}")
        result = kkt.eliminate(
            system, tape, chosen, records=False, refine=corrections, residual=options.residual
        )
    if result.failed_at and proved is None:
        raise kkt.SingularError(_failure(result, chosen.name))
    error = None if result.failed_at else exact.error(result.qdd)
    values: list[Any] = [
        float(x) if chosen.kind == "float" else decimal(x, chosen.places) for x in result.qdd
    ]
    if result.failed_at:  # the balls stand without it
        values = [None] * len(values)
    if options.json:
        document: dict[str, Any] = {
            "model": options.model,
            **state_document(system, state),
            "order": result.order,
            "format": chosen.name,
            "qdd": values,
            "error": error,
            "certified_digits": exact.digits if proved is None else proved.digits,
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
        print_json(document)
        return 0
    if proved is not None:
        texts = [f"{ball.mid} +/- {ball.rad}" for ball in proved.balls()]
    else:
        texts = [f"{x:.{chosen.places}g}" if chosen.kind == "float" else x for x in values]
    for joint, text in zip(_joints(system), texts, strict=True):
        print(f"{joint}\t{text}")
    if proved is not None:
        rows = _rows(system)
        for row, ball in zip(rows, proved.balls("lam"), strict=True):
            print(f"{row}\t{ball.mid} +/- {ball.rad}")
        unknowns = "qdd and lambda" if rows else "qdd"
        print(
            f"{proved.digits} digits of every {unknowns} proved by {proved.order} in balls of "
            f"{proved.bits} bits; nonsingular: proved: {proved.nonsingular}"
        )
    if error is None:
        print(f"{result.order} in {chosen.name} gives no answer: {result.failed_at}")
        return 0
    print(
        f"{result.order} in {chosen.name}: error {error:.1e} "
        f"({digits_of(error, chosen):.1f} digits) against "
        f"{exact.digits} certified digits, {result.flops:,} operations"
    )
    if result.marked:
        print(f"do not rely on it: {result.marked}; use another order or a longer format")
    if result.refinement is not None:
        record = result.refinement
        print(
            f"refinement by the residual of {record.residual}: {record.status}; "
            f"{record.kept} of {corrections} corrections in the answer"
        )
    print(one_state(options.model, state))
    return 0


def _failure(result: Any, format: str) -> str:
    """What a pivot says that became zero, and what would be right."""
    told = str(result.failed_at)
    remedy = "" if "; " in told else "; use another order or a longer format"
    return f"order {result.order!r} in {format}: {told}{remedy}"


def _proximal(options: argparse.Namespace) -> int:
    """Rigid rows by iteration, beside the certified answer of those that are independent."""
    from ...comparison import digits_of, reference

    for given, name in ((options.refine, "refine"), (options.certify, "certify")):
        if given:
            raise kkt.PivotreeError(
                f"option --proximal: iterates by itself, and not with --{name}; leave one out"
            )
    chosen = get_format(options.format)
    with progress_shown() as progress:
        system, state = system_and_state(options)
        progress(f"{options.order} in {chosen.name}")
        result = kkt.eliminate(system, orderings.get(options.order), chosen, records=False, proximal=MOST)
        progress(f"certified answer for {chosen.name}")
        rigid = kkt.rigid(system)
        exact = reference(rigid, chosen)
    record = result.proximal
    if result.failed_at or record is None:
        raise kkt.SingularError(_failure(result, chosen.name))
    error = exact.error(result.qdd)
    values = [float(x) for x in result.qdd]
    if options.json:
        print_json(
            {
                "model": options.model,
                **state_document(system, state),
                "order": result.order,
                "format": chosen.name,
                "qdd": values,
                "lam": [float(x) for x in result.lam],
                "error": error,
                "marked": result.marked,
                "proximal": dict(vars(record)),
            }
        )
        return 0
    for joint, value in zip(_joints(system), values, strict=True):
        print(f"{joint}\t{value:.{chosen.places}g}")
    times = "1 iteration" if record.iterations == 1 else f"{record.iterations} iterations"
    print(
        f"{result.order} in {chosen.name}: {times} with mu = {record.mu:g}, {record.status}; "
        f"{record.residual:.1e} (rad/s² or m/s²) is left of the rows, {result.flops:,} operations"
    )
    told = f"error {error:.1e} ({digits_of(error, chosen):.1f} digits)"
    print(f"{told} against {exact.digits} certified digits of rigid rows")
    more = len(result.lam) - len(rigid.entries.gamma)
    if more:
        print(
            f"{more} of {len(result.lam)} rows follow from others: lambda is the least that they "
            "allow, in squares summed"
        )
    if result.marked:
        print(f"do not rely on it: {result.marked}")
    print(one_state(options.model, state))
    return 0


def _joints(system: kkt.System) -> list[str]:
    """A name for each degree of freedom: body, or body[j]."""
    return [
        f"{name}[{j}]" if dof > 1 else str(name)
        for name, dof in zip(system.tree.names, system.tree.dof, strict=True)
        for j in range(dof)
    ]


def _rows(system: kkt.System) -> list[str]:
    """A name for each multiplier: lam loop, or lam loop[i]."""
    return [
        f"lam {loop.name}[{i}]" if loop.rows > 1 else f"lam {loop.name}"
        for loop in system.loops
        for i in range(loop.rows)
    ]
