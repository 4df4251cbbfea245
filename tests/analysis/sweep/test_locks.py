"""Files that one process alone writes, on file systems with locks and without."""

import errno
import os

import pytest

from pivotree.analysis.sweep.store import locked

fcntl = pytest.importorskip("fcntl")


def test_a_second_process_finds_the_file_locked(tmp_path):
    with open(tmp_path / "lock", "wb") as mine, open(tmp_path / "lock", "wb") as others:
        assert locked(mine) and not locked(others)


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP])
def test_a_file_system_without_locks_is_written_all_the_same(code, tmp_path, monkeypatch):
    """Lustre that is mounted without flock, or NFS whose server keeps none."""

    def refused(file, how):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refused)
    with open(tmp_path / "lock", "wb") as file:
        assert locked(file)


def test_a_disk_that_fails_is_told(tmp_path, monkeypatch):
    def failing(file, how):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", failing)
    with open(tmp_path / "lock", "wb") as file, pytest.raises(OSError, match="Input/output"):
        locked(file)
