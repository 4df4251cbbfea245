"""Programs rolled up: the bits of the straight line, and code that does not grow with the tree."""

import dataclasses

import numpy as np
import pytest
from designs import listed
from helpers import ALL_JOINTS
from machine_kernels import ABM, COMPILERS, built, called, needs_compiler, plain, states

from pivotree import kkt, orderings
from pivotree.kkt.machine import forward_dynamics, native, programs, trigonometry
from pivotree.kkt.machine.native import compiled
from pivotree.kkt.machine.rolled import rolled, segments_of

TREES = {
    "chain": lambda: kkt.chain(9),
    "comb": lambda: kkt.comb(5),
    "random": lambda: kkt.random_tree(4, 1, joints=ALL_JOINTS),
    "revolute": lambda: kkt.random_tree(4, 2, joints="revolute"),
}
CASES = [
    ("revolute", "abm", "float64"),
    ("comb", "bad_abm", "float32"),
    ("chain", "square_root_abm", "float64"),
    ("random", "crbm", "float32"),
]


@pytest.mark.parametrize(("tree", "order", "format"), listed(CASES, unmarked=1))
def test_rolled_code_has_the_bits_of_the_straight_line(tree, order, format):
    kernel = kkt.compile(TREES[tree](), orderings.get(order), format, outputs=("qdd", "f"))
    program = rolled(kernel.straight, longest=300)
    assert program.length == len(kernel.straight) and program.outputs == len(kernel.straight.outputs)
    arrays = states(kernel, 2 * kernel.lanes + 3)
    expected = plain(kernel, *arrays)
    assert np.isfinite(expected).all()
    again = type(program).from_arrays(program.arrays())
    for lanes, code in ((1, program), (kernel.lanes, again)):
        out = np.empty_like(expected)
        machine = compiled(code, kernel.number.dtype, lanes, kernel.fields.sizes)
        assert machine.run(arrays, out) and np.array_equal(out, expected)
    arrays[1][3, 0] = np.nan
    assert not machine.run(arrays, out)


@pytest.fixture(scope="module")
def chains():
    return [kkt.compile(kkt.chain(n), ABM) for n in (100, 160)]


@pytest.mark.product
def test_code_does_not_grow_with_a_chain(chains):
    small, large = (kernel.rolled for kernel in chains)
    assert len(small.functions) == len(large.functions) <= 20
    assert small.code == large.code <= 5000 < 40_000 < small.length
    assert len(small.runs) == len(large.runs) < 20  # bodies are passed in loops
    bodies = large.calls - small.calls
    assert bodies % 30 == 0 and large.rows - small.rows <= 40 * 60
    assert f"{small.code:,} operations called {small.calls} times" in chains[0].how


@pytest.mark.product
def test_batches_and_threads_keep_the_bits(chains, monkeypatch):
    kernel = chains[0]
    monkeypatch.setattr(native, "SHARE", 1)
    arrays = states(kernel, 41)
    many = kernel(*arrays)
    assert np.array_equal(kernel(*arrays, threads=3), many)
    assert np.array_equal(kernel(*(a[5] for a in arrays)), many[5])
    assert np.array_equal(many[:2], plain(kernel, *(a[:2] for a in arrays)))
    arrays[0][7, 3] = np.inf
    with pytest.raises(kkt.ModelError, match="state 7"):
        kernel(*arrays)


@pytest.mark.product
def test_bodies_that_differ_by_numbers_share_their_code():
    """Masses, poses and axes of all signs: what is drawn for a body is data."""
    kernel = kkt.compile(kkt.random_tree(40, 0, joints="revolute"), ABM)
    assert kernel.rolled is not None and kernel.rolled.code < 0.5 * kernel.rolled.length
    arrays = states(kernel, 2)
    assert np.array_equal(kernel(*arrays), plain(kernel, *arrays))


def test_what_was_rolled_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PIVOTREE_CACHE", str(tmp_path))
    monkeypatch.setattr(programs, "SAVED", 1000)
    kernel = kkt.compile(kkt.chain(30), ABM, "float32")
    assert kernel.rolled is not None
    x, qd, tau = states(kernel, 5)
    first = kernel(x, qd, tau)
    entries = set(tmp_path.iterdir())

    def refuse(*_):
        raise AssertionError("made again")

    for place in (programs, "rolled"), (programs, "tape_of"), (native, "rolled_source"):
        monkeypatch.setattr(*place, refuse)
    again = kkt.compile(kkt.chain(30), ABM, "float32")
    assert np.array_equal(again(x, qd, tau), first) and set(tmp_path.iterdir()) == entries


def test_what_repeats_little_stays_a_straight_line():
    kernel = kkt.compile(kkt.random_tree(12, 5), ABM)
    assert len(kernel.straight) > programs.SAVED
    assert len(kernel.straight) - rolled(kernel.straight).code < programs.SAVED
    assert kernel.rolled is None and "functions" not in kernel.how


def test_segments_are_cut_where_the_operations_say_so():
    kernel = kkt.compile(kkt.chain(30), ABM)
    found = segments_of(kernel.straight, 700)
    length = np.diff(found.start)
    assert found.start[0] == 0 and found.start[-1] == len(kernel.straight)
    assert (length > 0).all() and (length <= 700).all()
    for kind in np.unique(found.kind):  # of one kind: the same operations
        at = found.start[:-1][found.kind == kind]
        size = length[found.kind == kind]
        assert len(set(size.tolist())) == 1
        rows = kernel.straight.op[at[:, None] + np.arange(size[0])]
        assert (rows == rows[0]).all()
    none = dataclasses.replace(
        kernel.straight,
        op=kernel.straight.op[:0],
        a=kernel.straight.a[:0],
        b=kernel.straight.b[:0],
        outputs=np.array([0, -2, 1], dtype=np.int32),
    )
    program = rolled(none)
    out = np.empty((1, 3))
    zeros = [np.ones((1, size)) for size in kernel.fields.sizes]
    assert compiled(program, np.float64, 1, kernel.fields.sizes).run(zeros, out)
    assert out.tolist() == [[0.0, -1.0, 1.0]]


@pytest.mark.product
@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("format", [pytest.param("float64", marks=pytest.mark.soak), "float32"])
def test_c_is_a_loop_too(compiler, format, tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "SAVED", 1000)
    monkeypatch.setenv("PIVOTREE_CACHE", "off")
    length = {}
    for n in (14, 40):
        kernel = kkt.compile(kkt.chain(n), ABM, format, outputs=("qdd", "f"))
        source, _ = kernel.export_c(tmp_path / f"chain{n}.c", "chain")
        length[n] = source.read_text().count("static void piece"), source.stat().st_size
        library, told = built(compiler, source)
        assert told.returncode == 0 and not told.stderr
        arrays = states(kernel, 1)
        sizes = [kernel.fields.size_of(output) for output in kernel.outputs]
        code, got = called(library, "chain", arrays, sizes, format)
        assert code == 0 and np.array_equal(got, plain(kernel, *arrays)[0])
        arrays[1][0, 0] = np.inf
        assert called(library, "chain", arrays, sizes, format)[0] == 1
    assert length[14][0] == length[40][0] and length[40][1] < 1.5 * length[14][1]


class OneByOne:
    """In place of ``Replay``: each operation by the recorder's own method."""

    def __init__(self, recorder, _most):
        self.do = (recorder.add, recorder.sub, recorder.mul, recorder.div, recorder.sqrt)

    def run(self, chunk, place):
        for op, dst, a, b in zip(chunk.op, chunk.dst, chunk.a, chunk.b, strict=True):
            place[dst] = self.do[op](int(place[a]), int(place[b]))

    def done(self):
        pass


@pytest.mark.parametrize(
    ("tree", "order", "options"),
    [
        (kkt.random_tree(5, 1), "abm", {"format": "float32"}),  # leaves: constants fold
        (kkt.random_tree(5, 1), "abm", {"format": "bfloat16"}),  # its constants do not
        (kkt.chain(4), "crbm", {"solver": "cholesky"}),
        (kkt.chain(4), "square_root_abm", {}),
    ],
)
def test_compiled_recording_writes_the_same_program(tree, order, options, monkeypatch):
    monkeypatch.setenv("PIVOTREE_CACHE", "off")
    quick = kkt.compile(tree, orderings.get(order), **options)
    for module in (forward_dynamics, trigonometry):
        monkeypatch.setattr(module, "Replay", OneByOne)
    plain = kkt.compile(tree, orderings.get(order), **options)
    for one, two in ((plain.program, quick.program), (plain.straight, quick.straight)):
        for name in ("constants", "op", "a", "b", "outputs"):
            assert np.array_equal(getattr(one, name), getattr(two, name))


def test_a_file_too_long_is_refused(tmp_path, monkeypatch):
    for user in ("kernel", "portable"):
        monkeypatch.setattr(f"pivotree.kkt.machine.{user}.LONGEST", 1000)
    kernel = kkt.compile(kkt.chain(5), ABM)
    with pytest.raises(kkt.PivotreeError, match="operations that do not repeat"):
        kernel.export_c(tmp_path / "a.c")
    with pytest.raises(kkt.PivotreeError, match="operations that do not repeat"):
        kernel.export_cuda(tmp_path / "a.cu")
    assert not list(tmp_path.iterdir())
    assert kernel.how.startswith("interpreted")
