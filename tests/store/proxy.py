"""A network between a test and its PostgreSQL that can stop carrying bytes, in either direction."""

import socket
import threading
from contextlib import suppress
from typing import Literal

Way = Literal["to_server", "to_client"]


class SilentNetwork:
    """Listens on a port of this machine and carries bytes to a Unix socket. While a way is stopped, connections stay
    open and are accepted, and nothing arrives; what waits is carried when it goes on."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._flows: dict[Way, threading.Event] = {"to_server": threading.Event(), "to_client": threading.Event()}
        self.go_on()
        self._dead: set[socket.socket] = set()  # never carried again
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self, *ways: Way) -> None:
        for way in ways or self._flows:
            self._flows[way].clear()

    def go_on(self) -> None:
        for flow in self._flows.values():
            flow.set()

    def lose_connections(self) -> None:
        """As a router that was restarted: nobody hears of it, and only new connections carry anything."""
        self._dead.update(self._sockets)

    def close(self) -> None:
        self.go_on()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._sockets += [client, server]
            for source, sink, flow in (
                (client, server, self._flows["to_server"]),
                (server, client, self._flows["to_client"]),
            ):
                threading.Thread(target=self._carry, args=(source, sink, flow), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, flow: threading.Event) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                flow.wait()
                if source not in self._dead:
                    sink.sendall(data)
        flow.wait()
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
