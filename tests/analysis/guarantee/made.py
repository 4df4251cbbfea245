"""Numbers that are made for one step of a proof, so that this step alone does all the rounding."""

import inspect
import sys
import textwrap
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem import accelerations
from pivotree.kkt.theorem import recursion as bounds
from pivotree.kkt.theorem import roundings as counting
from pivotree.kkt.theorem import support as reaches
from pivotree.kkt.theorem.ranges import ranges_of

UNIT = 2.0**-24
LOST = 0.97 * UNIT  # added to 1 + 2 u it is lost
NO_TURN = np.eye(3)
TILTED = Rotation.from_rotvec([0.5, 0.7, 1.1]).as_matrix()
SKEW = (0.48, 0.6, 0.64)  # an axis of no frame


def robot(children: int, R=NO_TURN, joint="fixed", axis=(0, 0, 1), armature=0.0):
    """A slide along x, and what hangs on it; its pivot is entry (3, 3) of M^."""
    tree = kkt.new_tree("two bodies")
    whole = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3)}
    first = {"joint": "revolute" if R is TILTED else "prismatic", "axis": (1, 0, 0)}
    if not children:
        first = {"joint": joint, "axis": axis, "armature": armature}
    kkt.add_body(tree, "base", **first, **whole)
    for i in range(children):
        place = {"R": R, "p": (0.3, 0.5, 0.7) if R is TILTED else (0, 0, 0)}
        kkt.add_body(tree, f"c{i}", "base", joint=joint, axis=axis, **place, **whole)
    return kkt.build(tree)


def skew(tree):
    """The tree with axes of no frame."""
    for _, data in tree.nodes(data=True):
        data["axis"] = SKEW
    return tree


def geared(tree, armature=0.3):
    """The tree with a rotor behind each joint."""
    for _, data in tree.nodes(data=True):
        data["armature"] = armature
    return tree


def recursion(system, e):
    """M^, b^ in the norm of M^^-1, accelerations of bodies and qdd, by the textbook in numpy."""
    tree = system.tree
    M, b, D, U = e.M.copy(), e.b.copy(), {}, {}
    norms, w, qdd = np.zeros(tree.n), np.zeros((tree.n, 6)), np.zeros(len(e.tau))
    for level in reversed(tree.levels):
        for k in level:
            here = slice(*tree.offset[k : k + 2])
            S = e.S[here]
            U[k] = M[k] @ S.T
            D[k] = S @ U[k] + (np.diag(e.A[here]) if len(e.A) else 0.0)
            norms[k] = np.sqrt(abs(b[k] @ np.linalg.lstsq(M[k], b[k], rcond=None)[0]))
            up = tree.parent[k]
            if up >= 0:
                shifted, N = b[k] + M[k] @ e.a[k], M[k]
                if len(S):
                    shifted = shifted + U[k] @ np.linalg.solve(D[k], e.tau[here] - S @ shifted)
                    N = N - U[k] @ np.linalg.solve(D[k], U[k].T)
                M[up] += e.Phi[k] @ N @ e.Phi[k].T
                b[up] += e.Phi[k] @ shifted
    for level in tree.levels:
        for k in level:
            here = slice(*tree.offset[k : k + 2])
            w[k] = e.a[k]
            if tree.parent[k] >= 0:
                w[k] += e.Phi[k].T @ w[tree.parent[k]]
            if len(e.S[here]):
                qdd[here] = np.linalg.solve(D[k], e.tau[here] - e.S[here] @ b[k] - U[k].T @ w[k])
                w[k] += e.S[here].T @ qdd[here]
    return M, norms, w, qdd


def exact_inertias(system):
    """M^_k in float64."""
    return recursion(system, system.entries)[0]


class Made:
    """Numbers for (4) of a robot, in float32: what is lost of the base's pivot, over the bound."""

    def __init__(self, system) -> None:
        self.system = system
        self.order = TracedOrder(kkt.trace(system, orderings.get("abm")), system)
        self.counts = counting.roundings(self.order.tape)

    def ratio(self, M: NDArray, S: NDArray, A: NDArray, Phi: NDArray, tried: int = 40) -> float:
        """Of samples M (m, n, 6, 6), S (m, N, 6), A (m, N), Phi (m, n, 6, 6) the largest."""
        one = self.system.entries
        given = {x: np.repeat(getattr(one, x)[None], len(M), axis=0) for x in one._fields}
        given |= {"M": M, "S": S, "A": A, "Phi": Phi}
        given = {x: np.asarray(y, dtype=np.float32).astype(float) for x, y in given.items()}
        batch = one._replace(**given)
        values = get_format("float32").cast(self.order.values_of(batch))
        slots = self.order.tape.pivot_slots[-1:]
        (found,) = self.order.found(get_format("float32"), values, slots)
        (exact,) = self.order.found(get_format("dd"), np.asarray(values, dtype=float), slots)
        off = np.abs((np.asarray(found, dtype=float) - exact.real) - exact.imag)[:, 0]
        best = np.argsort(-off)[:tried]
        return max(off[i] / self.bound(batch, i) for i in best)

    def bound(self, batch, i: int) -> float:
        """Of first order, with the sizes that these very numbers have."""
        here = batch._replace(**{x: getattr(batch, x)[i] for x in batch._fields})
        system, tree = replace(self.system, entries=here), self.system.tree
        size = np.sqrt(np.einsum("kii->ki", here.M))
        sent, carried = np.zeros((2, tree.n, 6))
        for k in range(1, tree.n):
            W = here.S[1:] @ here.M[k]
            N = here.M[k] - (W.T @ np.linalg.solve(W @ here.S[1:].T, W) if len(W) else 0.0)
            handed = np.sqrt(np.maximum(np.diagonal(N), 0.0))
            sent[k], carried[k] = np.abs(here.Phi[k]) @ handed, np.abs(here.Phi[k]) @ size[k]
            size[0] = np.sqrt(size[0] ** 2 + np.diagonal(here.Phi[k] @ N @ here.Phi[k].T))
        sizes = reaches.Reach(size, size, sent, carried)
        held = here.M.copy()
        if tree.n > 1:
            held[0] = 1e6 * np.eye(6)  # that nothing is refused
        given = system, ranges_of(system), held, held, sizes, self.counts, UNIT
        found = bounds.Recursion(*given)
        row, (eta, in_pivot) = int(np.flatnonzero(here.S[0])[0]), found.joints[0]
        if tree.n > 1:
            return UNIT * found.B[0][row, row]
        D = here.S[0] @ here.M[0] @ here.S[0] + here.A.sum()
        return UNIT * in_pivot * eta * D


def samples(system, m):
    """m copies of M, S, A and Phi of (4), to be written over; and a generator."""
    e = system.entries
    return [np.repeat(x[None], m, axis=0) for x in (e.M, e.S, e.A, e.Phi)], np.random.default_rng(0)


def without(monkeypatch, function, factor, instead):
    """The function with other words in the place of a factor that it must have once."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(factor) == 1, factor
    owner = sys.modules[function.__module__]
    scope = dict(vars(owner))
    exec("from __future__ import annotations\n" + source.replace(factor, instead), scope)
    for name in function.__qualname__.split(".")[:-1]:
        owner = getattr(owner, name)
    new = scope[function.__name__]
    monkeypatch.setattr(owner, function.__name__, new)
    for module in (bounds, accelerations):  # that have asked for it by name
        if vars(module).get(function.__name__) is function:
            monkeypatch.setattr(module, function.__name__, new)
