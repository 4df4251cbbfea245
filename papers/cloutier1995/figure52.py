"""Figure 5.2: the interactive run of the simulator, and its options on one robot.

The robot's file is not printed.  Three links of 10 m and 1 kg, 0.1 m wide, fit.  Counts are means
over starts an ulp apart, and the printed ones are of a single run; a step is "successful" where
its first try is accepted, "bad" where not, as odeint of Numerical Recipes counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..paper import Progress, printed
from ..row import Value, value
from .robot import planar_robot
from .simulator import SOLVERS, Run, run, saved

INTERVAL = 0.01  # [s] between saved steps
EARLY = 2.0  # [s] until which options are compared, before rounding is amplified


@dataclass(frozen=True)
class Found:
    ensemble: Run  # CRBM, LU, as printed
    options: dict[str, Run]  # method and solver -> one run

    def counts(self) -> dict[str, NDArray]:
        """What each run takes, (runs,)."""
        records = self.ensemble.simulation.records
        numbers = {
            "successful steps": [int((r.tries == 1).sum()) for r in records],
            "bad steps": [int((r.tries > 1).sum()) for r in records],
            "evaluations": [r.evaluations for r in records],
            "steps saved": [len(saved(r.t, INTERVAL)) for r in records],
        }
        return {name: np.array(values) for name, values in numbers.items()}

    @property
    def average_energy(self) -> float:
        """Over the steps saved [J]."""
        return float(self.ensemble.energy[saved(self.ensemble.first.t, INTERVAL)].mean())


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
) -> Found:
    """The printed options on three equal links, and every method and solver beside."""
    tree = planar_robot([length] * 3, [mass] * 3, width, q=[q1, 0.0, 0.0], tau=[tau] * 3)
    progress("CRBM, LU")
    ensemble = run(tree, "CRBM", "lu", seconds=seconds, eps=eps, runs=runs, seed=seed)
    options = {}
    for method, solver in (("ABM", "cholesky"), *(("CRBM", solver) for solver in SOLVERS)):
        progress(f"{method}, {solver}")
        name = f"{method}, {solver}" if method == "CRBM" else method
        options[name] = run(tree, method, solver, seconds=EARLY, eps=1e-10)
    return Found(ensemble, options)


def values(found: Found) -> Iterator[Value]:
    said = printed("cloutier1995")["figure52"]
    for name, each in found.counts().items():
        theirs = said[name.replace(" ", "_")]
        inside = "within" if each.min() <= theirs <= each.max() else "outside"
        words = {"name": name, "runs": len(each), "least": each.min(), "most": each.max(), "inside": inside}
        yield value("count", each.mean(), printed=theirs, **words)
    yield value("energy", found.average_energy)
    reference = found.options["ABM"]
    for name, one in list(found.options.items())[1:]:
        away = float(np.abs(one.q[-1] - reference.q[-1]).max())
        yield value("option", away, name=name, early=f"{EARLY:g}")


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import evolution

    return {"figure52": evolution(found.ensemble, style)}
