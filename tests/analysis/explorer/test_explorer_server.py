"""The explorer's page served: asked as browsers, strangers and broken programs do; its command."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import networkx as nx
import pytest
from designs import covering
from explorer_page import groups_of
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.explorer import explorer_data
from pivotree.analysis.explorer import server as serving
from pivotree.analysis.explorer.asked import Measurer, question_of, sequence_of
from pivotree.analysis.explorer.data import References, measured
from pivotree.analysis.explorer.live import Live
from pivotree.analysis.explorer.server import LARGEST, ExplorerServer

SPEC = "random_tree:n=6,seed=2"


@pytest.fixture(scope="module")
def server():
    system = system_of(SPEC)
    data = explorer_data(system, SPEC, ["abm", "crbm"], ["float32"], story=False)
    with ExplorerServer(system, data) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def ask(server, path=None, method="GET", body=None, **headers):
    """Status, headers and content; path None is the page, else it follows the token."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    if isinstance(body, dict | list):
        body = json.dumps(body)
        headers.setdefault("Content_Type", "application/json")
    headers = {key.replace("_", "-"): value for key, value in headers.items()}
    path = path if path is not None and path.startswith("/") else f"/{server.token}/{path or ''}"
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


def live(server, body, **headers):
    status, _, content = ask(server, "live", "POST", body, **headers)
    return status, json.loads(content)


def raw(server, text, closed=False):
    """What comes back for these bytes, where the sender then is silent or gone."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as connection:
        connection.sendall(text)
        if closed:
            connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts).decode()


def alive(server):
    return ask(server)[0] == 200


# -- who may ask -------------------------------------------------------------------------------------


def test_listens_on_loopback_only(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    others = {address for address in others if not address.startswith("127.")} | {"::1"}
    for address in others:
        with pytest.raises(OSError):
            socket.create_connection((address, server.server_port), timeout=2).close()


def test_the_page_asks_for_its_own_files_only(server):
    status, headers, page = ask(server)
    assert status == 200 and SPEC in page.decode()
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy and "http" not in policy and "frame-ancestors 'none'" in policy
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff" and "Python" not in str(headers)
    links = re.findall(r'(?:src|href)="([^"]*)"', page.decode())
    assert sorted(links) == ["data:,", "explorer.css", "explorer.js"]
    for name in ("explorer.js", "explorer.css"):
        status, headers, content = ask(server, name)
        assert status == 200 and len(content) > 1000 and "Access-Control" not in str(headers)
    assert ask(server, method="HEAD")[2] == b""


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_without_the_token_nothing(server, method):
    for path in ("/", "/explorer.js", "/live", "/wrong/", f"/{server.token[:-1]}/", f"/{server.token}x/"):
        assert ask(server, path, method, {} if method == "POST" else None)[0] == 403, path
    assert len(server.token) >= 40
    with ExplorerServer(server.live.system, {"model": ""}) as other:
        assert other.token != server.token


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ("Host", ("example.com", "127.0.0.1", "127.0.0.1:1", "PORT.example.com", "[::1]:PORT", "")),
        ("Origin", ("http://example.com", "null", "http://127.0.0.1", "https://127.0.0.1:PORT", "file://")),
    ],
)
def test_another_host_or_origin_is_refused(server, header, texts):
    port = str(server.server_port)
    for text in texts:
        given = {header: text.replace("PORT", port)}
        assert ask(server, **given)[0] == live(server, {}, **given)[0] == 403, text
    own = {"Host": f"localhost:{port}", "Origin": f"http://127.0.0.1:{port}"}[header]
    assert ask(server, **{header: own})[0] == 200
    own = f"Host: 127.0.0.1:{port}\r\n"
    for hosts, code in ((own, 200), ("", 403), (own + "Host: example.com\r\n", 403)):
        text = f"GET /{server.token}/explorer.css HTTP/1.0\r\n{hosts}\r\n"
        assert f" {code} " in raw(server, text.encode()).split("\r\n")[0]


# -- what may be asked for ---------------------------------------------------------------------------


def test_nothing_but_its_own_files_and_questions_in_one_place(server):
    paths = r"../server.py ..%2fserver.py static/explorer.mjs /etc/passwd explorer.js/ ./explorer.js "
    paths += r"explorer.js%00 server.py live \..\server.py //etc/passwd"
    for path in paths.split():
        assert ask(server, f"/{server.token}/{path}")[0] == 404, path
    assert ask(server, "explorer.js", "POST", {})[0] == 404
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"):
        assert ask(server, "live", method)[0] == 501
    assert alive(server)


def test_long_questions_are_not_read(server):
    status, answer = live(server, b"[" + b" " * LARGEST + b"]", Content_Type="application/json")
    assert status == 413 and str(LARGEST) in answer["failed"]
    head = f"POST /{server.token}/live HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
    kind = "Content-Type: application/json\r\n"
    for line, code in (
        ("Content-Length: 99999999999999999999\r\n", 413),
        ("Content-Length: -1\r\n", 411),
        ("Content-Length: x\r\n", 411),
        ("", 411),
        ("Transfer-Encoding: chunked\r\n", 411),
    ):
        assert f" {code} " in raw(server, f"{head}{kind}{line}\r\n".encode()).split("\r\n")[0]
    short = raw(server, f"{head}{kind}Content-Length: 9\r\n\r\n{{".encode(), closed=True)
    assert " 400 " in short and "breaks off" in short
    assert live(server, "{}", Content_Type="text/plain")[0] == 415  # which needs no preflight
    assert alive(server)


# -- what it answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "format"),
    covering(["abm", "crbm", "gain_abm", "modified_abm_stretched"], ["float64", "float32", "bfloat16"]),
)
def test_live_numbers_are_those_of_eliminate(server, order, format):
    system = system_of(SPEC)
    sequence = kkt.plan(orderings.get(order), system.structure).sequence
    question = {"links": sequence.links, "rules": vars(sequence.rules)}
    status, answer = live(server, {"groups": groups_of(system, order), "format": format} | question)
    exact = kkt.certify(system, 30, rounded_to=format)
    found = kkt.eliminate(system, orderings.get(order), format, reference=exact)
    assert status == 200 and answer["failed"] is None
    assert answer["error"] == exact.error(found.qdd) > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda groups: groups[1:], "leaves out"),
        (lambda groups: [*groups, groups[0]], "twice"),
        (lambda groups: [[["qdd", "b4"]], *groups], "qdd_b4"),
        (lambda groups: [[["pdd", "b77"]], *groups], "unknown body 'b77'"),
        (lambda groups: [[["pdx", "b1"]], *groups], "names kind 'pdx'"),
        (lambda groups: [[block] for group in groups for block in group[1:] + group[:1]], "zero"),
    ],
)
def test_an_order_that_cannot_be_is_refused_in_the_engines_words(server, change, words):
    groups = change(groups_of(system_of(SPEC), "abm"))
    status, answer = live(server, {"groups": groups, "format": "float32"})
    assert status == 200 and answer["error"] is None and answer["digits"] is None
    assert words in answer["failed"] and "\n" not in answer["failed"]
    with pytest.raises(kkt.OrderError) as refused:
        kkt.trace(system_of(SPEC), sequence_of(groups, system_of(SPEC).structure))
    assert answer["failed"] == str(refused.value)


def test_an_order_of_the_page_names_loops_by_their_texts():
    """Also where a body has the same name."""
    tree = kkt.four_bar()
    nx.relabel_nodes(tree, {"rocker": "pin"}, copy=False)
    (loop,) = tree.graph["loops"]
    tree.graph["loops"] = [replace(loop, bodies=("coupler", "pin"))]
    system = kkt.build(tree)
    groups = groups_of(system, "closed_early")
    assert ["lam", "pin"] in [block for group in groups for block in group]
    found = Measurer(system)(question_of({"groups": groups, "format": "float32"}))
    assert found["failed"] is None and found["digits"] > 5
    assert found["flops"] == kkt.trace(system, orderings.get("closed_early")).flops


@pytest.mark.product
def test_what_takes_too_long_is_given_up_and_the_next_is_answered():
    system = system_of("chain:30")
    question = question_of({"groups": groups_of(system, "crbm"), "format": "float32"})
    live = Live(system, seconds=0.05)
    assert "more than 0.05 s" in live.answer(question)["failed"]
    assert live._process is None
    live.seconds = 60.0
    assert live.answer(question)["digits"] is not None
    process = live._process
    live.close()
    other = question_of({"groups": [], "format": "float64"})
    assert process.poll() is not None and "ended" in live.answer(other)["failed"]


def test_answers_from_many_at_once(server):
    groups = groups_of(system_of(SPEC), "abm")
    formats = ["float64", "float32", "tf32", "bfloat16"] * 3
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda x: live(server, {"groups": groups, "format": x}), formats))
    assert found == found[:4] * 3 and {status for status, _ in found} == {200}
    assert len({json.dumps(answer) for answer in found}) == 4


def test_in_a_browser_the_served_page_is_told_its_digits(server, chromium):
    said, asked = [], []
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append((request.method, request.url)))
    page.goto(server.address + "#tool")
    for name in ("crbm", "abm"):
        page.get_by_title(re.compile(f"^Replay {name}")).click()
        page.get_by_title(re.compile("^To the end of the order")).click()
        exact = kkt.certify(system_of(SPEC), 30, rounded_to="float32")
        found = kkt.eliminate(system_of(SPEC), orderings.get(name), "float32")
        error = f"{exact.error(found.qdd):.1e}".replace("e-0", "e-")
        words = re.compile(f"^Measured in float32 by pivotree: .* digits, error {error}")
        page.get_by_text(words).wait_for()
    page.close()
    own = [server.address + name for name in ("", "explorer.css", "explorer.js")]
    live = ("POST", server.address + "live")
    assert said == [] and asked.count(live) == 2
    assert {url for _, url in asked} == {*own, live[1]}


def test_another_robot_is_read_by_its_name_its_address_and_as_a_file_that_is_dropped(chromium):
    def read(spec, name):
        system = kkt.build(kkt.load(spec, merge_fixed=True))
        return system, explorer_data(system, name, ["abm"], ["float32"], story=False)

    def drop(name, text):
        made = (
            "([name, text]) => { const t = new DataTransfer(); t.items.add(new File([text], name)); return t"
        )
        files = page.evaluate_handle(made + " }", [name, text])
        page.locator(".pivotree").dispatch_event("drop", {"dataTransfer": files})

    def told(text, where=".about"):
        page.locator(where, has_text=text).first.wait_for()

    urdf = (ROOT / "tests/models/field/parallel_hinges.urdf").read_text()
    with ExplorerServer(*read("chain:2", "chain:2"), read=read) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = chromium.new_page()
        page.goto(server.address + "#tool")
        for spec, where in (("chain:3", ".about"), ("chian:3", ".status.refused")):
            page.get_by_role("textbox", name="Robot").fill(spec)
            page.get_by_role("textbox", name="Robot").press("Enter")
            told({"chain:3": "3 bodies", "chian:3": "did you mean chain?"}[spec], where)
        drop("half.urdf", urdf[:200])
        told("half.urdf: line 2", ".status.refused")
        drop("mine.urdf", urdf)
        told("mine.urdf (2 bodies")
        page.goto(server.address + "#model=chain:4&order=abm@2")
        told("4 bodies")
        told("step 2 of 4", ".counter")
        page.close()
        status, answer = ask(server, "robot", "POST", {"model": "/etc/passwd"})[::2]
        assert status == 200 and "is dropped on the page" in json.loads(answer)["failed"]
        server.shutdown()


@pytest.mark.product
def test_an_answer_that_should_not_be_relied_on_says_so():
    """CRBM on a chain of 40 in float32 keeps fewer than half of the digits; ABM's float64 holds."""
    system = kkt.build(kkt.chain(40))
    proof = kkt.trace(system, orderings.get("abm"))
    references = References(system, proof, "chain:40")
    crbm = kkt.trace(system, orderings.get("crbm"))
    far = measured(system, crbm, "float32", references)
    assert far["error"] > 2.0**-12 and "fewer than half of its digits" in far["marked"]
    assert measured(system, proof, "float64", references)["marked"] is None


# -- the command -------------------------------------------------------------------------------------


def started(port="0"):
    """The command, its port and its token; signals as a terminal has them, which others may ignore."""
    command = "env --default-signal=INT,HUP PYTHON -P -m pivotree explore chain:2 --orders abm"
    command = command.replace("PYTHON", sys.executable) + f" --formats float32 --port {port}"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command.split(), cwd=ROOT, start_new_session=True, **pipes)
    address = process.stdout.readline().strip()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{40,})/", address)
    assert found, (address, process.poll(), process.stderr.read())
    return process, int(found[1]), found[2]


def gone(pid):
    """Whether a process has ended; it may wait for its new parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.soak
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, -signal.SIGHUP)])
def test_it_ends_with_ctrl_c_and_with_the_terminal(sent, code):
    process, port, token = started()
    body = json.dumps({"groups": groups_of(system_of("chain:2"), "abm"), "format": "float32"})
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", f"/{token}/live", body, {"Content-Type": "application/json"})
    assert json.loads(connection.getresponse().read())["digits"] > 5
    threads = Path(f"/proc/{process.pid}/task").glob("*/children")
    children = [pid for thread in threads for pid in thread.read_text().split()]
    assert len(children) == 1
    os.killpg(process.pid, sent)  # as a terminal does
    out, err = process.communicate(timeout=20)
    assert process.returncode == code and out == "" and "Traceback" not in err
    until = time.monotonic() + 10
    while not all(map(gone, children)) and time.monotonic() < until:
        time.sleep(0.05)
    assert all(map(gone, children))
    with socket.socket() as free:  # nobody listens, and the port can be had again
        assert free.connect_ex(("127.0.0.1", port)) != 0
    process, again, _ = started(str(port))
    try:
        assert again == port
    finally:
        process.kill()
        process.communicate()


def test_the_browser_is_opened_at_the_address_and_how_it_is_stopped_is_said(monkeypatch, capsys):
    opened, told = threading.Event(), []
    monkeypatch.setattr(serving.webbrowser, "open", lambda url: (told.append(url), opened.set()))

    def interrupted(self):
        assert opened.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(ExplorerServer, "serve_forever", interrupted)
    with pytest.raises(KeyboardInterrupt):
        serving.serve(system_of("chain:2"), {"model": "x"})
    assert len(told) == 1 and told[0].startswith("http://127.0.0.1:")
    assert capsys.readouterr() == (f"{told[0]}\n", "pivotree: Ctrl-C stops the page\n")


def test_a_port_that_is_taken_is_refused(server, capsys):
    asked = ["explore", "chain:2", "--orders", "abm", "--formats", "float32", "--port"]
    assert main([*asked, str(server.server_port)]) == 2
    said = capsys.readouterr().err
    assert "cannot be had" in said and said.count("\n") == 1
