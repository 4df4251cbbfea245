"""A gradient through 100 steps of every kind of joint, beside differences in 40 digits."""

import mpmath
import numpy as np
import pytest
from helpers import every_joint

jax = pytest.importorskip("jax")

from pivotree import kkt, orderings  # noqa: E402
from pivotree.kkt.machine.configuration import from_quaternion  # noqa: E402
from pivotree.kkt.matrix.bias import bias, joint_rates  # noqa: E402
from pivotree.kkt.matrix.entries import Entries  # noqa: E402
from pivotree.kkt.model.joints import TYPES  # noqa: E402
from pivotree.kkt.model.spatial import force_transform, matmul, matvec, spatial_inertia  # noqa: E402
from pivotree.kkt.tape.run import run_objects  # noqa: E402

pytestmark = pytest.mark.peers
jax.config.update("jax_enable_x64", True)
MP = mpmath.MPContext()
MP.dps = 40
MP.mpf.cos, MP.mpf.sin, MP.mpf.sqrt = MP.cos, MP.sin, MP.sqrt  # what numpy asks of objects
SMALL = MP.mpf("1e-12")  # of central differences, which are off by its square
ABM = orderings.get("abm")
STEPS, STEP = 100, 0.01


def digits(x):
    """An array of numbers of 40 digits."""
    flat = [v if isinstance(v, MP.mpf) else MP.mpf(float(v)) for v in np.ravel(x)]
    return np.array([*flat, None], dtype=object)[:-1].reshape(np.shape(x))


def times(a, b):
    """a x b of three numbers each."""
    return [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]


def rates(kernel, x, qd, cos, sin):
    """dx/dt number by number, of whatever kind they are; quaternions are (x, y, z, w)."""
    found, places = [], kernel.places
    for k, kind in enumerate(places.tree.joint):
        own, speed = x[places.of(k)], qd[places.rates_of(k)]
        if kind == "planar":
            c, s = cos(own[2]), sin(own[2])
            speed = [c * speed[0] - s * speed[1], s * speed[0] + c * speed[1], speed[2]]
        if kind not in ("spherical", "floating"):
            found += list(speed)
            continue
        u, w = own[-4:-1], own[-1]
        if kind == "floating":
            v = speed[3:]
            across, scale = times(u, v), 2 / (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + w * w)
            twice = times(u, across)
            found += [v[i] + scale * (w * across[i] + twice[i]) for i in range(3)]
        turn = times(u, speed)
        found += [(w * speed[i] + turn[i]) / 2 for i in range(3)]
        found.append(-(u[0] * speed[0] + u[1] * speed[1] + u[2] * speed[2]) / 2)
    return found


class Longer:
    """Forward dynamics in 40 digits, from joint positions on."""

    def __init__(self, system, places):
        self.system, self.places, self.tape = system, places, kkt.trace(system, ABM)
        tree = system.tree
        self.M = spatial_inertia(*map(digits, (tree.mass, tree.com, tree.inertia)))

    def qdd(self, x, qd, tau):
        tree, state = self.system.tree, self.system.state
        R, p, S = digits(tree.R), digits(tree.p), digits(state.S.columns)
        slip = digits(np.zeros((tree.n, 6)))
        for k, kind in enumerate(tree.joint):
            joint, axis, own = TYPES[kind], digits(tree.axis[k : k + 1]), x[self.places.of(k)]
            at = self.places.rates_of(k)
            if joint.orientation:
                turn, shift = from_quaternion(own[None, -4:]), own[None, :-4]
                shift = shift if shift.size else digits(np.zeros((1, 3)))
            else:
                turn, shift = map(digits, joint.pose(axis, own[None]))
                if joint.moving:
                    S[at] = joint.subspace(axis, own[None])[0].T
                if joint.bias is not None:
                    slip[k] = joint.bias(axis, own[None], qd[None, at])[0]
            p[k] = p[k] + matvec(R[k], shift[0])
            R[k] = matmul(R[k], turn[0])
        Phi, owner = force_transform(R, p), np.repeat(np.arange(tree.n), tree.dof)
        column = np.arange(len(qd)) - tree.offset[owner]
        moving = joint_rates(S, owner, column, qd, tree.n)
        push, down = digits(state.wrench), digits(state.gravity)
        a, b = bias(tree.parent, self.M, Phi, moving, slip, push, down)
        A = digits(np.zeros(0))
        if tree.terms is not None:
            position = digits(np.zeros(len(qd)))
            at, to = self.places.plain
            position[to] = x[at]
            A, stretch = digits(tree.terms.armature), position - digits(tree.terms.rest)
            tau = tau - digits(tree.terms.damping) * qd - digits(tree.terms.stiffness) * stretch
        none = digits(np.zeros((0, 6))), digits(np.zeros(0)), digits(np.zeros(0))
        entries = Entries(self.M, Phi, S, a, b, tau, *none, A)
        solution, _, _ = run_objects(self.tape, entries, MP.mpf)
        return np.concatenate([v for block, v in solution.items() if block.kind == "qdd"])


def test_a_gradient_through_a_hundred_steps_of_every_joint():
    tree = every_joint(general=False)
    for number, body in enumerate(tree.nodes):
        if tree.nodes[body]["joint"] != "fixed":
            tree.nodes[body].update(armature=0.1 + 0.01 * number, damping=0.2)
    system = kkt.build(tree)
    kernel, f = kkt.compile(system, ABM), kkt.to_jax(system, ABM)
    random = np.random.default_rng(1)
    start = [0.4 * random.standard_normal(size) for size in (kernel.nx, kernel.N, kernel.N)]
    longer, weights = Longer(system, kernel.places), random.standard_normal(kernel.nx + kernel.N)
    found, right = jax.jit(f)(*start), longer.qdd(*map(digits, start))
    assert np.abs(np.asarray(found) - right.astype(float)).max() < 1e-11 * np.abs(found).max()

    def end(x, qd, tau):
        def step(state, _):
            x, qd = state
            qd = qd + STEP * f(x, qd, tau)
            turned = jax.numpy.stack(rates(kernel, x, qd, jax.numpy.cos, jax.numpy.sin))
            return (x + STEP * turned, qd), None

        (x, qd), _ = jax.lax.scan(step, (x, qd), None, length=STEPS)
        return weights @ jax.numpy.concatenate([x, qd])

    def end_in_digits(x, qd, tau):
        h = MP.mpf(STEP)
        for _ in range(STEPS):
            qd = qd + h * longer.qdd(x, qd, tau)
            x = x + h * np.array(rates(kernel, x, qd, MP.cos, MP.sin), dtype=object)
        return digits(weights) @ np.concatenate([x, qd])

    slopes = [np.asarray(x) for x in jax.jit(jax.grad(end, (0, 1, 2)))(*start)]
    along, ends = [random.standard_normal(slope.shape) for slope in slopes], []
    for sign in (1, -1):
        moves = zip(start, along, strict=True)
        ends.append(end_in_digits(*(digits(x) + sign * SMALL * digits(by) for x, by in moves)))
    exact = float((ends[0] - ends[1]) / (2 * SMALL))
    found = sum(slope @ by for slope, by in zip(slopes, along, strict=True))
    size = max(abs(slope @ by) for slope, by in zip(slopes, along, strict=True))
    assert abs(found - exact) < 1e-6 * size
    assert abs(found - exact) < 1e-11 * size  # as it was measured
