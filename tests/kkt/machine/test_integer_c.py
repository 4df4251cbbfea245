"""The C that is written for words: no warnings, the emulation's bits, one sentence for refusals."""

import shutil
import sys

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.kkt.machine.integer_c import CONSTANT, ends_of, inputs_of

sys.path.insert(0, str(ROOT / "benchmarks"))
from fixed_point import called, compiled, run
from guarantee import drawn, single

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")


@needs_compiler
def test_the_file_has_the_bits_of_the_emulation():
    found = run("chain:3", 32, 300, COMPILERS[0])
    assert found["same_bits"] == 300 and not found["refused"] and not found["left_their_word"]
    assert found["pivot"][0] < found["pivot"][1] and found["worst_joint"][0] < 1.0


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("seed", "bits"), [(9, 32), (36, 24), (59, 32), (160, 16)])
def test_hostile_trees_with_slides_and_rotors(seed, bits, compiler, tmp_path):
    found = kkt.fixed_point(single(drawn(seed, 4)), orderings.get("abm"), bits)
    assert not found.why
    words = found.words
    given = words.words(np.array([entry.value for entry in inputs_of(found)]))[None]
    emulated, beyond = words.play(given)
    assert beyond[0] == len(words.op)
    varies = np.array([entry.letter not in CONSTANT for entry in inputs_of(found)])
    ends, _ = ends_of(found)
    made, refused = called(compiled(found, tmp_path, compiler), given[:, varies], len(ends))
    assert not refused
    assert made[0].tolist() == [int(np.sign(v)) * int(emulated[0, abs(v)]) for v in ends]


@needs_compiler
def test_an_entry_that_is_too_large_is_refused(tmp_path):
    found = kkt.fixed_point(kkt.chain(2), orderings.get("abm"))
    varies = [entry for entry in inputs_of(found) if entry.letter not in CONSTANT]
    function = compiled(found, tmp_path, COMPILERS[0])
    x = np.zeros((2, len(varies)), dtype=np.int64)
    x[1, -1] = found.words.top  # an effort
    assert [called(function, one[None], 2)[1] for one in x] == [0, 1]


def test_the_header_names_every_entry_and_its_binary_point(tmp_path):
    found = kkt.fixed_point(kkt.chain(2), orderings.get("abm"), 24)
    _, header = kkt.export_fixed(found, tmp_path / "arm.c")
    told = header.read_text()
    varies = [entry for entry in inputs_of(found) if entry.letter not in CONSTANT]
    for i, entry in enumerate(varies):
        assert f"x[{i}]  {entry}, {entry.point}\n" in told
    assert f"INPUTS {len(varies)}\n" in told and "int chain_2_fixed24(const int32_t" in told


@pytest.mark.parametrize(
    "asked, says",
    [
        (["quadruped"], "nothing is promised: joint trunk: floating, and only joints of one"),
        (["chain:2", "--order", "crbm"], "binary points are proved for abm alone, not for crbm"),
        (["chain:2", "--outputs", "pdd"], "qdd as its only output and takes no wrenches"),
        (["chain:2", "--name", "int"], "'int' cannot name a function in C"),
        (["chain:2", "--format", "fixed33"], "33 bits are no length of a word; use 8 to 32"),
    ],
)
def test_bad_input_is_one_sentence(asked, says, tmp_path, capsys):
    asked = asked if "--format" in asked else [*asked, "--format", "fixed32"]
    assert main(["export", *asked, "-o", str(tmp_path / "arm.c")]) == 2
    told = capsys.readouterr().err
    assert says in told and "Traceback" not in told
    assert not list(tmp_path.iterdir())
