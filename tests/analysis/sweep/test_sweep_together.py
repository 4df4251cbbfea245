"""Sweeps: states side by side have the bits of one after another, and an edition its numbers."""

from dataclasses import replace

import numpy as np
import pytest
from armature import with_terms
from designs import covering, listed
from helpers import ROOT, every_joint
from sweep_runs import table

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.states import sample
from pivotree.analysis.states.sample import entries_at, system_at
from pivotree.analysis.states.traced import Equations, TracedOrder, answers
from pivotree.analysis.study.measure import States
from pivotree.analysis.sweep import measure, read_config, sweep
from pivotree.analysis.sweep.measure import tasks
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.proof.soundness import backward_error
from pivotree.kkt.tape.player import rounded_entries, signed
from pivotree.kkt.theorem.ranges import ranges_of

CONFIG = """
output = "{output}"
models = {models}
orders = ["crbm", "abm", "square_root_abm", "virtual_work", "virtual_work_split"]
formats = ["float64", "float32", "bfloat16", "float16:zero", "e4m3", "bfloat16:stochastic:3",
           "float32+mul=bfloat16"]
measure = ["error", "digits", "backward_error", "marked", "fill", "flops", "failed_at"]
[states]
number = 7
seed = 4
"""
UNKNOWNS = ("pdd", "qdd", "f", "lam")
MIXED = ["quadruped", "rr_arm", "chain:3,joint=universal", "comb:3,joint=planar"]


def config(folder, models, text=CONFIG):
    path = folder / "c.toml"
    path.write_text(text.format(output=folder / "s.csv", models=models))
    return read_config(path)


def held():
    """A robot with coupled joints and contacts of every kind."""
    tree = kkt.random_tree(6, 3, joints="revolute")
    names = list(tree)
    loops = [
        kkt.contact(names[5], (0.1, 0, 0.2), tangents=[(1, 0, 0)], compliance=1e-2, damping=2.0),
        kkt.contact(names[4], (0.2, 0.1, 0), (0, 1, 1), on=names[1], name="between"),
        kkt.coupled_joints(tree, names[3], names[2], -2.0),
    ]
    return kkt.build(tree, loops=loops)


def geared(implicit=None):
    return kkt.build(with_terms(kkt.random_tree(5, seed=4), 4), implicit=implicit)


TERMS = {"terms of joints": geared, "an implicit step": lambda: geared(0.02)}
MADE = {"every joint": lambda: kkt.build(every_joint()), "contacts of every kind": held, **TERMS}


def system_of(spec):
    return MADE[spec]() if spec in MADE else kkt.build(kkt.load(spec))


LOOPED = ["four_bar", "stewart", "delta", "gripper", "contacts of every kind"]


@pytest.mark.parametrize("m", [1, 5])
@pytest.mark.parametrize("spec", listed(["every joint", *LOOPED, *TERMS, *MIXED, "chain:1", "star:4"]))
def test_a_forest_of_states_has_the_bits_of_each_state(spec, m):
    system = system_of(spec)
    ranges = ranges_of(system)
    entries = entries_at(system, ranges, 3, range(2, 2 + m))
    for i in range(m):
        alone = system_at(system, ranges, 3, 2 + i).entries
        for letter, ours, theirs in zip(alone._fields, entries, alone, strict=True):
            assert ours[i].tobytes() == theirs.tobytes(), letter


def test_states_whose_zeros_are_others_are_found():
    system = kkt.build(kkt.chain(3))
    entries = entries_at(system, ranges_of(system), 0, range(5))
    assert sample.held(system.pattern, entries).all()
    alone = [least_size(system_at(system, ranges_of(system), 0, i)) for i in range(5)]
    assert sample.least_sizes(system, entries) == pytest.approx(alone, rel=1e-12)  # each state's own
    entries.S[4][system.pattern.S_one] = -1.0
    entries.Phi[2][~system.pattern.Phi] = 1e-9
    entries.a[3][~system.pattern.a] = 1.0
    assert sample.held(system.pattern, entries).tolist() == [True, True, False, system.pattern.a.all(), False]


@pytest.mark.parametrize(
    "format,m", covering(["float64", "dd", "float32", "bfloat16", "p11:up", "e4m3"], [3, 70, 1])
)
def test_a_tape_on_many_states(format, m):
    """Blocks of 64 states, one that is not full, and one state alone."""
    system = kkt.build(kkt.chain(3))
    tape, chosen = kkt.trace(system, orderings.get("square_root_abm")), get_format(format)
    places, values = tape.inputs.values(system.entries)
    random = np.random.default_rng(1)
    values = np.asarray(chosen.cast(values * random.uniform(0.5, 2.0, (m, len(values))))).real
    wanted = np.array([0, 1, -2, *range(tape.slots - 30, tape.slots), -(tape.slots - 1)])
    found = answers(tape, chosen, places, values, wanted)
    assert found.dtype == chosen.dtype
    for i in range(m):
        v = np.zeros(tape.slots, dtype=chosen.dtype)
        v[1], v[places] = 1, values[i]
        runner = chosen.runner(tape)
        with np.errstate(all="ignore"):
            for chunk in tape.chunks():
                runner.run(chunk, v)
        assert np.array_equal(found[i], signed(v, wanted), equal_nan=True)


def one_by_one(system, ranges, seed, numbers):
    """States that are built and traced one after another."""
    return States.of([system_at(system, ranges, seed, i) for i in numbers])


@pytest.mark.product
def test_rows_of_states_together_are_those_of_states_alone(tmp_path, monkeypatch):
    chosen = config(tmp_path, MIXED)
    (work, *more) = [t for t in tasks(chosen, set()) if t.model.text == "rr_arm"]
    assert not more
    several = replace(work, keys=tuple(k if i % 3 else None for i, k in enumerate(work.keys)))
    for task in [t for t in tasks(chosen, set()) if t is not work] + [work, several]:
        rows = measure.measure(task)
        with monkeypatch.context() as alone:
            alone.setattr(States, "drawn", one_by_one)
            assert measure.measure(task) == rows
        assert len(rows) == sum(map(bool, task.keys))
        assert {row[-1] for row in rows} - {None}  # some fail, and say why


@pytest.mark.parametrize(
    "spec,format", covering(["every joint", *MIXED, "star:4"], ["float32", "float64", "bfloat16"])
)
def test_backward_errors_of_many_states_are_those_of_eliminate(spec, format):
    """With one wrong answer among them, and one that is not a number."""
    system = system_of(spec)
    ranges, chosen = ranges_of(system), get_format(format)
    equations = Equations.of(system, entries_at(system, ranges, 3, range(4)), chosen)
    systems = [system_at(system, ranges, 3, i) for i in range(4)]
    order = orderings.get("abm")
    found = [kkt.eliminate(one, order, format, records=False) for one in systems]
    x = [np.array([getattr(one, part).ravel() for one in found]) for part in UNKNOWNS]
    here = np.array([3, 0, 2, 1])
    theirs = np.array([found[i].backward_error.normwise for i in here])
    ours = equations.backward_errors(here, *(part[here] for part in x))
    assert ours == pytest.approx(theirs, rel=2e-3, abs=1e-21)
    x[1][2] *= 1.5
    x[2][1, -1] = np.nan
    ours = equations.backward_errors(here, *(part[here] for part in x))
    assert ours[1] == pytest.approx(theirs[1], rel=2e-3) and np.isnan(ours[3])
    pdd, f = (part[2].reshape(-1, 6) for part in (x[0], x[2]))
    entries = rounded_entries(systems[2], chosen)
    entries = Entries(*(np.asarray(getattr(entries, e), dtype=np.longdouble) for e in LETTERS))
    alone = backward_error(systems[2], entries, (pdd, x[1][2], f, np.zeros(0))).normwise
    assert ours[2] == pytest.approx(alone, rel=1e-6) and ours[2] > 2 * theirs[2]


@pytest.mark.product
def test_joints_that_turn_against_the_split_share_tapes(tmp_path, monkeypatch):
    """The rows are those of orders that are traced anew in every state."""
    (work,) = tasks(config(tmp_path, ["chain:3,joint=universal"]), set())
    rows = measure.measure(work)
    order = measure.prepare(work.settings, work.model).orders["virtual_work"]
    assert 1 < len(order.others) < 7
    monkeypatch.setattr(States, "drawn", one_by_one)
    monkeypatch.setattr(TracedOrder, "fitting", TracedOrder._anew)
    assert measure.measure(work) == rows


# -- editions -------------------------------------------------------------------------------------

# Models whose poses are given: no sine, and the numbers are those of IEEE arithmetic anywhere.
MODELS = [str(ROOT / "tests" / "models" / f"{name}.json") for name in ("ur5", "anymal_c_ff")]
NUMBERS = """
2.302817862710083e-16,30,993 1.6709359457865083e-07,30,993 0.0064154649308818205,30,993
4.471171256232254e-17,5,1731 8.011412901676378e-08,5,1731 0.0016402423808812862,5,1731
4.8502347640851634e-17,5,2064 1.3458577229511648e-08,5,2064 0.004783420326541523,5,2064
1.423544908938177e-15,26,2906 2.060250969432285e-07,26,2906 0.011582437761236433,26,2906
3.076945326908182e-16,48,5092 9.112632555345855e-08,48,5092 0.011925674308860984,48,5092
1.0185147552055093e-16,12,7082 8.958686521287909e-08,12,7082 0.004658193286612274,12,7082
1.0185147552055093e-16,12,8141 5.3458277104847777e-08,12,8141 0.0029123810703222475,12,8141
6.620186014637414e-16,76,30102 2.7653856063594787e-07,76,30102 0.07160999614786219,76,30102
"""
PRINTED = """
output = "{output}"
models = {models}
orders = ["crbm", "abm", "square_root_abm", "virtual_work"]
formats = ["float64", "float32", "bfloat16"]
measure = ["error", "fill", "flops"]
"""


@pytest.mark.product
def test_numbers_of_an_edition_stay(tmp_path):
    """Where this fails for a good reason, raise EDITION, and write down the new numbers."""
    sweep(config(tmp_path, MODELS, PRINTED), jobs=1)
    rows = [",".join(list(row.values())[-3:]) for row in table(tmp_path / "s.csv")]
    assert measure.EDITION == 6 and rows == NUMBERS.split()


def test_rows_of_another_edition_are_refused_and_kept(tmp_path, monkeypatch, capsys):
    chosen = config(tmp_path, ["chain:2"], PRINTED)
    sweep(chosen, jobs=1)
    before = (tmp_path / "s.csv").read_text()
    (tmp_path / "s.csv").write_text(before.replace(f"\n{measure.EDITION}.", "\n1."))
    old = (tmp_path / "s.csv").read_bytes()
    assert main(["sweep", str(tmp_path / "c.toml"), "-j", "1"]) == 2
    told = capsys.readouterr().err
    assert "whose numbers were others; give another output" in told and told.count("\n") == 1
    assert (tmp_path / "s.csv").read_bytes() == old
