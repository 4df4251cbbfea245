"""Kernels that tests of machine code share, and a plain interpreter of their programs."""

from functools import cache

import numpy as np
from helpers import ALL_JOINTS

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.interpreter import Interpreter

ORDERS = ("abm", "crbm", "modified_abm", "virtual_work", "square_root_abm", "divide_and_conquer")
ALONG = ("virtual_work", "square_root_abm", "divide_and_conquer")  # split f: no universal joint
NO_UNIVERSAL = ALL_JOINTS.replace("universal+", "")


def general():
    """A screw, a slide, and a joint of two motions that do not commute, none along an axis."""
    tree = kkt.new_tree("general")
    motions = {
        "screw": [[0.3, 0.2, -0.5, 0.1, 0.4, 0.2]],
        "pair": [[0.3, 0.2, -0.5, 0.1, 0.4, 0.2], [0.1, 0.0, 0.0, 0.3, 0.0, 0.2]],
        "slide": [[0.0, 0.0, 0.0, 0.1, 0.4, 0.2]],
    }
    parent = None
    for name, rows in motions.items():
        kkt.add_body(
            tree,
            name,
            parent,
            mass=1.5,
            com=(0.1, 0.2, 0.3),
            inertia=np.diag([1.0, 1.2, 1.1]),
            joint="general",
            S=np.array(rows).T,
            p=(0.1, 0.2, 0.0),
        )
        parent = name
    return kkt.default_state(tree)


TREES = {
    "chain": lambda order: kkt.chain(5),
    "two_link": lambda order: kkt.two_link(),
    "random": lambda order: kkt.random_tree(5, 0, joints=NO_UNIVERSAL if order in ALONG else ALL_JOINTS),
    "general": lambda order: general(),
}


@cache
def kernel_of(name, order, format, outputs=("qdd",)):
    """Compiled once for all tests of this file."""
    return kkt.compile(TREES[name](order), orderings.get(order), format, outputs=outputs)


def states(kernel, m, seed=0):
    draw = np.random.default_rng(seed)
    x = kernel.configuration() + 0.2 * draw.normal(size=(m, kernel.nx))
    return x, draw.normal(size=(m, kernel.N)), draw.normal(size=(m, kernel.N))


def plain(kernel, x, qd, tau):
    """The same program, one operation after another."""
    run = Interpreter(kernel.straight, get_format(kernel.format))
    return run.run(np.concatenate([x, qd, tau], axis=1).astype(run.format.dtype))
