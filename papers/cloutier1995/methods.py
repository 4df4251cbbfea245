"""Chapter 3: all its methods side by side: agreement, and digits on two ill-conditioned links.

Inertia matrix inversion (CRBM with Cholesky, LU, Gauss-Jordan, SVD, section 5.1.5), the orthogonal
complement in two forms (section 3.1.2), conjugate gradients (3.2), ABM (3.3).  Errors are against
certified solutions; those of complements and gradients for the blocks of (4) rounded to the format,
those of kernels for the model, from joint positions on.  SVD is LAPACK's, in float64 only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.gradients import descend, equation

from ..item import Progress, Results, between, each, picture, value
from ..measures import Floats
from .complements import Complement
from .robot import planar_robot, two_links

KERNELS = {  # name -> order, solver
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


def measure(
    progress: Progress,
    *,
    seconds: tuple[float, ...] = (1e1, 1e2, 1e3, 1e4, 1e5),
    angles: int = 24,
    chains: tuple[int, ...] = (2, 3, 5, 8),
    seed: int = 1995,
) -> Results:
    """Two links of section 5.2.1 over ``angles`` of joint 2; random states of equal ``chains``."""
    between("angles", angles, 2)
    each("seconds", seconds, 1e-6, 2)
    each("chains", chains, 1)
    turns = np.float32(np.linspace(0.0, 2.0 * np.pi, angles, endpoint=False)).astype(float)
    kappa = np.empty(len(seconds))
    # format -> method -> largest relative error over the angles, nan where it broke down
    worst: dict[str, dict[str, Floats]] = {format: {} for format in FORMATS}
    for i, second in enumerate(seconds):
        progress(f"two links, l_2 = m_2 = {second:g}")
        states = [(np.array([0.0, turn]), np.zeros(2), np.zeros(2)) for turn in turns]
        kappa[i], found = _errors(two_links(second), states)
        for format, errors in found.items():
            for method, error in errors.items():
                worst[format].setdefault(method, np.empty(len(seconds)))[i] = error
    generator = np.random.default_rng(seed)
    apart: dict[str, float] = {}  # on well-conditioned chains
    pivots = 0.0
    for n in chains:
        progress(f"{n} equal links")
        state = generator.uniform(-1, 1, n), generator.normal(size=n), generator.normal(size=n)
        tree = planar_robot([1.0] * n, [1.0] * n, 0.1)
        _, found = _errors(tree, [state], ("float64",))
        for method, error in found["float64"].items():
            apart[method] = max(apart.get(method, 0.0), error)
        pivots = max(pivots, _pivots(kkt.build(tree, *state)))
    for method, error in apart.items():
        yield value("apart", error, method=method)
    yield value("pivots", pivots)
    yield from _conditioned(seconds, kappa, worst)
    yield picture("methods", "digits", kappa, worst)


def _conditioned(seconds: tuple[float, ...], kappa: Floats, worst: dict[str, dict[str, Floats]]) -> Results:
    """Rows of the errors on two links whose condition number grows."""
    wide, bound = worst["float64"], 10.0 * kappa * 2.0**-53
    for method in ("CRBM, Cholesky", "CRBM, LU", "CRBM, Gauss-Jordan", SVD):
        below, lengths = bool((wide[method] <= bound).all()), ", ".join(f"{x:g}" for x in seconds)
        yield value("inverted", wide[method], below, method=method, seconds=lengths)
    yield value("abm", wide["ABM"], wide["ABM"][-1] <= 1e-3 * wide["CRBM, Cholesky"][-1])
    for format, errors in worst.items():
        first, second = (errors[f"complement {i}"] for i in (1, 2))
        yield value("complements", [first, second], bool(np.nanmax(second / first) < 1.0), format=format)
    for method, asked in (("complement 1", 1.0), ("complement 2", 0.5)):
        power = float(np.polyfit(np.log(kappa), np.log(wide[method]), 1)[0])
        yield value("power", power, method=method, asked=f"{asked:g}")
    for format, errors in worst.items():
        yield value("gradients", errors["conjugate gradients"], format=format, limit=LIMIT)


def _errors(
    tree: nx.DiGraph[Any],
    states: list[tuple[Floats, Floats, Floats]],
    formats: tuple[str, ...] = tuple(FORMATS),
) -> tuple[float, dict[str, dict[str, float]]]:
    """Largest condition number, and by format and method the largest relative error of qdd."""
    systems = [kkt.build(tree, *state) for state in states]
    exact = [kkt.certify(system, 16) for system in systems]
    inertia = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    kappa = max(float(np.linalg.cond(inertia(q, qd, tau))) for q, qd, tau in states)
    found: dict[str, dict[str, float]] = {}
    for format in formats:
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
    error = certified.error(np.asarray(x, dtype=float))
    return float("nan") if error is None else float(error)


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


def _pivots(system: kkt.System) -> float:
    """Squares of U's diagonal, of the second complement, beside ABM's D_k: largest relative difference."""
    steps = kkt.eliminate(system, orderings.get("abm")).steps
    body = {step.blocks[0].body: float(step.pivots[0]) for step in steps}
    D = np.array([body[name] for name in system.tree.names])
    return float(np.abs(Complement.of(system).pivots() / D - 1.0).max())
