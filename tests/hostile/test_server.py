"""The explorer's server under drawn requests: it stays up, keeps its memory, lets nobody in."""

import gc
import json
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from helpers import system_of
from hostile_words import HOSTILE

from pivotree.analysis.explorer import explorer_data, server
from pivotree.kkt.base.text import LONGEST

SPEC = "chain:3"
MARK = "was_imported"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A server, in a folder with an order in Python that leaves a mark where it is loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(server._Handler, "timeout", 0.5)
    Path("evil.py").write_text(f"open({MARK!r}, 'w').close()\n")
    system = system_of(SPEC)
    data = explorer_data(system, SPEC, ["abm"], ["float32"])
    with server.ExplorerServer(system, data) as served:
        threading.Thread(target=served.serve_forever, args=(0.05,), daemon=True).start()
        yield served
        served.shutdown()


def raw(served, text, wait=True):
    """What comes back for these bytes; the sender's side is closed behind them."""
    try:
        with socket.create_connection(("127.0.0.1", served.server_port), timeout=60) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            parts = []
            while wait and (part := connection.recv(65536)):
                parts.append(part)
            return b"".join(parts)
    except OSError:  # it was closed while we wrote
        return b""


PATHS = [*HOSTILE["paths"], "live?" + "y" * 9000, "a" * 70_000]
METHODS = [*HOSTILE["methods"], "G" * 999]
MORE = [*([line] for line in HOSTILE["lines"]), ["X: " + "y" * 70_000], [f"X{i}: y" for i in range(200)]]
ATOMS = [*HOSTILE["atoms"], 10**400, "x" * 5000]
KINDS, BODIES = ["pdd", "qdd", "f", "lam"], ["b1", "b2", "b3", "link1", "evil"]


def document(draw, depth=0):
    """A question, or something like one."""
    if depth > 3 or draw.random() < 0.3:
        return draw.choice(ATOMS)
    if depth == 0 and draw.random() < 0.7:
        found = {
            "groups": [
                [[draw.choice(KINDS), draw.choice(BODIES)] for _ in range(draw.randrange(3))]
                for _ in range(draw.randrange(6))
            ],
            "format": draw.choice(["float32", "float64", "evil", 3]),
            "links": draw.choice(["whole", "split", "evil", None]),
            "rules": {},
        }
        found[draw.choice([*found, "x"])] = document(draw, depth + 1)
        return found
    if draw.random() < 0.5:
        return [document(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {str(draw.choice(ATOMS)): document(draw, depth + 1) for _ in range(draw.randrange(4))}


def body(draw):
    if draw.random() < 0.15:
        return draw.choice(
            [
                b"[" * 100_000,
                b'{"groups": NaN}',
                b"\xff\xfe{}",
                b"",
                draw.randbytes(300),
                b" " * (server.LARGEST + 1),
            ]
        )
    text = json.dumps(document(draw)).encode()
    if draw.random() < 0.2:  # a byte of it is another
        at = draw.randrange(len(text))
        text = text[:at] + draw.randbytes(1) + text[at + 1 :]
    return text


def request(draw, served):
    """A request of the page with some parts replaced, and whether its token is the right one."""

    def wrong(share):
        return draw.random() < share

    port, token = str(served.server_port), served.token
    if wrong(0.3):
        token = draw.choice(
            ["", token[:-1], token + "x", token.swapcase(), "..", "x" * 43, "\xe9" + token[1:]]
        )
    method = draw.choice(METHODS) if wrong(0.3) else draw.choice(["GET", "POST"])
    path = draw.choice(PATHS) if wrong(0.5) else "live"
    sent = body(draw) if method == "POST" else b""
    head = {
        "Host": f"127.0.0.1:{port}",
        "Origin": f"http://127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Content-Length": str(len(sent)),
    }
    for name, values in HOSTILE["heads"].items():
        if wrong(0.15):
            head[name] = draw.choice(values)
        elif wrong(0.05):
            del head[name]
    lines = [f"{name}: {value}".replace("PORT", port) for name, value in head.items()]
    lines += draw.choice(MORE) if wrong(0.05) else []
    version = draw.choice(HOSTILE["versions"]) if wrong(0.1) else "HTTP/1.1"
    text = "\r\n".join([f"{method} /{token}/{path} {version}", *lines, "", ""])
    text = text.encode("latin1", "replace") + sent
    if wrong(0.1):
        text = text[: draw.randrange(len(text))]
    if wrong(0.03):
        text = draw.randbytes(draw.randrange(2000))
    return text, token == served.token


def faults(served, text, answer, right):
    """What is wrong with an answer."""
    if not answer:
        return
    head, _, content = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/"):  # a request of HTTP/0.9 has an answer without a head
        head, content = b"", answer
    status = head.split(b"\r\n")[0].split(b" ")[1:2]
    if b"Traceback" in answer or b"root:" in answer:
        yield "a traceback, or a file"
    told = served.token.encode() in answer and served.token.encode() not in text  # no echo
    if not right and (told or status == [b"200"]):
        yield "let in without the token"
    if status != [b"200"] and content and (head or not right):
        told = json.loads(content)
        if told["digits"] is not None or not 0 < len(told["failed"]) <= LONGEST:
            yield f"no refusal in a sentence: {told}"


def memory():
    """Bytes of this process that are in memory."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def page_of(served):
    head = f"GET /{served.token}/ HTTP/1.0\r\nHost: 127.0.0.1:{served.server_port}\r\n\r\n"
    return raw(served, head.encode())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("most", [300, pytest.param(10_000, marks=pytest.mark.soak)])
def test_drawn_requests_are_answered_or_refused_and_leave_no_trace(page, most, capfd):
    draw = random.Random(most)
    found, answered, begun = [], 0, None
    for k in range(most):
        text, right = request(draw, page)
        answer = raw(page, text)
        answered += answer.startswith(b"HTTP/1.0 200")
        found += [(fault, text[:300]) for fault in faults(page, text, answer, right)]
        if k == most // 5:
            begun = memory()
    assert found == []
    assert most / 100 < answered < most / 2
    assert memory() - begun < 16 << 20
    assert not Path(MARK).exists() and "Traceback" not in capfd.readouterr().err
    assert SPEC.encode() in page_of(page)


def test_a_mark_is_left_where_the_order_is_loaded(page):
    """The test above would see it."""
    __import__("evil")
    assert Path(MARK).exists()


def test_a_server_that_lets_strangers_in_is_found(page):
    answer = f"HTTP/1.0 200 OK\r\n\r\n{page.token}".encode()
    assert list(faults(page, b"", answer, False)) == ["let in without the token"]
    told = json.dumps({"digits": 3, "failed": ""}).encode()
    assert list(faults(page, b"", b"HTTP/1.0 400 x\r\n\r\n" + told, True))


def waited(true, seconds=20.0):
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def test_many_who_say_nothing_get_no_more_threads_than_there_are(page, monkeypatch):
    monkeypatch.setattr(server, "MOST", 8)
    monkeypatch.setattr(server._Handler, "timeout", 30)
    before = threading.active_count()
    idle = [socket.create_connection(("127.0.0.1", page.server_port)) for _ in range(50)]
    try:
        assert waited(lambda: len(page.open) == 8)
        assert page_of(page) == b""
        assert threading.active_count() - before <= 8 and len(page.open) == 8
    finally:
        for connection in idle:
            connection.close()
    assert waited(lambda: not page.open)
    assert SPEC.encode() in page_of(page)


def test_who_sends_a_byte_now_and_then_is_sent_away(page, monkeypatch):
    monkeypatch.setattr(server, "LIFE", 0.6)

    def write(connection):
        for byte in b"GET /" + b"x" * 300:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    address = ("127.0.0.1", page.server_port)
    with socket.create_connection(address, timeout=30) as slow, pytest.raises(OSError):
        write(slow)
    assert waited(lambda: not page.open)


def test_many_pages_at_once(page):
    draw = random.Random(1)
    texts = [request(draw, page)[0] for _ in range(200)]
    with ThreadPoolExecutor(20) as pool:
        hostile = pool.map(lambda text: raw(page, text), texts)
        honest = list(pool.map(lambda _: page_of(page), range(100)))
    list(hostile)
    assert all(SPEC.encode() in answer for answer in honest)


ELSEWHERE = """<!doctype html><title>elsewhere</title><iframe name="there"></iframe><script>
const [address, live] = ["ADDRESS", "ADDRESSlive"];
const body = JSON.stringify({ groups: [], format: "float32", order: "evil.py:f", file: "evil.py" });
const loaded = (tag, field) => new Promise((resolve) => {
  const node = document.createElement(tag);
  node[field] = tag === "script" ? address + "explorer.js" : address;
  node.onload = () => resolve(`${tag} loaded`);
  node.onerror = () => resolve("refused");
  document.body.append(node);
});
const asked = (url, options) => fetch(url, options).then(
  async (answer) => answer.type === "opaque" ? "opaque" : answer.text(), () => "refused");
const sent = (type) => {
  const form = document.createElement("form");
  Object.assign(form, { action: live, method: "post", enctype: type, target: "there" });
  const field = document.createElement("input");
  [field.name, field.value] = [body, "x"];
  form.append(field);
  document.body.append(form);
  form.submit();
};
window.tried = (async () => {
  const told = [];
  for (const mode of ["cors", "no-cors"]) {
    told.push(await asked(address, { mode }));
    told.push(await asked(live, { mode, method: "POST", body }));
    const headers = { "Content-Type": "application/json" };
    told.push(await asked(live, { mode, method: "POST", body, headers }));
  }
  told.push(await loaded("script", "src"), await loaded("img", "src"));
  for (const type of ["text/plain", "multipart/form-data"]) sent(type);
  await new Promise((resolve) => setTimeout(resolve, 500));
  let read = "refused";
  try { read = window.frames[0].document.body.innerText || "refused"; } catch {}
  return [...told, read];
})();
</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("token", ["right", "wrong"])
def test_a_page_from_elsewhere_reads_nothing_and_asks_nothing(page, chromium, host, token):
    """In a browser, from another port of this machine; even where it has come to know the token."""
    answered = []
    send = server._Handler.send_response

    def noted(self, code, message=None):
        answered.append((self.command, int(code)))
        send(self, code, message)

    server._Handler.send_response = noted
    try:
        address = f"http://127.0.0.1:{page.server_port}/{page.token if token == 'right' else 'x'}/"
        text = ELSEWHERE.replace("ADDRESS", address).encode()

        class Elsewhere(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as other:
            threading.Thread(target=other.serve_forever, args=(0.05,), daemon=True).start()
            tab = chromium.new_page()
            tab.goto(f"http://{host}:{other.server_address[1]}/")
            told = tab.evaluate("window.tried")
            tab.close()
            other.shutdown()
    finally:
        server._Handler.send_response = send
    assert set(told) <= {"refused", "opaque"} and told.count("opaque") <= 3, told
    posts = [code for command, code in answered if command != "GET"]
    assert len(posts) >= 3 and set(posts) <= {403, 501}  # 501: a browser's question, OPTIONS
    assert token == "right" or {code for _, code in answered} <= {403, 501}
    assert not Path(MARK).exists() and page.live._process is None


def test_a_name_that_was_made_to_point_here_is_another_host(page):
    """DNS rebinding: the page's own name resolves to this machine, and its origin is that name."""
    for host in ("evil.example", f"evil.example:{page.server_port}", "127.0.0.1.nip.io", "0.0.0.0"):
        for origin in (f"http://{host}", "null"):
            head = f"GET /{page.token}/ HTTP/1.0\r\nHost: {host}\r\nOrigin: {origin}\r\n\r\n"
            assert raw(page, head.encode()).startswith(b"HTTP/1.0 403 ")
