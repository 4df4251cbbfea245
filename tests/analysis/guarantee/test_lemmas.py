"""Lemmas of docs/theory/guarantee.md on random instances; a twin that says more must fail.

That of step 5, a change of frame, is in test_factors.py, where one step does all the rounding.
"""

import mpmath
import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.inertia import product
from pivotree.kkt.theorem.guarantee import PRODUCTS
from pivotree.kkt.theorem.ranges import ranges_of
from pivotree.kkt.theorem.roundings import roundings
from pivotree.kkt.theorem.support import PLACED, Turn

mp = mpmath.mp.clone()
mp.dps = 40
UNIT = 2.0**-24


def definite(draw, size, spread=4.0):
    """A random positive definite matrix whose eigenvalues are spread over decades."""
    Q, _ = np.linalg.qr(draw.normal(size=(size, size)))
    return mp.matrix((Q * 10.0 ** draw.uniform(-spread, 0.0, size)) @ Q.T)


def below(X, Y):
    """X <= Y, but for the last of 40 digits."""
    gap = (Y - X + (Y - X).T) / 2
    size = max(abs(x) for matrix in (X, Y) for x in matrix)
    return min(mp.eigsy(gap, eigvals_only=True)) > -size * mp.mpf(10) ** -30


def let_go(X, H, A):
    """S(X)."""
    W = H * X
    return X - W.T * (A + W * H.T) ** -1 * W


@pytest.mark.parametrize("seed", range(6))
def test_step_1_let_go_is_monotone_and_shrinks_changes(seed):
    draw = np.random.default_rng(seed)
    N = 1 + seed % 3
    H, e = mp.matrix(draw.normal(size=(N, 6))), mp.mpf("0.01")
    A = mp.diag([mp.mpf(x) for x in draw.uniform(0, 1, N)])
    X = definite(draw, 6)
    Y = X + definite(draw, 6)
    assert below(let_go(X, H, A), let_go(Y, H, A)) and below(let_go(X, H, A), X)
    assert below(let_go((1 + e) * X, H, A), (1 + e) * let_go(X, H, A))
    assert below((1 - e) * let_go(X, H, A), let_go((1 - e) * X, H, A))
    assert not below(let_go((1 + e) * X, H, A), (1 + e / 2) * let_go(X, H, A))


@pytest.mark.parametrize("seed", range(4))
def test_step_2_the_largest_change_counts_not_the_sum(seed):
    draw = np.random.default_rng(seed)
    none = mp.zeros(1, 1)
    changes = [mp.mpf(x) for x in draw.permutation([0.01, 0.002, 0.003, 0.004])]
    exact = changed = None
    for g in changes:
        M, Phi = definite(draw, 6), mp.matrix(draw.normal(size=(6, 6)))
        H = mp.matrix(draw.normal(size=(1, 6)))
        V, L = mp.matrix(np.linalg.qr(draw.normal(size=(6, 6)))[0]), mp.cholesky(M)
        G = g * L * V * mp.diag([1, -1, 1, 1, -1, 1]) * V.T * L.T  # -g M <= G <= g M, reached
        more = mp.zeros(6, 6) if exact is None else Phi * let_go(exact, H, none) * Phi.T
        other = mp.zeros(6, 6) if changed is None else Phi * let_go(changed, H, none) * Phi.T
        exact, changed = M + more, M + G + other
    most = max(changes)
    assert below(-most * exact, changed - exact) and below(changed - exact, most * exact)
    tight = changes[-1] / 100  # a twin: the body's own change, made small, is not enough
    assert not below(changed - exact, tight * exact) or not below(-tight * exact, changed - exact)


def rounded(x):
    return np.float32(x)


def inner_in_float32(M, H, A):
    """Mbar in float32, as the engine forms it: c = H M, D = H c* + A, Mbar = M - sum c c*/d."""
    W = product(H, M)
    D = product(H, W.T) + A
    D, N = np.tril(D), len(H)
    for k in range(N - 1):
        for i in range(k + 1, N):
            for j in range(k + 1, i + 1):
                D[i, j] -= D[i, k] * D[j, k] / D[k, k]
    for j in range(N):
        for i in range(j + 1, N):
            W[i] = W[i] - D[i, j] * (W[j] / D[j, j])
    total = W[0][:, None] * W[0] / D[0, 0]
    for k in range(1, N):
        total = total + W[k][:, None] * W[k] / D[k, k]
    return M - total


def step_4(seed, graded):
    """Largest entry of the error of Mbar over u s_i s_j, e of step 4, and e without eta."""
    draw = np.random.default_rng(seed)
    N = 1 + seed % 3
    H = rounded(draw.normal(size=(N, 6)))
    M = rounded(np.array(definite(draw, 6, graded).tolist(), dtype=float))
    M, A = np.float32(0.5) * (M + M.T), rounded(np.diag(draw.uniform(0, 0.1, N)))
    H64, M64, A64 = (mp.matrix(x.astype(float)) for x in (H, M, A))
    exact = let_go(M64, H64, A64)
    off = mp.matrix(inner_in_float32(M, H, A).astype(float)) - exact
    E = np.array(off.tolist(), dtype=float)
    s, M64, H64 = np.sqrt(np.diag(M.astype(float))), M.astype(float), H.astype(float)
    D = H64 @ M64 @ H64.T + A
    sigma = np.sqrt((np.abs(H64) @ s) ** 2 + np.diag(A))
    signs = np.array(np.meshgrid(*[[-1, 1]] * N)).reshape(N, -1).T * sigma
    eta = np.einsum("ki,ij,kj->k", signs, np.linalg.inv(D), signs).max()
    p, r = (0 if N == 1 else N + 1), 6
    worst = np.abs(E / np.outer(s, s)).max() / UNIT
    return worst, N + 1 + 2 * np.sqrt(eta) * (p + r) + eta * (p + 2 * r + 1), N + 1


def test_step_4_one_joint():
    found = [step_4(seed, 3.0) for seed in range(30)]
    assert all(worst <= most for worst, most, _ in found)
    assert any(worst > without for worst, _, without in found)  # the twin leaves eta out


def lost(seed):
    """What operations that are off by ``tiny`` each leave in Phi Mbar Phi*, and high and low."""
    draw, tiny = np.random.default_rng(seed), 1e-13
    N, one = 1 + seed % 6, np.array([0.01, 1, 1, 1, 1, 1])
    M, H, Phi = np.array(definite(draw, 6, 2.0).tolist(), dtype=float), np.eye(6)[:N], np.eye(6)
    if N == 1:  # a joint that moves little beside what it is coupled with
        M = np.outer(one, one) + 1e-4 * np.eye(6)
    else:
        H = H + 0.3 * draw.normal(size=H.shape)
    Phi[:3] += draw.normal(size=(3, 6))
    size = np.sqrt(np.diag(M))
    t, sigma = np.abs(Phi) @ size, np.abs(H) @ size
    rows = [np.abs(x).sum(axis=1).max() for x in (Phi, H)]
    high = max(1.0, *(x.max() ** 2 for x in (size, t, sigma)), *(x * x for x in rows))
    low = min(1.0, *(np.linalg.eigvalsh(x)[0] for x in (M, H @ M @ H.T)))

    def off(x, count=1):
        return x + tiny * sum(draw.choice([-1.0, 1.0], np.shape(x)) for _ in range(count))

    W = off(H @ M, 11)
    D, N_ = off(H @ W.T, 12), M.copy()
    D = np.tril(D) + np.tril(D, -1).T
    for k in range(N):  # eliminated one by one, beside the joint as well
        c, d = W[k].copy(), D[k, k]
        N_ = off(N_ - off(c[:, None] * off(c / d)))
        for i in range(k + 1, N):
            W[i] = off(W[i] - off(D[i, k] * off(c / d)))
            D[i, k + 1 :] = off(D[i, k + 1 :] - off(D[i, k] * off(D[k, k + 1 :] / d)))
    found = off(Phi @ off(N_ @ Phi.T, 11), 12)
    Mbar = let_go(*map(mp.matrix, (M, H, np.zeros((N, N)))))
    exact = Phi @ np.array(Mbar.tolist(), dtype=float) @ Phi.T
    return np.abs(found - exact).max() / tiny, high, low


@pytest.mark.product
def test_limits_what_is_lost_below_the_normal_numbers():
    found = [lost(seed) for seed in range(60)]
    assert all(off <= PRODUCTS * high * high / low for off, high, low in found)
    # a twin: as if no pivot were small
    assert any(off > PRODUCTS / 4 * high * high for off, high, _ in found)


def test_step_8_entries_of_phi_are_off_by_12_units():
    """Formed in float64 and rounded to float32, beside 40 digits; of |R| and |p~| |R|."""
    draw, worst = np.random.default_rng(0), 0.0
    R0, _ = np.linalg.qr(draw.normal(size=(3, 3)))
    tree, body = kkt.new_tree("turn"), {"mass": 1.0, "com": (0, 0, 0), "inertia": np.eye(3)}
    kkt.add_body(tree, "a", **body)
    place = {"R": R0 * np.linalg.det(R0), "p": (0.3, 2.0, -0.7)}
    kkt.add_body(tree, "b", "a", axis=(0, 0, 1), **place, **body)
    system = kkt.build(tree)
    R0, p = mp.matrix(system.tree.R[1].tolist()), system.tree.p[1].tolist()
    arm = mp.matrix([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    turn = Turn(system, ranges_of(system), 1, UNIT)
    t = np.array([turn.formed(x) for x in np.eye(6)]).T
    for q in draw.uniform(-3, 3, 50):
        c, s = mp.cos(mp.mpf(q)), mp.sin(mp.mpf(q))
        R = R0 * mp.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        exact = np.zeros((6, 6), dtype=object)
        exact[:3, :3] = exact[3:, 3:] = np.array(R.tolist())
        exact[:3, 3:] = np.array((arm * R).tolist())
        Phi = system.refresh([0.0, q], np.zeros(2), np.zeros(2)).entries.Phi[1]
        for entries, unit in ((Phi, 2.0**-53), (Phi.astype(np.float32).astype(float), UNIT)):
            off = np.abs(entries - exact).astype(float)
            assert not off[t == 0.0].any()
            worst = max(worst, (off[t > 0.0] / t[t > 0.0]).max() / unit)
    assert 0.5 < worst <= 12 < PLACED


@pytest.mark.parametrize("seed", range(4))
def test_step_8_what_a_parent_holds_may_be_changed_with_it(seed):
    """G <= g (L + U), U the parent's own inertia through the joint: Phi S(M^ + G) Phi* knows."""
    draw = np.random.default_rng(seed)
    N, g = 1 + seed % 2, mp.mpf("0.01")
    H, Phi = mp.matrix(draw.normal(size=(N, 6))), mp.matrix(draw.normal(size=(6, 6)))
    A, none = mp.diag([mp.mpf(x) for x in draw.uniform(0, 1, N)]), mp.zeros(N, N)
    light, parent = definite(draw, 6, 0.5) / 20, definite(draw, 6, 0.5)
    held = let_go(Phi**-1 * parent * Phi.T**-1, H, none)
    M = light + definite(draw, 6, 6.0) / 1000  # light is at most M^
    L, V = (
        mp.cholesky(light + held + mp.eye(6) * mp.mpf(10) ** -30),
        mp.matrix(np.linalg.qr(draw.normal(size=(6, 6)))[0]),
    )
    for sign in (1, -1):
        G = sign * g * L * V * mp.diag([1, 1, 1, 1, -1, 1]) * V.T * L.T
        Mbar = Phi * let_go(M, H, A) * Phi.T
        gap = Phi * let_go(M + G, H, A) * Phi.T - Mbar
        assert below(gap, g * (Mbar + parent)) and below(-gap, g * (Mbar + parent))
        assert not below(gap, g * Mbar) or not below(-gap, g * Mbar)  # the twin: as if alone


def test_counts_come_from_the_tape_and_are_those_of_the_proof():
    tree = kkt.random_tree(n=6, seed=3)
    system = kkt.build(tree)
    counts = roundings(kkt.trace(system, orderings.get("abm")))
    lengths = np.array([6, 6, 6, 3, 3, 3])
    assert (counts.frame <= lengths[:, None] + lengths).all()
    assert counts.frame.max() == 12  # a body with no zeros is counted in full
    N = system.tree.dof
    assert (counts.product <= 6).all() and (counts.pivot <= 7).all()
    assert (counts.beside[N > 0] <= N[N > 0] + 1).all()
    assert counts.gathered.max() <= max(np.bincount(system.tree.parent[1:]))


def test_zeros_and_ones_of_a_robot_are_not_counted():
    planar = roundings(kkt.trace(kkt.build(kkt.chain(3)), orderings.get("abm")))
    assert planar.product.max() == planar.pivot.max() == 0 and planar.beside.max() == 2
    assert 0 < planar.frame.max() < 12
