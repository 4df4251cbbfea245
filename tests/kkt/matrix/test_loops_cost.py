"""What closed loops cost: linear in the bodies, cubic in the loops that are carried to the base."""

import numpy as np
import pytest
from mechanisms import built, closed_early, rod

from pivotree import kkt, orderings


def hand(n, fingers):
    """A chain of n links whose tip carries fingers, each with one point on the ground."""
    tree, tip, loops = kkt.new_tree("hand"), None, []
    for j in range(n):
        kkt.add_body(
            tree,
            j,
            tip,
            mass=1.0,
            com=(0.1, 0.2, 0.3),
            inertia=np.diag([1.0, 2.0, 2.5]),
            axis=(1, 2, 3),
            p=(0.3, 0.2, 0.1),
        )
        tip = j
    for i in range(fingers):
        kkt.add_body(
            tree,
            f"finger {i}",
            tip,
            mass=0.1,
            com=(0.1, 0.02, 0.05),
            p=(0.3, 0.1, 0.2),
            inertia=np.diag([1e-3, 2e-3, 2.5e-3]),
            joint="spherical",
        )
        loops.append(kkt.contact(f"finger {i}", (0.2, 0.1, 0.3)))
    return built(tree, loops)


def counted(system, order="abm"):
    tape = kkt.trace(system, orderings.get(order) if isinstance(order, str) else order)
    return tape.program.symbolic.fill_blocks, tape.flops


@pytest.mark.product
@pytest.mark.parametrize("fingers", [1, 2, 3])
def test_linear_in_the_bodies_for_a_fixed_number_of_loops(fingers):
    """Ascher, Pai & Cloutier 1996, section 2: O(N), "only for a fixed number of closed loops"."""
    fill, flops = np.array([counted(hand(n, fingers)) for n in range(3, 11)]).T
    assert set(np.diff(fill)) == {1 + 2 * fingers}  # qdd_k with pdd_p; lam with qdd_k and pdd_k
    assert len(set(np.diff(flops))) == 1


@pytest.mark.product
@pytest.mark.parametrize("order", ["abm", "crbm"])
def test_cubic_in_the_number_of_loops(order):
    fill, flops = np.array([counted(hand(5, k), order) for k in range(1, 9)]).T
    assert set(np.diff(fill, n=2)) == {1}  # every two multipliers meet
    assert set(np.diff(flops, n=3)) == {3}  # k^3 / 2: a product, a quotient and a difference each


@pytest.mark.product
def test_loops_that_are_closed_early_cost_the_same_each():
    """Every link carries two fingers that hold each other: linear, where carrying all is not."""

    def chain_of_loops(n):
        tree, up, loops, skew = kkt.new_tree("loops"), None, [], {"axis": (1, 2, 3)}
        for j in range(n):
            kkt.add_body(tree, j, up, p=(1, 0.1, 0.2), **(rod(1.0, 1.0) | skew))
            for side in "ab":
                kkt.add_body(tree, (j, side), j, p=(1, 0, 0.1), **(rod(0.5, 0.3) | skew))
            pad = kkt.contact((j, "a"), (0.5, 0, 0), (0, 1, 0), on=(j, "b"))
            loops.append(pad)
            up = j
        return built(tree, loops)

    systems = [chain_of_loops(n) for n in range(2, 9)]
    early, late = (np.array([counted(s, o) for s in systems]).T for o in (closed_early, "abm"))
    assert len(set(np.diff(early[0])[1:])) == 1 and len(set(np.diff(early[1])[1:])) == 1
    assert (np.diff(late[0], n=2) > 0).all() and (np.diff(late[1], n=2) > 0).all()


def test_a_tree_is_what_it_was():
    """Loops of none leave matrix, tape and record alone."""
    system, bare = kkt.build(kkt.humanoid()), kkt.build(kkt.humanoid(), loops=[])
    assert (system.matrix != bare.matrix).nnz == 0 and (system.rhs == bare.rhs).all()
    assert system.structure.constraints == () and system.entries.G.shape == (0, 6)
    tapes = [kkt.trace(s, orderings.get("abm")) for s in (system, bare)]
    assert tapes[0].program.instructions == tapes[1].program.instructions
    assert tapes[0].slots == tapes[1].slots
    assert kkt.eliminate(system, tapes[0]).lam.shape == (0,)
