"""Our kernels beside the C that CasADi generates of Pinocchio's aba, and aba in C++: microseconds a state.

    python benchmarks/generated.py [ROBOT ...]

It needs g++, gcc and the wheels pin, casadi and cmeel-eigen, and says so where one is not there.  What
is in C++ is compiled once, which takes minutes, and kept in the folder of temporary files.  "strict" is
-O3 -march=native -ffp-contract=off and our strict gain_abm; "relaxed" is -ffp-contract=fast and our
relaxed kernel, of abm and crbm the one with fewer operations.  One state is a call in C of exported
code.  A batch of ours is a call from Python on 4096 states, divided by them; one of CasADi's is its C
with a vector of states for each number, sines by glibc's libmvec.  Times are medians of 15 rounds.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pivotree import kkt, orderings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "peers"))
PARTS = HERE / "generated"
WAYS = {"strict": "-ffp-contract=off", "relaxed": "-ffp-contract=fast"}
ROBOTS = ("ur5", "panda", "talos", "kinova", "xarm7", "anymal", "tiago")
STATES = 4096
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


def library(source: Path, flag: str, lanes: int = 1, *more: str) -> Path:
    """A shared library of a C file; with ``lanes`` of C that CasADi generated, of vectors of states."""
    made = source.with_suffix(".so")
    build = ["-O3", "-march=native", "-DCONTRACTION_OFF", flag, "-shared", "-fPIC", *more]
    if lanes > 1:
        vectors = ["-x", "c++", "-Wno-psabi", "-include", PARTS / "lanes.h", "-Dcasadi_real=Lanes"]
        subprocess.run(["g++", *build, *vectors, source, "-o", made, "-lmvec", "-lm"], check=True)
    else:
        subprocess.run(["gcc", *build, source, "-o", made, "-lm"], check=True)
    return made


def timed(made: Path, function: str, state: list[np.ndarray], lanes: int = 1) -> tuple[float, np.ndarray]:
    """Microseconds of a state, and the qdd that a call gives."""
    timer, kept = made.with_name("timer"), made.with_name("state")
    if not timer.exists():
        subprocess.run(["gcc", "-O2", PARTS / "timer.c", "-o", timer, "-ldl"], check=True)
    np.concatenate(state).astype(float).tofile(kept)
    sizes = [str(len(state[0])), str(len(state[1]))]
    command = [timer, made, function, *sizes, kept, str(lanes)]
    took, *qdd = map(float, subprocess.run(command, check=True, capture_output=True).stdout.split())
    return took / lanes, np.array(qdd)


def batch(kernel: Any, state: list[np.ndarray]) -> float:
    """Microseconds of a state among STATES."""
    given = [np.tile(x, (STATES, 1)) for x in state]
    took = []
    for _ in range(15):
        start, calls = time.process_time(), 0
        while time.process_time() - start < 0.02:
            kernel(*given)
            calls += 1
        took.append((time.process_time() - start) / calls / STATES)
    return 1e6 * float(np.median(took))


def kernels(system: Any, way: str) -> Any:
    """Our kernel for a way: strict gain_abm, or the relaxed one with the fewest operations."""
    if way == "strict":
        return kkt.compile(system.graph, orderings.get("gain_abm"))
    made = [kkt.compile(system.graph, orderings.get(order), relaxed=True) for order in ("abm", "crbm")]
    return min(made, key=lambda kernel: len(kernel.straight))


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
    subprocess.run([program("generate", folder, "-lcasadi"), "model.txt", "peer.c"], cwd=folder, check=True)
    command = [program("native", folder), "model.txt", "state"]
    native = float(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)
    print(f"{name:8} Pinocchio's aba in C++ {native:7.3f} us")
    for way, flag in WAYS.items():
        kernel = kernels(system, way)
        kernel.export_c(folder / "ours.c", "ours")
        ours = [kernel.configuration(state.q), state.qd, state.tau]
        own, qdd = timed(library(folder / "ours.c", flag), "ours", ours)
        other, answer = timed(library(folder / "peer.c", flag), "aba", theirs)
        many = batch(kernel, ours), timed(library(folder / "peer.c", flag, lanes), "aba", theirs, lanes)[0]
        apart = np.abs(peer.theirs(qdd) - answer).max() / np.abs(answer).max()
        speed = len(kernel.straight) / 1e3
        print(
            f"{name:8} {kernel.order:9} {way:8} one state {own:6.3f} us, CasADi {other:6.3f}, "
            f"ratio {own / other:4.2f}; batch {many[0]:6.4f} us, CasADi {many[1]:6.4f}, "
            f"ratio {many[0] / many[1]:4.2f}; {speed / own:4.1f} and {speed / many[0]:5.1f} Gop/s; "
            f"apart {apart:.0e}",
            flush=True,
        )


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
