"""Derivatives of qdd by q, qd, tau and all data: differences in 60 digits, fractions, products."""

from dataclasses import replace
from fractions import Fraction

import flint
import mpmath
import networkx as nx
import numpy as np
import pytest
from designs import listed
from helpers import every_joint

from pivotree import kkt, orderings
from pivotree.analysis.states.traced import Order
from pivotree.kkt.matrix.bias import bias, joint_rates, velocities
from pivotree.kkt.matrix.closures import closures, constraint_rows
from pivotree.kkt.matrix.entries import Entries
from pivotree.kkt.model.spatial import cross, force_transform, matmul, matvec, skew, spatial_inertia
from pivotree.kkt.tape.run import run_objects

MP = mpmath.MPContext()
MP.dps = 60
STEP = MP.mpf("1e-18")  # of central differences, which are off by its square
ABM = orderings.get("abm")
JOINTS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "floating")
FIELDS = ("dq", "dqd", "dtau")


def digits(x):
    flat = [value if isinstance(value, MP.mpf) else MP.mpf(float(value)) for value in np.ravel(x)]
    return np.array([*flat, None], dtype=object)[:-1].reshape(np.shape(x))


class Differences:
    """qdd of a system in 60 digits, after its joints have moved by twists S dq of their bodies."""

    def __init__(self, system):
        state, self.system, self.tape = system.state, system, kkt.trace(system, ABM)
        self.Phi = force_transform(digits(state.R), digits(state.p))
        self.S = digits(state.S.columns)
        self.own, self.qd, self.tau = digits(state.joint_bias), digits(state.qd), digits(state.tau)
        self.M = self.inertias()
        self.owner = np.repeat(np.arange(system.tree.n), system.tree.dof)

    def qdd(self, *moves, **data):
        return self.unknowns("qdd", *moves, **data)

    def unknowns(self, kind, dq, dqd, dtau, dparameters=None, dgravity=0, dwrench=0):
        state, tree = self.system.state, self.system.tree
        Phi, S, own = (x.copy() for x in (self.Phi, self.S, self.own))
        R, p = digits(state.R), digits(state.p)
        qd, tau = self.qd + dqd, self.tau + dtau
        A = np.zeros(0)
        if state.terms is not None:
            t, h = state.terms, MP.mpf(state.step)
            A = digits(t.armature) + h * digits(t.damping) + h * h * digits(t.stiffness)
            stretch = dq - digits(t.rest) + h * qd
            tau = tau - digits(t.damping) * qd - digits(t.stiffness) * stretch
            tau = tau - digits(t.friction * np.sign(state.qd))
        for k in range(tree.n):
            at = slice(tree.offset[k], tree.offset[k + 1])
            if tree.dof[k] == 0:
                continue
            twist = matvec(self.S[at].T, dq[at])
            w, v = skew(twist[:3]), twist[3:]
            turn, shift, power = digits(np.eye(3)), v, digits(np.eye(3))
            for i in range(1, 6):  # exp, in which the sixth power is below all digits
                shift = shift + matvec(matmul(power, w), v) / MP.factorial(i + 1)
                power = matmul(power, w)
                turn = turn + power / MP.factorial(i)
            # one transform after another: a rounded R is orthogonal to 16 digits alone
            Phi[k] = matmul(self.Phi[k], force_transform(turn, shift))
            R[k], p[k] = matmul(R[k], turn), p[k] + matvec(R[k], shift)
            if tree.joint[k] == "universal":  # its first axis turns about the second, by -q_2
                first, second = self.S[at][:, :3]
                moved = first
                for i in range(1, 6):
                    power = first
                    for _ in range(i):
                        power = cross(second, power)
                    moved = moved + power * (-dq[at][1]) ** i / MP.factorial(i)
                S[at.start, :3] = moved
                before = cross(first, second) * self.qd[at][0] * self.qd[at][1]
                own[k, :3] = own[k, :3] + cross(moved, second) * qd[at][0] * qd[at][1] - before
        M = self.M if dparameters is None else self.inertias(dparameters)
        column = np.arange(len(qd)) - tree.offset[self.owner]
        rates = joint_rates(S, self.owner, column, qd, tree.n)
        push, down = digits(state.wrench) + dwrench, digits(state.gravity) + dgravity
        a, b = bias(state.parent, M, Phi, rates, own, push, down)
        held = closures(tree, R, p, [closure.loop for closure in state.loops])
        v = velocities(state.parent, Phi, rates)
        entries = Entries(M, Phi, S, a, b, tau, *constraint_rows(held, v, down, digits), A)
        solution, _, _ = run_objects(self.tape, entries, MP.mpf)
        rows = [x for block, x in solution.items() if block.kind == kind]
        return np.concatenate(rows)

    def inertias(self, dparameters=0):
        """M of all bodies, by mass, centre and inertia about it, after m, m c and I have moved."""
        m, c, J = (digits(getattr(self.system.state, x)) for x in ("mass", "com", "inertia"))
        row, column = np.tril_indices(3)
        about = J - matmul(skew(c), skew(c)) * m[:, None, None]
        ten = [m[:, None], m[:, None] * c, about[:, row, column]]
        ten = np.concatenate(ten, axis=1) + dparameters
        m, c = ten[:, 0], ten[:, 1:4] / ten[:, :1]
        about[:, row, column] = about[:, column, row] = ten[:, 4:]
        return spatial_inertia(m, c, about + matmul(skew(c), skew(c)) * m[:, None, None])

    def derivative(self, which, kind="qdd"):
        """(unknowns, N) central differences by dq, dqd or dtau."""
        N, columns = len(self.qd), []
        for j in range(N):
            ends = []
            for sign in (1, -1):
                moves = {field: digits(np.zeros(N)) for field in FIELDS}
                moves[which][j] = sign * STEP
                ends.append(self.unknowns(kind, *moves.values()))
            columns.append((ends[0] - ends[1]) / (2 * STEP))
        return np.array(columns, dtype=object).T


def apart(found, exact):
    """max |found - exact| / max |exact|, in the digits of mpmath."""
    off = max(abs(MP.mpf(x) - y) for x, y in zip(found.flat, exact.flat, strict=True))
    return float(off / max(abs(y) for y in exact.flat))


def rich(n, seed, joints, terms=True):
    """A random tree in motion with wrenches, tilted gravity, and terms of the joints' own."""
    tree = kkt.random_tree(n, seed=seed, joints=joints)
    rng = np.random.default_rng(seed)
    tree.graph["gravity"] = tuple(rng.normal(size=3))
    for _, data in tree.nodes(data=True):
        data["wrench"] = rng.normal(size=6)
        if terms and data["joint"] != "fixed":
            data["armature"], data["damping"] = rng.uniform(0.1, 1.0, size=2)
            data["friction"] = 0.2
            if data["joint"] not in ("spherical", "planar", "floating"):
                data["stiffness"], data["rest"] = 3.0, 0.1
    N = int(kkt.compile_tree(tree).offset[-1])
    tree.graph.update(q=rng.normal(size=N), qd=rng.normal(size=N), tau=rng.normal(size=N))
    return tree


def general(columns):
    """A chain whose middle joint is general, with these motions."""
    tree = kkt.chain(3)
    tree.nodes["j2"].update(joint="general", S=np.array(columns, dtype=float).T, axis=None)
    N = 2 + len(columns)
    rng = np.random.default_rng(N)
    tree.graph.update(q=rng.normal(size=N), qd=rng.normal(size=N), tau=rng.normal(size=N))
    return tree


CASES = {
    "screw": general([[0.3, 0.1, 0.9, 0.2, 0.0, 0.5]]),
    **{joint: rich(3, seed, joint) for seed, joint in enumerate(JOINTS)},
    "mixture": rich(6, 9, "+".join((*JOINTS, "fixed"))),
    "general": general([[0, 0, 1, 0.1, 0.2, 0], [0, 0, 0, 0, 0, 1]]),  # they commute
}


@pytest.mark.parametrize("name", listed(CASES))
def test_they_are_the_limits_of_differences(name):
    """Central differences in 60 digits agree to 30, of every kind of joint and term.

    So do certified derivatives, the sums of two doubles that digits are counted against.
    """
    system = kkt.build(CASES[name])
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    proved = Order(kkt.trace(system, ABM), system, "derivatives").certified(system, 40)
    for k, field in enumerate(FIELDS, start=1):
        exact = limits.derivative(field)
        assert any(exact.flat) or (name, field) in {("prismatic", "dq"), ("prismatic", "dqd")}
        if any(exact.flat):
            high, low = (digits(x[k]).reshape(exact.shape) for x in (proved.high, proved.low))
            for own in (getattr(found, field), high + low):
                assert apart(own, exact) <= 1e-30, field


def test_an_implicit_step_is_differentiated_with_its_springs_and_dampers():
    system = kkt.build(rich(3, 4, "revolute+universal+prismatic"), implicit=0.01)
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    for field in FIELDS:
        assert apart(getattr(found, field), limits.derivative(field)) <= 1e-30


ORDERS = ("crbm", "virtual_work", "gain_abm", "modified_abm_stretched", "constraint_force", "lcaba")


@pytest.mark.parametrize("order", listed([*ORDERS, "base_to_tip"]))
def test_every_order_of_pivots_gives_them(order):
    system = kkt.build(CASES["mixture"])
    exact = kkt.derivatives(system, ABM, "mp:40")
    found = kkt.derivatives(system, orderings.get(order))
    for field in FIELDS:
        assert apart(getattr(found, field), getattr(exact, field)) <= 1e-10
    assert np.array_equal(found.qdd, kkt.eliminate(system, orderings.get(order)).qdd)


@pytest.mark.parametrize("seed", listed(range(3), unmarked=1))
def test_abm_in_float64_keeps_13_digits(seed):
    """And in float32 five, against 50 proved digits."""
    system = kkt.build(kkt.random_tree(7, seed=seed))
    proved = kkt.derivatives(system, ABM, "ball:50")
    for format, worst in (("float64", 1e-13), ("float32", 1e-4), ("dd", 1e-15)):
        found = kkt.derivatives(system, ABM, format)
        for field in ("qdd", *FIELDS):
            exact = np.array([float(x) for x in getattr(proved, field).flat])
            off = np.abs(getattr(found, field).astype(float).ravel() - exact).max()
            assert off <= worst * np.abs(exact).max(), (format, field)


@pytest.mark.uncached
def test_balls_hold_the_fractions():
    system = kkt.build(kkt.random_tree(3, seed=2, joints="revolute+universal"))
    proved = kkt.derivatives(system, ABM, "ball:30")
    exact = kkt.derivatives(system, orderings.get("crbm"), "exact")
    for field in FIELDS:
        pairs = zip(getattr(proved, field).flat, getattr(exact, field).flat, strict=True)
        for ball, x in pairs:
            assert isinstance(x, Fraction)
            with flint.ctx.workprec(400):
                assert flint.arb(flint.fmpq(x.numerator, x.denominator)) in ball
                assert float(ball.rad()) <= 1e-30 * abs(float(x))


def test_by_efforts_they_are_the_joint_space_inverse():
    system = kkt.build(rich(5, 1, "floating+revolute"))
    found = kkt.derivatives(system, ABM)
    assert np.array_equal(found.dtau, found.dtau.T)
    assert np.array_equal(found.dtau, kkt.joint_space_inverse(system, ABM))


def test_joints_are_listed_in_any_order():
    """Bodies named and listed children first: rows and columns follow the listing."""
    tree = rich(5, 3, "revolute+universal+fixed", terms=False)
    system = kkt.build(tree)
    turned = nx.DiGraph(**tree.graph)
    turned.add_nodes_from(reversed(list(tree.nodes(data=True))))
    turned.add_edges_from(tree.edges)
    offset, place = system.tree.offset, np.arange(int(system.tree.offset[-1]))
    listing = np.concatenate([place[offset[k] : offset[k + 1]] for k in range(5)[::-1]])
    for field in ("q", "qd", "tau"):
        turned.graph[field] = np.asarray(tree.graph[field])[listing]
    first, second = kkt.derivatives(system, ABM), kkt.derivatives(kkt.build(turned), ABM)
    for field in FIELDS:
        expected = getattr(first, field)[np.ix_(listing, listing)]
        assert getattr(second, field) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_what_is_refused():
    with pytest.raises(kkt.OrderError, match="rotations take the right-hand side along"):
        kkt.derivatives(kkt.build(kkt.chain(2)), orderings.get("square_root_abm"))
    with pytest.raises(kkt.ModelError, match="general joint lead out of what they span"):
        kkt.derivatives(kkt.build(every_joint()), ABM)
    turning = general(np.eye(6)[:3])  # a ball, whose q is a rotation vector
    assert kkt.derivatives(kkt.build(turning), ABM).dq.shape == (5, 5)
    turning.nodes["j2"]["stiffness"] = 1.0
    with pytest.raises(kkt.ModelError, match="do not commute, so that the rates of its spring's q"):
        kkt.derivatives(kkt.build(turning), ABM)
    with pytest.raises(kkt.SizeError, match="derivatives of 301 joints on 301 bodies are too long"):
        kkt.derivatives(kkt.build(kkt.chain(301)), ABM)
    massless = kkt.chain(2)
    massless.nodes["j2"].update(mass=0.0, inertia=np.zeros((3, 3)))
    with pytest.raises(kkt.SingularError, match="'j2'"):
        kkt.derivatives(kkt.build(massless), ABM)
    with pytest.raises(kkt.ModelError, match="also names 'mass'; use 'parameters', 'gravity'"):
        kkt.derivatives(kkt.build(kkt.chain(2)), ABM, also=["mass"])
    with pytest.raises(kkt.SizeError, match=r"1000 numbers \(parameters\) on 100 bodies are too"):
        kkt.derivatives(kkt.build(kkt.chain(100)), ABM, also="parameters")


def test_a_model_at_rest_without_joints():
    tree = kkt.new_tree("stone")
    kkt.add_body(tree, "stone", mass=1.0, inertia=np.eye(3), joint="fixed")
    found = kkt.derivatives(kkt.build(tree), ABM)
    assert found.dq.shape == found.dqd.shape == found.dtau.shape == (0, 0)
    floating = kkt.new_tree("bird")
    kkt.add_body(floating, "bird", mass=2.0, inertia=np.eye(3), joint="floating")
    resting = kkt.derivatives(replace(kkt.build(floating), plans={}), ABM)
    # gravity turns against the body as it turns in the world: (0, g) x, in its own frame
    assert resting.dtau == pytest.approx(np.diag([1.0] * 3 + [0.5] * 3))
    assert not resting.dqd.any() and np.count_nonzero(resting.dq) == 2


# -- by inertial parameters, gravity and wrenches -------------------------------------------------

ALSO = ("parameters", "gravity", "wrench")
NAMES = tuple(f"d{name}" for name in ALSO)


def shapes(system):
    """Of every kind of number that qdd is differentiated by."""
    n, N = system.tree.n, int(system.tree.offset[-1])
    return dict.fromkeys(FIELDS, (N,)) | {"dparameters": (n, 10), "dgravity": (3,), "dwrench": (n, 6)}


def flat(found, name):
    """(unknowns, numbers) of the derivatives by one kind of number."""
    x = getattr(found, name)
    return x.reshape(len(x), -1)


def whole_moves(system, m, seed, names):
    """Directions in small whole numbers, zeros and signs among them."""
    rng, shape = np.random.default_rng(seed), shapes(system)
    return {x: rng.integers(-3, 4, size=(*shape[x], m)).astype(float) for x in names}


def lopsided(tree):
    """The tree with bodies whose inertias have no zeros, which a tape would not read."""
    tree, rng = tree.copy(), np.random.default_rng(5)
    for _, data in tree.nodes(data=True):
        half = rng.normal(size=(3, 3))
        spread = half @ half.T
        data.update(com=rng.normal(size=3), inertia=np.trace(spread) * np.eye(3) - spread)
    return tree


def fractions(x):
    return np.vectorize(Fraction, otypes=[object])(x)


@pytest.mark.parametrize("name", listed(CASES))
def test_by_data_they_are_the_limits_of_differences(name):
    """Central differences in 60 digits, by mass, centre and inertia, agree to 30, in a direction
    that moves all of these numbers of all bodies."""
    system = kkt.build(lopsided(CASES[name]))
    found, limits = kkt.derivatives(system, ABM, "mp:50", also=ALSO), Differences(system)
    none, rng = digits(np.zeros(len(found.qdd))), np.random.default_rng(len(name))
    for field in NAMES:
        move = digits(rng.normal(size=shapes(system)[field]))
        ends = [limits.qdd(none, none, none, **{field: x * STEP}) for x in (move, -move)]
        exact = (ends[0] - ends[1]) / (2 * STEP)
        assert any(exact), field
        assert apart(flat(found, field) @ move.ravel(), exact) <= 1e-30, field


def test_in_fractions_twice_the_masses_under_twice_the_forces_move_alike():
    """By Euler's theorem on homogeneous functions; qdd is affine in gravity and wrenches."""
    tree = rich(3, 2, "revolute+universal+fixed", terms=False)
    system = kkt.build(tree)
    found = kkt.derivatives(system, orderings.get("crbm"), "exact", also=ALSO)
    state = system.state
    m, c, J = (fractions(x) for x in (state.mass, state.com, state.inertia))
    row, column = np.tril_indices(3)
    squares = (c * c).sum(axis=1)[:, None, None] * np.eye(3, dtype=int)
    about = J + m[:, None, None] * (squares - c[:, :, None] * c[:, None, :])
    theta = np.concatenate([m[:, None], m[:, None] * c, about[:, row, column]], axis=1)
    change = flat(found, "dparameters") @ theta.ravel() + found.dtau @ fractions(state.tau)
    assert flat(found, "dparameters").any()
    assert not (change + flat(found, "dwrench") @ fractions(state.wrench).ravel()).any()
    assert kkt.inertial_parameters(system) == pytest.approx(theta.astype(float), rel=1e-12)
    moves = {"dgravity": np.array([1.0, -2.0, 0.5]), "dwrench": np.ones((3, 6))}
    heavier = tree.copy()
    heavier.graph["gravity"] = tuple(np.asarray(tree.graph["gravity"]) * 2.0)
    pushed = kkt.build(heavier, f_ext=2.0 * state.wrench)
    difference = kkt.eliminate(pushed, ABM, "exact").qdd - found.qdd
    expected = found.dgravity @ fractions(state.gravity)
    expected = expected + flat(found, "dwrench") @ fractions(state.wrench).ravel()
    assert (difference == expected).all()
    along = kkt.directional_derivatives(system, ABM, format="exact", **moves)
    assert (along == sum(flat(found, x) @ fractions(y).ravel() for x, y in moves.items())).all()


@pytest.mark.parametrize("order", listed(["crbm", "modified_abm_stretched", "lcaba", "base_to_tip"], 1))
def test_every_order_and_number_type_gives_those_by_data(order):
    system = kkt.build(kkt.random_tree(4, seed=6))
    exact = kkt.derivatives(system, ABM, "ball:30", also=ALSO)
    found = kkt.derivatives(system, orderings.get(order), also=ALSO)
    light = kkt.adjoint_derivatives(system, orderings.get(order), np.eye(len(found.qdd)), also=ALSO)
    single = kkt.derivatives(system, ABM, "float32", also=ALSO)
    for field in NAMES:
        proved = np.array([float(x.mid()) for x in getattr(exact, field).flat])
        scale = np.abs(proved).max()
        for x, close in ((found, 1e-10), (light, 1e-10), (single, 1e-3)):
            assert np.abs(getattr(x, field).ravel() - proved).max() <= close * scale, field


def test_a_massless_body_has_them_too():
    """No entry of its M is nonzero, yet qdd changes with them."""
    tree = kkt.chain(2)
    tree.nodes["j1"].update(mass=0.0, inertia=np.zeros((3, 3)))
    system = kkt.build(tree, q=[0.3, 0.4], qd=[1.0, 2.0])
    found = kkt.derivatives(system, ABM, also=["parameters"])
    assert found.dgravity is None and found.dwrench is None
    tree.nodes["j1"]["mass"] = 1e-7
    tree.nodes["j1"]["com"] = (0.0, 0.0, 0.0)
    moved = kkt.eliminate(kkt.build(tree, q=[0.3, 0.4], qd=[1.0, 2.0]), ABM).qdd
    limit = (moved - found.qdd) / 1e-7
    assert found.dparameters[:, 0, 0] == pytest.approx(limit, abs=1e-4 * np.abs(found.qdd).max())


# -- products, of which no matrix is formed -------------------------------------------------------


@pytest.mark.parametrize("name", listed(["general", "universal", "mixture"], unmarked=1))
def test_products_are_those_with_the_matrices(name):
    """To 40 digits of 50, with every kind of joint and term, in directions of all numbers at once."""
    system = kkt.build(CASES[name])
    found = kkt.derivatives(system, ABM, "mp:50", also=ALSO)
    moves = whole_moves(system, 2, 7, shapes(system))
    along = kkt.directional_derivatives(system, ABM, **moves, format="mp:50")
    exact = sum(flat(found, x) @ digits(move).reshape(-1, 2) for x, move in moves.items())
    assert np.abs(along - exact).max() <= 1e-40 * np.abs(exact).max()
    weights = moves["dq"].T
    against = kkt.adjoint_derivatives(system, ABM, weights, "mp:50", also=ALSO)
    for field, shape in shapes(system).items():
        assert getattr(against, field).shape == (2, *shape)
        off = getattr(against, field).reshape(2, -1) - digits(weights) @ flat(found, field)
        assert np.abs(off).max() <= 1e-40 * np.abs(flat(found, field)).max()
    assert np.array_equal(against.qdd, found.qdd)


def test_in_fractions_products_are_equal():
    """By another order than the matrices: no digit may differ."""
    system = kkt.build(rich(3, 2, "revolute+universal+fixed"))
    found = kkt.derivatives(system, orderings.get("crbm"), "exact")
    steps = whole_moves(system, 1, 3, FIELDS)
    along = kkt.directional_derivatives(system, ABM, **steps, format="exact")
    exact = sum(getattr(found, field) @ fractions(x) for field, x in steps.items())
    assert (along == exact).all() and along.any()
    against = kkt.adjoint_derivatives(system, ABM, steps["dqd"][:, 0], "exact")
    for field in FIELDS:
        exact = fractions(steps["dqd"][:, 0]) @ getattr(found, field)
        assert (getattr(against, field) == exact).all()


def test_products_take_far_fewer_operations():
    """A gradient of 12 freedoms costs less than a quarter of its three matrices."""
    system = kkt.build(kkt.chain(12))
    whole = kkt.derivatives(system, ABM)
    gradient = kkt.adjoint_derivatives(system, ABM, np.ones(12))
    assert 4 * gradient.operations < whole.operations
    for field in FIELDS:
        exact = np.ones(12) @ getattr(whole, field)
        scale = np.abs(getattr(whole, field)).max()
        assert getattr(gradient, field) == pytest.approx(exact, abs=1e-12 * scale)


def test_shapes_of_products_and_what_is_refused():
    system = kkt.build(kkt.chain(3))
    assert kkt.directional_derivatives(system, ABM).shape == (3,)
    assert kkt.directional_derivatives(system, ABM, dtau=np.eye(3)).shape == (3, 3)
    assert kkt.adjoint_derivatives(system, ABM, np.eye(3)[:2]).dq.shape == (2, 3)
    with pytest.raises(kkt.ModelError, match=r"dqd has shape \(2,\); give finite numbers of shape"):
        kkt.directional_derivatives(system, ABM, dq=[1.0, 2, 3], dqd=[1.0, 2])
    with pytest.raises(kkt.ModelError, match=r"dwrench has shape \(6,\); give finite numbers of"):
        kkt.directional_derivatives(system, ABM, dwrench=np.zeros(6))
    with pytest.raises(kkt.ModelError, match=r"dgravity has shape \(3, 2, 2\)"):
        kkt.directional_derivatives(system, ABM, dgravity=np.zeros((3, 2, 2)))
    for wrong in ([1.0, 2], [[np.nan, 0, 0]], "one", 1.0, None, [10**400, 0, 0], [1j, 0, 0]):
        with pytest.raises(kkt.ModelError, match=r"chain_3: weights h.*; give finite numbers of"):
            kkt.adjoint_derivatives(system, ABM, wrong)
    stone = kkt.new_tree("stone")
    kkt.add_body(stone, "stone", mass=1.0, inertia=np.eye(3), joint="fixed")
    resting = kkt.build(stone)
    assert kkt.adjoint_derivatives(resting, ABM, np.zeros((2, 0))).dq.shape == (2, 0)
    assert kkt.directional_derivatives(resting, ABM, dq=np.zeros((0, 2))).shape == (0, 2)
