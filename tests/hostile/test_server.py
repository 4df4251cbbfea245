"""The explorer's server under drawn requests: it stays up, keeps its memory, lets nobody in."""

import gc
import socket
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from helpers import system_of
from hostile_words import HOSTILE
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pivotree.analysis.explorer import explorer_data, server
from pivotree.kkt.base.errors import LONGEST

SPEC = "chain:3"
MARK = "was_imported"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A server, in a folder with an order in Python that leaves a mark where it is loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(server._Handler, "timeout", 0.5)
    Path("evil.py").write_text(f"open({MARK!r}, 'w').close()\n")
    data = explorer_data(system_of(SPEC), SPEC, ["abm"], ["float32"])
    with server.ExplorerServer(data) as served:
        threading.Thread(target=served.serve_forever, args=(0.05,), daemon=True).start()
        yield served
        served.shutdown()


def raw(served, text):
    """What comes back for these bytes; the sender's side is closed behind them."""
    try:
        with socket.create_connection(("127.0.0.1", served.server_port), timeout=60) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
    except OSError:  # it was closed while we wrote
        return b""


PATHS = [*HOSTILE["paths"], "live?" + "y" * 9000, "a" * 70_000]
METHODS = [*HOSTILE["methods"], "G" * 999]
MORE = [*([line] for line in HOSTILE["lines"]), ["X: " + "y" * 70_000], [f"X{i}: y" for i in range(200)]]


@st.composite
def requests(draw, port, token):
    """A request of the page with some parts replaced, and whether its token is the right one."""

    def wrong(percent):
        return draw(st.sampled_from(range(100))) < percent

    def some(values):
        return draw(st.sampled_from(values))

    if wrong(3):
        return draw(st.binary(max_size=2000)), False
    sent = token
    if wrong(20):
        sent = some(["", token[:-1], token + "x", token.swapcase(), "..", "x" * 43, "\xe9" + token[1:]])
    method = some(METHODS) if wrong(20) else "GET"
    path = some(PATHS) if wrong(50) else ""
    body = draw(st.binary(max_size=300)) if wrong(20) else b""
    head = {
        "Host": f"127.0.0.1:{port}",
        "Origin": f"http://127.0.0.1:{port}",
        "Content-Length": str(len(body)),
    }
    for name, values in HOSTILE["heads"].items():
        if wrong(10):
            head[name] = some(values).replace("PORT", port)
    lines = [f"{name}: {value}" for name, value in head.items()] + (some(MORE) if wrong(5) else [])
    version = some(HOSTILE["versions"]) if wrong(10) else "HTTP/1.1"
    text = "\r\n".join([f"{method} /{sent}/{path} {version}", *lines, "", ""])
    text = text.encode("latin-1", "replace") + body
    return text[: draw(st.integers(0, len(text))) if wrong(10) else None], sent == token


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
    refused = status != [b"200"] and content and (head or not right)
    if refused and len(content.decode()) > LONGEST:
        yield f"no refusal in a sentence: {content!r}"


def memory():
    """Bytes of this process that are in memory."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def page_of(served):
    head = f"GET /{served.token}/ HTTP/1.0\r\nHost: 127.0.0.1:{served.server_port}\r\n\r\n"
    return raw(served, head.encode())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("most", [60, pytest.param(10_000, marks=pytest.mark.soak)])
def test_drawn_requests_are_answered_or_refused_and_leave_no_trace(page, most, capfd):
    answered, sent = [], []

    @given(requests(str(page.server_port), page.token))
    @settings(max_examples=most, phases=[Phase.generate])
    def drawn(request):
        text, right = request
        answer = raw(page, text)
        assert list(faults(page, text, answer, right)) == []
        answered.append(answer.startswith(b"HTTP/1.0 200"))
        sent.append(text)

    drawn()
    assert most / 100 < sum(answered) < 0.9 * most, sum(answered)
    kept = []
    for _ in range(2):  # without hypothesis, which keeps some 11 kB of each draw
        for text in sent:
            raw(page, text)
        kept.append(memory())
    assert kept[1] - kept[0] < 16 << 20
    assert not Path(MARK).exists() and "Traceback" not in capfd.readouterr().err
    assert SPEC.encode() in page_of(page)


def test_a_server_that_lets_strangers_in_is_found(page):
    answer = f"HTTP/1.0 200 OK\r\n\r\n{page.token}".encode()
    assert list(faults(page, b"", answer, False)) == ["let in without the token"]
    assert list(faults(page, b"", b"HTTP/1.0 400 x\r\n\r\n" + b"x" * (LONGEST + 1), True))


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


ELSEWHERE = """<!doctype html><title>elsewhere</title><iframe name="there"></iframe><script>
const [address, body] = ["ADDRESS", "evil.py"];
const loaded = (tag, field) => new Promise((resolve) => {
  const node = document.createElement(tag);
  node[field] = address;
  node.onload = () => resolve(`${tag} loaded`);
  node.onerror = () => resolve("refused");
  document.body.append(node);
});
const asked = (url, options) => fetch(url, options).then(
  async (answer) => answer.type === "opaque" ? "opaque" : answer.text(), () => "refused");
const sent = (type) => {
  const form = document.createElement("form");
  Object.assign(form, { action: address, method: "post", enctype: type, target: "there" });
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
    told.push(await asked(address, { mode, method: "POST", body }));
  }
  told.push(await loaded("script", "src"), await loaded("img", "src"));
  for (const type of ["text/plain", "multipart/form-data"]) sent(type);
  await new Promise((resolve) => setTimeout(resolve, 500));
  let read = "refused";
  try { read = window.frames[0].document.body.innerText || "refused"; } catch {}
  return [...told, read];
})();
</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", pytest.param("localhost", marks=pytest.mark.soak)])
def test_a_page_from_elsewhere_reads_nothing_and_asks_nothing(page, chromium, host, tmp_path, monkeypatch):
    """In a browser, from another port of this machine, even where it has come to know the token."""
    posts = []
    send = server._Handler.send_response

    def noted(self, code, message=None):
        posts.extend([int(code)] * (self.command != "GET"))
        send(self, code, message)

    monkeypatch.setattr(server._Handler, "send_response", noted)
    address = f"http://127.0.0.1:{page.server_port}/{page.token}/"
    (tmp_path / "elsewhere.html").write_text(ELSEWHERE.replace("ADDRESS", address))
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, args=(0.05,), daemon=True).start()
        tab = chromium.new_page()
        tab.goto(f"http://{host}:{other.server_port}/elsewhere.html")
        told = tab.evaluate("window.tried")
        tab.close()
        other.shutdown()
    assert set(told) <= {"refused", "opaque"} and told.count("opaque") <= 3, told
    assert len(posts) >= 3 and set(posts) <= {403, 501}  # 501: a browser's question, OPTIONS
    assert not Path(MARK).exists()
