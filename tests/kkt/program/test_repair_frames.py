"""Frames in which a body is written, and the rules that repair, each by hand."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import ALL_JOINTS, MODELS, every_joint
from test_repair import SAME_PIVOTS, blocks_of, directions, pivots_of, rms, slide, sweep

from pivotree import kkt, orderings
from pivotree.analysis.cli import main

# -- frames -------------------------------------------------------------------------------------

MODEL_TREES = {
    "every joint": every_joint,
    "mixture": lambda: kkt.from_spec(f"random_tree:n=14,seed=1,joints={ALL_JOINTS}"),
    "arm": lambda: kkt.load(MODELS["panda"]),
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


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODEL_TREES)
@pytest.mark.parametrize("frames", ["tilted", "aligned", "both"])
def test_frames_change_nothing_but_directions(name, frames):
    """The same mechanism: what hangs on bodies is the same in the world's directions, so is qdd."""
    system = kkt.build(MODEL_TREES[name]())
    rng = np.random.default_rng(5)
    wrench = rng.normal(size=(system.tree.n, 6))
    system = system.refresh(f_ext=wrench)
    other = system
    if frames != "aligned":
        other = kkt.tilted(other, kkt.random_turns(system.tree.n, seed=3))
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


@pytest.mark.thorough
def test_axes_become_coordinate_axes():
    tree = kkt.from_spec(f"random_tree:n=40,seed=2,joints={ALL_JOINTS}")
    system = kkt.build(tree)
    other = kkt.aligned(kkt.tilted(system, kkt.random_turns(40, seed=9)))
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


@pytest.mark.slow
def test_alignment_mends_example_1_in_rotated_coordinates():
    """In every tilt as precise as untilted, with the same entries and as few operations."""
    straight, exact = sweep(0.0)
    best = rms(straight, exact, "abm")
    for degrees in (20, 45, 70):
        tilted, exact = sweep(math.radians(degrees))
        mended = [kkt.aligned(s) for s in tilted]
        exact = [float(kkt.certify(s, 20, rounded_to="float32").qdd[0]) for s in mended]
        assert rms(mended, exact, "abm") <= 2 * best <= 2e-7
        flops = [kkt.eliminate(s[1], orderings.get("abm")).flops for s in (straight, tilted, mended)]
        assert flops[2] <= 1.1 * flops[0] < flops[1]
    still, exact = sweep(math.radians(45))
    assert rms(still, exact, "abm") >= 1e-4  # what it mends


@pytest.mark.thorough
def test_alignment_mends_example_3_in_every_direction():
    for h in directions(50):
        tree = blocks_of([(2, None, 1.0, [slide(h)]), (1, 2, 1e8, [slide(h)])])
        result = kkt.eliminate(kkt.aligned(kkt.build(tree)), orderings.get("abm"), "float32")
        exact = sum(Fraction(float(x)) ** 2 for x in h)
        assert abs(Fraction(float(pivots_of(result, 2)[0])) / exact - 1) <= Fraction(1, 2**23)


@pytest.mark.thorough
def test_tilting_spoils_abm_as_the_gallery_does():
    """kkt.tilted makes of Example 1 what its argument ``tilt`` makes of it."""
    tilt = math.radians(45)
    turn = np.array([[1, 0, 0], [0, math.cos(tilt), math.sin(tilt)], [0, -math.sin(tilt), math.cos(tilt)]])
    system = kkt.tilted(kkt.build(kkt.example1(q1=0.7)), turn)
    there = kkt.build(kkt.example1(q1=0.7, tilt=tilt))
    assert np.abs(system.entries.M - there.entries.M).max() <= 1e-14
    assert np.abs(system.entries.S - there.entries.S).max() <= 1e-15


@pytest.mark.parametrize(
    "turns,message",
    [
        (np.eye(4), r"turns: have shape \(4, 4\); give one rotation \(3, 3\), or 3 of them"),
        (np.eye(3) * 2, "turns: that of body 'j1' is no rotation"),
        (-np.eye(3), "is no rotation; give Q with Q Q.T = 1 and determinant 1"),
        (np.full((3, 3), np.nan), "is no rotation"),
    ],
)
def test_turns_are_rotations(turns, message):
    with pytest.raises(kkt.ModelError, match=message):
        kkt.tilted(kkt.build(kkt.chain(3)), turns)


def test_frames_on_the_command_line(capsys):
    command = ["solve", "example1:q1=1,tilt=0.785", "--format", "float32", "--json"]
    errors = []
    for frames in ("given", "aligned"):
        assert main([*command, "--frames", frames]) == 0
        errors.append(json.loads(capsys.readouterr().out)["error"])
    assert errors[0] > 1e-5 > 1e-6 > errors[1]
    assert main([*command, "--frames", "tilted"]) == 2
    told = capsys.readouterr().err
    words = "use given, aligned or factored"
    assert told == f"pivotree: option --frames: 'tilted' is unknown; {words}\n"


# -- the rules by hand --------------------------------------------------------------------------


def dot(x, y):
    """Ascending, each product and each sum rounded to float32."""
    total = np.float32(x[0] * y[0])
    for a, b in zip(x[1:], y[1:], strict=True):
        total = np.float32(total + np.float32(a * b))
    return total


def product(A, B):
    """A B with B symmetric or transposed by the caller; the upper triangle, mirrored, if square."""
    return np.array([[dot(row, column) for column in B.T] for row in A], dtype=np.float32)


def upper(A):
    return np.triu(A) + np.triu(A, 1).T


def second_pivot(order, M1, M2, h1, h2):
    """D_2 of two bodies with Phi = 1, in float32, by the formulas of each rule."""
    c = product(M1, h1[:, None])[:, 0]  # M H*
    d = dot(h1, c)
    gain = (c / d).astype(np.float32)
    if order == "joseph_abm":
        T = (np.eye(6, dtype=np.float32) - np.outer(gain, h1).astype(np.float32)).astype(np.float32)
        Mbar = upper(product(T, product(M1, T.T)))
    elif order == "gain_abm":
        Mbar = upper(M1 - np.outer(gain, c))
    else:
        Mbar = upper(M1 - (np.outer(c, c) / d))
    if order == "projected_abm":
        e = h2 - h1 * (dot(h1, h2) / dot(h1, h1))
        return np.float32(dot(product(h2[None], M2)[0], h2) + dot(product(e[None], Mbar)[0], e))
    if order.startswith("modified_abm"):
        return np.float32(dot(product(h2[None], M2)[0], h2) + dot(product(h2[None], Mbar)[0], h2))
    return dot(h2, product(M2 + Mbar, h2[:, None])[:, 0])


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["abm", *SAME_PIVOTS])
def test_the_second_pivot_by_hand(order):
    """Every product, quotient and sum of D_2 in its place: equal to the last bit."""
    rng, told = np.random.default_rng(12), set()
    for _ in range(20):
        tree = kkt.new_tree("two", (0.0, 0.0, 0.0))
        for body, parent, mass in ((2, None, 1.0), (1, 2, 300.0)):
            moments = mass * np.diag(rng.uniform(1.0, 1.9, 3))
            S = rng.normal(size=(6, 1))
            com = rng.normal(size=3)
            kkt.add_body(tree, body, parent, mass=mass, com=com, inertia=moments, joint="general", S=S)
        system = kkt.build(tree)
        entries = system.entries
        M2, M1 = entries.M.astype(np.float32)
        h2, h1 = entries.S.astype(np.float32)
        by_hand = second_pivot(order, M1, M2, h1, h2)
        assert pivots_of(kkt.eliminate(system, orderings.get(order), "float32"), 2) == [by_hand]
        told.add(by_hand == second_pivot("abm", M1, M2, h1, h2))
    assert order == "abm" or False in told  # the rules are told apart by this test


def test_joseph_form_is_for_brackets():
    """Pivots on their own have no bracket to keep symmetric: the digits of the outer product."""
    system = kkt.build(kkt.chain(6))
    unbracketed = orderings.get("bad_abm")(system.structure)
    joseph, outer = (
        kkt.eliminate(system, kkt.PivotSequence(unbracketed, rules=kkt.Rules(rank_update=rule)), "float32")
        for rule in ("joseph", "outer")
    )
    assert (joseph.qdd == outer.qdd).all() and joseph.flops == outer.flops


@pytest.mark.slow
def test_symmetric_forms_do_not_repair():
    """Joseph's form costs more and gains half a digit: what is lost is lost in D, not in Mbar."""
    tilted = sweep(math.radians(45))
    for order in ("joseph_abm", "gain_abm"):
        assert rms(*sweep(0.0), order) <= 2e-7
        assert rms(*tilted, order) >= 1e-5 >= rms(*tilted, "projected_abm")
    system = kkt.build(kkt.chain(100))
    gain, abm, joseph = (
        kkt.eliminate(system, orderings.get(order), records=False).flops
        for order in ("gain_abm", "abm", "joseph_abm")
    )
    assert gain < abm < joseph <= 1.2 * abm
