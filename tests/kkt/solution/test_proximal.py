"""Rigid rows by proximal iteration, where rows are redundant, beside rows that are not."""

from dataclasses import replace

import numpy as np
import pytest

from pivotree import kkt, orderings

PIN = kkt.cut_joint("coupler", "rocker", p=(3, 0, 0), p_second=(2.5, 0, 0), name="pin")
SPECS = ("four_bar", "gripper", "stewart", "delta", "quadruped:feet=4")


def moved(spec, loops=None):
    """A mechanism at its own state, with efforts; (4) with rigid rows, and with soft ones."""
    tree = kkt.from_spec(spec)
    loops = list(tree.graph["loops"] if loops is None else loops)
    tau = np.sin(np.arange(int(kkt.compile_tree(tree).offset[-1])) + 1.0)
    return tree, loops, tau


@pytest.mark.thorough
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("order", ["abm", "lcaba", "crbm"])
def test_rows_that_are_independent_have_the_answer_of_every_order(spec, order):
    tree, loops, tau = moved(spec)
    rigid = kkt.eliminate(kkt.build(tree, tau=tau, loops=loops), orderings.get("abm"))
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(loops, 1e-4))
    found = kkt.eliminate(soft, orderings.get(order), proximal=100)
    assert found.marked is None and found.proximal.iterations < 12
    assert found.proximal.status in ("converged", "settled") and found.proximal.residual < 1e-9
    assert np.abs(found.qdd - rigid.qdd).max() < 1e-9 * np.abs(rigid.qdd).max()
    assert np.abs(found.lam - rigid.lam).max() < 1e-9 * np.abs(rigid.lam).max()


@pytest.mark.parametrize("format, digits", [("float64", 1e-11), ("float32", 1e-5)])
@pytest.mark.parametrize("mu", [1e-2, 1e-4])
def test_redundant_rows_have_the_qdd_of_those_that_hold_and_the_least_lambda(format, digits, mu):
    """Three points of the coupler are held where one pin and two others say the same."""
    tree, (pin,), tau = moved("four_bar")
    exact = kkt.certify(kkt.build(tree, tau=tau, loops=[pin]), 20)
    twice = [PIN, replace(PIN, name="again")]
    with pytest.raises(kkt.ModelError, match="follow"):
        kkt.build(tree, tau=tau, loops=twice)
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(twice, mu))
    found = kkt.eliminate(soft, orderings.get("abm"), format, proximal=100)
    assert found.marked is None and exact.error(found.qdd) < digits
    alone = kkt.eliminate(kkt.build(tree, tau=tau, loops=[pin]), orderings.get("abm")).lam
    half = np.zeros((2, 5))
    half[:, 2:4] = alone / 2  # the least of all pairs with this sum
    assert np.abs(found.lam - half.ravel()).max() < 100 * digits * np.abs(alone).max()


def test_rigid_leaves_the_rows_that_hold_as_they_are_built():
    """Entries, pattern and structure are those of a system built with these rows alone."""
    tree, _, tau = moved("four_bar")
    soft = kkt.build(tree, tau=tau, loops=kkt.softened([PIN, replace(PIN, name="again")], 1e-3))
    hard = kkt.rigid(soft)
    rows = kkt.cut_joint("coupler", "rocker", p=(3, 0, 0), p_second=(2.5, 0, 0), rows=(2, 3), name="pin")
    wanted = kkt.build(tree, tau=tau, loops=[rows])
    assert (hard.matrix != wanted.matrix).nnz == 0 and np.array_equal(hard.rhs, wanted.rhs)
    assert hard.structure.ties == wanted.structure.ties
    assert np.array_equal(hard.pattern.G, wanted.pattern.G)
    assert kkt.rigid(wanted) is wanted


def test_rows_that_contradict_each_other_are_said_to():
    tree, loops, tau = moved("quadruped:feet=1")
    other = replace(loops[0], name="other", baumgarte=(3.0, 0.0))
    qd = np.linspace(-1.0, 1.0, len(tau))
    soft = kkt.build(tree, qd=qd, tau=tau, loops=kkt.softened([*loops, other], 1e-4))
    for format in ("float64", "float32"):
        found = kkt.eliminate(soft, orderings.get("abm"), format, proximal=100)
        assert found.proximal.residual > 0.1 and "contradict" in found.marked


def test_an_iteration_that_has_not_settled_is_marked():
    tree, loops, tau = moved("stewart")
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(loops, 10.0))
    found = kkt.eliminate(soft, orderings.get("abm"), proximal=2)
    assert found.proximal.status == "not settled" and "smaller mu" in found.marked


def test_lambda_first_in_float32_is_mended_by_a_mu_that_the_sum_can_hold():
    """mu = 1e-8 absorbs the robot; 1e-3 does not, and the iteration takes the softness away."""
    tree, loops, tau = moved("quadruped:feet=4")
    exact = kkt.certify(kkt.build(tree, tau=tau, loops=loops), 20)
    order = orderings.get("lambda_first_abm")
    stiff = kkt.build(tree, tau=tau, loops=kkt.softened(loops, 1e-8))
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(loops, 1e-2))
    lost = kkt.eliminate(stiff, order, "float32")
    assert lost.failed_at is not None or exact.error(lost.qdd) > 1e-2
    once = kkt.eliminate(soft, order, "float32")
    assert exact.error(once.qdd) > 1e-3
    found = kkt.eliminate(soft, order, "float32", proximal=100)
    assert found.marked is None and exact.error(found.qdd) < 1e-4


@pytest.mark.parametrize(
    "ask, said",
    [
        (lambda s: kkt.softened([PIN], 0.0), "mu is 0.0"),
        (lambda s: kkt.softened([PIN], float("nan")), "mu is nan"),
        (lambda s: kkt.softened([PIN], "small"), "mu is 'small'"),
        (lambda s: kkt.eliminate(s, orderings.get("abm"), proximal=100), "some row has none"),
        (
            lambda s: kkt.eliminate(kkt.build(kkt.chain(2)), orderings.get("abm"), proximal=100),
            "there are none",
        ),
        (lambda s: kkt.eliminate(s, orderings.get("abm"), proximal=True), "use 0 to"),
        (lambda s: kkt.eliminate(s, orderings.get("abm"), "exact", proximal=100), "not iterated"),
    ],
)
def test_what_cannot_be_iterated_is_one_sentence(ask, said):
    system = kkt.build(kkt.from_spec("four_bar"))
    with pytest.raises(kkt.PivotreeError, match=said) as caught:
        ask(system)
    assert "\n" not in str(caught.value)
