"""The explorer's page served, for this machine and this user only.

The server listens on 127.0.0.1; its address holds a token that is new each time.  It has three files:
the page, its script and its styles.  Everything else is refused with a sentence: other hosts (a name
that was made to point here), other origins (a page of another site), other tokens and other paths.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import socketserver
import sys
import threading
import time
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pivotree.kkt import PivotreeError
from pivotree.kkt.base.errors import sentence

from .page import FOLDER_POLICY, files_of

LOOPBACK = "127.0.0.1"
PATIENCE = 10.0  # seconds that a connection may be silent
LIFE = 120.0  # seconds that it may last
MOST = 100  # connections at once: each has a thread
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_HEADERS = {
    "Content-Security-Policy": f"{FOLDER_POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ExplorerServer(ThreadingHTTPServer):
    """Serves one document; ``address`` is what a browser opens.

    ``port`` 0 takes any that is free.  Raises PivotreeError where the port cannot be had.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = MOST
    allow_reuse_address = os.name != "nt"  # there it would share the port

    def __init__(self, data: dict[str, Any], port: int = 0) -> None:
        if not 0 <= port <= 65535:
            raise PivotreeError(f"option --port: {port} is no port; use 0 to 65535")
        self.token = secrets.token_urlsafe(32)
        self.open: dict[Any, float] = {}  # connections, and when they came
        self.files = {
            name.removesuffix("index.html"): (_KINDS[name.rpartition(".")[2]], text.encode())
            for name, text in files_of(data).items()
        }
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
        """A refusal in one sentence."""
        self.close_connection = True
        told = sentence(message or HTTPStatus(code).phrase)
        self._send(code, "text/plain; charset=utf-8", told.encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: requests hold the token."""


def serve(data: dict[str, Any], port: int = 0, browser: bool = True) -> None:
    """Print the address and serve until Ctrl-C, which is passed on."""
    with ExplorerServer(data, port) as server:
        print(server.address, flush=True)  # at once, also into a pipe
        print("pivotree: Ctrl-C stops the page", file=sys.stderr, flush=True)
        if browser:  # a browser may take its time, or never come back
            threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        server.serve_forever()
