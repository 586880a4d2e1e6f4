"""Paths as callers write them, made safe before any of them touches a disk. Pure.

A path is relative to a root that it cannot leave. Names that a file system, a terminal or a reader may understand
differently (control and invisible characters, names that Windows reserves) are refused, not repaired.
"""

import re
import unicodedata
from functools import lru_cache

from tokonoma.core.errors import Invalid

PathParts = tuple[str, ...]

MAX_PATH_LENGTH = 1024  # characters of a path
MAX_PATH_DEPTH = 32  # folders in each other
_LONGEST_PART = 255  # bytes, as file systems have it
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # letters that show nothing
_JOINERS = frozenset("\u200c\u200d")  # parts of emoji, and of Persian and Indic words
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def split_path(path: str, field: str = "path", *, reading: bool = False) -> PathParts:
    """The parts of a path, composed (NFC); none for the root itself. Invalid says what is wrong with it. With
    `reading`, in a folder that is only read, more names pass: see `is_readable_name`."""
    if len(path) > MAX_PATH_LENGTH:
        raise _invalid_path(f"has more than {MAX_PATH_LENGTH} characters", field)
    path = path.replace("\\", "/")
    if path.startswith("/"):
        raise _invalid_path("is absolute; give it relative to the root, like notes/today.md", field)
    if not reading and _SCHEME.match(path):
        raise _invalid_path("begins with a drive or a scheme; give it relative to the root, like notes/today.md", field)
    parts = tuple(unicodedata.normalize("NFC", part) for part in path.split("/") if part not in ("", "."))
    for place, part in enumerate(parts):
        if problem := _find_problem(part, first=place == 0, reading=reading):
            raise _invalid_path(problem, field)
    if len(parts) > MAX_PATH_DEPTH:
        raise _invalid_path(f"has more than {MAX_PATH_DEPTH} parts", field)
    return parts


def split_file_path(path: str, field: str = "path", *, reading: bool = False) -> PathParts:
    """`split_path` for a path that must name a file: at least one part, and no slash at the end."""
    parts = split_path(path, field, reading=reading)
    if not parts or path.replace("\\", "/").endswith(("/", "/.")):
        raise _invalid_path("names no file; give one, like notes/today.md", field)
    return parts


def join_path(parts: PathParts) -> str:
    return "/".join(parts)


def name_key(name: str) -> str:
    """Equal for two names that some file system takes for one: composed and without case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def rule_keys(parts: PathParts) -> PathParts:
    """The parts as rules compare them: without case, and without differences of width and compatibility."""
    return tuple(name_key(unicodedata.normalize("NFKC", part)) for part in parts)


@lru_cache(maxsize=65_536)  # a folder's names are looked at before every answer
def is_acceptable_name(name: str) -> bool:
    """Whether a name that lies on a disk could also be asked for."""
    return "\\" not in name and not _find_problem(name, first=False)


@lru_cache(maxsize=65_536)
def is_readable_name(name: str) -> bool:
    """Whether a name on the disk can be asked for in a folder that is only read: also names of devices and drives on
    other systems, emoji that are joined, and letters that are newer than this Python."""
    return "\\" not in name and not _find_problem(name, first=False, reading=True)


def _find_problem(part: str, *, first: bool, reading: bool = False) -> str:
    if unicodedata.normalize("NFKC", part) in ("..", "."):
        return "contains `..`; give a path without it"
    if any(_is_unseen(letter, reading) for letter in part):
        return "contains a control character or an invisible one"
    if part != part.strip() or part.endswith("."):
        return "has a part that begins or ends with a space, or ends with a dot"
    if len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART:
        return f"has a part of more than {_LONGEST_PART} bytes"
    if not reading and _DEVICE.fullmatch(part):
        return f"contains {part!r}, the name of a device on some systems"
    if first and part == "~":
        return "begins with `~`; give it relative to the root, like notes/today.md"
    return ""


def _is_unseen(letter: str, reading: bool) -> bool:
    if reading and (letter in _JOINERS or unicodedata.category(letter) == "Cn"):
        return False
    return unicodedata.category(letter) in _UNSEEN or letter in _BLANK


def _invalid_path(problem: str, field: str) -> Invalid:
    return Invalid(f"The path in `{field}` {problem}.", reason="path", field=field)
