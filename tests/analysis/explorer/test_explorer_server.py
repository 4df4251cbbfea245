"""The explorer's page served: asked as browsers and strangers do; its command."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from http.client import HTTPConnection

import pytest
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.explorer import explorer_data
from pivotree.analysis.explorer import server as serving
from pivotree.analysis.explorer.data import algorithm_of
from pivotree.analysis.explorer.server import ExplorerServer

SPEC = "random_tree:n=6,seed=2"


@pytest.fixture(scope="module")
def server():
    data = explorer_data(system_of(SPEC), SPEC, ["abm", "crbm"], ["float32"], story=False)
    with ExplorerServer(data) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def ask(server, path=None, method="GET", body=None, **headers):
    """Status, headers and content; path None is the page, else it follows the token."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    path = path if path is not None and path.startswith("/") else f"/{server.token}/{path or ''}"
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


def raw(server, text):
    """What comes back for these bytes, where the sender then is silent."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as connection:
        connection.sendall(text)
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


def test_the_page_asks_for_nothing_else(server):
    status, headers, page = ask(server)
    assert status == 200 and SPEC in page.decode()
    policy = headers["Content-Security-Policy"]
    assert re.match(r"default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; connect", policy)
    assert policy.partition("; frame-ancestors")[0] in page.decode()
    assert "unsafe" not in policy and "http" not in policy and "frame-ancestors 'none'" in policy
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff" and "Python" not in str(headers)
    links = re.findall(r'(?:src|href)="([^"]*)"', page.decode().partition("<script")[0])
    assert links == ["data:,"] and "Access-Control" not in str(headers)
    assert ask(server, method="HEAD")[2] == b""


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_without_the_token_nothing(server, method):
    for path in ("/", "/explorer.js", "/wrong/", f"/{server.token[:-1]}/", f"/{server.token}x/"):
        assert ask(server, path, method)[0] == 403, path
    assert len(server.token) >= 40
    with ExplorerServer({"model": ""}) as other:
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
        assert ask(server, **given)[0] == 403, text
    own = {"Host": f"localhost:{port}", "Origin": f"http://127.0.0.1:{port}"}[header]
    assert ask(server, **{header: own})[0] == 200
    own = f"Host: 127.0.0.1:{port}\r\n"
    for hosts, code in ((own, 200), ("", 403), (own + "Host: example.com\r\n", 403)):
        text = f"GET /{server.token}/ HTTP/1.0\r\n{hosts}\r\n"
        assert f" {code} " in raw(server, text.encode()).split("\r\n")[0]


# -- what may be asked for ---------------------------------------------------------------------------


def test_nothing_but_its_own_files(server):
    paths = r"../server.py ..%2fserver.py static/explorer.mjs /etc/passwd explorer.js/ ./explorer.js "
    paths += r"explorer.js%00 server.py index.html \..\server.py //etc/passwd"
    for path in paths.split():
        assert ask(server, f"/{server.token}/{path}")[0] == 404, path
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"):
        assert ask(server, "explorer.js", method)[0] == 501
    assert alive(server)


def test_in_a_browser_the_served_page_tells_its_digits(server, chromium):
    said, asked = [], []
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.address + "#tool")
    page.get_by_title(re.compile("^Replay crbm")).click()
    page.get_by_title(re.compile("^To the end of the order")).click()
    assert "digits" in page.locator("aside .answer").inner_text()
    page.close()
    assert said == [] and set(asked) == {server.address}


@pytest.fixture
def reading():
    """A server that reads robots, and tells orders as loops."""
    systems = []

    def read(spec, name):
        systems.append(kkt.build(kkt.load(spec)))
        return explorer_data(systems[-1], name, ["abm"], ["float32"], story=False)

    def tell(path):
        return algorithm_of(systems[-1], orderings.get(path))

    with ExplorerServer(read("chain:2", "chain:2"), read=read, tell=tell) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_another_robot_is_read_by_its_name_its_address_and_as_a_file_that_is_dropped(reading, chromium):
    def drop(name, text):
        made = (
            "([name, text]) => { const t = new DataTransfer(); t.items.add(new File([text], name)); return t"
        )
        files = page.evaluate_handle(made + " }", [name, text])
        page.locator(".pivotree").dispatch_event("drop", {"dataTransfer": files})

    def told(text, where=".about"):
        page.locator(where, has_text=text).first.wait_for()

    urdf = (ROOT / "tests/models/field/parallel_hinges.urdf").read_text()
    page = chromium.new_page()
    page.goto(reading.address + "#tool")
    for spec, where in (("chain:3", ".about"), ("chian:3", ".status.refused")):
        page.get_by_role("textbox", name="Robot").fill(spec)
        page.get_by_role("textbox", name="Robot").press("Enter")
        told({"chain:3": "3 bodies", "chian:3": "did you mean chain?"}[spec], where)
    drop("half.urdf", urdf[:200])
    told("half.urdf: line 2", ".status.refused")
    drop("mine.urdf", urdf)
    told("mine.urdf (2 bodies")
    page.goto(reading.address + "#model=chain:4&order=abm@2")
    told("4 bodies")
    told("step 2 of 4", ".counter")
    page.goto(reading.address + "#model=chain:4&order=w.p3f3.q3.p2q2f2.p1q1f1.p0q0f0")
    page.get_by_role("button", name="Fold").last.click()
    told("in groups, last to first", ".listing .loop")
    page.get_by_role("button", name="Draw a tree").click()
    for kind, on in (("revolute", "body 1"), ("spherical", "body 1"), ("free", "the ground")):
        page.select_option(".drawing select", kind)
        page.get_by_role("button", name=f"Hang a body on {on}").press("Enter")
    page.get_by_role("button", name="Take the last body away").click()
    page.get_by_role("button", name="Open the tree").click()
    told("drawn.json (3 bodies, 5 degrees of freedom)")
    page.close()


def test_what_is_no_robot_and_no_order_is_refused(reading):
    for name, sent, status, words in (
        ("robot", '{"model": "/etc/passwd"}', 200, "is a file; drop it"),
        ("robot", '{"name": "a.txt", "text": ""}', 200, "is no robot"),
        ("robot", "{", 400, "is not JSON"),
        ("robot", "[" * 10_000, 400, "is not JSON"),
        ("algorithm", '{"groups": [["pdd:j9"]]}', 200, "unknown body"),
        ("algorithm", "3", 200, "order"),
    ):
        found, _, told_back = ask(reading, name, "POST", sent, **{"Content-Type": "application/json"})
        assert found == status and words in told_back.decode()
    assert ask(reading, "robot", "POST", "{}")[0] == 415  # which needs no leave of a browser
    assert ask(reading, "explorer.js", "POST", "{}")[0] == 404
    head = f"POST /{reading.token}/robot HTTP/1.1\r\nHost: 127.0.0.1:{reading.server_port}\r\n"
    head += "Content-Type: application/json\r\n"
    for line, code in (("Content-Length: 99999999", 413), ("Content-Length: -1", 411), ("X: y", 411)):
        assert f" {code} " in raw(reading, f"{head}{line}\r\n\r\n".encode()).split("\r\n")[0]


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


@pytest.mark.soak
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, -signal.SIGHUP)])
def test_it_ends_with_ctrl_c_and_with_the_terminal(sent, code):
    process, port, token = started()
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/{token}/")
    assert b"chain:2" in connection.getresponse().read()
    os.killpg(process.pid, sent)  # as a terminal does
    out, err = process.communicate(timeout=20)
    assert process.returncode == code and out == "" and "Traceback" not in err
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
        serving.serve(ExplorerServer({"model": "x"}))
    assert len(told) == 1 and told[0].startswith("http://127.0.0.1:")
    assert capsys.readouterr() == (f"{told[0]}\n", "pivotree: Ctrl-C stops the page\n")


def test_a_port_that_is_taken_is_refused(server, capsys):
    asked = ["explore", "chain:2", "--orders", "abm", "--formats", "float32", "--port"]
    assert main([*asked, str(server.server_port)]) == 2
    said = capsys.readouterr().err
    assert "cannot be had" in said and said.count("\n") == 1
