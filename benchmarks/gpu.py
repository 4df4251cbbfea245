"""Forward dynamics of a million states on a GPU: exported CUDA, ``kkt.to_jax`` and MJX.

    pip install -e ".[robots]" mujoco-mjx cupy-cuda13x "jax[cuda13]"
    python benchmarks/gpu.py [ROBOT ...] --out gpu.jsonl

One row a robot, a precision and a program, all of a robot in turns, on states that are on the device.
nvcc compiles the exported files, freely and with at most 128 registers a thread, and CuPy launches
them; without nvcc or without a GPU their rows say so.  The programs of JAX run on what JAX has, a
processor too, in calls of ``--chunk`` states.  MJX runs its forward dynamics without contacts, limits
and actuators, in float32 with whole products of matrices: by default XLA rounds them to ten bits,
and takes 0.97 to 1.6 times as long.  In float32 JAX's float64 is off, since MJX would mix it in.

States are the same in both precisions.  ``same_bits`` counts the states at which a row has the bits
of the processor's kernel of its order; errors are the median and the largest over states of the
largest difference from the float64 kernel of ABM, over the largest acceleration.  ``ratio`` is time
over MJX's.  Compilation is time on the clock, that of all programs of one robot side by side.  A row
that fails says why, and the others go on.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax_peers import UNFUSED, by_jax, by_mjx, random_states
from machine import machine
from numpy.typing import NDArray
from rows import in_turn, quartiles

from pivotree import kkt, orderings

ROBOTS = ("chain:3", "robot:ur5", "robot:talos")  # a short one first: what is missing shows at once
ORDERS = ("abm", "gain_abm", "crbm")
REGISTERS = (0, 128)  # of a thread, at most; 0: as many as nvcc likes
BLOCK = 64  # threads: small blocks fill a multiprocessor whose registers are scarce
LEAST = 0.02  # [s] of one measurement
ON_GPU = jax.default_backend() == "gpu"
Row = dict[str, Any]
Batch = list[NDArray]


@dataclass
class Program:
    """What is timed, on the device: ``run`` begins the work, ``wait`` ends it."""

    run: Callable[[], Any]
    wait: Callable[[Any], Any]
    read: Callable[[Any], NDArray]  # qdd (states, N) of what ``run`` gave
    told: Row  # of its compilation
    right: NDArray | None = None  # what it must give, bit by bit

    def repeated(self, calls: int) -> None:
        for _ in range(calls):
            last = self.run()
        self.wait(last)


Maker = Callable[[], Program]


# -- CUDA -----------------------------------------------------------------------------------------


def by_cuda(kernel: kkt.Kernel, source: Path, batch: Batch, registers: int) -> Program:
    """One thread a state.  Results start as not a number, and every state must have been answered."""
    code, told = nvcc(source, registers)
    if not ON_GPU:
        raise RuntimeError("there is no GPU to run it")
    import cupy

    states, precision = len(batch[0]), batch[0].dtype
    function = cupy.RawModule(path=str(code)).get_function("forward")
    given = [cupy.asarray(np.ascontiguousarray(a.T)) for a in batch]
    qdd = cupy.full((kernel.N, states), np.nan, precision)
    failed = cupy.full(states, -1, np.int32)
    grid, block = (math.ceil(states / BLOCK),), (BLOCK,)

    def read(_: Any) -> NDArray:
        if failed.any():
            raise ArithmeticError(f"{int((failed != 0).sum())} states were not answered")
        return cupy.asnumpy(qdd).T

    return Program(
        run=lambda: function(grid, block, (np.int32(states), *given, qdd, failed)),
        wait=lambda _: cupy.cuda.Device().synchronize(),
        read=read,
        told=told,
        right=kernel(*batch),
    )


def nvcc(source: Path, most: int) -> tuple[Path, Row]:
    """Machine code of an exported file, and its registers, bytes of stack and of spills a thread."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        raise FileNotFoundError("nvcc is not installed")
    target = jax.devices()[0].compute_capability.replace(".", "") if ON_GPU else "90"
    start, code = time.perf_counter(), source.with_suffix(f".{most}.cubin")
    command = [compiler, f"-arch=sm_{target}", *([f"-maxrregcount={most}"] if most else []), "-Xptxas", "-v"]
    done = subprocess.run([*command, "-cubin", "-o", code, source], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nvcc: {done.stderr[-300:]}")
    told: Row = {"compile_s": round(time.perf_counter() - start, 2)}
    for kind, words in (("registers", "Used {} registers"), ("stack", "{} bytes cumulative stack")):
        told[kind] = max(map(int, re.findall(words.format(r"(\d+)"), done.stderr)), default=0)
    told["spills"] = sum(map(int, re.findall(r"(\d+) bytes spill", done.stderr)))
    return code, told


# -- JAX ------------------------------------------------------------------------------------------


def in_chunks(make: Callable[[], Any], batch: Batch, chunk: int) -> Program:
    """A function of JAX in calls of ``chunk`` states."""
    with jax.enable_x64(batch[0].dtype == np.float64), jax.default_matmul_precision("highest"):
        start, shapes = time.perf_counter(), [(chunk, *a.shape[1:]) for a in batch]
        given = [jax.ShapeDtypeStruct(shape, batch[0].dtype) for shape in shapes]
        program = make().lower(*given).compile()
        took = round(time.perf_counter() - start, 2)
        starts = range(0, len(batch[0]), chunk)
        parts = [[jax.device_put(a[at : at + chunk]) for a in batch] for at in starts]
    return Program(
        run=lambda: [program(*part) for part in parts],
        wait=jax.block_until_ready,
        read=lambda found: np.concatenate([np.asarray(part) for part in found]),
        told={"compile_s": took, "chunk": chunk},
    )


# -- rows -----------------------------------------------------------------------------------------


def makers(tree: Any, precision: str, batch: Batch, chunk: int, folder: Path) -> Iterator[tuple[str, Maker]]:
    """What compiles each program and gives it its states, by the program's name."""
    kernel, options = kkt.compile(tree, orderings.get("abm"), precision), None if ON_GPU else UNFUSED
    peers = {
        "mjx": partial(by_mjx, tree, kernel, None, precision, options),
        "to_jax": partial(by_jax, tree, kernel, orderings.get("abm"), precision),
    }
    for name, make in peers.items():  # which take longest
        yield name, partial(in_chunks, make, batch, chunk)
    for order in ORDERS:
        kernel = kkt.compile(tree, orderings.get(order), precision)
        source = kernel.export_cuda(folder / f"{precision}_{order}.cu", "forward")
        for most in REGISTERS:
            limit = f", {most} registers" if most else ""
            yield f"cuda, {order}{limit}", partial(by_cuda, kernel, source, batch, most)


def checked(program: Program, right: NDArray) -> Row:
    """What compilation told, errors, and calls in one measurement; the program is warm then."""
    found = program.read(program.wait(program.run()))
    error = np.abs(found - right).max(axis=1) / np.abs(right).max(axis=1)
    row = program.told | {"median_error": float(np.median(error)), "largest_error": float(error.max())}
    if program.right is not None:
        row["same_bits"] = int((found == program.right).all(axis=1).sum())
    start = time.perf_counter()
    program.repeated(1)
    return row | {"calls": math.ceil(LEAST / (time.perf_counter() - start))}


def rows_of(name: str, states: int, chunk: int, rounds: int, patience: float) -> Iterator[Row]:
    """Every row of one robot, in both precisions: those that failed first."""
    tree = kkt.load(name, merge_fixed=False)
    reference = kkt.compile(tree, orderings.get("abm"))
    batch = [a.astype(np.float32) for a in random_states(reference, states)]
    right = reference(*(a.astype(float) for a in batch))
    rows: dict[str, Row] = {}
    tasks: dict[str, Callable[[], None]] = {}
    pool = ThreadPoolExecutor()
    with tempfile.TemporaryDirectory() as folder:
        made = {}
        for precision in ("float32", "float64"):
            given = [a.astype(precision) for a in batch]
            for label, make in makers(tree, precision, given, chunk, Path(folder)):
                about = {"robot": name, "precision": precision, "states": states, "program": label}
                made[f"{precision} {label}"] = about, pool.submit(make)
        wait([future for _, future in made.values()], timeout=patience)
        for key, (about, future) in made.items():
            try:
                program = future.result(timeout=0)
                rows[key] = about | checked(program, right)
                tasks[key] = partial(program.repeated, rows[key]["calls"])
            except Exception as error:  # of a compiler, a driver or a peer: the row says it
                yield about | {"refused": f"{type(error).__name__}: {error}".strip()[:300]}
        pool.shutdown(wait=False, cancel_futures=True)
    times = {key: t / rows[key]["calls"] for key, t in in_turn(tasks, rounds, time.perf_counter).items()}
    for key, row in rows.items():
        row["seconds"] = float(np.median(times[key]))
        row["states_a_second"] = states / row["seconds"]
        peer = times.get(f"{row['precision']} mjx")
        yield row if peer is None else row | {"ratio": quartiles(times[key] / peer)[1]}


def told() -> Row:
    """The card, its driver and memory, beside the machine and the versions."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    found = machine() | {"jax runs on": str(jax.devices()[0])}
    if shutil.which(query[0]):
        found["card"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="exported CUDA, to_jax and MJX on a GPU")
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--states", type=int, default=1_000_000 if ON_GPU else 1000)
    parser.add_argument("--chunk", type=int, default=125_000, help="states a call of JAX, a divisor")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--patience", type=float, default=600, help="seconds for XLA and nvcc, a robot")
    parser.add_argument("--out", type=Path, default=Path("gpu.jsonl"), help="gets the rows as JSON lines")
    asked = parser.parse_args()
    with asked.out.open("a", encoding="utf-8") as file:

        def tell(row: Row) -> None:
            for place in (None, file):
                print(json.dumps(row), file=place, flush=True)

        tell(told())
        for name in asked.robots:
            try:
                chunk = min(asked.chunk, asked.states)
                for row in rows_of(name, asked.states, chunk, asked.rounds, asked.patience):
                    tell(row)
            except Exception as error:  # of one robot: the others go on
                tell({"robot": name, "refused": f"{type(error).__name__}: {error}"[:300]})


if __name__ == "__main__":
    main()
