"""Mechanisms with closed loops and contacts that several test files share, and their solutions."""

import warnings

import mpmath
import numpy as np
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings

TILT = Rotation.random(random_state=1).as_matrix()


def rod(length, mass, tilt=None):
    """Attributes of a thin rod along x that turns about z; in a body frame that is tilted."""
    J = np.diag([1e-3, *[mass * length**2 / 12] * 2])
    T = np.eye(3) if tilt is None else tilt.T
    return {"mass": mass, "com": T @ (length / 2, 0, 0), "inertia": T @ J @ T.T, "axis": T @ (0, 0, 1)}


def four_bar(angle, rate=0.0, tilt=None, **loop):
    """Crank 1, coupler 3, rocker 2.5 on a base of 3 [m], at a crank angle: tree, q, qd, loop.

    ``tilt`` turns the frames of all bodies, so that zeros of a planar mechanism are not seen.
    """
    a, b, c, d = 1.0, 3.0, 2.5, 3.0
    tree = kkt.new_tree("four bar", (0.0, -9.81, 0.0))
    T = np.eye(3) if tilt is None else tilt.T
    kkt.add_body(tree, "crank", R=T.T, **rod(a, 1.0, tilt))
    kkt.add_body(tree, "coupler", "crank", p=T @ (a, 0, 0), **rod(b, 3.0, tilt))
    kkt.add_body(tree, "rocker", R=T.T, p=(d, 0, 0), **rod(c, 2.0, tilt))
    phi, psi = four_bar_angles(angle)
    x = mpmath.mpf(angle)
    dphi = mpmath.diff(lambda t: four_bar_angles(t)[0], x)
    dpsi = mpmath.diff(lambda t: four_bar_angles(t)[1], x)
    q = [angle, float(phi - x), float(psi)]
    qd = np.array([1.0, float(dphi - 1), float(dpsi)]) * rate
    poses = {"R": T, "p": T @ (b, 0, 0), "R_second": T, "p_second": T @ (c, 0, 0)}
    given = poses | {"rows": (2, 3), "name": "pin"} | loop
    return tree, q, qd, kkt.cut_joint("coupler", "rocker", **given)


def parallelogram():
    """Crank and rocker 1 m, coupler and base 3 m: where it lies flat, one of its pin's two rows follows."""
    tree = kkt.four_bar()
    tree.nodes["rocker"].update({x: tree.nodes["crank"][x] for x in ("mass", "com", "inertia")})
    pin = kkt.cut_joint("coupler", "rocker", p=(3, 0, 0), p_second=(1, 0, 0), rows=(2, 3), name="pin")
    tree.graph.update(q=np.array([1.0, -1.0, 1.0]), loops=(pin,))
    return tree


def four_bar_angles(angle):
    """Angles of coupler and rocker with the base, in mpmath: the triangle of the diagonal."""
    a, b, c, d = map(mpmath.mpf, ("1", "3", "2.5", "3"))
    x, y = d - a * mpmath.cos(angle), -a * mpmath.sin(angle)
    far = mpmath.sqrt(x * x + y * y)
    phi = mpmath.atan2(y, x) + mpmath.acos((b * b + far * far - c * c) / (2 * b * far))
    tip = (a * mpmath.cos(angle) + b * mpmath.cos(phi), a * mpmath.sin(angle) + b * mpmath.sin(phi))
    return phi, mpmath.atan2(tip[1], tip[0] - d)


def arms(lengths=(5, 5), seed=0):
    """Arms on one base, axes in any direction, body (arm, i)."""
    draw = np.random.default_rng(seed)
    tree = kkt.new_tree("arms", (0.3, -0.5, -9.7))
    kkt.add_body(tree, "base", mass=2.0, com=(0.1, 0, 0.2), inertia=np.eye(3), axis=(0, 1, 1))
    for arm, length in enumerate(lengths):
        up = "base"
        for i in range(length):
            body = {"mass": draw.uniform(0.5, 2.0), "com": draw.normal(size=3) * 0.2}
            body["inertia"] = np.diag(draw.uniform(0.1, 0.15, 3))
            body["axis"] = draw.normal(size=3)
            body["R"] = Rotation.random(random_state=7 * arm + i).as_matrix()
            kkt.add_body(tree, (arm, i), up, p=draw.normal(size=3) / 2, **body)
            up = (arm, i)
    return tree


def built(tree, loops, seed=1, **more):
    """A random state, in which loops may be open: rows hold accelerations whatever the gap."""
    draw = np.random.default_rng(seed)
    N = len(kkt.build(tree, loops=()).entries.tau)
    q, qd, tau = (draw.normal(size=N) for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kkt.LoopWarning)
        return kkt.build(tree, q, qd, tau, loops=loops, **more)


def crossed(k):
    """Two arms with k spherical links between them."""
    loops = [
        kkt.cut_joint((0, i), (1, i), "spherical", p=(0.1 * i, 0.2, 0.3), name=i)
        for i in range(1, 2 * k + 1, 2)
    ]
    return built(arms((2 * k + 2, 2 * k + 2)), loops)


def slider_crank():
    """Crank 0.5, rod 2 [m], and a slider along x."""
    tree = kkt.new_tree("slider crank", (0.0, -9.81, 0.0))
    kkt.add_body(tree, "crank", **rod(0.5, 1.0))
    kkt.add_body(tree, "rod", "crank", p=(0.5, 0, 0), **rod(2.0, 2.0))
    kkt.add_body(tree, "slider", mass=3.0, inertia=np.eye(3), joint="prismatic", axis=(1, 0, 0))
    return built(tree, [kkt.cut_joint("rod", "slider", p=(2.0, 0, 0), rows=(2, 3), name="pin")])


def closed_chain(n):
    """A chain of n links with its tip on a ball joint in the world."""
    tree = arms((n - 1,))
    return built(tree, [kkt.cut_joint((0, n - 2), None, "spherical", p=(0.1, 0.2, 0.3))])


def standing():
    """A body that floats, with three points on the ground: sticking, in a plane, and softly."""
    tree = kkt.new_tree("tripod")
    kkt.add_body(tree, "trunk", mass=3.0, com=(0, 0.1, 0), inertia=np.eye(3), joint="floating")
    for i in range(3):
        kkt.add_body(tree, i, "trunk", p=(i, 0.3, 0.2), **(rod(0.5, 1.0) | {"axis": (1, i, 0)}))
    loops = [
        kkt.contact(0, (0.5, 0, 0), tangents=[(1, 0, 0), (0, 1, 0)]),
        kkt.contact(1, (0.5, 0, 0), damping=3.0),
        kkt.contact(2, (0.5, 0, 0), compliance=1e-3),
        kkt.cut_joint(2, 1, "general", S=np.random.default_rng(0).normal(size=(6, 4)), name="g"),
    ]
    return built(tree, loops)


def bar(angle=1.0, rate=2.0):
    tree, q, qd, loop = four_bar(angle, rate)
    return kkt.build(tree, q, qd, [1.0, 2.0, 3.0], loops=[loop])


SYSTEMS = {
    "four bar": bar,
    "slider crank": slider_crank,
    "closed chain": lambda: closed_chain(8),
    "one cross link": lambda: crossed(1),
    "three cross links": lambda: crossed(3),
    "standing": standing,
    "arms": lambda: built(arms(), [kkt.cut_joint((0, 4), (1, 4), "fixed")]),
}


def off(result, system, exact):
    """Largest error of each kind of unknown, relative to the largest of the kind."""
    names = system.tree.names
    ours = {"qdd": result.qdd, "pdd": result.pdd.ravel(), "f": result.f.ravel(), "lam": result.lam}
    worst = 0.0
    for kind, values in ours.items():
        members = system.structure.constraints if kind == "lam" else names
        right = np.concatenate([exact[kind, name] for name in members])
        worst = max(worst, np.abs(values - right).max() / np.abs(right).max())
    return worst


def tape_of(system, order):
    return kkt.trace(system, orderings.get(order))


def system_q(system, seed=1):
    return np.random.default_rng(seed).normal(size=len(system.entries.tau))


def geared(n):
    """An arm of n links, each with a rotor on the link before it that turns 50 times as fast."""
    tree, loops = kkt.new_tree("geared"), []
    for k in range(n):
        on, turns = f"link{k - 1}" if k else None, {"axis": ((0, 0, 1), (0, 1, 0))[k % 2]}
        rotor = {"mass": 0.3, "com": (0.01, 0.02, 0.05), "inertia": np.diag([1.1e-3, 1.2e-3, 1.3e-3])}
        kkt.add_body(tree, f"rotor{k}", on, p=(0.05, 0.1, 0), **rotor, **turns)
        link = {"mass": 1.0, "com": (0.2, 0.01, 0.02), "inertia": np.diag([0.11, 0.12, 0.13])}
        kkt.add_body(tree, f"link{k}", on, p=(0.5, 0, 0), **link, **turns)
        loops.append(kkt.coupled_joints(tree, f"rotor{k}", f"link{k}", 50.0, name=f"gear{k}"))
    tree.graph["loops"] = tuple(loops)
    return tree


def differential():
    """A wrist that two motors pitch together and roll against each other."""
    tree, loops = kkt.new_tree("differential"), []
    bodies = [("base", None, "z", 2.0), ("pitch", "base", "y", 0.5), ("roll", "pitch", "x", 1.0)]
    for side in ("left", "right"):
        bodies += [(f"{side} gear", "pitch", "y", 0.1), (f"{side} motor", "base", "y", 0.2)]
    for name, on, axis, mass in [*bodies, ("tool", "roll", "z", 0.4)]:
        body = {"mass": mass, "com": (0.1 * mass, 0.01, 0.02), "inertia": mass * np.diag([0.02, 0.03, 0.04])}
        p = (0.0 if name.endswith("gear") else 0.3, 0, 0)
        kkt.add_body(tree, name, on, axis=np.eye(3)["xyz".index(axis)], p=p, **body)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        loops.append(kkt.coupled_joints(tree, f"{side} gear", "roll", sign, name=f"{side} mesh"))
        loops.append(kkt.cut_joint(f"{side} motor", f"{side} gear", "fixed", rows=(1,), name=f"{side} shaft"))
    tree.graph["loops"] = tuple(loops)
    return tree
