"""The states that closed loops and contacts allow, and the way back to them after a step.

Equation (4) holds the accelerations of a loop, so that its gap g(q) and its rates J(q) qd, zero at
the start, grow with the errors of the steps.  After each accepted step the state goes to the
nearest one that keeps the loops, in the metric of kinetic energy M(q):

    M dq + J* mu = 0,    J dq = -g,         q <- q + dq,      until g is rounding,
    M (v - qd) + J* nu = 0,    J v = 0,     qd <- v,

which is the projection of Hairer & Wanner 1996 (Solving Ordinary Differential Equations II, sec.
VII.2), its first half repeated as Gauss and Newton would; it keeps the integrator's order.  Lubich,
Nowak, Pöhle & Engstler 1992 solve for multipliers in each stage instead (half-explicit methods).
What the second half takes is a blow, so that it never adds energy.

Soft rows (compliance above 0) are left as they are: they yield, and how is what their row says.
A start that does not keep its loops has no nearest motion: without projection it goes on as (4)
says, and nothing brings it back.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt, orderings
from pivotree.kkt.base.errors import Refusal
from pivotree.kkt.matrix.closures import Closure
from pivotree.kkt.matrix.configuration import Configuration
from pivotree.kkt.matrix.redundancy import on_rates
from pivotree.kkt.matrix.state import state_of
from pivotree.kkt.model.loops import OPEN, Loop, checked_loops

Floats = NDArray[np.float64]
ROUNDING = 1e-14  # rad or m: gaps below it are not worth a correction
CLOSED = 1e-9  # rad or m: what may be left where corrections no longer help
DEPENDENT = 1e-12  # singular values of J M^-1 J*, beside the largest, of rows that follow
MOST = 60  # corrections of one state
LONGEST = 0.5  # rad or m: a correction goes no further, so that one from far off does not overshoot
DRAWS, BESIDE, STEP = 3, 0.3, 1e-5  # states that are looked at, how far off [rad, m], and half a difference


@dataclass(frozen=True)
class Manifold:
    """States y = (x, qd) of a tree, see ``kkt.compile``, that keep the hard rows of its loops."""

    tree: kkt.BodyTree
    graph: nx.DiGraph[Any]  # the tree without its loops
    places: Configuration  # of joint positions among x
    loops: tuple[Loop, ...]  # those with hard rows
    anchors: tuple[Floats | None, ...]  # (3,) of contacts: where their points stand [m]; (N,) of
    #                                     coupled joints: their positions q [rad, m]
    inertia: Any  # gives M(q): kkt.compile(..., outputs=("inertia",))
    yields: bool  # whether some rows are soft
    kept: bool = True  # whether states are brought back: not from a start that lies elsewhere

    @staticmethod
    def of(graph: nx.DiGraph[Any], q: Any = None) -> Manifold | None:
        """Of a tree with loops; contacts hold their points where they are at q.  None without.

        Raises ModelError for loops between bodies that are not there.
        """
        tree = kkt.compile_tree(graph)
        loops = checked_loops(graph.graph.get("loops", ()), tree.names, graph.graph.get("merged", {}))
        hard = tuple(loop.whole for loop in loops if not loop.compliance.all())
        if not loops:
            return None
        bare = nx.DiGraph(graph, loops=())
        inertia = kkt.compile(bare, orderings.get("crbm"), "float64", outputs=("inertia",))
        soft = any(loop.compliance.any() for loop in loops)
        found = Manifold(tree, bare, Configuration(tree, bare), hard, (None,) * len(hard), inertia, soft)
        return found.begun_at(found.places.from_coordinates(q))

    def begun_at(self, x: Floats) -> Manifold:
        """Of the same loops, contacts and coupled joints holding what they hold at x (nx,)."""
        return replace(self, anchors=tuple(self._anchor(c, x) for c in self.state(x).loops))

    def _anchor(self, closure: Closure, x: Floats) -> Floats | None:
        """What a loop keeps of the start, x (nx,); None where its frames say what it keeps."""
        if closure.loop.point:
            return closure.p[0]
        if closure.loop.follows:
            return None
        bodies = [pair.bodies for pair in closure.pairs]
        joints = all(b >= 0 and self.tree.parent[b] == a and self.tree.dof[b] == 1 for a, b in bodies)
        return self.places.to_coordinates(x) if joints and closure.loop.free is None else None

    def state(self, x: Floats, loops: Sequence[Loop] | None = None) -> Any:
        """The tree, with its hard loops or others, where the joints are at x (nx,), at rest."""
        q = self.places.to_coordinates(x)
        return state_of(
            self.tree, self.graph, q, np.zeros(len(q)), loops=self.loops if loops is None else loops
        )

    def rows(self, x: Floats) -> tuple[Floats, Floats]:
        """g (m,) [rad, m] and J (m, N) of the hard rows, one loop after another.

        A general joint's gap is not known, and told as 0.
        """
        state = self.state(x)
        J, gaps = on_all_rates(self.tree, state, state.loops), [np.zeros(0)]
        for closure, anchor in zip(state.loops, self.anchors, strict=True):
            gap = closure.gap
            if anchor is not None and closure.loop.point:
                gap = closure.loop.C[3:].T @ (closure.p[0] - anchor)
            elif anchor is not None:  # rows of coupled joints are the same everywhere
                own = on_all_rates(self.tree, state, [closure])
                gap = own @ (self.places.to_coordinates(x) - anchor)
            gaps.append(gap)
        hard = np.concatenate([np.zeros(0), *(c.loop.compliance for c in state.loops)]) == 0.0
        return np.concatenate(gaps)[hard], J[hard]

    def left(self, y: ArrayLike) -> Floats:
        """(m, 2) the largest gap [rad or m] and rate [per s] of any hard row at states (m, .)."""
        found = []
        for row in np.atleast_2d(np.asarray(y, dtype=float)):
            x, qd = np.split(row, [self.places.size])
            gap, J = self.rows(x)
            found.append([np.abs(gap).max(initial=0.0), np.abs(J @ qd).max(initial=0.0)])
        return np.array(found)

    def nearest(self, y: NDArray[Any]) -> NDArray[Any]:
        """States (m, nx + N) brought back, in their type; nan where the loops do not close."""
        if not (self.kept and self.loops):
            return y
        return np.array([self._nearest(row) for row in y], dtype=y.dtype)

    def _nearest(self, row: NDArray[Any]) -> Floats:
        x, qd = np.split(row.astype(float), [self.places.size])
        none, last, best = np.full(len(row), np.nan), np.inf, x
        if not np.isfinite(row).all():
            return none
        for _ in range(MOST):
            gap, J = self.rows(x)
            size = float(np.abs(gap).max(initial=0.0))
            if size >= last and last <= CLOSED:  # rounding stops it
                x = best
                break
            best, last = x, size
            if size <= ROUNDING:
                break
            d = self._least(x, J, gap)
            x = self._moved(x, -d * min(1.0, LONGEST / max(float(np.abs(d).max()), LONGEST)))
            if not np.isfinite(x).all():
                return none
        if last > CLOSED:
            return none
        _, J = self.rows(x)
        return np.concatenate([x, qd - self._least(x, J, J @ qd)])

    def _least(self, x: Floats, J: Floats, r: Floats) -> Floats:
        """d (N,) with J d = r and the least d* M d; rows that follow from others do no harm."""
        zero = np.zeros(J.shape[1])
        M = np.asarray(self.inertia(x, zero, zero), dtype=float)
        try:
            W = np.linalg.solve(M, J.T)
            return np.asarray(W @ np.linalg.lstsq(J @ W, r, rcond=DEPENDENT)[0])
        except np.linalg.LinAlgError:  # a body without mass, or numbers that are none
            return np.full(J.shape[1], np.nan)

    def _moved(self, x: Floats, d: Floats) -> Floats:
        """x after small turns and shifts d (N,), in one step."""
        return np.asarray(self.places.unit(x + self.places.rate(x, d)))

    def require_gaps(self, y: Floats) -> None:
        """Raise ModelError where a motion that the rows allow opens a gap, in states beside y (nx + N,).

        Rows that lack others of their joint may be the rates of no gap, such as one of a turn.
        """
        draw = np.random.default_rng(1996)
        for d in draw.normal(size=(DRAWS, self.tree.N)):
            beside = np.concatenate([self._moved(y[: self.places.size], BESIDE * d), d])
            x, qd = np.split(self.nearest(beside[None])[0], [self.places.size])
            if not np.isfinite(qd).all():
                continue
            ahead, behind = (self.rows(self._moved(x, s * qd))[0] for s in (STEP, -STEP))
            opens = (ahead - behind) / (2 * STEP)
            if np.abs(opens).max(initial=0.0) > OPEN * max(1.0, float(np.abs(qd).max(initial=0.0))):
                raise kkt.ModelError(
                    f"loop {self._worst(opens)[0]!r}",
                    "its rows allow motions that open it: rows are left out that do not hold by themselves",
                    "keep all rows of its joint, cut it at another type of joint, or give a compliance",
                )

    def brought(self, graph: nx.DiGraph[Any], y: Floats) -> nx.DiGraph[Any]:
        """The tree in the nearest state to y (nx + N,).  Raises ModelError where there is none."""
        near = self.nearest(y[None])[0]
        x, speed = np.split(near, [self.places.size])
        if not np.isfinite(near).all():
            name, size = self._worst(self.rows(y[: self.places.size])[0])
            raise kkt.ModelError(
                f"loop {name!r}",
                f"is open by {size:.2g} (rad or m), and no state near by closes it",
                "give q nearer to one that does, or mend its poses",
            )
        found = nx.DiGraph(graph)
        found.graph.update(q=self.places.to_coordinates(x), qd=speed)
        return found

    def amiss(self, y: Floats) -> tuple[str, bool] | None:
        """What a state (nx + N,) breaks, the loop and by how much; None where it keeps them.

        And whether it is a loop that is open and that no terms of Baumgarte's close.
        """
        x, qd = np.split(y, [self.places.size])
        gap, J = self.rows(x)
        speed, fast = J @ qd, OPEN * max(1.0, float(np.abs(qd).max(initial=0.0)))
        b = [loop.baumgarte[1] for loop in self.loops for c in loop.compliance if c == 0.0]
        alone = np.where(np.asarray(b) == 0.0, gap, 0.0)
        for found, stays in ((alone, True), (gap, False)):
            if np.abs(found).max(initial=0.0) > OPEN:
                name, size = self._worst(found)
                return Refusal(f"loop {name!r}", f"is open by {size:.2g} (rad or m) in this state"), stays
        if np.abs(speed).max(initial=0.0) > fast:
            name, size = self._worst(speed)
            return Refusal(f"loop {name!r}", f"the rates qd break it by {size:.2g} (rad/s or m/s)"), False
        return None

    def _worst(self, rows: Floats) -> tuple[Hashable, float]:
        """The loop of the largest of its hard rows, and that row's size."""
        owner = [loop.name for loop in self.loops for c in loop.compliance if c == 0.0]
        at = int(np.abs(rows).argmax())
        return owner[at], float(abs(rows[at]))


def on_all_rates(tree: kkt.BodyTree, state: Any, closures: Sequence[Closure]) -> Floats:
    """(m, N) rows of constraints, one after another, on the rates of all joints."""
    J = np.zeros((sum(c.rows for c in closures), tree.N))
    ends = np.cumsum([c.rows for c in closures])
    for closure, rows in zip(closures, np.split(J, ends[:-1]), strict=False):
        for k, (part, _) in on_rates(state, closure).items():
            rows[:, tree.freedoms_of(k)] = part
    return J


def begun(
    graph: nx.DiGraph[Any], q: Any = None, qd: ArrayLike | None = None, project: bool = False
) -> tuple[nx.DiGraph[Any], Manifold | None]:
    """The tree in the state where a motion begins, and the states that keep its loops.

    The state is q and qd, or the nearest one that keeps the loops with ``project``.  LoopWarning,
    one sentence, for rates that break them, and loops that are open and that Baumgarte's terms
    close in time: the motion then goes on as equation (4) says, which holds accelerations alone.
    Raises ModelError for other loops that are open, and those that cannot be closed from there.

    >>> from pivotree.analysis.simulation import begun
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", pt.LoopWarning)
    ...     tree, manifold = begun(pt.four_bar(), qd=[1.0, 0.0, 0.0])
    >>> manifold.kept, tree.graph["qd"]
    (False, array([1., 0., 0.]))
    """
    q = graph.graph.get("q") if q is None else q
    manifold = Manifold.of(graph, q)
    if manifold is None:
        return graph, None
    x = manifold.places.from_coordinates(q)
    speed = kkt.build(manifold.graph, q, qd).state.qd
    tree, y = nx.DiGraph(graph), np.concatenate([x, speed])
    tree.graph.update(q=manifold.places.to_coordinates(x), qd=speed)
    found = None if project else manifold.amiss(y)
    if found is None:
        begins = manifold.brought(tree, y)
        manifold.require_gaps(y)
        return begins, manifold
    why, stays_open = found
    if stays_open:
        raise kkt.ModelError(why, remedy="give q that closes it, or start nearest to it with --project")
    stabilised = any(any(loop.baumgarte) for loop in manifold.loops)
    nothing = "nothing but Baumgarte's terms" if stabilised else "nothing"
    warnings.warn(
        f"{why}; equation (4) holds its acceleration alone, so that the motion goes on from there "
        f"and {nothing} brings it back: give a state that keeps it, or ask for the nearest one "
        "with --project",
        kkt.LoopWarning,
        stacklevel=2,
    )
    return tree, replace(manifold, kept=False)
