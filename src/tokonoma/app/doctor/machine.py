"""Checks of the machine: Python, SQLite, the file system of the home, free space, locks, permissions, the port."""

import http.client
import os
import platform
import re
import shlex
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tokonoma.core.errors import Refusal
from tokonoma.core.os_errors import describe_os_error
from tokonoma.store.database import read_sqlite_info

FindingState = Literal["ok", "warn", "fail"]
Mounts = dict[str, str]  # mount point → type

_MIN_PYTHON = (3, 11)
_LOW_DISK = 200 * 2**20  # bytes
_USE_LOCAL_DISK = "Put the home on a local disk (TOKONOMA_HOME), or use PostgreSQL (TOKONOMA_DATABASE_URL)."
# SQLite needs locks that every process sees at once and writes that arrive in order: these promise neither.
NETWORK_TYPES = {
    *("9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs", "gpfs", "lustre", "nfs", "nfs3", "nfs4"),
    *("smb2", "smb3", "smbfs", "webdav"),
    *("fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
}
_LOCK_PROBE = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(3)
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: its name, its state, what was found and what to do about it."""

    name: str
    state: FindingState
    says: str
    do: str = ""


def run_check(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Return the findings of one check. A check that fails itself is a finding, too."""
    try:
        return list(check())
    except Refusal as error:
        return [Finding(name, "fail", error.message)]
    except OSError as error:
        return [Finding(name, "fail", f"cannot be checked. {describe_os_error(error)}")]
    except Exception as error:
        return [Finding(name, "fail", f"the check failed ({type(error).__name__}).", "Please report this.")]


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
        yield Finding("sqlite", "fail", f"{version} has no FTS5.", "Reinstall apsw: pip install --upgrade apsw")


def check_home(folder: Path, database: Path | None) -> Iterator[Finding]:
    """Check that only the owner has access. `database` is the file of SQLite, if that is used."""
    if not folder.exists():
        yield Finding("home", "ok", f"{folder} does not exist yet; the first start creates it.")
        return
    if sys.platform == "win32":
        yield Finding("home", "ok", f"{folder} (permissions are not checked on this system)")
        return
    files = [folder, *(folder / name for name in ("tokonoma.toml", "plugins.json", "backups", "keyring.key"))]
    files += sorted((folder / "backups").glob("*.backup"))
    if database is not None:
        files += [database.with_name(database.name + end) for end in ("", "-wal", "-shm")]
    shared = [file for file in files if file.exists() and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    if not shared:
        yield Finding("home", "ok", f"{folder}, accessible to its owner only")
        return
    named = " ".join(shlex.quote(str(path)) for path in shared)
    yield Finding("home", "warn", f"Other users of this machine can read: {named}", f"chmod go= {named}")


def check_disk(folder: Path, *, sqlite_there: bool) -> Iterator[Finding]:
    """Check the file system of the data: its type, its free space, its locks."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    kind = find_filesystem_type(place.resolve(), read_mounts())
    if kind in NETWORK_TYPES and sqlite_there:
        says = f"{place} is on {kind}, a network file system: SQLite can lose data there."
        yield Finding("file system", "warn", says, _USE_LOCAL_DISK)
    else:
        yield Finding("file system", "ok", kind or "unknown on this system")
    free = shutil.disk_usage(place).free
    room = f"{free // 2**20} MiB free"
    if free < _LOW_DISK:
        yield Finding("room", "warn", f"{room} on the disk of {place}.", "Free some space before writes fail.")
    else:
        yield Finding("room", "ok", room)
    if sqlite_there and folder.exists():
        if os.access(folder, os.W_OK):
            yield from check_locks(folder)
        else:
            says = f"{folder} is on a read-only disk, or this user may not write there: data can only be read."
            yield Finding("locks", "warn", says, "To store something, make the folder writable for this user.")


def check_locks(folder: Path) -> Iterator[Finding]:
    """Check that another process sees a lock of this one."""
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
        yield Finding("locks", "ok", "other processes see locks")
    elif other.returncode == 0:
        yield Finding("locks", "fail", f"Two processes could lock one file in {folder} at once.", _USE_LOCAL_DISK)
    else:
        yield Finding("locks", "warn", "could not be checked: a second Python process did not start.")


def find_filesystem_type(path: Path, table: Mounts) -> str:
    """The type of the file system of the path: that of the deepest mount point above it."""
    above = [str(each) for each in (PurePosixPath(path), *PurePosixPath(path).parents)]
    return next((table[each] for each in above if each in table), "")


def read_mounts() -> Mounts:
    """Read the mount points of the system; empty if they are unknown."""
    if sys.platform.startswith("linux"):
        return parse_mountinfo(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    if sys.platform == "darwin":
        return parse_mount_output(subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False).stdout)
    return {}


def parse_mountinfo(text: str) -> Mounts:
    """Linux: `36 35 98:0 / /home rw,noatime shared:1 - ext4 /dev/sda1 rw`; spaces in paths are written \\040."""
    table: Mounts = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:
            place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])
            table[place] = after.split(" ")[0]  # a later mount on the same point hides the earlier one
    return table


def parse_mount_output(text: str) -> Mounts:
    """macOS: `/dev/disk1s1 on / (apfs, local, journaled)`."""
    return dict(re.findall(r"^.+ on (.+) \((\w+)", text, re.MULTILINE))


def check_port(host: str, number: int) -> Iterator[Finding]:
    if number == 0:
        yield Finding("port", "ok", "any that is free")
    elif not _is_taken(host, number):
        yield Finding("port", "ok", f"{host}:{number} is free for `tokonoma serve`")
    elif is_tokonoma(host, number):
        yield Finding("port", "ok", f"{host}:{number} is used by a running tokonoma")
    else:
        remedy = "Choose another with --port, TOKONOMA_PORT or `port` in tokonoma.toml."
        yield Finding("port", "warn", f"{host}:{number} is used by another program.", remedy)


def _is_taken(host: str, number: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind((host.strip("[]"), number))
            return False
    return True


def is_tokonoma(host: str, number: int) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(host, host).strip("[]")  # noqa: S104 - not bound
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nothing secret is sent
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    plain = http.client.HTTPConnection(host, number, timeout=2)
    encrypted = http.client.HTTPSConnection(host, number, timeout=2, context=unverified)
    for connection in (plain, encrypted):
        with suppress(OSError, http.client.HTTPException), closing(connection):
            connection.request("GET", "/health")
            if connection.getresponse().read(64) == b'{"status":"ok"}':
                return True
    return False
