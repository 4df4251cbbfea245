"""A tree in motion: rates of its state by one pivot order in one number format, energy, and the record."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt
from pivotree.kkt.matrix.configuration import Configuration
from pivotree.kkt.matrix.state import kinematics, node_field
from pivotree.kkt.model.spatial import cross

from ..states.manifold import Manifold
from ..states.sample import copies

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Record:
    """One integration; t in s.

    >>> from pivotree.analysis.simulation import Integration, simulate
    >>> (record,) = simulate(pt.chain(2), integration=Integration(seconds=0.1)).records
    >>> record.failed is None and len(record.t) == record.accepted + 1
    True
    """

    evaluations: int  # of the accelerations
    accepted: int  # steps
    rejected: int  # tries
    t: Floats  # (k,) where states are kept
    y: Floats  # (k, states)
    step_t: Floats  # (s,) starts of the accepted steps, where they are kept
    step: Floats  # (s,) their lengths
    failed: str | None = None  # why it ended early
    # (s,) of each accepted step, where the integrator tells them
    tries: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def reached(self) -> float:
        """The last time that was reached [s]."""
        return float(self.t[-1])


ALONE = 20  # states of a motion with loops whose accelerations are looked at


class BodyMotions(NamedTuple):
    """All n bodies of m states, in the world's directions."""

    turn: Floats  # (m, n, 3, 3)
    origin: Floats  # (m, n, 3) of the joint frames [m]
    omega: Floats  # (m, n, 3) [rad/s]
    v: Floats  # (m, n, 3) of the origins [m/s]


@dataclass(frozen=True, eq=False)
class Motion:
    """dy/dt of states y = (x, qd): configuration (nx,) and joint rates (N,), see ``kkt.compile``.

    Accelerations come from equation (4), eliminated by the order in the format, kinematics and
    bias included.  ``tau`` is constant.  Where the tree has loops, contacts hold their points where
    they are in the tree's own state.

    >>> from pivotree.analysis.simulation import Motion
    >>> motion = Motion.of(pt.chain(2, axes="y"), pt.orderings.get("abm"), tau=[0.0, 0.0])
    >>> motion.nx  # positions of a state; as many rates follow
    2
    """

    graph: Any  # the tree, a networkx.DiGraph
    kernel: Any  # kkt.compile(graph, order, format)
    tau: Floats  # (N,) [N m, N]
    checked: Callable[[], Any]  # makes the same kernel with a status, its last output
    manifold: Manifold | None = None  # where the tree has loops

    @staticmethod
    def of(
        graph: Any,
        order: Any,
        format: str = "float64",
        tau: ArrayLike | None = None,
        manifold: Manifold | None = None,
        **compiled: Any,
    ) -> Motion:
        """Compile an order for a tree; tau is the tree's own where none is given.

        ``manifold`` is that of the tree's loops where it is known
        (:func:`analysis.states.manifold.begun`).  ``compiled`` are options of :func:`kkt.compile`:
        ``solver``, ``bias`` and ``frames``.
        """
        made = partial(kkt.compile, graph, order, format, **compiled)
        manifold = manifold or Manifold.of(graph)
        with silent(manifold is not None and not manifold.kept):
            system, kernel = kkt.build(graph, tau=tau), made()
        checked: Callable[[], Any] = partial(made, check=True)
        if manifold is not None:
            checked = partial(EachAlone, system, order, format)
        return Motion(graph, kernel, system.state.tau, checked, manifold)

    @property
    def nx(self) -> int:
        return int(self.kernel.nx)

    @property
    def damping(self) -> Floats:
        """(N,) of the joints [N m s/rad, N s/m]"""
        terms = self._tree.terms
        return np.zeros(int(self.kernel.N)) if terms is None else terms.damping

    @property
    def operations(self) -> int:
        """Of one evaluation, sines and cosines as one each."""
        return int(sum(self.kernel.operations.values()))

    def start(self, q: Any = None, qd: ArrayLike | None = None) -> Floats:
        """(nx + N,) the state at q, qd; what is None comes from the tree."""
        with silent():
            system = kkt.build(self.graph, q=q, qd=qd)
        position = self.graph.graph.get("q") if q is None else q
        if position is None:
            position = np.zeros(system.tree.N)
        number = np.dtype(self.kernel.number.dtype)
        for name, given in (("q", system.state.q), ("qd", system.state.qd), ("tau", self.tau)):
            if wide := given[~np.isfinite(given.astype(number))].tolist():
                told = f"give numbers in the range of {number}"
                raise kkt.ModelError("state", f"field {name!r} holds {wide[0]:g}", told)
        return np.concatenate([self.kernel.configuration(position), system.state.qd])

    def rates(self, y: NDArray[Any]) -> NDArray[Any]:
        """(m, nx + N) in the type of y; the accelerations are formed in the kernel's format."""
        nx = self.nx
        # a kernel takes a fiftieth of the time for contiguous arrays in its own type, one row a state
        x, qd = np.ascontiguousarray(y[:, :nx]), np.ascontiguousarray(y[:, nx:])
        tau = self._repeated[0]
        if len(tau) < len(y):
            tau = self._repeated[0] = np.full(qd.shape, self.tau, self.kernel.number.dtype)
        try:
            qdd = self.kernel(x, qd, tau[: len(y)])
        except kkt.ModelError:
            whole = np.isfinite(y).all(1)[:, None]
            if whole.all():
                raise
            # a try that has overflowed
            return np.where(whole, self.rates(np.where(whole, y, y.dtype.type(1.0))), np.nan)
        return np.concatenate([self.kernel.places.rate(x, qd), qdd.astype(y.dtype)], axis=1)

    @cached_property
    def _repeated(self) -> list[NDArray[Any]]:
        """tau for as many states as have come at once."""
        return [np.empty((0, len(self.tau)), self.kernel.number.dtype)]

    def doubt(self, y: NDArray[Any], *wrench: NDArray[Any]) -> str | None:
        """At how many of some states (m, nx + N) the accelerations do not hold, and why; or None.

        ``wrench`` (m, n, 6) is given where the kernel takes one; the rule is that of
        :mod:`kkt.proof.trust`.  A kernel of its own checks it: the motion does not stop at
        answers that do not hold; step counts and energy show what these cost.
        """
        sound = np.isfinite(y).all(1)
        y, given = y[sound], [w[sound] for w in wrench]
        if self.manifold is not None:
            y = y[:: 1 + len(y) // ALONE]
        if not len(y):
            return None
        kernel = self.checked()
        with np.errstate(over="ignore"), silent():
            status = kernel(y[:, : self.nx], y[:, self.nx :], self.tau, *given)[-1]
        wrong = np.flatnonzero(status)
        if not wrong.size:
            return None
        return f"{wrong.size} of {len(y)} states ({kernel.reason(int(status[wrong[0]]))})"

    def settle(self, y: NDArray[Any]) -> NDArray[Any]:
        """States with quaternions of length 1, that keep the loops."""
        if self.nx != y.shape[1] - self.nx:
            y = np.concatenate([self.kernel.places.unit(y[:, : self.nx]), y[:, self.nx :]], axis=1)
        return y if self.manifold is None else self.manifold.nearest(y)

    @cached_property
    def _tree(self) -> kkt.BodyTree:
        return kkt.compile_tree(self.graph)

    def bodies(self, y: Floats) -> BodyMotions:
        """All bodies in the world at states (m, nx + N), in float64."""
        m, tree = len(y), self._tree
        if m not in self._forests:
            self._forests[m] = copies(tree, m)
        q = np.ascontiguousarray(y[:, : self.nx])
        if self.nx != self.kernel.N:  # quaternions stand for rotation vectors
            q = np.array([self.kernel.coordinates(x) for x in q])
        qd = np.ascontiguousarray(y[:, self.nx :])
        R, p, S, _ = kinematics(self._forests[m], q.ravel(), qd.ravel())
        rates = S.columns.reshape(m, -1, 6) * qd[..., None]
        turn, origin = R.reshape(m, -1, 3, 3), p.reshape(m, -1, 3)
        own = np.zeros((*origin.shape[:2], 6))
        for j, owner in enumerate(tree.owner):
            own[:, owner] += rates[:, j]
        order = [int(k) for level in tree.levels[1:] for k in level]
        for k in order:
            up = tree.parent[k]
            origin[:, k] = origin[:, up] + turned(turn[:, up], origin[:, k])
            turn[:, k] = turn[:, up] @ turn[:, k]
        omega, v = turned(turn, own[..., :3]), turned(turn, own[..., 3:])
        v = v - cross(omega, origin)  # of the point that passes the world's origin, to add up
        for k in order:
            omega[:, k] += omega[:, tree.parent[k]]
            v[:, k] += v[:, tree.parent[k]]
        v = v + cross(omega, origin)
        return BodyMotions(turn, origin, omega, v)

    @cached_property
    def _forests(self) -> dict[int, kkt.BodyTree]:
        return {}

    def energies(self, y: ArrayLike) -> Floats:
        """(m, 2) kinetic and potential energy [J] in float64; height 0 is the world's origin.

        Rotors behind gears turn, and springs hold, some of it.
        """
        y = np.atleast_2d(y)
        tree, bodies = self._tree, self.bodies(y)
        arm = turned(bodies.turn, tree.com)
        speed = bodies.v + cross(bodies.omega, arm)
        spin = turned(np.swapaxes(bodies.turn, -1, -2), bodies.omega)
        turning = (spin * turned(tree.inertia, spin)).sum(-1)
        kinetic = 0.5 * (tree.mass * (speed**2).sum(-1) + turning).sum(1)
        potential = -(tree.mass * ((bodies.origin + arm) @ tree.gravity)).sum(1)
        if tree.terms is not None:
            kinetic = kinetic + 0.5 * y[:, self.nx :] ** 2 @ tree.terms.armature
            potential = potential + 0.5 * (self._stretch(y) * self.springs(y)).sum(1)
        return np.stack([kinetic, potential], axis=1)

    def energy(self, y: ArrayLike) -> Floats:
        """(m,) both of them."""
        return self.energies(y).sum(1)

    def work(self, y: ArrayLike) -> Floats:
        """(m,) what constant efforts have done since the first state [J].

        Raises ModelError where an effort acts on a joint whose rates are no derivatives, or a wrench on a
        body.
        """
        y = np.atleast_2d(y)
        done = np.zeros(len(y))
        tree, places = self._tree, self.kernel.places
        pushed = np.flatnonzero(node_field(tree, self.graph, "wrench").any(axis=1))
        if pushed.size:
            raise kkt.ModelError(
                f"body {tree.names[int(pushed[0])]!r}",
                "field 'wrench' acts on it, and its work is no function of the position",
                "leave it out to have the energy checked",
            )
        for k in range(tree.n):
            tau = self.tau[tree.freedoms_of(k)]
            if not tau.any():
                continue
            if k in places.special:
                raise kkt.ModelError(
                    f"body {tree.names[k]!r}",
                    f"field 'tau' drives a {tree.joint[k]} joint, whose work is no function of its position",
                    "leave it 0 to have the energy checked",
                )
            x = y[:, places.of(k)]
            done += (x - x[0]) @ tau
        return done

    def springs(self, y: Floats) -> Floats:
        """(m, N) efforts that hold the joints' springs at states (m, nx + N) [N m, N]."""
        terms = self._tree.terms
        stretch = self._stretch(y)
        return stretch if terms is None else terms.stiffness * stretch

    def _stretch(self, y: Floats) -> Floats:
        """(m, N) positions beyond those at rest; 0 of joints whose coordinates take no spring."""
        stretch, terms = np.zeros((len(y), int(self.kernel.N))), self._tree.terms
        if terms is not None:
            at, to = self.kernel.places.plain
            stretch[:, to] = y[:, at] - terms.rest[to]
        return stretch

    def lost(self, t: Floats, y: Floats) -> Floats:
        """(k,) what damping has taken until each time (k,) of a run of states (k, nx + N) [J].

        From step to step the rates are the cubics that have their accelerations at both ends.
        """
        if not self.damping.any():
            return np.zeros(len(t))
        qd, qdd = y[:, self.nx :], self.rates(y)[:, self.nx :]
        h, taken = np.diff(t)[:, None], np.zeros(len(t) - 1)
        for s, weight in zip(*np.polynomial.legendre.leggauss(4), strict=True):
            x = (s + 1.0) / 2.0
            rate = (1 + 2 * x) * (1 - x) ** 2 * qd[:-1] + x * x * (3 - 2 * x) * qd[1:]
            rate = rate + h * x * (1 - x) * ((1 - x) * qdd[:-1] - x * qdd[1:])
            taken += weight / 2.0 * h[:, 0] * (rate**2 @ self.damping)
        return np.concatenate([[0.0], np.cumsum(taken)])


@contextmanager
def silent(wanted: bool = True) -> Iterator[None]:
    """Loops that are open are not told again: they were where the motion began."""
    with warnings.catch_warnings():
        if wanted:
            warnings.simplefilter("ignore", kkt.LoopWarning)
        yield


class EachAlone:
    """What :func:`kkt.eliminate` says of its answers, in the place of a kernel with a status."""

    def __init__(self, system: kkt.System, order: Any, format: str) -> None:
        self.system = system
        self.order = order
        self.format = format
        self.places: Configuration = Configuration(system.tree, system.graph)
        self.reasons: list[str] = [""]

    def __call__(self, x: Floats, qd: Floats, tau: Floats) -> tuple[NDArray[np.int64]]:
        """(m,) the number of the reason why each answer does not hold; 0 where it does."""
        found = []
        for at, rates in zip(x, qd, strict=True):
            try:
                here = self.system.refresh(self.places.to_coordinates(at), rates, tau)
                said = kkt.eliminate(here, self.order, self.format, records=False)
                why = str(said.failed_at or said.marked or "")
            except kkt.PivotreeError as error:
                why = str(error)
            if why not in self.reasons:
                self.reasons.append(why)
            found.append(self.reasons.index(why))
        return (np.array(found),)

    def reason(self, status: int) -> str:
        return self.reasons[status]


def turned(R: Floats, x: Floats) -> Floats:
    """R x for stacks of rotations and vectors."""
    return np.asarray((R @ x[..., None])[..., 0])
