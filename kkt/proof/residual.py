"""The residual of equation (4), row by row, for any number type, and the backward error it is.

It is computed from the blocks of (4) themselves, not from a program, so that an error in tracing
or lowering, which every number type would share, cannot hide from it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.blocks import Block
from ..matrix.entries import RIGHT_HAND_SIDE, Entries
from ..matrix.system import System
from ..model.spatial import matvec, transpose
from ..tape.tape import BackwardError, Unknowns


def residual(system: System, entries: Entries, solution: dict[Block, Any]) -> dict[Block, NDArray[Any]]:
    """A x - b of every block row, named by the block that stands on its diagonal.

    ``solution`` holds pdd (6,), qdd (N_k,) and f (6,) of every body, lam (m,) of every loop.
    """
    names, offset = system.tree.names, system.tree.offset
    force, effort, motion, closed = rows_of(system, entries, Unknowns.of(system, solution), -1)
    rows = {Block("pdd", b): force[k] for k, b in enumerate(names)}
    rows |= {Block("f", b): motion[k] for k, b in enumerate(names)}
    for k, b in enumerate(names):
        if offset[k] < offset[k + 1]:
            rows[Block("qdd", b)] = effort[offset[k] : offset[k + 1]]
    first = 0
    for tie in system.structure.ties:
        rows[Block("lam", tie.name)] = closed[first : first + tie.rows]
        first += tie.rows
    return rows


def rows_of(system: System, e: Entries, x: Unknowns, minus: int) -> Unknowns:
    """Rows pdd, qdd, f, lam of A x - b, with ``minus`` -1; states may stand in front of all arrays.

    With ``minus`` 1 whatever (4) subtracts is added: of magnitudes this is |A| |x| + |b|.
    """
    pdd, qdd, f, lam = x
    parent, offset = system.tree.parent, system.tree.offset
    force = matvec(e.M, pdd) + f + minus * e.b
    motion = pdd + e.a
    inner = np.flatnonzero(parent >= 0)
    if inner.size:
        up, Phi = parent[inner], e.Phi[..., inner, :, :]
        motion[..., inner, :] = motion[..., inner, :] + minus * matvec(transpose(Phi), pdd[..., up, :])
        rows: Any = (..., up, slice(None))
        np.add.at(force, rows, minus * matvec(Phi, f[..., inner, :]))
    owner = np.repeat(np.arange(len(parent)), np.diff(offset))
    effort = minus * e.tau
    if len(owner):
        moved: Any = (..., owner, slice(None))
        np.add.at(motion, moved, e.S * qdd[..., None])
        effort = matvec(e.S[..., None, :], f[..., owner, :])[..., 0] + effort
        if e.A.size:
            effort = effort + e.A * qdd
    closed = e.gamma + minus * e.compliance * lam
    first = side = 0
    for tie in system.structure.ties:
        own = slice(first, first + tie.rows)
        for k, sign in zip(tie.bodies, tie.signs, strict=True):
            G = e.G[..., side : side + tie.rows, :] * (1 if minus > 0 else sign)
            closed[..., own] = closed[..., own] + matvec(G, pdd[..., k, :])
            force[..., k, :] = force[..., k, :] + matvec(transpose(G), lam[..., own])
            side += tie.rows
        first += tie.rows
    return Unknowns(force, effort, motion, closed)


def backward_error(system: System, entries: Entries, x: Unknowns, digits: Any = None) -> BackwardError:
    """How far (4) must be moved for ``x`` to solve it; arrays of a type with digits to spare.

    ``digits`` is a type of numpy's to reckon in.  Of balls both are upper bounds: no less than
    those of any answer in ``x``.

    Normwise: max |A x - b| / (max row sum of |A| times max |x| + max |b|) (Rigal & Gaches 1967).
    Componentwise: the largest ratio of a row of |A x - b| and of |A| |x| + |b| (Oettli & Prager
    1964).
    """
    if digits is not None:
        given = (np.asarray(getattr(entries, letter.name), digits) for letter in fields(entries))
        entries = Entries(*given)
        x = Unknowns(*(np.asarray(part, digits) for part in x))
    left, sizes = _left(system, entries, x), _magnitudes(entries)
    size = [_balls(part, "abs_lower") for part in rows_of(system, sizes, Unknowns(*map(np.abs, x)), 1)]
    worst = 0.0
    for r, s in zip(left, size, strict=True):
        r, s = r.ravel(), s.ravel()
        kept = s > 0
        worst = max(worst, float(np.max(r[kept] / s[kept], initial=0)))
        worst = np.inf if (r[~kept] > 0).any() else worst
    return BackwardError(_normwise(system, sizes, x, left), worst)


def residue(system: System, entries: Entries, x: Unknowns) -> float:
    """max |A x - b| / max |x|: no less than the normwise backward error, and found with less work.

    Every acceleration's row holds a force once as it is, so that no norm of A is below 1.
    """
    return float(_largest(_left(system, entries, x)) / _largest(x))


def _left(system: System, entries: Entries, x: Unknowns) -> list[NDArray[Any]]:
    return [_balls(np.abs(part), "abs_upper") for part in rows_of(system, entries, x, -1)]


def _magnitudes(entries: Entries) -> Entries:
    return Entries(*(np.abs(getattr(entries, letter.name)) for letter in fields(entries)))


def _normwise(system: System, sizes: Entries, x: Unknowns, left: list[NDArray[Any]]) -> float:
    none = replace(sizes, **{letter: np.zeros_like(getattr(sizes, letter)) for letter in RIGHT_HAND_SIDE})
    norm = _largest(rows_of(system, none, Unknowns(*map(np.ones_like, x)), 1))
    scale = norm * _largest(x) + _largest([getattr(sizes, letter) for letter in RIGHT_HAND_SIDE])
    scale = _balls(np.array([scale]), "abs_lower")[0]
    return float(_largest(left) / scale) if scale else 0.0


def _balls(x: NDArray[Any], bound: str) -> NDArray[Any]:
    """A bound of balls, abs_upper or abs_lower; numbers of other types as they are."""
    if x.dtype != object or not x.size or not hasattr(x.flat[0], bound):
        return x
    return np.array([*(getattr(y, bound)() for y in x.flat), None])[:-1].reshape(x.shape)


def _largest(arrays: Any) -> Any:
    """Largest magnitude of all; not a number where one is none."""
    parts = [np.abs(part).ravel() for part in arrays]
    return np.max(np.concatenate(parts), initial=0)
