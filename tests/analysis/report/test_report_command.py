"""pivotree report: stopped, asked, and refused; and the least armature, that it prints."""

import json

import numpy as np
import pytest
from report_made import table

from pivotree import kkt, orderings
from pivotree.analysis import cli
from pivotree.analysis.report import gather as gathering
from pivotree.analysis.report import robot_report
from pivotree.analysis.report.armature import least_armature
from pivotree.analysis.report.make import prepare
from pivotree.analysis.report.notebook import Notebook
from pivotree.analysis.states.sample import draw, system_at
from pivotree.kkt.matrix.ranges import ranges_of


@pytest.mark.product
def test_an_ended_run_is_taken_up_and_measures_what_is_missing(arm, tmp_path, monkeypatch):
    def report(folder, progress=lambda text, done: None, **given):
        given = {"states": 9, "seed": 3} | given
        orders, formats = ["abm", "crbm"], ["float32"]
        return robot_report(
            kkt.load(arm), "arm", orders, formats, folder=tmp_path / folder, progress=progress, **given
        )

    def interrupt(text, done):
        if done == 5:
            raise KeyboardInterrupt

    whole = report("whole")
    with pytest.raises(KeyboardInterrupt):
        report("ended", interrupt)
    part = tmp_path / "ended" / "states.part"
    assert [path.name for path in part.parent.iterdir()] == [part.name]
    part.write_bytes(part.read_bytes() + b"torn")
    seen, usual = [], gathering.measure
    monkeypatch.setattr(gathering, "measure", lambda *x: seen.append(x[1]) or usual(*x))
    for other in ({"seed": 4}, {"states": 8, "seed": 4}):
        with pytest.raises(kkt.PivotreeError, match="states of other orders, formats or seeds"):
            report("ended", **other)
    again = report("ended")
    assert seen == [5, 6, 7, 8] and again.as_dict() | {"seconds": 0} == whole.as_dict() | {"seconds": 0}
    for name in ("states.csv", "worst"):
        both = (tmp_path / folder / name for folder in ("whole", "ended"))
        if name == "worst":
            both = (sorted(x.read_bytes() for x in folder.iterdir()) for folder in both)
        else:
            both = (x.read_bytes() for x in both)
        assert next(both) == next(both)
    assert not part.exists()
    with pytest.raises(kkt.PivotreeError, match="is not empty"):
        report("ended")


def test_states_are_on_disk_as_they_come(arm, tmp_path):
    """What a killed run leaves: every state that was measured, for fewer states too."""
    setup, _ = prepare(kkt.load(arm), "arm", ["abm"], ["float32"], 0)
    path = tmp_path / "states.csv"
    notes = Notebook(setup, 3, path)
    for number in (2, 0):
        notes.keep(gathering.measure(setup, number))
        with pytest.raises(kkt.PivotreeError, match="another report is writing it"):
            Notebook(setup, 3, path)
    del notes
    other, _ = prepare(kkt.chain(setup.system.tree.n), "arm", ["abm"], ["float32"], 0)
    with pytest.raises(kkt.PivotreeError, match="states of another robot"):
        Notebook(other, 3, path)
    fewer = Notebook(setup, 2, path)
    assert fewer.missing() == [1] and fewer.numbers.tolist() == [0]
    fewer.close()
    notes = Notebook(setup, 3, path)
    assert notes.missing() == [1] and not path.exists()
    notes.finish()
    notes.close(done=True)
    assert [int(row["state"]) for row in table(tmp_path)] == [0, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["states.csv"]


def test_records_without_a_state_are_nobodys(arm, tmp_path):
    """A run that was killed before its first state leaves only the line that says what it is."""
    setup, _ = prepare(kkt.load(arm), "arm", ["abm"], ["float32"], 0)
    other, _ = prepare(kkt.load(arm), "arm", ["crbm"], ["float32"], 0)
    path, part = tmp_path / "states.csv", tmp_path / "states.part"
    for left in (b"", f"{other.head()}\n".encode(), other.head().encode()[:9]):
        part.write_bytes(left)
        notes = Notebook(setup, 1, path)
        assert notes.missing() == [0] and part.read_text() == f"{setup.head()}\n"
        notes.close()
        assert not part.exists()


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Exit code, standard output and error of a command, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code
        return (code, *capsys.readouterr())

    return call


def test_the_command_writes_and_tells(run, tmp_path, arm):
    short = ("--states", "3", "--orders", "abm,crbm", "--formats", "float32,tf32")
    code, out, _ = run("report", arm, *short)
    assert code == 0 and "3 digits" in out and "float32" in out
    assert (tmp_path / "report-arm" / "report.html").exists()
    short = ("--states", "3", "--orders", "abm", "--formats", "float32")
    code, out, _ = run("report", arm, *short, "--json", "-o", "other", "--digits", "2")
    document = json.loads(out)
    assert code == 0 and document["digits"] == 2
    assert document == json.loads((tmp_path / "other" / "report.json").read_text())


@pytest.mark.parametrize(
    "options,words",
    [
        (["--states", "0"], ["--states", "0 is no number of states", "1 to"]),
        (["--states", "-5"], ["--states", "-5"]),
        (["--states", "many"], ["--states", "many"]),
        (["--seed", "-1"], ["--seed", "-1"]),
        (["--digits", "0"], ["--digits", "1 to 15"]),
        (["--digits", "40"], ["--digits", "40", "1 to 15"]),
        (["--digits", "nan"], ["--digits", "nan"]),
        (["--formats", "float31"], ["'float31'", "float32"]),
        (["--formats", "mp:50"], ["'mp:50'", "fixed precision", "float32"]),
        (["--formats", "float32,float32"], ["'float32'", "twice"]),
        (["--formats", ","], ["--formats", "empty"]),
        (["--orders", "amb"], ["'amb'", "abm"]),
        (["--orders", "inverse_dynamics"], ["inverse_dynamics", "abm"]),
        (["--orders", "abm,abm"], ["'abm'", "twice"]),
        (["--q", "1"], ["--q"]),
        (["-o", "full"], ["full", "not empty", "-o"]),
        (["-o", "file"], ["option -o: ", "file", "Not a directory"]),
        (["-o", "file/below"], ["file/below", "cannot be written"]),
    ],
)
def test_refusals(run, tmp_path, arm, options, words):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    code, out, err = run("report", arm, *options)
    (line,) = err.splitlines()
    assert code == 2 and out == "" and line.startswith("pivotree: ")
    assert all(word in line for word in words), line
    # nothing is written over, and no empty folder stays behind
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "full"]
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_a_second_report_leaves_the_first_ones_records(run, tmp_path, arm):
    setup, _ = prepare(kkt.load(arm), "arm", ["abm"], ["float32"], 0)
    (tmp_path / "out").mkdir()
    first = Notebook(setup, 1, tmp_path / "out" / "states.csv")
    short = ("--states", "1", "--orders", "abm", "--formats", "float32", "-o", "out")
    code, _, err = run("report", arm, *short)
    assert code == 2 and "another report is writing it" in err
    first.keep(gathering.measure(setup, 0))
    first.close()
    assert (tmp_path / "out" / "states.part").stat().st_size > len(setup.head()) + 1


def test_a_model_without_joints_is_refused(run, tmp_path):
    tree = kkt.new_tree("rock")
    kkt.add_body(tree, "rock", mass=1.0, inertia=np.eye(3), joint="fixed")
    with pytest.raises(kkt.ModelError, match="no joint that moves"):
        robot_report(tree, "rock", ["abm"], ["float32"], states=3)
    kkt.write_model(tmp_path / "rock.json", kkt.build(tree).state)
    code, _, err = run("report", "rock.json")
    assert code == 2 and "rock.json: has no joint that moves" in err
    assert [p.name for p in tmp_path.iterdir()] == ["rock.json"]


def test_an_interrupt_before_any_state_leaves_nothing(run, tmp_path, arm, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pivotree.analysis.report.make.gather", interrupted)
    code, out, err = run("report", arm, "--orders", "abm", "--formats", "float32", "-o", "new")
    assert code == 130 and out == "" and err == "pivotree: interrupted; nothing was measured\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.product
def test_an_order_of_ones_own_is_called_by_its_name(run, tmp_path):
    """Its file is named only where a command has to find it."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "def odds(structure):\n"
        "    return [[(x, k) for x in ('pdd', 'qdd', 'f')] for k in structure.tip_to_base]\n"
    )
    folder = tmp_path / "out"
    short = ("--formats", "float32", "--states", "2", "-o", folder)
    code, out, _ = run("report", "chain:2", "--orders", f"{mine}:odds", *short)
    assert code == 0 and "enough for odds." in out and "mine.py" not in out
    assert "\n0,odds,float32," in (folder / "states.csv").read_text()
    text = (folder / "report.json").read_text()
    assert text.count("mine.py:odds") == text.count("mine.py:odds --format float32") == 1


def test_one_or_several_orders_go_by_either_name(run):
    code, out, _ = run("solve", "chain:2", "--orders", "abm", "--formats", "float32")
    assert code == 0 and "abm in float32" in out


# -- the least armature that keeps an order's digits: held, and least, by other means -------------

STATES, WANTED = 6, 5.0


@pytest.fixture(scope="module")
def found():
    return least_armature(kkt.chain(12), digits=WANTED, states=STATES)


def digits(added):
    """Of crbm in float32 in the worst state, against certified answers, armature in the model."""
    tree = kkt.chain(12)
    plain = kkt.build(tree)
    heavier = tree.copy()
    for name, x in zip(heavier, added, strict=True):
        heavier.nodes[name]["armature"] = x
    worst = 0.0
    for i in range(STATES):
        state = system_at(plain, ranges_of(plain), 0, i)
        q = draw(ranges_of(plain), 0, i)[0]  # efforts as they were
        system = kkt.build(heavier, q, state.state.qd, state.state.tau)
        answer = kkt.eliminate(system, orderings.get("crbm"), "float32").qdd
        exact = kkt.certify(system, 20, rounded_to="float32")
        worst = max(worst, exact.error(answer))
    return -np.log10(worst)


@pytest.mark.product
def test_the_digits_are_kept_with_it_and_not_without(found):
    added = [joint.least for joint in found.joints]
    assert found.before < WANTED <= found.after
    assert digits(np.zeros(12)) == pytest.approx(found.before, abs=0.1)
    assert digits(added) == pytest.approx(found.after, abs=0.1)
    assert 0.0 < found.cost[0] <= found.cost[1] and found.uniform_cost > 0.0


@pytest.mark.product
def test_no_joint_can_do_with_a_tenth_of_it(found):
    added = np.array([joint.least for joint in found.joints])
    large = [j for j in np.flatnonzero(added) if added[j] > 1e-3 * max(added)]
    assert large
    for j in large[:2]:
        less = added.copy()
        less[j] /= 10.0
        assert digits(less) < WANTED


def test_where_the_digits_are_there_none_is_needed():
    found = least_armature(kkt.chain(2), "abm", digits=2.0, states=4)
    assert not any(joint.least for joint in found.joints)
    assert "no armature is needed for 2" in found.text()


def test_the_command_prints_it(run):
    asked = ("report", "chain:2", "--armature", "--digits", "2", "--states", "4")
    assert "no armature is needed" in run(*asked)[1]
    assert json.loads(run(*asked, "--json")[1])[0]["order"] == "crbm"
    assert run(*asked, "-o", "folder")[0] == 2
