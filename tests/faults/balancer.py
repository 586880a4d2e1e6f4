"""A load balancer of the simplest kind: each new connection goes to the next server that accepts one."""

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import count


class Balancer:
    """Listens on a port of its own. A connection that a server drops is dropped for the client."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._next = count()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = self._connect()
        if server is None:
            client.close()
            return
        back = threading.Thread(target=_copy, args=(server, client), daemon=True)
        back.start()
        _copy(client, server)
        back.join()
        client.close()
        server.close()

    def _connect(self) -> socket.socket | None:
        """To the next server in turn, or to the one after it if that one is down."""
        for _ in range(3 * len(self._ports)):  # others take turns meanwhile
            with suppress(OSError):
                return socket.create_connection(("127.0.0.1", self._ports[next(self._next) % len(self._ports)]))
        return None


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Until either side has ended; then the other is told."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
