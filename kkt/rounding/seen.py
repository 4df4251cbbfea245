"""One order on one system in any number format, seen operation by operation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format
from ..arithmetic.modular import Residue
from ..matrix.entries import assemble
from ..matrix.system import System
from ..tape.rounding import rounded_entries
from ..tape.run import number_of
from ..tape.tape import Tape
from .observe import Observation, observe

SEEN = 72  # bits of cancellation that double-double shows, with 34 more of its 106 to spare


def shadow_for(format: Format) -> str:
    """The name of a shadow that sees a format's errors of arithmetic: of twice its digits.

    Fractions and balls need none: they know how far they may be off.
    """
    if format.kind in ("exact", "ball"):
        return "own"
    if format.kind == "float":
        return "dd"
    unit_digits = format.digits or -math.log10(format.unit)
    return f"mp:{2 * math.ceil(unit_digits) + 40}"


def exact_shadow_for(format: Format, long: bool = False) -> str:
    """As :func:`shadow_for` for formats that round (4), told against exact arithmetic too.

    ``long`` for cancellation of more bits than double-double sees.
    """
    if format.kind == "float" and not long:
        return "exact"
    return f"exact:{2 * math.ceil(-math.log10(format.unit)) + 40}"


def seen(
    system: System,
    tape: Tape,
    format: Format,
    *,
    shadow: str | None = None,
    exact: bool = False,
    bits: int = 0,
    **options: Any,
) -> Observation:
    """Run a tape on a system in any number format, and gather what its operations do.

    Formats that round start from the entries of (4) rounded to them; exact, mp:D and ball:D run the
    spatial algebra, bias and assembly too.  In these three, what exact arithmetic makes zero from
    the model's doubles counts as zero.  ``shadow``: :func:`shadow_for` the format where None;
    ``exact``: sums of formats that round are held against exact arithmetic on the same rounded
    entries (``Gathered.exact``); ``bits``: precision of balls, found by :func:`kkt.certify` where
    it is 0; options are those of :func:`kkt.rounding.observe.observe`.
    """
    if exact and not format.from_model:
        return _against(system, tape, format, options)
    name = shadow or shadow_for(format)
    if not format.from_model:
        entries = system.entries if format.on_arrays else rounded_entries(system, format)
        return observe(tape, entries, format, name, **options)
    if format.kind == "ball":
        import flint

        from ..proof.certify import certify

        bits = bits or certify(system, format.digits, tape=tape).bits
        with flint.ctx.workprec(bits):
            entries = assemble(system.state, flint.arb)
            return observe(tape, entries, format, name, bits=bits,
                           residues=residues_of(system, tape), **options)  # fmt: skip
    number = number_of(format)
    entries = assemble(system.state, number)
    zeros = None if format.kind == "exact" else residues_of(system, tape)
    return observe(tape, entries, format, name, number=number, residues=zeros, **options)


def _against(system: System, tape: Tape, format: Format, options: dict[str, Any]) -> Observation:
    """Beside exact arithmetic: in double-double, or in more digits where sums cancel as many."""
    found = seen(system, tape, format, shadow=exact_shadow_for(format), **options)
    exact = found.runs.exact
    if format.kind != "float" or exact is None or exact.order.max(initial=0) <= SEEN:
        return found
    return seen(system, tape, format, shadow=exact_shadow_for(format, long=True), **options)


def residues_of(system: System, tape: Tape) -> NDArray[np.int64]:
    """(slots,) what a tape starts from modulo a prime, from the model's doubles and exactly."""
    v = np.zeros(tape.slots, dtype=np.int64)
    places, values = tape.inputs.values(assemble(system.state, Residue))
    v[places] = _modulo(values)
    for number, slot in {1: 1, **tape.inputs.whole}.items():
        v[slot] = Residue(float(number)).value
    return v


def _modulo(values: NDArray) -> NDArray[np.int64]:
    numbers = (x if isinstance(x, Residue) else Residue(float(x)) for x in values.tolist())
    return np.array([x.value for x in numbers], dtype=np.int64)
