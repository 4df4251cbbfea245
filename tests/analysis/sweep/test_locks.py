"""Files that one process alone writes, on file systems with locks and without."""

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from pivotree.analysis.sweep.store import Store, locked
from pivotree.kkt import PivotreeError

fcntl = pytest.importorskip("fcntl")


def test_a_second_process_finds_the_file_locked(tmp_path):
    with open(tmp_path / "lock", "wb") as mine, open(tmp_path / "lock", "wb") as others:
        assert locked(mine) and not locked(others)


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EIO])
def test_a_file_system_without_locks_is_written_all_the_same(code, tmp_path, monkeypatch):
    """Lustre that is mounted without flock, or NFS whose server keeps none; a disk that fails is told."""

    def refused(file, how):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refused)
    told = pytest.raises(OSError, match="Input/output") if code == errno.EIO else nullcontext()
    with open(tmp_path / "lock", "wb") as file, told:
        assert locked(file)


@pytest.mark.parametrize("gone", [False, True])
def test_what_ends_without_rows_removes_its_own_file_alone(gone, tmp_path, monkeypatch):
    """It is locked until it is gone, and who has waited for it does not write where no name leads."""
    store, place = Store(tmp_path / "rows.csv", ["key"]), tmp_path / "rows.csv.parts"
    if gone:
        monkeypatch.setattr("pivotree.analysis.sweep.store.locked", lambda file: place.unlink() is None)
        with pytest.raises(PivotreeError, match="another sweep"), store:
            pass
        return
    remove = Path.unlink
    with store:
        monkeypatch.setattr(Path, "unlink", lambda path: locked(path.open("rb")) or remove(path))
    assert not place.exists()
