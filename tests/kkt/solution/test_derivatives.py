"""Derivatives of qdd by q, qd, tau and all data: differences in 60 digits, fractions, products."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import flint
import mpmath
import numpy as np
import pytest
from designs import listed
from helpers import by_body, every_joint, relisted

from pivotree import kkt, orderings
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.matrix.closures import closures, constraint_rows
from pivotree.kkt.matrix.entries import Entries, bias, joint_rates, velocities
from pivotree.kkt.model.spatial import cross, force_transform, matmul, matvec, skew, spatial_inertia
from pivotree.kkt.tape.player import run

MP = mpmath.MPContext()
MP.dps = 60
STEP = MP.mpf("1e-18")  # of central differences, which are off by its square
ABM = orderings.get("abm")
JOINTS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "floating")
FIELDS = ("dq", "dqd", "dtau")

digits = np.frompyfunc(lambda x: x if isinstance(x, MP.mpf) else MP.mpf(float(x)), 1, 1)


class Differences:
    """qdd of a system in 60 digits, after its joints have moved by twists S dq of their bodies."""

    def __init__(self, system):
        state, self.system, self.tape = system.state, system, kkt.trace(system, ABM)
        self.Phi = force_transform(digits(state.R), digits(state.p))
        self.S = digits(state.S.columns)
        self.own, self.qd, self.tau = digits(state.joint_bias), digits(state.qd), digits(state.tau)
        own = (digits(getattr(state, x)) for x in ("mass", "com", "inertia"))
        self.M = spatial_inertia(*own)
        self.owner = system.tree.owner

    def unknowns(self, dq, dqd, dtau):
        """qdd and lambda, by their kinds of blocks."""
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
            at = tree.freedoms_of(k)
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
        column = np.arange(len(qd)) - tree.offset[self.owner]
        rates = joint_rates(S, self.owner, column, qd, tree.n)
        push, down = digits(state.wrench), digits(state.gravity)
        a, b = bias(state.parent, self.M, Phi, rates, own, push, down)
        held = closures(tree, R, p, state.q, [closure.loop for closure in state.loops])
        v = velocities(state.parent, Phi, rates)
        entries = Entries(self.M, Phi, S, a, b, tau, *constraint_rows(held, v, down, digits), A)
        solution, _, _ = run(self.tape, entries, MP.mpf)
        parts = {kind: [x for block, x in solution.items() if block.kind == kind] for kind in ("qdd", "lam")}
        return {kind: np.concatenate(rows) for kind, rows in parts.items() if rows}

    def along(self, **moves):
        """Central differences of qdd and of lambda, all numbers of these kinds moved at once."""
        N = len(self.qd)
        moves = {field: digits(moves.get(field, np.zeros(N))) for field in (*FIELDS, *moves)}
        later, earlier = (self.unknowns(**{x: s * STEP * y for x, y in moves.items()}) for s in (1, -1))
        return {kind: (later[kind] - earlier[kind]) / (2 * STEP) for kind in later}

    def derivative(self, which):
        """(unknowns, N) central differences by dq, dqd or dtau, by kinds of unknowns."""
        columns = [self.along(**{which: one}) for one in np.eye(len(self.qd))]
        return {kind: np.array([c[kind] for c in columns], dtype=object).T for kind in columns[0]}


def apart(found, exact):
    """max |found - exact| / max |exact|, in the digits of mpmath."""
    off = max(abs(MP.mpf(x) - y) for x, y in zip(found.flat, exact.flat, strict=True))
    return float(off / max(abs(y) for y in exact.flat))


def lopsided(tree):
    """The tree with bodies whose inertias have no zeros, which a tape would not read."""
    rng = np.random.default_rng(5)
    for _, data in tree.nodes(data=True):
        half = rng.normal(size=(3, 3))
        spread = half @ half.T
        data.update(com=rng.normal(size=3), inertia=np.trace(spread) * np.eye(3) - spread)
    return tree


def rich(n, seed, joints, terms=True):
    """A random tree in motion with wrenches, tilted gravity, and terms of the joints' own."""
    tree = lopsided(kkt.random_tree(n, seed=seed, joints=joints))
    rng = np.random.default_rng(seed)
    tree.graph["gravity"] = tuple(rng.normal(size=3))
    for _, data in tree.nodes(data=True):
        data["wrench"] = rng.normal(size=6)
        if terms and data["joint"] != "fixed":
            data["armature"], data["damping"] = rng.uniform(0.1, 1.0, size=2)
            data["friction"] = 0.2
            if data["joint"] not in ("spherical", "planar", "floating"):
                data["stiffness"], data["rest"] = 3.0, 0.1
    N = kkt.compile_tree(tree).N
    tree.graph.update(q=rng.normal(size=N), qd=rng.normal(size=N), tau=rng.normal(size=N))
    return tree


def general(columns):
    """A chain whose middle joint is general, with these motions."""
    tree = lopsided(kkt.chain(3))
    tree.nodes["j2"].update(joint="general", S=np.array(columns, dtype=float).T, axis=None)
    N = 2 + len(columns)
    rng = np.random.default_rng(N)
    tree.graph.update(q=rng.normal(size=N), qd=rng.normal(size=N), tau=rng.normal(size=N))
    return tree


CASES = {
    "screw": general([[0.3, 0.1, 0.9, 0.2, 0.0, 0.5]]),
    **{joint: rich(3 if seed < 4 else 2, seed, joint) for seed, joint in enumerate(JOINTS)},
    "mixture": rich(5, 9, "+".join((*JOINTS, "fixed"))),
    "general": general([[0, 0, 1, 0.1, 0.2, 0], [0, 0, 0, 0, 0, 1]]),  # they commute
}


@pytest.mark.parametrize("name", listed(CASES))
def test_they_are_the_limits_of_differences(name):
    """Central differences in 60 digits agree to 30, of every kind of joint and term.

    So do certified derivatives, the sums of two doubles that digits are counted against.
    """
    system = kkt.build(CASES[name])
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    proved = TracedOrder(kkt.trace(system, ABM), system, "derivatives").certified(system, 40)
    for k, field in enumerate(FIELDS, start=1):
        exact = limits.derivative(field)["qdd"]
        assert any(exact.flat) or (name, field) in {("prismatic", "dq"), ("prismatic", "dqd")}
        if any(exact.flat):
            high, low = (digits(x[k]).reshape(exact.shape) for x in (proved.high, proved.low))
            for own in (getattr(found, field), high + low):
                assert apart(own, exact) <= 1e-30, field


def test_an_implicit_step_is_differentiated_with_its_springs_and_dampers():
    system = kkt.build(rich(3, 4, "revolute+universal+prismatic"), implicit=0.01)
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    for field in FIELDS:
        assert apart(getattr(found, field), limits.derivative(field)["qdd"]) <= 1e-30


ORDERS = ("crbm", "virtual_work", "gain_abm", "modified_abm_stretched", "constraint_force", "lcaba")


@cache
def mixture():
    system = kkt.build(CASES["mixture"])
    return system, kkt.derivatives(system, ABM, "mp:40")


@pytest.mark.parametrize("order", listed([*ORDERS, "base_to_tip"], unmarked=1))
def test_every_order_of_pivots_gives_them(order):
    (system, exact), order = mixture(), orderings.get(order)
    found = kkt.derivatives(system, order)
    single = kkt.derivatives(system, ABM, "float32")
    for field in FIELDS:
        for x, close in ((found, 1e-10), (single, 1e-3)):
            assert apart(digits(getattr(x, field)), getattr(exact, field)) <= close, field
    assert np.array_equal(found.qdd, kkt.eliminate(system, order).qdd)


@pytest.mark.parametrize("seed", listed(range(2), unmarked=1))
def test_abm_in_float64_keeps_13_digits(seed):
    """And in float32 five, against 50 proved digits."""
    system = kkt.build(kkt.random_tree(5, seed=seed))
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


def test_joints_are_listed_in_any_order():
    """Bodies listed children first: rows and columns follow the listing."""
    tree = rich(5, 3, "revolute+universal+fixed", terms=False)
    system, turned = kkt.build(tree), kkt.build(relisted(tree, list(tree)[::-1]))
    place = by_body(system, np.arange(system.tree.N))
    listing = np.concatenate([place[body] for body in turned.tree.names])
    first, second = kkt.derivatives(system, ABM), kkt.derivatives(turned, ABM)
    for field in FIELDS:
        expected = getattr(first, field)[np.ix_(listing, listing)]
        assert getattr(second, field) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_what_is_refused():
    turning = general(np.eye(6)[:3])  # a ball, whose q is a rotation vector
    assert kkt.derivatives(kkt.build(turning), ABM).dq.shape == (5, 5)
    turning.nodes["j2"]["stiffness"] = 1.0
    massless = kkt.chain(2)
    massless.nodes["j2"].update(mass=0.0, inertia=np.zeros((3, 3)))
    for error, words, tree in (
        (kkt.ModelError, "general joint lead out of what they span", every_joint()),
        (kkt.ModelError, "not commute, so that the rates of its spring's q", turning),
        (kkt.SizeError, "of 301 joints on 301 bodies are too long", kkt.chain(301)),
        (kkt.SingularError, "'j2'", massless),
    ):
        with pytest.raises(error, match=words):
            kkt.derivatives(kkt.build(tree), ABM)


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
