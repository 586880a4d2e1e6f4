"""A seal at the end of a copied SQLite file: when it was made, and a hash of all bytes before it.

SQLite's own check finds broken pages but not a changed letter inside a row. The seal is shorter than a page and stands
after the last one, where SQLite does not look: the file stays a plain database.
"""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

_SIZE = 128
_CHUNK = 1 << 20
_SEAL = re.compile(rb"tokonoma backup 1 at (\d{15}) sha256 ([0-9a-f]{64})\n+\Z")


def write_seal(path: Path, at: int) -> None:
    found = hashlib.sha256()
    with path.open("r+b") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
        file.write(f"tokonoma backup 1 at {at:015d} sha256 {found.hexdigest()}".encode().ljust(_SIZE, b"\n"))
        file.flush()
        os.fsync(file.fileno())


def read_seal_time(read: Callable[[int, int], bytes], size: int) -> int | None:
    """The time of the seal; None if there is none, ValueError if it does not fit. `read` takes an offset and a size."""
    seal = _SEAL.match(read(size - _SIZE, _SIZE)) if size > _SIZE else None
    if seal is None:
        return None
    found, end = hashlib.sha256(), size - _SIZE
    for offset in range(0, end, _CHUNK):
        found.update(read(offset, min(_CHUNK, end - offset)))
    if found.hexdigest().encode() != seal[2]:
        raise ValueError("the bytes before the seal have changed")
    return int(seal[1])
