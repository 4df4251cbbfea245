"""Derivatives of qdd: differences in 60 digits, certified balls, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import networkx as nx
import numpy as np
import pytest
from helpers import every_joint

from pivotree import kkt, orderings
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
    **{joint: rich(3, seed, joint) for seed, joint in enumerate(JOINTS)},
    "mixture": rich(6, 9, "+".join((*JOINTS, "fixed"))),
    "screw": general([[0.3, 0.1, 0.9, 0.2, 0.0, 0.5]]),
    "general": general([[0, 0, 1, 0.1, 0.2, 0], [0, 0, 0, 0, 0, 1]]),  # they commute
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_they_are_the_limits_of_differences(name):
    """Central differences in 60 digits agree to 30, of every kind of joint and term."""
    system = kkt.build(CASES[name])
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    for field in FIELDS:
        exact = limits.derivative(field)
        assert any(exact.flat) or (name, field) in {("prismatic", "dq"), ("prismatic", "dqd")}
        if any(exact.flat):
            assert apart(getattr(found, field), exact) <= 1e-30, field


def test_an_implicit_step_is_differentiated_with_its_springs_and_dampers():
    system = kkt.build(rich(3, 4, "revolute+universal+prismatic"), implicit=0.01)
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    for field in FIELDS:
        assert apart(getattr(found, field), limits.derivative(field)) <= 1e-30


@pytest.mark.thorough
@pytest.mark.parametrize(
    "order",
    [
        "crbm",
        "gain_abm",
        "modified_abm_stretched",
        "virtual_work",
        "constraint_force",
        "lcaba",
        "base_to_tip",
    ],
)
def test_every_order_of_pivots_gives_them(order):
    system = kkt.build(CASES["mixture"])
    exact = kkt.derivatives(system, ABM, "mp:40")
    found = kkt.derivatives(system, orderings.get(order))
    for field in FIELDS:
        assert apart(getattr(found, field), getattr(exact, field)) <= 1e-10
    assert np.array_equal(found.qdd, kkt.eliminate(system, orderings.get(order)).qdd)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
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


def test_balls_hold_the_fractions():
    import flint

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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["universal", "spherical", "mixture"])
def test_differences_in_60_digits_lie_in_certified_balls(name):
    """But for what central differences are off by themselves, 1e-30 of the largest entry."""
    import flint

    system = kkt.build(CASES[name])
    proved, limits = kkt.derivatives(system, ABM, "ball:50"), Differences(system)
    for field in FIELDS:
        found = limits.derivative(field)
        own = flint.arb(0, 1e-30 * max(float(abs(x)) for x in found.flat))
        for ball, x in zip(getattr(proved, field).flat, found.flat, strict=True):
            with flint.ctx.workprec(400):
                assert flint.arb(MP.nstr(x, 55)) in ball + own
                assert float(ball.rad()) <= 1e-50 * max(abs(float(x)), float(own.rad()))


@pytest.mark.thorough
def test_by_efforts_they_are_the_joint_space_inverse():
    system = kkt.build(kkt.quadruped())
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


@pytest.mark.thorough
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
