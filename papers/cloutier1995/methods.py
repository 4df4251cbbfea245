"""Chapter 3: its methods on ill-conditioned links, conjugate gradients, and propagators run as a method.

Inertia matrix inversion (CRBM with Cholesky, LU, Gauss-Jordan, SVD, section 5.1.5), the orthogonal
complement in two forms (section 3.1.2), conjugate gradients (3.2), ABM (3.3).  Errors are against
certified solutions; those of complements and gradients for the blocks of (4) rounded to the format,
those of kernels for the model, from joint positions on.  SVD is LAPACK's, in float64 only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.gradients import descend, equation

from ..item import Progress, Results, between, each, picture, value
from ..measures import Floats, error
from .complements import Complement
from .robot import planar_robot, two_links

KERNELS: dict[str, tuple[str, str | None]] = {  # name -> order, solver
    "ABM": ("abm", None),
    "ABM by rotations": ("square_root_abm", None),
    "CRBM, Cholesky": ("crbm", "cholesky"),
    "CRBM, LU": ("crbm", "lu"),
    "CRBM, Gauss-Jordan": ("crbm", "gauss_jordan"),
}
MATRICES = ("complement 1", "complement 2", "conjugate gradients")
SVD = "CRBM, SVD"
FORMATS: dict[str, Any] = {"float64": np.float64, "float32": np.float32}
LIMIT = 6  # iterations of conjugate gradients over n
MODELS = ("chain:8", "chain:40", "rr_arm", "binary:4", "humanoid", "random_tree:n=20,seed=3")
SECOND = 1e2  # l_2 = m_2 of the arm of Figure 5.3


def methods(
    progress: Progress, *, seconds: tuple[float, ...] = (1e1, 1e2, 1e3, 1e4, 1e5), angles: int = 24
) -> Results:
    """Chapter 3: all its methods side by side, digits on two ill-conditioned links.

    Two links of section 5.2.1, l_2 = m_2 = ``seconds``, over ``angles`` of joint 2.
    """
    between("angles", angles, 2)
    each("seconds", seconds, 1e-6, 2)
    turns = np.float32(np.linspace(0.0, 2.0 * np.pi, angles, endpoint=False)).astype(float)
    kappa = np.empty(len(seconds))
    # format -> method -> largest relative error over the angles, nan where it broke down
    worst: dict[str, dict[str, Floats]] = {format: {} for format in FORMATS}
    for i, second in enumerate(seconds):
        progress(f"two links, l_2 = m_2 = {second:g}")
        states = [(np.array([0.0, turn]), np.zeros(2), np.zeros(2)) for turn in turns]
        kappa[i], found = _errors(two_links(second), states)
        for format, largest in found.items():
            for method, off in largest.items():
                worst[format].setdefault(method, np.empty(len(seconds)))[i] = off
    wide, bound = worst["float64"], 10.0 * kappa * 2.0**-53
    for method in ("CRBM, Cholesky", "CRBM, LU", "CRBM, Gauss-Jordan", SVD):
        below, lengths = bool((wide[method] <= bound).all()), ", ".join(f"{x:g}" for x in seconds)
        yield value("inverted", wide[method], below, method=method, seconds=lengths)
    yield value("abm", wide["ABM"], wide["ABM"][-1] <= 1e-3 * wide["CRBM, Cholesky"][-1])
    for format, errors in worst.items():
        one, two = (errors[f"complement {i}"] for i in (1, 2))
        yield value("complements", [one, two], bool(np.nanmax(two / one) < 1.0), format=format)
    for method, asked in (("complement 1", 1.0), ("complement 2", 0.5)):
        power = float(np.polyfit(np.log(kappa), np.log(wide[method]), 1)[0])
        yield value("power", power, method=method, asked=f"{asked:g}")
    yield picture("methods", "digits", kappa, worst)


def _errors(
    tree: nx.DiGraph[Any], states: list[tuple[Floats, Floats, Floats]]
) -> tuple[float, dict[str, dict[str, float]]]:
    """Largest condition number, and by format and method the largest relative error of qdd."""
    systems = [kkt.build(tree, *state) for state in states]
    exact = [kkt.certify(system, 16) for system in systems]
    inertia = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    kappa = max(float(np.linalg.cond(inertia(q, qd, tau))) for q, qd, tau in states)
    found: dict[str, dict[str, float]] = {}
    for format in FORMATS:
        errors: dict[str, list[float]] = {}
        for method, (order, solver) in KERNELS.items():
            try:
                kernel = kkt.compile(tree, orderings.get(order), format, solver=solver)
            except kkt.SingularError:  # a pivot that keeps no bit in this format
                errors[method] = [float("nan")]
                continue
            answers = [kernel(*state) for state in states]
            errors[method] = [_error(c, x) for c, x in zip(exact, answers, strict=True)]
        for system, certified, state in zip(systems, exact, states, strict=True):
            blocks = kkt.certify(system, 16, rounded_to=format) if format != "float64" else certified
            for method, solve in _on_blocks(system, format).items():
                errors.setdefault(method, []).append(_error(blocks, solve()))
            if format == "float64":
                x = _by_svd(system, inertia(*state))
                errors.setdefault(SVD, []).append(_error(certified, x))
        found[format] = {method: float(np.max(values)) for method, values in errors.items()}
    return kappa, found


def _error(certified: Any, x: Any) -> float:
    off = certified.error(np.asarray(x, dtype=float))
    return float("nan") if off is None else float(off)


def _on_blocks(system: kkt.System, format: str) -> dict[str, Callable[[], Any]]:
    complement = Complement.of(system, lambda x: x.astype(FORMATS[format]))
    times, efforts, _ = equation(system, format)
    n = len(efforts)

    def gradients() -> Any:
        return descend(times, efforts, most=LIMIT * n, until=np.finfo(FORMATS[format]).eps / 4).x

    return dict(zip(MATRICES, (complement.first, complement.second, gradients), strict=True))


def _by_svd(system: kkt.System, M: Floats) -> Floats:
    """M's singular values and vectors, efforts from inverse dynamics; float64."""
    zero = np.zeros(len(M))
    bias = kkt.inverse_dynamics(system, zero, orderings.get("inverse_dynamics")).tau
    U, sigma, V = np.linalg.svd(M)
    return np.asarray(V.T @ ((U.T @ (system.state.tau - bias)) / sigma))


def gradients(
    progress: Progress,
    *,
    exact: tuple[int, ...] = (1, 2, 3, 4, 5),
    links: tuple[int, ...] = (2, 4, 8, 16, 32, 64),
    seed: int = 1995,
) -> Results:
    """Section 3.2: conjugate gradients take n iterations in exact arithmetic, products cost O(n).

    Equal unit links in random states, ``exact`` of them in fractions; products are by inverse dynamics.
    What they take in floats: docs/gradients.md.
    """
    each("exact", exact, 1)
    each("links", links, 1)
    generator = np.random.default_rng(seed)
    taken, most = [], True
    for n in exact:
        progress(f"{n} links, fractions")
        times, efforts, _ = equation(_system(n, generator), "exact")
        found = descend(times, efforts, most=n + 2)
        taken.append(found.iterations)
        most &= bool(found.iterations <= n and found.residuals[-1] == 0.0)
    yield value("fractions", taken, most, links=", ".join(map(str, exact)))
    products = [equation(_system(n, generator), "float64")[2] / n for n in links]
    late = [product for product, n in zip(products, links, strict=True) if n >= 8]
    few = "" if len(late) > 1 else "fewer than two sizes from n = 8 on"
    yield value("product", products, not few and max(late) <= 1.25 * min(late), none=few)


def _system(n: int, generator: np.random.Generator) -> kkt.System:
    state = generator.uniform(-1, 1, n), generator.normal(size=n), generator.normal(size=n)
    return kkt.build(planar_robot([1.0] * n, [1.0] * n, 0.1), *state)


# -- propagators ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Propagated:
    """Both recursions on one system; arrays by body."""

    qdd: Floats  # (N,) [rad/s^2, m/s^2]
    inertia: dict[int, Floats]  # (6, 6) articulated inertias, (3.11)
    force: dict[int, Floats]  # (6, 6) P_F, (3.10)
    acceleration: dict[int, Floats]  # (6, 6) P_A, (3.13)


def propagate(system: kkt.System) -> Propagated:
    """(3.10) to (3.14)."""
    e, tree = system.entries, system.tree
    M, X, S = e.M, e.Phi, e.S
    still = kkt.inverse_dynamics(system, np.zeros(len(S)), orderings.get("inverse_dynamics")).tau
    push = (e.tau - still)[:, None]  # tau - b
    inertia = {k: M[k].copy() for k in range(tree.n)}
    p = {k: np.zeros((6, 1)) for k in range(tree.n)}
    D, force, acceleration, gain = {}, {}, {}, {}
    order = [tree.names.index(name) for name in system.structure.tip_to_base]
    for k in order:
        own = tree.freedoms_of(k)
        s, up = S[own].T, int(tree.parent[k])
        Is = inertia[k] @ s
        D[k] = s.T @ Is
        gain[k] = np.linalg.solve(D[k], Is.T)  # (s' I s)^-1 s' I
        force[k] = np.eye(6) - gain[k].T @ s.T
        acceleration[k] = np.eye(6) - s @ gain[k]
        if up >= 0:
            inertia[up] = inertia[up] + X[k] @ force[k] @ inertia[k] @ X[k].T
            p[up] = p[up] + X[k] @ (force[k] @ p[k] + Is @ np.linalg.solve(D[k], push[own]))
    qdd = np.zeros((len(S), 1))
    a: dict[int, Floats] = {}
    for k in reversed(order):
        own = tree.freedoms_of(k)
        s, up = S[own].T, int(tree.parent[k])
        carried = X[k].T @ a[up] if up >= 0 else np.zeros((6, 1))
        pushed = np.linalg.solve(D[k], push[own] - s.T @ p[k])
        qdd[own] = pushed - gain[k] @ carried
        a[k] = acceleration[k] @ carried + s @ pushed
    return Propagated(qdd[:, 0], inertia, force, acceleration)


def propagators(
    progress: Progress, *, models: tuple[str, ...] = MODELS, seed: int = 0, second: float = SECOND
) -> Results:
    """Section 3.3.1: force and acceleration propagators, (3.10) to (3.14), run as a method.

    The propagators of the thesis, with the bias from inverse dynamics, on any tree of joints with one
    freedom or more: P_F = 1 - I s (s' I s)^-1 s' and P_A = 1 - s (s' I s)^-1 s' I.  Held against them
    are certified accelerations.  The thesis calls P_A a weighted least squares projection; that is solved
    as a least squares problem by LAPACK.  On models as on the command line, and the two links of Figure
    5.3, l_2 = m_2 = ``second``.
    """
    draw = np.random.default_rng(seed)
    trees = [kkt.load(model) for model in models] + [two_links(second)]
    worst: dict[str, float] = {}
    for tree in trees:
        system = kkt.build(tree)
        progress(system.name)
        for name, off in check(system, draw).items():
            worst[name] = max(off, worst.get(name, 0.0))
    for name, off in worst.items():
        yield value(name, off, robots=len(trees))


def check(system: kkt.System, draw: np.random.Generator) -> dict[str, float]:
    """Relative differences, by the names of the rows.

    Of qdd from certified ones; of P_A from P_A^2 and of P_F from P_A's transpose; of P_A x from the
    least squares solution.
    """
    wide, exact = propagate(system), kkt.certify(system, 20)
    squares = projections = 0.0
    for k in range(system.tree.n):
        s = system.entries.S[system.tree.freedoms_of(k)].T
        if not s.shape[1]:
            continue
        P, x = wide.acceleration[k], draw.normal(size=6)
        size = max(1.0, float(np.abs(P).max()))  # zero where all six freedoms are the joint's
        for other in (P @ P, wide.force[k].T):
            projections = max(projections, float(np.abs(other - P).max()) / size)
        root = np.linalg.cholesky(wide.inertia[k]).T
        best = x - s @ np.linalg.lstsq(root @ s, root @ x, rcond=None)[0]
        squares = max(squares, float(np.abs(P @ x - best).max() / np.abs(x).max() / size))
    qdd = error(exact, wide.qdd)
    return {"qdd": qdd, "projections": projections, "squares": squares}
