"""Brackets of the numeric factor: the inverse B^-1, then X = B^-1 C, then the update C* X.

B is the group's own block and C its couplings with the outside.  The three steps are those of
:mod:`kkt.program.bracket`, on one dense array of the group's scalars.
"""

from __future__ import annotations

import numpy as np

from ..base.compiled import leaf
from ..structure.ascend import ascend
from .numeric_pivots import BRACKET, copy_block, factor, hand_on, lay_out, right_hand_side, solve


@leaf(error_model="numpy")
def bracket(of, to, with_, g):  # pragma: no cover
    """Eliminate group g; returns its first block whose pivot is bad, or the number of all blocks.

    The inverse N of B grows pivot by pivot.  E are a pivot's couplings with those before it, and
    W = N E*.  A pivot is bad if it is zero or not finite.
    """
    t0, t1 = of.group[g], of.group[g + 1]
    base = of.first[t0]
    n, here = of.first[t1] - base, of.inner[g]
    B, N, z = with_.B, with_.inverse, with_.z
    _own_block(of, to, B, t0, t1)
    failed, t = len(of.size), t0
    while t < t1:
        two = of.pivot[t] == 1
        first, size = of.first[t] - base, of.size[t]
        last = first + size * (1 + two)
        coupled = _meet(of, B, N, t0, t, first, last)
        for i in range(first, last):
            z[i] = to.y[base + i]
            for s in range(t0, t):
                start, end = of.first[s] - base, of.first[s + 1] - base
                if _beside(B, i, start, end):
                    _less(z, i, B, start, end)
        if two:
            _invert_pair(B, N, z, first, size, coupled)
        elif not _invert(B, N, z, with_.D, with_.h, first, size, coupled):
            failed = min(failed, t)
        if coupled:
            for i in range(first):
                for j in range(first, last, size):
                    _less(z, i, B, j, j + size)
        t += 1 + two
    for i in range(n):
        for j in range(n):
            to.brackets[here + i * n + j] = B[i, j]
    if _ends(of, t0, t1):
        for i in range(n):
            to.x[base + i] = z[i]
    else:
        _hand_on(of, to, with_, t0, t1, g)
    return failed


@leaf()
def _ends(of, t0, t1):  # pragma: no cover
    """Whether a group has no outside coupling: then its unknowns are known once B is inverted."""
    for t in range(t0, t1):
        last = of.pointer[t + 1] - 1
        if last >= of.pointer[t] and of.later[last] >= t1:  # columns ascend
            return False
    return True


@leaf()
def _own_block(of, to, B, t0, t1):  # pragma: no cover
    """The group's square block, both triangles."""
    base = of.first[t0]
    n = of.first[t1] - base
    for i in range(n):
        for j in range(n):
            B[i, j] = 0.0
    for t in range(t0, t1):
        row, size = of.first[t] - base, of.size[t]
        for r in range(size):
            for c in range(r, size):
                value = to.panels[of.panel[t] + r * size + c]
                B[row + r, row + c] = B[row + c, row + r] = value
        here, width = of.panel[t] + size * size, of.width[t]
        for e in range(of.pointer[t], of.pointer[t + 1]):
            j = of.later[e]
            if j >= t1:
                break
            column = of.first[j] - base
            for r in range(size):
                for c in range(of.size[j]):
                    value = to.panels[here + r * width + of.start[e] + c]
                    B[row + r, column + c] = B[column + c, row + r] = value


@leaf()
def _less(x, i, B, first, last):  # pragma: no cover
    """Subtract from x_i row i of B times x, in columns first to last - 1, summed before."""
    total = 0.0
    for j in range(first, last):
        total += B[i, j] * x[j]
    x[i] -= total


@leaf()
def _beside(B, i, first, last):  # pragma: no cover
    """Whether row i of B has a nonzero in columns first to last - 1."""
    found = False
    for j in range(first, last):
        found |= B[i, j] != 0.0
    return found


@leaf()
def _meet(of, B, N, t0, t, first, last):  # pragma: no cover
    """Put W = N E* above the pivot in B and subtract E W from the pivot's block, block by block.

    N is the inverse of the pivots before; returns whether the pivot is coupled with any of them.
    """
    coupled, base = False, of.first[t0]
    for b in range(first, last):
        for i in range(first):
            B[i, b] = 0.0
        for s in range(t0, t):
            start, end = of.first[s] - base, of.first[s + 1] - base
            if _beside(B, b, start, end):
                coupled = True
                for i in range(first):
                    total = 0.0
                    for j in range(start, end):
                        total += N[i, j] * B[b, j]
                    B[i, b] += total
    if coupled:
        for b in range(first, last):
            for s in range(t0, t):
                start, end = of.first[s] - base, of.first[s + 1] - base
                if _beside(B, b, start, end):
                    for c in range(b, last):
                        total = 0.0
                        for j in range(start, end):
                            total += B[b, j] * B[j, c]
                        B[b, c] -= total
            for c in range(b, last):
                B[c, b] = B[b, c]
    return coupled


@leaf()
def _invert_pair(B, N, z, first, size, coupled):  # pragma: no cover
    """Extend N by the border of the pair [[X, 1], [1, 0]]; its z becomes A^-1 z, A the pair."""
    x, last = first + size, first + 2 * size
    for i in range(first, last):
        for j in range(last):
            N[i, j] = N[j, i] = 0.0
    for i in range(size):
        N[first + i, x + i] = N[x + i, first + i] = 1.0
        for j in range(size):
            N[x + i, x + j] = -B[first + i, first + j]
    if coupled:  # solved = A^-1 W*: rows x take W_z*, rows z take W_x* - X W_z*
        for j in range(first):
            for r in range(size):
                total = 0.0
                for c in range(size):
                    total += B[first + r, first + c] * B[j, x + c]
                N[first + r, j] = B[j, x + r]
                N[x + r, j] = B[j, first + r] - total
        for i in range(first):
            for j in range(i, first):
                total = 0.0
                for r in range(first, last):
                    total += B[i, r] * N[r, j]
                N[i, j] += total
                N[j, i] = N[i, j]
        for j in range(first):
            for r in range(first, last):
                N[r, j] = -N[r, j]
                N[j, r] = N[r, j]
    _through_pair(B, z, first, size)


@leaf()
def _through_pair(B, v, first, size):  # pragma: no cover
    """[v_x, v_z] becomes [v_z, v_x - X v_z], the inverse of [[X, 1], [1, 0]] times it."""
    z = first + size
    for r in range(size):
        total = 0.0
        for c in range(size):
            total += B[first + r, first + c] * v[z + c]
        v[first + r] -= total
    for r in range(size):
        v[first + r], v[z + r] = v[z + r], v[first + r]


@leaf(error_model="numpy")
def _invert(B, N, z, D, row, first, size, coupled):  # pragma: no cover
    """Extend N by the border of a square block A, factored L D L*; its z becomes A^-1 z."""
    last = first + size
    for i in range(size):
        for j in range(size):
            D[i, j] = B[first + i, first + j]
    good = factor(D, size)
    solve(D, size, z, first)
    for i in range(size):
        for j in range(size):
            B[first + i, first + j] = D[i, j]
    for i in range(first, last):
        for j in range(last):
            N[i, j] = N[j, i] = 1.0 if i == j else 0.0
    if coupled:
        for j in range(first):  # rows of the pivot: L^-1 W*, then its update, then A^-1 W*
            for r in range(size):
                N[first + r, j] = B[j, first + r]
            for k in range(size):
                scaled = N[first + k, j] / D[k, k]
                for r in range(k + 1, size):
                    N[first + r, j] -= D[r, k] * scaled
        for i in range(first):
            for j in range(i, first):
                row[j] = 0.0
            for k in range(size):
                value = N[first + k, i]
                for j in range(i, first):
                    row[j] += (value * N[first + k, j]) / D[k, k]
            for j in range(i, first):
                N[i, j] += row[j]
                N[j, i] = N[i, j]
        for j in range(first):
            for k in range(size - 1, -1, -1):
                for r in range(k + 1, size):
                    N[first + k, j] -= D[r, k] * N[first + r, j]
                N[first + k, j] /= D[k, k]
            for r in range(first, last):
                N[r, j] = -N[r, j]
                N[j, r] = N[r, j]
    for j in range(first, last):
        for k in range(size - 1):
            scaled = N[first + k, j] / D[k, k]
            for r in range(k + 1, size):
                N[first + r, j] -= D[r, k] * scaled
        for k in range(size - 1, -1, -1):
            for r in range(k + 1, size):
                N[first + k, j] -= D[r, k] * N[first + r, j]
            N[first + k, j] /= D[k, k]
    return good


@leaf()
def _hand_on(of, to, with_, t0, t1, g):  # pragma: no cover
    """X = N C for rows that are coupled to the outside; update C* X, right-hand side C* z."""
    P, Q, h, N, at, mark = with_.P, with_.Q, with_.h, with_.inverse, with_.at, with_.mark
    outside, base, count = with_.outside, of.first[t0], np.int64(0)
    for t in range(t0, t1):
        for e in range(of.pointer[t], of.pointer[t + 1]):
            j = of.later[e]
            if j >= t1 and mark[j] != g:
                mark[j] = g
                outside[count] = j
                count += 1
    ascend(outside, np.int64(0), count)
    lay_out(of, with_, count)
    rows, active = np.int64(0), with_.active
    for t in range(t0, t1):
        last = of.pointer[t + 1] - 1
        if last < of.pointer[t] or of.later[last] < t1:  # columns ascend
            continue
        size, a = of.size[t], 0
        for r in range(rows, rows + size):
            active[r] = of.first[t] - base + r - rows
            h[r] = with_.z[active[r]]
            for c in range(at[count]):
                P[r, c] = 0.0
        here, width = of.panel[t] + size * size, of.width[t]
        for e in range(of.pointer[t], of.pointer[t + 1]):
            j = of.later[e]
            if j >= t1:
                while outside[a] < j:
                    a += 1
                copy_block(to.panels, here + of.start[e], width, size, of.size[j], P, rows, at[a])
        rows += size
    for i in range(rows):
        for c in range(at[count]):
            Q[i, c] = 0.0
        for j in range(rows):
            value = N[active[i], active[j]]
            if value != 0.0:
                for c in range(at[count]):
                    Q[i, c] += value * P[j, c]
    hand_on(of, to, with_, t0, t1, count, rows, BRACKET)


@leaf(error_model="numpy")
def back_bracket(of, to, with_, g):  # pragma: no cover
    """x = B^-1 (y - C x_outside), pivot by pivot: s = A^-1 (right - W* right before), x -= W s."""
    t0, t1, here = of.group[g], of.group[g + 1], of.inner[g]
    if _ends(of, t0, t1):
        return
    base, right, now, D = of.first[t0], with_.h, with_.z, with_.D
    n = of.first[t1] - base
    B = to.brackets[here : here + n * n].reshape(n, n)
    right_hand_side(of, to, t0, t1, t1)
    for i in range(n):
        right[i] = to.x[base + i]
    t = t0
    while t < t1:
        two = of.pivot[t] == 1
        first, size = of.first[t] - base, of.size[t]
        last = first + size * (1 + two)
        for i in range(first, last):
            now[i] = right[i]
            for s in range(t0, t):
                total = 0.0
                for j in range(of.first[s] - base, of.first[s + 1] - base):
                    total += B[j, i] * right[j]
                now[i] -= total
        if two:
            _through_pair(B, now, first, size)
        else:
            for i in range(size):
                for j in range(size):
                    D[i, j] = B[first + i, first + j]
            solve(D, size, now, first)
        for i in range(first):
            for j in range(first, last, size):
                _less(now, i, B, j, j + size)
        t += 1 + two
    for i in range(n):
        to.x[base + i] = now[i]
