"""Commands that are ended, and disks that are full: some of what three scripts do by the hundred.

They are ``kills.py``, ``cluster_kills.py`` and ``full_disk.py``; and Ctrl-C in the midst of long work.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import kills
import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


def test_moments_lie_over_the_whole_time_and_are_the_same_for_a_seed():
    found = kills.moments(10, 5.0, "7")
    assert found == kills.moments(10, 5.0, "7") != kills.moments(10, 5.0, "8")
    assert [int(2 * moment) for moment in sorted(found)] == list(range(10))


WRITER = """import os, subprocess, sys, time
{before}
with open("a.txt", "w") as file:
    file.write("half")
    file.flush()
    time.sleep({pause})
    file.write("whole")
"""


@pytest.mark.soak
def test_the_judge_finds_what_is_half_and_what_stays(tmp_path):
    def job(before, pause):
        return kills.Job([sys.executable, "-c", WRITER.format(before=before, pause=pause)])

    plain = job("", 0.0)
    whole = kills.Undisturbed.of(plain, tmp_path / "whole", tmp_path)
    assert kills.killed(plain, whole, "KILL", 5.0, tmp_path / "late", tmp_path).late
    [half] = kills.killed(job("", 60), whole, "KILL", 1.0, tmp_path / "a", tmp_path).faults[:1]
    assert half == "half-written: a.txt, 4 of 9"
    child = "subprocess.Popen(['sleep', '60'])"
    found = kills.killed(job(child, 60), None, "TERM", 1.0, tmp_path / "b", tmp_path).faults
    assert found[0] == "a process is left: sleep 60 "
    deaf = "import signal; signal.signal(signal.SIGINT, lambda *_: (time.sleep(3), sys.exit(7)))"
    found = kills.killed(job(deaf, 60), None, "INT", 1.0, tmp_path / "c", tmp_path).faults
    assert any("answers after 3" in f for f in found) and any("exit 7" in f for f in found)


def test_the_judge_finds_half_a_folder():
    job = kills.Job([], files={"s/old.html": "old"}, together="s/")
    new = {"s/a.html": b"a", "s/b.html": b"b"}
    whole = kills.Undisturbed(0.0, "", new, set())
    for left in ({"s/old.html": b"old"}, {}, new):
        assert kills._left(job, whole, "KILL", left) == []
    assert kills._left(job, whole, "KILL", {"s/a.html": b"a"}) == ["half a folder: 1 of 2 files"]


@pytest.mark.soak
def test_commands_that_a_warm_process_forks():
    words = ["--warm", "--most", "2", "--seed", "5", "--commands", "sweep_here", "tune"]
    done = subprocess.run(
        [sys.executable, kills.__file__, *words, "--signals", "TERM", "KILL"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(", 0 failed\n") == 4


@pytest.mark.soak
@pytest.mark.parametrize("command", [name for name in kills.SMALL if name != "docs"])
def test_commands_that_are_ended_leave_nothing_half_and_are_taken_up(command, monkeypatch):
    monkeypatch.setattr(kills, "ANSWER", 20.0)  # tests are not timed
    words = ["--most", "2", "--seed", "5", "--commands", command, "--signals", "INT", "TERM", "KILL"]
    assert not kills.campaign(kills.parsed(words))


@pytest.mark.soak
@pytest.mark.parametrize("what", ["worker KILL", "scheduler KILL", "scheduler STOP"])
def test_a_sweep_on_a_cluster_that_loses_a_part(what, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    import cluster_kills

    monkeypatch.setattr(kills, "ANSWER", 20.0)
    whole = kills.Undisturbed.of(kills.SMALL["sweep"], tmp_path / "whole", tmp_path)
    assert cluster_kills.disturbed(what, 6.0, tmp_path / "d", tmp_path, whole) == []


@pytest.mark.soak
@pytest.mark.parametrize("command", ["explore", "report", "prove", "counts", "simulate"])
def test_ctrl_c_ends_long_work_in_one_sentence(command, monkeypatch):
    """It reaches every process of a terminal, wherever they are."""
    monkeypatch.setattr(kills, "ANSWER", 20.0)
    words = ["--large", "--most", "2", "--seed", "5", "--within", "8", "--signals", "INT", "--commands"]
    assert not kills.campaign(kills.parsed([*words, command]))


# -- full disks ------------------------------------------------------------------------------------


@pytest.fixture
def on_disks_of_its_own():
    if shutil.which("unshare") is None:
        pytest.skip("a disk of its own needs the program unshare")
    mounted = "mount -t tmpfs -o size=64k none /mnt"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounted], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here: user namespaces are not allowed")

    def run(*names):
        script = Path(__file__).with_name("full_disk.py")
        command = ["unshare", "-rm", sys.executable, str(script), *names]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    return run


DISKS = (
    "sweep_csv sweep_parquet tune list export",
    "pdf svg tex spy explore simulate compare cache",
    "report film",
    "reproduce",
)


@pytest.mark.soak
@pytest.mark.parametrize("names", DISKS)
def test_a_full_disk_leaves_what_was_there_and_is_told_in_one_sentence(names, on_disks_of_its_own):
    done = on_disks_of_its_own(*names.split())
    assert done.stdout.endswith(" times, 0 faults\n"), done.stdout + done.stderr
