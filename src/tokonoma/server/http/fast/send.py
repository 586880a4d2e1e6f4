"""Writing to a socket without letting go of the interpreter.

`socket.send` lets other threads run meanwhile. For a write that cannot block and takes some microseconds, that is the
dearer half: the event loop takes the interpreter, and the worker must wait until it gets it back (ADR 0021).
"""

import ctypes
import socket
import sys
from collections.abc import Callable

_SHORT = 16_384  # bytes; to copy more takes longer than others should wait
_FLAGS = getattr(socket, "MSG_NOSIGNAL", 0)


def send(peer: socket.socket, data: bytes) -> int:
    """How many bytes the socket took; what `socket.send` raises. The socket must not block."""
    if _raw is not None and len(data) <= _SHORT:
        sent = _raw(peer.fileno(), data, len(data), _FLAGS)
        if sent >= 0:
            return sent
    return peer.send(data)  # which also tells why it cannot be sent


def _held() -> Callable[[int, bytes, int, int], int] | None:
    """The system's `send`, called with the interpreter held; None where there is none by that name."""
    if sys.platform == "win32":
        return None
    found = ctypes.PyDLL(None).send
    found.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int)
    found.restype = ctypes.c_ssize_t
    return found


_raw = _held()
