"""The C of a robot on words, run on many states: bit for bit against the emulation, errors, time.

    python benchmarks/fixed_point.py robot:ur5 robot:panda --states 100000

Compiles what ``pivotree export --format fixed32`` writes with the system's cc.  Every qdd must have
the emulation's bits, nothing may leave its word, and pivots and qdd are held against double-double
on the same words, beside what is proved.  Prints one JSON line a robot.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.guarantee.fixed import drawn, play
from pivotree.kkt import FixedPoint
from pivotree.kkt.machine.integer_c import CONSTANT, ends_of, inputs_of

STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror -O2 -shared -fPIC"


def compiled(found: FixedPoint, folder: Path, compiler: str = "cc") -> ctypes._CFuncPtr:
    """The function of a program on words, from the C that is written for it."""
    source, _ = kkt.export_fixed(found, folder / "arm.c", "arm")
    library = source.with_suffix(".so")
    subprocess.run([compiler, *STRICT.split(), str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).arm


def called(function: ctypes._CFuncPtr, x: np.ndarray, N: int) -> tuple[np.ndarray, int]:
    """(m, N) results on inputs (m, p), and how many were refused."""
    out, refused = np.zeros((len(x), N), dtype=np.int32), 0
    x = np.ascontiguousarray(x, dtype=np.int32)
    for given, made in zip(x, out, strict=True):
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (given, made))
        refused += function(*pointers)
    return out, refused


def run(name: str, bits: int, states: int, compiler: str) -> dict:
    tree = kkt.load(name, merge_fixed=True)
    found = kkt.fixed_point(tree, orderings.get("abm"), bits)
    if found.words is None:
        return {"model": name, "why": found.why}
    words = found.words
    varies = np.array([entry.letter not in CONSTANT for entry in inputs_of(found)])
    ends = np.array(ends_of(found)[0])
    same = left = refused = 0
    pivot, joint, spent = 0.0, np.zeros(len(ends)), 0.0
    with tempfile.TemporaryDirectory() as folder:
        function = compiled(found, Path(folder), compiler)
        for order, entries in drawn(found, states):
            values = order.values_of(entries)
            given = words.words(values)
            emulated, _ = words.play(given)
            start = time.perf_counter()
            made, wrong = called(function, given[:, varies], len(ends))
            spent += time.perf_counter() - start
            own = np.sign(ends) * emulated[:, np.abs(ends)]
            same, refused = same + int((made == own).all(axis=1).sum()), refused + wrong
            seen = play(found, order, values)
            left, pivot = left + seen.overflows, max(pivot, seen.pivot)
            joint = np.maximum(joint, np.abs(seen.qdd).max(axis=0))
    return {
        "model": name,
        "bits": bits,
        "operations": len(words.op),
        "states": states,
        "same_bits": same,
        "refused": refused,
        "left_their_word": left,
        "pivot": [pivot, float(found.pivot.max())],
        "worst_joint": [float(np.max(joint / found.qdd.joint)), float(found.qdd.joint.max())],
        "microseconds_with_the_call": 1e6 * spent / states,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--compiler", default="cc")
    options = parser.parse_args()
    for model in options.models:
        sys.stdout.write(json.dumps(run(model, options.bits, options.states, options.compiler)))
        sys.stdout.write("\n")
