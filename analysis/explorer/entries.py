"""Entries of (4) and certified answers, as the explorer's page reads them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import CertificationError, FormatError, System, certify
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.proof.idle import DOUBLE
from pivotree.kkt.tape.inputs import pivot_rows
from pivotree.kkt.tape.tape import Tape

DIGITS = 30  # proved, of the answer that the page's numbers are held against
BEYOND = 16  # bits of the certified answer after a format's last one
# that the page can compute in
FORMATS = ("float64", "float32", "p20", "p16", "tf32", "bfloat16", "float16", "e5m2")


def entries_of(system: System) -> dict[str, Any]:
    """Letter -> a flat list of each body's block, row by row; masks 0, 1 (always one) or 2.

    ``pose`` has R, row by row, and p: the page forms Phi = [[R, p~ R], [0, R]] to the same bits.
    G has one for each body of each loop, gamma and compliance one for each loop.
    """
    e, pattern, offset = system.entries, system.pattern, system.tree.offset
    bodies = range(system.tree.n)
    own = [slice(int(offset[k]), int(offset[k + 1])) for k in bodies]
    geared = bool(e.A.size)
    ties = system.structure.ties
    sides = _slices([tie.rows for tie in ties for _ in tie.bodies])
    loops = _slices([tie.rows for tie in ties])
    tied: dict[str, Any] = {}
    masks: dict[str, Any] = {}
    if ties:
        tied = {
            "G": [_flat(e.G[rows]) for rows in sides],
            "gamma": [_flat(e.gamma[rows]) for rows in loops],
            "compliance": [_flat(np.diag(e.compliance[rows])) for rows in loops],
        }
        masks = {
            "G": [_mask(pattern.G[rows], pattern.G_one[rows]) for rows in sides],
            "compliance": [_mask(np.diag(pattern.compliance[rows]), None) for rows in loops],
        }
    return {
        **({"A": [_flat(np.diag(e.A[rows])) for rows in own]} if geared else {}),
        "M": [_flat(e.M[k]) for k in bodies],
        "H": [_flat(e.S[rows]) for rows in own],
        "pose": [_flat(system.state.R[k]) + _flat(system.state.p[k]) for k in bodies],
        "a": [_flat(e.a[k]) for k in bodies],
        "b": [_flat(e.b[k]) for k in bodies],
        "tau": [_flat(e.tau[rows]) for rows in own],
        **tied,
        "masks": {
            **masks,
            **({"A": [_mask(np.diag(pattern.A[rows]), None) for rows in own]} if geared else {}),
            "M": [_mask(pattern.M[k], None) for k in bodies],
            "H": [_mask(pattern.S[rows], pattern.S_one[rows]) for rows in own],
            "Phi": [_mask(pattern.Phi[k], pattern.Phi_one[k]) for k in bodies],
            "rows": [_rows(e.S[rows]) for rows in own],
        },
    }


def _slices(sizes: list[int]) -> list[slice]:
    """Where parts of these sizes stand, one after another."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def _rows(H: NDArray[Any]) -> list[int]:
    """Rows of a basis of the joint's own forces that are not zero."""
    return list(pivot_rows(H.T)) if len(H) else []


def certified(system: System, tape: Tape, formats: tuple[str, ...] = FORMATS) -> dict[str, Any]:
    """Format -> qdd certified for the data rounded to it; or why there is none.

    To ``BEYOND`` bits more than the format has, of the size that errors are relative to.  One double
    holds them for a format that is shorter; float64 takes the sum of two.
    """
    result: dict[str, Any] = {}
    for name in formats:
        chosen = get_format(name)
        try:
            exact = certify(system, DIGITS, rounded_to=chosen, tape=tape)
        except (CertificationError, FormatError) as error:
            result[name] = {"why": str(error)}
            continue
        zero = np.zeros(len(exact.qdd))
        high = -exact.differences(zero)
        step = float(np.ldexp(chosen.unit, np.frexp(exact.size)[1] - BEYOND))
        result[name] = {"size": exact.size}
        if chosen.unit**2 < DOUBLE:
            result[name] |= {
                "high": _flat(high),
                "low": _flat(step * np.rint(-exact.differences(high) / step)),
            }
        else:
            result[name]["high"] = _flat(step * np.rint(high / step))
    return result


def _flat(x: NDArray[Any]) -> list[float]:
    return [float(value) if value else 0.0 for value in np.ravel(x)]


def _mask(free: NDArray[Any], one: NDArray[Any] | None) -> str:
    code = np.where(free, 2, 0) if one is None else np.where(one, 1, np.where(free, 2, 0))
    return "".join(map(str, code.ravel()))
