"""Square-root ABM: what rotations keep in float32 where ABM and CRBM lose it, and what is refused.

The measure is Skeel's: an order is stable where the error of qdd stays near kappa u, kappa being
the componentwise condition number with respect to the entries of (4), computed here from the
dense matrix with balls.
"""

from decimal import Decimal

import flint
import numpy as np
import pytest
from armature import with_terms
from helpers import ALL_JOINTS, MODELS, every_joint, printed, solve, system_of
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.model.gallery import box
from pivotree.kkt.proof.certify import decimal
from pivotree.kkt.tape.inputs import near_centres

ORDER = orderings.get("square_root_abm")
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


def two_links(ratio, turn, q):
    """Example 1 with any mass ratio, in coordinates turned by a rotation."""
    tree = kkt.new_tree("two links", tuple(turn @ (0.0, -9.81, 0.0)))
    for body, mass, length in ((2, 0.1, 0.02), (1, 0.1 * ratio, 2.0)):
        inertia = turn @ box(mass, (length, 0.02, 0.02)) @ turn.T
        place = turn @ (0.02, 0.0, 0.0) if body == 1 else np.zeros(3)
        kkt.add_body(
            tree,
            body,
            2 if body == 1 else None,
            mass=mass,
            com=turn @ (length / 2, 0.0, 0.0),
            inertia=(inertia + inertia.T) / 2,
            axis=turn @ (0.0, 0.0, 1.0),
            p=place,
        )
    return kkt.build(tree, q=q, qd=(0.5, 0.3), tau=(0.01, 0.02))


def example3(ratio, axis):
    """Two prismatic joints along one axis, M_k = m_k 1."""
    tree, S = kkt.new_tree("example 3", (0.0, 0.0, 0.0)), np.r_[np.zeros(3), axis][:, None]
    for body, above, mass in ((2, None, 1.0), (1, 2, ratio)):
        kkt.add_body(tree, body, above, mass=mass, inertia=mass * np.eye(3), joint="general", S=S)
    return kkt.build(tree, tau=(9.81, 981.0))


def skew_chain(masses, seed):
    """Cuboids on revolute joints without a common direction, moving."""
    rng, tree, n = np.random.default_rng(seed), kkt.new_tree("skew"), len(masses)
    for k, mass in enumerate(masses):
        R, Q = (Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix() for _ in "RQ")
        inertia = Q @ box(mass, (0.3, 0.06, 0.05)) @ Q.T
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=mass,
            com=Q @ (0.15, 0.0, 0.0),
            inertia=(inertia + inertia.T) / 2,
            axis=rng.normal(size=3),
            R=R,
            p=0.17 * rng.normal(size=3) if k else np.zeros(3),
        )
    q, qd, tau = rng.uniform(-2, 2, n), rng.normal(size=n), min(masses) * rng.normal(size=n)
    return kkt.build(tree, q=q, qd=qd, tau=tau)


def shoulder(ratio, angle, seed):
    """Three light links on nearly parallel axes through one point, and a heavy forearm."""
    rng, tree = np.random.default_rng(seed), kkt.new_tree("shoulder")
    tilted = (0.0, np.sin(angle), np.cos(angle))
    for k, mass in enumerate((0.1, 0.1, 0.1, 1.0, ratio)):
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=mass,
            com=(0.1, 0.02, 0.01),
            inertia=box(mass, (0.2, 0.05, 0.06)),
            p=(0.3, 0.0, 0.0) if k > 2 else np.zeros(3),
            axis=(0.0, 0.0, 1.0) if k == 0 else tilted if k < 3 else rng.normal(size=3),
        )
    q = np.r_[0.3, angle * rng.uniform(-0.1, 0.1), rng.uniform(-2, 2, 3)]
    return kkt.build(tree, q=q, qd=rng.normal(size=5), tau=0.1 * rng.normal(size=5))


def concentric(ratio, seed, apart=0.0):
    """Light links on axes through (nearly) one point, in any frames, a heavy body on the last."""
    rng, tree = np.random.default_rng(seed), kkt.new_tree("wrist")
    for k, mass in enumerate((1.0, 1.0, 1.0, 1.0, 1.0, ratio)):
        R, Q = (Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix() for _ in "RQ")
        inertia = Q @ box(mass, (0.1, 0.03, 0.04)) @ Q.T
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=mass,
            com=Q @ (0.05, 0.0, 0.0),
            inertia=(inertia + inertia.T) / 2,
            axis=rng.normal(size=3),
            R=R,
            p=apart * Q[0] if k else np.zeros(3),
        )
    return kkt.build(tree, q=rng.uniform(-2, 2, 6), qd=rng.normal(size=6), tau=rng.normal(size=6))


def family(name, ratio):
    turns = [Rotation.random(random_state=seed).as_matrix() for seed in range(4)]
    tilt = Rotation.from_rotvec([-np.pi / 4, 0.0, 0.0]).as_matrix()
    angles = [(0.3 * i, 0.7 + 0.9 * i) for i in range(4)]
    wrist = [1.0] * 4 + [0.1] * 2 + [0.1 * ratio]
    joints = f"joints={ALL_JOINTS}"
    return {
        "example 1": lambda: [two_links(ratio, np.eye(3), q) for q in angles],
        "example 1, tilted": lambda: [two_links(ratio, tilt, q) for q in angles],
        "example 1, any axes": lambda: [two_links(ratio, R, q) for R, q in zip(turns, angles, strict=True)],
        "example 3, any axes": lambda: [example3(ratio, R[0]) for R in turns],
        "light wrist": lambda: [skew_chain(wrist, seed) for seed in range(3)],
        "heavy tip": lambda: [skew_chain([0.1] * 8 + [0.1 * ratio], seed) for seed in range(3)],
        "shoulder": lambda: [shoulder(ratio, angle, i) for i in (1, 2) for angle in (0.1, 1e-3)],
        "concentric wrist": lambda: [concentric(ratio, seed) for seed in range(3)],
        "any tree": lambda: [
            kkt.build(kkt.from_spec(f"random_tree:n=11,seed={seed},mass_ratio={ratio},{joints}"))
            for seed in (1, 3, 5)
        ],
    }[name]()


FAMILIES = (
    "example 1",
    "example 1, tilted",
    "example 1, any axes",
    "example 3, any axes",
    "light wrist",
    "heavy tip",
    "shoulder",
    "concentric wrist",
    "any tree",
)
ORDERS = ("crbm", "abm")


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("name", FAMILIES)
def test_no_more_than_a_digit_is_lost_beyond_the_condition(name, ratio):
    for system in family(name, ratio):
        assert lost(system, ["square_root_abm"])[0] <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-8, 1e-2, 1e4])
@pytest.mark.parametrize("name", FAMILIES)
def test_armature_is_one_more_row_and_loses_nothing(name, scale):
    worst = np.max([lost(geared(s, scale), ["square_root_abm"])[0] for s in family(name, 1e4)])
    assert worst <= 0.5


@pytest.mark.thorough
@pytest.mark.parametrize("apart", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
def test_centres_may_be_all_but_the_same(apart):
    """Linear columns first would lose 3 digits at 1e-6 m and a mass ratio of 1e8."""
    for seed in range(3):
        for ratio in (1e4, 1e8):
            assert lost(concentric(ratio, seed, apart), ["square_root_abm"])[0] <= 1.0


@pytest.mark.thorough
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("turns", [(0, 1, 0), (1, 0, 1), (0, 1, 1)])
def test_stretched_arms_along_any_axis(axis, turns):
    """Links along one axis, joints at multiples of pi, whose sine is 1e-16 and not 0."""
    place = np.roll(np.eye(3), axis, axis=0)  # columns: along the links, in the plane, across it
    tree = kkt.new_tree("stretched", tuple(place @ (0.0, -9.81, 0.0)))
    for k, mass in enumerate((1.0, 1.0, 1e8)):
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=mass,
            com=place @ (0.05, 0.001, 0.0),
            inertia=place @ box(mass, (0.1, 0.03, 0.04)) @ place.T,
            axis=place @ (0.0, 0.0, 1.0),
            p=place @ (0.1, 0.0, 0.0) if k else np.zeros(3),
        )
    system = kkt.build(tree, q=np.pi * np.array(turns), qd=(0.5, -1.0, 2.0), tau=(1.0, 2.0, 3.0))
    assert lost(system, ["square_root_abm"])[0] <= 1.0


def test_near_centres_are_read_off_the_model():
    """Within 0.02 of the largest body carried; a joint that slides has no centre."""
    tree = kkt.new_tree("centres")
    for k, (joint, p) in enumerate(
        [("revolute", 0.0), ("revolute", 0.009), ("prismatic", 0.0), ("spherical", 0.011)]
    ):
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=1.0,
            com=(0.5 if k == 2 else 0.3, 0, 0),
            inertia=1e-9 * np.eye(3),
            joint=joint,
            p=(p, 0, 0),
        )
    system = kkt.build(tree)
    near = near_centres(system.tree, system.pattern)
    assert near.tolist() == [True, True, False, False]
    inputs = kkt.trace(system, ORDER).inputs
    assert [inputs.concentric(k) for k in range(4)] == [False, True, False, False]


@pytest.mark.thorough
def test_the_others_lose_more():
    """The families are hard: at a ratio of 1e4 CRBM loses 3 digits there, and ABM 2."""
    hard = [s for name in FAMILIES[2:] for s in family(name, 1e4)]
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


@pytest.mark.slow
def test_a_chain_of_400_in_float32():
    system = system_of("chain:400")
    certified = kkt.certify(system, 20, rounded_to="float32")
    assert certified.error(solve("chain:400", "square_root_abm", "float32").qdd) <= 1e-6
    assert certified.error(solve("chain:400", "square_root_abm", "float64").qdd) <= 1e-6


# -- the same pivots ----------------------------------------------------------------------------

SMALL = {
    "chain": lambda: kkt.chain(4),
    "mixture": lambda: kkt.from_spec(f"random_tree:n=6,seed=4,joints={ALL_JOINTS}"),
    "welded": lambda: kkt.from_spec("random_tree:n=7,seed=5,joints=fixed+fixed+revolute"),
    "free bodies": lambda: kkt.from_spec("random_tree:n=4,seed=9,joints=floating"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("terms", [False, True])
@pytest.mark.parametrize("tree", SMALL)
def test_in_fractions_all_is_abms(tree, terms):
    """No root is taken: the exact pivots D_k, accelerations and forces are the same fractions."""
    system = kkt.build(with_terms(SMALL[tree](), 3) if terms else SMALL[tree]())
    ours, abm = (kkt.eliminate(system, o, "exact") for o in (ORDER, orderings.get("abm")))
    assert (ours.qdd == abm.qdd).all() and (ours.pdd == abm.pdd).all() and (ours.f == abm.f).all()
    for mine, other in zip(ours.steps, abm.steps, strict=True):
        assert mine.blocks == other.blocks and mine.pivots == other.pivots
    assert ours.fill == abm.fill and ours.height == abm.height


def wrist_of_rotors(q):
    """Hinges of one body on massless links, as MuJoCo's bodies of several joints are, geared."""
    tree, above = kkt.new_tree("rotors"), None
    for k, axis in enumerate(np.eye(3)[[0, 1, 2, 0, 0, 1]]):
        mass = float(k in (2, 5))
        kkt.add_body(
            tree,
            k,
            above,
            mass=mass,
            com=(0.1 * mass, 0.0, 0.2 * mass),
            axis=axis,
            inertia=mass * np.diag([0.1, 0.2, 0.15]),
            armature=0.1 + 0.1 * k,
            p=(0.1, 0.2, 0.0) if k == 3 else (0.0, 0.0, 0.0),
        )
        above = k
    return kkt.build(tree, q=q, qd=np.arange(6.0), tau=np.ones(6))


@pytest.mark.parametrize("q", [0.0, 0.4, np.pi / 2])
def test_massless_links_with_armature(q):
    """The fourth has none but its rotor beside it: no row of its own, nor of others, at q = 0."""
    system = wrist_of_rotors(np.full(6, q))
    certified = kkt.certify(system, 20)
    result = kkt.eliminate(system, ORDER)
    assert result.failed_at is None and certified.error(result.qdd) <= 1e-13


@pytest.mark.thorough
def test_forests_and_every_joint():
    system = kkt.build(every_joint())
    certified = kkt.certify(system, 20, rounded_to="float32")
    result = kkt.eliminate(system, ORDER, "float32", reference=certified)
    assert certified.error(result.qdd) <= 1e-6 and result.failed_at is None
    assert all(step.error <= 1e-5 and step.pivot_error <= 1e-5 for step in result.steps)


@pytest.mark.thorough
@pytest.mark.parametrize("model", MODELS)
def test_balls_hold_every_printed_digit(model):
    for x, text in zip(solve(model, "square_root_abm", "ball:40").qdd, printed(model), strict=True):
        assert Decimal(decimal(x, 40)) == Decimal(text)


@pytest.mark.thorough
def test_the_same_bits_every_time():
    first, second = (kkt.trace(kkt.build(kkt.chain(6)), ORDER) for _ in range(2))
    for a, b in zip(first.chunks(), second.chunks(), strict=True):
        assert all((x == y).all() for x, y in zip(a, b, strict=True))
    system = system_of("panda")
    runs = [kkt.eliminate(system, ORDER, "float32", records=r).qdd.tobytes() for r in (True, False)]
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_operations(capsys):
    """1.4 times ABM's on a chain whose frames lie along its axes, 1.3 times on skew axes."""
    counts = {}
    for name, system in {
        "chain": system_of("chain:100"),
        "skew": skew_chain([1.0] * 30, 1),
        "spherical": kkt.build(kkt.chain(30, joint="spherical")),
    }.items():
        a, b = (kkt.trace(system, o).flops / system.tree.n for o in (orderings.get("abm"), ORDER))
        counts[name] = (a, b)
        with capsys.disabled():
            print(f" {name}: abm {a:.0f}, square_root_abm {b:.0f} a body;", end="")
    assert counts["chain"][1] <= 1.45 * counts["chain"][0] and counts["chain"][1] < 600
    assert counts["skew"][1] <= 1.4 * counts["skew"][0] and counts["skew"][1] < 1100
    assert counts["spherical"][1] < counts["spherical"][0]
