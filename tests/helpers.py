"""What several test files share: reference models, traced orders, and mechanics of their own.

:class:`Mechanics` computes poses, velocities, energies and equation (4) itself, from the formulas
of Ascher, Pai & Cloutier 1996 (section 2) and Featherstone 2008 (table 4.1), with scipy's
rotations and dense numpy: nothing in it comes from the project but the tree's attributes.
"""

import json
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.machine.frames import in_frames

ROOT = Path(__file__).parents[1]
MODELS = {path.stem: path for path in sorted((ROOT / "tests" / "models").glob("*.json"))}
ALL_JOINTS = "revolute+prismatic+cylindrical+universal+spherical+planar+floating+fixed"
DOF = {"fixed": 0, "revolute": 1, "continuous": 1, "prismatic": 1, "cylindrical": 2, "universal": 2}
DOF |= {"spherical": 3, "planar": 3, "floating": 6}


@cache
def system_of(spec):
    """A reference model by its stem, or a gallery spec, built once for all tests."""
    return kkt.build(kkt.load(MODELS.get(spec, spec)))


@cache
def tape_of(spec, order):
    """Tracing a long chain by a quadratic order takes seconds: once for all number types."""
    return kkt.trace(system_of(spec), orderings.get(order))


def solve(spec, order, format="float64"):
    return kkt.eliminate(system_of(spec), tape_of(spec, order), format, records=False)


def printed(spec):
    """The 40-digit accelerations of a reference model, as strings."""
    return json.loads(MODELS[spec].read_text())["expected"]["qdd"]


def bracketed(structure):
    """ABM's groups, spelt here so that a test does not ask the project for them."""
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]


def by_body(system, x):
    """A vector of length N as a mapping from bodies to their parts."""
    return {b: x[system.tree.freedoms_of(k)] for k, b in enumerate(system.tree.names)}


@contextmanager
def one_sentence(error, match=None, *, told="", start=""):
    """What is refused here is told in one line: by an expression, plain words, or how it begins."""
    with pytest.raises(error, match=match) as caught:
        yield
    text = str(caught.value)
    assert told in text and text.startswith(start) and "\n" not in text


def drawn_state(tree, seed=0):
    """A generic q, qd, tau away from 0, so that no term of the bias vanishes."""
    rng, N = np.random.default_rng(seed), kkt.compile_tree(tree).N
    return rng.uniform(-1.0, 1.0, N), rng.normal(size=N), rng.normal(size=N)


def light_tip(mass=1.0):
    """A tree whose last body is a point mass on its own joint's axis, so that D_tip is zero."""
    tree = kkt.new_tree("light tip")
    kkt.add_body(tree, "base", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=mass, com=(0.5, 0.5, 0.5), p=(1.0, 0, 0), axis=(1, 1, 1))
    return tree


def relisted(tree, listing, rename=lambda body: body):
    """The same tree with its nodes listed in another order and under other names."""
    system = kkt.build(tree)
    result = nx.DiGraph(**tree.graph)
    for body in listing:
        result.add_node(rename(body), **tree.nodes[body])
    result.add_edges_from((rename(a), rename(b)) for a, b in tree.edges)
    for key in ("q", "qd", "tau"):
        if key in tree.graph:
            parts = by_body(system, np.asarray(tree.graph[key], dtype=float))
            result.graph[key] = np.concatenate([parts[body] for body in listing])
    return result


def every_joint(general=True):
    """Two trees side by side that hold every joint type, in awkward poses."""
    tree = kkt.new_tree("every joint", (0.3, -0.5, -9.7))
    rng = np.random.default_rng(11)
    kinds = [
        ("base", None, "floating"),
        (2, "base", "universal"),
        (("arm", 1), 2, "spherical"),
        ("plate", 2, "planar"),
        ("weld", "plate", "fixed"),
        (3.5, "weld", "cylindrical"),
        ("slide", "base", "prismatic"),
        ("screw", "slide", "general"),
        ("tip", "screw", "revolute"),
        ("post", None, "revolute"),
        (frozenset("x"), "post", "general"),
        ("wheel", 2, "continuous"),
    ]
    for body, parent, kind in kinds:
        if kind == "general" and not general:
            kind = "revolute"
        square = rng.normal(size=(3, 3))
        S = rng.normal(size=(6, 1 if body == "screw" else 2))
        given = {"axis": rng.normal(size=3)}
        if kind == "universal":
            given["axis"] = rng.normal(size=(2, 3))
        if kind == "planar":
            given["axis"] = (0.0, 0.0, 1.0)  # the only normal for which in-plane axes are x and y
        if kind == "general":
            given["S"] = S
        given |= {"mass": rng.uniform(0.5, 2.0), "com": 0.2 * rng.normal(size=3)}
        given["inertia"] = _physical(square @ square.T)
        given["R"] = Rotation.random(random_state=int(rng.integers(1000))).as_matrix()
        kkt.add_body(tree, body, parent, joint=kind, p=0.3 * rng.normal(size=3), **given)
    return kkt.default_state(tree)


def tilted(system, seed=0):
    """The system with each body's frame turned at random, so that no axis has a zero."""
    turns = Rotation.random(system.tree.n, random_state=seed).as_matrix()
    return in_frames(system, turns, tidy=False)


def _physical(square):
    """The inertia of a body with that second moment of mass: it keeps the triangle inequality."""
    return 0.05 * (np.trace(square) * np.eye(3) - square)


def hat(d):
    return np.array([[0.0, -d[2], d[1]], [d[2], 0.0, -d[0]], [-d[1], d[0], 0.0]])


def crossing(v):
    """The 6 x 6 matrix of v x for motion vectors; minus its transpose is v x* for forces."""
    return np.block([[hat(v[:3]), np.zeros((3, 3))], [hat(v[3:]), hat(v[:3])]])


class Mechanics:
    """A tree in one state, dense and body by body."""

    def __init__(self, tree, q, qd):
        self.tree, self.names = tree, list(tree.nodes)
        self.q, self.qd = self._parts(q), self._parts(qd)
        self.parent = {b: next(iter(tree.predecessors(b)), None) for b in self.names}
        self.downward = list(nx.topological_sort(tree))
        self.pose = {b: self._pose(b, self.q[b]) for b in self.names}
        self.S = {b: self._subspace(b, self.q[b]) for b in self.names}
        self.M = {b: self._inertia(b) for b in self.names}
        self.Phi = {}
        for b, (R, p) in self.pose.items():
            self.Phi[b] = np.block([[R, hat(p) @ R], [np.zeros((3, 3)), R]])
        self.v = {}
        for b in self.downward:
            self.v[b] = self.S[b] @ self.qd[b]
            if self.parent[b] is not None:
                self.v[b] = self.v[b] + self.Phi[b].T @ self.v[self.parent[b]]

    def dof(self, body):
        data = self.tree.nodes[body]
        return np.shape(data["S"])[1] if data["joint"] == "general" else DOF[data["joint"]]

    def _parts(self, x):
        stops = np.cumsum([self.dof(b) for b in self.names])
        return dict(zip(self.names, np.split(np.asarray(x, float), stops[:-1]), strict=True))

    def _axes(self, body):
        axes = np.atleast_2d(np.asarray(self.tree.nodes[body]["axis"], float))
        return axes / np.linalg.norm(axes, axis=1)[:, None]

    def _pose(self, body, q):
        """Pose of the joint frame in the parent's: the placement, then the joint's motion."""
        data = self.tree.nodes[body]
        kind, turn, shift = data["joint"], np.eye(3), np.zeros(3)
        axes = self._axes(body)
        spin = lambda axis, angle: Rotation.from_rotvec(axis * angle).as_matrix()  # noqa: E731
        if kind in ("revolute", "continuous", "cylindrical"):
            turn = spin(axes[0], q[0])
        if kind in ("prismatic", "cylindrical"):
            shift = axes[0] * q[-1]
        if kind == "universal":
            turn = spin(axes[0], q[0]) @ spin(axes[1], q[1])
        if kind in ("spherical", "floating"):
            turn = Rotation.from_rotvec(q[:3]).as_matrix()
        if kind == "floating":
            shift = q[3:]
        if kind == "planar":  # about z
            turn, shift = spin(axes[0], q[2]), np.array([q[0], q[1], 0.0])
        if kind == "general":
            twist = np.asarray(data["S"]) @ q
            screw = np.zeros((4, 4))
            screw[:3, :3], screw[:3, 3] = hat(twist[:3]), twist[3:]
            motion = expm(screw)
            turn, shift = motion[:3, :3], motion[:3, 3]
        R = np.asarray(data["R"], float)
        return R @ turn, np.asarray(data["p"], float) + R @ shift

    def _subspace(self, body, q):
        data = self.tree.nodes[body]
        kind, axes, zero = data["joint"], self._axes(body), np.zeros(3)
        if kind == "general":
            return np.asarray(data["S"], float)
        if kind == "universal":
            first = Rotation.from_rotvec(-q[1] * axes[1]).apply(axes[0])
            columns = [np.r_[first, zero], np.r_[axes[1], zero]]
        else:
            turn, slide = np.r_[axes[0], zero], np.r_[zero, axes[0]]
            columns = {
                "fixed": [],
                "revolute": [turn],
                "continuous": [turn],
                "prismatic": [slide],
                "cylindrical": [turn, slide],
                "spherical": list(np.eye(6)[:3]),
                "planar": [np.eye(6)[3], np.eye(6)[4], turn],
                "floating": list(np.eye(6)),
            }[kind]
        return np.array(columns).T.reshape(6, len(columns))

    def _inertia(self, body):
        """By parallel axes: J and m at the centre of mass, moved to the joint's origin."""
        data = self.tree.nodes[body]
        J, m = np.asarray(data["inertia"], float), float(data["mass"])
        d = np.asarray(data["com"], float)
        about_centre = np.block([[J, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]])
        to_centre = np.block([[np.eye(3), np.zeros((3, 3))], [-hat(d), np.eye(3)]])
        return to_centre.T @ about_centre @ to_centre

    def world(self, body):
        R, p = self.pose[body]
        if self.parent[body] is None:
            return R, p
        above, origin = self.world(self.parent[body])
        return above @ R, origin + above @ p

    def inertia(self):
        """The joint-space inertia: the sum over bodies of J* M J, J a body's velocity by joint rates."""
        stops = np.concatenate([[0], np.cumsum([self.dof(b) for b in self.names])])
        J, total = {}, np.zeros((stops[-1], stops[-1]))
        for b in self.downward:
            up, k = self.parent[b], self.names.index(b)
            J[b] = np.zeros((6, stops[-1])) if up is None else self.Phi[b].T @ J[up]
            J[b][:, stops[k] : stops[k + 1]] += self.S[b]
            total += J[b].T @ self.M[b] @ J[b]
        return total

    def energy(self):
        """Kinetic plus potential energy [J]."""
        gravity = np.asarray(self.tree.graph["gravity"])
        total = 0.0
        for b, v in self.v.items():
            R, p = self.world(b)
            centre = p + R @ np.asarray(self.tree.nodes[b]["com"], float)
            total += 0.5 * v @ self.M[b] @ v - float(self.tree.nodes[b]["mass"]) * gravity @ centre
        return total

    def moved(self, qdd, h):
        """The state a time h later, to first order in h: joints with their own chart."""
        after = {}
        for b in self.names:
            q, rate, kind = self.q[b], self.qd[b], self.tree.nodes[b]["joint"]
            if kind in ("spherical", "floating"):
                turn = Rotation.from_rotvec(q[:3])
                after[b] = (turn * Rotation.from_rotvec(h * rate[:3])).as_rotvec()
                if kind == "floating":  # rates are in the body's frame
                    after[b] = np.r_[after[b], q[3:] + h * turn.apply(rate[3:])]
            elif kind == "planar":
                slide = Rotation.from_rotvec([0.0, 0.0, q[2]]).apply([rate[0], rate[1], 0.0])
                after[b] = q + h * np.r_[slide[:2], rate[2]]
            else:
                after[b] = q + h * rate
        now = np.concatenate([self.qd[b] for b in self.names])
        return Mechanics(self.tree, np.concatenate([after[b] for b in self.names]), now + h * np.asarray(qdd))

    def equation4(self, tau, wrench=None):
        """Matrix and right-hand side of equation (4), dense, blocks sorted by kind."""
        names, n = self.names, len(self.names)
        tau = self._parts(tau)
        start = np.concatenate([[0], np.cumsum([self.dof(b) for b in names])])
        N = int(start[-1])
        K, rhs = np.zeros((12 * n + N,) * 2), np.zeros(12 * n + N)
        lift = np.r_[np.zeros(3), -np.asarray(self.tree.graph["gravity"])]
        for k, b in enumerate(names):
            P, F = slice(6 * k, 6 * k + 6), slice(6 * (n + k) + N, 6 * (n + k) + 6 + N)
            Q = slice(6 * n + start[k], 6 * n + start[k + 1])
            K[P, P] = self.M[b]
            K[P, F] = np.eye(6)
            K[Q, F] = self.S[b].T
            v, rate = self.v[b], self.S[b] @ self.qd[b]
            a = crossing(v) @ rate + self._turning(b)
            if self.parent[b] is None:
                a += self.Phi[b].T @ lift
            else:
                up = names.index(self.parent[b])
                K[6 * up : 6 * up + 6, F] = -self.Phi[b]
            force = -crossing(v).T @ self.M[b] @ v
            rhs[P] = force - (0.0 if wrench is None else wrench[k])
            rhs[Q], rhs[F] = tau[b], -a
        return np.triu(K) + np.triu(K, 1).T, rhs

    def _turning(self, body):
        """dS/dt qd in the body's frame: central differences of S along the motion."""
        if self.tree.nodes[body]["joint"] != "universal":
            return np.zeros(6)
        q, rate, h = self.q[body], self.qd[body], 1e-5
        later, earlier = (self._subspace(body, q + s * h * rate) for s in (1, -1))
        return (later - earlier) @ rate / (2 * h)
