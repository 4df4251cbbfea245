"""Square-root ABM: what rotations keep in float32 where ABM and CRBM lose it, and what is refused.

The measure is Skeel's: an order is stable where the error of qdd stays near kappa u, kappa being
the componentwise condition number with respect to the entries of (4), computed here from the
dense matrix with balls.
"""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from armature import with_terms
from designs import covering
from helpers import ALL_JOINTS, bracketed, every_joint, solve, system_of
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import objects
from pivotree.kkt.arithmetic.chunk import Chunk
from pivotree.kkt.model.gallery import box
from pivotree.kkt.tape import emit_orthogonal as rows_of
from pivotree.kkt.tape.emit import Emitter
from pivotree.kkt.tape.inputs import near_centres

ORDER, ABM = orderings.get("square_root_abm"), orderings.get("abm")
U = 2.0**-24


def kappa(system, certified):
    """max_i (|A^-1| (|A| |x| + |b|))_i over the qdd, over max |qdd|; data rounded to float32."""
    A = system.matrix.toarray().astype(np.float32).astype(float)
    b, x = system.rhs.astype(np.float32).astype(float), np.zeros(system.size)
    for block, where in system.blocks.items():
        x[where] = [float(ball.mid()) for ball in certified.solution.get(block, [])]
    rows = np.concatenate([np.r_[s] for block, s in system.blocks.items() if block.kind == "qdd"])
    right = np.zeros((system.size, len(rows)))
    right[rows, np.arange(len(rows))] = 1.0
    with flint.ctx.workprec(200):
        inverse = flint.arb_mat(A.tolist()).solve(flint.arb_mat(right.tolist()))
        X = np.array([[abs(float(x.mid())) for x in row] for row in inverse.tolist()])
    return (X.T @ (np.abs(A) @ np.abs(x) + np.abs(b))).max() / np.abs(x[rows]).max()


def geared(system, scale):
    """The tree of a system, at q = 0, with armature of that size on all joints."""
    tree, rng = system.graph.copy(), np.random.default_rng(1)
    for _, data in tree.nodes(data=True):
        data["armature"] = scale * rng.uniform(0.5, 2.0) if data["joint"] != "fixed" else None
    return kkt.build(tree, qd=system.state.qd, tau=system.state.tau)


def lost(system, orders):
    """Decimal digits that each order loses beyond kappa u; 9 where it fails."""
    certified = kkt.certify(system, 20, rounded_to="float32")
    least = max(kappa(system, certified), 1.0) * U
    result = []
    for order in orders:
        run = kkt.eliminate(system, orderings.get(order), "float32", records=False)
        error = None if run.failed_at else certified.error(run.qdd)
        result.append(9.0 if error is None else np.log10(max(error, 1e-12) / least))
    return result


# -- the family ---------------------------------------------------------------------------------


def turned(rng):
    return Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()


def cuboid(mass, size, Q=None, place=0.5):
    """Mass, centre and inertia of a cuboid, turned by Q, its centre along its first side."""
    Q = np.eye(3) if Q is None else Q
    inertia = Q @ box(mass, size) @ Q.T
    com = Q @ (place * size[0], 0.0, 0.0)
    return {"mass": mass, "com": com, "inertia": (inertia + inertia.T) / 2}


def serial(links, gravity=(0.0, 0.0, -9.81)):
    """A tree in which each link, the arguments of a body, hangs on the one before it."""
    tree = kkt.new_tree("serial", tuple(gravity))
    for k, link in enumerate(links):
        kkt.add_body(tree, k, k - 1 if k else None, **({"p": np.zeros(3)} | link))
    return tree


def two_links(ratio, turn, q):
    """Example 1 with any mass ratio, in coordinates turned by a rotation."""
    axis = {"axis": turn @ (0.0, 0.0, 1.0)}
    base = cuboid(0.1, (0.02, 0.02, 0.02), turn) | axis
    tip = cuboid(0.1 * ratio, (2.0, 0.02, 0.02), turn) | axis | {"p": turn @ (0.02, 0.0, 0.0)}
    return kkt.build(serial([base, tip], turn @ (0.0, -9.81, 0.0)), q=q, qd=(0.5, 0.3), tau=(0.01, 0.02))


def example3(ratio, axis):
    """Two prismatic joints along one axis, M_k = m_k 1."""
    slide = {"joint": "general", "S": np.r_[np.zeros(3), axis][:, None]}
    links = [slide | {"mass": mass, "inertia": mass * np.eye(3)} for mass in (1.0, ratio)]
    return kkt.build(serial(links, (0.0, 0.0, 0.0)), tau=(9.81, 981.0))


def skew_chain(masses, seed):
    """Cuboids on revolute joints without a common direction, moving."""
    rng, n, links = np.random.default_rng(seed), len(masses), []
    for k, mass in enumerate(masses):
        R, body = turned(rng), cuboid(mass, (0.3, 0.06, 0.05), turned(rng))
        body["axis"] = rng.normal(size=3)
        links.append(body | {"R": R, "p": 0.17 * rng.normal(size=3) if k else np.zeros(3)})
    q, qd, tau = rng.uniform(-2, 2, n), rng.normal(size=n), min(masses) * rng.normal(size=n)
    return kkt.build(serial(links), q=q, qd=qd, tau=tau)


def shoulder(ratio, angle, seed):
    """Three light links on nearly parallel axes through one point, and a heavy forearm."""
    rng = np.random.default_rng(seed)
    tilted = (0.0, np.sin(angle), np.cos(angle))
    axes = [(0.0, 0.0, 1.0), tilted, tilted, *rng.normal(size=(2, 3))]
    links = [
        {"mass": mass, "com": (0.1, 0.02, 0.01), "inertia": box(mass, (0.2, 0.05, 0.06)), "axis": axis}
        for mass, axis in zip((0.1, 0.1, 0.1, 1.0, ratio), axes, strict=True)
    ]
    for link in links[3:]:
        link["p"] = (0.3, 0.0, 0.0)
    q = np.r_[0.3, angle * rng.uniform(-0.1, 0.1), rng.uniform(-2, 2, 3)]
    return kkt.build(serial(links), q=q, qd=rng.normal(size=5), tau=0.1 * rng.normal(size=5))


def concentric(ratio, seed, apart=0.0):
    """Light links on axes through (nearly) one point, in any frames, a heavy body on the last."""
    rng, links = np.random.default_rng(seed), []
    for k, mass in enumerate((1.0, 1.0, 1.0, 1.0, 1.0, ratio)):
        R, Q = turned(rng), turned(rng)
        place = {"axis": rng.normal(size=3), "R": R, "p": apart * Q[0] if k else np.zeros(3)}
        links.append(cuboid(mass, (0.1, 0.03, 0.04), Q) | place)
    return kkt.build(serial(links), q=rng.uniform(-2, 2, 6), qd=rng.normal(size=6), tau=rng.normal(size=6))


TURNS = [Rotation.random(random_state=seed).as_matrix() for seed in range(4)]
TILT = Rotation.from_rotvec([-np.pi / 4, 0.0, 0.0]).as_matrix()
ANGLES = [(0.3 * i, 0.7 + 0.9 * i) for i in range(4)]
ANY = f"random_tree:n=11,seed={{}},mass_ratio={{}},joints={ALL_JOINTS}"
FAMILIES = {  # of a mass ratio
    "example 1": lambda r: [two_links(r, np.eye(3), q) for q in ANGLES],
    "example 1, tilted": lambda r: [two_links(r, TILT, q) for q in ANGLES],
    "example 1, any axes": lambda r: [two_links(r, R, q) for R, q in zip(TURNS, ANGLES, strict=True)],
    "example 3, any axes": lambda r: [example3(r, R[0]) for R in TURNS],
    "light wrist": lambda r: [skew_chain([1.0] * 4 + [0.1] * 2 + [0.1 * r], seed) for seed in range(3)],
    "heavy tip": lambda r: [skew_chain([0.1] * 8 + [0.1 * r], seed) for seed in range(3)],
    "shoulder": lambda r: [shoulder(r, angle, i) for i in (1, 2) for angle in (0.1, 1e-3)],
    "concentric wrist": lambda r: [concentric(r, seed) for seed in range(3)],
    "any tree": lambda r: [kkt.build(kkt.from_spec(ANY.format(seed, r))) for seed in (1, 3, 5)],
}
ORDERS = ("crbm", "abm")


@pytest.mark.parametrize(("name", "ratio"), covering(FAMILIES, [1e8, 1.0, 1e4]))
def test_no_more_than_a_digit_is_lost_beyond_the_condition(name, ratio):
    for system in FAMILIES[name](ratio):
        assert lost(system, ["square_root_abm"])[0] <= 1.0


@pytest.mark.parametrize(("name", "scale"), covering(FAMILIES, [1e-2, 1e4, 1e-8], unmarked=1))
def test_armature_is_one_more_row_and_loses_nothing(name, scale):
    worst = np.max([lost(geared(s, scale), ["square_root_abm"])[0] for s in FAMILIES[name](1e4)])
    assert worst <= 0.5


@pytest.mark.parametrize(
    ("apart", "ratio", "seed"), covering([1e-6, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2], [1e8, 1e4], range(3))
)
def test_centres_may_be_all_but_the_same(apart, ratio, seed):
    """Linear columns first would lose 3 digits at 1e-6 m and a mass ratio of 1e8."""
    assert lost(concentric(ratio, seed, apart), ["square_root_abm"])[0] <= 1.0


@pytest.mark.parametrize(("axis", "turns"), [(0, (0, 1, 0)), (1, (1, 0, 1)), (2, (0, 1, 1))])
def test_stretched_arms_along_any_axis(axis, turns):
    """Links along one axis, joints at multiples of pi, whose sine is 1e-16 and not 0."""
    place = np.roll(np.eye(3), axis, axis=0)  # columns: along the links, in the plane, across it
    links = [
        {"mass": mass, "com": place @ (0.05, 0.001, 0.0), "axis": place @ (0.0, 0.0, 1.0)}
        | {"inertia": place @ box(mass, (0.1, 0.03, 0.04)) @ place.T, "p": place @ (0.1 * bool(k), 0, 0)}
        for k, mass in enumerate((1.0, 1.0, 1e8))
    ]
    tree = serial(links, place @ (0.0, -9.81, 0.0))
    system = kkt.build(tree, q=np.pi * np.array(turns), qd=(0.5, -1.0, 2.0), tau=(1.0, 2.0, 3.0))
    assert lost(system, ["square_root_abm"])[0] <= 1.0


def test_near_centres_are_read_off_the_model():
    """Within 0.02 of the largest body carried; a joint that slides has no centre."""
    joints = [("revolute", 0.0), ("revolute", 0.009), ("prismatic", 0.0), ("spherical", 0.011)]
    link = {"mass": 1.0, "inertia": 1e-9 * np.eye(3)}
    links = [link | {"com": (0.3, 0, 0), "joint": joint, "p": (p, 0, 0)} for joint, p in joints]
    links[2]["com"] = (0.5, 0, 0)
    system = kkt.build(serial(links))
    near = near_centres(system.tree, system.pattern)
    assert near.tolist() == [True, True, False, False]
    inputs = kkt.trace(system, ORDER).inputs
    assert [inputs.concentric(k) for k in range(4)] == [False, True, False, False]


def test_the_others_lose_more():
    """The families are hard: at a ratio of 1e4 CRBM loses 3 digits there, and ABM 2."""
    hard = [s for name in ("example 1, any axes", "heavy tip", "any tree") for s in FAMILIES[name](1e4)]
    worst = np.max([lost(system, ORDERS) for system in hard], axis=0)
    assert worst[0] >= 3.0 and worst[1] >= 2.0


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize("m1", [1e6, 1e7, 1e8, 1e9])
def test_every_row_of_table_2(m1, case):
    """Example 3 of Ascher 1996: D_2 = 1 and 971.19 where the paper prints 0 for CRBM and ABM."""
    result = kkt.eliminate(kkt.build(kkt.example3(m1, case)), ORDER, "float32")
    assert abs(result.steps[1].pivots[0] - 1.0) < 1e-6
    # float32 rounds 971.19 + 981/m1 to within 6e-5
    q2, q1 = result.qdd
    assert abs(q1 - (971.19 + 981.0 / m1)) < 2e-4 or case == 2
    assert abs(q1 - 971.19) < 2e-3 and abs(q2) > 0


@pytest.mark.product
def test_a_chain_of_400_in_float32():
    system = system_of("chain:400")
    certified = kkt.certify(system, 20, rounded_to="float32")
    assert certified.error(solve("chain:400", "square_root_abm", "float32").qdd) <= 1e-6
    assert certified.error(solve("chain:400", "square_root_abm", "float64").qdd) <= 1e-6


# -- the same pivots ----------------------------------------------------------------------------

SMALL = {
    "welded": "random_tree:n=7,seed=5,joints=fixed+fixed+revolute",
    "chain": "chain:4",
    "mixture": f"random_tree:n=6,seed=4,joints={ALL_JOINTS}",
    "free bodies": "random_tree:n=4,seed=9,joints=floating",
}


@pytest.mark.parametrize(("tree", "terms"), covering(SMALL, [False, True], unmarked=2))
def test_in_fractions_all_is_abms(tree, terms):
    """No root is taken: the exact pivots D_k, accelerations and forces are the same fractions."""
    tree = kkt.from_spec(SMALL[tree])
    system = kkt.build(with_terms(tree, 3) if terms else tree)
    ours, abm = (kkt.eliminate(system, o, "exact") for o in (ORDER, ABM))
    assert (ours.qdd == abm.qdd).all() and (ours.pdd == abm.pdd).all() and (ours.f == abm.f).all()
    for mine, other in zip(ours.steps, abm.steps, strict=True):
        assert mine.blocks == other.blocks and mine.pivots == other.pivots
    assert ours.fill == abm.fill and ours.height == abm.height


def wrist_of_rotors(q):
    """Hinges of one body on massless links, as MuJoCo's bodies of several joints are, geared."""
    links = [
        {"axis": axis, "armature": 0.1 + 0.1 * k, "mass": 0.0, "inertia": np.zeros((3, 3))}
        for k, axis in enumerate(np.eye(3)[[0, 1, 2, 0, 0, 1]])
    ]
    for k in (2, 5):
        links[k] |= {"mass": 1.0, "com": (0.1, 0.0, 0.2), "inertia": np.diag([0.1, 0.2, 0.15])}
    links[3]["p"] = (0.1, 0.2, 0.0)
    tree = serial(links)
    return kkt.build(tree, q=q, qd=np.arange(6.0), tau=np.ones(6))


@pytest.mark.parametrize("q", [0.0, 0.4, np.pi / 2])
def test_massless_links_with_armature(q):
    """The fourth has none but its rotor beside it: no row of its own, nor of others, at q = 0."""
    system = wrist_of_rotors(np.full(6, q))
    certified = kkt.certify(system, 20)
    result = kkt.eliminate(system, ORDER)
    assert result.failed_at is None and certified.error(result.qdd) <= 1e-13


def test_forests_and_every_joint():
    system = kkt.build(every_joint())
    certified = kkt.certify(system, 20, rounded_to="float32")
    result = kkt.eliminate(system, ORDER, "float32", reference=certified)
    assert certified.error(result.qdd) <= 1e-6 and result.failed_at is None
    assert all(step.error <= 1e-5 and step.pivot_error <= 1e-5 for step in result.steps)


@pytest.mark.uncached
def test_the_same_bits_every_time():
    first, second = (kkt.trace(kkt.build(kkt.chain(6)), ORDER) for _ in range(2))
    for a, b in zip(first.chunks(), second.chunks(), strict=True):
        assert all((x == y).all() for x, y in zip(a, b, strict=True))
    system = system_of("panda")
    runs = [kkt.eliminate(system, ORDER, "float32", records=r).qdd.tobytes() for r in (True, False)]
    assert runs[0] == runs[1]


@pytest.mark.product
def test_operations():
    """1.4 times ABM's on a chain whose frames lie along its axes, 1.3 times on skew axes."""
    for system, ratio, most in (
        (system_of("chain:100"), 1.45, 600),
        (skew_chain([1.0] * 30, 1), 1.4, 1100),
        (kkt.build(kkt.chain(30, joint="spherical")), 1.0, math.inf),
    ):
        abm, ours = (kkt.trace(system, o).flops / system.tree.n for o in (ABM, ORDER))
        assert ours <= ratio * abm and ours < most


# -- weighted rows ------------------------------------------------------------------------------


def in_fractions(emitter, blocks, out):
    """Run emitted operations on blocks of Fractions whose slots start at 2."""
    values = [Fraction(0), Fraction(1), *(Fraction(int(x)) for block in blocks for x in block.flat)]
    values += [Fraction(0)] * emitter.count
    op, a, b = (np.concatenate([np.zeros(0, int), *x]) for x in (emitter.op, emitter.a, emitter.b))
    dst = emitter.first + np.arange(emitter.count)
    objects.run(Chunk(op, dst, a, b, np.zeros(len(op), dtype=np.int32)), values)
    take = np.vectorize(lambda s: values[s] if s >= 0 else -values[-s], otypes=[object])
    return take(out)


def form(rows):
    """sum_i w_i (g_i, z_i)^T (g_i, z_i) of weighted rows (m, 8)."""
    g = np.array(rows[:, :7], dtype=object)
    return sum(w * np.outer(r, r) for r, w in zip(g, rows[:, 7], strict=True))


@pytest.mark.parametrize("massless", [False, True])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("dof", range(7))
def test_rotations_keep_the_quadratic_form(dof, centred, massless):
    rng = np.random.default_rng(dof)
    square = rng.integers(-3, 4, (6, 6))
    K = np.zeros((6, 6), int) if massless else square @ square.T + 9 * np.eye(6, dtype=int)
    u = np.zeros((6, 1), int) if massless else rng.integers(-5, 6, (6, 1))
    more = [rng.integers(-4, 5, (4, 6)), rng.integers(-4, 5, (4, 1)), rng.integers(1, 6, (4, 1))]
    more += [rng.integers(-4, 5, (5, 6)), rng.integers(-4, 5, (5, 1)), rng.integers(1, 6, (5, 1))]
    blocks, slots, start = [K, u, *more], [], 2
    for block in blocks:
        zero = massless and len(slots) < 2
        slots.append(np.where(zero, 0, start + np.arange(block.size).reshape(block.shape)))
        start += block.size
    if not massless:
        slots[0] = np.triu(slots[0]) + np.triu(slots[0], 1).T
    emitter = Emitter(start)
    how = {"dof": dof, "concentric": centred}
    own = rows_of.weigh(emitter, slots[0], slots[1], **how)
    out = in_fractions(emitter, blocks, rows_of.rotate(emitter, own, *slots[2:], **how))
    children = [np.concatenate(more[:3], axis=1), np.concatenate(more[3:], axis=1)]
    before = sum(form(rows) for rows in children)
    before[:6, :6] += K
    before[:6, 6] += u[:, 0]
    before[6, :6] += u[:, 0]
    after = form(out)
    assert (after[:6] == before[:6]).all()  # (z, z) is a constant, which no acceleration changes
    pivots, rest = out[:dof], out[dof:]
    assert (np.tril(pivots[:, :dof]) == np.eye(dof, dtype=int)).all()
    assert all(x == 0 for x in rest[:, :dof].flat) and all(w > 0 for w in out[:, 7])
    assert massless or len(out) == 6


# -- masses that are not there ------------------------------------------------------------------


def dummies(mass=1.0):
    """A shoulder of massless links, at a pose where its axes meet at right angles."""
    tree = kkt.new_tree("dummies")
    kkt.add_body(tree, "base", mass=2.0, com=(0.1, 0, 0), inertia=0.1 * np.eye(3))
    kkt.add_body(tree, "x", "base", mass=0.0, p=(0.3, 0, 0), axis=(1, 0, 0))
    kkt.add_body(tree, "y", "x", mass=0.0, axis=(0, 1, 0))
    kkt.add_body(tree, "flange", "y", mass=0.0, joint="fixed")
    kkt.add_body(tree, "arm", "y", mass=mass, com=(0.2, 0.01, 0.02), inertia=0.05 * mass * np.eye(3))
    return tree


@pytest.mark.parametrize("wrench", [None, {"y": [1.0, 2, 3, 4, 5, 6], "flange": [0.0, 1, 0, 2, 0, 3]}])
@pytest.mark.parametrize("q", [(0, 0, 0, 0), (0.1, 0.2, 0.3, 0.4)])
def test_massless_links(q, wrench):
    """Their joints are projected out of what they carry; a force on them is not lost."""
    system = kkt.build(dummies(), q=q, qd=(0.1, 0.2, 0.3, 0.4), tau=(1, 2, 3, 4), f_ext=wrench)
    ours, abm = (kkt.eliminate(system, o, "exact") for o in (ORDER, ABM))
    assert (ours.qdd == abm.qdd).all() and (ours.f == abm.f).all()
    assert kkt.certify(system, 20).error(kkt.eliminate(system, ORDER).qdd) <= 1e-14


def test_massless_links_under_a_heavy_arm():
    system = kkt.build(dummies(1e8), q=(0.1, 0.2, 0.3, 0.4), tau=(1, 2, 3, 4))
    assert lost(system, ["square_root_abm"])[0] <= 1.0


def rod(axis, mass=1.0, moments=(0.0, 0.1, 0.1)):
    tree = kkt.new_tree("rod")
    kkt.add_body(tree, "rod", mass=mass, com=(0.1, 0.0, 0.0), inertia=np.diag(moments), axis=axis)
    kkt.add_body(tree, "tip", "rod", mass=1.0, inertia=np.eye(3), axis=(0, 1, 0), p=(0.5, 0, 0))
    return kkt.build(tree, q=(0.3, 0.5), qd=(1.0, 2.0), tau=(1.0, 2.0))


def test_a_rod_without_a_moment_about_itself():
    """A row of M_k that is zero has no weight; seen from skew axes the zero is none, refused."""
    system = rod((0, 0, 1))
    assert kkt.certify(system, 20).error(kkt.eliminate(system, ORDER).qdd) <= 1e-14
    with pytest.raises(kkt.SingularError, match=r"'rod': field 'inertia' .* is singular.*as abm"):
        kkt.eliminate(rod((1, 1, 0)), ORDER)


@pytest.mark.filterwarnings("ignore")
def test_inertias_without_a_root_are_refused():
    with pytest.raises(kkt.SingularError, match=r"'rod': .*not positive definite.*its root"):
        kkt.eliminate(rod((0, 0, 1), moments=(-0.1, 0.1, 0.1)), ORDER)
    tree = kkt.new_tree("light tip")
    kkt.add_body(tree, "base", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=0.0, p=(1.0, 0, 0))
    with pytest.raises(kkt.SingularError, match=r"'tip': .*give it an inertia"):
        kkt.eliminate(kkt.build(tree), ORDER)


def test_a_pivot_that_underflows_is_named():
    """D = 0 in float32, where every inertia is below 1e-45."""
    tree = kkt.new_tree("dust")
    kkt.add_body(tree, "grain", mass=1e-50, inertia=1e-50 * np.eye(3))
    result = kkt.eliminate(kkt.build(tree, tau=[1e-50]), ORDER, "float32")
    assert result.failed_at is not None and "qdd_grain" in result.failed_at


# -- brackets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups,message",
    [
        (lambda s: orderings.get("crbm")(s), r"one bracket \(pdd qdd f\) a body; step 1 is another"),
        (lambda s: orderings.get("lagrange")(s), r"one bracket \(pdd qdd f\) a body"),
        (lambda s: orderings.get("base_to_tip")(s), r"children before parents; put 'j2' before"),
    ],
)
def test_other_brackets_are_refused(groups, message):
    system = kkt.build(kkt.chain(2))
    rules = kkt.Rules(elimination="orthogonal")
    with pytest.raises(kkt.OrderError, match=message) as refusal:
        kkt.eliminate(system, kkt.PivotSequence(groups(system.structure), rules=rules))
    assert "\n" not in str(refusal.value)


def test_switches():
    with pytest.raises(kkt.OrderError, match="'qr'; use gauss or orthogonal"):
        kkt.Rules(elimination="qr")
    with pytest.raises(kkt.OrderError, match="'couple' means nothing to elimination 'orthogonal'"):
        kkt.Rules(elimination="orthogonal", couple="carried")


def test_a_tape_whose_joint_has_turned_is_refused():
    tree = kkt.new_tree("turning")
    kkt.add_body(tree, "u", mass=1.0, inertia=np.eye(3), joint="universal", axis=((1, 0, 0), (0, 1, 0)))
    first = kkt.build(tree, q=(0.0, 0.1))
    tape = kkt.trace(first, ORDER)
    kkt.eliminate(first.refresh(q=(0.3, 0.2)), tape)
    with pytest.raises(kkt.OrderError, match="'u' has turned"):
        kkt.eliminate(first.refresh(q=(0.0, 1.5)), tape)


# A rod along z behind a joint about (0, 0.6, 0.8) has zeros that no pattern shows: it is refused.
RODS = [("prismatic", 0), ("prismatic", 1), ("prismatic", 2), ("revolute", 0), ("revolute", 1)]


@pytest.mark.parametrize("joint,along", RODS)
def test_rods_along_any_axis_with_a_welded_body_are_solved_exactly(joint, along):
    """A rod has no row for turning about itself: what others have there is rotated all the same."""
    tree = kkt.new_tree("rod with a welded body")
    kkt.add_body(tree, "carrier", mass=0.0, joint="spherical", p=(0.9, 0.4, 0.1))
    rod = np.diag(np.where(np.arange(3) == along, 0.0, 0.3))
    place = {"axis": (0.0, 0.6, 0.8), "p": (0.1, 0.2, 0.0)}
    kkt.add_body(tree, "rod", "carrier", mass=2.0, inertia=rod, joint=joint, **place)
    welded = {"mass": 1.5, "com": (-0.6, 0.2, 0.1), "inertia": np.diag([0.3, 0.2, 0.4])}
    kkt.add_body(tree, "welded", "rod", joint="fixed", p=(-0.3, -0.4, 0.3), **welded)
    system = kkt.build(tree, q=[0.3, -0.2, 0.5, 0.1], qd=[1.0, 2.0, -1.0, 0.5], tau=[1, 2, 3, 4])
    result = kkt.eliminate(system, ORDER, "exact")
    assert list(result.qdd) == list(kkt.eliminate(system, ABM, "exact").qdd)
    assert result.backward_error.normwise == 0.0


# -- loops and contacts: lambda last, over rotations ----------------------------------------------


def mechanism(name, mu=0.0, with_gears=False):
    tree = kkt.load(name)
    loops = tree.graph["loops"]
    tree = with_terms(tree, 3) if with_gears else tree
    return kkt.build(tree, loops=kkt.softened(loops, mu) if mu else loops)


def apart(system, format):
    """The largest difference from abm, of any kind of unknowns, beside the largest of them."""
    ours, abm = (kkt.eliminate(system, order, format) for order in (ORDER, ABM))
    assert ours.failed_at is None
    pairs = [(np.ravel(getattr(x, kind)) for x in (ours, abm)) for kind in ("qdd", "lam", "f", "pdd")]
    return max(np.abs(x - y).max() / np.abs(y).max() for x, y in pairs)


def close_points(distance, compliance=0.0):
    """A chain with two points of its last link held across it, almost the same row."""
    points = [(0.1, 0.02, 0.03), (0.1 + distance, 0.02, 0.03 * (1 + distance))]
    loops = [
        kkt.contact("j6", point, (0, 1, 0), name=str(i), compliance=compliance)
        for i, point in enumerate(points)
    ]
    return kkt.build(kkt.chain(6), np.linspace(0.3, 1.1, 6), np.linspace(-1, 1, 6), loops=loops)


@pytest.mark.parametrize(
    ("name", "mu", "with_gears"),
    [
        ("four_bar", 0.0, False),
        ("four_bar", 1e-4, True),
        ("gripper", 0.0, True),
        ("gripper", 1e-4, False),
        pytest.param("delta", 1e-4, True, marks=pytest.mark.product),
        pytest.param("stewart", 0.0, False, marks=pytest.mark.product),
        pytest.param("quadruped:feet=4", 0.0, True, marks=pytest.mark.product),
    ],
)
def test_fifty_digits_are_those_of_abm(name, mu, with_gears):
    assert apart(mechanism(name, mu, with_gears), "mp:60") <= 1e-50


def test_in_fractions_the_pivots_of_lambda_are_those_of_abm():
    """Delta is never formed, and its L D L^T is the same; on one row of three lambda is soft."""
    across = [(1, 0, 0), (0, 1, 0)]
    soft = kkt.contact("j3", (0.1, 0.0, 0.2), (0, 0, 1), across[:1], compliance=0.25, name="soft")
    loops = [kkt.contact("j2", (0.1, 0.2, 0.0), (0, 1, 0), name="hard"), soft]
    system = kkt.build(kkt.chain(3), [0.5, 0.25, 1.0], loops=loops)
    ours, abm = (kkt.eliminate(system, order, "exact") for order in (ORDER, ABM))
    for kind in ("qdd", "lam", "f", "pdd"):
        assert (np.ravel(getattr(ours, kind)) == np.ravel(getattr(abm, kind))).all()
    pivots = [[s.pivots for s in x.steps if s.blocks[0].kind == "lam"] for x in (ours, abm)]
    assert len(pivots[0]) == 2
    for mine, other in zip(*pivots, strict=True):
        assert [abs(x) for x in mine] == [abs(x) for x in other]
    assert ours.backward_error.normwise == 0.0 and ours.fill == abm.fill


def test_rows_that_almost_depend_on_each_other_keep_their_digits():
    """The Delassus matrix, which abm forms, has the square of their condition."""
    for compliance in (0.0, 1e-6):
        system = close_points(1e-4, compliance)
        certified = kkt.certify(system, 20, rounded_to="float32")
        ours, abm = (
            certified.error(kkt.eliminate(system, order, "float32", records=False).qdd)
            for order in (ORDER, ABM)
        )
        assert ours <= 1e-3 and abm >= 5e-3


def test_coupled_joints_and_more_constraints_than_bodies():
    tree = kkt.chain(4)
    assert apart(kkt.build(tree, loops=[kkt.coupled_joints(tree, "j4", "j2", -0.5)]), "mp:30") < 1e-25
    many = [kkt.contact("j4", (0, 0, 0.1 * i), (0, 1, 0), name=str(i), compliance=1e-3) for i in range(6)]
    assert apart(kkt.build(tree, loops=many), "mp:40") <= 1e-30


def test_rows_that_no_joint_moves_have_their_compliance():
    still = kkt.contact("j1", (0, 0, 0), (1, 0, 0), compliance=1e-3)
    assert apart(kkt.build(kkt.chain(2), loops=[still]), "mp:30") <= 1e-25


def test_multipliers_may_stand_in_any_sequence_behind_the_bodies():
    system = mechanism("gripper", 1e-2)
    rules = kkt.Rules(elimination="orthogonal")
    bodies, lam = bracketed(system.structure), [("lam", c) for c in system.structure.constraints]
    right = kkt.eliminate(system, ABM)
    for groups in ([*bodies, lam], [*bodies, *([x] for x in lam[::-1])]):
        found = kkt.eliminate(system, kkt.PivotSequence(groups, name="mine", rules=rules))
        assert np.abs(found.lam - right.lam).max() <= 1e-9 * np.abs(right.lam).max()
    first = kkt.PivotSequence([lam, *bodies], name="mine", rules=rules)
    with pytest.raises(kkt.OrderError, match="takes multipliers last; put lam_left_pin behind all"):
        kkt.eliminate(system, first)


def test_rows_that_depend_on_each_other_are_refused_by_name():
    same = [kkt.contact("j3", (0.1, 0, 0), (0, 1, 0), name=name) for name in ("one", "other")]
    with pytest.raises(kkt.ModelError, match="loop 'other': row 0 follows from"):
        kkt.build(kkt.chain(3), [0.5, 0.25, 1.0], loops=same)
    fixed = kkt.new_tree("fixed")
    kkt.add_body(fixed, "a", mass=1.0, inertia=np.eye(3), joint="fixed")
    kkt.add_body(fixed, "b", mass=1.0, inertia=np.eye(3))
    held = [kkt.contact("a", (0.1, 0, 0), (0, 1, 0), name="held", compliance=1.0)]
    assert kkt.eliminate(kkt.build(fixed, loops=held), ORDER).failed_at is None


@pytest.mark.parametrize("soft", [(), (1,), (0, 1, 2)])
def test_merging_keeps_the_quadratic_form(soft):
    rng = np.random.default_rng(len(soft))
    more = [rng.integers(-4, 5, s) for s in ((4, 3), (4, 1), (2, 3), (2, 1))]
    more[2:2], weights = [rng.integers(1, 6, (4, 1))], rng.integers(1, 6, (2, 1))
    blocks, own = [*more, weights], np.zeros((3, 3), int)
    own[soft, soft] = 1 + np.arange(len(soft))
    slots, start = [], 2
    for block in [*blocks, own]:
        slots.append(np.where(block != 0, start + np.arange(block.size).reshape(block.shape), 0))
        start += block.size
    emitter = Emitter(start)
    given = slots if soft else slots[:-1]
    out = in_fractions(emitter, [*blocks, own], rows_of.merge(emitter, *given, count=3))
    L, D, z = np.tril(out[:3], -1) + np.eye(3, dtype=int), np.diag(out[:3].diagonal()), out[3]
    form, pull = own.astype(object), 0
    for g, r, w in (blocks[:3], blocks[3:]):
        g, r, w = (x.astype(object) for x in (g, r, w))
        form, pull = form + (w * g).T @ g, pull + (w * g).T @ r[:, 0]
    assert (form == L @ D @ L.T).all() and (L @ D @ z == pull).all()
