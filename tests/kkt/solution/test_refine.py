"""Iterative refinement: residuals held against exact fractions, answers against certified ones."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from designs import covering, listed
from helpers import by_body, every_joint, one_sentence, solve, system_of, tape_of

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.entries import assemble
from pivotree.kkt.program.residual_program import residual_program
from pivotree.kkt.solution import refine
from pivotree.kkt.tape.player import run
from pivotree.kkt.tape.tape import Elimination, Unknowns, lower

U32 = 2.0**-24
RESIDUALS = ("dynamics", "equations")


@pytest.fixture(scope="module")
def mixed():
    return kkt.build(every_joint())


fractions = np.frompyfunc(lambda x: Fraction(float(x)), 1, 1)


def unknowns(system, seed):
    rng, n, N = np.random.default_rng(seed), system.tree.n, system.tree.N
    return {"pdd": rng.normal(size=(n, 6)), "qdd": rng.normal(size=N), "f": rng.normal(size=(n, 6))}


def in_fractions(system, residual, given):
    """The residual's program on exact numbers, as a vector in the order of system.matrix."""
    tape = lower(residual_program(system.structure, residual), system)
    given = {k: fractions(v) for k, v in given.items() if k in tape.inputs.given}
    entries = assemble(system.state, Fraction)
    entries.a[:], entries.b[:] = fractions(system.entries.a), fractions(system.entries.b)
    entries.M[:], entries.Phi[:] = fractions(system.entries.M), fractions(system.entries.Phi)
    return run(tape, entries, Fraction, given)[0]


def matrix_residual(system, x):
    """rhs - K x from the sparse matrix, row after row, in exact fractions."""
    left = [Fraction(float(r)) for r in system.rhs]
    K = system.matrix.tocoo()
    for i, j, value in zip(K.row, K.col, K.data, strict=True):
        left[i] -= Fraction(float(value)) * x[j]
    return left


def vector(system, given):
    x = [None] * system.size
    for block, where in system.blocks.items():
        parts = given[block.kind] if block.kind != "qdd" else list(by_body(system, given["qdd"]).values())
        x[where] = list(fractions(parts[system.structure.index[block.body]]))
    return x


def test_the_residual_of_the_equations_is_that_of_the_sparse_matrix(mixed):
    given = unknowns(mixed, 3)
    expected = matrix_residual(mixed, vector(mixed, given))
    got = in_fractions(mixed, "equations", given)
    for block, where in mixed.blocks.items():
        if where.stop > where.start:
            assert list(got[block]) == expected[where], block


def test_the_residual_of_inverse_dynamics_leaves_the_other_rows_of_the_matrix_at_zero(mixed):
    """Its pdd and f satisfy rows f and pdd of (4); what row qdd then lacks is the residual."""
    given = unknowns(mixed, 4)
    got = in_fractions(mixed, "dynamics", given)
    x = vector(mixed, given)
    for kind in ("pdd", "f"):
        for name in mixed.tree.names:
            x[mixed.blocks[kind, name]] = list(got[kind, name])
    rows = matrix_residual(mixed, x)
    for block, where in mixed.blocks.items():
        if block.kind == "qdd" and where.stop > where.start:
            assert list(got[block]) == rows[where]
        else:
            assert not any(rows[where])


@pytest.mark.uncached
@pytest.mark.parametrize(
    ("order", "residual"), covering(["crbm", "abm", "divide_and_conquer", "modified_abm"], RESIDUALS)
)
def test_refinement_reaches_the_rounding_of_the_answer(order, residual, mixed):
    exact = kkt.certify(mixed, 30, rounded_to="float32")
    result = kkt.eliminate(mixed, orderings.get(order), "float32", records=False, refine=3, residual=residual)
    assert result.order == f"{order} +3" and result.qdd.dtype == np.float32
    assert exact.error(result.qdd) <= 4 * U32


@pytest.mark.parametrize("residual", listed(RESIDUALS, unmarked=1))
def test_one_and_three_corrections_of_crbm_on_a_chain_of_40(residual):
    """2.7e-3 without: digits come by two or three a correction, down to 1 u."""
    exact = kkt.certify(system_of("chain:40"), 30, rounded_to="float32")
    plain = solve("chain:40", "crbm", "float32")
    errors = [exact.error(plain.qdd)]
    for count in (1, 3):
        asked = {"records": False, "refine": count, "residual": residual}
        result = kkt.eliminate(system_of("chain:40"), tape_of("chain:40", "crbm"), "float32", **asked)
        assert result.refinement.residual == residual
        assert result.refinement.status == "done" and result.refinement.kept == count
        errors.append(exact.error(result.qdd))
    assert errors[0] > 1e-3 and errors[1] < errors[0] / 50 and errors[2] <= U32


def test_a_diverging_refinement_is_reported_and_the_first_answer_kept():
    """crbm in bfloat16 on 12 links has no digit (error 1.3): its corrections grow."""
    system, tape = system_of("chain:12"), tape_of("chain:12", "crbm")
    first = kkt.eliminate(system, tape, "bfloat16", records=False)
    result = refine.refined(system, tape, get_format("bfloat16"), first, 3)
    assert result.refinement.status == "diverged after 1" and result.refinement.kept == 0
    assert result.refinement.corrections[0] > 1.0
    assert (result.qdd == first.qdd).all()
    assert kkt.certify(system, 30, rounded_to="bfloat16").error(first.qdd) > 1.0


DROWNED = [  # models, their states, and how many times worse a correction would make the answer
    ("random_tree:n=14,seed=25,mass_ratio=1e8", None, "square_root_abm", 30),
    ("two_link:r=1e-6", [0.0, 1.833], "abm", 7),  # aligned: the tip swallows what the base adds
    ("random_tree:n=24,seed=8,mass_ratio=1e8", None, "square_root_abm", 30),
    ("random_tree:n=24,seed=8,mass_ratio=1e6", None, "square_root_abm", 30),
    ("two_link:r=1e-6", [0.0, 1.833], "square_root_abm", 7),
]


@pytest.mark.parametrize(("spec", "q", "order", "worse"), listed(DROWNED))
def test_light_joints_between_heavy_ones_keep_their_digits(spec, q, order, worse):
    """A correction would multiply the error by 40 to 1500: it drowns in its residual's own rounding."""
    system = kkt.build(kkt.from_spec(spec), q=q)
    tape = kkt.trace(system, orderings.get(order))
    exact = kkt.certify(system, 20, rounded_to="float32")
    plain, refined = (kkt.eliminate(system, tape, "float32", records=False, refine=k) for k in (0, 3))
    assert (refined.refinement.status, refined.refinement.kept) == ("drowned after 1", 0)
    assert (refined.qdd == plain.qdd).all()
    loop = refine.Corrections(system, tape, get_format("float32"), "dynamics")
    x = plain.unknowns
    d, doubt = loop.correction(loop.defect(x))
    error = exact.error(loop.sum(x, d).qdd)
    assert error > worse * exact.error(plain.qdd) and error > 15 * U32
    assert 0.0 < doubt < d.size


@pytest.mark.parametrize("order", listed(["abm", "crbm", "square_root_abm"], unmarked=1))
def test_the_doubt_is_no_more_than_what_rounding_the_residual_moves(order, mixed):
    """u |r_k| / D_k against u |A^-1| |r|, the inverse from conditioning's derivatives."""
    tape = kkt.trace(mixed, orderings.get(order))
    loop = refine.Corrections(mixed, tape, get_format("float64"), "dynamics")
    r = loop.defect(Unknowns(*(unknowns(mixed, 7)[k] for k in ("pdd", "qdd", "f")), np.zeros(0)))
    _, doubt = loop.correction(r)
    inverse = kkt.conditioning(mixed).inverse_inertia
    most = 2.0**-53 * np.max(np.abs(inverse) @ np.abs(r.qdd))
    assert 0.0 < doubt <= most


@pytest.mark.parametrize("format", listed(["float16", "float32:stochastic:3", "tf32", "p18", "float32:zero"]))
def test_other_formats(format):
    """Digits of crbm's answer on ten links that refinement in the same format brings back."""
    system, tape = system_of("chain:10"), tape_of("chain:10", "crbm")
    exact = kkt.certify(system, 30, rounded_to=format)
    unit = get_format(format).unit
    plain, refined = (kkt.eliminate(system, tape, format, records=False, refine=k) for k in (0, 3))
    assert exact.error(plain.qdd) > 30 * unit and exact.error(refined.qdd) < 4 * unit
    assert (np.asarray(get_format(format).cast(refined.qdd)) == refined.qdd).all()


class Script(refine.Corrections):
    """A loop whose corrections have sizes that are given."""

    def __init__(self, sizes):
        self.sizes, self.chosen = iter(sizes), get_format("float32")

    def defect(self, x):
        return x

    def correction(self, r):
        none, size = np.zeros((1, 6)), next(self.sizes)
        size, doubt = size if isinstance(size, tuple) else (size, 0.0)
        return Unknowns(none, np.array([size]), none, np.zeros(0)), doubt

    def sum(self, x, d):
        return x._replace(qdd=x.qdd + d.qdd)


@pytest.mark.parametrize(
    ("sizes", "kept", "status"),
    [
        ([1e-2, 1e-4, 1e-6], 3, "done"),
        ([1e-2, 1e-4, 1e-8], 3, "converged after 3"),
        ([1e-2, 1e-4, 6e-5], 2, "stalled after 3"),
        ([1e-2, 1e-4, 3e-4], 1, "diverged after 3"),
        ([0.4, 0.3], 1, "stalled after 2"),
        ([0.7], 0, "stalled after 1"),
        ([7.0], 0, "diverged after 1"),
        ([1e-2, np.nan], 0, "diverged after 2"),
        ([np.inf], 0, "diverged after 1"),
        ([0.0], 1, "converged after 1"),
        ([(1e-2, 1e-4)], 0, "drowned after 1"),
        ([1e-2, (1e-4, 1e-6)], 1, "drowned after 2"),
        ([1e-2, (1e-4, 3e-7)], 2, "done"),
        ([1e-2, (1e-8, 1e-8)], 2, "converged after 2"),
    ],
)
def test_the_watch_for_divergence(sizes, kept, status, monkeypatch):
    """The answer is kept whose next correction is smallest."""
    script = Script(sizes)
    start = Elimination("x", "float32", np.ones(1), np.zeros((1, 6)), np.zeros((1, 6)), (), None, 0)
    monkeypatch.setattr(refine, "Corrections", lambda *_: script)
    monkeypatch.setattr(Script, "flops", 10)
    for name in ("longer", "rounded_entries"):  # what judges an answer needs a system
        monkeypatch.setattr(refine, name, lambda *_: None)
    monkeypatch.setattr(refine, "judged", lambda *given: given[4])
    result = refine.refined(None, None, script.chosen, start, len(sizes))
    assert (result.refinement.kept, result.refinement.status) == (kept, status)
    assert result.qdd[0] == 1.0 + sum(x[0] if isinstance(x, tuple) else x for x in sizes[:kept])
    assert result.flops == 10 * len(sizes)


def test_operations_that_the_factor_does_not_share():
    """One more right-hand side costs some part of the order itself."""
    for spec, order, most in (("chain:40", "crbm", 0.25), ("chain:40", "abm", 0.4)):
        tape = tape_of(spec, order)
        again = refine.operations_on_rhs(tape, ("qdd",), ("a", "b", "tau"))
        fewer = refine.operations_on_rhs(tape, ("qdd",), ("tau",))
        assert 0 < fewer < again < most * tape.played
        assert refine.operations_on_rhs(tape, ("qdd",), ("M",)) <= tape.played
        assert refine.operations_on_rhs(tape, ("qdd",), ()) == 0


def test_all_unknowns_are_refined_by_the_residual_of_the_equations():
    """Those of a weld too, whose a is structurally zero, and whose row's residual is not; armatures count."""
    tree = kkt.new_tree("welded", (0.1, -9.7, 0.3))
    rng = np.random.default_rng(5)
    for k in range(6):
        place = {"com": rng.normal(size=3), "p": rng.normal(size=3), "axis": rng.normal(size=3)}
        joint = {"joint": "fixed"} if k % 2 else {"joint": "revolute", "armature": 50.0}
        kkt.add_body(tree, k, k - 1 if k else None, mass=1.0, inertia=np.eye(3), **joint, **place)
    system = kkt.build(tree, tau=[1.0, 2.0, -1.0])
    assert not system.pattern.a.all()
    exact = kkt.certify(system, 30, rounded_to="float32")
    result = kkt.eliminate(system, orderings.get("lagrange"), "float32", refine=3, residual="equations")
    for kind in ("pdd", "f"):
        solution = {kkt.Block(kind, k): getattr(result, kind)[k] for k in range(6)}
        assert exact.block_error(list(solution), solution) < 2 * U32
    assert exact.error(result.qdd) < 2 * U32


def test_a_failed_pivot_is_not_refined():
    """Example 3, case 1: the D_2 of crbm is zero in float32, and stays reported."""
    system = kkt.build(kkt.example3(1e8, 1))
    result = kkt.eliminate(system, orderings.get("crbm"), "float32", refine=2)
    assert result.failed_at is not None and result.refinement.status == "not started"


def test_nothing_to_refine():
    tree = kkt.new_tree("fixed")
    kkt.add_body(tree, "base", mass=1.0, inertia=np.eye(3), joint="fixed")
    result = kkt.eliminate(kkt.build(nx.DiGraph(tree)), orderings.get("abm"), "float32", refine=2)
    assert result.refinement.status == "converged after 1" and result.qdd.size == 0


@pytest.mark.parametrize(
    ("format", "asked", "words"),
    [
        *(("float32", {"refine": count}, "use 0 to 100") for count in (-1, 101, 1.5, True)),
        *(
            (name, {"refine": 1}, "use float64, float32 or a shorter")
            for name in ("exact", "mp:30", "ball:30")
        ),
        ("float64", {"refine": 1, "residual": "energy"}, "dynamics or equations"),
    ],
)
def test_what_cannot_be_refined(format, asked, words):
    with pytest.raises(kkt.PivotreeError, match=words):
        kkt.eliminate(system_of("ur5"), tape_of("ur5", "abm"), format, **asked)


# -- rigid rows by proximal iteration -------------------------------------------------------------


PIN = kkt.cut_joint("coupler", "rocker", p=(3, 0, 0), p_second=(2.5, 0, 0), name="pin")
SPECS = ("four_bar", "gripper", "stewart", "delta", "quadruped:feet=4")
ABM = orderings.get("abm")


def moved(spec, loops=None):
    """A mechanism at its own state, with efforts; (4) with rigid rows, and with soft ones."""
    tree = kkt.from_spec(spec)
    loops = list(tree.graph["loops"] if loops is None else loops)
    tau = np.sin(np.arange(kkt.compile_tree(tree).N) + 1.0)
    return tree, loops, tau


@pytest.mark.parametrize(("spec", "order"), covering(SPECS, ["abm", "lcaba", "crbm"]))
def test_rows_that_are_independent_have_the_answer_of_every_order(spec, order):
    tree, loops, tau = moved(spec)
    rigid = kkt.eliminate(kkt.build(tree, tau=tau, loops=loops), ABM)
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(loops, 1e-4))
    found = kkt.eliminate(soft, orderings.get(order), proximal=100)
    assert found.marked is None and found.proximal.iterations < 12
    assert found.proximal.status in ("converged", "settled") and found.proximal.residual < 1e-9
    assert np.abs(found.qdd - rigid.qdd).max() < 1e-9 * np.abs(rigid.qdd).max()
    assert np.abs(found.lam - rigid.lam).max() < 1e-9 * np.abs(rigid.lam).max()


@pytest.mark.parametrize("format, digits", [("float64", 1e-11), ("float32", 1e-5)])
@pytest.mark.parametrize("mu", [1e-2, 1e-4])
def test_redundant_rows_have_the_qdd_of_those_that_hold_and_the_least_lambda(format, digits, mu):
    """Three points of the coupler are held where one pin and two others say the same."""
    tree, (pin,), tau = moved("four_bar")
    exact = kkt.certify(kkt.build(tree, tau=tau, loops=[pin]), 20)
    twice = [PIN, replace(PIN, name="again")]
    with pytest.raises(kkt.ModelError, match="follow"):
        kkt.build(tree, tau=tau, loops=twice)
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(twice, mu))
    found = kkt.eliminate(soft, ABM, format, proximal=100)
    assert found.marked is None and exact.error(found.qdd) < digits
    alone = kkt.eliminate(kkt.build(tree, tau=tau, loops=[pin]), ABM).lam
    half = np.zeros((2, 5))
    half[:, 2:4] = alone / 2  # the least of all pairs with this sum
    assert np.abs(found.lam - half.ravel()).max() < 100 * digits * np.abs(alone).max()


def test_rows_that_contradict_each_other_are_said_to():
    tree, loops, tau = moved("quadruped:feet=1")
    other = replace(loops[0], name="other", baumgarte=(3.0, 0.0))
    qd = np.linspace(-1.0, 1.0, len(tau))
    soft = kkt.build(tree, qd=qd, tau=tau, loops=kkt.softened([*loops, other], 1e-4))
    for format in ("float64", "float32"):
        found = kkt.eliminate(soft, ABM, format, proximal=100)
        assert found.proximal.residual > 0.1 and "contradict" in found.marked


def test_an_iteration_that_has_not_settled_is_marked():
    tree, loops, tau = moved("stewart")
    soft = kkt.build(tree, tau=tau, loops=kkt.softened(loops, 10.0))
    found = kkt.eliminate(soft, ABM, proximal=2)
    assert found.proximal.status == "not settled" and "smaller mu" in found.marked


def test_lambda_first_in_float32_is_mended_by_a_mu_that_the_sum_can_hold():
    """mu = 1e-8 absorbs the robot; 1e-3 does not, and the iteration takes the softness away."""
    tree, loops, tau = moved("quadruped:feet=4")
    exact = kkt.certify(kkt.build(tree, tau=tau, loops=loops), 20)
    order = orderings.get("lambda_first_abm")
    stiff, soft = (kkt.build(tree, tau=tau, loops=kkt.softened(loops, mu)) for mu in (1e-8, 1e-2))
    lost = kkt.eliminate(stiff, order, "float32")
    assert lost.failed_at is not None or exact.error(lost.qdd) > 1e-2
    once = kkt.eliminate(soft, order, "float32")
    assert exact.error(once.qdd) > 1e-3
    found = kkt.eliminate(soft, order, "float32", proximal=100)
    assert found.marked is None and exact.error(found.qdd) < 1e-4


@pytest.mark.parametrize(
    "ask, said",
    [
        (lambda s: kkt.softened([PIN], 0.0), "mu is 0.0"),
        (lambda s: kkt.softened([PIN], "small"), "mu is 'small'"),
        (lambda s: kkt.eliminate(s, ABM, proximal=100), "some row has none"),
        (lambda s: kkt.eliminate(kkt.build(kkt.chain(2)), ABM, proximal=100), "there are none"),
        (lambda s: kkt.eliminate(s, ABM, proximal=np.array([1, 2]), refine=1), "use 0 to"),
        (lambda s: kkt.eliminate(s, ABM, "exact", proximal=100), "not iterated"),
    ],
)
def test_what_cannot_be_iterated_is_one_sentence(ask, said):
    system = kkt.build(kkt.from_spec("four_bar"))
    with one_sentence(kkt.PivotreeError, said):
        ask(system)
