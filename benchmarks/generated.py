"""Our kernels beside the C that CasADi generates of Pinocchio's aba and derivatives: microseconds a state.

    python benchmarks/generated.py [ROBOT ...]

It needs g++, gcc and the wheels pin, casadi and cmeel-eigen, and says so where one is not there.  What
is in C++ is compiled once, which takes minutes, and kept in the folder of temporary files.  "strict" is
-O3 -march=native -ffp-contract=off and our strict kernels: gain_abm, and the order that pivotree.search
finds for the robot with its placements factored.  "relaxed" is -ffp-contract=fast and our relaxed
kernel, of abm and crbm the one with fewer operations.  One state is a call in C of exported
code.  A batch of ours is a call from Python on 4096 states, divided by them; one of CasADi's is its C
with a vector of states for each number, sines by glibc's libmvec.  Ours and CasADi's are measured in nine
turns, their libraries copied anew for each, since where code lies in memory may double its time; times
and ratios are medians, with the quartiles of the ratios.

Derivatives are all three Jacobians of qdd at one state: ours by crbm, strict on the tree with its
placements factored; CasADi's, with common subexpressions shared, of Pinocchio's computeABADerivatives or,
where q are coordinates and it has at most twice the operations, by CasADi's own differentiation of aba,
whichever is faster.  gcc -O3 that takes longer than ten minutes is stopped, and -O1 taken, which is said.
"""

from __future__ import annotations

import importlib.util
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pivotree import analysis, kkt, orderings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "peers"))
PARTS = HERE / "generated"
WAYS = {"strict": "-ffp-contract=off", "relaxed": "-ffp-contract=fast"}
ROBOTS = ("ur5", "panda", "talos", "kinova", "xarm7", "anymal", "tiago")
STATES, TURNS, LIMIT = 4096, 9, 600
NEEDED = ("pinocchio", "casadi")


def program(name: str, folder: Path, *linked: str) -> Path:
    """A program of this folder in C++, compiled with the wheels' headers."""
    made, source = folder / name, (PARTS / name).with_suffix(".cpp")
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        places = [Path(importlib.util.find_spec(name).origin).parents[1] for name in NEEDED]
        site = next(up for up in places[0].parents if (up / "cmeel.prefix").is_dir())
        prefix, casadi = site / "cmeel.prefix", places[1] / "casadi"
        include = [prefix / "include", prefix / "include" / "eigen3", casadi / "include"]
        flags = [
            "-w",
            "-std=c++17",
            "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
            "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        ]
        flags += ["-O2", "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION"] if name == "native" else []
        libraries = [f"-L{x}" for x in (prefix / "lib", casadi)]
        libraries += [f"-Wl,-rpath,{prefix / 'lib'}:{casadi}", "-lpinocchio_default", "-lboost_serialization"]
        command = ["g++", *flags, *(f"-I{x}" for x in include), source, "-o", made, *libraries, *linked]
        subprocess.run(command, check=True)
    return made


def library(source: Path, flag: str, lanes: int = 1, *more: str, to: str = "") -> Path:
    """A shared library of a C file; with ``lanes`` of C that CasADi generated, of vectors of states."""
    made = source.with_name((to or source.stem) + ".so")
    build = ["-O3", "-march=native", "-DCONTRACTION_OFF", flag, "-shared", "-fPIC", *more]
    if lanes > 1:
        vectors = ["-x", "c++", "-Wno-psabi", "-include", PARTS / "lanes.h", "-Dcasadi_real=Lanes"]
        subprocess.run(["g++", *build, *vectors, source, "-o", made, "-lmvec", "-lm"], check=True)
        return made
    build += [source, "-o", made, "-lm"]
    bound = partial(resource.setrlimit, resource.RLIMIT_CPU, (LIMIT, LIMIT))
    if subprocess.run(["gcc", *build], preexec_fn=bound).returncode:
        print(f"{source.name}: gcc -O3 takes more than {LIMIT} s of processor time; -O1 is taken")
        subprocess.run(["gcc", *build, "-O1"], check=True)
    return made


def timed(
    made: Path, function: str, state: list[np.ndarray], lanes: int = 1, results: int = 1
) -> tuple[float, np.ndarray]:
    """Microseconds of a state, and the qdd that a call gives, or its three derivatives, one after another.

    A copy of the library is called.
    """
    timer, kept = made.with_name("timer"), made.with_name("state")
    made = Path(shutil.copy(made, made.with_name(f"{made.stem}-copy.so")))
    if not timer.exists():
        subprocess.run(["gcc", "-O2", PARTS / "timer.c", "-o", timer, "-ldl"], check=True)
    np.concatenate(state).astype(float).tofile(kept)
    sizes = [str(len(state[0])), str(len(state[1]))]
    command = [timer, made, function, *sizes, kept, str(lanes), str(results)]
    took, *qdd = map(float, subprocess.run(command, check=True, capture_output=True).stdout.split())
    return took / lanes, np.array(qdd)


def batch(kernel: Any, state: list[np.ndarray]) -> float:
    """Microseconds of a state among STATES, by a copy of the kernel, whose machine code is loaded anew."""
    kernel = copy(kernel)
    given = [np.tile(x, (STATES, 1)) for x in state]
    took = []
    for _ in range(3):
        start, calls = time.process_time(), 0
        while time.process_time() - start < 0.02:
            kernel(*given)
            calls += 1
        took.append((time.process_time() - start) / calls / STATES)
    return 1e6 * float(np.median(took))


def kernels(system: Any) -> Iterator[tuple[str, Any, str]]:
    """A way, our kernel for it, and the name of its order."""
    yield "strict", kkt.compile(system.graph, orderings.get("gain_abm")), "gain_abm"
    factored = kkt.build(kkt.factored(system.graph))
    found = analysis.search(factored, composites="rigid")
    yield "strict", kkt.compile(factored.graph, found.sequence), "searched"
    made = [kkt.compile(system.graph, orderings.get(order), relaxed=True) for order in ("abm", "crbm")]
    best = min(made, key=lambda kernel: len(kernel.straight))
    yield "relaxed", best, best.order


def generated_derivatives(folder: Path) -> Iterator[tuple[str, Path]]:
    """Whose formulas the three Jacobians follow, and their C; CasADi's own need coordinates q."""
    import casadi

    least = None
    for formulas, saved in (("computeABADerivatives", "derivatives"), ("CasADi's of aba", "aba")):
        function = casadi.Function.load(str(folder / f"{saved}.casadi"))
        given = [casadi.SX.sym(name, *function.size_in(i)) for i, name in enumerate("qvu")]
        found = function.call(given)
        if saved == "aba":
            if given[0].shape != given[1].shape:
                return
            found = [casadi.densify(casadi.jacobian(found[0], x)) for x in given]
        shared = casadi.Function("derivatives", given, casadi.cse(found))
        least = least or shared.n_instructions()
        if shared.n_instructions() <= 2 * least:
            written = casadi.CodeGenerator(f"derivatives_{saved}.c")
            written.add(shared)
            yield formulas, Path(written.generate(f"{folder}/"))


def derivatives(
    name: str, folder: Path, system: kkt.System, state: Any, columns: np.ndarray, theirs: list[np.ndarray]
) -> None:
    """Print the rows of a robot's derivatives; ``columns`` are Pinocchio's numbers of our freedoms."""
    outputs, sources = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau"), list(generated_derivatives(folder))
    for way, tree in (("strict", kkt.factored(system.graph)), ("relaxed", system.graph)):
        kernel = kkt.compile(tree, orderings.get("crbm"), outputs=outputs, relaxed=way == "relaxed")
        kernel.export_c(folder / "ours.c", "ours")
        ours = [kernel.configuration(state.q), state.qd, state.tau]
        own = library(folder / "ours.c", WAYS[way]), "ours", ours, 1, 3
        peers = [
            (formulas, (library(source, WAYS[way]), "derivatives", theirs, 1, 3))
            for formulas, source in sources
        ]
        formulas, other = min(peers, key=lambda each: min(timed(*each[1])[0] for _ in range(3)))
        one = in_turns(lambda own=own: timed(*own)[0], lambda other=other: timed(*other)[0])
        square = 3, kernel.N, kernel.N
        found, answer = timed(*own)[1].reshape(square), timed(*other)[1].reshape(square).transpose(0, 2, 1)
        answer = answer[:, columns][:, :, columns]
        apart = max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, answer, strict=True))
        told = f"{len(kernel.straight):6} operations, apart {apart:.0e}, formulas {formulas}"
        print(f"{name:8} derivatives {way:8} one state {one}; {told}", flush=True)


def in_turns(ours: Callable[[], float], other: Callable[[], float]) -> str:
    """Median times of both, and the median and the quartiles of their ratio."""
    times = np.array([(ours(), other()) for _ in range(TURNS)])
    low, middle, high = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    own, their = np.median(times, axis=0)
    return f"{own:6.4f} us, CasADi {their:6.4f}, ratio {middle:4.2f} ({low:4.2f} to {high:4.2f})"


def peak(folder: Path, lanes: int) -> float:
    """Operations in a nanosecond, of products fused with sums, in full vectors."""
    shutil.copy(PARTS / "peak.c", folder)
    made = library(folder / "peak.c", WAYS["relaxed"], 1, f"-DLANES={lanes}")
    return 2**20 / (1e3 * timed(made, "peak", [np.full(1, 0.5)] * 3)[0])


def compared(name: str, folder: Path, lanes: int) -> None:
    """Print the rows of one robot."""
    import pinocchio_peer
    from random_states import random_state, robots

    system, peer = pinocchio_peer.read_pair(robots()[name], False, True)
    state = random_state(system, 0, forces=False)
    peer.model.saveToText(str(folder / "model.txt"))
    theirs = [peer.q(state.q), peer.theirs(state.qd), peer.theirs(state.tau)]
    np.concatenate(theirs).tofile(folder / "state")
    written = "peer.c", "aba.casadi", "derivatives.casadi"
    subprocess.run([program("generate", folder, "-lcasadi"), "model.txt", *written], cwd=folder, check=True)
    command = [program("native", folder), "model.txt", "state"]
    native = float(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)
    print(f"{name:8} Pinocchio's aba in C++ {native:7.3f} us")
    for way, kernel, order in kernels(system):
        kernel.export_c(folder / "ours.c", "ours")
        ours = [kernel.configuration(state.q), state.qd, state.tau]
        own = library(folder / "ours.c", WAYS[way]), "ours", ours
        other = library(folder / "peer.c", WAYS[way]), "aba", theirs
        wide = library(folder / "peer.c", WAYS[way], lanes, to="wide"), "aba", theirs, lanes
        one = in_turns(lambda own=own: timed(*own)[0], lambda other=other: timed(*other)[0])
        many = in_turns(partial(batch, kernel, ours), lambda wide=wide: timed(*wide)[0])
        qdd, answer = timed(*own)[1], timed(*other)[1]
        apart = np.abs(peer.theirs(qdd) - answer).max() / np.abs(answer).max()
        told = f"{len(kernel.straight):6} operations, apart {apart:.0e}"
        print(f"{name:8} {order:9} {way:8} one state {one}; batch {many}; {told}", flush=True)
    derivatives(name, folder, system, state, peer.columns, theirs)


def main() -> None:
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    lacking += [name for name in ("gcc", "g++") if shutil.which(name) is None]
    if lacking:
        raise SystemExit(
            f"generated: {', '.join(lacking)} is not installed; the peer is generated and compiled"
        )
    folder = Path(tempfile.gettempdir()) / "pivotree-generated"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "timer").unlink(missing_ok=True)
    lanes = kkt.compile(kkt.chain(2), orderings.get("abm")).lanes
    most = peak(folder, lanes)
    print(f"pin {version('pin')}, casadi {version('casadi')}; peak {most / lanes:.1f} and {most:.0f} Gop/s")
    for name in sys.argv[1:] or ROBOTS:
        compared(name, folder, lanes)


if __name__ == "__main__":
    main()
