"""Pivots of single blocks and of pairs in the numeric factor, and the update of any pivot.

A single block, a pair or a bracket (:mod:`.numeric_bracket`) copies its couplings with the outside
blocks into P (rows, m), one outside block's columns beside another's.  :func:`hand_on` then forms
the update from them and subtracts it from the panels of the outside blocks.  Products and sums are
those of :mod:`kkt.program.pivot`, in its order, without fused multiply-add; zeros of P (half of
Phi) are skipped.  Arguments: ``of`` Layout, ``to`` Storage, ``with_`` Scratch, and ``end``, the
first block whose updates may wait (:mod:`.waiting`): the one after the pivot's group, or, for the
joints that end an order, the number of all blocks.
"""

from __future__ import annotations

import numpy as np

from ..base.compiled import leaf

# Forms of an update.  BRACKET: P* Q.  SQUARE: the terms (p* p)/d of a block, summed first.  TAIL:
# the same terms, subtracted one by one (joints that end an order).  PAIR: three products, see _row.
# ALONE: a pair whose second block has no outside coupling, so that only y changes.
BRACKET, SQUARE, TAIL, PAIR, ALONE = range(5)


@leaf(error_model="numpy")
def factor(D, n):  # pragma: no cover
    """L D L* in place, by updates (c c*)/d; columns below d are not divided by it.

    Returns False where a d is zero or not finite.
    """
    good = True
    for k in range(n):
        good &= D[k, k] != 0.0 and np.isfinite(D[k, k])
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                D[i, j] -= (D[i, k] * D[j, k]) / D[k, k]
    return good


@leaf(error_model="numpy")
def solve(D, n, x, at):  # pragma: no cover
    """x[at : at + n] becomes D^-1 x."""
    for j in range(n - 1):
        scaled = x[at + j] / D[j, j]
        for i in range(j + 1, n):
            x[at + i] -= D[i, j] * scaled
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            x[at + j] -= D[i, j] * x[at + i]
        x[at + j] /= D[j, j]


@leaf(error_model="numpy")
def hand_on(of, to, with_, t, end, count, rows, form):  # pragma: no cover
    """Subtract the update of pivot t from the panels (upper triangle) and from y.

    The pivot's ``count`` outside blocks are in ``with_.outside``, their first columns in P in
    ``with_.at``, and P has ``rows`` rows.  An entry whose updates wait has a place of its own: the
    places of a pivot's updates stand in ``wait.place`` from ``wait.update[t]`` on, in the order of
    the loops below (:func:`.waiting._pairs` lists them), and ``place`` is the next one.
    """
    row, outside, at, where, stride = with_.row, with_.outside, with_.at, with_.where, with_.stride
    m, values, wait = at[count], to.panels, of.waiting
    further, place = of.panel[len(of.size)], wait.update[t]
    turns = rows if form == TAIL else 1  # the terms one by one, or their sum at once
    for turn in range(turns):
        _right(with_, rows, turn, m, form)
        place = wait.update[t]
        for a in range(count):
            i = outside[a]
            shift = of.first[i] - at[a]
            if i >= end and wait.several[i]:
                shift, place = wait.place[place] - at[a], place + 1
            for c in range(at[a], at[a + 1]):
                to.y[shift + c] -= row[c]
    if form == ALONE:
        return
    for a in range(count):  # block row of the update: its diagonal block, then those right of it
        i = outside[a]
        size, square = of.size[i], of.panel[i]
        _find(of, i, with_, a, count)  # into where and stride: the couplings in the panel of i
        if i >= end and wait.several[i]:
            square, place = wait.place[place], place + 1
            for b in range(a + 1, count):
                if wait.several[outside[b]]:
                    where[b], place = wait.place[place], place + 1
                    if where[b] >= further:  # a further place has no other columns beside it
                        stride[b] = of.size[outside[b]]
        for r in range(size):
            c0 = at[a] + r
            for turn in range(turns):
                _row(with_, rows, turn, a, c0, count, form)
                shift = square + r * size - at[a]
                for c in range(c0, at[a + 1]):
                    values[shift + c] -= row[c]
                for b in range(a + 1, count):
                    if where[b] >= 0:
                        shift = where[b] + r * stride[b] - at[b]
                        for c in range(at[b], at[b + 1]):
                            values[shift + c] -= row[c]


@leaf(error_model="numpy")
def _right(with_, rows, turn, m, form):  # pragma: no cover
    """Into ``row``: the update of y for all m columns, by the formula of the pivot's form."""
    P, h, D, row, more = with_.P, with_.h, with_.D, with_.row, with_.more
    first, last = (turn, turn + 1) if form == TAIL else (0, rows)
    for c in range(m):
        row[c] = more[c] = 0.0
    for k in range(first, last):
        if form == SQUARE:
            for c in range(m):
                row[c] += (P[k, c] * h[k]) / D[k, k]
        elif form == TAIL:
            scaled = h[k] / D[k, k]
            for c in range(m):
                row[c] += P[k, c] * scaled
        elif form == PAIR and 2 * k >= rows:
            for c in range(m):
                more[c] += P[k, c] * h[k]
        else:
            for c in range(m):
                row[c] += P[k, c] * h[k]
    if form == PAIR:
        for c in range(m):
            row[c] += more[c]


@leaf(error_model="numpy")
def _row(with_, rows, turn, a, c0, count, form):  # pragma: no cover
    """Into ``row``: row c0 of the update, from its diagonal entry on."""
    P, Q, D, row, more, at = with_.P, with_.Q, with_.D, with_.row, with_.more, with_.at
    m, half = at[count], rows // 2
    first, last = (turn, turn + 1) if form == TAIL else (0, rows)
    for c in range(c0, m):
        row[c] = more[c] = 0.0
    if form == BRACKET:
        for k in range(rows):
            p = P[k, c0]
            if p != 0.0:
                for c in range(c0, m):
                    row[c] += p * Q[k, c]
        return
    if form != PAIR:
        for k in range(first, last):
            p = P[k, c0]
            if p != 0.0:
                for c in range(c0, m):
                    row[c] += (p * P[k, c]) / D[k, k]
        return
    own = at[a + 1]
    # a pair's update is C_x* C_z + C_z* C_x - C_z* X C_z; P and Q are as in :func:`pair`
    for c in range(c0, own):  # the diagonal block: a product, its transpose, less the square
        square = 0.0
        for k in range(half):
            row[c] += P[k, c0] * P[half + k, c]
            more[c] += P[k, c] * P[half + k, c0]
            square += P[half + k, c0] * Q[k, c]
        row[c] = (row[c] + more[c]) - square
    wide = own - at[a]
    for b in range(a + 1, count):  # X is multiplied with the narrower of the two couplings
        start, end = at[b], at[b + 1]
        swap = end - start > wide
        for k in range(half):
            p, q = P[k, c0], P[half + k, c0]
            if swap:
                x = Q[half + k, c0]
                for c in range(start, end):
                    row[c] += P[k, c] * q
                    more[c] += P[half + k, c] * x
            else:
                for c in range(start, end):
                    row[c] += p * P[half + k, c]
                    more[c] += q * Q[half + k, c]
        for c in range(start, end):
            row[c] += more[c]


@leaf()
def _find(of, i, with_, a, count):  # pragma: no cover
    """Into ``where``, ``stride``: couplings of i with outside blocks after a, -1 without one."""
    e, end, beside = of.pointer[i], of.pointer[i + 1], of.panel[i] + of.size[i] * of.size[i]
    for b in range(a + 1, count):
        j = with_.outside[b]
        while e < end and of.later[e] < j:
            e += 1
        with_.where[b] = beside + of.start[e] if e < end and of.later[e] == j else -1
        with_.stride[b] = of.width[i]


@leaf()
def lay_out(of, with_, count):  # pragma: no cover
    """Into ``with_.at``: the first column of each outside block, side by side."""
    with_.at[0] = 0
    for a in range(count):
        with_.at[a + 1] = with_.at[a] + of.size[with_.outside[a]]


@leaf()
def copy_block(panels, here, width, rows, columns, target, row, column):  # pragma: no cover
    """Copy the coupling that starts at ``here`` in the panels into target[row:, column:]."""
    for r in range(rows):
        for c in range(columns):
            target[row + r, column + c] = panels[here + r * width + c]


@leaf(error_model="numpy")
def single(of, to, with_, end, t):  # pragma: no cover
    """Eliminate a single block, factored L D L*, with P = L^-1 C.

    Returns False where a scalar pivot is zero or not finite.
    """
    size, square, D = of.size[t], of.panel[t], with_.D
    for i in range(size):
        for j in range(i, size):
            D[i, j] = D[j, i] = to.panels[square + i * size + j]
    good = factor(D, size)
    for i in range(size):
        for j in range(size):
            to.panels[square + i * size + j] = D[i, j]
    count = of.pointer[t + 1] - of.pointer[t]
    if not count:
        return good
    for i in range(count):
        with_.outside[i] = of.later[of.pointer[t] + i]
    lay_out(of, with_, count)
    P, Q, h, m, first = with_.P, with_.Q, with_.h, of.width[t], of.first[t]
    here = square + size * size
    for k in range(size):
        for c in range(m):
            P[k, c] = to.panels[here + k * m + c]
        h[k] = to.y[first + k]
    for j in range(size - 1):
        for c in range(m):
            Q[j, c] = P[j, c] / D[j, j]
        scaled = h[j] / D[j, j]
        for i in range(j + 1, size):
            for c in range(m):
                P[i, c] -= (D[i, j] * P[j, c]) / D[j, j] if of.tail[t] else D[i, j] * Q[j, c]
            h[i] -= D[i, j] * scaled
    if of.tail[t]:
        for k in range(size):
            for c in range(m):
                to.panels[here + k * m + c] = P[k, c]
    hand_on(of, to, with_, t, end, count, size, TAIL if of.tail[t] else SQUARE)
    return good


@leaf()
def pair(of, to, with_, end, t):  # pragma: no cover
    """Eliminate the pair [[X, 1], [1, 0]] of blocks t (x) and t + 1 (z).

    C_x and C_z are their couplings with the outside: P = [C_x; C_z], Q = [X C_z; C_x - X C_z].
    """
    size, z = of.size[t], t + 1
    ex, ez, x_end, z_end = of.pointer[t], of.pointer[z], of.pointer[z], of.pointer[z + 1]
    coupled = z_end > ez
    P, Q, h = with_.P, with_.Q, with_.h
    none = count = column = np.int64(0)  # typed: numba compiles calls with literals anew
    with_.at[0] = 0
    while ex < x_end or ez < z_end:  # both lists ascend
        a = of.later[ex] if ex < x_end else len(of.size)
        b = of.later[ez] if ez < z_end else len(of.size)
        if a == z:
            ex += 1
            continue
        o = min(a, b)
        for r in range(2 * size):
            for c in range(of.size[o]):
                P[r, column + c] = 0.0
        if a == o:
            here = of.panel[t] + size * size + of.start[ex]
            copy_block(to.panels, here, of.width[t], size, of.size[o], P, none, column)
        if b == o:
            here = of.panel[z] + size * size + of.start[ez]
            copy_block(to.panels, here, of.width[z], size, of.size[o], P, size, column)
        ex += a == o
        ez += b == o
        with_.outside[count] = o
        column += of.size[o]
        count += 1
        with_.at[count] = column
    X, y = of.panel[t], to.y
    for r in range(size):
        for c in range(r):
            to.panels[X + r * size + c] = to.panels[X + c * size + r]
    for r in range(size):
        h[r] = y[of.first[z] + r]
        total = 0.0
        for j in range(size):
            total += to.panels[X + r * size + j] * y[of.first[z] + j]
        h[size + r] = y[of.first[t] + r] - total
        if coupled:
            for c in range(column):
                Q[r, c] = 0.0
            for j in range(size):
                value = to.panels[X + r * size + j]
                if value != 0.0:
                    for c in range(column):
                        Q[r, c] += value * P[size + j, c]
            for c in range(column):
                Q[size + r, c] = P[r, c] - Q[r, c]
    if count:
        hand_on(of, to, with_, t, end, count, 2 * size if coupled else size, PAIR if coupled else ALONE)


@leaf(error_model="numpy")
def back_in_tail(of, to, t):  # pragma: no cover
    """Back substitution for block t of the joints that end an order, whose L D L* is one."""
    size, first, width, square = of.size[t], of.first[t], of.width[t], of.panel[t]
    for i in range(size):
        to.x[first + i] = to.y[first + i]
    for j in range(size - 1):
        scaled = to.x[first + j] / to.panels[square + j * size + j]
        for i in range(j + 1, size):
            to.x[first + i] -= to.panels[square + i * size + j] * scaled
    for j in range(size - 1, -1, -1):
        x = to.x[first + j]
        for i in range(j + 1, size):
            x -= to.panels[square + i * size + j] * to.x[first + i]
        for e in range(of.pointer[t], of.pointer[t + 1]):
            here, later = square + size * size + j * width + of.start[e], of.first[of.later[e]]
            for c in range(of.size[of.later[e]]):
                x -= to.panels[here + c] * to.x[later + c]
        to.x[first + j] = x / to.panels[square + j * size + j]


@leaf()
def right_hand_side(of, to, t0, t1, after):  # pragma: no cover
    """x of blocks t0 to t1 - 1 becomes y - C x, C their couplings with blocks from ``after`` on."""
    panels, x, y = to.panels, to.x, to.y
    for t in range(t0, t1):
        size, first, width = of.size[t], of.first[t], of.width[t]
        beside = of.panel[t] + size * size
        for r in range(size):
            x[first + r] = y[first + r]
        for e in range(of.pointer[t], of.pointer[t + 1]):
            j = of.later[e]
            if j >= after:
                for r in range(size):
                    here, total = beside + r * width + of.start[e], 0.0
                    for c in range(of.size[j]):
                        total += panels[here + c] * x[of.first[j] + c]
                    x[first + r] -= total
