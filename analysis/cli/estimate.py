"""What eliminations would take, told before they begin where that is more than a minute or 4 GB.

The operations of an order with dense blocks are counted by its symbolic factor, in milliseconds.
An order is traced, played and watched at rates that were measured on chains of 100 to 1000 bodies,
a humanoid, stars and binary trees, on two processors of 2.5 GHz: 0.3 to 1 us and 20 to 35 bytes for
each of these operations.  They tell a minute from an hour; they are no promise.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pivotree import kkt

LONG, LARGE = 60.0, 4e9  # [s] and bytes, more than which is asked for by name
SECONDS, BYTES = 0.6e-6, 35.0  # for an operation with dense blocks


def admit(options: argparse.Namespace, system: kkt.System, orders: Mapping[str, Any]) -> None:
    """Raise SizeError where the elimination in these orders is long work, unless it is wanted."""
    if options.yes:
        return
    flops = {name: _flops(system, order) for name, order in orders.items()}
    ranked = sorted(flops, key=lambda name: flops[name], reverse=True)
    if not ranked or _fits(flops.values()):
        return
    left = next((k for k in range(1, len(ranked)) if _fits([flops[n] for n in ranked[k:]])), None)
    smaller = "use an order with less fill, such as abm, or a smaller model"
    if left is not None:
        rest = sum(flops[name] for name in ranked[left:])
        smaller = f"without {', '.join(ranked[:left])} it takes about {_time(rest)} (--orders)"
    raise kkt.SizeError(
        f"{options.command} {options.model}: takes about {_time(sum(flops.values()))} and "
        f"{BYTES * flops[ranked[0]] / 1e9:.1f} GB of memory, most of it for {ranked[0]} "
        f"({flops[ranked[0]]:.0e} operations with dense blocks); {smaller}; --yes goes on"
    )


def _fits(flops: Any) -> bool:
    return SECONDS * sum(flops) <= LONG and BYTES * max(flops) <= LARGE


def _flops(system: kkt.System, order: Any) -> int:
    try:
        return kkt.column_counts(kkt.plan(order, system.structure)).flops
    except kkt.PivotreeError:  # it is refused by name where it is eliminated
        return 0


def _time(flops: float) -> str:
    seconds = SECONDS * flops
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"
