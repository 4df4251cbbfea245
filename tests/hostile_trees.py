"""Small random trees that are hard on purpose, and what is exactly true of them.

Massless links, point masses, thin rods, masses spread over decades, parallel and meeting axes,
stretched poses, every kind of joint, rotors where they are asked for, and closed loops.  Many are
singular: a point mass on a ball joint, a massless link between parallel axes.  ``hostile_system(seed)``
is the same in every run.

The oracle is python-flint's rational and ball matrices on all of equation (4): it shares nothing
with the elimination but the entries.
"""

import warnings
from fractions import Fraction

import flint
import mpmath
import numpy as np
from scipy.spatial.transform import Rotation

from pivotree import kkt
from pivotree.kkt.matrix.entries import LETTERS, Entries, assemble
from pivotree.kkt.matrix.system import least_size

KINDS = "fixed revolute revolute revolute continuous prismatic spherical floating planar universal "
JOINTS = (KINDS + "cylindrical general").split()
INERTIAS = ("full", "full", "full", "rod", "point", "massless")
SPECIAL = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.6, 0, 0.8], [0, 0.6, 0.8]])


def hostile_tree(seed, most=6, rotors=False):
    """A tree of 1 to ``most`` bodies with its state in graph["q"], ["qd"], ["tau"]; perhaps with armature."""
    draw = np.random.default_rng([1996, seed])
    tree = kkt.new_tree(f"hostile {seed}", (0.0, 0.0, -9.81))
    n = int(draw.integers(1, most + 1))
    axes = []
    spread = draw.choice([0.0, 0.0, 2.0, 4.0])  # decades of masses, up and down
    for k in range(n):
        up = None if k == 0 or draw.random() < 0.1 else int(draw.integers(max(0, k - 2), k))
        kind = str(draw.choice(JOINTS))
        axis = _axis(draw, None if up is None else axes[up])
        given = {"axis": axis}
        if kind == "universal":
            given["axis"] = np.array([axis, np.cross(axis, _off(axis))])
        if kind == "general":
            given = {"S": _subspace(draw)}
        mass, com, J = _inertia(draw, str(draw.choice(INERTIAS)), 10.0 ** draw.uniform(-1, 1))
        scale = 10.0 ** draw.uniform(-spread, spread)
        given |= {"mass": mass * scale, "com": com, "inertia": J * scale, "R": _turn(draw), "p": _point(draw)}
        kkt.add_body(tree, f"b{k}", None if up is None else f"b{up}", joint=kind, **given)
        axes.append(axis)
    N = len(kkt.default_state(tree).graph["q"])
    if rotors:
        _gear(np.random.default_rng([1998, seed]), tree)
    choice = draw.random()
    tree.graph["q"] = np.zeros(N) if choice < 0.3 else draw.uniform(-1, 1, N)
    tree.graph["qd"] = np.zeros(N) if draw.random() < 0.3 else draw.normal(size=N)
    tree.graph["tau"] = np.zeros(N) if draw.random() < 0.1 else draw.normal(size=N)
    return tree


def hostile_system(seed, most=6, loops=0.2, rotors=False):
    """The tree's system; some have a closed loop or two.  InertiaWarning and LoopWarning are off.

    A loop whose rows depend on others is left out: kkt refuses it by name (test_loops_refused).
    """
    tree = hostile_tree(seed, most, rotors)
    draw = np.random.default_rng([1997, seed])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tied = _loops(draw, tree) if draw.random() < loops else []
        for kept in range(len(tied), -1, -1):
            try:
                return kkt.build(tree, loops=tied[:kept])
            except kkt.ModelError:
                if not kept:
                    raise
    raise AssertionError


def _gear(draw, tree):
    """Armature on two freedoms of three, over six decades: small ones hide a pivot that is zero."""
    compiled = kkt.compile_tree(tree)
    for name, dof in zip(compiled.names, compiled.dof.tolist(), strict=True):
        if dof:
            tree.nodes[name]["armature"] = 10.0 ** draw.uniform(-5, 1, dof) * (draw.random(dof) < 0.67)


def _loops(draw, tree):
    names = list(tree.nodes)
    found = []
    for number in range(int(draw.integers(1, 3))):
        first = str(draw.choice(names))
        others = [*(b for b in names if b != first), None]
        second = others[int(draw.integers(len(others)))]
        rows = sorted(draw.choice(6, size=int(draw.integers(1, 4)), replace=False).tolist())
        given = {"p": _point(draw), "R": _turn(draw), "rows": tuple(rows), "name": f"loop{number}"}
        given["compliance"] = 0.0 if draw.random() < 0.8 else 1e-3
        found.append(kkt.cut_joint(first, second, "fixed", **given))
    return found


def _off(axis):
    return np.eye(3)[int(np.argmin(np.abs(axis)))]


def _axis(draw, above):
    choice = draw.random()
    if above is not None and choice < 0.3:
        return above  # parallel, unless the frames are turned
    if choice < 0.7:
        return SPECIAL[int(draw.integers(len(SPECIAL)))]
    return draw.normal(size=3)


def _turn(draw):
    choice = draw.random()
    if choice < 0.5:
        return np.eye(3)
    if choice < 0.65:
        quarters = np.pi / 2 * draw.choice([1, 2, 3])
        return Rotation.from_rotvec(quarters * np.eye(3)[int(draw.integers(3))]).as_matrix().round()
    return Rotation.from_rotvec(draw.normal(size=3)).as_matrix()


def _point(draw):
    choice = draw.random()
    if choice < 0.25:
        return np.zeros(3)
    if choice < 0.5:
        return np.round(draw.uniform(-0.5, 0.5, 3), 1)
    return 0.3 * draw.normal(size=3)


def _subspace(draw):
    columns = int(draw.integers(1, 4))
    if draw.random() < 0.5:
        return np.eye(6)[:, draw.choice(6, size=columns, replace=False)]
    return draw.normal(size=(6, columns))


def _inertia(draw, kind, mass):
    """mass, com, inertia about the centre of mass."""
    if kind == "massless":
        return 0.0, np.zeros(3), np.zeros((3, 3))
    com = _point(draw)
    if kind == "point":
        return mass, com, np.zeros((3, 3))
    if kind == "rod":
        along = SPECIAL[int(draw.integers(len(SPECIAL)))] if draw.random() < 0.7 else None
        along = draw.normal(size=3) if along is None else along
        along = along / np.linalg.norm(along)
        J = 0.1 * mass * (np.eye(3) - np.outer(along, along))
        return mass, com, (J + J.T) / 2
    square = draw.normal(size=(3, 3)) * 10.0 ** draw.uniform(-2, 0)
    J = np.trace(square @ square.T) * np.eye(3) - square @ square.T
    return mass, com, 0.1 * mass * (J + J.T) / 2


# -- what is exactly true -------------------------------------------------------------------------


def rational(x):
    """A number of any kind, or the middle of a ball, as flint's rational number."""
    if isinstance(x, flint.arb):
        mantissa, exponent = x.mid().man_exp()
        return flint.fmpq(mantissa) * flint.fmpq(2) ** int(exponent)
    if hasattr(x, "high"):  # a double-double
        return rational(x.high) + rational(x.low)
    if hasattr(x, "_mpf_"):
        return flint.fmpq(*map(int, mpmath.libmp.to_rational(x._mpf_)))
    top, bottom = (x if hasattr(x, "as_integer_ratio") else float(x)).as_integer_ratio()
    return flint.fmpq(int(top), int(bottom))


def entries_of(system, format):
    """The entries of (4) that a format starts from, as rational numbers.

    Those rounded to the format; for exact, mp and ball those of the model's doubles, unrounded.
    """
    chosen = kkt.arithmetic.get_format(format)
    if chosen.from_model:
        given = assemble(system.state, Fraction)
    else:
        given = Entries(*(chosen.shown(chosen.cast(getattr(system.entries, x))) for x in LETTERS))
    return Entries(*(np.frompyfunc(rational, 1, 1)(getattr(given, letter)) for letter in LETTERS))


def dense(system, e):
    """Equation (4): K and r of rational numbers, and the slice of every body's joint."""
    names, parent, offset, at = system.tree.names, system.tree.parent, system.tree.offset, system.blocks

    def diagonal(size, entries):
        return np.where(np.eye(size) == 1, entries, flint.fmpq(0))

    K = np.full((system.size,) * 2, flint.fmpq(0), dtype=object)
    r = np.full(system.size, flint.fmpq(0), dtype=object)

    def put(rows, columns, block):
        K[rows, columns] = K[rows, columns] + block
        if rows != columns:
            K[columns, rows] = K[columns, rows] + np.transpose(block)

    for k, b in enumerate(names):
        P, Q, F = (at[kind, b] for kind in ("pdd", "qdd", "f"))
        put(P, P, e.M[k])
        put(P, F, diagonal(6, flint.fmpq(1)))
        own = slice(offset[k], offset[k + 1])
        put(Q, F, e.S[own])
        if len(e.A):
            put(Q, Q, diagonal(own.stop - own.start, e.A[own, None]))
        if parent[k] >= 0:
            put(at["pdd", names[parent[k]]], F, -e.Phi[k])
        r[P], r[Q], r[F] = e.b[k], e.tau[own], -e.a[k]
    row = side = 0
    for tie in system.structure.ties:
        L, own = at["lam", tie.name], slice(row, row + tie.rows)
        for k, sign in zip(tie.bodies, tie.signs, strict=True):
            put(L, at["pdd", names[k]], e.G[side : side + tie.rows] * rational(sign))
            side += tie.rows
        put(L, L, -diagonal(tie.rows, e.compliance[own][:, None]))
        r[L] = -e.gamma[own]
        row += tie.rows
    return K, r, [at["qdd", b] for b in names]


class Truth:
    """The exact solution of (4) for the data that a format starts from.

    ``singular`` says that there is none; else ``qdd`` (N,) are rational numbers. ``condition`` is the
    componentwise condition number of qdd (Skeel 1979; entries of (4) moved one by one):
    max (|K^-1| (|K| |x| + |r|))_qdd / max |qdd|.
    """

    def __init__(self, system, format):
        self.K, self.r, joints = dense(system, entries_of(system, format))
        self.bodies = len(joints)
        self.places = [i for joint in joints for i in range(joint.start, joint.stop)]
        self.singular, self.least = False, least_size(system)
        try:
            x = flint.fmpq_mat(self.K.tolist()).solve(flint.fmpq_mat([[y] for y in self.r]))
        except ZeroDivisionError:
            self.singular = True
            return
        self.x = [x[i, 0] for i in range(len(self.r))]
        self.qdd = [self.x[i] for i in self.places]

    def condition(self):
        """kappa, from balls of 2000 bits."""
        with flint.ctx.workprec(2000):
            balls = [[flint.arb(y) for y in row] for row in self.K.tolist()]
            inverse = flint.arb_mat(balls).inv()
            rows = np.array([[abs(y) for y in row] for row in balls], dtype=object)
            x = np.array([abs(flint.arb(y)) for y in self.x], dtype=object)
            w = rows @ x + np.array([abs(flint.arb(y)) for y in self.r], dtype=object)
            moved = [sum(abs(inverse[i, j]) * w[j] for j in range(len(w))) for i in self.places]
            most = max((float(y.upper()) for y in moved), default=0.0)
        largest = max((_float(abs(y)) for y in self.qdd), default=0.0)
        return most / largest if largest else np.inf

    def error(self, qdd):
        """max |qdd - exact| / max |exact|, or the least size of :mod:`kkt.matrix.system`.

        That is Pinocchio's (peers/test_pinocchio.py); inf where a number is none.
        """
        if not all(np.isfinite(float(x)) for x in qdd):
            return np.inf
        off = max((_float(abs(rational(x) - y)) for x, y in zip(qdd, self.qdd, strict=True)), default=0.0)
        size = max([self.least, *(_float(abs(y)) for y in self.qdd)])
        return off / size if size else (0.0 if off == 0.0 else np.inf)

    def error_of_multipliers(self, lam):
        """max |lam - exact| over the largest exact force; of forces that are zero, absolute."""
        rows = len(lam)
        forces = self.x[len(self.x) - rows - 6 * self.bodies :]
        off = [_float(abs(rational(a) - b)) for a, b in zip(lam, forces[6 * self.bodies :], strict=True)]
        return max(off, default=0.0) / (max((_float(abs(x)) for x in forces), default=0.0) or 1.0)


def _float(x):
    """A rational number rounded; Python divides integers of any length."""
    try:
        return int(x.p) / int(x.q)
    except OverflowError:
        return np.inf
