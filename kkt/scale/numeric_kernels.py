"""Compiled passes of the numeric factor of any plan: groups forward, then their unknowns back."""

from __future__ import annotations

from numba import njit

from .borrowed import borrowed
from .numeric_bracket import back_bracket, bracket
from .numeric_pivots import back_in_tail, border_width, pair, right_hand_side, single, solve
from .numeric_storage import enter


@njit(cache=True, nogil=True, error_model="numpy")
def eliminate(of, to, matrix, with_, groups, delayed):  # pragma: no cover
    """Groups one after another; ``delayed``: the matrix's own entries are added when one opens.

    Returns the first block whose pivot is zero or not a number, or -1.
    """
    of, to, matrix, with_ = borrowed(of), borrowed(to), borrowed(matrix), borrowed(with_)
    from_, tail, failed = -2, -2, len(of.size)
    for n, g in enumerate(groups):
        t, end = of.group[g], of.group[g + 1]
        mine = of.task[t]
        if mine >= 0 and mine != from_:
            from_, column = mine, 0
            for e in range(of.border[mine], of.border[mine + 1]):
                with_.local[of.outside[e]] = column
                column += of.size[of.outside[e]]
        if delayed and not of.tail[t]:
            enter(of, to, matrix, t, end)
        elif delayed and tail != mine:  # the joints that end an order are opened together
            tail = mine
            for other in groups[n:]:
                if of.task[of.group[other]] == mine:
                    enter(of, to, matrix, of.group[other], of.group[other + 1])
        if of.bracket[g]:
            bad = bracket(of, to, with_, mine, g)
            failed = min(failed, bad)
            continue
        while t < end:
            if of.pivot[t] == 1:
                pair(of, to, with_, mine, t)
                t += 2
            else:
                if not single(of, to, with_, mine, t):
                    failed = min(failed, t)
                t += 1
    return failed if failed < len(of.size) else -1


@njit(cache=True, nogil=True)
def gather_border(of, to, mine):  # pragma: no cover
    """Add to the top what a subtree has handed on."""
    first, end = of.border[mine], of.border[mine + 1]
    m, here = border_width(of, mine), of.left[mine]
    row = 0
    for a in range(first, end):
        i = of.outside[a]
        size, square = of.size[i], of.panel[i]
        for r in range(size):
            to.y[of.first[i] + r] += to.left[here + m * m + row + r]
            for c in range(r, size):
                to.panels[square + r * size + c] += to.left[here + (row + r) * m + row + c]
        e, column = of.pointer[i], row + size
        for b in range(a + 1, end):
            j = of.outside[b]
            while e < of.pointer[i + 1] and of.later[e] < j:
                e += 1
            if e < of.pointer[i + 1] and of.later[e] == j:
                for r in range(size):
                    place = square + size * size + r * of.width[i] + of.start[e]
                    for c in range(of.size[j]):
                        to.panels[place + c] += to.left[here + (row + r) * m + column + c]
            column += of.size[j]
        row += size


@njit(cache=True, nogil=True, error_model="numpy")
def back(of, to, with_, groups):  # pragma: no cover
    """Unknowns, groups in reverse: x = A^-1 (y - C x_outside)."""
    of, to, with_ = borrowed(of), borrowed(to), borrowed(with_)
    D = with_.D
    for n in range(len(groups) - 1, -1, -1):
        g = groups[n]
        first, end = of.group[g], of.group[g + 1]
        if of.bracket[g]:
            back_bracket(of, to, with_, g)
            continue
        t = end - 1
        while t >= first:
            two = of.pivot[t] == 2
            t -= two
            if of.tail[t]:
                back_in_tail(of, to, t)
                t -= 1
                continue
            size, x = of.size[t], of.first[t]
            right_hand_side(of, to, t, t + 1 + two, t + 1 + two)
            if two:
                z, X = of.first[t + 1], of.panel[t]
                for r in range(size):
                    total = 0.0
                    for j in range(size):
                        total += to.panels[X + r * size + j] * to.x[z + j]
                    with_.z[r] = to.x[x + r] - total
                for r in range(size):
                    to.x[x + r], to.x[z + r] = to.x[z + r], with_.z[r]
            else:
                for i in range(size):
                    for j in range(size):
                        D[i, j] = to.panels[of.panel[t] + i * size + j]
                solve(D, size, to.x, x)
            t -= 1
