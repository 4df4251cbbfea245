"""Compiled passes of the numeric factor of any plan: groups forward, then their unknowns back."""

from __future__ import annotations

from numba import njit

from ..base.compiled import leaf
from .borrowed import borrowed
from .numeric_bracket import back_bracket, bracket
from .numeric_pivots import back_in_tail, pair, right_hand_side, single, solve
from .numeric_storage import enter


@njit(cache=True, nogil=True, error_model="numpy")
def eliminate(of, to, matrix, with_, groups, delayed):  # pragma: no cover
    """Eliminate groups one after another; ``delayed``: a group's entries of (4) enter as it opens.

    Returns the first block whose pivot is zero or not a number, or -1.
    """
    of, to, matrix, with_ = borrowed(of), borrowed(to), borrowed(matrix), borrowed(with_)
    tail, failed = -2, len(of.size)
    for n, g in enumerate(groups):
        t, end, mine = of.group[g], of.group[g + 1], of.task[g]
        for k in range(of.waiting.open[g], of.waiting.open[g + 1]):
            add_up(to, of.waiting.added[k])
        if delayed and not of.tail[t]:
            enter(of, to, matrix, t, end)
        elif delayed and tail != mine:  # the joints that end an order are opened together
            tail = mine
            for other in groups[n:]:
                if of.task[other] == mine:
                    enter(of, to, matrix, of.group[other], of.group[other + 1])
        if of.bracket[g]:
            failed = min(failed, bracket(of, to, with_, g))
            continue
        after = len(of.size) if of.tail[t] else end
        while t < end:
            if of.pivot[t] == 1:
                pair(of, to, with_, after, t)
                t += 2
            else:
                if not single(of, to, with_, after, t):
                    failed = min(failed, t)
                t += 1
    return failed if failed < len(of.size) else -1


@leaf()
def add_up(to, added):  # pragma: no cover
    """Add one partial sum of updates to another: a row of :attr:`.waiting.Waiting.added`."""
    here, width, there, stride = added[2], added[3], added[4], added[5]
    values = to.y if added[6] else to.panels
    for r in range(added[0]):
        for c in range(added[1]):
            values[there + r * stride + c] += values[here + r * width + c]


@njit(cache=True, nogil=True, error_model="numpy")
def back(of, to, with_, groups):  # pragma: no cover
    """Find the unknowns, groups in reverse: x = A^-1 (y - C x_outside)."""
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
