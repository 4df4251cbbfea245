"""Our exported C beside the C that CasADi generates of Pinocchio's aba: microseconds of one state.

    python benchmarks/generated.py [ROBOT ...]

It needs g++, gcc and the wheels pin, casadi and cmeel-eigen.  The generator is compiled once, which takes
minutes, and kept in the folder of temporary files.  "strict" is -O3 -march=native -ffp-contract=off, and
"fused" the same with -ffp-contract=fast.  Times are medians of 15 rounds of one state's call in C.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from pivotree import kkt, orderings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "peers"))
WAYS = {"strict": "-ffp-contract=off", "fused": "-ffp-contract=fast"}


def generator(folder: Path) -> Path:
    """The program that writes C of a model, compiled with the wheels' headers."""
    made = folder / "generate"
    if not made.exists():
        places = [Path(importlib.util.find_spec(name).origin).parents[1] for name in ("pinocchio", "casadi")]
        site = next(up for up in places[0].parents if (up / "cmeel.prefix").is_dir())
        prefix, casadi = site / "cmeel.prefix", places[1] / "casadi"
        include = [prefix / "include", prefix / "include" / "eigen3", casadi / "include"]
        flags = ["-std=c++17", "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
        linked = [f"-L{x}" for x in (prefix / "lib", casadi)] + [f"-Wl,-rpath,{prefix / 'lib'}:{casadi}"]
        linked += ["-lpinocchio_default", "-lboost_serialization", "-lcasadi"]
        source = HERE / "generated" / "generate.cpp"
        command = ["g++", *flags, *(f"-I{x}" for x in include), source, "-o", made, *linked]
        subprocess.run(command, check=True)
    return made


def timed(
    folder: Path, source: Path, function: str, flag: str, state: list[np.ndarray]
) -> tuple[float, np.ndarray]:
    """Microseconds of a call, and the qdd that it gives."""
    library, timer = source.with_suffix(".so"), folder / "timer"
    build = ["-O3", "-march=native", "-DCONTRACTION_OFF", flag, "-shared", "-fPIC"]
    subprocess.run(["gcc", *build, source, "-o", library, "-lm"], check=True)
    subprocess.run(["gcc", "-O2", HERE / "generated" / "timer.c", "-o", timer, "-ldl"], check=True)
    np.concatenate(state).astype(float).tofile(folder / "state")
    sizes = [str(len(state[0])), str(len(state[1]))]
    told = subprocess.run(
        [timer, library, function, *sizes, folder / "state"], check=True, capture_output=True
    )
    took, *qdd = map(float, told.stdout.split())
    return took, np.array(qdd)


def main() -> None:
    import pinocchio_peer
    from random_states import random_state, robots

    folder = Path(tempfile.gettempdir()) / "pivotree-generated"
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or ("ur5", "panda", "talos"):
        system, peer = pinocchio_peer.read_pair(robots()[name], False, True)
        state = random_state(system, 0, forces=False)
        peer.model.saveToText(str(folder / "model.txt"))
        subprocess.run([generator(folder), "model.txt", "peer.c"], cwd=folder, check=True)
        theirs = [peer.q(state.q), peer.theirs(state.qd), peer.theirs(state.tau)]
        for order in ("abm", "gain_abm"):
            kernel = kkt.compile(system.graph, orderings.get(order))
            kernel.export_c(folder / "ours.c", "ours")
            ours = [kernel.configuration(state.q), state.qd, state.tau]
            for way, flag in WAYS.items():
                other, answer = timed(folder, folder / "peer.c", "aba", flag, theirs)
                own, qdd = timed(folder, folder / "ours.c", "ours", flag, ours)
                apart = np.abs(peer.theirs(qdd) - answer).max() / np.abs(answer).max()
                print(
                    f"{name:8} {order:9} {way:7} ours {own:7.3f} us, CasADi {other:7.3f} us, "
                    f"ratio {own / other:5.2f}, apart {apart:.0e}"
                )


if __name__ == "__main__":
    main()
