"""Forward dynamics of a million states on a GPU: exported CUDA, ``kkt.to_jax`` and MJX.

    pip install -e ".[robots]" mujoco-mjx cupy-cuda13x "jax[cuda13]"
    python benchmarks/gpu.py [ROBOT ...] --out gpu.jsonl

One row a robot, a precision and a program; those of a robot and a precision run in turns, on states
that are on the device.  nvcc compiles the exported files and CuPy launches them; without nvcc or
without a GPU their rows say so.  "inlined" is the same file with its pieces inlined.  The programs of
JAX run on what JAX has, a processor too, in calls of ``--chunks`` states, each size a row.  MJX runs
its forward dynamics without contacts and actuators; "mjx, highest" asks XLA for whole products of
matrices in float32, which it may otherwise round to ten bits on a GPU.  In float32 JAX's float64 is
off, since MJX would mix it in.

States are the same in both precisions.  ``same_bits`` counts the states at which a row has the bits
of the processor's kernel of its order; errors are the median and the largest over states of the
largest difference from the float64 kernel of ABM, over the largest acceleration.  ``ratio`` is time
over that of the fastest row of MJX.  Compilation is time on the clock, that of all programs of one
robot side by side.  A row that fails says why, and the others go on; each is written at once.
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
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from machine import machine
from numpy.typing import NDArray
from rows import in_turn, quartiles

from pivotree import kkt, orderings

ROBOTS = ("chain:3", "robot:ur5", "robot:talos")  # a short one first: what is missing shows at once
ORDERS = ("abm", "gain_abm", "crbm")
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


@dataclass
class Job:
    """A program whose compilation has begun, and what gives it its states."""

    row: Row
    kernel: kkt.Kernel
    compiled: Future[tuple[Any, Row]]
    loaded: Callable[[Any, Batch], Program]


def random_states(kernel: kkt.Kernel, count: int) -> Batch:
    """x (count, nx) with a unit quaternion of a floating base, qd and tau (count, N); float32."""
    draw = np.random.default_rng(0)
    batch = [draw.standard_normal((count, n), dtype=np.float32) for n in (kernel.nx, kernel.N, kernel.N)]
    if kernel.nx > kernel.N:
        batch[0][:, 3:7] /= np.linalg.norm(batch[0][:, 3:7], axis=1, keepdims=True)
    return batch


# -- CUDA -----------------------------------------------------------------------------------------


def nvcc(source: Path, target: str) -> tuple[Path, Row]:
    """Machine code of an exported file, and its registers, bytes of stack and of spills a thread."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        raise FileNotFoundError("nvcc is not installed")
    start, code = time.perf_counter(), source.with_suffix(".cubin")
    command = [compiler, f"-arch={target}", "-Xptxas", "-v", "-cubin", "-o", str(code), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nvcc: {done.stderr[-300:]}")
    told: Row = {"compile_s": round(time.perf_counter() - start, 2)}
    for kind, words in (("registers", "Used {} registers"), ("stack", "{} bytes cumulative stack")):
        told[kind] = max(map(int, re.findall(words.format(r"(\d+)"), done.stderr)), default=0)
    told["spills"] = sum(map(int, re.findall(r"(\d+) bytes spill", done.stderr)))
    return code, told


def launched(code: Path, batch: Batch, freedoms: int) -> Program:
    """One thread a state.  Results start as not a number, and every state must have been answered."""
    if not ON_GPU:
        raise RuntimeError("there is no GPU to run it")
    import cupy

    states, precision = len(batch[0]), batch[0].dtype
    function = cupy.RawModule(path=str(code)).get_function("forward")
    given = [cupy.asarray(np.ascontiguousarray(a.T)) for a in batch]
    qdd = cupy.full((freedoms, states), np.nan, precision)
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
    )


def cuda_jobs(kernels: dict[str, kkt.Kernel], folder: Path, pool: ThreadPoolExecutor) -> Iterator[Job]:
    target = f"sm_{jax.devices()[0].compute_capability.replace('.', '')}" if ON_GPU else "sm_90"
    for order, kernel in kernels.items():
        load = partial(launched, freedoms=kernel.N)
        for variant in ("", "_inlined"):
            path = folder / f"{kernel.format}_{order}{variant}.cu"
            source = kernel.export_cuda(path, "forward")
            if variant:
                source.write_text(source.read_text().replace("__noinline__", "__forceinline__"))
            row: Row = {"program": f"cuda, {order}{variant.replace('_', ', ')}"}
            yield Job(row, kernel, pool.submit(nvcc, source, target), load)


# -- JAX ------------------------------------------------------------------------------------------


def to_jax(tree: Any, kernel: kkt.Kernel, precision: str) -> Callable[..., Any]:
    return jax.jit(jax.vmap(kkt.to_jax(tree, orderings.get("abm"))))


def mjx(tree: Any, kernel: kkt.Kernel, precision: str) -> Callable[..., Any]:
    from jax_peers import UNFUSED, by_mjx

    return by_mjx(tree, kernel, None, precision, None if ON_GPU else UNFUSED)


def in_chunks(program: Callable[..., Any], batch: Batch, chunk: int) -> Program:
    starts = range(0, len(batch[0]), chunk)
    parts = [[jax.device_put(a[at : at + chunk]) for a in batch] for at in starts]
    return Program(
        run=lambda: [program(*part) for part in parts],
        wait=jax.block_until_ready,
        read=lambda found: np.concatenate([np.asarray(part) for part in found]),
    )


def jax_jobs(
    tree: Any, kernel: kkt.Kernel, precision: str, chunks: list[int], pool: ThreadPoolExecutor
) -> Iterator[Job]:
    """Traced here, one after another; XLA compiles them side by side."""
    makers: dict[str, tuple[Callable[..., Any], str | None]] = {"to_jax": (to_jax, None), "mjx": (mjx, None)}
    if precision == "float32":
        makers["mjx, highest"] = (mjx, "highest")
    for chunk in chunks:
        given = [jax.ShapeDtypeStruct((chunk, n), precision) for n in (kernel.nx, kernel.N, kernel.N)]
        for label, (make, products) in makers.items():
            compiled: Future[tuple[Any, Row]] = Future()
            try:
                with jax.default_matmul_precision(products):
                    lowered = make(tree, kernel, precision).lower(*given)
                compiled = pool.submit(xla, lowered)
            except Exception as error:  # a peer that is missing, or does not take this robot
                compiled.set_exception(error)
            load = partial(in_chunks, chunk=chunk)
            yield Job({"program": label, "chunk": chunk}, kernel, compiled, load)


def xla(lowered: Any) -> tuple[Any, Row]:
    start = time.perf_counter()
    return lowered.compile(), {"compile_s": round(time.perf_counter() - start, 2)}


# -- rows -----------------------------------------------------------------------------------------


def jobs_of(
    tree: Any, precision: str, chunks: list[int], folder: Path, pool: ThreadPoolExecutor
) -> list[Job]:
    kernels = {order: kkt.compile(tree, orderings.get(order), precision) for order in ORDERS}
    found = list(cuda_jobs(kernels, folder, pool))
    with jax.enable_x64(precision == "float64"):
        return found + list(jax_jobs(tree, kernels["abm"], precision, chunks, pool))


def measured(jobs: list[Job], batch: Batch, right: NDArray, rounds: int) -> Iterator[Row]:
    """Rows that failed, at once; then the others, which are timed in turns."""
    tasks: dict[str, Callable[[], Any]] = {}
    rows: dict[str, Row] = {}
    kernels = {id(job.kernel): job.kernel for job in jobs}
    bits = {key: kernel(*batch, threads=None) for key, kernel in kernels.items()}
    size = np.abs(right).max(axis=1)
    for job in jobs:
        row, key = job.row, str(job.row)
        try:
            program, told = job.compiled.result(timeout=0)
            row |= told
            program = job.loaded(program, batch)
            found = program.read(program.wait(program.run()))
            start = time.perf_counter()
            program.wait(program.run())
            calls = math.ceil(LEAST / (time.perf_counter() - start))
        except Exception as error:  # of a compiler, a driver or a peer: the row says it
            yield row | {"refused": f"{type(error).__name__}: {error}".strip()[:300]}
            continue
        if "registers" in row:
            row["same_bits"] = int((found == bits[id(job.kernel)]).all(axis=1).sum())
        error = np.abs(found - right).max(axis=1) / size
        row |= {"median_error": float(np.median(error)), "largest_error": float(error.max()), "calls": calls}
        rows[key] = row
        tasks[key] = partial(repeated, program, calls)
    times = {key: t / rows[key]["calls"] for key, t in in_turn(tasks, rounds, time.perf_counter).items()}
    peers = [key for key in rows if rows[key]["program"].startswith("mjx")]
    peer = min(peers, key=lambda key: float(np.median(times[key])), default=None)
    for key, row in rows.items():
        row["seconds"] = float(np.median(times[key]))
        row["states_a_second"] = len(right) / row["seconds"]
        if peer is not None:
            row["ratio"] = quartiles(times[key] / times[peer])[1]
        yield row


def repeated(program: Program, calls: int) -> None:
    for _ in range(calls):
        last = program.run()
    program.wait(last)


def told() -> Row:
    """The card, its driver and memory, beside the machine and the versions."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    found = machine() | {"jax runs on": str(jax.devices()[0])}
    if shutil.which(query[0]):
        found["card"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    return found


def rows_of(name: str, states: int, chunks: list[int], rounds: int, patience: float) -> Iterator[Row]:
    """Every row of one robot, in both precisions."""
    tree = kkt.load(name)
    reference = kkt.compile(tree, orderings.get("abm"))
    batch = random_states(reference, states)
    right = reference(*(a.astype(float) for a in batch), threads=None)
    pool = ThreadPoolExecutor()
    with tempfile.TemporaryDirectory() as folder:
        precisions = ("float32", "float64")
        jobs = {p: jobs_of(tree, p, chunks, Path(folder), pool) for p in precisions}
        wait([job.compiled for p in precisions for job in jobs[p]], timeout=patience)
        for precision in precisions:
            about = {"robot": name, "precision": precision, "states": states}
            given = [a.astype(precision) for a in batch]
            with jax.enable_x64(precision == "float64"):
                for row in measured(jobs[precision], given, right, rounds):
                    yield about | row
    pool.shutdown(wait=False, cancel_futures=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="exported CUDA, to_jax and MJX on a GPU")
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--states", type=int, default=1_000_000 if ON_GPU else 1000)
    parser.add_argument("--chunks", type=int, nargs="+", help="states a call of JAX's programs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--patience", type=float, default=600, help="seconds for XLA and nvcc, a robot")
    parser.add_argument("--out", type=Path, help="a file for the rows, one JSON line each")
    asked = parser.parse_args()
    chunks = asked.chunks or [min(asked.states, 125_000)]
    tell(told(), asked.out)
    for name in asked.robots:
        try:
            for row in rows_of(name, asked.states, chunks, asked.rounds, asked.patience):
                tell(row, asked.out)
        except Exception as error:  # of one robot: the others go on
            tell({"robot": name, "refused": f"{type(error).__name__}: {error}"[:300]}, asked.out)


def tell(row: Row, path: Path | None) -> None:
    line = json.dumps(row)
    print(line, flush=True)
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
