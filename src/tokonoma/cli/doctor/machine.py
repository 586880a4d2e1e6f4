"""The machine under the house: Python, SQLite, the file system of the home, its room, locks and permissions."""

import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tokonoma.cli.doctor.filesystem import find_filesystem_type, is_network, read_mounts
from tokonoma.cli.doctor.finding import Finding
from tokonoma.store.database import read_sqlite_info

_MIN_PYTHON = (3, 11)
_LOW_DISK = 200 * 2**20  # bytes
_USE_LOCAL_DISK = "Put the home on a local disk (TOKONOMA_HOME), or use PostgreSQL (TOKONOMA_DATABASE_URL)."
_LOCK_PROBE = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(3)
"""


def check_python() -> Iterator[Finding]:
    version = platform.python_version()
    if sys.version_info < _MIN_PYTHON:
        yield Finding("python", "fail", f"{version} is too old.", "Install Python 3.11 or later.")
    else:
        yield Finding("python", "ok", f"{version} ({sys.executable})")


def check_sqlite() -> Iterator[Finding]:
    version, words = read_sqlite_info()
    if words:
        yield Finding("sqlite", "ok", f"{version} with FTS5")
    else:
        yield Finding("sqlite", "fail", f"{version} has no FTS5.", "Install apsw again: pip install --upgrade apsw")


def check_home(folder: Path, database: Path | None) -> Iterator[Finding]:
    """Only the owner may look in: 0700 for the home, 0600 for the files. `database` is SQLite's, if that is used."""
    if not folder.exists():
        yield Finding("home", "ok", f"{folder} is not created yet; the first start makes it.")
        return
    if sys.platform == "win32":
        yield Finding("home", "ok", f"{folder} (permissions are not checked on this system)")
        return
    shared = [
        path
        for path in (folder, *_list_private_files(folder, database))
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ]
    if not shared:
        yield Finding("home", "ok", f"{folder}, open to its owner alone")
        return
    named = " ".join(shlex.quote(str(path)) for path in shared)
    yield Finding("home", "warn", f"Others on this machine may look into: {named}", f"chmod go= {named}")


def check_disk(folder: Path, *, sqlite_there: bool) -> Iterator[Finding]:
    """The file system under the data: its kind, its room, its locks."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    kind = find_filesystem_type(place.resolve(), read_mounts())
    if is_network(kind) and sqlite_there:
        says = f"{place} lies on {kind}, a network file system: SQLite can lose data there."
        yield Finding("file system", "warn", says, _USE_LOCAL_DISK)
    else:
        yield Finding("file system", "ok", kind or "not told by this system")
    free = shutil.disk_usage(place).free
    room = f"{free // 2**20} MiB free"
    if free < _LOW_DISK:
        yield Finding("room", "warn", f"{room} on the disk of {place}.", "Make room before writes fail.")
    else:
        yield Finding("room", "ok", room)
    if sqlite_there and folder.exists():
        yield from check_locks(folder)


def check_locks(folder: Path) -> Iterator[Finding]:
    """Whether a lock that this process holds is seen by another one."""
    if sys.platform == "win32":
        return
    import fcntl

    with tempfile.NamedTemporaryFile(dir=folder, prefix=".lock-") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            yield Finding("locks", "fail", f"Files in {folder} cannot be locked ({error.strerror}).", _USE_LOCAL_DISK)
            return
        other = subprocess.run([sys.executable, "-I", "-c", _LOCK_PROBE, file.name], check=False, capture_output=True)
    if other.returncode == 3:
        yield Finding("locks", "ok", "other processes see them")
    elif other.returncode == 0:
        yield Finding("locks", "fail", f"Two processes could lock one file in {folder} at once.", _USE_LOCAL_DISK)
    else:
        yield Finding("locks", "warn", "could not be tried: a second Python did not start.")


def _list_private_files(folder: Path, database: Path | None) -> list[Path]:
    named = [folder / name for name in ("tokonoma.toml", "plugins.json", "backups")]
    named += sorted((folder / "backups").glob("*.backup"))
    if database is not None:
        named += [database.with_name(database.name + end) for end in ("", "-wal", "-shm")]
    return [path for path in named if path.exists()]
