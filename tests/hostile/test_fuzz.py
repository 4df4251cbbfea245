"""Inputs drawn anew by their seed, each that once went wrong, by name; and who judges them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import processes
import pytest
from processes import Case

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.json"))


def drawn(folder, *arguments):
    """Answers of the script, its exit code and what it printed; tests are not timed."""
    command = [sys.executable, HERE / "fuzz.py", "--patience=10", f"--into={folder}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.product
def test_what_once_went_wrong_and_inputs_drawn_anew_are_answered_or_refused(tmp_path):
    code, said = drawn(tmp_path, "--most=96", "--seed=96", *CASES)
    wrong = [path.stem for path in CASES if f"{path.stem}: as promised" not in said.splitlines()]
    assert (code, wrong) == (0, []) and "96 inputs, 0 failures" in said, said


@pytest.mark.soak
def test_many_inputs_are_answered_or_refused(tmp_path):
    code, said = drawn(tmp_path, "--most=1000", "--seed=1000")
    assert code == 0 and "1,000 inputs, 0 failures" in said, said


@pytest.fixture
def orders(monkeypatch):
    """Put another in the place of what ``pivotree orders`` does: what is found then."""

    def replaced(run, cases=1):
        monkeypatch.setattr("pivotree.analysis.cli.commands.orders.run", run)
        return [found for _, found in processes.judged([Case(["orders"])] * cases)]

    return replaced


def test_the_judge_finds_tracebacks_and_files_left(orders):
    def broken(options):
        Path("out.json").write_text("{")
        return 2

    [found] = orders(broken)
    assert any("refusal of 0 lines" in f for f in found) and "refused, and yet" in str(found)
    assert orders(lambda options: {}["a"])[0][0].startswith("KeyError")
    assert orders(lambda options: 7) == [["exit 7"]]
    assert orders(lambda options: 0) == [[]]


def test_what_dies_hangs_or_stays_is_found(orders, monkeypatch):
    found = orders(lambda options: os.kill(os.getpid(), signal.SIGKILL), 3)
    assert found == [["the process ends with -9 "]] * 3

    def child(options):
        if os.fork() == 0:
            time.sleep(60)
        return 0

    monkeypatch.setattr(processes, "WAITS", (0.0, 0.1))
    assert orders(child) == [["a process is left"]]
    monkeypatch.setattr(processes, "HANG", 0.3)
    assert orders(lambda options: time.sleep(60))[0][0].startswith("no word for 0.3 s")
    monkeypatch.setattr(processes, "ANSWER", 0.3)

    def deaf(options):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("so far", file=sys.stderr, flush=True)
        time.sleep(60)

    assert orders(deaf)[0][0].startswith("no answer to Ctrl-C")
