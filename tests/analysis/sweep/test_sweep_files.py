"""Sweeps whose disk is full, whose table is Parquet, whose scheduler is away."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sweep_runs import SMALL, config, done_parts, kept, table

from pivotree.analysis.cli import main
from pivotree.analysis.sweep import pools, read_config, sweep


@pytest.mark.product
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


@pytest.mark.soak
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
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)
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


def test_parquet_holds_the_same_rows_and_resumes(tmp_path, small):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = config(tmp_path, SMALL, "s.parquet")
    sweep(read_config(path), jobs=1)
    path.write_text(path.read_text().replace("number = 3", "number = 2"))
    again = sweep(read_config(path), jobs=1)
    assert (again.kept, again.measured) == (40, 0)
    found = parquet.read_table(tmp_path / "s.parquet")
    assert [str(found.schema.field(n).type) for n in ("error", "flops", "k")] == ["double", "int64", "int64"]
    rows = [{k: "" if v is None else str(v) for k, v in row.items()} for row in found.to_pylist()]
    assert rows == table(small)


@pytest.mark.soak
def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path, capsys, monkeypatch):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr(pools, "PATIENCE", 0.5)
    path = config(tmp_path, SMALL)
    assert main(["sweep", str(path), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in capsys.readouterr().err
