"""RNEA and ABA as the slides write them, beside the engine: numpy, all vectors in one frame.

Typed from the slides and not from the engine: the engine keeps every vector in its body's frame,
here all are in the world's.  Links are those of a :class:`kkt.System`, on any tree; a joint may
have several freedoms, its s one column each.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings

from ..item import Progress, Results, value
from ..measures import Floats, apart
from ..world import Links, cross

MOST = 1e-10


def rnea(system: kkt.System, qdd: Floats, *, gravity: str = "base", pseudocode: bool = False) -> Floats:
    """Q (N,) for given q'' (N,).

    ``gravity``: "base", a_0 = -g; "force", I_i g on every link.  ``pseudocode`` takes its last
    loop as printed: f_i starts as f_i*, without external force, and the parent's f is
    f_i + f_parent* - f_i^x.
    """
    links, tree = Links.of(system), system.tree
    a: list[Floats] = []
    f: list[Floats] = []
    fx = list(links.fx)
    for i, k in enumerate(links.body):
        s = links.s[i]
        base = a[links.up[i]] if links.up[i] >= 0 else (-links.g if gravity == "base" else 0.0)
        a.append(base + links.c[i] + s @ qdd[tree.freedoms_of(k)])
        if gravity == "force":
            fx[i] = fx[i] + links.I[i] @ links.g
        f.append(links.I[i] @ a[i] + links.net(i) - (0.0 if pseudocode else fx[i]))
    Q = np.zeros(len(qdd))
    for i in range(len(f) - 1, -1, -1):
        k, s = links.body[i], links.s[i]
        Q[tree.freedoms_of(k)] = s.T @ f[i]
        if links.up[i] >= 0:
            f[links.up[i]] = f[links.up[i]] + f[i] - (fx[i] if pseudocode else 0.0)
    return Q


def aba(system: kkt.System, *, bias: str = "p") -> Floats:
    """q'' (N,) for the system's Q; external forces are part of p.

    ``bias`` "v x I^A v" takes the relation above (2) of the joint acceleration as printed,
    f = I^A a + v x I^A v, in the place of f = I^A a + p.
    """
    links, tree, n = Links.of(system), system.tree, len(system.tree.names)
    Q = [system.entries.tau[tree.freedoms_of(k)] for k in links.body]
    I_A = [np.array(x) for x in links.I]
    p = [links.net(i) - links.fx[i] for i in range(n)]
    for i in range(n - 1, -1, -1):  # inertia & bias forces (3)
        up, s, c = links.up[i], links.s[i], links.c[i]
        if up >= 0:
            gain = I_A[i] @ s @ np.linalg.inv(s.T @ I_A[i] @ s)
            p[up] = p[up] + p[i] + I_A[i] @ c + gain @ (Q[i] - s.T @ (I_A[i] @ c + p[i]))
            I_A[up] = I_A[up] + I_A[i] - gain @ s.T @ I_A[i]
    qdd = np.zeros(len(system.entries.tau))
    a: list[Floats] = []
    for i, k in enumerate(links.body):  # joint acceleration (2), (V)
        s = links.s[i]
        carried = (a[links.up[i]] if links.up[i] >= 0 else -links.g) + links.c[i]
        force = p[i] if bias == "p" else -cross(links.v[i]).T @ I_A[i] @ links.v[i]
        own = np.linalg.solve(s.T @ I_A[i] @ s, Q[i] - s.T @ (I_A[i] @ carried + force))
        qdd[tree.freedoms_of(k)] = own
        a.append(carried + s @ own)
    return qdd


# -- external forces ----------------------------------------------------------------------------------


def external(
    progress: Progress,
    *,
    models: tuple[str, ...] = ("chain:12", "humanoid", "random_tree:n=30"),
    seed: int = 0,
) -> Results:
    """External forces, and gravity in two ways: a_0 = -g, or a force on every link.

    "It is more efficient to give the base an acceleration": both are run, and what they cost besides
    the recursion is counted.  Models as on the command line; external forces are drawn with the seed.
    """
    for model in models:
        progress(model)
        yield from pushed_robot(kkt.load(model), np.random.default_rng(seed))


def pushed_robot(graph: Any, draw: np.random.Generator) -> Results:
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
    turned, weight, moment = (9, 6), (3, 0), (6, 3)
    base = (turned[0], turned[1] + 3)
    return base, (links * sum(x[0] for x in (turned, weight, moment)), links * (turned[1] + moment[1] + 6))


# -- robots -------------------------------------------------------------------------------------------


def robots(
    progress: Progress, *, models: tuple[str, ...] = ("chain:24", "humanoid", "random_tree:n=40")
) -> Results:
    """RNEA and ABA on robots: the engine, the slides' recursions in one frame, and certified answers.

    ABA is held against certified accelerations (or those that a model file gives); RNEA must take them
    back to the efforts that the model was given.  Models as on the command line: files, gallery names.
    """
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
