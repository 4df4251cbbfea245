"""The thesis's off-line simulator (section 5.1.3): method, dense solver, integrator, statistics.

A thin layer over :func:`analysis.simulation.simulate`.  Methods are pivot orders of equation (4);
the bias comes from inverse dynamics in both, as in section 5.1.5.  CRBM carries composite inertias
as 6 x 6 blocks, "CRBM, centres" by mass, centre of mass and inertia about it, as in section 3.1.1.
RKA is ``cash_karp``; STIFF is in rosenbrock.py, beside scipy's methods for stiff equations.  Joints
are free of friction, as in all of the thesis's runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Integration, Motion, Record, Simulation, simulate

from ..measures import Floats, condition
from .robot import height_energy

METHODS = {"ABM": "abm", "CRBM": "crbm", "CRBM, centres": "crbm_com", "bad ABM": "bad_abm"}
BIAS = "inverse_dynamics"


def kernel(
    tree: nx.DiGraph[Any], method: str, solver: str = "cholesky", bias: str = BIAS, format: str = "float64"
) -> kkt.Kernel:
    """qdd (m, n) from q, qd, tau by a method; ``solver`` is CRBM's."""
    return kkt.compile(
        tree, orderings.get(order_of(method)), format, solver=_solver(method, solver), bias=bias
    )


def order_of(method: str) -> str:
    """The pivot order of a method; OrderError for an unknown one."""
    if method not in METHODS:
        raise kkt.OrderError(f"method {method!r}", "is unknown", f"use {', '.join(METHODS)}")
    return METHODS[method]


def _solver(method: str, solver: str) -> str | None:
    return solver if method.startswith("CRBM") else None


@dataclass(frozen=True)
class Run:
    """What the simulator tells of an ensemble of runs; evolutions are those of the first."""

    tree: nx.DiGraph[Any]
    solver: str
    simulation: Simulation

    @property
    def first(self) -> Record:
        return self.simulation.records[0]

    @property
    def mean(self) -> float:
        """Mean number of evaluations of the forward dynamics."""
        return self.simulation.mean

    @property
    def q(self) -> Floats:
        """(k, n) joint positions at the times ``first.t``."""
        return self.first.y[:, : self.first.y.shape[1] // 2]

    @cached_property
    def energy(self) -> Floats:
        """(k,) total energy [J] above the lowest point that the tip can reach."""
        return self.energies(self.first)

    def energies(self, record: Record) -> Floats:
        """(k,) the same of any run."""
        return self._motion.energy(record.y) + height_energy(self.tree)

    @cached_property
    def _motion(self) -> Motion:
        return Motion.of(self.tree, orderings.get("abm"))

    @cached_property
    def deviations(self) -> Floats:
        """(runs,) of the average energy over the steps from the first [%], as in Figure 5.9."""
        energies = [self.energies(record) for record in self.simulation.records]
        return np.array([100.0 * (energy.mean() / energy[0] - 1.0) for energy in energies])

    @cached_property
    def condition(self) -> Floats:
        """(k,) of the joint-space inertia."""
        return condition(self.tree, self.q)

    @cached_property
    def difference(self) -> Floats:
        """(k, n) of the accelerations by ABM and CRBM at the states of this run, over ABM's."""
        n = self.q.shape[1]
        y = self.first.y[np.isfinite(self.first.y).all(1)]
        q, qd = np.ascontiguousarray(y[:, :n]), np.ascontiguousarray(y[:, n:])
        tau = np.asarray(self.tree.graph["tau"])
        abm, crbm = (kernel(self.tree, m, self.solver)(q, qd, tau) for m in ("ABM", "CRBM"))
        with np.errstate(all="ignore"):
            return np.abs((abm - crbm) / abm)


def run(
    tree: nx.DiGraph[Any],
    method: str = "ABM",
    solver: str = "cholesky",
    integrator: str = "cash_karp",
    *,
    seconds: float = 10.0,
    eps: float = 1e-4,
    steps: int = 10_000,
    **options: Any,
) -> Run:
    """Simulate; further options are those of simulate: ``runs`` above 1 start an ulp apart."""
    integration, dense = Integration(seconds, eps, integrator, steps=steps), _solver(method, solver)
    order = order_of(method)
    found = simulate(tree, order, "float64", integration, solver=dense, bias=BIAS, **options)
    return Run(tree, solver, found)
