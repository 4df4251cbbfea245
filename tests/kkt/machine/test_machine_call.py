"""A compiled kernel called from Python: the same bits, nothing leaked or misread; what is refused."""

import gc
import pickle
import subprocess
import sys
import threading
import tracemalloc
import types
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from designs import listed
from helpers import ALL_JOINTS, ROOT, one_sentence
from machine_kernels import ABM, states

from pivotree import kkt, orderings
from pivotree.kkt.machine import builtin, native
from pivotree.kkt.machine.builtin import AT, known

TREE = kkt.random_tree(4, 3, joints=ALL_JOINTS)


@pytest.fixture(scope="module")
def kernel():
    """Both of its functions made: for one state, and for vectors of states."""
    kernel = kkt.compile(TREE, ABM)
    kernel.native(1), kernel.native(kernel.lanes)
    return kernel


def test_functions_are_built_in(kernel):
    one, many = kernel._calls
    assert known() and {type(one), type(many)} == {types.BuiltinFunctionType}
    x, qd, tau = states(kernel, 21)
    expected = kernel._states(x, qd, tau, None)
    for m in (1, kernel.lanes, 21):
        assert np.array_equal(many(x[:m], qd[:m], tau[:m], None), expected[:m])
    for i in range(21):
        found = one(x[i], qd[i], tau[i], None)
        assert np.array_equal(found, expected[i]) and type(found) is np.ndarray
        assert found.flags.owndata and found.flags.writeable and found.dtype == np.float64
    still = one(x[0], qd[0], None, None)
    assert np.array_equal(still, one(x[0], qd[0], np.zeros(kernel.N), None))
    assert np.array_equal(many(x, qd, None, None), many(x, qd, 0 * tau, None))


@pytest.mark.parametrize("format", ["float64", "float32"])
def test_wrenches_and_several_outputs(format):
    kernel = kkt.compile(TREE, ABM, format, outputs=("f", "qdd"), inputs=("wrench",))
    x, qd, tau = states(kernel, 5)
    wrench = np.random.default_rng(1).normal(size=(5, 4, 6)).astype(format)
    expected = kernel._states(x, qd, tau, wrench)
    for _ in range(2):
        assert all(map(np.array_equal, kernel(x, qd, tau, wrench), expected))
        for i in range(5):
            one = kernel(x[i], qd[i], tau[i], wrench[i])
            assert all(np.array_equal(a, b[i]) for a, b in zip(one, expected, strict=True))
    assert type(one) is tuple and all(a.flags.writeable for a in one)
    state = x[0], qd[0], tau[0]
    assert all(map(np.array_equal, kernel(*state), kernel(*state, 0 * wrench[0])))
    call = kernel.native(1).builtin([x.shape[1:], qd.shape[1:], tau.shape[1:], (4, 6)])
    _, zeros, *_ = call.__self__.kept
    assert zeros.size >= wrench[0].size  # what stands for a wrench that is None


def unaligned(array):
    room = np.zeros(array.nbytes + 1, dtype=np.uint8)
    moved = room[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


class Other(np.ndarray):
    """Not numpy's own type."""


def test_what_lies_otherwise_is_left_to_the_kernel(kernel):
    """Lists, other number types, strides, subclasses: None, and the same bits from the kernel."""
    x, qd, tau = (a[0] for a in states(kernel, 1))
    expected = kernel(x, qd, tau)
    other = (
        list,
        tuple,
        unaligned,
        lambda a: a.astype(">f8"),
        lambda a: np.stack([a, a], 1)[:, 0],
        lambda a: a[::-1].copy()[::-1],
        lambda a: a.view(Other),
        lambda a: a.astype(np.longdouble),
        lambda a: a.astype(object),
    )
    for change in other:
        for given in ((change(x), qd, tau), (x, change(qd), tau), (x, qd, change(tau))):
            assert [call(*given, None) for call in kernel._calls] == [None, None]
            assert np.array_equal(kernel(*given), expected)
    stored = pickle.loads(pickle.dumps((x, qd, tau)))  # number types are objects of their own
    assert stored[0].dtype is not x.dtype
    assert np.array_equal(kernel._calls[0](*stored, None), expected)
    fixed = x.copy()
    fixed.flags.writeable = False
    assert np.array_equal(kernel._calls[0](fixed, qd, tau, None), expected)
    assert np.array_equal(kernel._states(fixed, qd, tau, None), expected)


def test_what_is_wrong_is_refused_by_the_function(kernel):
    one, many = kernel._calls
    X, QD, TAU = states(kernel, 3)
    x, qd, tau = X[0], QD[0], TAU[0]
    wrong = [(), (x,), (x, qd, tau), (x, qd, tau, None, None), (None, qd, tau, None), (x, None, tau, None)]
    wrong += [(x, qd, tau, tau), (x, qd, tau, np.float64(1.0)), (x[1:], qd, tau, None)]
    wrong += [(x, qd[1:], tau, None), (x, float, one, None), (np.zeros(0), qd, tau, None)]
    wrong += [(x, qd, other, None) for other in (TAU, np.zeros(()), 1.0, "tau", tau * np.inf)]
    wrong += [(x * np.nan, qd, tau, None), (x.astype(np.float32), qd, tau, None)]
    wrong += [(X, QD, TAU, x), (X[:0], QD[:0], TAU[:0], None), (X, QD[:2], TAU, None), (X, QD, tau, None)]
    wrong += [(X[None], QD[None], TAU[None], None), (X, QD, TAU * np.inf, None), (X, QD, np.zeros(()), None)]
    for given in wrong:
        assert one(*given) is None and many(*given) is None
    with pytest.raises(TypeError, match="keyword"):
        one(x, qd, tau=tau)


def test_large_batches_do_not_hold_the_lock(kernel, monkeypatch):
    """Another thread, which waits for the lock, runs meanwhile; nothing else gives it away."""

    def runs_meanwhile(call):
        go, found = threading.Lock(), []
        with go:
            other = threading.Thread(target=lambda: (go.acquire(), found.append(1), go.release()))
            other.start()
        call(*given, None)
        seen = bool(found)
        other.join()
        return seen

    given = states(kernel, builtin.FEW)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        for held in (10**9, 1):
            monkeypatch.setattr(native, "HELD", held)
            call = kernel.native(kernel.lanes).builtin(list(kernel.fields.given.values()))
            assert any(runs_meanwhile(call) for _ in range(100)) == (held == 1)
    finally:
        sys.setswitchinterval(before)
    assert kernel._calls[1](*states(kernel, builtin.FEW + 1), None) is None  # there are no more zeros


@pytest.mark.parametrize("outputs", listed([(("qdd",),), (("qdd", "dqdd_dtau", "pdd"),)], unmarked=1))
def test_nothing_is_leaked(outputs):
    """References and memory, of what is taken and of what is not."""
    kernel = kkt.compile(TREE, ABM, outputs=outputs)
    kernel.native(1), kernel.native(kernel.lanes)
    X, QD, TAU = states(kernel, 9)
    x, qd, tau = X[0].copy(), QD[0].copy(), TAU[0].copy()
    bad = np.full(kernel.N, np.nan)
    held = (x, qd, tau, bad, X, QD, TAU, None, np.ndarray, x.dtype, *kernel._calls)

    def calls(count):
        for _ in range(count):
            kernel(x, qd, tau), kernel(X, QD, TAU), kernel(x, qd)
            for call in kernel._calls:
                call(x, qd, bad, None), call(X, qd, tau, None), call(x)

    calls(10)
    before = [sys.getrefcount(h) for h in held]
    calls(1000)
    assert max(abs(sys.getrefcount(h) - b) for h, b in zip(held, before, strict=True)) < 50
    tracemalloc.start()
    calls(10)
    start = tracemalloc.get_traced_memory()[0]
    calls(1000)
    end = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert end - start < 4000


def test_a_function_keeps_its_code_and_lets_it_go():
    gc.freeze()  # objects of other tests are not looked at
    made = kkt.compile(kkt.two_link(), ABM)
    x, qd, tau = states(made, 1)
    expected, engine = made(x[0], qd[0], tau[0]), weakref.ref(made.native(1).engine)
    call = made._calls[0]
    del made
    gc.collect()
    assert engine() is not None and np.array_equal(call(x[0], qd[0], tau[0], None), expected)
    del call
    gc.collect()
    assert engine() is None
    gc.unfreeze()


def test_threads_share_a_function(kernel):
    x, qd, tau = states(kernel, 40)
    expected = kernel(x, qd, tau)
    one, many = kernel._calls

    def work(i):
        for _ in range(300):
            assert np.array_equal(one(x[i], qd[i], tau[i], None), expected[i])
            assert np.array_equal(kernel(x[i], qd[i], tau[i]), expected[i])
            assert np.array_equal(many(x[:i], qd[:i], tau[:i], None), expected[:i])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(1, 9)))
    finally:
        sys.setswitchinterval(interval)


def _no_table(name):
    raise ImportError(name)


# What another build of Python or numpy shows at start, by the name that it has in builtin.py.
OTHER_BUILDS = {
    "no CPython": ("sys", SimpleNamespace(implementation=SimpleNamespace(name="pypy"))),
    # PyObject has 32 bytes without the interpreter's lock, and with Py_TRACE_REFS
    "free-threaded, or debug": ("object", SimpleNamespace(__basicsize__=32)),
    "a longer head, size not told": ("AT", {name: at + 16 for name, at in AT.items()}),
    "data and dimensions swapped": ("AT", AT | {"data": AT["dims"], "dims": AT["data"]}),
    "another place of the flags": ("AT", AT | {"flags": AT["rank"]}),
    "an array without room": ("AT", AT | {"flags": np.ndarray.__basicsize__}),
    "no table for extension modules": ("import_module", _no_table),
    "a table in another order": ("TYPE", 3),
}


@pytest.mark.parametrize("name, value", OTHER_BUILDS.values(), ids=OTHER_BUILDS)
def test_other_builds_of_python_have_no_functions(name, value, monkeypatch):
    """What is checked at start refuses them, and what it reads meanwhile lies in the object."""
    assert known.__wrapped__()
    monkeypatch.setattr(builtin, name, value, raising=False)
    assert known.__wrapped__() is False


def test_without_functions_the_bits_are_the_same(kernel, monkeypatch):
    """As on a free-threaded build: heads of objects are longer."""
    monkeypatch.setattr(builtin, "object", SimpleNamespace(__basicsize__=32), raising=False)
    monkeypatch.setattr(native, "known", known.__wrapped__)
    plain = kkt.compile(TREE, ABM)
    x, qd, tau = states(kernel, 6)
    for _ in range(2):
        assert np.array_equal(plain(x, qd, tau), kernel(x, qd, tau))
        assert np.array_equal(plain(x[1], qd[1], tau[1]), kernel(x[1], qd[1], tau[1]))
    assert not plain._calls


SCRIPT = """
import numpy as np
from pivotree import kkt, orderings
kernel = kkt.compile(kkt.chain(3), orderings.get("abm"))
x = np.ones(3)
for _ in range(100):
    kernel(x, x, x), kernel(x, x), kernel(x, x, np.ones(3))
assert len(kernel._calls) == 1
kept = kernel._calls[0]
"""


@pytest.mark.product
def test_a_process_that_holds_functions_ends_well():
    done = subprocess.run(
        [sys.executable, "-P", "-X", "dev", "-c", SCRIPT], cwd=ROOT, capture_output=True, timeout=100
    )
    assert done.returncode == 0, done.stderr.decode()


# -- what is refused ------------------------------------------------------------------------------

FOOT = [kkt.contact("j3", (0.1, 0, 0))]
WELD = [kkt.cut_joint("b7", None, "fixed", baumgarte=(1.0, 1.0), name="weld")]
BESIDE = {"outputs": ("qdd", "dqdd_dq")}
NO_KERNELS = [
    (kkt.ModelError, "chain:3 abm", {"outputs": ("qd",)}, "did you mean qdd"),
    (kkt.ModelError, "chain:3 abm", {"outputs": "qdd"}, "outputs is 'qdd'; give a tuple of names"),
    (kkt.ModelError, "chain:3 abm", {"outputs": None}, "compile: outputs is None; give a tuple of names"),
    (kkt.ModelError, "chain:3 abm", {"outputs": iter(["qdd"])}, "outputs is <.*>; give a tuple of names"),
    (kkt.ModelError, "chain:3 abm", {"outputs": ()}, "compile: outputs is empty; ask for one of"),
    (kkt.ModelError, "chain:3 abm", {"inputs": b"wrench"}, "inputs is b'wrench'; give a tuple of names"),
    (kkt.ModelError, "chain:3 abm", {"solver": "choleski"}, "solver is 'choleski'; did you mean cholesky"),
    (kkt.ModelError, "chain:3 abm", {"bias": "carried"}, "compile: bias is 'carried'; use one of"),
    (
        kkt.ModelError,
        "chain:3 crbm",
        {"solver": "cholesky", "outputs": ("f",)},
        "finds qdd alone; ask for qdd",
    ),
    (kkt.ModelError, "chain:3 abm", {"outputs": ("dqdd_q",)}, "did you mean dqdd_dq"),
    (kkt.ModelError, "four_bar abm", {"outputs": ("dlambda_qd",)}, "did you mean dlambda_dqd"),
    (kkt.ModelError, "chain:3 abm", {"outputs": ("f",), "bias": "inverse_dynamics"}, "without velocities"),
    (kkt.ModelError, "chain:3 abm", BESIDE | {"bias": "inverse_dynamics"}, "dqdd_dq follows from the bias"),
    (kkt.OrderError, "chain:3 square_root_abm", BESIDE, "rotations"),
    (kkt.ModelError, "chain:3 abm", {"outputs": ("lambda",)}, "lambda is .*, and chain_3 has no loops"),
    (kkt.ModelError, "chain:3 abm", {"outputs": ("dlambda_dq",)}, "dlambda_dq is an output, and chain_3 has"),
    (kkt.LoopError, "chain:3 crbm", {"solver": "lu", "loops": FOOT}, "'lu': takes trees without closed"),
    (kkt.LoopError, "random_tree:n=7,seed=1 abm", {"loops": WELD}, r"'weld' has a gain .* baumgarte=\(a"),
    (kkt.ModelError, "chain:3 abm", {"frames": "owned"}, "frames is 'owned'; did you mean own"),
    (kkt.OrderError, "chain:3 virtual_work", {"frames": "world"}, "turn in the world's frame"),
    (kkt.OrderError, "random_tree:n=3,joints=universal virtual_work", {}, "universal, turn with q"),
    (kkt.ModelError, "chain:2 crbm", {"outputs": ("inertia",), "check": True}, "check is of qdd; ask for it"),
    (kkt.FormatError, "chain:3 abm", {"format": "mp:50"}, "no kernel runs in it"),
    (kkt.FormatError, "chain:3 abm", {"format": "bfloat16", "relaxed": True}, "relaxed is for machine code"),
]


@pytest.mark.parametrize(("error", "where", "options", "told"), NO_KERNELS)
def test_what_no_kernel_is_made_of_is_one_sentence(error, where, options, told):
    spec, order = where.split()
    with one_sentence(error, told):
        kkt.compile(kkt.load(spec), orderings.get(order), **options)


def test_what_is_wrong_in_a_call_is_one_sentence():
    kernel = kkt.compile(kkt.random_tree(4, 1, joints=ALL_JOINTS), ABM)
    x, qd = kernel.configuration(), np.zeros(kernel.N)
    kernel(x, qd)
    single = x.astype(np.float32)
    assert np.array_equal(kernel(single, qd), kernel(single.astype(float), qd))
    with pytest.raises(kkt.ModelError, match=rf"'x' has shape \(2,\); give {len(x)} numbers, or m x"):
        kernel.rate(np.zeros(2), qd)
    for arguments, told in (
        ((x[1:], qd), "field 'x' has shape"),
        ((x[None, None], qd), "field 'x' has shape"),
        ((x, qd[:1]), "field 'qd' has shape"),
        ((x, qd, 1.0), "field 'tau' has shape"),
        ((x, qd * np.nan), "field 'qd' holds nan at"),
        ((np.stack([x, x * np.inf]), qd), "state 1; give finite numbers in the range of float64"),
        ((np.stack([x] * 3), np.stack([qd] * 2)), "has 2 states, and another 3"),
        ((x, qd, qd + 1j), "field 'tau' holds no real numbers"),
        (("x", qd), "field 'x' holds no real numbers"),
        ((x, [10**400] * kernel.N), "field 'qd' holds no real numbers"),
        ((x, np.zeros(kernel.N, "m8[s]")), "field 'qd' holds no real numbers"),
        ((x, np.zeros(kernel.N, [("rate", float)])), "field 'qd' holds no real numbers"),
        ((x, np.ma.array(qd, mask=True)), "field 'qd' holds no real numbers"),
        ((x, qd, None, np.zeros((4, 6))), "no input of this kernel"),
    ):
        with pytest.raises(kkt.ModelError, match=told):
            kernel(*arguments)
    assert kernel(np.zeros((0, kernel.nx)), np.zeros((0, kernel.N))).shape == (0, kernel.N)
