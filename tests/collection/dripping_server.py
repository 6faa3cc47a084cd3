"""A server that never ends what it began: in each phase of HTTP it sends a little now and then, for ever."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PAUSE = 0.02
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = GOOD + b"Transfer-Encoding: chunked\r\n\r\n"
# What comes at once, and what then comes again and again.
PHASES: dict[str, tuple[bytes, bytes]] = {
    "nothing": (b"", b""),
    "handshake": (b"", b"\x16\x03\x03\x40\x00"),  # a record of TLS that does not end
    "request body": (b"", b""),
    "status line": (b"HTTP/1.1 200 O", b"K"),
    "informational": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "header": (GOOD + b"X-A: ", b"a"),
    "headers": (GOOD, b"X-A: a\r\n"),
    "body": (GOOD + b"Content-Length: 500000\r\n\r\n", b" "),
    "body until the end": (GOOD + b"Connection: close\r\n\r\n", b" "),
    "chunk size": (CHUNKED, b"0"),
    "chunk extension": (CHUNKED + b"1;a=", b"a"),
    "chunks": (CHUNKED, b"1\r\n \r\n"),
    "trailers": (CHUNKED + b"2\r\n{}\r\n0\r\n", b"X-A: a\r\n"),
    "redirects": (b"", b""),
}


class DrippingServer:
    """Answers every connection in the way of one phase; `open` connections are those that wait for it."""

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self.asked = 0
        self.open = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        if phase == "request body":  # it reads nothing: a little fits into the buffers between
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        scheme = "https" if phase == "handshake" else "http"
        self.url = f"{scheme}://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self._over.set()
        self._socket.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with self._lock:
            self.asked, self.open = self.asked + 1, self.open + 1
        with suppress(OSError), connection:
            if self.phase != "request body":
                connection.recv(65536)
            first, again = PHASES[self.phase]
            connection.sendall(first)
            if self.phase == "redirects" and not self._over.wait(0.1):
                connection.sendall(
                    b"HTTP/1.1 302 Found\r\nLocation: /d\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                )
                connection.shutdown(socket.SHUT_WR)
            while not self._over.wait(PAUSE):
                if again:
                    connection.sendall(again)
                elif self.phase != "request body" and self._hung_up(connection):
                    break
        with self._lock:
            self.open -= 1

    def _hung_up(self, connection: socket.socket) -> bool:
        with suppress(BlockingIOError):
            return connection.recv(65536, socket.MSG_DONTWAIT) == b""
        return False


@contextmanager
def dripping(phase: str) -> Iterator[DrippingServer]:
    server = DrippingServer(phase)
    try:
        yield server
    finally:
        server.stop()
