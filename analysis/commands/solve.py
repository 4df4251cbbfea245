"""``pivotree solve``: joint accelerations, with their certified error."""

from __future__ import annotations

import argparse
import json

import kkt
import orderings
from kkt.arithmetic.formats import get_format
from kkt.elimination.certify import decimal

from .shared import progress_shown, system_of


def run(options: argparse.Namespace) -> int:
    from ..comparison import digits_of, reference

    chosen = get_format(options.format)
    function = orderings.get(options.order)
    with progress_shown() as progress:
        system = system_of(options)
        progress(f"tracing {options.order}")
        tape = kkt.trace(system, function)
        progress(f"certified answer for {chosen.name}")
        exact = reference(system, chosen)
        progress(f"{options.order} in {chosen.name}")
        result = kkt.eliminate(system, tape, chosen, records=False)
    if result.failed_at:
        raise kkt.SingularError(
            f"order {result.order!r} in {chosen.name}: {result.failed_at}; "
            "use another order or a longer format"
        )
    error = exact.error(result.qdd)
    places = chosen.places
    values = [float(x) if chosen.kind == "float" else decimal(x, places) for x in result.qdd]
    if options.json:
        document = {
            "model": options.model,
            "order": result.order,
            "format": chosen.name,
            "qdd": values,
            "error": error,
            "certified_digits": exact.digits,
        }
        print(json.dumps(document, indent=1))
        return 0
    at = 0
    for name, dof in zip(system.tree.names, system.tree.dof, strict=True):
        for j in range(dof):
            text = f"{values[at]:.{places}g}" if chosen.kind == "float" else values[at]
            print(f"{name}{f'[{j}]' if dof > 1 else ''}\t{text}")
            at += 1
    kept = digits_of(error, chosen)
    print(
        f"{result.order} in {chosen.name}: error {error:.1e} ({kept:.1f} digits) against "
        f"{exact.digits} certified digits, {result.flops:,} operations"
    )
    return 0
