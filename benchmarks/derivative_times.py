"""Times of the derivatives of qdd beside Pinocchio's, one thread: docs/derivatives.md.

``python benchmarks/derivative_times.py [ROBOT ...] [--orders crbm,abm]`` needs the extras robots
and peers.  All three Jacobians stand beside ``computeABADerivatives``, M^-1 beside
``computeMinverse``; one state, called from Python, and a state of a batch of 512, for which
Pinocchio is called in a loop.  Processor time of the thread, the least of rounds in which both run
in turns; a round solves the batch eight times, so that both run for about as long and are as warm.
A solution's fill is what of its N x N numbers is not zero by structure.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from pivotree import kkt, orderings
from pivotree.kkt.model import robot_files

MATRICES = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
STATES, ROUNDS = 512, 25


def in_turns(calls: list[Callable[[], object]], times: list[int]) -> list[float]:
    """Least microseconds of each, called so many times a round."""
    taken: list[list[float]] = [[] for _ in calls]
    for one in calls:
        one()
    for _ in range(ROUNDS):
        for one, count, spent in zip(calls, times, taken, strict=True):
            begun = time.thread_time_ns()
            for _ in range(count):
                one()
            spent.append((time.thread_time_ns() - begun) / count / 1e3)
    return [float(np.min(spent)) for spent in taken]


def measured(name: str, order: str, outputs: tuple[str, ...]) -> str:
    path = str(robot_files()[name][0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = kkt.load(f"robot:{name}", merge_fixed=False)
        kernel = kkt.compile(tree, orderings.get(order), outputs=outputs)
    model = pin.buildModelFromUrdf(path)
    floating = model.nv != kernel.N
    if floating:
        model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    data, random = model.createData(), np.random.default_rng(0)
    q = np.array(
        [pin.randomConfiguration(model, -1 * np.ones(model.nq), np.ones(model.nq)) for _ in range(STATES)]
    )
    qd, tau = random.standard_normal((2, STATES, kernel.N))
    assert q.shape == (STATES, kernel.nx)
    all_of_them = len(outputs) == 3

    def theirs(i: int) -> None:
        if all_of_them:
            pin.computeABADerivatives(model, data, q[i], qd[i], tau[i])
        else:
            pin.computeMinverse(model, data, q[i])

    first = q[0].copy(), qd[0].copy(), tau[0].copy()
    ours, peer = in_turns([lambda: kernel(*first), lambda: theirs(0)], [20, 20])
    many, each = in_turns([lambda: kernel(q, qd, tau), lambda: [theirs(i) for i in range(STATES)]], [8, 1])
    fill = np.count_nonzero(kernel.program.outputs) / len(kernel.program.outputs)
    cells = [
        name,
        f"`{order}`",
        "all three" if all_of_them else "M^-1",
        f"{sum(kernel.operations.values()):,}",
        f"{fill:.0%}",
        f"{ours:.2f}",
        f"{peer:.2f}",
        f"{ours / peer:.2f}",
        f"{many / STATES:.3f}",
        f"{many / each:.3f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=("ur5", "panda", "talos"))
    parser.add_argument("--orders", default="crbm,abm")
    asked = parser.parse_args()
    heads = (
        "robot",
        "order",
        "what",
        "operations",
        "fill",
        "one state, µs",
        "Pinocchio",
        "ratio",
        "of a batch, µs",
        "ratio",
    )
    print(f"| {' | '.join(heads)} |\n|---|---|---|{'---:|' * 7}")
    for name in asked.robots:
        for order in asked.orders.split(","):
            for outputs in (MATRICES, MATRICES[2:]):
                print(measured(name, order, outputs), flush=True)


if __name__ == "__main__":
    main()
