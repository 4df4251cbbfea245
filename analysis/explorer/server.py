"""The explorer's page served, for this machine and this user only.

The server listens on 127.0.0.1; its address holds a token that is new each time.  It has one file,
the page; it reads another robot for the page, one of the gallery or a file
that was dropped on it, and tells an order as loops.  Everything else is refused with a sentence: other
hosts (a name that was made to point here), other origins (a page of another site), other tokens, other
paths, and what is too long.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import socketserver
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pivotree.kkt import PivotreeError
from pivotree.kkt.base.errors import sentence
from pivotree.kkt.base.files import write_whole
from pivotree.kkt.model.load import SUFFIXES

from .page import explorer_page, policy

Reader = Callable[[str, str], dict[str, Any]]  # of a gallery's spec or a file, and what it is called
Teller = Callable[[str], dict[str, str]]  # of the path of an order for the robot that is shown
LOOPBACK = "127.0.0.1"
PATIENCE = 10.0  # seconds that a connection may be silent
LIFE = 120.0  # seconds that it may last
LARGEST = 1 << 23  # bytes of a robot; a humanoid's file has some 100 000
MOST = 100  # connections at once: each has a thread
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ExplorerServer(ThreadingHTTPServer):
    """Serves one document; ``address`` is what a browser opens.

    ``port`` 0 takes any that is free.  ``read`` gives the document of another robot, ``tell`` an order
    as loops.  Raises PivotreeError where the port cannot be had.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = MOST
    allow_reuse_address: bool = os.name != "nt"  # there it would share the port

    def __init__(
        self, data: dict[str, Any], port: int = 0, read: Reader | None = None, tell: Teller | None = None
    ) -> None:
        if not 0 <= port <= 65535:
            raise PivotreeError("option --port", f"{port} is no port", "use 0 to 65535")
        self.token: str = secrets.token_urlsafe(32)
        self.open: dict[Any, float] = {}  # connections, and when they came
        self.read: Reader | None = read
        self.tell: Teller | None = tell
        self.reading: threading.Lock = threading.Lock()
        self.show(data)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise PivotreeError(
                "option --port", f"{port} cannot be had ({error.strerror})", "leave it out for any"
            ) from None

    def show(self, data: dict[str, Any]) -> None:
        """Serve this document from now on."""
        self.page: bytes = explorer_page(data | {"served": self.read is not None}).encode()

    def show_another(self, robot: Any) -> str:
        """Read ``{"model": spec}``, or ``{"name", "text"}`` of a file, and show it; or say why not."""
        if self.read is None:
            return "this page is of one robot"
        if not self.reading.acquire(blocking=False):
            return "another robot is still being read; try again"
        with tempfile.TemporaryDirectory() as folder:
            try:
                self.show(self.read(*_place_of(robot, Path(folder))))
            except PivotreeError as error:
                return str(error).replace(f"{folder}{os.sep}", "")
            finally:
                self.reading.release()
        return ""

    def algorithm(self, order: Any) -> str:
        """The loops of an order, ``{"groups", "links", "rules"}``, as JSON; or why there are none."""
        if self.tell is None:
            return "this page tells no loops"
        with tempfile.TemporaryDirectory() as folder, self.reading:
            path = write_whole(Path(folder) / "order.json", json.dumps(order))
            try:
                return json.dumps(self.tell(str(path)))
            except PivotreeError as error:
                return str(error).replace(f"{folder}{os.sep}", "")

    def server_bind(self) -> None:
        """Without asking for the host's name, which may ask the network."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, int(self.server_address[1])
        self.hosts: set[str] = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether there is a thread to spare; where there is none, the connection is closed."""
        return len(self.open) < MOST

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Twice a second: what sends a byte now and then does not keep its thread for ever."""
        late = time.monotonic() - LIFE
        for request in [request for request, came in list(self.open.items()) if came < late]:
            with contextlib.suppress(OSError):  # it is closed in this moment
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off concerns nobody else; all other is told in a line."""
        error = sys.exception()
        if not isinstance(error, OSError):
            print(f"pivotree: explorer: {type(error).__name__}: {error}", file=sys.stderr)


def _place_of(robot: Any, folder: Path) -> tuple[str, str]:
    """A gallery's spec, or the path of a file that is written to a folder, and what it is called."""
    fields = robot if isinstance(robot, dict) else {}
    model, name, text = fields.get("model"), fields.get("name"), fields.get("text")
    if isinstance(model, str):
        if Path(model).suffix.lower() in SUFFIXES or os.sep in model or "\0" in model:
            raise PivotreeError(model, "is a file", "drop it on the page")
        return model, model
    called = Path(name).name if isinstance(name, str) else ""
    if Path(called).suffix.lower() not in SUFFIXES or "\0" in called or not isinstance(text, str):
        raise PivotreeError("request", "is no robot", f"drop one of {', '.join(SUFFIXES)}")
    write_whole(folder / called, text.encode("utf-8", "replace").decode())
    return str(folder / called), called


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    server_version, sys_version = "pivotree", ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if name:
            self.send_error(HTTPStatus.NOT_FOUND, "there is no such file")
            return
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        name = self._name()
        if name is None:
            return
        if name not in ("robot", "algorithm"):
            self.send_error(HTTPStatus.NOT_FOUND, "robots are sent to robot, orders to algorithm")
            return
        body = self._body()
        if body is None:
            return
        try:
            sent = json.loads(body)
        except (ValueError, RecursionError):
            self.send_error(HTTPStatus.BAD_REQUEST, "request: is not JSON")
            return
        told = self.server.show_another(sent) if name == "robot" else self.server.algorithm(sent)
        answer = told if told.startswith("{") else sentence(told)
        self._send(HTTPStatus.OK, "text/plain; charset=utf-8", answer.encode())

    def _name(self) -> str | None:
        """What is asked for, behind the token; None where that is refused."""
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            self.send_error(HTTPStatus.FORBIDDEN, "another host is asked for")
            return None
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            self.send_error(HTTPStatus.FORBIDDEN, "a page of another site is asking")
            return None
        token, _, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self.send_error(HTTPStatus.FORBIDDEN, "the token in the address is missing or wrong")
            return None
        return name

    def _body(self) -> bytes | None:
        if self.headers.get_content_type() != "application/json":  # another needs no leave of a browser
            self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send application/json")
            return None
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or "Transfer-Encoding" in self.headers:
            self.send_error(HTTPStatus.LENGTH_REQUIRED, "send the length of the robot")
            return None
        if len(length) > 12 or int(length) > LARGEST:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LARGEST} bytes")
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.send_error(HTTPStatus.BAD_REQUEST, "the robot breaks off")
            return None
        return body

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        for key, value in _HEADERS.items():
            self.send_header(key, value)
        self.send_header("Content-Security-Policy", f"{policy(asks=True)}; frame-ancestors 'none'")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A refusal in one sentence."""
        self.close_connection = True
        told = sentence(message or HTTPStatus(code).phrase)
        self._send(code, "text/plain; charset=utf-8", told.encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: requests hold the token."""


def serve(server: ExplorerServer, browser: bool = True) -> None:
    """Print the address and serve until Ctrl-C, which is passed on."""
    with server:
        print(server.address, flush=True)  # at once, also into a pipe
        print("pivotree: Ctrl-C stops the page", file=sys.stderr, flush=True)
        if browser:  # a browser may take its time, or never come back
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        server.serve_forever()
