"""Example 1, its tip joint turned once around: accelerations of the base joint, by orders."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, above, picture, value
from ..measures import Curves, errors

TIP, BASE = 1, 2  # the paper counts from the tip
UNIT = 2.0**-24
ENOUGH = 501  # angles, from which noise of 4e-4 is ten times the curve's own variation
CURVES = {"abm": "ABM", "crbm": "CRBM", "bad_abm": "bad ABM"}

# frames that are turned
ORDERS = ("abm", "modified_abm", "child_frame", "projected_abm", "square_root_abm", "crbm")
AXES = ("abm", "modified_abm", "projected_abm", "square_root_abm")
NAMES = {"abm": "ABM", "modified_abm": "eq (11)", "projected_abm": "eq (10) with E"}
ABOUT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0)}
LOST = 1e-5  # errors up to this one keep 5 digits
BESIDE = 1.0  # [degrees] from the tilt, where luck has ended


def child_frame(structure: kkt.Structure) -> kkt.PivotSequence:
    """Equation (11) with H M~ H* as w* Mbar w, w = Phi* H*: summed in the child's own frame."""
    groups = orderings.get("modified_abm")(structure)
    return kkt.PivotSequence(groups, "child_frame", rules=kkt.Rules(accumulate="child_frame"))


def turned(tree: Any, axis: Iterable[float], angle: float) -> Any:
    """The same robot written in frames that are all turned about an axis by ``angle`` [rad].

    Every body's frame and the world's are turned alike, so that poses between them, joint angles
    and accelerations stay, and only the numbers of axes, places and inertias change.
    """
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_rotvec(-angle * np.asarray(tuple(axis), dtype=float)).as_matrix()
    new = tree.copy()
    new.graph["gravity"] = tuple(turn @ tree.graph["gravity"])
    for body in new.nodes:
        own = new.nodes[body]
        inertia = turn @ np.asarray(own["inertia"], dtype=float) @ turn.T
        own["inertia"] = (inertia + inertia.T) / 2
        own["R"] = turn @ np.asarray(own["R"], dtype=float) @ turn.T
        for place in ("com", "axis", "p"):
            own[place] = turn @ np.asarray(own[place], dtype=float)
    return new


def sweep(
    progress: Progress, orders: Iterable[str], angles: int, tree: Any = None, format: str = "float32"
) -> Curves:
    """The base joint's accelerations by every order, on angles of the tip joint in [0, 2 pi].

    Of a tree like :func:`kkt.example1`, or of that, the base link perpendicular to gravity; what is exact
    is certified, of the model rounded to the format.
    """
    turns = np.linspace(0.0, 2.0 * np.pi, angles)
    first = kkt.build(kkt.example1() if tree is None else tree, q={BASE: 0.3, TIP: 0.7})
    base = first.tree.names.index(BASE)
    tapes = {x: kkt.trace(first, child_frame if x == "child_frame" else orderings.get(x)) for x in orders}
    inertia = kkt.trace(first, orderings.get("crbm"))
    found = {order: np.empty(angles) for order in tapes}
    exact, kappa = np.empty(angles), np.empty(angles)
    for i, q1 in enumerate(turns):
        if i % 100 == 0:
            progress(f"{i} of {angles} angles")
        system = first.refresh({BASE: 0.0, TIP: float(q1)})
        exact[i] = kkt.certify(system, 16, rounded_to=format).qdd[base]
        kappa[i] = np.linalg.cond(kkt.joint_space_inertia(system, inertia))
        for order, tape in tapes.items():
            found[order][i] = kkt.eliminate(system, tape, format, records=False).qdd[base]
    return Curves(turns, exact, kappa, found)


def figure1(progress: Progress, *, angles: int = 1001, format: str = "float32") -> Results:
    """Figure 1: Example 1's base acceleration in single precision, smooth by ABM, rough by CRBM.

    Tip 2 m, 10 kg, base 0.02 m, 0.1 kg, widths 0.02 m, at rest under gravity.  "Bad ABM" has ABM's
    pivots without its brackets: the paper says that ABM "can be easily formulated to perform as badly".
    The paper prints a curve and no numbers.
    """
    found = sweep(progress, CURVES, angles, format=format)
    other = f"not in float32, or fewer than {ENOUGH} angles"
    paper = format == "float32" and angles >= ENOUGH
    none = {} if paper else {"none": other, "printed": None, "why": ""}
    for order, name in CURVES.items():
        kind, rms, worst = "smooth" if order == "abm" else "rough", found.rms(order), found.worst(order)
        yield value(f"{kind}_curve", found.roughness(order), name=name, **none)
        share = rms / (float(found.kappa.max()) * UNIT)
        holds = worst <= 4 * UNIT if kind == "smooth" else 0.01 <= share <= 1.0
        yield value(f"{kind}_error", [rms, worst], holds, name=name, **none)
    yield picture("figure1", "curves", found, CURVES | {"bad_abm": "ABM without brackets"})


def tilted(
    progress: Progress,
    *,
    tilt: float = 45.0,
    angles: int = 101,
    axes: int = 200,
    m1: float = 1e8,
    seed: int = 0,
) -> Results:
    """Sections 3 and 4: rotated coordinates, eq (11), and the projection of eq (10).

    The paper: with inertias written in frames turned by 45 degrees ABM breaks down where CRBM does,
    and the modified ABM, eq (11), "addresses this problem"; Table 2, case 2 is its evidence.  Here eq
    (11), taken literally, does not.  Summed in the child's frame, w* Mbar w with w = Phi* H*, it does
    at 45 degrees about x or y and nowhere near: there two entries of H are equal and cancel exactly.
    D = H M H* + E M~ E*, with the part E of H beside the lost direction, eq (10), does at any angle;
    so does elimination by rotations.  What stands in the way is one lost direction only: more joints
    after a heavy body lose more (docs/study).  Example 1 is tilted by degrees; Example 3 has H along
    random directions of translation.
    """
    above("kg", m1=m1)

    def frames(about: str, degrees: float) -> Any:
        return turned(kkt.example1(), ABOUT[about], math.radians(degrees))

    at, found = f"{tilt:g} degrees", sweep(progress, ORDERS, angles, frames("x", tilt))
    abm, crbm = found.rms("abm"), found.rms("crbm")
    yield value("level", sweep(progress, ORDERS[:1], angles).rms("abm"))
    yield value("abm", [abm, crbm], 0.1 <= abm / crbm <= 10.0, at=at)
    yield value("eq11", found.rms("modified_abm"), at=at)
    for about, off in ((about, off) for about in ABOUT for off in (-BESIDE, 0.0, BESIDE)):
        turn = sweep(progress, ("child_frame",), max(21, angles // 4), frames(about, tilt + off))
        yield value("eq11_child", turn.rms("child_frame"), degrees=f"{tilt + off:g}", about=about)
    yield value("eq10", found.rms("projected_abm"), at=at)
    yield value("rotations", found.rms("square_root_abm"), at=at)
    each: list[dict[str, float]] = []  # errors by order, of every axis
    tapes: dict[int, dict[str, Any]] = {}  # by the largest coordinate, which splits forces
    for i, axis in enumerate(directions(axes, seed)):
        progress(f"axis {i} of {axes}")
        system, main = kkt.build(along(axis, m1)), int(np.argmax(np.abs(axis)))
        tapes[main] = tapes.get(main) or {x: kkt.trace(system, orderings.get(x)) for x in AXES}
        each.append(errors(system, tapes[main]))
    wrong = {order: np.array([of[order] for of in each]) for order in AXES}
    beside, eq11 = wrong["abm"], wrong["modified_abm"]
    nearer, farther = float(np.mean(eq11 < beside)), float(np.mean(eq11 > beside))
    yield value("axes_nearer", [nearer, farther], nearer >= 2.0 * farther, axes=axes)
    for order in AXES:
        share = float(np.mean(wrong[order] <= LOST))
        yield value(f"axes_{order}", share, share == 1.0, axes=axes)
    yield picture("tilted", "curves", found, NAMES)


def directions(count: int, seed: int) -> Any:
    """Unit vectors (count, 3), uniformly distributed, rounded to single precision."""
    x = np.random.default_rng(seed).normal(size=(count, 3))
    return (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)


def along(axis: Any, m1: float) -> Any:
    """Example 3 with H = (0, 0, 0, axis) for both joints."""
    tree = kkt.example3(m1, 2)
    for body in tree.nodes:
        tree.nodes[body]["S"] = [[0.0]] * 3 + [[float(x)] for x in axis]
    return tree
