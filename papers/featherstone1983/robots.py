"""RNEA and ABA on robots: the engine, the slides' recursions in one frame, and certified answers.

ABA is held against certified accelerations (or those that a model file gives); RNEA must take them
back to the efforts that the model was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings

from ..item import Progress, Results, value
from .slides import aba, rnea

MOST = 1e-10


def measure(
    progress: Progress, *, models: tuple[str, ...] = ("chain:24", "humanoid", "random_tree:n=40")
) -> Results:
    """Models as on the command line: files, gallery names."""
    found = []
    for model in models:
        progress(model)
        found.append(on(kkt.load(model)))
    for one in found:
        source = "given with the model" if one.given else "certified, 30 digits"
        for what, pair in (("RNEA", one.rnea), ("ABA", one.aba)):
            words = {"robot": one.name, "dof": one.dof, "what": what, "printed": f"exact q'' {source}"}
            yield value("exact", list(pair), max(pair) <= MOST, **words)
    worst = min((one.misprint for one in found if one.dof > 1), default=0.0)
    yield value("misprint", worst, worst <= MOST)


@dataclass(frozen=True)
class Robot:
    """Errors relative to the largest effort or acceleration; a slide's own recursion beside."""

    name: str
    dof: int
    given: bool  # the exact accelerations come with the model
    rnea: tuple[float, float]  # engine, slides: Q from exact q'' against the model's
    aba: tuple[float, float]  # engine, slides: q'' against the exact ones
    misprint: float  # ABA with f = I^A a + v x I^A v, as above (2)


def on(graph: Any) -> Robot:
    system = kkt.build(graph)
    known = system.graph.graph.get("expected")
    exact = kkt.certify(system, 30)
    texts = exact.decimals(20) if known is None else known["qdd"]
    qdd = np.array([float(x) for x in texts])
    tau = system.entries.tau
    engine = kkt.inverse_dynamics(system, qdd, orderings.get("inverse_dynamics")).tau
    forward = kkt.eliminate(system, orderings.get("abm"), records=False).qdd
    return Robot(
        system.name,
        len(qdd),
        known is not None,
        (_off(engine, tau, system), _off(rnea(system, qdd), tau, system)),
        (_off(forward, qdd), _off(aba(system), qdd)),
        _off(aba(system, bias="v x I^A v"), qdd),
    )


def _off(found: NDArray[Any], exact: NDArray[Any], system: kkt.System | None = None) -> float:
    """max |difference| over the largest; efforts beside those that hold the robot up."""
    scale = float(np.max(np.abs(exact), initial=0.0))
    if system is not None:
        still = kkt.inverse_dynamics(system, np.zeros_like(exact), orderings.get("inverse_dynamics"))
        scale = max(scale, float(np.max(np.abs(still.tau), initial=0.0)))
    return float(np.max(np.abs(found - exact), initial=0.0)) / (scale or 1.0)
