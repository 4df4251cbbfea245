"""The forward-dynamics test program (section 5.1.2): two links, theta_2 turned once around.

Figures 5.3 to 5.5 and 5.7: l_1 = m_1 = 1, l_2 = m_2 larger, link 2 being the tip (the thesis numbers
from the base), at rest, theta_1 = 0, gravity 9.8, double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..item import Progress, Results, between, picture, printed, value
from ..measures import Curves, Floats, condition
from .robot import GRAVITY, two_links
from .simulator import BIAS, kernel

DIGITS = 50  # of the closed form
UNIT = 2.0**-53
METHODS = {  # of Figure 5.4
    "ABM": ("ABM", "cholesky", "propagated"),
    "ABM, bias apart": ("ABM", "cholesky", BIAS),
    "CRBM": ("CRBM", "cholesky", BIAS),
    "CRBM, LU": ("CRBM", "lu", BIAS),
}
SLOPES = {"ABM": (0.0, 0.1), "ABM, bias apart": (0.5, 0.05), "CRBM": (1.0, 0.05)}
ROUGH = {name: (name, "cholesky", BIAS) for name in ("ABM", "bad ABM", "CRBM")}  # of Figure 5.7


@dataclass(frozen=True)
class Sweep(Curves):
    """Joint 1's accelerations at rest over m angles of joint 2, theta_1 = 0, gravity 9.8, no torques."""

    second: float  # l_2 = m_2; l_1 = m_1 = 1
    joint2: dict[str, Floats]  # method -> (m,) its accelerations

    def difference(self, joint: int = 1) -> Floats:
        """(m,) |ABM - CRBM| / |ABM| of a joint, 1 or 2: the thesis's Delta_r."""
        curves = self.found if joint == 1 else self.joint2
        return np.abs((curves["ABM"] - curves["CRBM"]) / curves["ABM"])


def sweep(second: float, methods: dict[str, tuple[str, str, str]], angles: int) -> Sweep:
    """Methods are name -> (method, solver, bias), see :func:`.simulator.kernel`."""
    between("angles", angles, 5)
    tree, turns = two_links(second), np.linspace(0.0, 2.0 * np.pi, angles)
    q = np.stack([np.zeros(angles), turns], axis=1)
    qdd = {name: np.asarray(kernel(tree, *how)(q, np.zeros_like(q), None)) for name, how in methods.items()}
    exact = at_rest((1.0, second), (1.0, second), 1.0, turns)
    one, two = ({name: both[:, joint] for name, both in qdd.items()} for joint in (0, 1))
    return Sweep(turns, exact[:, 0], condition(tree, q), one, second, two)


def pair(solver: str = "cholesky") -> dict[str, tuple[str, str, str]]:
    """ABM and CRBM as the thesis has them."""
    return {method: (method, solver, BIAS) for method in ("ABM", "CRBM")}


def at_rest(lengths: Sequence[float], masses: Sequence[float], width: float, angles: Floats) -> Floats:
    """(m, 2) accelerations [rad/s^2] at theta_1 = 0, theta_2 = angles (m,), rounded once.

    The arm at rest in closed form, worked out apart from the engine.
    """
    import mpmath

    with mpmath.workdps(DIGITS):
        (l1, l2), (m1, m2) = ([mpmath.mpf(x) for x in pair] for pair in (lengths, masses))
        w, g = mpmath.mpf(width), mpmath.mpf(GRAVITY)
        I1, I2 = m1 * (l1**2 + w**2) / 12, m2 * (l2**2 + w**2) / 12
        H22 = I2 + m2 * l2**2 / 4
        rows = []
        for angle in angles:
            c = mpmath.cos(mpmath.mpf(float(angle)))
            H12 = H22 + m2 * l1 * l2 / 2 * c
            H11 = I1 + m1 * l1**2 / 4 + m2 * l1**2 + 2 * H12 - H22
            b2 = m2 * g * l2 / 2 * c
            b1 = m1 * g * l1 / 2 + m2 * g * l1 + b2
            determinant = H11 * H22 - H12**2
            both = (b2 * H12 - b1 * H22, b1 * H12 - b2 * H11)
            rows.append([float(x / determinant) for x in both])
    return np.array(rows)


def figure53(
    progress: Progress, *, second: float = 1e2, angles: int = 1001, solver: str = "cholesky"
) -> Results:
    """Figure 5.3: condition number and relative difference of ABM and CRBM over the configuration.

    On one arm; ``second`` is l_2 = m_2.
    """
    progress(f"l_2 = m_2 = {second:g}")
    found = sweep(second, pair(solver), angles)
    said = printed("cloutier1995")["figure53"]
    other = {} if second == 1e2 else {"none": "not the thesis's arm", "printed": None}
    one, two = (float(found.difference(joint).max()) for joint in (1, 2))
    for which, kappa in (("largest", found.kappa.max()), ("least", found.kappa.min())):
        power = float(np.floor(np.log10(kappa))) == np.log10(said["kappa"])
        yield value("kappa", kappa, power, which=which, **({"printed": said["kappa"]} | other))
    yield value("singular", abs(np.sin(found.angles[found.kappa.argmax()])))
    yield value("joint1", one, 1e-13 <= one <= 1e-11, **({"printed": said["difference"]} | other))
    yield value("joint2", two, 0.1 <= two / one <= 10.0)
    high, squares = found.kappa > np.median(found.kappa), found.difference() ** 2
    yield value("follows", np.sqrt(squares[high].mean() / squares[~high].mean()))
    yield picture("figure53", "configuration", found)


def figure54(progress: Progress, *, most: float = 1e6, angles: int = 401) -> Results:
    """Figure 5.4 and equation (5.1): error against condition number, as the second link grows.

    l_2 = m_2 in decades from 1 to ``most``, largest values over theta_2.  CRBM's error is proportional to
    the condition number, about kappa times the roundoff.  ABM's stays at the roundoff where the bias is
    propagated with the inertias, and grows with the root of kappa where it comes from inverse dynamics.
    """
    between("most", most, 10.0, 1e100)
    lengths = np.geomspace(1.0, most, max(round(np.log10(most)), 1) + 1)
    grid = []
    for second in lengths.tolist():
        progress(f"l_2 = m_2 = {second:.3g}")
        grid.append(sweep(second, METHODS, angles))
    kappa = np.array([one.kappa.max() for one in grid])
    difference = np.array([one.difference().max() for one in grid])
    worst = {method: np.array([one.worst(method) for one in grid]) for method in METHODS}
    slopes = {}  # of log error against log kappa, least squares
    for method, (asked, off) in SLOPES.items():
        slopes[method] = float(np.polyfit(np.log(kappa), np.log(worst[method]), 1)[0])
        words = {"asked": f"{asked:g}", "most": f"{off:g}", "printed": 1 if method == "CRBM" else None}
        yield value("slope", slopes[method], method=method, **words)
    share, ratio = difference / (kappa * UNIT), worst["CRBM, LU"] / worst["CRBM"]
    yield value("difference", [share.min(), share.max()])
    yield value("solvers", [ratio.min(), ratio.max()])
    yield picture("figure54", "lengths", lengths, kappa, difference, worst, slopes)


def figure55(
    progress: Progress, *, second: tuple[float, ...] = (4e4, 5e4, 1e5), angles: int = 1001
) -> Results:
    """Figure 5.5: joint 1's acceleration over theta_2, smooth by ABM, rough by CRBM.

    One sweep for each l_2 = m_2.
    """
    known = printed("cloutier1995")["figure55"]
    axes = dict(zip(known["second"], zip(known["bottom"], known["top"], strict=True), strict=False))
    found = []
    for length in second:
        progress(f"l_2 = m_2 = {length:g}")
        one = sweep(length, pair(), angles)
        found.append(one)
        ours, exact = (
            [round(float(f(curve)), 6) for f in (min, max)] for curve in (one.found["ABM"], one.exact)
        )
        axis, at = axes.get(length), f"{length:g}"
        yield value("range", ours, ours == exact, second=at, exact=exact)
        if axis:  # the third is not legible; the curve lies on an axis, and fills half of it
            low, high = axis
            on = low <= ours[0] and ours[1] <= high and (ours[1] - ours[0]) / (high - low) >= 0.5
            yield value("axis", ours, on, second=at, printed=list(axis))
        yield value("smooth", one.roughness("ABM"), second=at)
        none = "" if length in known["second"] else "not in the thesis"
        yield value("rough", one.roughness("CRBM"), second=at, none=none)
    yield picture("figure55", "accelerations", found, ("CRBM", "ABM"))


def figure57(progress: Progress, *, second: float = 1e5, angles: int = 1001) -> Results:
    """Figure 5.7: the articulated-body method implemented badly is as rough as CRBM.

    The bad implementation adds all of link 2's inertia to link 1's before it takes the projection
    away.  l_2 = m_2 = 1e5, as in Figure 5.5 c.
    """
    progress(f"l_2 = m_2 = {second:g}")
    found = sweep(second, ROUGH, angles)
    yield value("good", found.roughness("ABM"))
    yield value("bad", found.roughness("bad ABM"), none="" if second >= 1e5 else "another arm")
    yield value("crbm", found.rms("bad ABM") / found.rms("CRBM"))
    yield picture("figure57", "accelerations", [found], ("bad ABM", "ABM"))
