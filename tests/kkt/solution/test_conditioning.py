"""Condition numbers by adjoints, held against a dense inverse in 300 bits, and what compare says of them."""

import math

import flint
import numpy as np
import pytest
from designs import listed
from helpers import solve, system_of

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.comparison import lost_by_order
from pivotree.kkt.solution import conditioning as module
from pivotree.kkt.solution.conditioning import conditioning

MODELS = ["two_link:r=0.002", "random_tree:n=6,seed=3", "chain:5", "star:4", "panda"]


def dense(system, twice=False):
    """(N,) sums of |d qdd_i / d e| |e| from an explicit inverse in 300 bits.

    d x_i / d A_jk = -(A^-1)_ij x_k: a pair of symmetric entries is one datum, moved together, or
    with ``twice`` two data, |A^-1| |A| |x| as usual.
    """
    with flint.ctx.workprec(300):
        A = flint.arb_mat(system.matrix.toarray().tolist())
        inverse = A.inv()
        x = inverse * flint.arb_mat([[r] for r in system.rhs.tolist()])
        x = np.array([float(x[i, 0].mid()) for i in range(system.size)])
        Y = np.array([[float(y.mid()) for y in row] for row in inverse.tolist()])
    rows = np.concatenate([np.arange(w.start, w.stop) for b, w in system.blocks.items() if b.kind == "qdd"])
    K = system.matrix.tocoo()
    at = {i: (b, i - w.start) for b, w in system.blocks.items() for i in range(w.start, w.stop)}
    total = np.abs(Y[rows]) @ np.abs(system.rhs)
    for j, k, value in zip(K.row.tolist(), K.col.tolist(), K.data.tolist(), strict=True):
        if value in (1.0, -1.0) and _structural(system, at[j], at[k]):
            continue
        if j == k or twice:
            total += np.abs(Y[rows, j] * x[k] * value)
        elif j < k:
            total += np.abs((Y[rows, j] * x[k] + Y[rows, k] * x[j]) * value)
    return total


def _structural(system, row, column):
    """Whether an entry is one of the identities, or a one of H or Phi in every state."""
    (one, i), (two, m) = row, column
    if one.kind == "f":
        (one, i), (two, m) = (two, m), (one, i)
    if two.kind != "f":
        return False
    body = system.structure.index[two.body]
    if one.kind == "qdd":
        return bool(system.pattern.S_one[system.tree.offset[body] + i, m])
    return one.body == two.body or bool(system.pattern.Phi_one[body, i, m])


@pytest.mark.parametrize("spec", listed(MODELS))
def test_kappa_against_a_dense_inverse(spec):
    system = system_of(spec)
    got = conditioning(system)
    exact = dense(system)
    assert np.allclose(got.moved, exact, rtol=1e-6)
    x = np.abs([float(v) for v in kkt.certify(system, 20).qdd])
    assert math.isclose(got.kappa, exact.max() / x.max(), rel_tol=1e-6)
    assert np.allclose(got.joints, exact / x, rtol=1e-6)
    assert math.isclose(sum(got.shares.values()), 1.0, rel_tol=1e-12)


def test_a_symmetric_pair_is_one_datum():
    """Counted twice, the entries off the diagonal may move apart, and kappa is larger."""
    system = system_of("random_tree:n=6,seed=3")
    once, twice = dense(system), dense(system, twice=True)
    assert (once <= twice * (1 + 1e-12)).all() and (once < 0.99 * twice).any()


@pytest.mark.parametrize("order", listed(["abm", "crbm", "lagrange", "divide_and_conquer"], unmarked=1))
def test_it_belongs_to_the_problem_and_not_to_the_order(order):
    system = system_of("panda")
    got, reference = conditioning(system, orderings.get(order)), conditioning(system)
    assert math.isclose(got.kappa, reference.kappa, rel_tol=1e-6)
    assert math.isclose(got.kappa_inertia, reference.kappa_inertia, rel_tol=1e-6)


@pytest.mark.uncached
def test_the_joint_space_inertia():
    system = system_of("ur5")
    M = kkt.joint_space_inertia(system, orderings.get("crbm"))
    got = conditioning(system)
    assert np.allclose(got.inverse_inertia, np.linalg.inv(M), rtol=1e-9, atol=1e-12)
    assert math.isclose(got.kappa_inertia, np.linalg.cond(M), rel_tol=1e-9)


def test_errors_of_float64_stay_below_kappa_u():
    """abm on a long chain: the first-order bound holds with room for its own rounding."""
    got = conditioning(system_of("chain:100"))
    exact = kkt.certify(system_of("chain:100"), 30, rounded_to="float64")
    assert 5 < got.kappa < 120 and got.kappa_inertia > 1e7
    assert exact.error(solve("chain:100", "abm").qdd) < got.kappa * 2.0**-53


def test_a_joint_that_stands_still_by_cancellation_is_held_against_its_load():
    """Effort against gravity: qdd is 0, and any change of the data moves it by some of its load."""
    tree = kkt.new_tree("balance", (0.0, -8.0, 0.0))
    kkt.add_body(tree, "arm", mass=2.0, com=(0.5, 0.0, 0.0), inertia=np.eye(3), axis=(0, 0, 1))
    got = conditioning(kkt.build(tree, tau=[8.0]))
    alone = 8.0 / 1.5  # [rad/s^2] either, over the inertia about the joint
    assert got.qdd[0] == 0.0 and got.joints[0] == math.inf
    assert got.kappa == pytest.approx(got.moved[0] / (0.01 * alone))
    tree.graph["gravity"] = (0.0, 0.0, 0.0)  # at rest without load nothing moves
    got = conditioning(kkt.build(tree))
    assert got.kappa == 0.0 and (got.joints == 0.0).all()
    tree.nodes["arm"]["joint"] = "fixed"
    got = conditioning(kkt.build(tree))
    assert got.kappa == 0.0 and got.kappa_inertia == 1.0 and got.joints.size == 0


@pytest.mark.parametrize(
    ("error", "kappa", "lost"),
    [
        (1e-3, 10.0, 4.0),  # log10(1e-3 / (10 * 1e-8))
        (1e-8, 10.0, 0.0),
        (0.0, 10.0, 0.0),
        (None, 10.0, 7.0),  # failed: all that the condition leaves
        (50.0, 10.0, 7.0),
        (1e-3, 1e12, 0.0),
        (None, math.inf, 0.0),
        (1e-5, 0.0, 3.0),  # one rounding at least
        (1e-3, None, None),
    ],
)
def test_digits_lost_by_the_order(error, kappa, lost):
    assert lost_by_order(error, kappa, 1e-8) == pytest.approx(lost)


# -- compare --------------------------------------------------------------------------------------


def test_compare_attributes_the_loss():
    system = system_of("chain:40")
    comparison = analysis.compare(system, ["crbm", "abm"], "float32")
    kappa = conditioning(system).kappa
    assert comparison.kappa == pytest.approx(kappa)
    crbm, abm = comparison.rows
    assert crbm.lost_by_order == pytest.approx(math.log10(crbm.error / (kappa * 2.0**-24)))
    assert crbm.lost_by_order > 3.0 and abm.lost_by_order < 0.5
    behind = f"it keeps {abm.digits - crbm.digits:.1f} digits fewer than abm"
    assert f"crbm is at fault: {behind}" in comparison.verdict
    assert f"it loses {crbm.lost_by_order:.1f} digits more than the" in comparison.verdict


def test_compare_blames_the_problem_where_it_is_ill_conditioned():
    """Two point masses on an arm that is nearly stretched: few digits in float32 by any order."""
    tree, far = kkt.new_tree("stretched"), (0.7, 0.0, 0.1)
    point = {"mass": 1.1, "com": far, "inertia": np.zeros((3, 3)), "axis": (0, 1, 0)}
    kkt.add_body(tree, "upper", **(point | {"mass": 0.0}))
    kkt.add_body(tree, "fore", "upper", p=far, **point)
    system = kkt.build(tree, q=[0.1, 3e-3], qd=[0.3, 0.2], tau=[0.1, 0.2])
    comparison = analysis.compare(system, ["crbm", "abm"], "float32")
    assert comparison.kappa > 1e5 and all(row.digits < 4 for row in comparison.rows)
    assert all(row.lost_by_order < 1.0 for row in comparison.rows)
    assert "The problem is at fault" in comparison.verdict


def test_compare_without_a_condition_number_or_a_loss(monkeypatch):
    (exact,) = analysis.compare(system_of("two_link:r=0.002"), "abm", "exact").rows
    assert exact.lost_by_order is None
    monkeypatch.setattr(module, "MOST_SWEPT", 10)
    comparison = analysis.compare(system_of("chain:5"), "abm", "float32")
    assert comparison.kappa is None and comparison.rows[0].lost_by_order is None
    assert comparison.as_dict()["kappa_inertia"] is None


def test_compare_tells_of_a_refinement_that_diverges(capsys):
    arguments = ["compare", "chain:12", "--orders", "crbm", "--formats", "bfloat16"]
    assert main([*arguments, "--refine", "3:equations"]) == 0
    out = capsys.readouterr().out
    assert "The corrections of crbm +3 diverged after 1: none of them is kept." in out
    assert "condition number of qdd" in out and " lost " in out


def test_a_stall_among_the_last_digits_is_no_news():
    comparison = analysis.compare(
        system_of("panda"), ["abm", "crbm"], "float32", refine=3, residual="equations"
    )
    statuses = [comparison.eliminations[f"{o} +3", "float32"].refinement.status for o in ("abm", "crbm")]
    assert any(status.startswith(("stalled", "diverged")) for status in statuses)
    assert "corrections" not in comparison.verdict
