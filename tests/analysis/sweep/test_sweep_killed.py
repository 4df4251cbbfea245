"""Sweeps that are killed or whose disk is full, and taken up again."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from sweep_runs import SMALL, config, kept, table

from pivotree import kkt
from pivotree.analysis import processes
from pivotree.analysis.cli import main
from pivotree.analysis.sweep import read_config, sweep
from pivotree.analysis.sweep.measure import positions
from pivotree.analysis.sweep.store import Store
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


def test_killed_between_the_table_and_the_removal_of_its_rows(tmp_path, small):
    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    output.write_bytes(small.read_bytes())
    part_of(output).write_bytes(small.read_bytes()[:1000])
    (tmp_path / "s.csv.parts").write_bytes(small.read_bytes()[:-50])  # the last line is torn
    assert sweep(read_config(path), jobs=1).measured == 0
    assert output.read_bytes() == small.read_bytes()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["s.csv", "s.toml"]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_interrupt_right_after_pieces_are_handed_over_says_nothing_else(monkeypatch):
    handed = iter([False, True] * 6)

    @contextmanager
    def interrupted():
        yield
        if next(handed):
            raise KeyboardInterrupt

    monkeypatch.setattr(processes, "deaf", interrupted)
    for _ in range(6):
        with pytest.raises(KeyboardInterrupt):
            list(processes.elsewhere(abs, iter(range(20)), 2))


def dies(task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.soak
def test_pieces_that_kill_their_workers_are_told(monkeypatch):
    monkeypatch.setattr(processes, "DEATHS", 2)
    with pytest.raises(kkt.PivotreeError, match=r"were killed 2 times .* want of memory"):
        list(processes.elsewhere(dies, iter(range(4)), 2))


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix", reason="ends with a group of processes")
def test_a_worker_that_had_no_task_ends_with_its_driver():
    code = (
        "import os\nfrom pivotree.analysis import processes\n"
        "assert list(processes.elsewhere(abs, iter([-3]), 3)) == [3]\nos._exit(0)"  # as if killed
    )
    driver = subprocess.Popen([sys.executable, "-P", "-c", code], start_new_session=True)
    assert driver.wait() == 0

    end = time.monotonic() + 60.0
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(driver.pid, 0)
            time.sleep(0.02)


def test_only_one_driver_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    read = read_config(config(tmp_path, SMALL))
    with (
        Store(read.output, read.settings.columns),
        pytest.raises(kkt.PivotreeError, match="another sweep is writing it"),
    ):
        sweep(read, jobs=1)


# -- full disks -------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("whole", [1, 2, 4])
def test_a_disk_that_is_full_after_some_writes(tmp_path, monkeypatch, capsys, small, whole):
    """The rows that were written stay, the message is one sentence, the rerun does the rest."""
    monkeypatch.setattr("pivotree.analysis.sweep.store.FIRST", 0.0)  # rows at once
    monkeypatch.setattr("pivotree.analysis.sweep.store.SHARE", 0.0)
    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    sizes, append = [], Store._append

    def full(self, lines):
        if len(sizes) <= whole:  # the head, and so many pieces
            append(self, lines)
            return sizes.append(self.place.stat().st_size)
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[-1] + 100, limit[1]))
        try:
            append(self, lines)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "_append", full)
        assert main(["sweep", str(path), "-j", "1"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "File too large" in told and "is kept" in told
    assert (tmp_path / "s.csv.parts").stat().st_size == sizes[-1] and not output.exists()
    keys = kept(output)
    result = sweep(read_config(path), jobs=1)
    assert (result.kept, result.measured) == (len(keys), 60 - len(keys))
    assert output.read_bytes() == small.read_bytes()


def test_a_disk_that_is_full_when_the_table_is_written(tmp_path, monkeypatch, capsys, small):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path, output = config(tmp_path, SMALL), tmp_path / "s.csv"
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
        assert main(["sweep", str(path), "-j", "1"]) == 2
    assert f"{output}: cannot be written (No space left" in capsys.readouterr().err
    assert sweep(read_config(path), jobs=1).measured == 0
    assert output.read_bytes() == small.read_bytes()
