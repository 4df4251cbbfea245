"""The groups of any order, sorted by kind: groups of one kind do the same operations.

The operations of a group depend on its blocks and the blocks that they are coupled with, on the
entries of (4) among them, and on the updates that wait for the group: the form of each, and the
blocks that it is about.  One walk over all groups writes this down as a list of integers, the words
of the group.  Groups with equal words are of one kind.  The walk stops at words that were not met
before, so that the new kind is traced (:mod:`.front_template`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.compiled import leaf
from ..matrix.blocks import PDD, QDD, F
from ..structure import symbolic_kernels
from ..structure.ascend import ascend
from ..structure.symbolic import SymbolicFactor
from .borrowed import borrowed
from .front_template import Form, FrontTemplate, front_template

DONE, UNKNOWN, ROOM = 0, 1, 2  # how a walk ends: all units known, a new kind, an array is full
HEAD = 4  # words before all others: four counts

Integers = NDArray[np.int64]


class Units(NamedTuple):
    """Units of elimination on positions 0..B-1: groups, but joints that end an order are one."""

    first: Integers  # (U + 1,) first position of each unit
    step: Integers  # (U + 1,) first group of each unit
    group: Integers  # (B,) group of each position
    kind: Integers  # (B,)
    member: Integers  # (B,) body
    pivot: Integers  # (B,) SINGLE, PAIR_FIRST or PAIR_SECOND
    pointer: Integers  # (B + 1,) entries of (4) with later positions
    later: Integers
    parent: Integers  # (n,) of each body
    dof: Integers
    origin: Integers  # (n,) the body that a piece or a carrier belongs to
    pieces: Integers
    carrier: Integers
    armature: Integers  # 1 where the joint has a block of its own


class Walked(NamedTuple):
    """The result of a walk for each unit: its kind, blocks, bodies and updates, in kinds' order."""

    kind: Integers  # (U,)
    at: Integers  # (U + 1,) its blocks in ``place``
    place: Integers  # positions, ascending; the unit's own come first
    body_at: Integers  # (U + 1,) its bodies in ``body``
    body: Integers
    arrival_at: Integers  # (U + 1,) updates that wait for it in ``arrival``
    arrival: Integers
    update: Integers  # (U + 1,) first update that it makes itself


class _Known(NamedTuple):
    """The kinds found so far: their words, and the updates that they make."""

    hash: Integers  # table of open addresses: kind, or -1
    word_at: Integers
    word: Integers
    made: Integers  # (kinds + 1,) first update of each
    anchor: Integers  # of each update, a block of the group for which it waits
    form: Integers  # of each update, the number of its :data:`kkt.scale.front_template.Form`
    support_at: Integers  # first of each update's blocks in ``support``
    support: Integers  # blocks that each update is about


class _Scratch(NamedTuple):
    mark: Integers  # (B,) the attempt that has listed a block,
    local: Integers  # and its number among the unit's blocks
    body_mark: Integers  # (n,) the same of bodies
    body_local: Integers
    need: Integers  # (n,) sum of 1 where freedoms and armature matter, 2 where the parent does
    head: Integers  # (groups,) first update that waits for a group,
    tail: Integers  # the last,
    next: Integers  # and (updates,) the one after each: linked lists
    of: Integers  # (updates,) the unit that made it
    words: Integers
    filled: Integers  # counts of blocks, bodies, arrivals, updates, words; attempts


def units_of(factor: SymbolicFactor) -> Units:
    """The units of a plan: its groups, and all joints that end it as one unit, as in the tracer."""
    plan, structure = factor.plan, factor.plan.graph.structure
    blocks, graph = plan.blocks, plan.graph
    where = np.full(graph.count, -1, dtype=np.int64)
    where[blocks] = np.arange(len(blocks))
    pointer, later = symbolic_kernels.adjacency(where, graph.edges[0], graph.edges[1], len(blocks))
    symbolic_kernels.sort_columns(pointer, later)
    first = np.searchsorted(plan.group, np.arange(plan.groups + 1))
    joints = np.minimum.reduceat(graph.kind[blocks] == QDD, first[:-1])
    step, tail = np.arange(plan.groups + 1), np.flatnonzero(~joints[1:])
    start = int(tail[-1]) + 2 if len(tail) else 1
    if start < plan.groups:
        step = np.append(np.arange(start + 1), plan.groups)
    n, same = structure.n, np.arange(structure.n)
    given = [
        (structure.copy_of, same),
        (structure.pieces, np.ones(n)),
        (structure.carrier, np.zeros(n)),
        (structure.armature, np.zeros(n)),
    ]
    copies = [np.asarray(b if a is None else a, dtype=np.int64) for a, b in given]
    return Units(
        first[step],
        step,
        plan.group.astype(np.int64),
        graph.kind[blocks],
        graph.member[blocks],
        factor.pivot.astype(np.int64),
        pointer,
        later,
        structure.parent.astype(np.int64),
        structure.dof.astype(np.int64),
        *copies,
    )


def walk(factor: SymbolicFactor, units: Units, most: int) -> tuple[Walked, list[FrontTemplate]] | None:
    """Kinds of all units, and the template of each kind; None if these have ``most`` operations."""
    U, B, n = len(units.first) - 1, len(units.group), len(units.parent)
    groups = int(units.group[-1]) + 1 if B else 0
    room = {"place": 16 * B + 64, "body": 8 * B + 64, "arrival": 2 * B + 64, "words": 4096}
    zero = lambda size: np.zeros(size, dtype=np.int64)  # noqa: E731
    none = lambda size: np.full(size, -1, dtype=np.int64)  # noqa: E731
    walked = Walked(
        none(U),
        zero(U + 1),
        zero(room["place"]),
        zero(U + 1),
        zero(room["body"]),
        zero(U + 1),
        zero(room["arrival"]),
        zero(U + 1),
    )
    with_ = _Scratch(
        none(B),
        zero(B),
        none(n),
        zero(n),
        zero(n),
        none(groups),
        none(groups),
        zero(room["arrival"]),
        zero(room["arrival"]),
        zero(room["words"]),
        zero(6),
    )
    book = _Book()
    templates: list[FrontTemplate] = []
    unit = operations = 0
    while True:
        unit, status = _walk(units, walked, with_, book.known, unit)
        if status == DONE:
            return walked, templates
        if status == UNKNOWN:
            words = with_.words[: with_.filled[4]].copy()
            template = front_template(factor.plan, words, book.forms)
            templates.append(template)
            book.add(words, template)
            operations += len(template.there) + len(template.back)
            if operations >= most:
                return None
        else:
            bigger = {
                f: np.resize(getattr(walked, f), 2 * len(getattr(walked, f)))
                for f in ("place", "body", "arrival")
            }
            walked = walked._replace(**bigger)
            more = {
                f: np.resize(getattr(with_, f), 2 * len(getattr(with_, f))) for f in ("next", "of", "words")
            }
            with_ = with_._replace(**more)


class _Growing:
    """An array that grows at its end."""

    def __init__(self, *given: int) -> None:
        self.data, self.count = np.zeros(64, dtype=np.int64), 0
        self.extend(given)

    def extend(self, more: Sequence[int] | Integers) -> None:
        end = self.count + len(more)
        if end > len(self.data):
            self.data = np.resize(self.data, 2 * end)
        self.data[self.count : end] = more
        self.count = end


class _Book:
    """Kinds by their words."""

    def __init__(self) -> None:
        self.rows: list[Integers] = []
        self.forms: list[Form] = []
        self.number: dict[Form, int] = {}
        self.table = np.full(1024, -1, dtype=np.int64)
        self.word_at, self.word, self.made = _Growing(0), _Growing(), _Growing(0)
        self.anchor, self.form = _Growing(), _Growing()
        self.support_at, self.support = _Growing(0), _Growing()

    @property
    def known(self) -> _Known:
        return _Known(
            self.table,
            self.word_at.data,
            self.word.data,
            self.made.data,
            self.anchor.data,
            self.form.data,
            self.support_at.data,
            self.support.data,
        )

    def add(self, words: Integers, template: FrontTemplate) -> None:
        """Add a kind: its words, and the updates that it makes."""
        self.rows.append(words)
        self.word.extend(words)
        self.word_at.extend([self.word.count])
        for update in template.updates:
            if update.form not in self.number:
                self.number[update.form] = len(self.forms)
                self.forms.append(update.form)
            self.form.extend([self.number[update.form]])
            self.anchor.extend([update.anchor])
            self.support.extend(update.support)
            self.support_at.extend([self.support.count])
        self.made.extend([self.anchor.count])
        if 2 * len(self.rows) > len(self.table):
            self.table = np.full(4 * len(self.table), -1, dtype=np.int64)
            for kind, row in enumerate(self.rows):
                _enter(self.table, row, kind)
        else:
            _enter(self.table, words, len(self.rows) - 1)


@njit(cache=True)
def _place_of(table, words):  # pragma: no cover
    code = np.uint64(14695981039346656037)
    for word in words:
        code = (code ^ np.uint64(word)) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
    return np.int64(code % np.uint64(len(table)))


@njit(cache=True)
def _enter(table, words, kind):  # pragma: no cover
    place = _place_of(table, words)
    while table[place] >= 0:
        place = (place + 1) % len(table)
    table[place] = kind


@leaf()
def _find(known, words):  # pragma: no cover
    place = _place_of(known.hash, words)
    while known.hash[place] >= 0:
        kind = known.hash[place]
        first, last = known.word_at[kind], known.word_at[kind + 1]
        if last - first == len(words):
            same = True
            for i in range(len(words)):
                if known.word[first + i] != words[i]:
                    same = False
                    break
            if same:
                return kind
        place = (place + 1) % len(known.hash)
    return -1


@njit(cache=True)
def _walk(of, to, with_, known, unit):  # pragma: no cover
    """Find the kinds of units from ``unit`` on, up to the first that stops the walk.

    Returns that unit, and DONE, UNKNOWN (its kind is new, its words are in ``with_.words``) or ROOM
    (an array is full; the walk resumes at this unit).
    """
    of, to, with_, known = borrowed(of), borrowed(to), borrowed(with_), borrowed(known)
    blocks, bodies, arrivals, updates = with_.filled[:4]
    for u in range(unit, len(of.first) - 1):
        with_.filled[5] += 1
        now = with_.filled[5]  # this attempt: marks with another number are old
        t0, t1 = of.first[u], of.first[u + 1]
        # blocks: the unit's own, those that (4) couples with them, those of updates that wait
        count, place = 0, to.place[blocks:]
        if len(place) < t1 - t0:
            return u, ROOM
        for t in range(t0, t1):
            place[count], with_.mark[t] = t, now
            count += 1
        edges = 0
        for t in range(t0, t1):
            for e in range(of.pointer[t], of.pointer[t + 1]):
                j, edges = of.later[e], edges + 1
                if with_.mark[j] != now:
                    if count == len(place):
                        return u, ROOM
                    place[count], with_.mark[j] = j, now
                    count += 1
        waiting, length = 0, 0
        for g in range(of.step[u], of.step[u + 1]):
            m = with_.head[g]
            while m >= 0:
                if arrivals + waiting == len(to.arrival):
                    return u, ROOM
                to.arrival[arrivals + waiting] = m
                waiting += 1
                source = with_.of[m]
                item = known.made[to.kind[source]] + m - to.update[source]
                for s in range(known.support_at[item], known.support_at[item + 1]):
                    j, length = to.place[to.at[source] + known.support[s]], length + 1
                    if with_.mark[j] != now:
                        if count == len(place):
                            return u, ROOM
                        place[count], with_.mark[j] = j, now
                        count += 1
                m = with_.next[m]
        own = t1 - t0
        if count > own:
            ascend(place, own, count)
        for a in range(count):
            with_.local[place[a]] = a
        # bodies: those of the unit's own blocks, ascending, then those of the other blocks in turn
        body, many = to.body[bodies:], 0
        if len(body) < 2 * count or len(with_.words) < HEAD + 3 * count + own + 12 * count + (
            own + edges + 2 * waiting + length
        ):
            return u, ROOM
        for a in range(count):
            if a == own:
                ascend(body, np.int64(0), many)
            k = of.member[place[a]]
            for b in (k, of.origin[k]):
                if with_.body_mark[b] != now:
                    body[many], with_.body_mark[b], with_.need[b] = b, now, 0
                    many += 1
        if own == count:
            ascend(body, np.int64(0), many)
        for b in range(many):
            with_.body_local[body[b]] = b
        for a in range(count):
            k, what = of.member[place[a]], of.kind[place[a]]
            if what != PDD:
                with_.need[k] |= 1
                with_.need[of.origin[k]] |= 1
            if what >= F:
                with_.need[k] |= 2
        # the words; front_template() reads them in this order
        word, w = with_.words, HEAD
        word[0], word[1], word[2], word[3] = own, count, many, waiting
        for a in range(count):
            t = place[a]
            word[w], word[w + 1] = of.kind[t], with_.body_local[of.member[t]]
            word[w + 2] = a > own and of.group[t] != of.group[place[a - 1]]
            w += 3
        for t in range(t0, t1):
            word[w] = of.pivot[t]
            w += 1
        for b in range(many):
            k = body[b]
            word[w] = of.dof[k] if with_.need[k] & 1 else 0
            up = of.parent[k]
            known_up = with_.need[k] & 2 and up >= 0 and with_.body_mark[up] == now
            word[w + 1] = with_.body_local[up] if known_up else -1
            word[w + 2] = with_.body_local[of.origin[k]]
            word[w + 3], word[w + 4] = of.pieces[k], of.carrier[k]
            word[w + 5] = of.armature[k] if with_.need[k] & 1 else 0
            w += 6
        for t in range(t0, t1):
            word[w] = of.pointer[t + 1] - of.pointer[t]
            w += 1
            for e in range(of.pointer[t], of.pointer[t + 1]):
                word[w] = with_.local[of.later[e]]
                w += 1
        for m in to.arrival[arrivals : arrivals + waiting]:
            source = with_.of[m]
            item = known.made[to.kind[source]] + m - to.update[source]
            word[w] = known.form[item]
            w += 1
            for s in range(known.support_at[item], known.support_at[item + 1]):
                word[w] = with_.local[to.place[to.at[source] + known.support[s]]]
                w += 1
        found = _find(known, word[:w])
        if found < 0:
            with_.filled[4] = w
            return u, UNKNOWN
        made = known.made[found + 1] - known.made[found]
        if updates + made >= len(with_.next):
            return u, ROOM
        to.kind[u], to.update[u] = found, updates
        for i in range(made):
            anchor = place[known.anchor[known.made[found] + i]]
            g = of.group[anchor]
            m = updates + i
            with_.of[m], with_.next[m] = u, -1
            if with_.head[g] < 0:
                with_.head[g] = m
            else:
                with_.next[with_.tail[g]] = m
            with_.tail[g] = m
        blocks, bodies = blocks + count, bodies + many
        arrivals, updates = arrivals + waiting, updates + made
        to.at[u + 1], to.body_at[u + 1], to.arrival_at[u + 1] = blocks, bodies, arrivals
        to.update[u + 1] = updates
        with_.filled[0], with_.filled[1] = blocks, bodies
        with_.filled[2], with_.filled[3] = arrivals, updates
    return len(of.first) - 1, DONE
