"""Square-root ABM with closed loops and contacts: lambda last, over rotations."""

import numpy as np
import pytest
from armature import with_terms
from helpers import bracketed
from test_square_root import ORDER
from test_square_root_brackets import in_fractions

from pivotree import kkt, orderings
from pivotree.kkt.tape import emit_orthogonal as rows_of
from pivotree.kkt.tape.emit import Emitter

ABM = orderings.get("abm")


def mechanism(name, mu=0.0, geared=False):
    tree = kkt.load(name)
    loops = tree.graph["loops"]
    tree = with_terms(tree, 3) if geared else tree
    return kkt.build(tree, loops=kkt.softened(loops, mu) if mu else loops)


def apart(system, format):
    """The largest difference from abm, of any kind of unknowns, beside the largest of them."""
    ours, abm = (kkt.eliminate(system, order, format) for order in (ORDER, ABM))
    assert ours.failed_at is None
    pairs = [(np.ravel(getattr(x, kind)) for x in (ours, abm)) for kind in ("qdd", "lam", "f", "pdd")]
    return max(np.abs(x - y).max() / np.abs(y).max() for x, y in pairs)


def close_points(distance, compliance=0.0):
    """A chain with two points of its last link held across it, almost the same row."""
    points = [(0.1, 0.02, 0.03), (0.1 + distance, 0.02, 0.03 * (1 + distance))]
    loops = [
        kkt.contact("j6", point, (0, 1, 0), name=str(i), compliance=compliance)
        for i, point in enumerate(points)
    ]
    return kkt.build(kkt.chain(6), np.linspace(0.3, 1.1, 6), np.linspace(-1, 1, 6), loops=loops)


@pytest.mark.thorough
@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("mu", [0.0, 1e-4])
def test_fifty_digits_are_those_of_abm(mu, geared):
    assert apart(mechanism("four_bar", mu, geared), "mp:60") <= 1e-50


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "mu", "geared"),
    [
        ("gripper", 0.0, True),
        ("gripper", 1e-4, False),
        ("delta", 0.0, True),
        ("delta", 1e-4, True),
        ("stewart", 0.0, False),
        ("quadruped:feet=4", 0.0, True),
        ("quadruped:feet=4", 1e-4, False),
    ],
)
def test_of_many_loops_too(name, mu, geared):
    assert apart(mechanism(name, mu, geared), "mp:60") <= 1e-50


def test_in_fractions_the_pivots_of_lambda_are_those_of_abm():
    """Delta is never formed, and its L D L^T is the same; on one row of three lambda is soft."""
    across = [(1, 0, 0), (0, 1, 0)]
    soft = kkt.contact("j3", (0.1, 0.0, 0.2), (0, 0, 1), across[:1], compliance=0.25, name="soft")
    loops = [kkt.contact("j2", (0.1, 0.2, 0.0), (0, 1, 0), name="hard"), soft]
    system = kkt.build(kkt.chain(3), [0.5, 0.25, 1.0], loops=loops)
    ours, abm = (kkt.eliminate(system, order, "exact") for order in (ORDER, ABM))
    for kind in ("qdd", "lam", "f", "pdd"):
        assert (np.ravel(getattr(ours, kind)) == np.ravel(getattr(abm, kind))).all()
    pivots = [[s.pivots for s in x.steps if s.blocks[0].kind == "lam"] for x in (ours, abm)]
    assert len(pivots[0]) == 2
    for mine, other in zip(*pivots, strict=True):
        assert [abs(x) for x in mine] == [abs(x) for x in other]
    assert ours.backward_error.normwise == 0.0 and ours.fill == abm.fill


def test_rows_that_almost_depend_on_each_other_keep_their_digits():
    """The Delassus matrix, which abm forms, has the square of their condition."""
    for compliance in (0.0, 1e-6):
        system = close_points(1e-4, compliance)
        certified = kkt.certify(system, 20, rounded_to="float32")
        ours, abm = (
            certified.error(kkt.eliminate(system, order, "float32", records=False).qdd)
            for order in (ORDER, ABM)
        )
        assert ours <= 1e-3 and abm >= 5e-3


def test_coupled_joints_and_more_constraints_than_bodies():
    tree = kkt.chain(4)
    assert apart(kkt.build(tree, loops=[kkt.coupled_joints(tree, "j4", "j2", -0.5)]), "mp:30") < 1e-25
    many = [kkt.contact("j4", (0, 0, 0.1 * i), (0, 1, 0), name=str(i), compliance=1e-3) for i in range(6)]
    assert apart(kkt.build(tree, loops=many), "mp:40") <= 1e-30


def test_rows_that_no_joint_moves_have_their_compliance():
    still = kkt.contact("j1", (0, 0, 0), (1, 0, 0), compliance=1e-3)
    assert apart(kkt.build(kkt.chain(2), loops=[still]), "mp:30") <= 1e-25


def test_multipliers_may_stand_in_any_sequence_behind_the_bodies():
    system = mechanism("gripper", 1e-2)
    rules = kkt.Rules(elimination="orthogonal")
    bodies, lam = bracketed(system.structure), [("lam", c) for c in system.structure.constraints]
    right = kkt.eliminate(system, ABM)
    for groups in ([*bodies, lam], [*bodies, *([x] for x in lam[::-1])]):
        found = kkt.eliminate(system, kkt.PivotSequence(groups, name="mine", rules=rules))
        assert np.abs(found.lam - right.lam).max() <= 1e-9 * np.abs(right.lam).max()
    first = kkt.PivotSequence([lam, *bodies], name="mine", rules=rules)
    with pytest.raises(kkt.OrderError, match="takes multipliers last; put lam_left_pin behind all"):
        kkt.eliminate(system, first)


def test_rows_that_depend_on_each_other_are_refused_by_name():
    same = [kkt.contact("j3", (0.1, 0, 0), (0, 1, 0), name=name) for name in ("one", "other")]
    with pytest.raises(kkt.ModelError, match="loop 'other': row 0 follows from"):
        kkt.build(kkt.chain(3), [0.5, 0.25, 1.0], loops=same)
    fixed = kkt.new_tree("fixed")
    kkt.add_body(fixed, "a", mass=1.0, inertia=np.eye(3), joint="fixed")
    kkt.add_body(fixed, "b", mass=1.0, inertia=np.eye(3))
    held = [kkt.contact("a", (0.1, 0, 0), (0, 1, 0), name="held", compliance=1.0)]
    assert kkt.eliminate(kkt.build(fixed, loops=held), ORDER).failed_at is None


@pytest.mark.parametrize("soft", [(), (1,), (0, 1, 2)])
def test_merging_keeps_the_quadratic_form(soft):
    rng = np.random.default_rng(len(soft))
    more = [rng.integers(-4, 5, s) for s in ((4, 3), (4, 1), (2, 3), (2, 1))]
    more[2:2], weights = [rng.integers(1, 6, (4, 1))], rng.integers(1, 6, (2, 1))
    blocks, own = [*more, weights], np.zeros((3, 3), int)
    own[soft, soft] = 1 + np.arange(len(soft))
    slots, start = [], 2
    for block in [*blocks, own]:
        slots.append(np.where(block != 0, start + np.arange(block.size).reshape(block.shape), 0))
        start += block.size
    emitter = Emitter(start)
    given = slots if soft else slots[:-1]
    out = in_fractions(emitter, [*blocks, own], rows_of.merge(emitter, *given, count=3))
    L, D, z = np.tril(out[:3], -1) + np.eye(3, dtype=int), np.diag(out[:3].diagonal()), out[3]
    form, pull = own.astype(object), 0
    for g, r, w in (blocks[:3], blocks[3:]):
        g, r, w = (x.astype(object) for x in (g, r, w))
        form, pull = form + (w * g).T @ g, pull + (w * g).T @ r[:, 0]
    assert (form == L @ D @ L.T).all() and (L @ D @ z == pull).all()
