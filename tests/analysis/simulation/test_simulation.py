"""Motions and ``pivotree simulate``; formulation stiffness on a two-link chain."""

import json
from dataclasses import replace

import numpy as np
import pytest
from armature import with_terms
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.simulation import SCIPY, Integration, Motion, side_by_side, simulate
from pivotree.analysis.simulation.cash_karp import CashKarp
from pivotree.analysis.simulation.run import starts, verdict

NOISE = np.random.default_rng(0)
START = {"q": [0.3, -0.4], "qd": [1.0, -1.0]}


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
    found = simulate(tree, "abm", integration=Integration(seconds=0.4, eps=1e-9))
    assert found.failed == 0 and found.drift < 1e-6
    rough = simulate(tree, "abm", integration=Integration(0.4, 1e-4, steps=np.int64(999)), runs=np.int64(1))
    assert rough.drift > found.drift  # it is measured, not zero


@pytest.mark.product
def test_constant_efforts_do_work():
    tree = kkt.chain(3)
    tau = np.array([3.0, -1.0, 0.5])
    assert simulate(tree, "abm", integration=Integration(seconds=0.4, eps=1e-9), tau=tau).drift < 1e-6
    motion = Motion.of(tree, orderings.get("abm"), tau=tau)
    states = np.stack([motion.start(q) for q in ([1.0, 0.0, 0.0], [1.5, 1.0, 2.0])])
    assert np.allclose(motion.work(states), [0.0, 1.5 - 1.0 + 1.0])


def test_no_drift_is_told_where_a_wrench_does_work():
    """A slide of 2 kg that is pushed by 4 N gains energy: that is no drift of the integrator."""
    tree = kkt.new_tree("pushed", gravity=(0.0, 0.0, 0.0))
    kkt.add_body(tree, "slide", mass=2.0, inertia=np.eye(3), joint="prismatic", axis=(1.0, 0.0, 0.0))
    tree.nodes["slide"]["wrench"] = (0.0, 0.0, 0.0, 4.0, 0.0, 0.0)
    found = simulate(tree, "abm", integration=Integration(seconds=0.5, eps=1e-9))
    assert np.allclose(found.records[0].y[-1], [0.25, 1.0])
    assert found.drift is None
    motion = Motion.of(tree, orderings.get("abm"))
    with pytest.raises(kkt.ModelError, match="body 'slide': field 'wrench' acts on it, and its work is no"):
        motion.work(motion.start())


@pytest.fixture(scope="module")
def moved():
    """Where ABM's accelerations take a chain in half a second, by Cash and Karp's steps."""
    return simulate(kkt.chain(2), "abm", integration=Integration(seconds=0.5, eps=1e-9), **START)


@pytest.mark.product
@pytest.mark.parametrize("method", SCIPY)
def test_scipy_on_the_same_motion(method, moved):
    chosen = Integration(integrator=method, seconds=0.5, eps=1e-8)
    found = simulate(kkt.chain(2), "abm", integration=chosen, **START)
    assert np.abs(found.records[0].y[-1] - moved.records[0].y[-1]).max() < 1e-4
    assert found.records[0].evaluations > 10


def oscillator():
    """One sliding mass 2 kg with armature 1 kg, damping 0.6 N s/m, a spring 12 N/m at 0.3 m."""
    tree = kkt.new_tree("oscillator", gravity=(0.0, 0.0, 0.0))
    terms = {"armature": 1.0, "damping": 0.6, "stiffness": 12.0, "rest": 0.3}
    slide = {"joint": "prismatic", "axis": (1.0, 0.0, 0.0)}
    kkt.add_body(tree, "mass", mass=2.0, inertia=np.eye(3), **slide, **terms)
    return tree


@pytest.mark.product
def test_a_damped_oscillator_moves_by_its_closed_form():
    """x = rest + e^(-c t) (A cos w t + B sin w t), with c = d / 2m and m the mass and its rotor."""
    chosen = Integration(seconds=0.5, eps=1e-11)
    found = simulate(oscillator(), "abm", integration=chosen, q=[0.8], qd=[-1.0])
    m, d, k, t = 3.0, 0.6, 12.0, found.records[0].t
    c = d / (2 * m)
    w = np.sqrt(k / m - c * c)
    x = 0.3 + np.exp(-c * t) * (0.5 * np.cos(w * t) + (-1.0 + c * 0.5) / w * np.sin(w * t))
    assert np.abs(found.records[0].y[:, 0] - x).max() < 1e-9
    assert found.failed == 0 and found.drift < 1e-9


def test_drift_is_relative_to_the_largest_kinetic_energy_and_each_motion_has_its_runs():
    one, two = (Motion.of(kkt.chain(2), "abm", tau=[0.0, tau]) for tau in (0.0, 0.5))
    begun = [one.start([0.3, 0.1], [0.0, 0.0]), two.start([1.3, 0.1], [0.0, 0.0])]
    found = side_by_side([one, two], begun, "float64", Integration(0.4, 1e-4), runs=3)
    for motion, start, own in zip((one, two), begun, found, strict=True):
        first = np.array([record.y[0] for record in own.records])
        assert first.shape == (3, 4) and np.abs(first - start).max() < 1e-12
        energies, work = motion.energies(own.records[0].y), motion.work(own.records[0].y)
        whole = energies.sum(1) - work
        assert own.drift == pytest.approx(np.abs(whole - whole[0]).max() / energies[:, 0].max(), rel=1e-3)
    counted = [replace(r, evaluations=n) for r, n in zip(own.records, (10, 12, 14), strict=True)]
    assert replace(own, records=tuple(counted)).spread == pytest.approx(2.0)


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


def test_a_try_that_overflows_is_a_try():
    motion = Motion.of(kkt.chain(2), orderings.get("abm"))
    y = np.array([[0.1, 0.2, np.inf, 0.0], [0.1, 0.2, 0.0, 0.0]])
    rates = motion.rates(y)
    assert np.isnan(rates[0]).all() and np.isfinite(rates[1]).all()


# -- ensembles and formulation stiffness --------------------------------------------------------


def test_starts_are_one_roundoff_apart():
    y = np.array([0.0, 2.0])
    many = starts(y, 50, 0, "float32")
    assert (many[0] == y).all() and len(np.unique(many[:, 1])) > 10
    assert 0.0 < np.abs(many - y).max() < 1e-6
    assert np.abs(starts(y, 50, 0, "float64") - y).max() < 1e-14
    assert (starts(y, 5, 1, "float32")[1:] != starts(y, 5, 0, "float32")[1:]).any()


# -- the command --------------------------------------------------------------------------------


def run(capsys, *arguments):
    code = main(["simulate", *arguments])
    return (code, *capsys.readouterr())


@pytest.mark.product
def test_a_simulation_writes_its_steps(capsys, tmp_path):
    code, out, err = run(
        capsys, "two_link:r=0.01", "--seconds", "0.5", "--runs", "2", "--json", "-o", str(tmp_path / "new")
    )
    rows = json.loads(out)["rows"]
    assert code == 0 and err == ""
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert written == {"steps.png", "steps.pdf", "steps_dark.png", "steps.csv"}
    steps = np.loadtxt(tmp_path / "new" / "steps.csv", delimiter=",", skiprows=1, usecols=(3, 4))
    assert len(steps) == sum(2 * row["accepted"] for row in rows)


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
    command = "two_link:r=0.0015 --integrator cash_karp,state=float32,floor=1e-30 --runs 5"
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
    assert all(0.0 < each.wall < 600.0 for each in found)
    assert "and 0 operations" in verdict(found)


@pytest.mark.product
@pytest.mark.parametrize("order", ["crbm_com", "abm"])
def test_a_motion_in_the_world_s_frame_is_the_same_motion_rounded_otherwise(order):
    """In float64 the counts are those of the bodies' own frames; operations are others."""
    tree, short = kkt.two_link(0.1), Integration(seconds=0.2)
    own, world = (simulate(tree, order, integration=short, frames=x) for x in ("own", "world"))
    assert own.mean == world.mean and own.operations < world.operations


@pytest.mark.product
def test_accelerations_that_do_not_hold_are_told():
    """CRBM in float32 on a long chain keeps few digits; ABM keeps six, and nothing is said."""
    chain, said = kkt.chain(30), "1 of 1 states (float32 keeps fewer than half of its digits here)"
    lost, kept = (Motion.of(chain, orderings.get(name), "float32") for name in ("crbm", "abm"))
    assert kept.doubt(kept.start()[None]) is None
    assert lost.doubt(lost.start()[None]) == said
    short = simulate(kkt.two_link(), "abm", integration=Integration(seconds=0.1))
    assert short.doubt is None and short.as_dict()["doubt"] is None
    doubtful = replace(short, doubt=said)
    assert verdict([doubtful]).endswith(f" abm's accelerations do not hold at {said}.")
