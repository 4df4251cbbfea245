"""What ``full_disk.py`` does to every command that writes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("full_disk.py")


@pytest.fixture
def on_disks_of_its_own():
    if shutil.which("unshare") is None:
        pytest.skip("a disk of its own needs the program unshare")
    mounted = "mount -t tmpfs -o size=64k none /mnt"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounted], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here: user namespaces are not allowed")

    def run(*names):
        command = ["unshare", "-rm", sys.executable, str(SCRIPT), *names]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        "sweep_csv sweep_parquet tune list export",
        "pdf svg tex spy explore simulate compare cache",
        "report film",
        "reproduce",
    ],
)
def test_a_full_disk_leaves_what_was_there_and_is_told_in_one_sentence(names, on_disks_of_its_own):
    done = on_disks_of_its_own(*names.split())
    assert done.stdout.endswith(" times, 0 faults\n"), done.stdout + done.stderr
