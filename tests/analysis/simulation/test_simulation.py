"""Integrators, motions and ``pivotree simulate``; formulation stiffness on a two-link chain."""

import json
from dataclasses import replace

import numpy as np
import pytest
from armature import with_terms
from helpers import ROOT
from scipy.integrate import solve_ivp

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.simulation import SCIPY, CashKarp, Integration, Midpoint, Motion, simulate
from pivotree.analysis.simulation.run import starts
from pivotree.analysis.simulation.words import verdict

NOISE = np.random.default_rng(0)


def pendulum(y):
    return np.stack([y[:, 1], -np.sin(y[:, 0])], axis=1)


def closely(start, seconds):
    found = solve_ivp(
        lambda t, y: pendulum(y[None])[0], (0, seconds), start, "DOP853", rtol=1e-13, atol=1e-13
    )
    return found.y[:, -1]


# -- Cash-Karp ----------------------------------------------------------------------------------


@pytest.mark.parametrize("eps,error", [(1e-4, 1e-2), (1e-8, 1e-6), (1e-11, 1e-9)])
def test_cash_karp_reaches_what_scipy_reaches(eps, error):
    start = np.array([[2.0, 0.3]])
    (record,) = CashKarp(eps)(pendulum, start, 10.0)
    assert record.failed is None and record.reached == 10.0
    assert np.abs(record.y[-1] - closely(start[0], 10.0)).max() < error


def test_every_try_is_five_evaluations_and_every_step_one_more():
    (record,) = CashKarp(1e-6)(pendulum, np.array([[2.0, 0.3]]), 10.0)
    assert record.evaluations == record.accepted + 5 * (record.accepted + record.rejected)
    assert record.rejected > 0 and len(record.step) == record.accepted
    assert np.isclose(record.step.sum(), 10.0) and np.allclose(np.diff(record.step_t), record.step[:-1])


def test_starts_side_by_side_do_not_see_each_other():
    states = np.array([[2.0, 0.3], [0.1, 0.0], [3.0, -1.0]])
    together = CashKarp(1e-7)(pendulum, states, 5.0)
    for row, record in zip(states, together, strict=True):
        (alone,) = CashKarp(1e-7)(pendulum, row[None], 5.0)
        assert alone.evaluations == record.evaluations
        assert (alone.y == record.y).all() and (alone.step == record.step).all()


def test_the_first_step_and_the_growth_are_those_of_numerical_recipes():
    (record,) = CashKarp(1e-2)(lambda y: np.ones_like(y), np.array([[1.0]]), 20.0)
    assert np.allclose(record.step[:5], 0.01 * 5.0 ** np.arange(5))  # no error: five times each
    (short,) = CashKarp(1e-2, first=0.5)(lambda y: np.ones_like(y), np.array([[1.0]]), 0.2)
    assert short.step.tolist() == [0.2]


@pytest.mark.parametrize(
    "rates,why",
    [
        (lambda y: np.full_like(y, np.nan), "an acceleration is not a number at t = 0 s"),
        (lambda y: 1e9 * NOISE.normal(size=y.shape), "step"),
    ],
)
def test_a_run_that_cannot_go_on_says_why(rates, why):
    (record,) = CashKarp(1e-9, most=50)(rates, np.array([[1.0, 1.0]]), 1.0)
    assert why in record.failed and record.reached < 1.0


# -- motions ------------------------------------------------------------------------------------

TREES = {
    "chain": lambda: kkt.chain(4),
    "joints of all kinds": lambda: kkt.random_tree(6, seed=4),
    "floating": lambda: kkt.from_spec("random_tree:n=4,seed=2,joints=floating"),
    "spherical": lambda: kkt.from_spec("random_tree:n=4,seed=5,joints=spherical"),
}


@pytest.mark.uncached
@pytest.mark.product
@pytest.mark.parametrize("name", TREES)
def test_energy_is_kept(name):
    """Kinetic and potential energy of the bodies, less the work of the efforts, stays."""
    tree = TREES[name]()
    tree.graph.pop("tau", None)
    found = simulate(tree, "abm", integration=Integration(seconds=1.0, eps=1e-9))
    assert found.failed == 0 and found.drift < 1e-6
    rough = simulate(tree, "abm", integration=Integration(seconds=1.0, eps=1e-4))
    assert rough.drift > found.drift  # it is measured, not zero


@pytest.mark.product
def test_constant_efforts_do_work():
    tree = kkt.chain(3)
    tau = np.array([3.0, -1.0, 0.5])
    assert simulate(tree, "abm", integration=Integration(seconds=1.0, eps=1e-9), tau=tau).drift < 1e-6
    motion = Motion.of(tree, orderings.get("abm"), tau=tau)
    states = np.stack([motion.start([0.0, 0.0, 0.0]), motion.start([0.5, 1.0, 2.0])])
    assert np.allclose(motion.work(states), [0.0, 1.5 - 1.0 + 1.0])


@pytest.mark.product
@pytest.mark.parametrize(
    "order", ["crbm", "crbm+cholesky", "crbm+lu", "crbm+gauss_jordan", "virtual_work", "square_root_abm"]
)
def test_orders_move_alike(order):
    tree = kkt.chain(3)
    start = {"q": [0.3, -0.4, 0.5], "qd": [1.0, 0.0, -1.0]}
    one = simulate(tree, "abm", integration=Integration(seconds=1.0, eps=1e-9), **start)
    other = simulate(tree, order, integration=Integration(seconds=1.0, eps=1e-9), **start)
    assert np.abs(one.records[0].y[-1] - other.records[0].y[-1]).max() < 1e-9
    assert other.order == order.replace("+", " + ")


@pytest.mark.product
def oscillator():
    """One sliding mass 2 kg with armature 1 kg, damping 0.6 N s/m, a spring 12 N/m at 0.3 m."""
    tree = kkt.new_tree("oscillator", gravity=(0.0, 0.0, 0.0))
    kkt.add_body(
        tree,
        "mass",
        mass=2.0,
        inertia=np.eye(3),
        joint="prismatic",
        axis=(1.0, 0.0, 0.0),
        armature=1.0,
        damping=0.6,
        stiffness=12.0,
        rest=0.3,
    )
    return tree


@pytest.mark.product
@pytest.mark.parametrize("integrator", ["cash_karp", "midpoint"])
def test_a_damped_oscillator_moves_by_its_closed_form(integrator):
    """x = rest + e^(-c t) (A cos w t + B sin w t), with c = d / 2m and m the mass and its rotor."""
    steps = {"step": 1e-3} if integrator == "midpoint" else {"eps": 1e-11}
    chosen = Integration(seconds=2.0, integrator=integrator, **steps)
    found = simulate(oscillator(), "abm", integration=chosen, q=[0.8], qd=[-1.0])
    m, d, k, t = 3.0, 0.6, 12.0, found.records[0].t
    c = d / (2 * m)
    w = np.sqrt(k / m - c * c)
    x = 0.3 + np.exp(-c * t) * (0.5 * np.cos(w * t) + (-1.0 + c * 0.5) / w * np.sin(w * t))
    bound = 2e-6 if integrator == "midpoint" else 1e-9
    assert np.abs(found.records[0].y[:, 0] - x).max() < bound
    assert found.failed == 0 and found.drift < bound


@pytest.mark.product
def test_energy_less_what_damping_took_is_kept():
    tree = kkt.random_tree(5, seed=2, joints="revolute+prismatic")
    tree = with_terms(tree, 3)
    for _, data in tree.nodes(data=True):
        data.pop("friction", None)
    found = simulate(tree, "abm", integration=Integration(seconds=0.5, eps=1e-11))
    motion, record = Motion.of(tree, orderings.get("abm")), found.records[0]
    assert found.failed == 0 and found.drift < 1e-8
    energy = motion.energy(record.y)
    assert np.ptp(energy) > 1e-3 * motion.energies(record.y)[:, 0].max()  # damping takes much


def test_a_format_that_is_interpreted_may_refuse_a_try():
    """Then no start is at the beginning of a step, and the kernel is asked for no state."""
    found = simulate(kkt.chain(2), "abm", "bfloat16", Integration(seconds=0.3, eps=1e-4, floor=0.1))
    assert found.failed == 0 and found.records[0].rejected > 0
    kernel = kkt.compile(kkt.chain(2), orderings.get("abm"), "bfloat16")
    assert kernel(*np.zeros((3, 0, 2))).shape == (0, 2)


@pytest.mark.product
def test_rates_of_a_motion_are_those_of_equation_4():
    tree = kkt.random_tree(7, seed=9)
    motion = Motion.of(tree, orderings.get("abm"))
    system = kkt.build(tree)
    y = motion.start()
    qdd = motion.rates(y[None])[0, motion.nx :]
    exact = kkt.certify(system, 20)
    assert exact.error(qdd) < 1e-12


def test_a_try_that_overflows_is_a_try():
    motion = Motion.of(kkt.chain(2), orderings.get("abm"))
    y = np.array([[0.1, 0.2, np.inf, 0.0], [0.1, 0.2, 0.0, 0.0]])
    rates = motion.rates(y)
    assert np.isnan(rates[0]).all() and np.isfinite(rates[1]).all()


@pytest.mark.product
@pytest.mark.parametrize("method", SCIPY)
def test_scipy_on_the_same_motion(method):
    found = simulate(kkt.chain(2), "abm", integration=Integration(integrator=method, seconds=0.5, eps=1e-8))
    ours = simulate(kkt.chain(2), "abm", integration=Integration(seconds=0.5, eps=1e-10))
    assert np.abs(found.records[0].y[-1] - ours.records[0].y[-1]).max() < 1e-4
    assert found.records[0].evaluations > 10


# -- the symplectic rule ------------------------------------------------------------------------


@pytest.mark.product
def test_midpoint_is_of_second_order_and_keeps_the_energy_for_long():
    tree = kkt.two_link(0.5)
    start = {"q": [0.3, 0.5], "qd": [0.0, 0.0]}
    exact = simulate(tree, "abm", integration=Integration(seconds=1.0, eps=1e-12), **start).records[0].y[-1]
    errors = [
        np.abs(
            simulate(
                tree, "abm", integration=Integration(integrator="midpoint", seconds=1.0, step=h), **start
            )
            .records[0]
            .y[-1]
            - exact
        ).max()
        for h in (0.01, 0.005, 0.0025)
    ]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (abs(ratios - 4.0) < 0.6).all()
    calm = {"q": [-1.2, -0.3], "qd": [0.0, 0.0]}
    short, long = (
        simulate(tree, "abm", integration=Integration(s, integrator="midpoint", step=0.02), **calm)
        for s in (2.0, 20.0)
    )
    assert short.failed == long.failed == 0 and 0.0 < long.drift < 1.5 * short.drift


def test_midpoint_is_symplectic():
    """The derivative J of a step in (q, p) has J^T W J = W; Cash-Karp's has not."""
    tree = kkt.chain(2)
    motion = Motion.of(tree, orderings.get("abm"))
    inertia = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    h = 0.05

    def stepped(method):
        def step(z):
            q, p = z[:2], z[2:]
            y = np.concatenate([q, np.linalg.solve(inertia(q, q * 0), p)])
            (record,) = method(motion.rates, y[None], h)
            q, qd = record.y[-1][:2], record.y[-1][2:]
            return np.concatenate([q, inertia(q, q * 0) @ qd])

        z, e = np.array([0.3, 0.7, 0.2, -0.1]), 1e-5
        J = np.stack([(step(z + d) - step(z - d)) / (2 * e) for d in e * np.eye(4)], axis=1)
        W = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
        return np.abs(J.T @ W @ J - W).max()

    assert stepped(Midpoint(motion, inertia, h)) < 1e-8
    assert stepped(CashKarp(1e9, first=h)) > 1e-7


# -- ensembles and formulation stiffness --------------------------------------------------------


def test_starts_are_one_roundoff_apart():
    y = np.array([0.0, 2.0])
    many = starts(y, 50, 0, "float32")
    assert (many[0] == y).all() and len(np.unique(many[:, 1])) > 10
    assert 0.0 < np.abs(many - y).max() < 1e-6
    assert np.abs(starts(y, 50, 0, "float64") - y).max() < 1e-14
    assert (starts(y, 5, 1, "float32")[1:] != starts(y, 5, 0, "float32")[1:]).any()


@pytest.mark.product
def test_formulation_stiffness():
    """Two links, one 400 times the other: CRBM's roughness costs steps in single precision."""
    tree = kkt.two_link(0.0025)
    runs = {"runs": 6, "integration": Integration(seconds=2.0, eps=1e-4)}
    abm, crbm = (simulate(tree, o, "float32", **runs) for o in ("abm", "crbm+cholesky"))
    assert crbm.mean > 1.4 * abm.mean
    abm, crbm = (simulate(tree, o, "float64", **runs) for o in ("abm", "crbm+cholesky"))
    assert 0.85 < crbm.mean / abm.mean < 1.15


# -- the command --------------------------------------------------------------------------------


def run(capsys, *arguments):
    code = main(["simulate", *arguments])
    return (code, *capsys.readouterr())


@pytest.mark.product
def test_the_document_of_a_simulation(capsys, tmp_path):
    code, out, err = run(
        capsys, "two_link:r=0.01", "--seconds", "0.5", "--runs", "2", "--json", "-o", str(tmp_path / "new")
    )
    document = json.loads(out)
    assert code == 0 and err == "" and document["model"].startswith("two_link")
    assert [row["order"] for row in document["rows"]] == ["crbm + cholesky", "abm"]
    assert all(row["evaluations"] > 50 and row["failed"] == 0 for row in document["rows"])
    assert document["verdict"].startswith("In float32 ")
    assert {p.name for p in (tmp_path / "new").iterdir()} == {
        "steps.png",
        "steps.pdf",
        "steps_dark.png",
        "steps.csv",
    }
    steps = np.loadtxt(tmp_path / "new" / "steps.csv", delimiter=",", skiprows=1, usecols=(3, 4))
    assert len(steps) == sum(2 * row["accepted"] for row in document["rows"])


def test_a_model_file_keeps_its_rates_whatever_the_case_of_its_suffix(capsys, tmp_path):
    found = []
    for name in ("arm.json", "ARM.JSON"):
        kkt.write_model(tmp_path / name, kkt.build(kkt.chain(2), qd=[1.0, 2.0]).state)
        short = ("--seconds", "0.1", "--order", "abm", "--json")
        _, out, _ = run(capsys, str(tmp_path / name), *short)
        (row,) = json.loads(out)["rows"]
        found.append((row["evaluations"], row["energy_drift"]))
    assert found[0] == found[1]


@pytest.mark.product
def test_the_verdict_that_the_page_quotes_is_what_is_printed(capsys):
    """Stale?  Quote what it prints now, in docs/simulate.md."""
    command = "two_link:r=0.0015 --state-type float32 --floor 1e-30 --runs 5"
    code, out, _ = run(capsys, *command.split(), "--json")
    said = json.loads(out)["verdict"]
    page = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")
    text = " ".join(page.replace("\n> ", " ").split())
    assert code == 0 and said in text and command in text


def test_a_motion_without_an_operation_is_told_without_a_ratio():
    """A body turns about an axis of symmetry through its centre: qdd is tau over one number."""
    tree = kkt.new_tree("wheel")
    kkt.add_body(tree, "b", mass=1.0, com=np.zeros(3), inertia=np.eye(3), axis=(0, 0, 1))
    found = [simulate(tree, order, integration=Integration(seconds=0.1)) for order in ("crbm", "abm")]
    assert [each.operations for each in found] == [0, 0]
    assert "and 0 operations" in verdict(found)


@pytest.mark.product
def test_a_motion_in_the_world_s_frame_is_the_same_motion_rounded_otherwise(capsys):
    """In float64 the counts are those of the bodies' own frames; operations are others."""
    rows = {}
    for frames in ("own", "world"):
        asked = ["simulate", "two_link:r=0.1", "--format", "float64", "--order", "crbm_com,abm"]
        main([*asked, "--seconds", "0.5", "--frames", frames, "--json"])
        rows[frames] = json.loads(capsys.readouterr().out)["rows"]
    for own, world in zip(rows["own"], rows["world"], strict=True):
        assert own["evaluations"] == world["evaluations"]
        assert own["operations"] < world["operations"]


def test_a_simulation_that_no_order_finishes_is_exit_1(capsys):
    code, out, _ = run(capsys, "chain:3", "--order", "abm", "--steps", "5", "--seconds", "2")
    assert code == 1 and "more than 5 steps" in " ".join(out.split())


@pytest.mark.product
@pytest.mark.parametrize(
    "arguments,message",
    [
        (["chain:3", "--integrator", "euler"], "integrator 'euler': is unknown; use cash_karp"),
        (["chain:3", "--eps", "0"], "option --eps: is 0.0; give a number above 0"),
        (["chain:3", "--runs", "0"], "option --runs: is 0; give 1 or more"),
        (["chain:3", "--frames", "aligned"], "option --frames: is 'aligned'; use own or world"),
        (["chain:3", "--order", "crbm+qr"], "there is no dense method 'qr'; use cholesky"),
        (["chain:3", "--order", "abm+lu"], "does not leave all qdd to the end"),
        (["chain:3", "--format", "mp:50"], "no kernel runs in it"),
        (["chain:3", "--qd", "1,2"], "field 'qd' has shape (2,)"),
        (["random_tree:n=2,joints=floating", "--integrator", "midpoint"], "integrator midpoint"),
    ],
)
def test_what_is_wrong_is_one_sentence(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == "" and err.count("\n") == 1 and message in err, err


@pytest.mark.product
def test_accelerations_that_do_not_hold_are_told():
    """CRBM in float32 on a long chain keeps no digit; ABM keeps six, and nothing is said."""
    chain, said = kkt.chain(100), "1 of 1 states (float32 keeps fewer than half of its digits here)"
    lost, kept = (Motion.of(chain, orderings.get(name), "float32") for name in ("crbm", "abm"))
    assert kept.doubt(kept.start()[None]) is None
    assert lost.doubt(lost.start()[None]) == said
    short = simulate(kkt.two_link(), "abm", integration=Integration(seconds=0.1))
    assert short.doubt is None and short.as_dict()["doubt"] is None
    doubtful = replace(short, doubt=said)
    assert verdict([doubtful]).endswith(f" abm's accelerations do not hold at {said}.")
