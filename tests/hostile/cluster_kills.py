"""A sweep on a Dask cluster whose parts are ended, frozen or cut off at random moments.

    .venv/bin/python tests/hostile/cluster_kills.py --most 10 --seed 7

A scheduler, two workers and the sweep run; one of them is ended (KILL), frozen (STOP), or reached
through a proxy of this program's own that is cut. The sweep must end: with all rows where a worker
was lost, else in one sentence within 90 seconds. The same command without the cluster then measures
the rows that are missing, and the table is that of an undisturbed run, byte by byte.
"""

import contextlib
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import kills
from case import refusals

PATIENT = 90.0  # [s] until the sweep must have ended by itself
WHAT = [f"{who} {how}" for who in ("worker", "scheduler") for how in ("KILL", "STOP", "cut")]
WHAT += ["driver KILL", "driver INT"]
DASK = [sys.executable, "-m"]


class Proxy:
    """Hands on bytes between whoever connects and a port, until it is cut."""

    def __init__(self, port: int) -> None:
        self.to, self.whole, self.ends = port, True, []
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self._let_in, daemon=True).start()

    def _let_in(self) -> None:
        with contextlib.suppress(OSError):
            while self.whole:
                here, _ = self.door.accept()
                there = socket.create_connection(("127.0.0.1", self.to))
                self.ends += [here, there]
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=_hand_on, args=(one, other), daemon=True).start()

    def cut(self) -> None:
        self.whole = False
        self.door.close()
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _hand_on(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)


def _free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _part(top: Path, name: str, words: list[str], cache: Path) -> kills.Run:
    folder = top / name / "work"
    folder.mkdir(parents=True)
    return kills.Run.of(kills.Job([*DASK, *words]), folder, cache)


def _end(run: kills.Run) -> None:
    for pid in run.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.process.wait()


def disturbed(what: str, moment: float, top: Path, cache: Path, whole: kills.Undisturbed) -> list[str]:
    """What is wrong with a sweep of which a part is lost ``moment`` seconds after its beginning."""
    port, (who, how) = _free(), what.split()
    proxy = Proxy(port)
    through = f"tcp://127.0.0.1:{proxy.port}"
    direct = f"tcp://127.0.0.1:{port}"
    scheduler = _part(
        top,
        "scheduler",
        ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        cache,
    )
    parts = [scheduler]
    try:
        while not _answers(port):
            time.sleep(0.1)
        for k, address in enumerate((through if who == "worker" else direct, direct)):
            words = ["distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
            parts.append(_part(top, f"worker{k}", words, cache))
        job = kills.SMALL["sweep"]
        command = [*job.command[:5], "--json", "--scheduler"]
        command.append(through if what == "scheduler cut" else direct)
        folder = kills._laid_out(job, top)
        driver = kills.Run.of(kills.Job(command), folder, cache)
        parts.append(driver)
        time.sleep(moment)
        ended = driver.process.poll() is not None
        if how == "cut":
            proxy.cut()
        elif how == "INT":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(driver.process.pid, signal.SIGINT)
        else:
            hit = {"worker": parts[1], "scheduler": scheduler, "driver": driver}[who]
            for pid in hit.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, getattr(signal, f"SIG{how}"))
        began = time.monotonic()
        while driver.process.poll() is None and time.monotonic() - began < 2 * PATIENT:
            time.sleep(0.05)
        seconds, code = time.monotonic() - began, driver.process.poll()
        err = driver.said()[1]
        faults = _faults(what, code, seconds, err, ended)
    finally:
        for part in parts:
            _end(part)
    left = kills.files_of(folder)
    faults += kills._left(job, whole, "KILL" if how == "KILL" else "INT", left)
    if code == 0:
        return faults + kills._same(whole, left)
    return faults + kills._again(job, whole, folder, cache, left)


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _faults(what: str, code: int | None, seconds: float, err: str, ended: bool) -> list[str]:
    who, how = what.split()
    lines = refusals(err)
    found = []
    if code is None or seconds > PATIENT:
        found.append(f"no end after {seconds:.0f} s")
    allowed = {"driver KILL": (-9,), "driver INT": (130, -2, 1)}.get(what, (0, 2))
    if code not in (0, *allowed) and code is not None:
        found.append(f"exit {code}: {lines[-2:]}")
    if who == "worker" and code:
        found.append(f"a worker's end ends the sweep: {lines[-2:]}")
    if code == 2 and (len(lines) != 1 or not lines[0].startswith("pivotree: ")):
        found.append(f"a refusal of {len(lines)} lines: {lines[:2]}")
    if how == "INT" and not ended and seconds > kills.ANSWER:
        found.append(f"answers after {seconds:.1f} s")
    return found


def main() -> int:
    options = kills.parsed()
    found: Counter = Counter()
    with tempfile.TemporaryDirectory(prefix="cluster-", ignore_cleanup_errors=True) as place:
        top, cache = Path(place), Path(place) / "cache"
        whole = kills.Undisturbed.of(kills.SMALL["sweep"], top / "whole", cache)
        drawn, began = random.Random(options.seed), time.monotonic()
        done: Counter = Counter()
        for k in range(options.most):
            for what in WHAT:
                if time.monotonic() - began > options.seconds:
                    break
                moment = drawn.uniform(0.0, 2 * whole.seconds)
                faults = disturbed(what, moment, top / f"{k} {what}", cache, whole)
                done[what] += 1
                for fault in faults:
                    found[f"{what}: {fault}"] += 1
                    print(f"  {what} at {moment:.2f} s: {fault}"[:600], flush=True)
        print(f"{sum(done.values())} times, {sum(found.values())} faults; {json.dumps(done)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
