"""Room for deletions on a full disk: a file beside the database that is given up when a deletion needs its space.

An empty file says that it was given up. Until it can be filled again, only deletions write.
"""

import os
import shutil
from pathlib import Path

RESERVE_SIZE = 4 * 2**20
_MIN_FREE = 8 * RESERVE_SIZE  # a disk with less is not made fuller by us


class DiskReserve:
    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")

    def fill(self) -> bool:
        """Make it, or fill it again; False if there is too little room."""
        if self._read_size() == RESERVE_SIZE:
            return True
        try:
            if shutil.disk_usage(self._path.parent).free < _MIN_FREE:
                return False
            opened = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(opened, "wb") as file:
                # Written, not only made longer: a file of holes takes no room.
                file.write(bytes(RESERVE_SIZE))
        except OSError:
            return False
        return True

    def give_up(self) -> bool:
        """Free its space; False if there is none."""
        try:
            if not self._read_size():
                return False
            os.truncate(self._path, 0)
        except OSError:
            return False
        return True

    def is_given_up(self) -> bool:
        return self._read_size() == 0

    def _read_size(self) -> int | None:
        try:
            return self._path.stat(follow_symlinks=False).st_size
        except OSError:
            return None
