"""Sweeps: rows against ``compare``, and nothing lost or twice there, whatever is killed."""

import csv
import errno
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.states.sample import ranges_of, system_at
from pivotree.analysis.sweep import pools, read_config, sweep
from pivotree.analysis.sweep.cases import positions
from pivotree.analysis.sweep.tapes import Tapes, fingerprint

SMALL = """
output = "{output}"
models = ["chain:3", "two_link:r={{r}}", "binary:{{k}}"]
orders = ["crbm", "abm"]
formats = ["float32", "bfloat16"]
measure = ["error", "digits", "backward_error", "marked", "kappa", "fill", "flops", "failed_at"]
[ranges]
r = [0.5, 1e-3]
k = {{ from = 1, to = 2, step = 1 }}
[states]
number = 3
seed = 5
"""
LONG = """
output = "{output}"
models = ["random_tree:n=3,seed={{s}}"]
orders = ["{output.parent}/slow.py:slow_abm", "crbm"]
formats = ["float32", "bfloat16"]
[ranges]
s = {{ from = 1, to = 30, step = 1 }}
[states]
number = 2
"""
ROWS = 30 * 2 * 2 * 2
SLOW = """import os, time
def slow_abm(structure):
    time.sleep(float(os.environ.get("SLOW_ABM", 0.0)))
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
"""
COMMAND = [sys.executable, "-m", "pivotree", "sweep"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def config(folder, text, output="s.csv"):
    path = folder / f"{Path(output).stem}.toml"
    path.write_text(text.format(output=folder / output))
    return path


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def done_parts(path):
    return sorted(path.with_name(f"{path.name}.parts").glob("[0-9]*.csv"))


def kept(output):
    """Keys in the parts, none of whose lines is torn."""
    rows = [row for part in done_parts(output) for row in table(part)]
    assert all(None not in row and None not in row.values() for row in rows)
    return [row["key"] for row in rows]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    sweep(read_config(config(folder, SMALL)), jobs=1)
    return folder / "s.csv"


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A sweep of many pieces in a folder, and its table by an uninterrupted run."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "slow.py").write_text(SLOW)
    sweep(read_config(config(folder, LONG, "whole.csv")), jobs=1)
    return folder, (folder / "whole.csv").read_bytes()


# -- what a row says ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_case_has_one_row_in_the_sequence_of_the_config(small):
    rows = table(small)
    cases = [(r["model"], r["state"], r["order"], r["format"]) for r in rows]
    models = ["chain:3", "two_link:r=0.5", "two_link:r=0.001", "binary:1", "binary:2"]
    expected = [
        (model, state, order, format)
        for model in models for state in "012"
        for order in ("crbm", "abm") for format in ("float32", "bfloat16")
    ]  # fmt: skip
    assert cases == expected
    assert len({r["key"] for r in rows}) == len(rows)
    assert [r["r"] for r in rows if r["model"] == "two_link:r=0.5"] == ["0.5"] * 12
    assert {r["k"] for r in rows if r["model"] == "chain:3"} == {""}


@pytest.mark.thorough
@pytest.mark.parametrize("reference", ["certified", "double_double"])
def test_rows_are_those_of_compare(tmp_path, reference):
    path = config(tmp_path, f'reference = "{reference}"\n' + SMALL)
    sweep(read_config(path), jobs=1)
    rows = {(r["model"], r["state"], r["order"], r["format"]): r for r in table(tmp_path / "s.csv")}
    for spec in ("chain:3", "two_link:r=0.001"):
        base = kkt.build(kkt.load(spec))
        result = analysis.compare(
            system_at(base, ranges_of(base), 5, 2), ["crbm", "abm"], ["float32", "bfloat16"]
        )
        for ours in result.rows:
            row = rows[spec, "2", ours.order, ours.format]
            assert (row["fill"], row["flops"]) == (str(ours.fill_blocks), str(ours.flops))
            assert row["failed_at"] == (ours.failed_at or "")
            assert float(row["kappa"]) == pytest.approx(result.kappa, rel=1e-9)
            assert bool(row["marked"]) == (ours.marked is not None)
            if ours.error is None:
                assert row["error"] == row["digits"] == row["backward_error"] == ""
                continue
            assert float(row["backward_error"]) == pytest.approx(ours.backward_error, rel=1e-3)
            near = 1e-15 if reference == "certified" else 1e-9
            assert float(row["error"]) == pytest.approx(ours.error, rel=near)
            assert float(row["digits"]) == ours.digits
    assert any(row["failed_at"] for row in rows.values())  # bfloat16 loses a pivot of two_link


@pytest.mark.thorough
def test_answers_of_a_robot_that_is_badly_scaled_are_marked_or_refused(tmp_path, capsys):
    """A payload of 1e6 times the wrist's mass: every row is right, or says that it is not."""
    text = """
output = "{output}"
models = ["example1:m1=1e6", "example3:m1=1e8,case=2", "ur5"]
orders = ["crbm", "abm", "square_root_abm", "virtual_work"]
[states]
number = 5
"""
    ur5 = ROOT / "tests" / "models" / "ur5.json"
    path = config(tmp_path, text.replace('"ur5"', f'"{ur5}"'))
    assert main(["sweep", str(path), "--json", "-j", "1"]) == 0
    summary = json.loads(capsys.readouterr().out)
    rows = table(tmp_path / "s.csv")
    bound = {"float32": 2.0**-12, "float64": 2.0**-26.5}
    wrong = [r for r in rows if r["error"] and float(r["error"]) > bound[r["format"]]]
    assert wrong and all(r["marked"] for r in wrong)
    assert not any(r["marked"] and r["failed_at"] for r in rows)
    right = [r for r in rows if r["model"].endswith("ur5.json")]
    assert right and not any(r["marked"] or r["failed_at"] for r in right)
    assert summary["marked"] == sum(bool(r["marked"]) for r in rows) >= len(wrong)
    assert summary["failed"] == sum(bool(r["failed_at"]) for r in rows)
    (tmp_path / "s.csv").unlink()
    assert main(["sweep", str(path), "-j", "1"]) == 0
    assert f", {summary['marked']} marked as not to be relied on" in capsys.readouterr().out


def test_models_of_one_pattern_share_tapes_and_others_do_not():
    tapes = Tapes()
    systems = [kkt.build(kkt.load(f"two_link:r={r}"), q=[0.3, 0.4]) for r in (0.5, 0.1)]
    first, second = (tapes.orders(system, ("crbm",))["crbm"] for system in systems)
    assert first is second
    assert first.tape.flops == kkt.trace(systems[1], orderings.get("crbm")).flops
    assert fingerprint(systems[0]) != fingerprint(kkt.build(kkt.chain(2), q=[0.3, 0.4]))


def test_what_a_model_rules_out_is_told_in_its_rows(tmp_path):
    tree = kkt.new_tree("light")
    for body, parent, mass in ((1, None, 1.0), (2, 1, 0.0), (3, 2, 1.0)):
        kkt.add_body(
            tree, body, parent, mass=mass, com=(0.05, 0, 0), inertia=0.1 * mass * np.eye(3),
            joint="revolute", axis=(0, body == 2, body != 2), p=(0.1, 0, 0),
        )  # fmt: skip
    kkt.write_model(tmp_path / "light.json", kkt.build(tree).state)
    text = f'models = ["{tmp_path}/light.json"]\norders = ["virtual_work", "abm"]\n'
    summary = sweep(read_config(config(tmp_path, 'output = "{output}"\n' + text)), jobs=1)
    refused, fine = table(tmp_path / "s.csv")[::2], table(tmp_path / "s.csv")[2:]
    assert summary.failed == 2
    assert "order 'virtual_work' pivots on M_k at step 2" in refused[0]["failed_at"]
    assert refused[0]["error"] == refused[0]["fill"] == ""
    assert all(not row["failed_at"] and float(row["error"]) < 1e-5 for row in fine)


# -- killed, and taken up again -------------------------------------------------------------------


@pytest.mark.thorough
def test_rerun_measures_nothing_and_more_states_only_what_is_missing(tmp_path, small):
    path = config(tmp_path, SMALL)
    sweep(read_config(path), jobs=1)
    assert sweep(read_config(path), jobs=1).measured == 0
    assert (tmp_path / "s.csv").read_bytes() == small.read_bytes()
    path.write_text(path.read_text().replace("number = 3", "number = 4"))
    more = sweep(read_config(path), jobs=1)
    assert (more.kept, more.measured, more.rows) == (60, 20, 80)
    at = positions(read_config(path))
    assert [row["key"] for row in table(tmp_path / "s.csv")] == list(at)


@pytest.mark.thorough
def test_rows_that_are_no_longer_asked_for_stay_at_the_end(tmp_path):
    path = config(tmp_path, SMALL)
    sweep(read_config(path), jobs=1)
    path.write_text(path.read_text().replace('["crbm", "abm"]', '["abm", "virtual_work"]'))
    result = sweep(read_config(path), jobs=1)
    assert (result.kept, result.measured) == (30, 30)
    orders = [row["order"] for row in table(tmp_path / "s.csv")]
    assert orders[60:] == ["crbm"] * 30 and "crbm" not in orders[:60]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers in /proc")
def test_sigkill_of_a_worker_then_of_the_driver_loses_and_repeats_nothing(long):
    folder, whole = long
    path, output = config(folder, LONG, "k.csv"), folder / "k.csv"
    slow = ENVIRONMENT | {"SLOW_ABM": "0.3"}
    driver = subprocess.Popen([*COMMAND, str(path), "-j", "2"], cwd=folder, env=slow)
    try:
        wait_for(lambda: done_parts(output))
        worker = workers_of(driver.pid)[0]
        os.kill(worker, signal.SIGKILL)
        count = len(done_parts(output))
        wait_for(lambda: len(done_parts(output)) > count)
        left = workers_of(driver.pid)
        assert left and worker not in left  # others took over
    finally:
        driver.kill()
        driver.wait()
    keys = kept(output)
    assert 0 < len(keys) == len(set(keys)) < ROWS and not output.exists()
    summary = sweep(read_config(path), jobs=1)
    assert (summary.kept, summary.measured) == (len(keys), ROWS - len(keys))
    assert output.read_bytes() == whole and not output.with_name("k.csv.parts").exists()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))  # no orphans


@pytest.mark.thorough
def test_killed_between_the_table_and_the_removal_of_its_parts(tmp_path, small):
    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    parts = tmp_path / "s.csv.parts"
    parts.mkdir()
    for place in (output, parts / "00000001.csv", parts / "00000007.csv"):
        place.write_bytes(small.read_bytes())
    for torn in (parts / ".00000008.123.part.csv", tmp_path / ".s.123.part.csv"):
        torn.write_bytes(small.read_bytes()[:1000])
    assert sweep(read_config(path), jobs=1).measured == 0
    assert output.read_bytes() == small.read_bytes()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["s.csv", "s.toml"]


def wait_for(what, seconds=60.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)


def workers_of(pid):
    """joblib's worker processes of a driver."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"LokyProcess" in (stat.parent / "cmdline").read_bytes():
                found.append(int(stat.parent.name))
        except OSError:  # it has ended
            continue
    return found


def dies_once(task):
    if task == 3 and not (MARKER := Path(os.environ["SWEEP_MARKER"])).exists():
        MARKER.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def dies(task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_pieces_of_a_killed_worker_are_done_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SWEEP_MARKER", str(tmp_path / "died"))
    assert sorted(pools.processes(dies_once, iter(range(20)), 2)) == list(range(20))
    assert (tmp_path / "died").exists()
    monkeypatch.setattr(pools, "DEATHS", 2)
    with pytest.raises(kkt.PivotreeError, match=r"were killed 2 times .* want of memory"):
        list(pools.processes(dies, iter(range(4)), 2))


def test_only_one_driver_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    from pivotree.analysis.sweep.store import Store
    from pivotree.analysis.sweep.tables import table_of

    read = read_config(config(tmp_path, SMALL))
    with (
        Store(read.output, table_of(".csv", read.kinds)),
        pytest.raises(kkt.PivotreeError, match="another sweep is writing it"),
    ):
        sweep(read, jobs=1)


# -- a full disk ----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("whole", [1, 2, 4])
def test_a_disk_that_is_full_after_some_writes(tmp_path, monkeypatch, capsys, small, whole):
    """The parts that were written stay, the message is one sentence, the rerun does the rest."""
    monkeypatch.setattr("pivotree.analysis.sweep.store.FIRST", 0.0)  # parts at once
    monkeypatch.setattr("pivotree.analysis.sweep.store.SHARE", 0.0)
    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    write, count = Path.write_text, iter(range(100))

    def full(self, text, **how):
        if next(count) < whole:
            return write(self, text, **how)
        write(self, text[:100], **how)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        assert main(["sweep", str(path), "-j", "1"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "No space left on device" in told and "is kept" in told
    assert len(done_parts(output)) == whole and not output.exists()
    keys = kept(output)
    result = sweep(read_config(path), jobs=1)
    assert (result.kept, result.measured) == (len(keys), 60 - len(keys))
    assert output.read_bytes() == small.read_bytes()


@pytest.mark.thorough
def test_a_disk_that_is_full_when_the_table_is_written(tmp_path, monkeypatch, capsys, small):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    with monkeypatch.context() as patch:
        patch.setattr("pivotree.analysis.sweep.tables.Csv.join", full)
        assert main(["sweep", str(path), "-j", "1"]) == 2
    assert f"{output}: cannot be written (No space left" in capsys.readouterr().err
    assert sweep(read_config(path), jobs=1).measured == 0
    assert output.read_bytes() == small.read_bytes()


@pytest.mark.slow
def test_a_file_system_that_fills_up(tmp_path):
    """A real one of 64 KiB, in a mount namespace of its own."""
    small = tmp_path / "disk"
    small.mkdir()
    path = config(tmp_path, SMALL.replace("number = 3", "number = 60"), "disk/s.csv")
    often = tmp_path / "often.py"  # a part a chunk, however fast the machine is
    often.write_text(
        "import sys\n"
        "from pivotree.analysis.cli import main\n"
        "from pivotree.analysis.sweep import store\n"
        "store.FIRST = store.SHARE = 0.0\n"
        "sys.exit(main(['sweep', *sys.argv[1:]]))\n"
    )
    script = (
        f"mount -t tmpfs -o size=64k none {small} || exit 77\n"
        f"{sys.executable} {often} {path} -j 1; code=$?\n"
        f"cp -r {small}/. {tmp_path}/kept; ls {small}/*.parts; exit $code"
    )
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], env=ENVIRONMENT, capture_output=True, text=True
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a file system cannot be mounted here")
    assert done.returncode == 2, done.stderr
    *progress, told = done.stderr.splitlines()
    assert "No space left on device" in told and all(" rows, " in line for line in progress)
    shutil.copytree(tmp_path / "kept", small, dirs_exist_ok=True)
    keys = kept(small / "s.csv")
    result = sweep(read_config(path), jobs=1)
    assert (result.kept, result.measured) == (len(keys), 1200 - len(keys)) and keys
    assert len(table(small / "s.csv")) == 1200


# -- Parquet and Dask -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_parquet_holds_the_same_rows_and_resumes(tmp_path, small):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = config(tmp_path, SMALL, "s.parquet")
    sweep(read_config(path), jobs=1)
    path.write_text(path.read_text().replace("number = 3", "number = 2"))
    again = sweep(read_config(path), jobs=1)
    assert (again.kept, again.measured) == (40, 0)
    found = parquet.read_table(tmp_path / "s.parquet")
    assert [str(found.schema.field(n).type) for n in ("error", "flops", "k")] == [
        "double", "int64", "int64",
    ]  # fmt: skip
    rows = [{k: "" if v is None else str(v) for k, v in row.items()} for row in found.to_pylist()]
    assert rows == table(small)


@pytest.mark.slow
def test_a_dask_cluster_of_processes_one_of_which_is_killed(long):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    folder, whole = long
    killed = []

    def progress(done, missing, before):
        if done and not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        path = config(folder, LONG, "d.csv")
        result = sweep(read_config(path), None, cluster.scheduler_address, progress)
        assert killed and result.measured == ROWS
    assert (folder / "d.csv").read_bytes() == whole


@pytest.mark.thorough
def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path, capsys, monkeypatch):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr(pools, "PATIENCE", 0.5)
    path = config(tmp_path, SMALL)
    assert main(["sweep", str(path), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in capsys.readouterr().err


# -- the command line -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_command_line_prints_a_summary(tmp_path, capsys):
    path = config(tmp_path, SMALL)
    assert main(["sweep", str(path), "--json", "-j", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["rows"], document["measured"], document["kept"]) == (60, 60, 0)
    assert main(["sweep", str(path)]) == 0
    assert "60 rows, 0 measured now" in capsys.readouterr().out


MINIMAL = 'output = "s.csv"\nmodels = ["chain:3"]\norders = ["abm"]\n'
WRONG = {
    'models = [': "is no TOML",
    'models = ["chain:3"]\norders = ["abm"]': "has no field 'output'; give a text",
    MINIMAL.replace("s.csv", "s.txt"): "field 'output' is 's.txt'; give a name that ends in .csv",
    MINIMAL.replace("chain:3", "chian:3"): "models[0]: gallery: 'chian' is unknown; did you mean",
    MINIMAL.replace("chain:3", "chain:{n}"): "models[0] takes range 'n', not given; write a table",
    MINIMAL.replace("chain:3", "none.urdf"): "models[0]: none.urdf: does not exist",
    MINIMAL.replace('"chain:3"', '"chain:3", "chain:3"'): "field 'models[1]' is 'chain:3'; give ea",
    MINIMAL.replace('"chain:3"', "7"): "field 'models[0].model' is 7; give a text",
    MINIMAL.replace('"chain:3"', ""): "field 'models' is []; give a list of models",
    MINIMAL.replace("abm", "amb"): "orders[0]: order 'amb' is unknown; nearest: abm",
    MINIMAL.replace("abm", "inverse_dynamics"): "give an order that solves for qdd",
    MINIMAL + 'formats = ["float33"]': "formats[0]: format 'float33'",
    MINIMAL + 'formats = ["exact"]': "field 'formats[0]' is 'exact'; give a floating-point",
    MINIMAL + 'measure = ["err"]': "field 'measure[0]' is 'err'; give one of error",
    MINIMAL + 'reference = "best"': "field 'reference' is 'best'; give 'double_double' or",
    MINIMAL + "state = 3": "field 'state' is unknown in the file; did you mean states",
    MINIMAL + "[states]\nnumber = 0": "field 'states.number' is 0; give a whole number",
    MINIMAL + "[states]\nsed = 0": "field 'sed' is unknown in table 'states' of it; did you mean",
    MINIMAL + '[states]\nnumber = 2\ndistribution = "given"': "give 1, a model's own state",
    MINIMAL + "[ranges]\nn = [3]": "range 'n' is taken by no model; write {n} into one",
    MINIMAL.replace("chain:3", "chain:{n}")
    + "[ranges]\nn = {from = 1, to = 9}": "give either step or count",
    MINIMAL.replace("chain:3", "chain:{state}")
    + "[ranges]\nstate = [3]": "range 'state' has the name of a column",
    MINIMAL.replace("chain:3", "two_link:r={r}")
    + "[ranges]\nr = {from = 0, to = 1, count = 3, scale = 'log'}": "for scale 'log', ends above 0",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=WRONG.values())
def test_wrong_configs_are_one_sentence(text, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(text)
    assert main(["sweep", "c.toml"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("pivotree: c.toml: ") and told.count("\n") == 1
    assert WRONG[text] in told
    assert not list(tmp_path.glob("s.*"))


def test_files_that_are_not_this_sweep_s(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "none.toml"]) == 2
    assert "none.toml: cannot be read (No such file or directory)" in capsys.readouterr().err
    Path("c.toml").write_text(MINIMAL)
    Path("s.csv").write_text("a,b\n1,2\n")
    assert main(["sweep", "c.toml", "-j", "1"]) == 2
    assert "s.csv: holds other columns than this sweep (lacks key" in capsys.readouterr().err
    assert Path("s.csv").read_text() == "a,b\n1,2\n"
    Path("c.toml").write_text(MINIMAL.replace("s.csv", "c.toml/s.csv"))
    assert main(["sweep", "c.toml", "-j", "1"]) == 2
    assert "c.toml/s.csv: cannot be written (Not a directory)" in capsys.readouterr().err
    if importlib.util.find_spec("pyarrow"):
        Path("c.toml").write_text(MINIMAL.replace("s.csv", "s.parquet"))
        Path("s.parquet").write_text("no parquet")
        assert main(["sweep", "c.toml", "-j", "1"]) == 2
        assert "s.parquet: cannot be read as a sweep's .parquet" in capsys.readouterr().err
