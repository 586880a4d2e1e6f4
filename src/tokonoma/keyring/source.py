"""Where the master key is: in a setting, in a file that is mounted, in the keyring of the system, or in the home.

Only the last two can be changed by Tokonoma. A change has two steps, so that a crash leaves a key for either state of
the database: the new key is stored beside the old one, then the database is changed, then the new key takes its place.
"""

import base64
import binascii
import fcntl
import hashlib
import os
import re
import secrets
import shlex
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tokonoma.core.errors import Conflict, Unavailable, Unready
from tokonoma.core.os_errors import describe_os_error
from tokonoma.files.atomic import rename_exclusive
from tokonoma.keyring.seal import KEY_SIZE

KEY_FILE = "keyring.key"
_STAGED_FILE = "keyring.key.new"
_FORMAT = "It must be 32 random bytes in base64 or hexadecimal. Make one with: openssl rand -base64 32"


@dataclass(frozen=True, slots=True)
class MasterKey:
    """The key that wraps the data keys. Its fingerprint is stored; it tells nothing about the key."""

    key: bytes = field(repr=False)
    fingerprint: str


class KeySource(Protocol):
    place: str  # in words

    def read(self) -> list[MasterKey]: ...  # the key, then one that an interrupted change has left; empty: none yet
    def create(self) -> MasterKey: ...  # the key that is there, if another process was first


def build_master(key: bytes) -> MasterKey:
    return MasterKey(key, hashlib.sha256(b"tokonoma keyring\0" + key).hexdigest()[:16])


def generate_master() -> MasterKey:
    return build_master(secrets.token_bytes(KEY_SIZE))


def format_master(key: MasterKey) -> str:
    return base64.b64encode(key.key).decode()


def parse_master(text: str, place: str) -> MasterKey:
    """Unavailable names what is wrong with the text, and never repeats it."""
    text = text.strip()
    if not text:
        raise Unavailable(f"The key of the keyring in {place} is empty. {_FORMAT}", reason="sealed")
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return build_master(bytes.fromhex(text))
    if not re.fullmatch(r"[A-Za-z0-9+/_-]+=*", text):
        message = "contains characters that belong neither to base64 nor to hexadecimal"
        raise Unavailable(f"The key of the keyring in {place} {message}. {_FORMAT}", reason="sealed")
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        key = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_SIZE:
        length = f"has {len(key)} bytes instead of {KEY_SIZE}" if key else "is not complete base64"
        raise Unavailable(f"The key of the keyring in {place} {length}. {_FORMAT}", reason="sealed")
    return build_master(key)


class GivenKey:
    """A key that is given from outside: in a setting, or in a file. Only its owner can change it."""

    def __init__(self, place: str, text: str = "", file: Path | None = None) -> None:
        self.place, self._text, self._file = place, text, file

    def read(self) -> list[MasterKey]:
        if self._file is None:
            return [parse_master(self._text, self.place)]
        try:
            return [parse_master(self._file.read_bytes().decode("ascii", "replace"), self.place)]
        except OSError as error:
            raise _unreadable_error(error) from error

    def create(self) -> MasterKey:
        return self.read()[0]


class HomeKey:
    """`keyring.key` in the home, made at first need. Nobody but its owner may be able to read it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.place = str(home / KEY_FILE)

    def read(self) -> list[MasterKey]:
        # The staged one first: if it takes the place of the other meanwhile, it is read twice instead of not at all.
        texts = [(name, _read_own_text(self._home / name)) for name in (_STAGED_FILE, KEY_FILE)]
        found = [parse_master(text, str(self._home / name)) for name, text in texts if text is not None]
        return list(dict.fromkeys(reversed(found)))

    def create(self) -> MasterKey:
        with self._open_home() as home:
            draft = _write_draft(home, generate_master())
            try:
                rename_exclusive(home, draft, home, KEY_FILE)
            except FileExistsError:
                os.unlink(draft, dir_fd=home)
            os.fsync(home)
        return self.read()[0]

    def stage(self, key: MasterKey) -> None:
        """Store a new key durably beside the one in use."""
        with self._open_home() as home:
            os.replace(_write_draft(home, key), _STAGED_FILE, src_dir_fd=home, dst_dir_fd=home)
            os.fsync(home)

    def promote(self) -> None:
        """Let the staged key take the place of the other."""
        with self._open_home() as home:
            os.replace(_STAGED_FILE, KEY_FILE, src_dir_fd=home, dst_dir_fd=home)
            os.fsync(home)

    @contextmanager
    def lock(self) -> Generator[None]:
        """One change at a time."""
        with self._open_home() as home, _hold_lock(home):
            yield

    @contextmanager
    def _open_home(self) -> Generator[int]:
        home = os.open(self._home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield home
        finally:
            os.close(home)


class SystemKey:
    """The keyring of the operating system: Keychain, Secret Service, KWallet."""

    place = "the keyring of the system"

    def __init__(self, home: Path) -> None:
        self._home = home
        self._user, self._staged = str(home), f"{home} (new)"

    def read(self) -> list[MasterKey]:
        texts = [self._ask("get_password", name) for name in (self._user, self._staged)]
        return [parse_master(text, self.place) for text in texts if text is not None]

    def create(self) -> MasterKey:
        key = generate_master()
        self._ask("set_password", self._user, format_master(key))
        return key

    def stage(self, key: MasterKey) -> None:
        self._ask("set_password", self._staged, format_master(key))

    def promote(self) -> None:
        self._ask("set_password", self._user, self._ask("get_password", self._staged))
        self._ask("delete_password", self._staged)

    @contextmanager
    def lock(self) -> Generator[None]:
        with HomeKey(self._home).lock():
            yield

    def _ask(self, what: str, *given: Any) -> Any:
        try:
            backend = import_module("keyring")
        except ImportError as error:
            message = "The keyring of the system needs a package. Install it with: pip install 'tokonoma[oskeyring]'"
            raise Unready(message, reason="driver") from error
        try:
            return getattr(backend, what)("tokonoma", *given)
        except Exception as error:  # every backend has its own; their texts may hold anything
            message = f"The keyring of the system does not answer ({type(error).__name__})."
            help_text = "Unlock it, or keep the key elsewhere: see the settings keyring_source and keyring_key_file."
            raise Unavailable(f"{message} {help_text}", reason="sealed") from None


OwnKey = HomeKey | SystemKey
"""A key that Tokonoma makes and can change"""


@contextmanager
def _hold_lock(folder: int) -> Generator[None]:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict("Another process is changing the key of the keyring. Try again.", reason="busy") from None
    yield  # it ends with the descriptor


def _read_own_text(file: Path) -> str | None:
    """None if there is no such file; Unavailable if others can read it."""
    try:
        mode = file.stat().st_mode
        text = file.read_bytes().decode("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable_error(error) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        message = f"Other users of this machine can read {file}, so the keyring does not use it."
        raise Unavailable(f"{message} Run: chmod 600 {shlex.quote(str(file))}", reason="sealed")
    return text


def _unreadable_error(error: OSError) -> Unavailable:
    return Unavailable(f"The key of the keyring cannot be read. {describe_os_error(error)}", reason="sealed")


def _write_draft(home: int, key: MasterKey) -> str:
    """A durable file beside the final one; returns its name."""
    name = f".{KEY_FILE}.{secrets.token_hex(8)}"
    opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=home)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(f"{format_master(key)}\n".encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            os.unlink(name, dir_fd=home)
        raise
    return name
