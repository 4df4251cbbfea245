"""The least armature with which an order keeps its digits, joint by joint, and what it changes.

Simulators add armature by folklore; here is what it buys and what it costs.  First the least share
of every joint's own inertia, one share for all, with which the worst of many random states keeps
the digits; then, tip to base, each joint's is lowered as far as the others allow.  A joint's own
inertia is the median of its diagonal entry of the joint-space inertia over the states.  Efforts
stay what they were, so that qdd changes: that is the cost, and it is reckoned in double-double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import OrderError, compile_tree, joint_space_inertia, trace
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import Entries
from pivotree.kkt.matrix.many import held, least_sizes
from pivotree.kkt.tape.player import answers

from ..states.sample import draw, drawn_system, entries_at
from ..states.traced import Pair
from .make import prepare

LEAST, MOST = 1e-12, 1e3  # of a joint's own inertia
STATES = 100  # at most, of a report's
STEPS = 12  # of each bisection, in powers of ten
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """One freedom."""

    name: str
    own: float  # median diagonal of the joint-space inertia [kg m^2, kg]
    given: float  # armature of the model
    least: float  # armature that is added to it


@dataclass(frozen=True)
class LeastArmature:
    """What :func:`least_armature` found for one order in one format."""

    order: str
    format: str
    wanted: float  # digits that the worst state is to keep
    states: int
    before: float  # digits that the worst state keeps without added armature
    uniform: float | None  # least share of its own inertia for all joints; None: none suffices
    uniform_cost: float  # largest relative change of qdd with it, over the states
    joints: tuple[Joint, ...]
    after: float  # digits of the worst state with the least armatures
    fresh: float  # the same on as many other states
    cost: tuple[float, float]  # relative change of qdd with them, median and largest

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """A sentence, and a line for each joint that needs some."""
        head = f"{self.order} in {self.format} keeps {self.before:.1f} digits in the worst of "
        head += f"{self.states} states"
        if self.before >= self.wanted:
            return f"{head}: no armature is needed for {self.wanted:g}."
        if self.uniform is None:
            return f"{head}; no armature up to {MOST:g} of their own makes it {self.wanted:g}."
        lines = [
            f"{head}. Armature of {self.uniform:.2g} of each joint's own inertia makes it "
            f"{self.wanted:g}, and changes qdd by up to {self.uniform_cost:.1%}. The least, joint "
            f"by joint, makes it {self.after:.1f} ({self.fresh:.1f} on {self.states} other "
            f"states), and changes qdd by {self.cost[0]:.1%} in the median state, up to "
            f"{self.cost[1]:.1%}:"
        ]
        for joint in self.joints:
            if joint.least:
                share = joint.least / joint.own if joint.own else np.inf
                lines.append(f"  {joint.name}: {joint.least:.3g} ({share:.2g} of its own)")
        rest = sum(not joint.least for joint in self.joints)
        return "\n".join([*lines, f"  none at {rest} other joints"] if rest else lines)


def least_armature(
    tree: nx.DiGraph,
    order: str = "crbm",
    format: str = "float32",
    *,
    digits: float = 3.0,
    states: int = 100,
    seed: int = 0,
) -> LeastArmature:
    """The least armature, joint by joint, with which ``order`` keeps ``digits`` in all states.

    Least: none of them can be lowered alone, to a few per cent of its decade.  Raises what a report
    raises, and OrderError for orders that split forces along joints that turn.
    """
    bench = _Bench(tree, order, format, states, seed)
    N = len(bench.own)
    none = np.zeros(N)
    before = bench.digits(none)
    if before >= digits:
        return bench.found(digits, before, 0.0, none)
    share = _least(lambda x: bench.digits(x * bench.own) >= digits)
    if share is None:
        return bench.found(digits, before, None, none)
    added = share * bench.own
    for j in bench.tip_to_base:
        added[j] = bench.lowered(added, j, digits)
    return bench.found(digits, before, share, added)


def _least(holds: Callable[[float], bool], most: float = MOST) -> float | None:
    """The least x up to ``most`` with ``holds(x)``, by bisection of log x; None if none."""
    if not holds(most):
        return None
    low, high = np.log10(LEAST), np.log10(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(10.0**middle) else (middle, high)
    return float(10.0**high)


class _Bench:
    """States of a robot whose joints all have a place for armature on the diagonal."""

    def __init__(self, tree: nx.DiGraph, order: str, format: str, states: int, seed: int) -> None:
        self.format: Format = get_format(format)
        self.states = states
        place = tree.copy()
        compiled = compile_tree(tree)
        for name, dof in zip(compiled.names, compiled.dof, strict=True):
            if dof:
                place.nodes[name]["armature"] = np.ones(dof)
        setup, _ = prepare(place, str(compiled.name), [order], [format], seed)
        self.order, self.proof = setup.orders[order], setup.proof
        self.tree = compiled
        self.system, self.ranges = drawn_system(tree, seed)
        self.seen = entries_at(self.system, self.ranges, seed, range(states))
        self.other = entries_at(self.system, self.ranges, seed, range(states, 2 * states))
        for entries in (self.seen, self.other):
            if not held(setup.system.pattern, entries).all():
                raise OrderError(
                    f"{compiled.name}: some random states have zeros in (4) where others have "
                    "none; ask for fewer states, or for another seed"
                )
        if any(self.order.turned(self.seen.S)):
            raise OrderError(
                f"order {order!r}: splits forces along joint axes that turn with the state, so "
                "that one program does not hold in all states; ask for crbm or abm"
            )
        crbm = trace(self.system, orderings.get("crbm"))
        few = [
            joint_space_inertia(self.system.refresh(*draw(self.ranges, seed, i)[:2]), crbm)
            for i in range(min(states, 10))
        ]
        given = compiled.terms.armature if compiled.terms is not None else 0.0
        self.given = np.zeros(int(compiled.offset[-1])) + given
        self.own = np.median([np.diag(M) for M in few], axis=0) - self.given

    @property
    def tip_to_base(self) -> list[int]:
        order = self.system.structure.order.tolist()
        spans = (range(self.tree.offset[k], self.tree.offset[k + 1]) for k in order)
        return [j for span in spans for j in span]

    def with_armature(self, entries: Entries, added: Floats) -> Entries:
        A = np.broadcast_to(self.given + added, entries.tau.shape)
        return replace(entries, A=np.ascontiguousarray(A))

    def qdd(self, entries: Entries, added: Floats) -> tuple[NDArray, Pair]:
        """Answers (m, N) in the format, and in double-double for the data rounded to it."""
        entries = self.with_armature(entries, added)
        values = self.format.cast(self.order.values_of(entries))
        at, chosen = self.order, self.format
        found = answers(at.tape, chosen, at.places, values, at.qdd)
        proof = self.proof.pairs(np.asarray(self.format.cast(self.proof.values_of(entries)), dtype=float))
        return found, self.proof.beside_least(proof, least_sizes(self.system, entries))

    def digits(self, added: Floats, fresh: bool = False) -> float:
        """Digits that the worst state keeps; 0 where one has no answer."""
        with np.errstate(all="ignore"):
            found, truth = self.qdd(self.other if fresh else self.seen, added)
            error = truth.largest(found)
        worst = float(np.where(np.isfinite(error), error, 1.0).max(initial=0.0))
        return float(max(0.0, -np.log10(max(worst, self.format.unit))))

    def lowered(self, added: Floats, j: int, digits: float) -> float:
        """The least armature of freedom j that keeps the digits, the others being as they are."""

        def holds(x: float) -> bool:
            tried = added.copy()
            tried[j] = x * self.own[j]
            return self.digits(tried) >= digits

        if not self.own[j] or holds(0.0):
            return 0.0 if self.own[j] else float(added[j])
        share = _least(holds, added[j] / self.own[j])
        return float(added[j] if share is None else share * self.own[j])

    def cost(self, added: Floats) -> Floats:
        """(m,) change of qdd by the armature, relative to its largest entry."""
        before, after = self._exact, self.exact(added)
        return np.abs(after - before).max(axis=1) / np.abs(before).max(axis=1)

    @cached_property
    def _exact(self) -> Floats:
        return self.exact(np.zeros(len(self.own)))

    def exact(self, added: Floats) -> Floats:
        """(m, N) qdd of the model's doubles, in double-double."""
        values = self.proof.values_of(self.with_armature(self.seen, added))
        return self.proof.pairs(values).high

    def found(self, digits: float, before: float, share: float | None, added: Floats) -> LeastArmature:
        cost = self.cost(added)
        joints = zip(
            self.tree.freedom_names, self.own.tolist(), self.given.tolist(), added.tolist(), strict=True
        )
        uniform = 0.0 if not share else float(self.cost(share * self.own).max())
        return LeastArmature(
            self.order.tape.program.name,
            self.format.name,
            digits,
            self.states,
            before,
            share,
            uniform,
            tuple(Joint(*joint) for joint in joints),
            self.digits(added),
            self.digits(added, fresh=True),
            (float(np.median(cost)), float(cost.max())),
        )
