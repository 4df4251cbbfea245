"""Orders that place the multipliers of closed loops and contacts: one method a file."""

from pathlib import Path

from pivotree.kkt import Order

from ..registry import orders_of

_FOUND = {found.name: found for found in orders_of(__package__, Path(__file__).parent)}
LOOPS: dict[str, Order] = {name: _FOUND[name] for name in sorted(_FOUND)}
"""Orders that place the multipliers of closed loops and contacts, by name (docs/loops.md).

>>> list(pt.orderings.LOOPS)
['closed_early', 'clusters', 'lambda_first', 'lambda_first_abm', 'lcaba']
"""
