"""Square-root ABM: weighted rows, masses that are not there, and brackets."""

from fractions import Fraction

import numpy as np
import pytest
from test_square_root import ORDER, lost

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import objects
from pivotree.kkt.arithmetic.chunk import Chunk
from pivotree.kkt.tape import emit_orthogonal as rows_of
from pivotree.kkt.tape.emit import Emitter

# -- weighted rows ------------------------------------------------------------------------------


def in_fractions(emitter, blocks, out):
    """Run emitted operations on blocks of Fractions whose slots start at 2."""
    values = [Fraction(0), Fraction(1), *(Fraction(int(x)) for block in blocks for x in block.flat)]
    values += [Fraction(0)] * emitter.count
    op, a, b = (np.concatenate([np.zeros(0, int), *x]) for x in (emitter.op, emitter.a, emitter.b))
    dst = emitter.first + np.arange(emitter.count)
    objects.run(Chunk(op, dst, a, b, np.zeros(len(op), dtype=np.int32)), values)
    take = np.vectorize(lambda s: values[s] if s >= 0 else -values[-s], otypes=[object])
    return take(out)


def form(rows):
    """sum_i w_i (g_i, z_i)^T (g_i, z_i) of weighted rows (m, 8)."""
    g = np.array(rows[:, :7], dtype=object)
    return sum(w * np.outer(r, r) for r, w in zip(g, rows[:, 7], strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("massless", [False, True])
@pytest.mark.parametrize("concentric", [False, True])
@pytest.mark.parametrize("dof", range(7))
def test_rotations_keep_the_quadratic_form(dof, concentric, massless):
    rng = np.random.default_rng(dof)
    square = rng.integers(-3, 4, (6, 6))
    K = np.zeros((6, 6), int) if massless else square @ square.T + 9 * np.eye(6, dtype=int)
    u = np.zeros((6, 1), int) if massless else rng.integers(-5, 6, (6, 1))
    more = [rng.integers(-4, 5, (4, 6)), rng.integers(-4, 5, (4, 1)), rng.integers(1, 6, (4, 1))]
    more += [rng.integers(-4, 5, (5, 6)), rng.integers(-4, 5, (5, 1)), rng.integers(1, 6, (5, 1))]
    blocks, slots, start = [K, u, *more], [], 2
    for block in blocks:
        zero = massless and len(slots) < 2
        slots.append(np.where(zero, 0, start + np.arange(block.size).reshape(block.shape)))
        start += block.size
    if not massless:
        slots[0] = np.triu(slots[0]) + np.triu(slots[0], 1).T
    emitter = Emitter(start)
    how = {"dof": dof, "concentric": concentric}
    own = rows_of.weigh(emitter, slots[0], slots[1], **how)
    out = in_fractions(emitter, blocks, rows_of.rotate(emitter, own, *slots[2:], **how))
    children = [np.concatenate(more[:3], axis=1), np.concatenate(more[3:], axis=1)]
    before = sum(form(rows) for rows in children)
    before[:6, :6] += K
    before[:6, 6] += u[:, 0]
    before[6, :6] += u[:, 0]
    after = form(out)
    assert (after[:6] == before[:6]).all()  # (z, z) is a constant, which no acceleration changes
    pivots, rest = out[:dof], out[dof:]
    assert (np.tril(pivots[:, :dof]) == np.eye(dof, dtype=int)).all()
    assert all(x == 0 for x in rest[:, :dof].flat) and all(w > 0 for w in out[:, 7])
    assert massless or len(out) == 6


# -- masses that are not there ------------------------------------------------------------------


def dummies(mass=1.0):
    """A shoulder of massless links, at a pose where its axes meet at right angles."""
    tree = kkt.new_tree("dummies")
    kkt.add_body(tree, "base", mass=2.0, com=(0.1, 0, 0), inertia=0.1 * np.eye(3))
    kkt.add_body(tree, "x", "base", mass=0.0, p=(0.3, 0, 0), axis=(1, 0, 0))
    kkt.add_body(tree, "y", "x", mass=0.0, axis=(0, 1, 0))
    kkt.add_body(tree, "flange", "y", mass=0.0, joint="fixed")
    kkt.add_body(tree, "arm", "y", mass=mass, com=(0.2, 0.01, 0.02), inertia=0.05 * mass * np.eye(3))
    return tree


@pytest.mark.thorough
@pytest.mark.parametrize("wrench", [None, {"y": [1.0, 2, 3, 4, 5, 6], "flange": [0.0, 1, 0, 2, 0, 3]}])
@pytest.mark.parametrize("q", [(0, 0, 0, 0), (0.1, 0.2, 0.3, 0.4)])
def test_massless_links(q, wrench):
    """Their joints are projected out of what they carry; a force on them is not lost."""
    system = kkt.build(dummies(), q=q, qd=(0.1, 0.2, 0.3, 0.4), tau=(1, 2, 3, 4), f_ext=wrench)
    ours, abm = (kkt.eliminate(system, o, "exact") for o in (ORDER, orderings.get("abm")))
    assert (ours.qdd == abm.qdd).all() and (ours.f == abm.f).all()
    assert kkt.certify(system, 20).error(kkt.eliminate(system, ORDER).qdd) <= 1e-14


def test_massless_links_under_a_heavy_arm():
    system = kkt.build(dummies(1e8), q=(0.1, 0.2, 0.3, 0.4), tau=(1, 2, 3, 4))
    assert lost(system, ["square_root_abm"])[0] <= 1.0


def rod(axis, mass=1.0, moments=(0.0, 0.1, 0.1)):
    tree = kkt.new_tree("rod")
    kkt.add_body(tree, "rod", mass=mass, com=(0.1, 0.0, 0.0), inertia=np.diag(moments), axis=axis)
    kkt.add_body(tree, "tip", "rod", mass=1.0, inertia=np.eye(3), axis=(0, 1, 0), p=(0.5, 0, 0))
    return kkt.build(tree, q=(0.3, 0.5), qd=(1.0, 2.0), tau=(1.0, 2.0))


def test_a_rod_without_a_moment_about_itself():
    """A row of M_k that is zero has no weight; seen from skew axes the zero is none, refused."""
    system = rod((0, 0, 1))
    assert kkt.certify(system, 20).error(kkt.eliminate(system, ORDER).qdd) <= 1e-14
    with pytest.raises(kkt.SingularError, match=r"'rod': field 'inertia' .* is singular.*as abm"):
        kkt.eliminate(rod((1, 1, 0)), ORDER)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_inertias_without_a_root_are_refused():
    with pytest.raises(kkt.SingularError, match=r"'rod': .*not positive definite.*its root"):
        kkt.eliminate(rod((0, 0, 1), moments=(-0.1, 0.1, 0.1)), ORDER)
    tree = kkt.new_tree("light tip")
    kkt.add_body(tree, "base", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    kkt.add_body(tree, "tip", "base", mass=0.0, p=(1.0, 0, 0))
    with pytest.raises(kkt.SingularError, match=r"'tip': .*give it an inertia"):
        kkt.eliminate(kkt.build(tree), ORDER)


def test_a_pivot_that_underflows_is_named():
    """D = 0 in float32, where every inertia is below 1e-45."""
    tree = kkt.new_tree("dust")
    kkt.add_body(tree, "grain", mass=1e-50, inertia=1e-50 * np.eye(3))
    result = kkt.eliminate(kkt.build(tree, tau=[1e-50]), ORDER, "float32")
    assert result.failed_at is not None and "qdd_grain" in result.failed_at


# -- brackets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups,message",
    [
        (lambda s: orderings.get("crbm")(s), r"one bracket \(pdd qdd f\) a body; step 1 is another"),
        (lambda s: orderings.get("lagrange")(s), r"one bracket \(pdd qdd f\) a body"),
        (lambda s: orderings.get("base_to_tip")(s), r"children before parents; put 'j2' before"),
    ],
)
def test_other_brackets_are_refused(groups, message):
    system = kkt.build(kkt.chain(2))
    rules = kkt.Rules(elimination="orthogonal")
    with pytest.raises(kkt.OrderError, match=message) as refusal:
        kkt.eliminate(system, kkt.PivotSequence(groups(system.structure), rules=rules))
    assert "\n" not in str(refusal.value)


@pytest.mark.thorough
def test_switches():
    with pytest.raises(kkt.OrderError, match="'qr'; use gauss or orthogonal"):
        kkt.Rules(elimination="qr")
    with pytest.raises(kkt.OrderError, match="'couple' means nothing to elimination 'orthogonal'"):
        kkt.Rules(elimination="orthogonal", couple="carried")


def test_a_tape_whose_joint_has_turned_is_refused():
    tree = kkt.new_tree("turning")
    kkt.add_body(tree, "u", mass=1.0, inertia=np.eye(3), joint="universal", axis=((1, 0, 0), (0, 1, 0)))
    first = kkt.build(tree, q=(0.0, 0.1))
    tape = kkt.trace(first, ORDER)
    kkt.eliminate(first.refresh(q=(0.3, 0.2)), tape)
    with pytest.raises(kkt.OrderError, match="'u' has turned"):
        kkt.eliminate(first.refresh(q=(0.0, 1.5)), tape)


# A rod along z behind a joint about (0, 0.6, 0.8) has zeros that no pattern shows: it is refused.
RODS = [("prismatic", 0), ("prismatic", 1), ("prismatic", 2), ("revolute", 0), ("revolute", 1)]


@pytest.mark.thorough
@pytest.mark.parametrize("joint,along", RODS)
def test_rods_along_any_axis_with_a_welded_body_are_solved_exactly(joint, along):
    """A rod has no row for turning about itself: what others have there is rotated all the same."""
    tree = kkt.new_tree("rod with a welded body")
    kkt.add_body(tree, "carrier", mass=0.0, joint="spherical", p=(0.9, 0.4, 0.1))
    rod = np.diag(np.where(np.arange(3) == along, 0.0, 0.3))
    place = {"axis": (0.0, 0.6, 0.8), "p": (0.1, 0.2, 0.0)}
    kkt.add_body(tree, "rod", "carrier", mass=2.0, inertia=rod, joint=joint, **place)
    welded = {"mass": 1.5, "com": (-0.6, 0.2, 0.1), "inertia": np.diag([0.3, 0.2, 0.4])}
    kkt.add_body(tree, "welded", "rod", joint="fixed", p=(-0.3, -0.4, 0.3), **welded)
    system = kkt.build(tree, q=[0.3, -0.2, 0.5, 0.1], qd=[1.0, 2.0, -1.0, 0.5], tau=[1, 2, 3, 4])
    result = kkt.eliminate(system, orderings.get("square_root_abm"), "exact")
    assert list(result.qdd) == list(kkt.eliminate(system, orderings.get("abm"), "exact").qdd)
    assert result.backward_error.normwise == 0.0
