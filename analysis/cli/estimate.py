"""What long work would take, told before it begins where that is more than a minute or 4 GB.

The factor of an order is counted in milliseconds: the rows beside its pivots say how long it takes
to trace it, its operations with dense blocks how long to play it.  Rates are processor time at
2.5 GHz, of chains and random trees of 20 to 3000 bodies; docs/robustness.md holds whole runs
against them.  They tell a minute from an hour; they are no promise.  Many states, many models and
motions are judged by the first of them.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import Format, get_format

LONG, LARGE = 60.0, 4e9  # [s] and bytes; more work than that needs --yes
TRIED = 2.5  # [s] for which pieces are measured before the time of the others is estimated
SEARCHED = 2e-6  # [s] for an operation of an order that a search counts and compiles
PICTURE, BODY = 0.1, 2.5e-3  # [s] for a picture of a film, and for each body in it
FAST = 1e-7  # [s] for an operation in a format of the processor's floats
SLOW = {"dd": 3e-6, "mp": 4e-6, "ball": 3.5e-6, "object": 5e-6, "exact": 8e-8}  # in others
DIGIT = 1.2e-9  # [s] for each digit of such an operation
PROVED, BIT = 1.2e-7, 4.2e-11  # [s] for an operation in balls, and for each bit of them
DEEP = 6.0  # bits that balls lose for each body between base and tip
SAMPLED = 12  # models of a sweep whose factors are counted
ONE = 0.012  # [s] for one model in one order of a sweep, without its trace
# how many eliminations of each order a figure of numbers needs
RUNS = {"digits": 2, "tradeoff": 1, "condition": 6, "heat": 1, "pivots": 1, "cancelled": 1}
LOOK = 2.5e-6  # [s] for an operation when the bound of an assignment of formats is found
STATE = 1e-8  # [s] for an operation in one of many states


class Work(NamedTuple):
    """Processor time and memory of a piece of work."""

    seconds: float = 0.0
    bytes: float = 0.0

    def __mul__(self, count: float) -> Work:  # type: ignore[override]
        return Work(count * self.seconds, count * self.bytes)

    def plus(self, *others: Work) -> Work:
        """The sum: pieces run one after another, and the memory of all of them is kept."""
        return Work(*map(sum, zip(self, *others, strict=True)))


NOTHING = Work()
# to trace one row beside a pivot, and one update that is written block by block
ROW, UPDATE = Work(1.4e-4, 8e3), Work(4.5e-5, 2e3)
MEETING, FILLED = Work(1.2e-3, 6e4), Work(1e-4, 3e3)  # derivatives by one joint: a body, fill
# as formulas: derivatives as above; a block of the factor, a pair of blocks beside a pivot
LISTED_MEETING, LISTED_FILLED = Work(1.7e-2, 1.2e5), Work(5e-4, 5e3)
LISTED, LISTED_PAIR = Work(1.4e-3, 5e3), Work(1.2e-4, 3.3e3)

FOLLOWED = 1_000_000  # blocks of fill up to which updates are counted


class Size(NamedTuple):
    """The factor of an order on one robot."""

    bodies: int
    joints: int  # that move
    flops: int  # operations with dense blocks
    rows: float  # beside pivots
    blocks: int
    fill: int
    pairs: float  # of blocks beside a pivot
    updates: int  # of them, those that are written one by one

    @staticmethod
    def of(system: kkt.System, order: Any) -> Size | None:
        """None for an order that is refused: its elimination then says why."""
        try:
            plan = kkt.plan(order, system.structure)
            counts = kkt.column_counts(plan)
            few = counts.fill_blocks <= FOLLOWED
            updates = kkt.symbolic(plan).updates if few else 0
        except kkt.PivotreeError:
            return None
        c = counts.counts.astype(float)
        return Size(
            system.tree.n,
            int((system.tree.dof > 0).sum()),
            counts.flops,
            float(counts.widths.sum()),
            int(c.sum()),
            counts.fill_blocks,
            float((c * (c + 1.0) / 2.0).sum()),
            updates,
        )


Counted = Callable[[Size], Work]  # what an order takes


def eliminated(formats: Iterable[Format] = (), times: float = 1.0) -> Counted:
    """The work of tracing an order and running it in these formats, ``times`` times over."""
    chosen = list(formats)

    def of(size: Size) -> Work:
        played = size.flops * sum(_operation(f, size.bodies) for f in chosen)
        traced = (ROW * size.rows).plus(UPDATE * size.updates)
        return Work(times * (traced.seconds + played), traced.bytes)

    return of


def derived(formats: Iterable[Format] = ()) -> Counted:
    """The same, with the derivatives of qdd by q, qd and tau."""
    base = eliminated(formats)
    return lambda size: base(size).plus(_by_joints(size, MEETING, FILLED))


def listed(derivatives: bool) -> Counted:
    """The work of listing an order as formulas; the listing itself refuses too long ones."""
    from ..listing.listing import MAX_UPDATES

    def of(size: Size) -> Work:
        if size.updates > MAX_UPDATES:
            return NOTHING
        found = (LISTED * size.blocks).plus(LISTED_PAIR * size.pairs)
        more = _by_joints(size, LISTED_MEETING, LISTED_FILLED)
        return found.plus(more) if derivatives else found

    return of


def _by_joints(size: Size, meeting: Work, filled: Work) -> Work:
    return (meeting * size.bodies).plus(filled * size.fill) * size.joints


def _operation(chosen: Format, bodies: int) -> float:
    """Seconds that one operation with dense blocks takes in a format."""
    if chosen.kind == "exact":  # fractions grow from body to body
        return SLOW["exact"] * bodies**2
    return SLOW[chosen.kind] + DIGIT * chosen.digits if chosen.kind in SLOW else FAST


def certificate(system: kkt.System, order: Any, digits: int = 30, times: int = 1) -> Work:
    """The work of certifying qdd by an order, in balls whose bits are doubled until they do."""
    size = Size.of(system, order)
    if size is None:
        return NOTHING
    deep: dict[Any, int] = {}
    for k in system.structure.order[::-1].tolist():
        deep[k] = 1 + deep.get(int(system.structure.parent[k]), 0)
    first = max(128.0, 4.0 * digits + 64.0)
    most = first + DEEP * max(deep.values(), default=0)
    tries = 1 + math.ceil(math.log2(most / first))
    bits = first * (2.0**tries - 1.0)  # of all of them
    return Work(times * size.flops * (tries * PROVED + BIT * bits), 0.0)


def admit(
    options: argparse.Namespace,
    system: kkt.System,
    orders: Mapping[str, Any],
    work: Counted | None = None,
    rest: Work = NOTHING,
    smaller: str = "use an order with less fill, such as abm, or a smaller model",
) -> None:
    """Raise SizeError where the work is more than LONG or LARGE, unless --yes is given.

    ``work`` is that of each order, which run one after another; ``rest`` comes on top.
    """
    if options.yes:
        return
    work, takes, flops = work or eliminated(), {}, {}
    for name, order in orders.items():
        size = Size.of(system, order)
        takes[name] = NOTHING if size is None else work(size)
        flops[name] = 0 if size is None else size.flops
    ranked = sorted(takes, key=lambda name: takes[name], reverse=True)
    whole = _sum([takes[name] for name in ranked], rest)
    if whole.seconds <= LONG and whole.bytes <= LARGE:
        return
    for k in range(1, len(ranked)):
        left = _sum([takes[name] for name in ranked[k:]], rest)
        if left.seconds <= LONG and left.bytes <= LARGE:
            others = f" and {k - 3} more" if k > 3 else ""
            without = ", ".join(ranked[: min(k, 3)]) + others
            smaller = f"without {without} it takes about {_time(left.seconds)} (--order)"
            break
    told, most = "", ranked[0] if ranked else ""
    if ranked and takes[most] > rest:
        told = f", most of it for {most} ({flops[most]:.0e} operations with dense blocks)"
    judge(options, f"{options.command} {options.model}", whole, told, smaller)


def _sum(takes: list[Work], rest: Work) -> Work:
    most = max((each.bytes for each in takes), default=0.0)
    return Work(sum(each.seconds for each in takes) + rest.seconds, most + rest.bytes)


def derivatives_take(system: kkt.System, formats: Iterable[str]) -> tuple[Counted, Work]:
    """The work of each order's derivatives, and of the certified ones that judge them."""
    chosen, size = [get_format(name) for name in formats], Size.of(system, orderings.get("abm"))
    return derived(chosen), NOTHING if size is None else derived()(size)


def admit_states(options: argparse.Namespace, system: kkt.System, orders: Iterable[str]) -> None:
    """The same before many states are measured, whose orders are traced once."""
    wanted = {name: orderings.get(name) for name in orders}
    admit(options, system, wanted, derived() if options.derivatives else eliminated())


def states_pilot(options: argparse.Namespace, kept: bool = True) -> Pilot:
    """Estimates the time of all states of a report from the first ones."""
    from pivotree.kkt.machine.native import processors

    what, less = f"{options.command} {options.model}", "give fewer --states, or fewer --order"
    return Pilot(options, what, less, processors(), kept=kept)


def admit_search(options: argparse.Namespace, system: kkt.System) -> None:
    """The same for ``tune``, which counts --most orders twice, and all registered ones."""
    from pivotree.analysis.cheapest.places import count  # the search loads more

    there = count(system.structure) << int((system.structure.dof > 0).sum())
    flops = 2 * min(options.most, there) * operations(system, orderings.get("abm"))
    for name in orderings.names(loops=bool(system.loops)):
        flops += operations(system, orderings.get(name))
    smaller = "give fewer orders with --most, or a smaller model"
    what = f"{options.command} {options.model}"
    judge(options, what, Work(SEARCHED * flops), f" ({flops:.0e} operations)", smaller)


def admit_figure(options: argparse.Namespace, system: kkt.System, orders: Iterable[str]) -> None:
    """The same for a film, or for a figure of numbers, which leaves heavy orders out."""
    from ..figures.film import FRAMES, MOVING
    from ..figures.kinds import HEAVY, USUAL

    if options.kind == "film" and options.output.lower().endswith(tuple(MOVING)):
        seconds = FRAMES * (PICTURE + BODY * system.tree.n)
        smaller = "use a smaller model, or write a .svg of six of them"
        what = f"figure {options.model}"
        judge(options, what, Work(seconds), f" ({FRAMES} pictures)", smaller)
    if options.kind in RUNS:
        chosen = {name: orderings.get(name) for name in orders or USUAL}
        within = {k: order for k, order in chosen.items() if operations(system, order) <= HEAVY}
        admit(options, system, within, eliminated(times=RUNS[options.kind]))


def admit_promises(
    options: argparse.Namespace, system: kkt.System, orders: Iterable[str], formats: int
) -> None:
    """The same for ``guarantee``, which samples states and tries assignments of formats."""
    wanted = {name: orderings.get(name) for name in orders}
    flops = sum(operations(system, order) for order in wanted.values())
    looks = 0.0 if options.digits is None else 50.0
    looks += 4.0 * system.tree.n * formats if options.by_body else 0.0
    played = formats if options.digits is None else 1
    sampled = flops * played * STATE * options.states
    looked = flops * LOOK * (looks + 3 * played)
    less = "use a smaller model" + (", or leave out --by-body" if options.by_body else "")
    smaller = "give fewer --states" if sampled > looked else less
    admit(options, system, wanted, rest=Work(sampled + looked), smaller=smaller)


def sweep_pilot(options: argparse.Namespace, config: Any) -> Pilot:
    """Estimates the time of all rows from the first ones and from the traces of their models.

    Raises SizeError where tracing the orders alone is long work.
    """
    import numpy as np

    from pivotree.kkt.machine.native import processors

    models = sum(1 for _ in config.models)
    chosen = {round(k * (models - 1) / max(1, SAMPLED - 1)) for k in range(SAMPLED)}
    at = sorted(chosen)
    orders = [orderings.get(x.partition("+")[0]) for x in config.settings.orders]
    traces = [_traces(model, orders) for i, model in enumerate(config.models) if i in chosen]
    each = len(orders) * ONE + np.interp(np.arange(models + 1), at, traces)
    so_far = np.concatenate([[0.0], np.cumsum(each)])
    rows = config.rows / models  # of a model

    def weight(done: float) -> float:
        return float(np.interp(done / rows, np.arange(models + 2), so_far))

    what, smaller = f"sweep {options.config}", "give fewer models, orders, formats or states"
    workers = processors() if options.jobs is None else options.jobs
    whole = float(np.interp(np.arange(models), at, traces).sum())
    judge(options, what, Work(whole / workers), " to trace every model's orders once", smaller)
    others = workers if options.jobs is None else 1  # the first rows are made by as many
    return Pilot(options, what, smaller, others, weight)


def _traces(model: Any, orders: Iterable[Any]) -> float:
    """Seconds to trace a model's orders; 0 for a model that cannot be built."""
    try:
        system = kkt.build(model.tree())
    except kkt.PivotreeError:
        return 0.0
    found = (Size.of(system, order) for order in orders)
    return sum(eliminated()(size).seconds for size in found if size is not None)


class Motions:
    """Estimates the time of all motions from how far the first comes in ``TRIED`` seconds."""

    def __init__(self, options: argparse.Namespace, integration: Any, count: int) -> None:
        one = integration.integrator == "cash_karp"  # whose runs go side by side
        self.total = float(count * (1 if one else max(1, options.runs)))
        self.seconds, self.steps = integration.seconds, integration.steps
        smaller = "give fewer --seconds or --runs, or a larger --eps"
        what = f"simulate {options.model}"
        self.pilot = Pilot(options, what, smaller, kept=False, alone=True)
        self.whole, self.t, self.ticks = 0.0, 0.0, 0

    def of(self, tick: Callable[[float], None]) -> Callable[[float], None]:
        """The same, told of the time that a motion has reached after each step."""

        def told(t: float) -> None:
            tick(t)
            if t < self.t:  # another one has begun
                self.whole, self.ticks = self.whole + 1.0, 0
            self.t, self.ticks = t, self.ticks + 1
            part = min(1.0, max(t / self.seconds, self.ticks / self.steps))
            self.pilot(min(self.whole + part, self.total), self.total)

        return told


class Pilot:
    """Estimates the time of many pieces of work from the first ones; SizeError where it is long.

    ``weight`` says how much work the first k pieces are, in any unit; ``processes`` how many will
    do the rest.  ``kept`` says that finished pieces are kept if the work is refused, ``alone`` that
    this process does the work.  Times are those of processors that nobody else uses, so that no
    work is refused because the machine is loaded.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        what: str,
        smaller: str,
        processes: int = 1,
        weight: Callable[[float], float] = lambda k: k,
        kept: bool = True,
        alone: bool = False,
    ) -> None:
        self.options, self.what, self.smaller = options, what, smaller
        self.processes, self.weight, self.kept, self.alone = processes, weight, kept, alone
        self.first: tuple[float, float] | None = None
        self.judged, self.rate = options.yes, math.inf

    def __call__(self, done: float, total: float) -> None:
        """Tell that ``done`` of ``total`` pieces are finished."""
        if self.judged or not done:
            return
        now = time.process_time() if self.alone else time.perf_counter()
        if self.first is None:  # it loads compiled code, and says nothing of the others
            self.first = now, done
        began, at = self.first
        if done == at or now - began < TRIED:
            return
        spent = (now - began) * (1.0 if self.alone else _share())
        rate = min(self.rate, spent / (self.weight(done) - self.weight(at)))
        seconds = rate * (self.weight(total) - self.weight(done)) / self.processes
        if seconds > LONG and math.isinf(self.rate):  # later pieces may load code, too: look again
            self.rate, self.first = rate, (now, done)
            return
        self.judged = True
        left = total - done
        told = f" more for {left:,.0f} of {total:,.0f}" if left >= 10.0 else " more"
        told += "; what was measured is kept" if self.kept else ""
        judge(self.options, self.what, Work(seconds), told, self.smaller)


def _share() -> float:
    """The share of a processor that this process has, by the load of the machine."""
    from pivotree.kkt.machine.native import processors

    try:
        return min(1.0, processors() / max(os.getloadavg()[0], 1.0))
    except (AttributeError, OSError):  # Windows has no such number
        return 1.0


def judge(options: argparse.Namespace, what: str, work: Work, told: str, smaller: str) -> None:
    """Raise SizeError where the work is more than LONG or LARGE, unless --yes is given."""
    if options.yes or (work.seconds <= LONG and work.bytes <= LARGE):
        return
    memory = f" and {work.bytes / 1e9:.0f} GB of memory" if work.bytes > 0.1 * LARGE else ""
    raise kkt.SizeError(f"{what}: takes about {_time(work.seconds)}{memory}{told}; {smaller}; --yes goes on")


def operations(system: kkt.System, order: Any) -> int:
    """Operations of an order with dense blocks; 0 where the order is refused."""
    size = Size.of(system, order)
    return 0 if size is None else size.flops


def _time(seconds: float) -> str:
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            number = seconds / size
            return f"{number:.0f} {unit}" if number < 1e5 else f"{number:.0e} {unit}"
    return f"{max(seconds, 1.0):.0f} s"
