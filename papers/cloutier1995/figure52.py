"""Figure 5.2: the interactive run of the simulator, on a robot that fits.

The robot's file is not printed.  Three links of 10 m and 1 kg, 0.1 m wide, fit.  Counts are means
over starts an ulp apart, and the printed ones are of a single run; a step is "successful" where
its first try is accepted, "bad" where not, as odeint of Numerical Recipes counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..paper import Progress, printed
from ..row import Value, value
from .robot import planar_robot
from .simulator import Run, run, saved

INTERVAL = 0.01  # [s] between saved steps


def measure(
    progress: Progress,
    *,
    length: float = 10.0,
    mass: float = 1.0,
    width: float = 0.1,
    q1: float = 1.5,
    tau: float = 1.0,
    seconds: float = 10.0,
    eps: float = 1e-4,
    runs: int = 200,
    seed: int = 0,
) -> Run:
    """The printed options, CRBM and LU, on three equal links."""
    tree = planar_robot([length] * 3, [mass] * 3, width, q=[q1, 0.0, 0.0], tau=[tau] * 3)
    progress("CRBM, LU")
    return run(tree, "CRBM", "lu", seconds=seconds, eps=eps, runs=runs, seed=seed)


def counts(found: Run) -> dict[str, NDArray]:
    """What each run takes, (runs,)."""
    records = found.simulation.records
    numbers = {
        "successful steps": [int((r.tries == 1).sum()) for r in records],
        "bad steps": [int((r.tries > 1).sum()) for r in records],
        "evaluations": [r.evaluations for r in records],
        "steps saved": [len(saved(r.t, INTERVAL)) for r in records],
    }
    return {name: np.array(values) for name, values in numbers.items()}


def values(found: Run) -> Iterator[Value]:
    said = printed("cloutier1995")["figure52"]
    for name, each in counts(found).items():
        theirs = said[name.replace(" ", "_")]
        inside = "within" if each.min() <= theirs <= each.max() else "outside"
        words = {"name": name, "runs": len(each), "least": each.min(), "most": each.max(), "inside": inside}
        yield value("count", each.mean(), printed=theirs, **words)
    energy = found.energy[saved(found.first.t, INTERVAL)]  # over the steps saved [J]
    yield value("energy", float(energy.mean()))


def figures(found: Run, style: str) -> dict[str, Any]:
    from .pictures import evolution

    return {"figure52": evolution(found, style)}
