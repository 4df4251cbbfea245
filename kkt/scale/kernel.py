"""Forward dynamics of a large tree in one call, from joint positions to accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError, SingularError
from ..machine.checking import INEXACT, OVERFLOW, WORDS, norm_of
from ..machine.configuration import require_no_bias
from ..machine.states import real_numbers
from ..matrix.state import coordinates
from ..matrix.system import System, build
from ..model.joint_terms import JointTerms
from ..model.joints import GENERAL, TYPES
from ..model.spatial import spatial_inertia
from ..model.tree import BodyTree
from ..tape.trust import ROUNDINGS, ZERO, bound
from . import motion
from .given import given
from .machine import address, compiled
from .moving import constants, moving_kinds
from .plan import TreePlan
from .rank import require_inertia, whole
from .solve import Works, require_pivots
from .template import articulated
from .walk import walk_of

Floats = NDArray[np.float64]
UNIT = 2.0**-53


class LargeKernel:
    """ABM of one tree as machine code, in float64; made by :func:`compile_large`.

    Bodies whose joints and constants have their zeros and ones in the same places share one
    straight-line program, so that the code is small and quickly compiled for a tree of any size.
    Time and memory are proportional to the number of bodies.  Only one Python thread at a time may
    call a kernel.

    >>> kernel = pt.compile_large(pt.chain(1000))
    >>> kernel(np.zeros(1000), np.zeros(1000), np.zeros(1000)).shape
    (1000,)
    """

    def __init__(
        self,
        tree: BodyTree,
        graph: nx.DiGraph,
        wrench: Floats,
        relaxed: bool,
        threads: int,
        check: bool = False,
        step: float = 0.0,
    ):
        self.tree, self._graph, self.check, self.step = tree, graph, check, step
        self.how = f"machine code, {'relaxed' if relaxed else 'strict'}"
        self._order = walk_of(tree.parent).order
        own = np.zeros(0) if tree.terms is None else tree.terms.diagonal(step, np.asarray)
        require_inertia(tree, self._order, own=own != 0.0)
        # from here on bodies are numbered in the order of the walk, for consecutive memory access
        self._take, tree = walked(tree, self._order)
        wrench, self._given = wrench[self._order], given(tree)
        walk, N, n = walk_of(tree.parent), int(tree.offset[-1]), tree.n
        model, S = constants(tree), self._given.S
        may, one, pushed = np.not_equal(S, 0.0), np.equal(S, 1.0), np.any(wrench, axis=1)
        for joint, bodies in self._given.bodies.items():  # columns of S that depend on q
            for column in () if joint == GENERAL else TYPES[joint].moving:
                turning = tree.offset[bodies] + column
                may[turning, :3], one[turning, :3] = True, False
        self._terms, self._balls = tree.terms, tree.sprung_balls
        own = own[self._take] if len(own) else np.zeros(N)
        kinds, kind = moving_kinds(tree, walk, model, may, one, pushed, own != 0.0)
        code = (2 * kind + walk.first)[walk.order].astype(np.uint8)
        order = articulated({kind.dof for kind in kinds})
        plan = TreePlan(order, kinds, code, walk, tree.offset, {}, {})
        q, qd, tau, qdd, cos, sin, self._pivot = (np.zeros(N) for _ in range(7))
        self._left, self._size = np.zeros(N), np.zeros(N)
        self._q, self._qd, self._tau, self._qdd, self._cos, self._sin = q, qd, tau, qdd, cos, sin
        v, pdd = np.empty((n, 6)), np.empty((n, 6))
        self._arrays = {
            "model": model,
            "gravity": np.array(tree.gravity, dtype=float),
            "cos": cos,
            "sin": sin,
            "q": q,
            "qd": qd,
            "tau": tau,
            "A": own,
            "turn": self._given.turn,
            "shift": self._given.shift,
            "S": S,
            "slip": self._given.slip,
            "wrench": wrench,
            "v": v,
            "v_up": v,
            "pdd": pdd,
            "pdd_up": pdd,
            "qdd": qdd,
            "pivot": self._pivot,
            "left": self._left,
            "size": self._size,
        }
        numbers = plan.addresses | {name: address(x) for name, x in self._arrays.items()}
        make = motion.checked_passes if check else motion.passes
        machine = compiled(make, plan.order, kinds, relaxed)
        self._plan = plan  # owns arrays that tables point to
        self._works = Works(machine, plan, numbers, threads)
        norm = norm_of(spatial_inertia(tree.mass, tree.com, tree.inertia)) if check else 1.0
        self._norm = max(norm, float(np.max(own, initial=0.0)))

    def __call__(self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None) -> Any:
        """qdd (N,) [rad/s^2, m/s^2] at q, qd, tau, each (N,) as for :func:`kkt.build`.

        Rates and efforts that are None are zero.  A checked kernel returns (qdd, status); a status
        other than 0 is put into words by :meth:`reason`.
        Raises ModelError for numbers that are wrong, and SingularError where a pivot is zero and
        the kernel is not checked.
        """
        named = q is None or isinstance(q, Mapping)
        q = q if named else real_numbers("q", q, np.float64)
        if named or np.shape(q) != self._q.shape:
            q = coordinates(self.tree, self._graph, q)
        for field, x, to in (("q", q, self._q), ("qd", qd, self._qd), ("tau", tau, self._tau)):
            _fill(to, field, x, self._take)
        with np.errstate(invalid="ignore"):  # infinite angles are refused below
            np.cos(self._q, out=self._cos)
            np.sin(self._q, out=self._sin)
            if self._terms is not None:
                terms = self._terms.at(self._q, self._balls)
                self._tau -= terms.resistance(self._qd, self.step, np.asarray)
            self._given.update(self._q, self._qd)
        self._works.run("move", "factor", "solve")
        if not np.isfinite(self._qdd).all():  # by a bad number given, or a zero pivot
            for field, x in (("q", self._q), ("qd", self._qd), ("tau", self._tau)):
                if not np.isfinite(x).all():
                    what = f"state: field {field!r} holds a number that is not finite"
                    raise ModelError(f"{what}; give finite numbers")
            if not self.check:
                require_pivots(self.tree, "abm", self._order, self._given_order(self._pivot))
        qdd = self._given_order(self._qdd)
        return (qdd, self._status()) if self.check else qdd

    def _status(self) -> int:
        """The status of the answer (:mod:`kkt.machine.checking`), from one step of refinement."""
        found, reach = self._qdd.copy(), np.max(np.abs(self._arrays["pdd"]), initial=0.0)
        with np.errstate(all="ignore"):
            self._works.run("defect")
            left = np.max(np.abs(self._left), initial=0.0)
            self._tau += self._left
            self._works.run("factor", "solve")
            small = np.abs(self._pivot) <= ROUNDINGS * UNIT * self._size
            lost = self._given_order(small.astype(float)) != 0.0
            correction = np.max(np.abs(self._qdd - found), initial=0.0)
            most = np.max(np.abs(found), initial=0.0)
            far = correction > bound(UNIT) * max(most, bound(UNIT) * reach)
            far |= left > bound(UNIT) * self._norm * max(most, reach)
        if lost.any():
            return int(np.flatnonzero(lost)[0]) + 1
        if not (np.isfinite(found).all() and np.isfinite(correction)):
            return OVERFLOW
        return INEXACT if far else 0

    def reason(self, status: int) -> str | None:
        """A status in words; None where the answer holds."""
        if status <= 0:
            return WORDS[status].format("float64") if status else None
        k = int(np.searchsorted(self.tree.offset, status - 1, side="right")) - 1
        return ZERO.format(f"qdd_{self.tree.names[k]}", "float64")

    def _given_order(self, x: Floats) -> Floats:
        out = np.empty(len(x))
        out[self._take] = x
        return out


def walked(tree: BodyTree, order: NDArray[np.int32]) -> tuple[NDArray[np.int64], BodyTree]:
    """(N,) the old place of each freedom, and the tree with its bodies in another order."""
    place = np.empty(tree.n + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(tree.n), -1
    dof = tree.dof[order]
    within = np.arange(dof.sum()) - np.repeat(np.cumsum(dof) - dof, dof)
    take = np.repeat(tree.offset[order], dof) + within
    turned = replace(
        tree,
        names=tuple(order.tolist()),
        parent=place[tree.parent[order]],
        joint=tuple(map(tree.joint.__getitem__, order.tolist())),
        axis=tree.axis[order],
        S={int(place[k]): S for k, S in tree.S.items()},
        R=tree.R[order],
        p=tree.p[order],
        mass=tree.mass[order],
        com=tree.com[order],
        inertia=tree.inertia[order],
        terms=tree.terms and JointTerms(*(x[take] for x in astuple(tree.terms))),
    )
    return take, turned


def _fill(to: Floats, field: str, x: Any, take: NDArray[np.int64]) -> None:
    if x is None:
        to[:] = 0.0
        return
    array = real_numbers(field, x, np.float64)
    if array.shape != to.shape:
        raise ModelError(
            f"state: field {field!r} has shape {array.shape}; this tree needs {len(to)} numbers, "
            "one for each degree of freedom"
        )
    array.take(take, out=to, mode="clip")


def compile_large(
    model: nx.DiGraph | BodyTree | System, *, relaxed: bool = False, threads: int = 1, check: bool = False
) -> LargeKernel:
    """ABM of a tree of any size as machine code: ``kernel(q, qd, tau)`` is qdd.

    The method is that of Featherstone 1983; Ascher, Pai & Cloutier 1996, equations (5) to (7).

    Kinematics, bias and brackets are those of :func:`kkt.build` and :func:`kkt.solve_large`, and
    so are the results, to rounding.  ``threads`` share subtrees, and the bits stay the same;
    ``relaxed`` is as for :func:`kkt.solve_large`.  External wrenches are the model's; so are
    armature, damping, springs and friction of joints, and a system's implicit step.
    With ``check`` a call gives (qdd, status), as for :func:`kkt.compile`.
    Raises ModelError and LoopError as :func:`kkt.compile` does, and SingularError for a tree whose
    pivots are zero in any state.

    >>> kernel = pt.compile_large(pt.chain(1000))
    >>> rest = np.zeros(1000)
    >>> solution = pt.solve_large(pt.build(pt.chain(1000), q=rest, qd=rest, tau=rest))
    >>> np.allclose(kernel(rest, rest, rest), solution.qdd)
    True
    """
    relaxed = bool(relaxed)
    if isinstance(model, BodyTree):
        graph, none = nx.DiGraph(name=model.name), np.zeros((model.n, 6))
        return _regular(LargeKernel(model, graph, none, relaxed, threads, check), none, threads)
    system = model if isinstance(model, System) else build(model)
    system.structure.require_tree("compile_large", "use kkt.compile, which takes it")
    require_no_bias(system.graph)
    wrench, step = system.state.wrench, system.state.step
    made = LargeKernel(system.tree, system.graph, wrench, relaxed, threads, check, step)
    return _regular(made, wrench, threads)


def _regular(kernel: LargeKernel, wrench: Floats, threads: int) -> LargeKernel:
    """The kernel; SingularError where a pivot is zero in two states drawn at random.

    Where all bodies have a mass and inertia about every axis, no pivot is zero and none is tried.
    """
    tree, N = kernel.tree, int(kernel.tree.offset[-1])
    if whole(tree).all() or not N:
        return kernel
    asked = kernel
    if not kernel.check:
        asked = LargeKernel(tree, kernel._graph, wrench, False, threads, check=True, step=kernel.step)
    draw = np.random.default_rng(N)
    status = [asked(draw.uniform(-1.0, 1.0, N))[1] for _ in range(2)]
    if min(status) > 0:
        raise SingularError(
            f"order 'abm': {asked.reason(status[0])} in any state; give what it moves an inertia"
        )
    return kernel
