"""Efficiency by recursion: the derivative of a product of n matrices, and Lagrange's form, run.

B = A_1 A_2 ... A_n: by brute force n (n - 1) products, by recursion 3 n - 4.  Both are run on
matrices that count, and give the same B'.

The classic Lagrangian form of a robot's equations of motion, by 4 x 4 transforms, is that of Uicker 1965
and Kahn 1969, as textbooks print it: with the pose W_p of link p in the world, U_pi = dW_p/dq_i,
U_pjk = d^2 W_p / dq_j dq_k and the pseudo-inertia J_p,

    Q_i = sum over p of [ sum_j Tr(U_pj J_p U_pi^T) qdd_j
                          + sum_jk Tr(U_pjk J_p U_pi^T) qd_j qd_k - m_p g^T U_pi r_p ].

Nothing is shared between links or recursive, so that the traces C_ijk cost n^4: this is the form
that recursive Newton-Euler replaced.  It is run as it stands, and counts what it does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pivotree import kkt
from pivotree.analysis.counts import family_of, fit, text_of
from pivotree.kkt import ModelError, System
from pivotree.kkt.model import skew

from ..item import Progress, Results, between, value
from ..measures import Floats, apart, error

FIT = 8  # sizes that a polynomial of degree 4 must meet to count as found


class Counting:
    """A matrix that counts products and sums in a tally [products, sums]."""

    def __init__(self, values: Floats, tally: list[int]) -> None:
        self.values = values
        self.tally = tally

    def __matmul__(self, other: Counting) -> Counting:
        self.tally[0] += 1
        return Counting(self.values @ other.values, self.tally)

    def __add__(self, other: Counting) -> Counting:
        self.tally[1] += 1
        return Counting(self.values + other.values, self.tally)


def brute_force(A: Sequence[Counting], dA: Sequence[Counting]) -> Counting:
    """The sum over i of A_1 ... A_i' ... A_n."""
    total = None
    for i in range(len(A)):
        factors = [*A[:i], dA[i], *A[i + 1 :]]
        product = factors[0]
        for factor in factors[1:]:
            product = product @ factor
        total = product if total is None else total + product
    assert total is not None
    return total


def recursion(A: Sequence[Counting], dA: Sequence[Counting]) -> Counting:
    """B_i+1 = B_i A_i+1 and B'_i+1 = B'_i A_i+1 + B_i A'_i+1."""
    B = list(itertools.accumulate(A[:-1], lambda b, a: b @ a))
    derivative = dA[0]
    for i in range(1, len(A)):
        derivative = derivative @ A[i] + B[i - 1] @ dA[i]
    return derivative


def measure(progress: Progress, *, most: int = 12, size: int = 4, seed: int = 0, links: int = 9) -> Results:
    """Products of 2 to ``most`` random matrices of a size; Lagrange's form on arms up to ``links``.

    Homogeneous transforms are matrices of size 4.
    """
    between("most", most, 2)
    between("size", size, 1)
    between("links", links, FIT)  # a fit of degree 4 can then be told from others
    draw, methods = np.random.default_rng(seed), (brute_force, recursion)
    laws = {"brute_force": lambda n: n * n - n, "recursion": lambda n: 3 * n - 4}  # products
    same = dict.fromkeys(laws, True)
    off = slope_off = 0.0  # of the two derivatives from each other, and from a complex step
    for n in range(2, most + 1):
        values, rates = draw.normal(size=(2, n, size, size)) / np.sqrt(size)
        found, counts = [], {}
        for (name, law), method in zip(laws.items(), methods, strict=True):
            tally = [0, 0]
            pair = [[Counting(x, tally) for x in group] for group in (values, rates)]
            found.append(method(*pair).values)
            counts[name] = (tally[0], tally[1])
            same[name] &= counts[name] == (law(n), n - 1)
        # the derivative of a product of analytic functions by a complex step
        slope = np.linalg.multi_dot(list(values + 1e-30j * rates)).imag / 1e-30
        off, slope_off = max(off, apart(found[1], found[0])), max(slope_off, apart(slope, found[0]))
    for name in laws:
        yield value(name, f"{counts[name]} for n = {most}", same[name], first=2, last=most)
    yield value("both", [off, slope_off], max(off, slope_off) <= 1e-12)
    operations, worst = {}, 0.0
    for n, system in arms(links):
        progress(f"Lagrangian form of {n} links")
        form = lagrangian(system)
        operations[n] = form.tally.mul
        worst = max(worst, error(kkt.certify(system, 20), form.accelerations(system.entries.tau)))
    fitted = fit(operations)
    ours = None if fitted is None else f"{text_of(fitted[0])} multiplications"
    yield value("lagrangian", ours, fitted is not None and fitted[0].degree() == 4, links=links)
    yield value("lagrangian_qdd", worst, worst <= 1e-12)


# -- Lagrange's form ---------------------------------------------------------------------------------


@dataclass
class Tally:
    """Scalar operations of dense 4 x 4 algebra."""

    mul: int = 0
    add: int = 0

    def product(self, *factors: Floats) -> Floats:
        """A product of 4 x 4 matrices, from the left."""
        result = factors[0]
        for factor in factors[1:]:
            result = result @ factor
            self.mul, self.add = self.mul + 64, self.add + 48
        return result

    def trace(self, left: Floats, right: Floats) -> float:
        """Tr(left right^T), as the sum of products of entries, added to another number."""
        self.mul, self.add = self.mul + 16, self.add + 16
        return float((left * right).sum())


@dataclass(frozen=True)
class Lagrangian:
    """Q = M qdd + bias, bias = sum_jk C_ijk qd_j qd_k + gravity."""

    M: Floats  # (N, N) joint-space inertia
    bias: Floats  # (N,) efforts at qdd = 0 [N m, N]
    tally: Tally

    def accelerations(self, tau: Floats) -> Floats:
        """(N,) joint accelerations of joint efforts: forward dynamics."""
        return np.asarray(np.linalg.solve(self.M, tau - self.bias), dtype=np.float64)


def lagrangian(system: System) -> Lagrangian:
    """The form of a serial chain in one state, every joint of one freedom along a fixed screw.

    So its pose is exp(S q) and q a Lagrangian coordinate.  Raises ModelError for other robots, and for
    external wrenches, which have no place in the form.
    """
    state, n = system.state, len(system.state.names)
    serial = np.array_equal(state.parent, np.arange(-1, n - 1)) and all(S.shape[1] == 1 for S in state.S)
    if not serial or state.wrench.any() or state.loops:
        raise ModelError(
            system.name,
            "is no chain of joints with one freedom, or is pushed, and the Lagrangian form takes no other",
            "use an order of equation (4)",
        )
    count, A = Tally(), [_pose(R, p) for R, p in zip(state.R, state.p, strict=True)]
    turn = [_screw(S[:, 0]) for S in state.S]
    M, bias = np.zeros((n, n)), np.zeros(n)
    for p in range(n):  # what link p adds: every sum below is one of its own
        # poses of links k in the world, of link p in them, and the derivatives U_pi
        W, to = {-1: np.eye(4)}, {p: np.eye(4)}
        for k in range(p + 1):
            W[k] = count.product(W[k - 1], A[k])
        for k in range(p, 0, -1):
            to[k - 1] = count.product(A[k], to[k])
        J = _pseudo_inertia(state.mass[p], state.com[p], state.inertia[p])
        U = [count.product(W[k], turn[k], to[k]) for k in range(p + 1)]
        # Tr(U_pj J_p U_pi^T) and gravity
        UJ = [count.product(u, J) for u in U]
        for i, u in enumerate(U):
            for j, uj in enumerate(UJ):
                M[i, j] += count.trace(uj, u)
            bias[i] -= _gravity(state.gravity, u, J, count)
        # Tr(U_pjk J_p U_pi^T) qd_j qd_k: U_pjk = U_pkj is found for j <= k
        for j in range(p + 1):
            between = np.eye(4)  # pose of link k in link j
            for k in range(j, p + 1):
                between = between if k == j else count.product(between, A[k])
                second = count.product(W[j], turn[j], between, turn[k], to[k], J)
                for _ in {(j, k), (k, j)}:  # C_ijk and C_ikj, each by itself as it is printed
                    for i, u in enumerate(U):
                        bias[i] += count.trace(second, u) * float(state.qd[j] * state.qd[k])
                        count.mul += 2
    return Lagrangian(M, bias, count)


def arms(most: int) -> Iterable[tuple[int, System]]:
    """Arms of 1 to ``most`` revolute joints on skew axes, moving."""
    family = family_of("revolute")
    for n in range(1, most + 1):
        draw = np.random.default_rng(n)
        q, qd, tau = draw.normal(size=(3, n))
        yield n, kkt.build(family.build(n), q=q, qd=qd, tau=tau)


def _pose(R: Floats, p: Floats) -> Floats:
    A = np.eye(4)
    A[:3, :3], A[:3, 3] = R, p
    return A


def _screw(s: Floats) -> Floats:
    """The 4 x 4 matrix of a screw: A exp(S q) has the derivative A exp(S q) [S]."""
    result = np.zeros((4, 4))
    result[:3, :3], result[:3, 3] = skew(s[:3]), s[3:]
    return result


def _pseudo_inertia(mass: float, com: Floats, inertia: Floats) -> Floats:
    """The integral of (r, 1) (r, 1)^T over the mass, from the inertia about its centre."""
    J = np.zeros((4, 4))
    about = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    J[:3, :3] = about + mass * np.outer(com, com)
    J[:3, 3] = J[3, :3] = mass * com
    J[3, 3] = mass
    return J


def _gravity(g: Floats, u: Floats, J: Floats, count: Tally) -> float:
    """m_p g^T U_pi r_p, with m_p r_p the last column of the pseudo-inertia."""
    count.mul, count.add = count.mul + 12, count.add + 12
    return float(g @ (u[:3, :3] @ J[:3, 3] + u[:3, 3] * J[3, 3]))
