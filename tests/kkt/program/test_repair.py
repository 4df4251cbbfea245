"""Rules that repair: the same pivots, D_k or Mbar_k formed so that less of them is lost; and frames."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from armature import with_terms
from designs import covering, listed
from helpers import ALL_JOINTS, MODELS, every_joint, tilted
from scipy.sparse.linalg import spsolve

from pivotree import kkt, orderings
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.state import block_state

SAME_PIVOTS = ("modified_abm", "modified_abm_stretched", "projected_abm", "joseph_abm", "gain_abm")
TREES = {
    "star": lambda: kkt.star(4, joint="universal"),
    "mixture": lambda: kkt.from_spec(f"random_tree:n=6,seed=3,mass_ratio=10,joints={ALL_JOINTS}"),
    "welded": lambda: kkt.from_spec("random_tree:n=9,seed=5,joints=fixed+fixed+revolute"),
    "free": lambda: kkt.from_spec("random_tree:n=4,seed=9,joints=floating"),
    "one centre": lambda: one_centre(),
    "geared": lambda: with_terms(kkt.from_spec(f"random_tree:n=4,seed=4,joints={ALL_JOINTS}"), 3),
}


def one_centre():
    """Joints of every kind through one point, their bodies around it."""
    tree = kkt.from_spec(f"random_tree:n=4,seed=4,joints={ALL_JOINTS}")
    for _, data in tree.nodes(data=True):
        data["p"] = np.zeros(3)
    return tree


@cache
def exactly(name, order):
    return kkt.eliminate(kkt.build(TREES[name]()), orderings.get(order), "exact")


@pytest.mark.parametrize(
    ("order", "name"),
    [*covering(SAME_PIVOTS, TREES, unmarked=1), *listed(product(["square_root_abm"], TREES), unmarked=1)],
)
def test_in_fractions_every_rule_is_abm_pivot_by_pivot(order, name):
    """Rotations too: no root is taken."""
    ours, abm = exactly(name, order), exactly(name, "abm")
    for x in ("qdd", "pdd", "f"):
        assert (getattr(ours, x) == getattr(abm, x)).all()
    assert [s.pivots for s in ours.steps] == [s.pivots for s in abm.steps]
    assert order == "modified_abm_stretched" or (ours.fill, ours.height) == (abm.fill, abm.height)


# -- Example 3 ----------------------------------------------------------------------------------


def directions(count, seed=1996):
    """Unit vectors in all directions, as float32 holds them."""
    x = np.random.default_rng(seed).normal(size=(count, 3))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x.astype(np.float32).astype(float)


def blocks_of(bodies):
    """Bodies (name, parent, mass, columns of S) with M = mass times 1, at rest, no gravity."""
    tree = kkt.new_tree("blocks", (0.0, 0.0, 0.0))
    for name, parent, mass, S in bodies:
        joint = "general" if len(S) else "fixed"
        extra = {"S": np.transpose(S)} if len(S) else {}
        kkt.add_body(tree, name, parent, mass=mass, inertia=mass * np.eye(3), joint=joint, **extra)
    return tree


def slide(h):
    return np.r_[0.0, 0.0, 0.0, h]


def run(tree, order, format="float32"):
    return kkt.eliminate(kkt.build(tree), orderings.get(order), format)


def pivots_of(result, body):
    (step,) = (s for s in result.steps if ("qdd", body) in s.blocks)
    return list(step.pivots)


def five_digits(h, order):
    """Example 3 with H = (0, h) twice, m1 = 1e8: is qdd_1 right to five digits?"""
    tree = blocks_of([(2, None, 1.0, [slide(h)]), (1, 2, 1e8, [slide(h)])])
    tree.graph.update(q=np.zeros(2), qd=np.zeros(2), tau=np.array([9.81, 981.0]))
    ours = run(tree, order).qdd[1]
    h2 = sum(Fraction(float(x)) ** 2 for x in h)
    tau1, tau2 = Fraction(981), Fraction(float(np.float32(9.81)))
    exact = tau1 / (Fraction(10) ** 8 * h2) - (tau2 - tau1) / h2
    return bool(np.isfinite(ours)) and abs(Fraction(float(ours)) / exact - 1) < Fraction(1, 10**5)


@pytest.mark.parametrize(
    ("order", "least", "most"), listed([("abm", 0, 1), ("projected_abm", 50, 50), ("modified_abm", 0, 3)])
)
def test_example_3_over_all_directions(order, least, most):
    """Eq (11) as it is printed is luck at 45 degrees; with E of eq (10) no direction fails."""
    kept = sum(five_digits(h, order) for h in directions(50))
    assert least <= kept <= most


def test_several_children_are_projected_one_by_one():
    """A heavy child along the joint and a light one across it: their sum has no null space."""
    for h, g in zip(directions(10), directions(10, seed=7), strict=True):
        heavy, light = ("heavy", "base", 1e8, [slide(h)]), ("light", "base", 2.0, [slide(g)])
        tree = blocks_of([("base", None, 1.0, [slide(h)]), heavy, light, ("weld", "base", 0.5, [])])
        (exact,) = pivots_of(run(tree, "abm", "exact"), "base")
        (ours,) = pivots_of(run(tree, "projected_abm"), "base")
        assert abs(Fraction(float(ours)) / exact - 1) < Fraction(1, 10**6)
        (rough,) = pivots_of(run(tree, "modified_abm"), "base")
        assert abs(Fraction(float(rough)) / exact - 1) > Fraction(1, 10**3)


def test_several_degrees_of_freedom_are_projected_together():
    """Two axes over two axes of the same heavy plane; the basis of the plane is another one."""
    for h, g in zip(directions(10), directions(10, seed=7), strict=True):
        plane = [slide(h), slide(g)]
        other = [slide(h + 0.5 * g), slide(g - 0.25 * h)]
        tree = blocks_of([("base", None, 1.0, other), ("heavy", "base", 1e6, plane)])
        exact = pivots_of(run(tree, "abm", "exact"), "base")
        ours = pivots_of(run(tree, "projected_abm"), "base")
        assert len(ours) == 2
        # what rounding the second pivot of L D L* can make of it: its cancellation, times u
        slack = Fraction(2, 10**6) * exact[0] / exact[1]
        for x, y in zip(ours, exact, strict=True):
            assert abs(Fraction(float(x)) / y - 1) < slack


def test_a_fixed_child_is_not_projected():
    """No joint, no null space: E = H, to the last bit and operation."""
    tree = kkt.from_spec("chain:3")
    for body, above in (("j4", "j3"), ("j5", "j3")):
        kkt.add_body(tree, body, above, mass=3.0, com=(0.1, 0.2, 0.3), inertia=np.eye(3), joint="fixed")
    for body in ("j2", "j3"):
        tree.nodes[body]["joint"] = "fixed"
    tree.graph.update(q=np.array([0.3]), qd=np.array([0.2]), tau=np.array([1.0]))
    ours, eq11 = (run(tree, order) for order in ("projected_abm", "modified_abm"))
    assert (ours.qdd == eq11.qdd).all() and ours.flops == eq11.flops


# -- Example 1 ----------------------------------------------------------------------------------

ANGLES = np.linspace(0.0, 2 * np.pi, 8, endpoint=False)


@cache
def sweep(tilt):
    """Example 1 over the circle with certified base accelerations for float32's data."""
    systems = [kkt.build(kkt.example1(q1=float(q1), tilt=tilt)) for q1 in ANGLES]
    return systems, [float(kkt.certify(s, 20, rounded_to="float32").qdd[0]) for s in systems]


def rms(systems, exact, order):
    """rms relative error of the base joint's acceleration."""
    ours = [kkt.eliminate(s, orderings.get(order), "float32", records=False) for s in systems]
    off = [float(r.qdd[0]) / x - 1.0 for r, x in zip(ours, exact, strict=True)]
    return math.sqrt(sum(x * x for x in off) / len(off))


@pytest.mark.parametrize("degrees", listed([45, 20], unmarked=1))
def test_example_1_in_rotated_coordinates(degrees):
    """ABM and eq (11) lose three digits or more; with E five digits and more are kept.

    Joseph's form costs more and gains half a digit: what is lost is lost in D, not in Mbar.  In
    aligned frames ABM is as precise as untilted, with the same entries and as few operations.
    """
    leaning, straight = sweep(math.radians(degrees)), sweep(0.0)
    bounds = {"abm": 5e-5, "modified_abm": 5e-5, "joseph_abm": 1e-5, "gain_abm": 1e-5}
    assert all(rms(*leaning, order) >= least for order, least in bounds.items())
    assert rms(*leaning, "projected_abm") <= 1e-5
    assert all(rms(*straight, order) <= 2e-7 for order in ("projected_abm", "joseph_abm", "gain_abm"))
    mended = [kkt.aligned(s) for s in leaning[0]]
    exact = [float(kkt.certify(s, 20, rounded_to="float32").qdd[0]) for s in mended]
    assert rms(mended, exact, "abm") <= 2 * rms(*straight, "abm") <= 2e-7
    flops = [kkt.eliminate(s[1], orderings.get("abm")).flops for s in (straight[0], leaning[0], mended)]
    assert flops[2] <= 1.1 * flops[0] < flops[1]


# -- eq (11) in two forms -----------------------------------------------------------------------

FORMS = (
    "binary:3",
    "chain:9",
    f"random_tree:n=14,seed=1,mass_ratio=10,joints={ALL_JOINTS}",
    "random_tree:n=9,seed=4,joints=universal+spherical+planar",
    "random_tree:n=12,seed=5,joints=fixed+fixed+revolute",
)


@pytest.mark.parametrize("spec", listed(FORMS, unmarked=1))
def test_the_stretched_matrix_has_the_same_pivots_and_solves_equation_4(spec):
    """D_k = H M H* + H M~ H*, as a rule of accumulation and as pivots: in float64 up to rounding.

    Against scipy on (4) itself: pdd of the massive part, f of both parts together.
    """
    system = kkt.build(kkt.from_spec(spec))
    forms = ("modified_abm", "modified_abm_stretched")
    rule, matrix = (kkt.eliminate(system, orderings.get(order)) for order in forms)
    for one, two in zip(rule.steps, matrix.steps, strict=True):
        assert one.blocks[0] == two.blocks[0]
        np.testing.assert_allclose(one.pivots, two.pivots, rtol=1e-12)
    x = spsolve(system.matrix, system.rhs)
    for kind in ("pdd", "f", "qdd"):
        exact = np.concatenate([x[system.blocks[kind, b]] for b in system.tree.names])
        assert np.abs(getattr(matrix, kind).ravel() - exact).max() <= 1e-9 * np.abs(exact).max()


def test_structure_of_stretched_links():
    of = kkt.build(kkt.chain(3)).structure.stretched()
    assert of.names == ("j1", "j2", "j3", ("j1", "carrier"), ("j2", "carrier"))
    assert of.parent.tolist() == [-1, 3, 4, -1, 3] and of.dof.tolist() == [1, 1, 1, 0, 0]
    assert of.carriers == {0: 3, 1: 4}


@pytest.mark.parametrize(
    "groups,message",
    [
        ([[("pdd", ("j1", "carrier"))]], r"pivot pdd_\('j1', 'carrier'\) at step 1 is structurally"),
        ([[("fC", "j1")]], "stretched links have no fJ and fC; use f"),
    ],
)
def test_pivots_that_a_stretched_matrix_lacks(groups, message):
    of = kkt.build(kkt.chain(2)).structure
    rest = [[(kind, b)] for b in of.stretched().names for kind in ("pdd", "f")]
    rest = [g for g in rest + [[("qdd", b)] for b in of.names] if g not in groups]
    with pytest.raises(kkt.OrderError, match=message):
        kkt.symbolic(kkt.plan(kkt.PivotSequence([*groups, *rest], links="stretched"), of))


def test_names_of_stretched_blocks():
    """Carriers are primed; what they hold is the paper's M~, and their zero is told apart."""
    of = kkt.build(kkt.chain(2)).structure
    factor = kkt.symbolic(kkt.plan(orderings.get("modified_abm_stretched"), of))
    state = block_state(factor, 1)
    labels = Labels(state)
    names = [labels.unknown(t) for t in range(state.blocks)]
    assert names[3:] == [r"\ddot{p}_{2}", "f_{2}", r"\ddot{p}'_{2}", "f'_{2}", r"\ddot{q}_{2}"]
    assert labels.cell(5, 5) == r"\tilde{M}_{2}" and labels.cell(3, 3) == "M_{2}"
    assert labels.cell(1, 5) == r"-\Phi_{21}^{*}" and labels.cell(2, 5) == r"-H_{1}M_{1}\Phi_{21}^{*}"
    assert labels.key() == "1\xa0=\xa0j2, 2\xa0=\xa0j1"
    assert block_state(factor, 0).table()[5, 5] == 0
    whole = Labels(block_state(factor))
    assert whole.cell(7, 7) == "D_{2}"


# -- frames -------------------------------------------------------------------------------------

MODEL_TREES = {
    "arm": lambda: kkt.load(MODELS["panda"]),
    "mixture": lambda: kkt.from_spec(f"random_tree:n=14,seed=1,joints={ALL_JOINTS}"),
    "every joint": every_joint,
    "humanoid": kkt.humanoid,
}


def base_vectors(system):
    """Of each body: S and the spatial inertia, in the directions of the world."""
    s = system.state
    world = {}
    for level in system.tree.levels:
        for k in level:
            up = s.parent[k]
            world[k] = s.R[k] if up < 0 else world[up] @ s.R[k]
    for k, Q in sorted(world.items()):
        both = np.kron(np.eye(2), Q)
        yield both @ s.S[k], both @ system.entries.M[k] @ both.T, both @ s.joint_bias[k]


@pytest.mark.parametrize(("name", "frames"), covering(MODEL_TREES, ["tilted", "aligned", "both"]))
def test_frames_change_nothing_but_directions(name, frames):
    """The same mechanism: what hangs on bodies is the same in the world's directions, so is qdd."""
    system = kkt.build(MODEL_TREES[name]())
    rng = np.random.default_rng(5)
    wrench = rng.normal(size=(system.tree.n, 6))
    system = system.refresh(f_ext=wrench)
    other = system
    if frames != "aligned":
        other = tilted(other, 3)
    if frames != "tilted":
        other = kkt.aligned(other)
    for ours, theirs in zip(base_vectors(other), base_vectors(system), strict=True):
        for x, y in zip(ours, theirs, strict=True):
            assert np.abs(x - y).max(initial=0.0) <= 2e-14 * (1e-9 + np.abs(y).max(initial=0.0))
    assert (other.tree.dof == system.tree.dof).all() and other.tree.names == system.tree.names
    exact = np.array([float(x) for x in kkt.certify(system, 20).qdd])
    assert np.abs([float(x) for x in kkt.certify(other, 20).qdd] - exact).max() <= 1e-12 * np.abs(exact).max()


@pytest.mark.parametrize("spec", ["chain:4", "ur5", "humanoid"])
def test_aligned_frames_stay_as_they_are(spec):
    """Where all axes are coordinate axes already, the entries are the same to the last bit."""
    system = kkt.build(kkt.load(MODELS.get(spec, spec)))
    other = kkt.aligned(system)
    for letter in ("M", "Phi", "S", "a", "b", "tau"):
        assert (getattr(other.entries, letter) == getattr(system.entries, letter)).all()


def test_axes_become_coordinate_axes():
    tree = kkt.from_spec(f"random_tree:n=40,seed=2,joints={ALL_JOINTS}")
    system = kkt.build(tree)
    other = kkt.aligned(tilted(system, 9))
    for kind, S, R in zip(system.tree.joint, other.state.S, other.state.R, strict=True):
        if kind == "fixed":
            assert (np.eye(3) == R).all()
        elif kind == "universal":  # its axes need not be perpendicular: the second is in z-x
            assert abs(S[2, 0]) == 1.0 and S[1, 1] == 0.0 and np.count_nonzero(S[:, 0]) == 1
        elif kind == "floating":  # six axes: the first two directions make the third one
            assert np.count_nonzero(S) == 6
        else:
            assert np.count_nonzero(S) == S.shape[1] and set(np.abs(S[S != 0.0])) == {1.0}
            first = S[:, 0]
            assert kind in ("spherical", "planar") or first[2] or first[5]


# -- Joseph's form ------------------------------------------------------------------------------


def test_joseph_form_is_for_brackets():
    """Pivots on their own have no bracket to keep symmetric: the digits of the outer product."""
    system = kkt.build(kkt.chain(6))
    unbracketed = orderings.get("bad_abm")(system.structure)
    joseph, outer = (
        kkt.eliminate(system, kkt.PivotSequence(unbracketed, rules=kkt.Rules(rank_update=rule)), "float32")
        for rule in ("joseph", "outer")
    )
    assert (joseph.qdd == outer.qdd).all() and joseph.flops == outer.flops
