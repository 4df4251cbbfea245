"""Factor and solve (4) from its entries: one pass from tip to base, one from base to tip.

The passes are compiled to machine code, which is cached in memory and on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import SingularError
from ..machine import native, store
from ..machine.native import address_of
from ..machine.recorder import Scalar, reference
from ..matrix.system import System
from ..model.spatial import stored
from ..model.tree import BodyTree
from .passes import DECLARED, RECORD, Array, Numbers, Pass, Place, Record, Step, StepWriter, outwards, upwards
from .plan import ANY, ZERO, Kind, TreePlan
from .template import Bodywise, Play, template

ENTRIES = (
    Numbers("M", "body", 36, fetched=True),
    Numbers("Phi", "body", 36, fetched=True),
    Numbers("S", "joint", 6, fetched=True),
    Numbers("a", "body", 6, fetched=True),
    Numbers("b", "body", 6, fetched=True),
    Numbers("tau", "joint", 1, fetched=True),
)
FACTOR = (*ENTRIES, Numbers("pivot", "joint", 1))
SOLVE = (
    *(e for e in ENTRIES if e.name not in "Mb"),
    # read only at leaves, whose M^ and b^ are M and b themselves
    *(Numbers(e.name, e.by, e.size) for e in ENTRIES if e.name in "Mb"),
    Numbers("pdd_up", "parent", 6),
    Numbers("pdd", "body", 6, fetched=True),
    Numbers("qdd", "joint", 1),
    Numbers("f", "body", 6, fetched=True),
)
OWN = Numbers("A", "joint", 1, fetched=True)  # where joints have inertia of their own
Blocks = dict[str, Array]  # entries of (4) by letter


def passes(order: Bodywise, kinds: Sequence[Kind], alike: bool) -> tuple[Pass, Pass, tuple[int, ...]]:
    """The two passes for a tree of these kinds of bodies, and what a body of each hands on, in numbers.

    ``alike`` says that one M stands for all bodies.
    """
    there, back, records = zip(*(steps_of(order, kind) for kind in kinds), strict=True)
    own = (OWN,) if any(k.A for k in kinds) else ()
    factor, solve = (
        (*own, *(replace(it, by="one") if alike and it.name == "M" else it for it in arrays))
        for arrays in (FACTOR, SOLVE)
    )
    return Pass("factor", factor, there), Pass("solve", solve, back), records


def steps_of(order: Bodywise, kind: Kind) -> tuple[Step, Step, int]:
    """The two steps of a body of a kind, and the count of numbers that one hands to the other."""
    N, any6 = kind.dof, (ANY,) * 6
    sizes = {"M": 36, "Phi": 36, "S": 6 * N, "a": 6, "b": 6, "tau": N, "A": len(kind.A)}
    there = StepWriter({**sizes, "children": order.update * (not kind.leaf)})
    back = StepWriter({**sizes, "pdd_up": 6, RECORD: MOST})
    own = {
        letter: there.array(letter, known)
        for letter, known in (
            ("M", kind.M),
            ("Phi", kind.Phi),
            ("S", kind.S),
            ("a", (ANY if kind.bias else ZERO,) * 6),
            ("b", any6),
            ("tau", (ANY,) * N),
        )
    }
    if kind.A:
        own["A"] = diagonal(there.array("A", kind.A))
    step = BodyBracket(order, kind, there)
    out = step.there(own)
    record = Record(there, back)
    up = None if kind.root else back.array("pdd_up", any6)
    found = step.back(back, record, {letter: record.array(x) for letter, x in own.items()}, up)
    backward, slots = record.tightened(back.step(found))
    out |= {(RECORD, i): Scalar(there.recorder, slot) for i, slot in enumerate(slots)}
    return there.step(out), backward, len(slots)


MOST = 400  # numbers of a body, at most, that the factor hands to the solve


class BodyBracket:
    """The operations of an order on a body of a kind, both ways, on numbers that are traced."""

    def __init__(self, order: Bodywise, kind: Kind, writer: StepWriter) -> None:
        self.order, self.kind, self.writer = order, kind, writer
        self.layout = template(order, order.richest, (), False)  # of updates
        children = () if kind.leaf else (order.richest,)
        self.template = template(order, kind.dof, children, kind.root, bool(kind.A))
        self.play: Play = Play(self.template, writer.recorder)

    def there(self, own: Blocks) -> dict[Place, Any]:
        """Pivots and update, from the body's entries of (4) and its children's updates."""
        kind, writer, play = self.kind, self.writer, self.play
        play.enter({_LETTER.get(x, x): references(writer, block) for x, block in own.items()})
        if not kind.leaf:
            sums = writer.array("children", (ANY,) * self.order.update)
            play.receive(references(writer, sums), self.layout)
        play.run(self.template.there)
        out: dict[Place, Any] = {}
        for value, rows in self.template.pivots:
            pivots = numbers(writer, play.values[value].diagonal()[rows])
            out |= {("pivot", j): x for j, x in enumerate(pivots)}
        if not kind.root:
            update = numbers(writer, play.handed(self.layout))
            out |= {("update", i): x for i, x in enumerate(update)}
        return out

    def back(self, writer: StepWriter, record: Record, own: Blocks, up: Array | None) -> dict[Place, Any]:
        """pdd, qdd and f, from the parent's pdd and the record of the way there."""
        made, play = self.template, Play(self.template, writer.recorder)
        for value in made.kept:
            block = numbers(self.writer, self.play.values[value])
            play.values[value] = references(writer, record.array(block))
        play.enter({_LETTER.get(x, x): references(writer, block) for x, block in own.items()})
        if made.up is not None and up is not None:
            above = references(writer, up)[:, None]
            play.values[made.up.value] = above if made.up.sign > 0 else -above
        play.run(made.back)
        return {
            (kind, i): x
            for kind, ref in made.solution.items()
            for i, x in enumerate(numbers(writer, play.take(ref)[:, 0]))
        }


_LETTER = {"S": "H"}  # letter of the block program


def diagonal(entries: Array) -> Array:
    """A (N, N), zero but on its diagonal."""
    A = np.full((len(entries),) * 2, 0.0, dtype=object)
    np.fill_diagonal(A, entries)
    return A


def references(writer: StepWriter, block: Array) -> Any:
    """References of the numbers of a block."""
    flat = [reference(writer.recorder, x) for x in block.ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(block.shape)


def numbers(writer: StepWriter, refs: Any) -> Array:
    """The numbers that references stand for."""
    out = np.empty(refs.shape, dtype=object)
    out.ravel()[:] = [writer.recorder.value(int(ref)) for ref in refs.ravel()]
    return out


LEVEL = 2  # of LLVM's code generation


@dataclass(frozen=True)
class Code:
    """A pass in machine code."""

    names: tuple[str, ...]  # of the arrays that the steps read and write
    steps: NDArray[np.int64]  # addresses of functions, by kind
    fetch: int  # address of the function that prefetches
    records: NDArray[np.int64]  # numbers that a body of a kind hands from one pass to the other
    engine: Any  # owns the code


@lru_cache(maxsize=32)
def compiled(order: Bodywise, kinds: tuple[Kind, ...], alike: bool, relaxed: bool) -> tuple[Code, ...]:
    """Machine code of an order's two passes for the kinds of a tree's bodies."""
    *made, records = passes(order, kinds, alike)
    target, about = native._target(LEVEL)
    name = store.key("passes", about, order, kinds, alike, relaxed)
    kept = store.read(name)
    if kept is None:
        lines = (line for it in made for line in it.text(relaxed))
        code = native._object("\n".join([DECLARED, *lines]), target)
        kept = {"code": np.frombuffer(code, dtype=np.uint8)}
        store.write(name, kept)
    engine, _ = native._load(kept["code"].tobytes(), target, "factor_fetch")
    codes = []
    for it in made:
        steps = [engine.get_function_address(f"{it.name}{i}") for i in range(len(kinds))]
        fetch = engine.get_function_address(f"{it.name}_fetch")
        arrays = tuple(each.name for each in it.arrays)
        codes.append(Code(arrays, np.array(steps), fetch, np.array(records), engine))
    return tuple(codes)


Floats = NDArray[np.float64]


def solve(system: System, plan: TreePlan, relaxed: bool) -> tuple[Floats, Floats, Floats]:
    """qdd (N,), pdd (n, 6), f (n, 6) from the entries of (4)."""
    tree, e = system.tree, system.entries
    n, N = tree.n, tree.N
    given = {"M": stored(e.M), "Phi": e.Phi, "S": e.S, "a": e.a, "b": e.b, "tau": e.tau, "A": e.A}
    given = {name: np.ascontiguousarray(block) for name, block in given.items()}
    way = len(given["M"]) < n, relaxed
    if way not in plan.codes:
        plan.codes[way] = compiled(plan.order, plan.kinds, *way)
    there, back = plan.codes[way]
    # the unknowns in the order of (4), and the pivots
    x = np.empty(12 * n + 2 * N)
    pdd, qdd, f = x[: 6 * n], x[6 * n : 6 * n + N], x[6 * n + N : 12 * n + N]
    start = address_of(x)
    numbers = {"pdd": start, "pdd_up": start, "qdd": start + 48 * n}
    numbers |= {"f": start + 8 * (6 * n + N), "pivot": start + 8 * (12 * n + N)}
    numbers |= {name: address_of(block) for name, block in given.items()}
    # the stack of updates, and the records that one pass hands to the other
    stack, records = np.empty((plan.places, plan.order.update)), there.records
    record = np.empty(plan.total(records))
    start, walk = address_of(record), (plan.body, plan.code, plan.offset)
    offset, leaf, root = address_of(plan.offset), *np.array([(k.leaf, k.root) for k in plan.kinds]).T
    tables = [np.array([*(numbers[name] for name in code.names), offset]) for code in (there, back)]
    upwards(there.steps, there.fetch, address_of(tables[0]), walk, start, records, stack, leaf, root)
    end = start + record.nbytes
    outwards(back.steps, back.fetch, address_of(tables[1]), walk, plan.walk.up, end, records)
    if not np.isfinite(qdd).all():  # a pivot may be zero
        require_pivots(tree, plan.order.name, plan.walk.order, x[12 * n + N :])
    return qdd, pdd.reshape(n, 6), f.reshape(n, 6)


def require_pivots(tree: BodyTree, name: str, order: NDArray[np.int32], pivot: Floats) -> None:
    """Raise SingularError for the first body of the walk whose pivot is zero or not a number."""
    if np.isfinite(pivot).all() and pivot.all():
        return
    wrong = np.flatnonzero(~np.isfinite(pivot) | (pivot == 0.0))
    bodies = np.searchsorted(tree.offset, wrong, side="right") - 1
    first = order[np.isin(order, bodies)][0]
    raise SingularError(
        f"order {name!r}",
        f"pivot qdd_{tree.names[first]} is zero or not a number for these numbers",
        "give the massless links an inertia",
    )
