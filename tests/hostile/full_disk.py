"""Commands that write, on a disk that is full at the start, and on one that fills in the midst.

    unshare -rm .venv/bin/python tests/hostile/full_disk.py [NAME ...]

The disk is a tmpfs, mounted anew for each run, with a file that leaves some pages free: SHARES
of those that the results take. A command must end with 2 and one sentence; what stood there must be
whole, or new and whole; no part may be left, but for what the sentence says is kept. Then room is
made, and the same command must end with the bytes of an undisturbed one.
"""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import kills
from case import refusals
from kills import SMALL, SWEEP, Job, pivotree

SHARES = (0.0, 0.1, 0.35, 0.6, 0.9)
PAGE = 4096
ROOM = 2**25  # bytes of the disk
FILL = "filler"
SOME = SWEEP.replace("to = 20", "to = 6")
OLD = b"what stood here before\n"
OUTPUTS = {
    **{name: SMALL[name] for name in ("report", "reproduce", "film", "tune")},
    "sweep_csv": pivotree("sweep s.toml -j 1 --yes", files={"s.toml": SOME}, kept=("s.csv.parts",)),
    "sweep_parquet": pivotree(
        "sweep s.toml -j 1 --yes",
        files={"s.toml": SOME.replace("s.csv", "s.parquet")},
        kept=("s.parquet.parts",),
    ),
    "pdf": pivotree("figure matrix chain:2 -o a.pdf"),
    "svg": pivotree("figure matrix chain:2 -o a.svg"),
    "tex": pivotree("spy chain:2 -o a.tex"),
    "spy": pivotree("spy chain:2 -o a.png"),
    "compare": pivotree("compare chain:2 --orders abm,crbm --formats float32 -o out"),
    "simulate": pivotree("simulate chain:1 --seconds 0.01 --order abm -o out"),
    "export": pivotree("export random_tree:n=6 --order abm -o a.c"),
    "list": pivotree("list chain:30 --order abm -o a.txt"),
    "explore": pivotree("explore chain:1 --orders abm --formats float32 -o a.html"),
}
CACHED = pivotree("solve chain:3 --json")  # its program is kept, where there is room


def _pages(files: dict[str, bytes]) -> int:
    return sum(-(-len(content) // PAGE) for content in files.values())


def _fill(folder: Path, free: int) -> None:
    """Leave ``free`` pages of the disk."""
    with (folder / FILL).open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            file.truncate(max(0, file.tell() // PAGE - free) * PAGE)


def _files(folder: Path) -> dict[str, bytes]:
    return {name: x for name, x in kills.files_of(folder).items() if name != FILL}


def on_a_full_disk(job: Job, whole: kills.Undisturbed, free: int, top: Path, cache: Path) -> list[str]:
    """What is wrong with a command for whose results ``free`` pages are left."""
    folder = top / "work"
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", folder], check=True)
    try:
        old = {name: OLD for name in whole.files if "/" not in name and "sweep" not in job.command}
        for name, content in {**old, **{k: x.encode() for k, x in job.files.items()}}.items():
            (folder / name).write_bytes(content)
        _fill(folder, free)
        run = kills.Run.of(job, folder, cache)
        code, (_, err) = run.process.wait(kills.LIMIT), run.said()
        left = {name: x for name, x in _files(folder).items() if old.get(name) != x}
        faults = kills._left(job, whole, "INT", left)
        (folder / FILL).unlink()
        if code:
            faults += _refused(code, err, [x for x in left if x.startswith(job.kept)])
            again = kills.Run.of(job, folder, cache)
            if again.process.wait(kills.LIMIT):
                faults.append(f"with room: {again.said()[1].splitlines()[-1:]}")
        return faults + kills._same(whole, _files(folder))
    finally:
        subprocess.run(["umount", folder], check=True)


def _refused(code: int, err: str, kept: list[str]) -> list[str]:
    lines = refusals(err)
    if code != 2 or len(lines) != 1 or "No space left on device" not in lines[0]:
        return [f"exit {code}: {lines[-3:]}"]
    return [f"not told: {kept[:3]}"] if kept and "kept" not in lines[0] else []


def without_cache(free: int, top: Path, whole: kills.Undisturbed) -> list[str]:
    """What is wrong with a command whose kept machine code finds ``free`` pages."""
    folder = top / "work"
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", folder], check=True)
    try:
        folder.chmod(0o700)
        _fill(folder, free)
        run = kills.Run.of(replace(CACHED, warm=True), top, folder)
        code, (out, err) = run.process.wait(kills.LIMIT), run.said()
        faults = [f"left: {name}" for name in _files(folder) if ".part" in name]
        faults += [] if out == whole.out else ["other answer"]
        return faults + ([f"exit {code}: {err}"] if code or err else [])
    finally:
        subprocess.run(["umount", folder], check=True)


def campaign(names: list[str]) -> int:
    """Every command at every share; how much is wrong."""
    from fuzz import warm_up

    warm_up()
    found, done = 0, 0
    top = Path(tempfile.mkdtemp(prefix="disk-"))
    try:
        for name in names or [*OUTPUTS, "cache"]:
            job = replace(CACHED if name == "cache" else OUTPUTS[name], warm=True)
            whole = kills.Undisturbed.of(job, top / name, top / "cache")
            new = {key: x for key, x in whole.files.items() if key not in job.files}
            pages = 8 if name == "cache" else _pages(new)
            for free in sorted({int(share * pages) for share in SHARES}):
                here = top / f"{name}-{free}"
                if name == "cache":
                    faults = without_cache(free, here, whole)
                else:
                    faults = on_a_full_disk(job, whole, free, here, top / "cache")
                done, found = done + 1, found + len(faults)
                for fault in faults:
                    print(f"  {name}, {free} of {pages} pages: {fault}"[:500], flush=True)
        print(f"{done} times, {found} faults")
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return found


if __name__ == "__main__":
    sys.exit(1 if campaign(sys.argv[1:]) else 0)
