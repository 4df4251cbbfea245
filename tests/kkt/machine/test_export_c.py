"""The C that a kernel writes: no warnings, the same bits, and one sentence for what cannot be."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from helpers import ALL_JOINTS, ROOT

from pivotree import kkt, orderings
from pivotree.analysis.cli import main

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror -O2 -ffp-contract=off"
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")


def compiled(compiler, source, flags=STRICT):
    library = source.with_suffix(".so")
    told = subprocess.run(
        [compiler, *flags.split(), "-shared", "-fPIC", str(source), "-o", str(library), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    return library, told


def called(library, name, arrays, sizes, dtype):
    """The outputs of the C function, one after another, and what it returns."""
    outs = [np.full(size, np.nan, dtype=dtype) for size in sizes]
    function = getattr(ctypes.CDLL(str(library)), name)
    given = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *outs)]
    return function(*given), np.concatenate(outs)


def geared(tree):
    """With armature, damping and springs."""
    for i, (_, data) in enumerate(tree.nodes(data=True)):
        data |= {"armature": 0.1 * i, "damping": 0.3, "stiffness": 2.0 * i, "rest": 0.1}
    return tree


FOOT = kkt.contact("b5", (0.1, 0, 0.2), tangents=[(1, 0, 0)], compliance=1e-3)
HAND = kkt.contact("j2", (0.1, 0, 0.2), compliance=1e-3)
CLOSED = ("qdd", "lambda", "dqdd_dq", "dlambda_dq", "dlambda_dqd", "dlambda_dtau")
CASES = [
    ("abm", "float64", {}, kkt.random_tree(5, 1, joints=ALL_JOINTS)),
    ("square_root_abm", "float32", {"outputs": ("f", "qdd")}, kkt.random_tree(4, 2)),
    ("crbm", "float64", {"outputs": ("qdd", "inertia"), "solver": "cholesky"}, kkt.chain(4)),
    ("abm", "float64", {"outputs": ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")}, kkt.chain(2)),
    ("crbm", "float32", {"inputs": ("wrench",), "outputs": ("pdd",)}, kkt.random_tree(6, 4)),
    ("abm", "float64", {}, geared(kkt.random_tree(6, 4, joints="revolute"))),
    ("abm", "float64", {"outputs": ("qdd", "lambda"), "loops": [FOOT]}, kkt.random_tree(6, 4)),
    ("closed_early", "float32", {"outputs": ("lambda",)}, kkt.load("four_bar")),
    ("abm", "float64", {"outputs": CLOSED}, kkt.load("four_bar")),
    ("crbm", "float32", {"outputs": CLOSED, "loops": [HAND]}, kkt.chain(2)),
]


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("order", "format", "options", "tree"), CASES)
def test_c_has_the_bits_of_the_kernel(order, format, options, tree, compiler, tmp_path):
    kernel = kkt.compile(tree, orderings.get(order), format, **options)
    source, header = kernel.export_c(tmp_path / "robot-1.c", "robot")
    assert f"ROBOT_NX {kernel.nx}\n" in header.read_text()
    library, told = compiled(compiler, source)
    assert told.returncode == 0 and not told.stderr
    draw = np.random.default_rng(0)
    sizes = [kernel.fields.size_of(output) for output in kernel.outputs]
    for _ in range(3):
        arrays = [draw.normal(size=s).astype(format) for s in kernel.fields.given.values()]
        arrays[0] = (kernel.configuration() + 0.2 * arrays[0]).astype(format)
        code, got = called(library, "robot", arrays, sizes, format)
        expected = kernel(*arrays)
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert code == 0
        assert np.array_equal(got, np.concatenate([v.ravel() for v in expected]))
    arrays[1][0] = np.inf
    assert called(library, "robot", arrays, sizes, format)[0] == 1


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
def test_flags_that_change_bits_are_refused_or_harmless(compiler, tmp_path):
    kernel = kkt.compile(kkt.chain(7), orderings.get("abm"))
    source, _ = kernel.export_c(tmp_path / "arm.c", "arm")
    assert "without -ffast-math" in compiled(compiler, source, "-O2 -ffast-math")[1].stderr
    draw = np.random.default_rng(1).normal(size=(3, 7))
    for flags in ("-std=gnu11 -O3 -march=native", "-std=c99 -O3 -march=native", "-O0"):
        library, told = compiled(compiler, source, flags)
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
    assert main(["export", "chain:3", "--order", "abm", "--c", "--name", "arm", "-o", source]) == 0
    assert "arm.h" in capsys.readouterr().out
    command = [COMPILERS[0], *STRICT.split(), "main.c", "arm.c", "-o", "run", "-lm"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    printed = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout
    kernel = kkt.compile(kkt.chain(3), orderings.get("abm"))
    assert [float(line) for line in printed.split()] == kernel(np.zeros(3), np.zeros(3)).tolist()


def test_names_that_c_cannot_have(tmp_path):
    tree = kkt.chain(2)
    tree.graph["name"] = "7 */ arms??/"
    kernel = kkt.compile(tree, orderings.get("abm"))
    source, header = kernel.export_c(tmp_path / "a.c")
    assert "int model_7_arms_abm(" in header.read_text()
    text = source.read_text() + header.read_text()
    assert text.count("/*") == text.count("*/") and "??" not in text
    for name in ("double", "7", "a b", "é", "", 7):
        with pytest.raises(kkt.ModelError, match="cannot name a function in C"):
            kernel.export_c(tmp_path / "b.c", name)
    for path in ("b.h", 'b".c', "b"):
        with pytest.raises(kkt.ModelError, match=r"give FILE\.c"):
            kernel.export_c(tmp_path / path)
    with pytest.raises(kkt.ModelError, match=r"export: 3 is no path; give FILE\.c"):
        kernel.export_c(3)
    with pytest.raises(kkt.FormatError, match="C has no bfloat16"):
        kkt.compile(tree, orderings.get("abm"), "bfloat16").export_c(tmp_path / "b.c")
    assert {path.name for path in tmp_path.iterdir()} == {"a.c", "a.h"}


def test_the_command_refuses_in_one_line(tmp_path, capsys):
    for arguments, told in (
        (["--format", "bfloat16"], "C has no bfloat16"),
        (["--outputs", "qd"], "did you mean qdd"),
        (["--order", "amb"], "abm"),
    ):
        path = str(tmp_path / "x.c")
        assert main(["export", "chain:2", "--c", "-o", path, *arguments]) == 2
        assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
