"""Several orders in one kernel: the bits of each alone, and what they share computed once."""

import numpy as np
import pytest

from pivotree import kkt, orderings

NAMES = ("abm", "crbm", "square_root_abm")
ORDERS = [orderings.get(name) for name in NAMES]


def states(kernel, m):
    random = np.random.default_rng(5)
    x = kernel.configuration() + random.uniform(-1, 1, (m, kernel.nx))
    return x, *random.normal(size=(2, m, kernel.N))


@pytest.mark.slow
@pytest.mark.parametrize("format", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("model", ["chain:5", "quadruped"])
def test_each_order_has_the_bits_that_it_has_alone(model, format):
    tree = kkt.load(model)
    together = kkt.compile(tree, ORDERS, format)
    alone = [kkt.compile(tree, order, format) for order in ORDERS]
    assert together.order == "abm, crbm, square_root_abm"
    x, qd, tau = states(together, 21)
    for given in ((x, qd, tau), (x[0], qd[0], tau[0]), (x[:1], qd[:1], None)):
        for _ in range(2):  # the second call takes another way
            found = together(*given)
            assert isinstance(found, tuple) and len(found) == 3
            for ours, kernel in zip(found, alone, strict=True):
                assert ours.tobytes() == kernel(*given).tobytes()


def test_what_orders_share_is_computed_once():
    tree = kkt.chain(7)
    each = [sum(kkt.compile(tree, order).operations.values()) for order in ORDERS[:2]]
    together = sum(kkt.compile(tree, ORDERS[:2]).operations.values())
    assert max(each) < together < 0.9 * sum(each)
    again = kkt.compile(tree, [ORDERS[0], kkt.trace(kkt.build(tree), ORDERS[0])])
    assert sum(again.operations.values()) == each[0]  # the same twice costs once


def test_several_outputs_are_a_tuple_for_each_order():
    tree = kkt.chain(3)
    kernel = kkt.compile(tree, ORDERS[:2], outputs=("qdd", "f"))
    x, qd, tau = states(kernel, 4)
    (qdd, f), (other, _) = kernel(x, qd, tau)
    assert qdd.shape == other.shape == (4, 3) and f.shape == (4, 3, 6)
    np.testing.assert_allclose(qdd, other, rtol=1e-10)
    solved = kkt.compile(tree, [ORDERS[1], ORDERS[1]], solver="cholesky")
    np.testing.assert_allclose(solved(x, qd, tau)[1], qdd, rtol=1e-9)


def test_a_list_of_groups_is_one_order_and_c_takes_one(tmp_path):
    tree = kkt.chain(2)
    groups = [[("pdd", k), ("qdd", k), ("f", k)] for k in ("j2", "j1")]
    kernel = kkt.compile(tree, groups)
    assert kernel([0.1, 0.2], [0, 0]).shape == (2,)
    with pytest.raises(kkt.ModelError, match="for one order, not for abm, crbm"):
        kkt.compile(tree, ORDERS[:2]).export_c(tmp_path / "two.c")
    with pytest.raises(kkt.OrderError, match="virtual"):
        kkt.compile(kkt.chain(2, "universal"), [ORDERS[0], orderings.get("virtual_work")])
