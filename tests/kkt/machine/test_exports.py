"""C and CUDA that kernels write: no warnings, the same bits, one sentence for refusals."""

import ctypes
import re
import shutil
import subprocess
from functools import partial

import numpy as np
import pytest
from armature import with_terms
from designs import covering, listed
from helpers import ALL_JOINTS, ROOT
from machine_kernels import ABM, COMPILERS, STRICT, built, called, needs_compiler, whole

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.kkt.model.joints import TYPES

FOOT = kkt.contact("b2", (0.1, 0, 0.2), tangents=[(1, 0, 0)], compliance=1e-3)
HAND = kkt.contact("j2", (0.1, 0, 0.2), compliance=1e-3)
CLOSED = ("qdd", "lambda", "dqdd_dq", "dlambda_dq", "dlambda_dqd", "dlambda_dtau")
GEARED = with_terms(kkt.random_tree(3, 4, joints="revolute"), 3)
for _, data in GEARED.nodes(data=True):
    data.pop("friction")  # no kernel has it
CASES = {
    "derivatives": ("abm", "float64", {"outputs": ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")}, kkt.chain(2)),
    "lambda": ("closed_early", "float32", {"outputs": ("lambda",)}, kkt.load("four_bar")),
    "inertia": ("crbm", "float64", {"outputs": ("qdd", "inertia"), "solver": "cholesky"}, kkt.chain(4)),
    "closed": ("abm", "float64", {"outputs": CLOSED}, kkt.load("four_bar")),
    "closed softly": ("crbm", "float32", {"outputs": CLOSED, "loops": [HAND]}, kkt.chain(2)),
    "every joint": ("abm", "float64", {}, kkt.random_tree(2, 1, joints=ALL_JOINTS)),
    "rotations": ("square_root_abm", "float32", {"outputs": ("f", "qdd")}, kkt.random_tree(3, 2)),
    "contact": ("abm", "float64", {"outputs": ("qdd", "lambda"), "loops": [FOOT]}, kkt.random_tree(3, 4)),
    "wrenches": ("crbm", "float32", {"inputs": ("wrench",), "outputs": ("pdd",)}, kkt.random_tree(3, 4)),
    "terms of joints": ("abm", "float64", {}, GEARED),
    "relaxed": ("abm", "float64", {"relaxed": True}, GEARED),
}


@needs_compiler
@pytest.mark.parametrize(("name", "compiler"), covering(CASES, COMPILERS or ["none"], unmarked=1))
def test_c_has_the_bits_of_the_kernel(name, compiler, tmp_path):
    order, format, options, tree = CASES[name]
    kernel = kkt.compile(tree, orderings.get(order), format, **options)
    source, header = kernel.export_c(tmp_path / "robot-1.c", "robot")
    assert f"ROBOT_NX {kernel.nx}\n" in header.read_text()
    library, told = built(compiler, source)
    assert told.returncode == 0 and not told.stderr
    draw = np.random.default_rng(0)
    sizes = [kernel.fields.size_of(output) for output in kernel.outputs]
    for _ in range(3):
        arrays = [draw.normal(size=s).astype(format) for s in kernel.fields.given.values()]
        arrays[0] = (kernel.configuration() + 0.2 * arrays[0]).astype(format)
        code, got = called(library, "robot", arrays, sizes, format)
        expected = whole(kernel(*arrays), 1)[0]
        same = kernel.relaxed and np.abs(got - expected).max() <= 1e-13 * np.abs(expected).max()
        assert code == 0 and (same or np.array_equal(got, expected))
    arrays[1][0] = np.inf
    assert called(library, "robot", arrays, sizes, format)[0] == 1


@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
def test_flags_that_change_bits_are_refused_or_harmless(compiler, tmp_path):
    kernel = kkt.compile(kkt.chain(7), ABM)
    source, _ = kernel.export_c(tmp_path / "arm.c", "arm")
    assert "without -ffast-math" in built(compiler, source, "-O2 -ffast-math")[1].stderr
    draw = np.random.default_rng(1).normal(size=(3, 7))
    for flags in ("-std=gnu11 -O3 -march=native", "-std=c99 -O3 -march=native", "-O0"):
        library, told = built(compiler, source, flags)
        if told.returncode:
            assert "fuses operations" in told.stderr and "gnu" in flags
            continue
        assert np.array_equal(called(library, "arm", draw, [7], float)[1], kernel(*draw))
        library.unlink()


@needs_compiler
def test_the_page_s_program_runs(tmp_path, capsys):
    page = (ROOT / "docs" / "machine.md").read_text()
    (tmp_path / "main.c").write_text(re.search(r"```c\n(.*?)```", page, re.S)[1])
    source = str(tmp_path / "arm.c")
    assert main(["export", "chain:3", "--order", "abm", "--name", "arm", "-o", source]) == 0
    assert "arm.h" in capsys.readouterr().out
    command = [COMPILERS[0], *STRICT.split(), "main.c", "arm.c", "-o", "run", "-lm"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    printed = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout
    kernel = kkt.compile(kkt.chain(3), ABM)
    assert [float(line) for line in printed.split()] == kernel(np.zeros(3), np.zeros(3)).tolist()


def test_names_that_c_cannot_have(tmp_path):
    tree = kkt.chain(2)
    tree.graph["name"] = "7 */ arms??/"
    kernel = kkt.compile(tree, ABM)
    source, header = kernel.export_c(tmp_path / "a.c")
    assert "int model_7_arms_abm(" in header.read_text()
    text = source.read_text() + header.read_text()
    assert text.count("/*") == text.count("*/") and "??" not in text
    for name in ("double", "7", "a b", "é", "", 7):
        with pytest.raises(kkt.ModelError, match="cannot name a function in C"):
            kernel.export_c(tmp_path / "b.c", name)
    paths = {"b.h": r"give FILE\.c", "b": r"give FILE\.c", 'b".c': "cannot be included by a program in C"}
    for path, told in paths.items():
        with pytest.raises(kkt.ModelError, match=told):
            kernel.export_c(tmp_path / path)
    with pytest.raises(kkt.ModelError, match=r"export: 3 is no path; give FILE\.c"):
        kernel.export_c(3)
    for options, told in (
        ({"format": "bfloat16"}, "export: C has no bfloat16; compile in float64 or float32"),
        ({"check": True}, "C has no status"),
    ):
        with pytest.raises(kkt.PivotreeError, match=told):
            kkt.compile(tree, ABM, **options).export_c(tmp_path / "b.c")
    assert {path.name for path in tmp_path.iterdir()} == {"a.c", "a.h"}


# -- CUDA -----------------------------------------------------------------------------------------

THREADS = 4  # of a block
HOST = """
#include <math.h>
#define __global__
#define __device__
#define __noinline__
static struct { unsigned x; } blockIdx, threadIdx, blockDim = {THREADS};
extern "C" void at(int s) { blockIdx.x = s / THREADS; threadIdx.x = s % THREADS; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
"""
for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
    for kind in ("double", "float"):
        HOST += f"static inline {kind} __{kind[0]}{name}_rn({kind} a, {kind} b) {{ return a {sign} b; }}\n"
CUDA_CASES = {
    "derivatives": ("abm", "float32", {"outputs": ("dqdd_dq", "dqdd_dtau")}, kkt.chain(2)),
    **{name: CASES[name] for name in ("rotations", "contact")},
}


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
@pytest.mark.parametrize("name", listed(CUDA_CASES, unmarked=1))
def test_threads_of_cuda_have_the_bits_of_the_kernel(name, tmp_path):
    """On the host, where a device's operations are functions that round once, as CUDA says."""
    order, format, options, tree = CUDA_CASES[name]
    kernel = kkt.compile(tree, orderings.get(order), format, **options)
    source = kernel.export_cuda(tmp_path / "robot.cu", "robot")
    (tmp_path / "host.h").write_text(HOST.replace("THREADS", str(THREADS)))
    strict = f"-std=c++17 -O0 -ffp-contract=off -Wall -Wextra -Werror -include {tmp_path / 'host.h'} -x c++"
    library, told = built("g++", source, strict)
    assert told.returncode == 0, told.stderr[-2000:]
    states, threads = 7, 8  # one thread too many
    draw = np.random.default_rng(0)
    given = [draw.normal(size=(states, *shape)).astype(format) for shape in kernel.fields.given.values()]
    given[0] = (kernel.configuration() + 0.2 * given[0]).astype(format)
    expected = kernel(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    given[1][3, 0] = np.nan
    arrays = [np.ascontiguousarray(a.reshape(states, -1).T) for a in given]
    sizes = [kernel.fields.size_of(output) for output in kernel.outputs]
    results = [np.full((size, states), 7.0, dtype=format) for size in sizes]
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


def test_functions_of_a_long_program_are_called_and_not_inlined(tmp_path, monkeypatch):
    kernel = kkt.compile(kkt.chain(2), ABM)
    free = kernel.export_cuda(tmp_path / "robot.cu", "robot").read_text()
    monkeypatch.setattr("pivotree.kkt.machine.portable.INLINED", 100)
    called = kernel.export_cuda(tmp_path / "robot.cu", "robot").read_text()
    assert "static __device__ void piece0" in free and "static __device__ __noinline__ void piece0" in called
    assert called.replace("__noinline__ ", "") == free


# -- every joint, every output --------------------------------------------------------------------

SCREW = np.array([[0, 0, 1, 0, 0, 0.1]]).T
CYLINDER = np.array([[0, 0.6, 0.8, 0, 0, 0], [0, 0, 0, 0, 0.6, 0.8]]).T
SLOPES = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
PLAIN = ("qdd", "pdd", "f")


def on(joint, **more):
    """Two pucks on joints of one kind: zeros in their inertia, so that constants are folded."""
    tree, kind = kkt.new_tree("puck"), TYPES.get(joint)
    if kind is not None and kind.axes == 2:
        more["axis"] = ((1, 0, 0), (0, 0.6, 0.8))
    for name, parent in (("lower", None), ("upper", "lower")):
        puck = {"mass": 1.0, "com": (0.1, 0.2, 0.0), "inertia": 0.1 * np.eye(3), "p": (0.3, 0.0, 0.0)}
        kkt.add_body(tree, name, parent, joint=joint, **puck, **more)
    return tree


EACH = {name: partial(on, name) for name in TYPES if name != "fixed"}
EACH |= {
    "fixed": lambda: kkt.random_tree(3, 1, joints="fixed+revolute"),
    "helical": lambda: on("general", S=SCREW),
    "general": lambda: on("general", S=CYLINDER),
    "four_bar": lambda: kkt.load("four_bar"),
    "gripper": lambda: kkt.load("gripper"),
    "contact": lambda: with_loops(on("revolute"), [kkt.contact("upper", (0.1, 0, 0.2), compliance=1e-3)]),
}


def with_loops(tree, loops):
    tree.graph["loops"] = loops
    return tree


def written(folder, joint, format, dialect):
    """Every output of a robot in one language: by abm, and by crbm, which leaves the inertia."""
    tree, wrench = EACH[joint](), {"inputs": ("wrench",)}
    closed = ("lambda", *(x.replace("qdd", "lambda") for x in SLOPES)) if tree.graph.get("loops") else ()
    asked = {"plain": (PLAIN + closed[:1], wrench), "slopes": (SLOPES + closed[1:], {})}
    for name, (outputs, more) in asked.items():
        kernel = kkt.compile(tree, ABM, format, outputs=outputs, **more)
        getattr(kernel, f"export_{dialect}")(folder / f"{joint}_{name}.{EXTENSIONS[dialect]}")
    if not closed:
        kernel = kkt.compile(tree, orderings.get("crbm"), format, outputs=("qdd", "inertia"))
        getattr(kernel, f"export_{dialect}")(folder / f"{joint}_inertia.{EXTENSIONS[dialect]}")


EXTENSIONS = {"c": "c", "cuda": "cu"}
CHECKED = {
    "c": "gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only",
    "cuda": "g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -include host.h -x c++",
}


@pytest.mark.parametrize(("joint", "dialect"), covering(EACH, EXTENSIONS))
def test_every_output_of_every_joint_is_a_program(joint, dialect, tmp_path):
    """A negated negative constant of a planar joint was written --0x, and no compiler took it."""
    compiler, *flags = CHECKED[dialect].split()
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    written(tmp_path, joint, "float64" if dialect == "c" else "float32", dialect)
    (tmp_path / "host.h").write_text(HOST.replace("THREADS", str(THREADS)))
    files = sorted(path.name for path in tmp_path.glob(f"*.{EXTENSIONS[dialect]}"))
    command = [compiler, *flags, *files]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert len(files) >= 2 and told.returncode == 0 and not told.stderr, told.stderr[-2000:]


def test_a_file_too_long_is_refused(tmp_path, monkeypatch):
    for user in ("kernel", "portable"):
        monkeypatch.setattr(f"pivotree.kkt.machine.{user}.LONGEST", 1000)
    kernel = kkt.compile(kkt.chain(5), ABM)
    with pytest.raises(kkt.PivotreeError, match="operations, more than"):
        kernel.export_c(tmp_path / "a.c")
    with pytest.raises(kkt.PivotreeError, match="operations, more than"):
        kernel.export_cuda(tmp_path / "a.cu")
    assert not list(tmp_path.iterdir())
    assert kernel.how.startswith("interpreted")
