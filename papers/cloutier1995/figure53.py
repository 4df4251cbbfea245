"""Figure 5.3: condition number and relative difference of ABM and CRBM over the configuration.

Two links, l_1 = m_1 = 1, l_2 = m_2 = 1e2 (link 2 is the tip; the thesis numbers from the base),
unit widths, at rest, theta_1 = 0, gravity 9.8, Cholesky, double precision.
"""

from __future__ import annotations

import numpy as np

from ..item import Progress, Results, picture, printed, value
from .sweep import pair, sweep


def measure(
    progress: Progress,
    *,
    second: float = 1e2,
    angles: int = 1001,
    width: float = 1.0,
    solver: str = "cholesky",
) -> Results:
    """The test program on one arm; ``second`` is l_2 = m_2."""
    progress(f"l_2 = m_2 = {second:g}")
    found = sweep(second, pair(solver), angles, width)
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
