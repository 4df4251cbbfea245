"""External forces, and gravity in two ways: a_0 = -g, or a force on every link.

"It is more efficient to give the base an acceleration": both are run, and what they cost besides
the recursion is counted.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings

from ..item import Progress, Results, value
from ..measures import apart
from ..world import Links
from .ledger import ANY, CONSTANT, Known, Ledger
from .slides import rnea


def measure(
    progress: Progress,
    *,
    models: tuple[str, ...] = ("chain:12", "humanoid", "random_tree:n=30"),
    seed: int = 0,
) -> Results:
    """Models as on the command line; external forces are drawn with the seed."""
    for model in models:
        progress(model)
        yield from on(kkt.load(model), np.random.default_rng(seed))


def on(graph: Any, draw: np.random.Generator) -> Results:
    """Rows of one robot."""
    system = kkt.build(graph)
    free = copy.deepcopy(graph)
    free.graph["gravity"] = (0.0, 0.0, 0.0)
    weights = gravity_wrenches(system)
    given = {name: graph.graph.get(name) for name in ("q", "qd", "tau")}
    loaded = kkt.build(free, **given, f_ext=weights + system.state.wrench)
    qdd = draw.normal(size=len(system.entries.tau))
    order = orderings.get("inverse_dynamics")
    based, forced = (kkt.inverse_dynamics(s, qdd, order).tau for s in (system, loaded))
    forward = [kkt.eliminate(s, orderings.get("abm"), records=False).qdd for s in (system, loaded)]
    typed = [rnea(system, qdd, gravity=how) for how in ("base", "force")]
    same = max(apart(based, forced), *(apart(efforts, based) for efforts in typed))
    yield value("same", [same, apart(*forward)], robot=system.name)
    pushed = kkt.build(graph, **given, f_ext=10.0 * draw.normal(size=weights.shape))
    engine = kkt.inverse_dynamics(pushed, qdd, order).tau
    for name, literal in (("pushed", False), ("pseudocode", True)):
        off = apart(rnea(pushed, qdd, pseudocode=literal), engine)
        yield value(name, off, off <= 1e-10, robot=system.name)
    base, force = cost(system.tree.n)
    counts = " against ".join(f"{mul} mul, {add} add" for mul, add in (base, force))
    words = {"robot": system.name, "saved": sum(force) - sum(base), "links": system.tree.n}
    yield value("efficient", counts, sum(base) < sum(force), **words)


def gravity_wrenches(system: kkt.System) -> NDArray[np.float64]:
    """(n, 6) the weight of each body as a wrench at its joint's origin, in its own frame."""
    state, links = system.state, Links.of(system)
    result = np.zeros((system.tree.n, 6))
    for k, (turn, _) in zip(links.body, links.pose, strict=True):
        weight = state.mass[k] * turn.T @ state.gravity
        result[k] = np.r_[np.cross(state.com[k], weight), weight]
    return result


def cost(links: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Multiplications and additions of gravity, on links with any pose, centre of mass and bias.

    a_0 = -g: turned into the root's frame and added to its a.  A force: g turned into every link's
    frame, times m and m com (known beforehand), taken from its b.
    """
    ledgers = (Ledger(), Ledger())
    base, force = ledgers

    def block(kind: int, shape: tuple[int, ...], ledger: Ledger) -> NDArray[Any]:
        return np.array([Known(kind, ledger) for _ in range(int(np.prod(shape)))]).reshape(shape)

    def turned(R: NDArray[Any], g: NDArray[Any]) -> NDArray[Any]:
        return np.array([R[0, j] * g[0] + R[1, j] * g[1] + R[2, j] * g[2] for j in range(3)])

    g = block(CONSTANT, (3,), base)
    g = turned(block(ANY, (3, 3), base), g)
    block(ANY, (3,), base) + g  # the linear part of the root's a
    down = block(CONSTANT, (3,), force)
    for _ in range(links):
        down = turned(block(ANY, (3, 3), force), down)
        m, d = Known(CONSTANT, force), block(CONSTANT, (3,), force)
        weight = np.array([m * x for x in down])
        moment = np.array(
            [
                d[1] * down[2] - d[2] * down[1],
                d[2] * down[0] - d[0] * down[2],
                d[0] * down[1] - d[1] * down[0],
            ]
        )
        block(ANY, (6,), force) - np.concatenate([moment, weight])
    return (base.mul, base.add), (force.mul, force.add)
