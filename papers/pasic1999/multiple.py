"""Sections 4.4 and 5: multiple shooting and the new method, damped, from the straight line.

The paper's shooting solves [0, 1] and diverges beyond.  Neither its guess nor its damping is
printed.  Here both methods start from the straight line, and a step of Newton's is halved until the
residual falls.  What converges depends on the number of subdomains.
"""

from __future__ import annotations

import numpy as np

from ..item import Progress, Results, above, each, printed, value
from ..measures import Floats
from .arm import PAPER, Pair
from .matching import Matching, newton, straight
from .multiple_shooting import Shooting
from .references import reached

OWN = 1e-2  # [rad/s] of Theta'(0) up to which a solution is the initial value problem's
LONGER = 2.0  # [s], on which the paper tried several numbers of subdomains


def measure(
    progress: Progress,
    *,
    ends: Pair = (1.0, 1.5, LONGER),
    subdomains: tuple[int, ...] = (10, 15, 20, 30, 40),
    s: int = 3,
    step: float = 0.005,
    order: str = "abm",
) -> Results:
    """The paper's 20 subdomains, and ``subdomains`` on [0, 2]; ``step`` [s] is that of Runge-Kutta."""
    above("s", ends=ends, step=step)
    each("subdomains", subdomains, 3)
    ours, zero = PAPER.accelerations(order), np.zeros(2)
    said = printed("pasic1999")["figure6"]

    def matched(e: float, n: int, b: Floats) -> tuple[str, bool]:
        progress(f"[0, {e:g}], {n} subdomains")
        found = newton(Matching(ours, np.linspace(0.0, e, n + 1), s), straight(zero, b, n), 60, damped=True)
        slope = found.local.left[0] if found.converged and found.local is not None else None
        return _told(slope, len(found.norms))

    for e in ends:
        progress(f"[0, {e:g}], multiple shooting")
        n, b = said["subdomains"], reached(PAPER.closed_form, e, zero, zero)
        shot = Shooting(ours, np.linspace(0.0, e, n + 1), zero, b, step).newton()
        told, own = _told(None if shot.y is None else shot.y[0, 2:], len(shot.norms))
        if e <= said["end"]:
            yield value("shooting", told, own, e=f"{e:g}", n=n)
            told, own = matched(e, n, b)
            yield value("new", told, own, e=f"{e:g}", n=n)
        else:
            yield value("shooting_longer", told, shot.y is None, e=f"{e:g}", n=n)
        if e == LONGER:
            tries = [matched(e, n, b)[0] for n in subdomains]
            told = "; ".join(f"{n}: {one}" for n, one in zip(subdomains, tries, strict=True))
            yield value("new_longer", told, all(one.startswith("fails") for one in tries), e=f"{e:g}")


def _told(slope: Floats | None, count: int) -> tuple[str, bool]:
    """What became of a try, by its Theta'(0), and whether it is the initial value problem's."""
    if slope is None:
        return f"fails after {count}", False
    own = bool(np.max(np.abs(slope)) < OWN)
    which = "the IVP's" if own else "another solution"
    return f"{which} in {count}", own
