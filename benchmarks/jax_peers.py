"""``kkt.to_jax`` on the processor beside machine code and MuJoCo's MJX: time, and error of qdd.

    pip install -e ".[jax,mujoco]" mujoco-mjx
    python benchmarks/jax_peers.py --states 4096

One row a robot, a program and a precision.  Compilation is processor time of the first call less
one call; a state's time is the least of five batches.  Errors are those of 20 states against 50
certified digits, largest over the largest acceleration.  MJX steps through its own forward dynamics
with contacts and actuators off.  Prints one JSON line a row.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import jax
import mujoco
import numpy as np

from pivotree import kkt, orderings

jax.config.update("jax_enable_x64", True)
ROBOTS = ("chain:7", "humanoid")


def measured(name: str, precision: str, states: int, programs: dict[str, Callable]) -> None:
    tree = kkt.from_spec(name)
    order = orderings.get("abm")
    kernel = kkt.compile(tree, order, precision)
    random = np.random.default_rng(0)
    sizes = (kernel.nx, kernel.N, kernel.N)
    batch = [random.standard_normal((states, size)).astype(precision) for size in sizes]
    right = exact(tree, kernel, batch)
    for label, make in programs.items():
        run = make(tree, kernel, order, precision)
        begun = time.process_time()
        found = np.asarray(run(*batch), dtype=float)
        compiled = time.process_time() - begun
        times = []
        for _ in range(5):
            start = time.perf_counter()
            np.asarray(run(*batch))
            times.append(time.perf_counter() - start)
        error = np.abs(found[: len(right)] - right).max(axis=1) / np.abs(right).max(axis=1)
        own = label != "mjx" or kernel.nx == kernel.N  # a floating base has other rates there
        row = {
            "robot": name, "program": label, "precision": precision, "states": states,
            "compile_s": round(compiled - min(times), 2), "us_a_state": min(times) / states * 1e6,
            "median_error": float(np.median(error)) if own else None,
            "largest_error": float(error.max()) if own else None,
        }  # fmt: skip
        print(json.dumps(row), flush=True)


def exact(tree: Any, kernel: kkt.Kernel, batch: list[np.ndarray], count: int = 20) -> np.ndarray:
    """(count, N) certified accelerations of the first states."""
    found = []
    for q, qd, tau in zip(*(x[:count].astype(float) for x in batch), strict=True):
        system = kkt.build(tree, q=kernel.places.to_coordinates(q), qd=qd, tau=tau)
        found.append([float(x) for x in kkt.certify(system, digits=50).qdd])
    return np.array(found)


def by_machine_code(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    return kernel


def by_jax(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    return jax.jit(jax.vmap(kkt.to_jax(tree, order)))


def by_mjx(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    """MJX's forward dynamics; of hinges and slides alone its coordinates are ours."""
    from mujoco import mjx
    from simulators import mujoco_model

    model = mujoco_model(tree)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    numbers = jax.tree.map(
        lambda x: x.astype(precision) if getattr(x, "dtype", None) == np.float64 else x,
        mjx.put_model(model),
    )
    fresh = mjx.make_data(numbers)

    def one(q: Any, qd: Any, tau: Any) -> Any:
        data = fresh.replace(qpos=q, qvel=qd, qfrc_applied=tau)
        return mjx.forward(numbers, data).qacc

    return jax.jit(jax.vmap(one))


PROGRAMS = {"kernel": by_machine_code, "to_jax": by_jax, "mjx": by_mjx}


def main() -> None:
    parser = argparse.ArgumentParser(description="to_jax, machine code and MJX")
    parser.add_argument("--states", type=int, default=4096)
    states = parser.parse_args().states
    for name in ROBOTS:
        for precision in ("float32", "float64"):
            measured(name, precision, states, PROGRAMS)


if __name__ == "__main__":
    main()
