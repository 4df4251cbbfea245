"""The explorer's page with Python behind it, for this machine and this user only.

The server listens on 127.0.0.1; its address holds a token that is new each time.  It answers five
requests: the page, its script, its styles, a question about digits, and another robot, by its name or
as a file that was dropped on the page.  Everything else is
refused with a sentence: other hosts (a name that was made to point here), other origins (a page of
another site), other tokens, other paths, and what is too long or is no question.
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

from pivotree.kkt import PivotreeError, System
from pivotree.kkt.base.errors import sentence
from pivotree.kkt.model.load import SUFFIXES

from .asked import question_of, refusal
from .live import SECONDS, Live
from .page import POLICY, document_of, explorer_styles, page_rules, shell

Reader = Callable[[str, str], tuple[System, dict[str, Any]]]
LOOPBACK = "127.0.0.1"
LARGEST = 1 << 18  # bytes of a question; that of 150 bodies has some 15 000
LARGEST_ROBOT = 1 << 23  # bytes of a robot; a humanoid's file has some 100 000
PATIENCE = 10.0  # seconds that a connection may be silent
LIFE = 120.0  # seconds that it may last; an answer comes within 2 * live.SECONDS
MOST = 100  # connections at once: each has a thread
_POLICY = POLICY.format("script-src 'self'; style-src 'self'; connect-src 'self'")
_HEADERS = {
    "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ExplorerServer(ThreadingHTTPServer):
    """Serves one document; ``address`` is what a browser opens.

    ``port`` 0 takes any that is free.  ``read`` gives the system and the document of another robot, by
    a gallery's spec or a file's path and what it is called.  Raises PivotreeError where the port cannot
    be had.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = MOST
    allow_reuse_address = os.name != "nt"  # there it would share the port

    live: Live

    def __init__(
        self,
        system: System,
        data: dict[str, Any],
        port: int = 0,
        seconds: float = SECONDS,
        read: Reader | None = None,
    ) -> None:
        if not 0 <= port <= 65535:
            raise PivotreeError(f"option --port: {port} is no port; use 0 to 65535")
        self.seconds, self.read, self.reading = seconds, read, threading.Lock()
        self.token = secrets.token_urlsafe(32)
        self.open: dict[Any, float] = {}  # connections, and when they came
        self.files = {
            "explorer.js": ("text/javascript", shell("served").encode()),
            "explorer.css": ("text/css", (page_rules() + explorer_styles()).encode()),
        }
        self.show(system, data)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise PivotreeError(
                f"option --port: {port} cannot be had ({error.strerror}); leave it out for any"
            ) from None

    def server_bind(self) -> None:
        """Without asking for the host's name, which may ask the network."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, int(self.server_address[1])
        self.hosts = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}

    def show(self, system: System, data: dict[str, Any]) -> None:
        """The page of this system from now on."""
        script = '<script type="module" src="explorer.js"></script>'
        page = document_of(data, _POLICY, '<link rel="stylesheet" href="explorer.css">', script)
        self.live = Live(system, self.seconds)
        self.files[""] = ("text/html", page.encode())

    def show_another(self, robot: Any) -> dict[str, Any]:
        """Read ``{"model": spec}``, or ``{"name", "text"}`` of a file, and show it; or say why not."""
        if self.read is None:
            return refusal("this page is of one robot")
        if not self.reading.acquire(blocking=False):
            return refusal("another robot is still being read; try again")
        try:
            with tempfile.TemporaryDirectory() as folder:
                before = self.live
                try:
                    self.show(*self.read(*_place_of(robot, Path(folder))))
                except PivotreeError as error:
                    return refusal(str(error).replace(f"{folder}{os.sep}", ""))
                before.close()
        finally:
            self.reading.release()
        return refusal("") | {"failed": None}

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

    def server_close(self) -> None:
        super().server_close()
        self.live.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off concerns nobody else; all other is told in a line."""
        error = sys.exception()
        if not isinstance(error, OSError):
            print(f"pivotree: explorer: {type(error).__name__}: {error}", file=sys.stderr)


def _place_of(robot: Any, folder: Path) -> tuple[str, str]:
    """A gallery's spec, or the path of a file that is written to a folder, and what it is called."""
    fields = robot if isinstance(robot, dict) else {}
    model, name, text = fields.get("model"), fields.get("name"), fields.get("text")
    if isinstance(model, str) and not Path(model).suffix and os.sep not in model:
        return model, model
    if isinstance(model, str):
        raise PivotreeError(f"{model}: a file is dropped on the page, or pivotree explore is run with it")
    if not isinstance(name, str) or not isinstance(text, str) or Path(name).suffix.lower() not in SUFFIXES:
        raise PivotreeError(f"request: is no robot; drop one of {', '.join(SUFFIXES)}")
    path = folder / Path(name).name
    path.write_text(text, encoding="utf-8")
    return str(path), path.name


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    server_version, sys_version = "pivotree", ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if name not in self.server.files:
            self.send_error(HTTPStatus.NOT_FOUND, "there is no such file")
            return
        kind, content = self.server.files[name]
        self._send(HTTPStatus.OK, f"{kind}; charset=utf-8", content)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        name = self._name()
        if name is None:
            return
        if name not in ("live", "robot"):
            self.send_error(HTTPStatus.NOT_FOUND, "questions go to live, robots to robot")
            return
        body = self._body(LARGEST if name == "live" else LARGEST_ROBOT)
        if body is None:
            return
        try:
            if name == "robot":
                self._send_json(HTTPStatus.OK, self.server.show_another(json.loads(body)))
                return
            question = question_of(json.loads(body))
        except PivotreeError as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))
        except (ValueError, RecursionError):
            self.send_error(HTTPStatus.BAD_REQUEST, "request: is not JSON")
        else:
            self._send_json(HTTPStatus.OK, self.server.live.answer(question))

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

    def _body(self, largest: int) -> bytes | None:
        if self.headers.get_content_type() != "application/json":
            self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send application/json")
            return None
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or "Transfer-Encoding" in self.headers:
            self.send_error(HTTPStatus.LENGTH_REQUIRED, "send the length of the question")
            return None
        if len(length) > 12 or int(length) > largest:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {largest} bytes")
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.send_error(HTTPStatus.BAD_REQUEST, "the question breaks off")
            return None
        return body

    def _send_json(self, code: int, document: dict[str, Any]) -> None:
        content = json.dumps(document, allow_nan=False).encode()
        self._send(code, "application/json", content)

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        for key, value in _HEADERS.items():
            self.send_header(key, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A refusal, in the form of an answer without digits."""
        self.close_connection = True
        self._send_json(code, refusal(sentence(message or HTTPStatus(code).phrase)))

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: requests hold the token."""


def serve(
    system: System,
    data: dict[str, Any],
    port: int = 0,
    browser: bool = True,
    told: Callable[[str], None] | None = None,
    read: Reader | None = None,
) -> None:
    """Serve until Ctrl-C, which is passed on; ``told`` is given the address, else it is printed."""
    with ExplorerServer(system, data, port, read=read) as server:
        if told is None:
            print(server.address, flush=True)  # at once, also into a pipe
            print("pivotree: Ctrl-C stops the page", file=sys.stderr, flush=True)
        else:
            told(server.address)
        if browser:  # a browser may take its time, or never come back
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        server.serve_forever()
