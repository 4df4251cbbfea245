"""pivotree explore: how it starts, ends, and refuses what it cannot do."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection

import pytest
from explorer_page import groups_of
from helpers import ROOT, system_of

from pivotree.analysis.cli import main
from pivotree.analysis.explorer.server import ExplorerServer


def heard():
    """Signals as a terminal's processes have them; a job in the background ignores some."""
    for one in (signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


def started(*arguments):
    process = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "pivotree",
            "explore",
            "chain:2",
            "--orders",
            "abm",
            "--formats",
            "float32",
            "--no-browser",
            *arguments,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heard,
    )
    address = process.stdout.readline().strip()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{40,})/", address)
    assert found, (address, process.poll())
    return process, int(found[1]), found[2]


def gone(pid):
    """Whether a process has ended; it may wait for its new parent to notice."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def children_of(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc") or shutil.which("ps") is None, reason="needs /proc and ps")
@pytest.mark.parametrize(("signals", "code"), [([signal.SIGINT], 130), ([signal.SIGHUP], -signal.SIGHUP)])
def test_it_ends_with_ctrl_c_and_with_the_terminal(signals, code):
    process, port, token = started()
    body = json.dumps({"groups": groups_of(system_of("chain:2"), "abm"), "format": "float32"})
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", f"/{token}/live", body, {"Content-Type": "application/json"})
    assert json.loads(connection.getresponse().read())["digits"] > 5
    children = children_of(process.pid)
    assert len(children) == 1
    for one in signals:
        os.killpg(process.pid, one)  # as a terminal does
    out, err = process.communicate(timeout=20)
    assert process.returncode == code and out == "" and "Traceback" not in err
    until = time.monotonic() + 10
    while not all(map(gone, children)) and time.monotonic() < until:
        time.sleep(0.05)
    assert all(map(gone, children))
    with socket.socket() as free:  # nobody listens, and the port can be had again
        assert free.connect_ex(("127.0.0.1", port)) != 0
    process, again, _ = started("--port", str(port))
    try:
        assert again == port
    finally:
        process.kill()
        process.communicate()


@pytest.mark.thorough
def test_the_browser_is_opened_at_the_address(monkeypatch):
    from pivotree.analysis.explorer import server as module

    opened, told = threading.Event(), []
    monkeypatch.setattr(module.webbrowser, "open", lambda url: (told.append(url), opened.set()))

    def interrupted(self):
        assert opened.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(ExplorerServer, "serve_forever", interrupted)
    with pytest.raises(KeyboardInterrupt):
        module.serve(system_of("chain:2"), {"model": "x"}, told=told.append)
    assert len(told) == 2 and told[0] == told[1] and told[0].startswith("http://127.0.0.1:")


def test_the_server_says_how_it_is_stopped(monkeypatch, capsys):
    from pivotree.analysis.explorer import server as module

    monkeypatch.setattr(ExplorerServer, "serve_forever", lambda self: None)
    module.serve(system_of("chain:2"), {"model": "x"}, browser=False)
    out, err = capsys.readouterr()
    assert out.startswith("http://127.0.0.1:") and len(out.splitlines()) == 1
    assert err == "pivotree: Ctrl-C stops the page\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "70000"], "option --port: 70000 is no port"),
        (["--port", "TAKEN"], "cannot be had"),
        (["--port", "0", "-o", "x.html"], "option -o: writes a page"),
        (["-o", ""], "option -o: is empty"),
        (["--orders", "", "-o", "x.html"], "option --orders: is empty"),
        (["--formats", " , ", "-o", "x.html"], "option --formats: is empty"),
    ],
)
def test_bad_options_are_one_sentence(arguments, words, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = [port if word == "TAKEN" else word for word in arguments]
        command = ["explore", "chain:2", "--orders", "abm", "--formats", "float32", *arguments]
        assert main(command if "-o" in arguments else [*command, "--no-browser"]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explore", "chain:3", "--orders", "abn", "-o", "x.html"], "abn"),
        (["explore", "chain:3", "--formats", "float31", "-o", "x.html"], "float31"),
        (["explore", "chain:3", "--formats", "mp:50", "-o", "x.html"], "'mp:50': is none that"),
        (["explore", "chain:2", "--orders", "abm", "-o", "no/such/page.html"], "no/such/page.html"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1 and "Traceback" not in said
