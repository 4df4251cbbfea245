"""Formats by proof: the cheapest that keep so many digits in every state, role by role.

An assignment gives data, sums, products, quotients and the blocks D_k a format each, and the
operands of products one that may be shorter.  It costs the bits of significand that data have, and
that operations read and write on the way to qdd.  The bounds of pivots and of qdd say what it
keeps.  Assignments are looked at in the order of cost, so that the first that keeps enough is the
cheapest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType

import networkx as nx

from pivotree.kkt import FormatError, Payload
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.mixed import Mixed
from pivotree.kkt.theorem.guarantee import require_roundoff
from pivotree.kkt.theorem.motion import Given
from pivotree.kkt.theorem.ranges import Limits

from .promises import PARTS, Cheapest, Keeps, Promises, bits_of, by_role

MOST = 3  # formats to choose from
# an operation that rounds its operands rounds up to three times as much: an assignment that misses
# by more leaves nothing to shorter ones
THREE = math.log10(3.0) + 0.15


def cheapest(
    model: nx.DiGraph,
    digits: float,
    formats: Sequence[str] = ("float64", "float32"),
    limits: Limits = MappingProxyType({}),
    rates: Given = MappingProxyType({}),
    efforts: Given = MappingProxyType({}),
    payloads: Sequence[Payload] = (),
    order: str = "abm",
    progress: Callable[[str], None] = lambda text: None,
) -> Cheapest:
    """The cheapest formats by role with which an order keeps ``digits`` in every state.

    Digits are decimal, of every pivot D_k and of qdd: what :func:`kkt.guarantee` and
    :func:`kkt.guarantee_qdd` promise of ``order``, abm or gain_abm.  ``formats``, three at most,
    are what there is to choose from.  ``progress`` is told what is looked at.

    Raises FormatError where none keeps so many, for formats that have no bound, cannot be mixed or
    are too many, and ModelError as :func:`kkt.guarantee_qdd` does.

    >>> found = pt.analysis.guarantee.cheapest(pt.chain(2), 3.5, ["float32", "p20"])
    >>> found.found.digits >= 3.5 and found.found.cost <= found.alone[-1].cost
    True
    """
    if not 0.0 < digits < math.inf:
        raise FormatError(f"option --digits: {digits:g} is no number of digits; use one above 0")
    chosen = _sorted(formats)
    promises = Promises(model, order, limits, rates, efforts, payloads)
    work = promises.work

    def kept(parts: tuple[Format, ...]) -> Keeps:
        return promises.of(by_role(parts), work.cost(parts))

    alone = tuple(kept((each,) * len(PARTS)) for each in chosen)
    best = max(alone, key=lambda x: x.digits)
    missed: list[tuple[tuple[int, ...], float]] = []
    looked = 0
    for numbers in sorted(_assignments(len(chosen)), key=lambda x: work.cost(_of(chosen, x))):
        if any(all(a <= b for a, b in zip(numbers, other, strict=True)) for other, _ in missed):
            continue
        looked += 1
        progress(f"looking at formats by role, {looked}")
        parts = _of(chosen, numbers)
        found = kept(parts)
        if not found.why and found.digits >= digits:
            return Cheapest(digits, order, found, alone, looked)
        if found.digits + THREE < digits:
            missed.append((numbers, found.digits))
    told = f"; {best.format} alone keeps {math.floor(10.0 * best.digits) / 10.0:.1f}"
    told = f": {best.why}" if best.why else told
    raise FormatError(
        f"option --digits: no formats by role of {', '.join(formats)} are promised {digits:g} "
        f"digits of pivots and qdd{told}"
    )


def _sorted(formats: Sequence[str]) -> list[Format]:
    """The shortest first."""
    names = list(dict.fromkeys(formats))
    if not 1 <= len(names) <= MOST:
        raise FormatError(f"option --format: give at most {MOST} formats to choose from by role")
    chosen = [get_format(name) for name in names]
    for each in chosen:
        require_roundoff(each)
        if isinstance(each, Mixed):
            raise FormatError(f"format {each.name!r}: is one by role; give its parts")
        Mixed(each.name, each)  # refuses what cannot be mixed
    return sorted(chosen, key=bits_of)


def _assignments(count: int) -> Iterator[tuple[int, ...]]:
    """Numbers of formats, by role; operands of products are no longer than the products."""
    for numbers in itertools.product(range(count), repeat=len(PARTS)):
        if numbers[PARTS.index("operands")] <= numbers[PARTS.index("mul")]:
            yield numbers


def _of(chosen: list[Format], numbers: tuple[int, ...]) -> tuple[Format, ...]:
    return tuple(chosen[i] for i in numbers)
