"""Composites by mass, centre of mass and inertia about it: the order crbm_com."""

import json
import operator
from fractions import Fraction

import numpy as np
import pytest
from designs import listed

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.kkt.arithmetic import ADD, DIV, MUL, SUB
from pivotree.kkt.tape import centre, emit, rigid

CRBM, COM = orderings.get("crbm"), orderings.get("crbm_com")


def ran(function, *blocks):
    """What an operation on blocks gives in exact fractions."""
    values, codes = [Fraction(0), Fraction(1)], []
    for block in blocks:
        code = np.zeros(block.shape, dtype=np.int64)
        for at, x in np.ndenumerate(block):
            if x in (0, 1):
                code[at] = int(x)
            else:
                code[at] = len(values)
                values.append(x)
        codes.append(code)
    e = emit.Emitter(len(values))
    out = function(e, *codes)
    does = {ADD: operator.add, SUB: operator.sub, MUL: operator.mul, DIV: operator.truediv}
    for op, a, b in zip(e.op, e.a, e.b, strict=True):
        for o, i, j in zip(op.tolist(), a.tolist(), b.tolist(), strict=True):
            values.append(does[o](values[i], values[j]))
    return np.array([[(1 if c >= 0 else -1) * values[abs(c)] for c in row] for row in out])


def cross(p):
    x, y, z = p
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)


def body(rng, massless=False):
    """A spatial inertia with whole numbers; (m, h, J)."""
    m = Fraction(0) if massless else Fraction(int(rng.integers(1, 9)))
    h = m * np.array([Fraction(int(x), 7) for x in rng.integers(-9, 9, 3)])
    A = rng.integers(-5, 5, (3, 3))
    J = np.array([[Fraction(int(x)) for x in row] for row in A @ A.T])
    M = np.full((6, 6), Fraction(0))
    M[:3, :3], M[:3, 3:], M[3:, :3] = J, cross(h), -cross(h)
    M[[3, 4, 5], [3, 4, 5]] = m
    return M


def pose(rng):
    """Phi of a rotation in fractions, from a quaternion in whole numbers."""
    w, x, y, z = (Fraction(int(k)) for k in rng.integers(1, 6, 4))
    q = np.array([x, y, z])
    R = (w * w - q @ q) * np.eye(3, dtype=int) + 2 * np.outer(q, q) + 2 * w * cross(q)
    R = R / (w * w + q @ q)
    assert not (R @ R.T - np.eye(3, dtype=int)).any()
    Phi = np.full((6, 6), Fraction(0))
    Phi[:3, :3] = Phi[3:, 3:] = R
    Phi[:3, 3:] = cross([Fraction(int(k), 3) for k in rng.integers(-5, 5, 3)]) @ R
    return Phi


@pytest.mark.parametrize("massless", [(False, False), (True, False), (False, True), (True, True)])
def test_the_formulas_are_exact_where_rotations_are(massless):
    """Carried, joined and about the joint again: Phi M Phi^T + M', in fractions."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        child, parent, Phi = body(rng, massless[0]), body(rng, massless[1]), pose(rng)
        C = ran(centre.carried, Phi, ran(centre.centred, child))
        both = ran(centre.met, ran(centre.centred, parent), C)
        assert (ran(centre.about_joint, C) == Phi @ child @ Phi.T).all()
        assert (ran(centre.about_joint, both) == parent + Phi @ child @ Phi.T).all()
        shifted = ran(rigid.shift, Phi, child)
        assert (shifted == Phi @ child @ Phi.T).all()
        assert (ran(rigid.join, parent, shifted) == parent + shifted).all()


def walker_orin(system):
    """The joint-space inertia by their method 3, in world coordinates, bodies one after another.

    Nothing of equation (4) or of the elimination enters: poses, masses and centres of mass.
    """
    tree, state = system.tree, system.state
    n = tree.n
    turn, origin = [None] * n, [None] * n
    for k in range(n):
        up = int(tree.parent[k])
        R, p = state.R[k], state.p[k]
        turn[k] = R if up < 0 else turn[up] @ R
        origin[k] = p if up < 0 else origin[up] + turn[up] @ p
    below = [{k} for k in range(n)]
    for k in reversed(range(n)):
        if tree.parent[k] >= 0:
            below[int(tree.parent[k])] |= below[k]
    spread = lambda m, r: m * (r @ r * np.eye(3) - np.outer(r, r))  # noqa: E731
    axes = [(k, turn[k] @ state.S[k][:3], turn[k] @ state.S[k][3:]) for k in range(n)]
    columns = [(k, w[:, j], v[:, j]) for k, w, v in axes for j in range(w.shape[1])]
    H = np.zeros((len(columns),) * 2)
    for a, (k, w, v) in enumerate(columns):
        bodies = sorted(below[k])
        mass = sum(tree.mass[b] for b in bodies)
        centres = {b: origin[b] + turn[b] @ tree.com[b] for b in bodies}
        c = sum(tree.mass[b] * centres[b] for b in bodies) / mass
        E = sum(turn[b] @ tree.inertia[b] @ turn[b].T + spread(tree.mass[b], centres[b] - c) for b in bodies)
        force = mass * (v + np.cross(w, c - origin[k]))
        moment = E @ w  # about the centre
        for b, (i, wi, vi) in enumerate(columns):
            if k in below[i]:
                at = moment + np.cross(c - origin[i], force)
                H[a, b] = H[b, a] = wi @ at + vi @ force
    return H


TREES = {
    "chain": lambda: kkt.chain(7),
    "two links": lambda: kkt.two_link(0.002),
    "all joints": lambda: kkt.random_tree(9, seed=4),
    "floating": lambda: kkt.from_spec("random_tree:n=6,seed=2,joints=floating"),
    "spherical": lambda: kkt.from_spec("random_tree:n=6,seed=5,joints=spherical"),
    "humanoid": kkt.humanoid,
}


@pytest.mark.uncached
@pytest.mark.parametrize("name", listed(TREES, unmarked=3))
def test_the_inertia_is_walker_and_orins(name):
    system = kkt.build(TREES[name]())
    H = walker_orin(system)
    for order in (CRBM, COM):
        assert np.abs(kkt.joint_space_inertia(system, order) - H).max() < 1e-13 * np.abs(H).max()
    exact = kkt.certify(system)
    assert exact.error(kkt.eliminate(system, COM, records=False).qdd) < 1e-11


def test_a_body_without_mass_has_no_centre():
    tree = kkt.chain(4)
    for body in ("j2", "j3"):
        tree.nodes[body].update(mass=0.0, inertia=np.zeros((3, 3)))
    tree.nodes["j3"]["inertia"] = np.diag([0.1, 0.2, 0.25])  # a rotor
    system = kkt.build(tree)
    H = kkt.joint_space_inertia(system, CRBM)
    assert np.abs(kkt.joint_space_inertia(system, COM) - H).max() < 1e-13 * np.abs(H).max()


def test_the_pivots_are_crbms_and_the_composites_are_not():
    system = kkt.build(kkt.random_tree(8, seed=3))
    plain, com = (kkt.trace(system, order) for order in (CRBM, COM))
    ten = kkt.trace(system, CRBM, "rigid")
    assert com.program.pivots == plain.program.pivots and com.program.composites == "centre"
    assert ten.flops < com.flops < plain.flops
    found = [kkt.eliminate(system, t, "float32").qdd for t in (plain, com, ten)]
    assert len({f.tobytes() for f in found}) == 3


@pytest.mark.parametrize("format", listed(["float64", "float32"], unmarked=1))
def test_kernels_give_the_same_bits_in_every_batch(format):
    tree = kkt.chain(5)
    kernel = kkt.compile(tree, COM, format, solver="cholesky")
    rng = np.random.default_rng(0)
    q, qd = rng.normal(size=(2, 19, 5))
    together = kernel(q, qd)
    assert all((kernel(q[i], qd[i]) == together[i]).all() for i in range(19))
    other = kkt.compile(tree, CRBM, "float64", solver="cholesky")(q, qd)
    assert np.abs(together - other).max() < (1e-11 if format == "float64" else 1e-2)
    assert (together != other).any()


def test_it_is_compared_where_it_is_named_and_refused_where_it_is_not_exact(tmp_path, capsys):
    assert "crbm_com" in orderings.ORDERS and "crbm_com" not in orderings.names()
    system = kkt.build(kkt.chain(4))
    rows = analysis.compare(system, ["crbm", "crbm_com"], ["float32", "tf32", "exact"]).rows
    by = {(row.order, row.format): row for row in rows}
    assert by["crbm_com", "float32"].digits > 5 and by["crbm_com", "tf32"].digits > 1
    assert "composites 'centre'" in by["crbm_com", "exact"].failed_at
    file = tmp_path / "com.json"
    groups = [[list(block) for block in group] for group in COM(system.structure)]
    file.write_text(json.dumps({"groups": groups, "composites": "centre"}))
    again = orderings.get(str(file))
    assert kkt.trace(system, again).flops == kkt.trace(system, COM).flops
    with pytest.raises(kkt.FormatError, match="rotations are not so in dd; give it composites"):
        kkt.eliminate(system, COM, "dd")  # whose entries are doubles
    for command in (
        ["solve", "chain:3", "--order", "crbm_com", "--certify", "20"],
        ["solve", "chain:3", "--order", "crbm_com", "--format", "mp:30"],
        ["explore", "chain:3", "--orders", "crbm_com", "-o", str(tmp_path / "page.html")],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "composites" in said
    assert main(["list", "chain:3", "--order", "crbm_com"]) == 0  # formulas tell of blocks
    assert "R_k = M_k + Σ_{c ∈ children(k)} Φ_c R_c Φ_cᵀ" in capsys.readouterr().out
