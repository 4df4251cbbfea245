"""The CUDA that a kernel writes: it compiles, and its operations have the bits of the kernel."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from helpers import ALL_JOINTS

from pivotree import kkt, orderings
from pivotree.analysis.cli import main

needs_compiler = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
FOOT = kkt.contact("b5", (0.1, 0, 0.2), tangents=[(1, 0, 0)], compliance=1e-3)
CASES = [
    ("abm", "float64", {}, kkt.random_tree(5, 1, joints=ALL_JOINTS)),
    ("square_root_abm", "float32", {"outputs": ("f", "qdd")}, kkt.random_tree(4, 2)),
    ("abm", "float32", {"outputs": ("dqdd_dq", "dqdd_dtau")}, kkt.chain(2)),
    ("abm", "float64", {}, kkt.chain(30)),  # rolled: functions and tables
    ("abm", "float64", {"outputs": ("qdd", "lambda"), "loops": [FOOT]}, kkt.random_tree(6, 4)),
]
STRICT = "-std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Werror -shared -fPIC"
THREADS = 4  # of a block
HOST = """
#include <math.h>
#define __global__
#define __device__
#define __noinline__
static struct { unsigned x; } blockIdx, threadIdx, blockDim = {THREADS};
extern "C" void at(int s) { blockIdx.x = s / THREADS; threadIdx.x = s % THREADS; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
"""


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize(("order", "format", "options", "tree"), CASES)
def test_threads_have_the_bits_of_the_kernel(order, format, options, tree, tmp_path):
    """On the host, where a device's operations are functions that round once, as CUDA says."""
    kernel = kkt.compile(tree, orderings.get(order), format, **options)
    source = kernel.export_cuda(tmp_path / "robot.cu", "robot")
    (tmp_path / "host.h").write_text(HOST.replace("THREADS", str(THREADS)))
    library = tmp_path / "robot.so"
    told = subprocess.run(
        [
            "g++",
            *STRICT.split(),
            "-include",
            str(tmp_path / "host.h"),
            "-x",
            "c++",
            str(source),
            "-o",
            str(library),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    states, threads = 7, 8  # one thread too many
    draw = np.random.default_rng(0)
    given = [draw.normal(size=(states, *shape)).astype(format) for shape in kernel.fields.given.values()]
    given[0] = (kernel.configuration() + 0.2 * given[0]).astype(format)
    expected = kernel(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    given[1][3, 0] = np.nan
    arrays = [np.ascontiguousarray(a.reshape(states, -1).T) for a in given]
    results = [
        np.full((kernel.fields.size_of(output), states), 7.0, dtype=format) for output in kernel.outputs
    ]
    failed = np.full(states, -1, dtype=np.int32)
    robot = ctypes.CDLL(str(library))
    for s in range(threads):
        robot.at(s)
        robot.robot(states, *(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results, failed)))
    assert failed.tolist() == [0, 0, 0, 1, 0, 0, 0]
    good = failed == 0
    for got, wanted in zip(results, expected, strict=True):
        assert np.array_equal(got.T[good], wanted.reshape(states, -1)[good])
        assert np.all(got.T[~good] == 7.0)  # not written


def test_what_cannot_be_written_is_told_in_one_line(tmp_path, capsys):
    for file, arguments, told in (
        ("x.c", [], "give FILE.cu"),
        ("x.cu", ["--name", "template"], "cannot name a function"),
        ("x.cu", ["--format", "bfloat16"], "CUDA has no bfloat16"),
        ("x.cu", ["--outputs", "qd"], "did you mean qdd"),
        ("x.cu", ["--c"], "not allowed with"),
    ):
        path = str(tmp_path / file)
        try:
            code = main(["export", "chain:2", "--cuda", "-o", path, *arguments])
        except SystemExit as error:  # as argparse ends
            code = error.code
        assert code == 2
        assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["export", "chain:2", "--cuda", "-o", str(tmp_path / "arm.cu")]) == 0
    assert "arm.cu (" in capsys.readouterr().out
