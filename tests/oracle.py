"""Block elimination on booleans, written apart from the project: what is filled in, and when."""


class Infeasible(Exception):
    """The block and the step (1-based) of a pivot that is structurally zero."""


class Oracle:
    """Block elimination on booleans: who is coupled with whom, after every pivot."""

    def __init__(self, groups, of):
        n, parent, dof = of.n, of.parent, of.dof
        kinds = {kind for group in groups for kind, _ in group}
        self.split = bool(kinds & {"fJ", "fC"})
        self.size = {}
        for k in range(n):
            name = of.names[k]
            sizes = {"pdd": 6, "qdd": dof[k]}
            sizes |= {"fJ": dof[k], "fC": 6 - dof[k]} if self.split else {"f": 6}
            self.size |= {(kind, name): int(s) for kind, s in sizes.items() if s}
        self.size |= {("lam", tie.name): tie.rows for tie in of.ties}
        self.near, self.diagonal = {b: set() for b in self.size}, set()
        for tie in of.ties:
            for k in tie.bodies:
                self._join(("lam", tie.name), ("pdd", of.names[k]))
            if tie.compliant:
                self.diagonal.add(("lam", tie.name))
        placed = {tuple(b) for group in groups for b in group}
        last = [("lam", tie.name) for tie in of.ties]
        groups = [*groups, *([b] for b in last if b not in placed)]
        for k in range(n):
            name = of.names[k]
            up = of.names[parent[k]] if parent[k] >= 0 else None
            for force in ("f", "fJ", "fC"):
                for other in (("pdd", name), ("pdd", up)):
                    self._join((force, name), other)
            # a massless carrier is behind the joint of its body, and has no block of its own
            massless = of.carrier[k]
            joint = of.names[of.copy_of[k]] if massless else name
            self._join(("qdd", joint), ("fJ" if self.split else "f", name))
            if not massless:
                self.diagonal.add(("pdd", name))
        first, second = ("fJ", "qdd") if self.split else ("pdd", "f")
        self.mate = {(first, name): (second, name) for name in of.names}
        self.unit = set(self.mate.items())  # couplings that are still the identity
        self.start = {frozenset((a, b)) for a in self.near for b in self.near[a]}
        self.fill, self.counts, self.order, self.changed = {}, {}, [], []
        for step, group in enumerate(self._present(groups), start=1):
            for pivot in self._base_pivots(group):
                self._eliminate(pivot, step)

    def _join(self, a, b):
        if a in self.near and b in self.near:
            self.near[a].add(b)
            self.near[b].add(a)

    def _present(self, groups):
        kept = [[tuple(b) for b in group if tuple(b) in self.size] for group in groups]
        return [group for group in kept if group]

    def _base_pivots(self, group):
        """Pairs first, in the order of their pdd, or of their qdd beside fJ; then pdd, f or fJ, fC, qdd."""
        pair_of = {pair[self.split]: pair for pair in self.mate.items()}
        pairs = [pair_of[b] for b in group if b in pair_of and set(pair_of[b]) <= set(group)]
        named = {b for pair in pairs for b in pair}
        rank = {"pdd": 0, "f": 1, "fJ": 1, "fC": 2, "qdd": 3, "lam": 4}
        rest = sorted((b for b in group if b not in named), key=lambda b: rank[b[0]])
        return pairs + [(b,) for b in rest]

    def _eliminate(self, pivot, step):
        if len(pivot) == 2:
            x, z = pivot
            if pivot not in self.unit or z in self.diagonal:
                self._eliminate((x,), step)
                self._eliminate((z,), step)
                return
            # [[X, 1], [1, 0]]^-1 = [[0, 1], [1, -X]]: (x z), (z x) and (z z) are used, (x x) not
            beside = (self.near[x] | self.near[z]) - {x, z}
            through = self.near[z] - {x}
            touched = {frozenset((a, b)) for a in through for b in beside}
        else:
            (x,) = pivot
            if x not in self.diagonal:
                raise Infeasible(x, step)
            beside = set(self.near[x])
            touched = {frozenset((a, b)) for a in beside for b in beside}
        for b in pivot:
            self.counts[b] = len(self.near[b])
            for other in self.near.pop(b):
                if other in self.near:
                    self.near[other].discard(b)
            self.order.append(b)
        for ends in touched:
            a, b = (*ends, *ends)[:2]
            if a == b:
                self.diagonal.add(a)
                continue
            self.unit -= {(a, b), (b, a)}
            self._join(a, b)
            if ends not in self.start:
                self.fill.setdefault(ends, step)
        self.changed.append((pivot, touched))


def needed_height(oracle, blocks):
    """Blocks on the longest chain of pivots each of which changes an entry of the next."""
    place, ready, done = {b: t for t, b in enumerate(blocks)}, dict.fromkeys(blocks, 0), {}
    for pivot, touched in oracle.changed:
        for i, b in enumerate(pivot):
            done[b] = 1 + max(ready[b], done[pivot[0]] if i else 0)
        for ends in touched:
            first = min(ends, key=place.__getitem__)
            ready[first] = max(ready[first], done[pivot[-1]])
    return max(done.values())
