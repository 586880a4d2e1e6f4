"""Everything below a folder: the files that can be read, and all others with the reason why not."""

import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal, NamedTuple, get_args

from tokonoma.core.desk import Desk, Document
from tokonoma.core.errors import Refusal
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import MAX_PATH_DEPTH, MAX_PATH_LENGTH, PathParts, is_acceptable_name, join_path
from tokonoma.files.folder import FileEntry, RootFolder, to_stamp

SYSTEM = ".system"
"""The server's own folder at the top of a root. It is no part of what is listed."""
_MAX_COUNTED_DEPTH = 100  # folders in each other, below one that is left out
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

LeftOutReason = Literal[
    "hidden",  # its name begins with a dot
    "symlink",
    "hard_link",
    "odd_name",  # a caller could not write it
    "same_name",  # two names differ only in how their letters are composed
    "unreadable",
    "too_deep",
    "not_a_file",  # a pipe, a socket, a device
    "too_large",
    "not_text",
    "encoding",  # it is unknown
    "changed",  # while it was read
    "unindexed",  # the disk is full or read-only
    "outside_manual",
    "not_a_manual_file",
    "policy",  # for the owner alone: others must not learn of it
]


REASONS: tuple[LeftOutReason, ...] = get_args(LeftOutReason)
NO_LINES: Mapping[int, LeftOutReason] = {-1: "not_text", -2: "too_large", -3: "encoding", -4: "unreadable"}
"""What is stored instead of the number of lines of a file that is not read."""


class LeftOut(NamedTuple):
    """A file that is not read, or a folder with so many files. A folder that cannot be opened counts as one."""

    parts: PathParts
    reason: LeftOutReason
    files: int = 1

    @property
    def path(self) -> str:
        """For people: what cannot be seen in a name, and bytes that are not UTF-8, are written like `\\u200d`."""
        path = join_path(self.parts).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return path if path.isprintable() else "".join(map(_escape_unseen, path))


def _escape_unseen(letter: str) -> str:
    is_unseen = unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")
    return letter.encode("unicode_escape").decode() if is_unseen else letter


@dataclass(frozen=True, slots=True)
class FolderListing:
    files: list[FileEntry] = field(default_factory=list[FileEntry])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])


def list_folder(
    folder: RootFolder, below: PathParts = (), is_acceptable: Callable[[str], bool] = is_acceptable_name
) -> FolderListing:
    """All files below a folder in order of name. No link is followed."""
    walk = _Walk(is_acceptable)
    with folder.open_folder(below) as opened:
        walk.add_folder(opened, below)
    return walk.listing


def count_left_out(left_out: Iterable[LeftOut]) -> dict[str, int]:
    """How many files are left out for each reason."""
    counts = Counter[str]()
    for each in left_out:
        counts[each.reason] += each.files
    return dict(sorted(counts.items()))


def to_line_count(error: Refusal) -> int:
    """What is stored for a file that this refusal keeps from being read."""
    return next((lines for lines, reason in NO_LINES.items() if reason == error.reason), -4)


def is_name_visible(desk: Desk, address: str, namespace: str, name: str) -> bool:
    """Whether the caller may learn of a file of which nothing is known but its name."""
    label = desk.policy.classify_document(Document(address, namespace, "", name))
    return label in desk.call.granted_view.classifications and is_inside(namespace, desk.principal.root)


class _Walk:
    def __init__(self, is_acceptable: Callable[[str], bool]) -> None:
        self.is_acceptable = is_acceptable
        self.listing = FolderListing()

    def add_folder(self, opened: int, parts: PathParts) -> None:
        with os.scandir(opened) as listed:
            entries = sorted(listed, key=attrgetter("name"))
        names = {entry.name for entry in entries}
        composed = Counter(unicodedata.normalize("NFC", name) for name in names if not name.isascii())
        for entry in entries:
            inside = (*parts, entry.name)
            if inside == (SYSTEM,):
                continue
            is_double = not entry.name.isascii() and composed[unicodedata.normalize("NFC", entry.name)] > 1
            try:
                reason = self._find_reason(entry, inside, is_double)
                if reason is not None:
                    self._leave_out(opened, entry, inside, reason)
                elif entry.is_dir(follow_symlinks=False):
                    self._add_below(opened, inside)
                else:
                    self._add_file(entry, inside)
            except FileNotFoundError:  # removed during the listing
                continue
            except OSError:
                self.listing.left_out.append(LeftOut(inside, "unreadable"))

    def _find_reason(self, entry: os.DirEntry[str], inside: PathParts, is_double: bool) -> LeftOutReason | None:
        if entry.name.startswith("."):
            return "hidden"
        if entry.is_symlink():
            return "symlink"
        if not self.is_acceptable(entry.name):
            return "odd_name"
        if is_double and entry.name != unicodedata.normalize("NFC", entry.name):
            return "same_name"
        is_deep = len(inside) >= MAX_PATH_DEPTH and entry.is_dir(follow_symlinks=False)
        return "too_deep" if is_deep or len(join_path(inside)) > MAX_PATH_LENGTH else None

    def _leave_out(self, opened: int, entry: os.DirEntry[str], inside: PathParts, reason: LeftOutReason) -> None:
        files = _count_files(opened, entry.name) if entry.is_dir(follow_symlinks=False) else 1
        if files:
            self.listing.left_out.append(LeftOut(inside, reason, files))

    def _add_below(self, opened: int, inside: PathParts) -> None:
        below = os.open(inside[-1], _FOLDER_FLAGS, dir_fd=opened)
        try:
            self.add_folder(below, inside)
        finally:
            os.close(below)

    def _add_file(self, entry: os.DirEntry[str], inside: PathParts) -> None:
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            self.listing.left_out.append(LeftOut(inside, "not_a_file"))
        elif status.st_nlink > 1:
            self.listing.left_out.append(LeftOut(inside, "hard_link"))
        else:
            self.listing.files.append(FileEntry(inside, to_stamp(status)))


def _count_files(parent: int, name: str, depth: int = 0) -> int:
    """The files in a folder that is left out."""
    if depth == _MAX_COUNTED_DEPTH:
        return 1
    try:
        opened = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except OSError:
        return 1
    try:
        with os.scandir(opened) as listed:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listed]
        return sum(_count_files(opened, below, depth + 1) if is_folder else 1 for below, is_folder in entries)
    finally:
        os.close(opened)
