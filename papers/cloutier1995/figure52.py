"""Figure 5.2: the interactive run of the simulator, and its options on one robot.

The robot's file is not printed.  Three links of 10 m and 1 kg, 0.1 m wide, fit: as many steps are
taken and saved, and the average energy is the printed one within 0.02 %.  801 evaluations are one
for each of 58 + 38 steps and five for each of 141 tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row
from .robot import planar_robot
from .simulator import SOLVERS, Run, run, saved

INTERVAL = 0.01  # [s] between saved steps
NOT = "the robot's file is not printed; this one fits"
EARLY = 2.0  # [s] until which options are compared, before rounding is amplified


@dataclass(frozen=True)
class Found:
    ensemble: Run  # CRBM, LU, as printed
    options: dict[str, Run]  # method and solver -> one run

    def counts(self) -> dict[str, tuple[float, float]]:
        """Least and most over the starts."""
        records = self.ensemble.simulation.records
        numbers = {
            "evaluations": [r.evaluations for r in records],
            "steps": [r.accepted for r in records],
            "tries": [r.accepted + r.rejected for r in records],
            "saved": [len(saved(r.t, INTERVAL)) for r in records],
        }
        return {name: (min(values), max(values)) for name, values in numbers.items()}

    @property
    def average_energy(self) -> float:
        """Over the steps saved [J]."""
        return float(self.ensemble.energy[saved(self.ensemble.first.t, INTERVAL)].mean())


def measure(
    progress: Progress, *, length: float = 10.0, mass: float = 1.0, width: float = 0.1,
    q1: float = 1.5, tau: float = 1.0, seconds: float = 10.0, eps: float = 1e-4,
    runs: int = 200, seed: int = 0,
) -> Found:  # fmt: skip
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


def rows(found: Found) -> list[Row]:
    said, ours = printed("cloutier1995")["figure52"], found.counts()
    steps = said["successful"] + said["bad"]
    tries = (said["evaluations"] - steps) / 5
    asked = {"evaluations": said["evaluations"], "steps": steps, "tries": round(tries),
             "saved": said["saved"]}  # fmt: skip
    result = [
        Row("evaluations = steps + 5 tries", said["evaluations"], [steps, tries],
            "a whole number of tries", tries == int(tries))
    ]  # fmt: skip
    for name, value in asked.items():
        low, high = ours[name]
        result.append(Row(f"{name}, least and most over the starts", value, [low, high],
                          "none: not reproducible", None, NOT))  # fmt: skip
    result.append(Row("average energy [J]", said["average_energy"], found.average_energy,
                      "none: not reproducible", None, NOT))  # fmt: skip
    reference = found.options["ABM"]
    for name, one in found.options.items():
        away = float(np.abs(one.q[-1] - reference.q[-1]).max())
        result.append(Row(f"{name}: angles after {EARLY:g} s, from ABM's [rad]", None, away,
                          "at most 1e-7, at accuracy 1e-10", away <= 1e-7))  # fmt: skip
    return result


def figures(found: Found, style: str) -> dict[str, Any]:
    from .motion_pictures import evolution

    return {"figure52": evolution(found.ensemble, style)}
