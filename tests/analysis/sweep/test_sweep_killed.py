"""Sweeps that are killed, and taken up again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sweep_runs import COMMAND, LONG, ROWS, SMALL, config, done_parts, kept, table

from pivotree import kkt
from pivotree.analysis.sweep import pools, read_config, sweep
from pivotree.analysis.sweep.cases import positions
from pivotree.kkt.base.files import part_of


@pytest.mark.product
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


@pytest.mark.product
def test_rows_that_are_no_longer_asked_for_stay_at_the_end(tmp_path):
    path = config(tmp_path, SMALL)
    sweep(read_config(path), jobs=1)
    path.write_text(path.read_text().replace('["crbm", "abm"]', '["abm", "virtual_work"]'))
    result = sweep(read_config(path), jobs=1)
    assert (result.kept, result.measured) == (30, 30)
    orders = [row["order"] for row in table(tmp_path / "s.csv")]
    assert orders[60:] == ["crbm"] * 30 and "crbm" not in orders[:60]


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers in /proc")
def test_sigkill_of_a_worker_then_of_the_driver_loses_and_repeats_nothing(long):
    folder, whole = long
    path, output = config(folder, LONG, "k.csv"), folder / "k.csv"
    slow = os.environ | {"SLOW_ABM": "0.3"}
    driver = subprocess.Popen([*COMMAND, str(path), "-j", "2", "--yes"], cwd=folder, env=slow)
    try:
        wait_for(lambda: done_parts(output))
        worker = workers_of(driver.pid)[0]
        os.kill(worker, signal.SIGKILL)
        count = len(done_parts(output))
        wait_for(lambda: len(done_parts(output)) > count)
        wait_for(lambda: {*workers_of(driver.pid)} - {worker})  # others took over
        left = workers_of(driver.pid)
    finally:
        driver.kill()
        driver.wait()
    keys = kept(output)
    assert 0 < len(keys) == len(set(keys)) < ROWS and not output.exists()
    summary = sweep(read_config(path), jobs=1)
    assert (summary.kept, summary.measured) == (len(keys), ROWS - len(keys))
    assert output.read_bytes() == whole and not output.with_name("k.csv.parts").exists()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))  # no orphans


def test_killed_between_the_table_and_the_removal_of_its_parts(tmp_path, small):
    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    parts = tmp_path / "s.csv.parts"
    parts.mkdir()
    for place in (output, parts / "00000001.csv", parts / "00000007.csv"):
        place.write_bytes(small.read_bytes())
    for torn in (part_of(parts / "00000008.csv"), part_of(output)):
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


@pytest.mark.soak
def test_pieces_of_a_killed_worker_are_done_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SWEEP_MARKER", str(tmp_path / "died"))
    assert sorted(pools.processes(dies_once, iter(range(20)), 2)) == list(range(20))
    assert (tmp_path / "died").exists()
    monkeypatch.setattr(pools, "DEATHS", 2)
    with pytest.raises(kkt.PivotreeError, match=r"were killed 2 times .* want of memory"):
        list(pools.processes(dies, iter(range(4)), 2))


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix", reason="ends with a group of processes")
def test_a_worker_that_had_no_task_ends_with_its_driver():
    code = (
        "import os\nfrom pivotree.analysis.sweep import pools\n"
        "assert list(pools.processes(abs, iter([-3]), 3)) == [3]\nos._exit(0)"  # as if killed
    )
    driver = subprocess.Popen([sys.executable, "-P", "-c", code], start_new_session=True)
    assert driver.wait() == 0

    def gone():
        try:
            os.killpg(driver.pid, 0)
        except ProcessLookupError:
            return True

    wait_for(gone)


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


@pytest.mark.soak
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


@pytest.mark.soak
def test_a_frozen_worker_is_told_and_doubles_nothing_where_it_awakes(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    for name, seconds in (("PATIENCE", 5.0), ("SILENT", 3.0), ("ASK", 0.1)):
        monkeypatch.setattr(pools, name, seconds)
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster:
        with distributed.Client(cluster) as asked:
            frozen = next(iter(asked.run(os.getpid).values()))
        results = []
        with pytest.warns(UserWarning, match="has not been heard of for 3 s") as told:
            for result in pools.cluster(
                lambda task: time.sleep(0.05) or task, iter(range(1, 601)), cluster.scheduler_address
            ):
                results.append(result)
                if len(results) == 20:
                    os.kill(frozen, signal.SIGSTOP)
                if told.list and frozen:
                    os.kill(frozen, signal.SIGCONT)
                    frozen = 0
    assert sorted(results) == list(range(1, 601)) and not frozen
