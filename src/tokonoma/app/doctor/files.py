"""Checks of the files: compared with what the database knows of them, and whether a backup has them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tokonoma.app.doctor.machine import Finding
from tokonoma.core import clock
from tokonoma.core.desk import Rows
from tokonoma.core.printable import pluralize
from tokonoma.files.folder import FileStamp, RootFolder, open_root
from tokonoma.files.tree import has_staged, hash_file, list_tree
from tokonoma.files.versions import STEM_SUFFIX, list_damaged
from tokonoma.store.database import Database
from tokonoma.store.file_archive import FileRoots, read_files

_NAMED = 3  # files in a finding
_DAY_MS = 86_400_000
_RESTORE = "Restore a backup: `tokonoma restore FILE`."
_VAULT_FILES = "select path, size, mtime, ctime, inode, version from vault_file"
_MANUAL_FILES = "select manual || '/' || path, size, mtime, ctime, inode, hash from manual_stamp"
_PREFIXES = "select version, stem, size from vault_prefix"
# Older ones may have been purged.
_VERSIONS = "select distinct before from vault_change where before <> '' and state <> 'undone' and at > :since"

KnownFiles = Mapping[str, tuple[FileStamp, str]]
"""path → the stamp and the hash of the file when it was last read"""


@dataclass(slots=True)
class _FileReport:
    same: int = 0
    damaged: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])


def check_files(database: Database, roots: FileRoots, trash_days: int) -> Iterator[Finding]:
    """Compare every file with what the database knows of it, and every kept version with its hash."""
    with database.reading() as rows:
        tables = {row[0] for row in rows.rows(database.dialect.tables)}
        known: dict[str, KnownFiles] = {
            "vault": _read_known(rows, _VAULT_FILES) if "vault_file" in tables else {},
            "manuals": _read_known(rows, _MANUAL_FILES) if "manual_stamp" in tables else {},
        }
        since = clock.now() - trash_days * _DAY_MS
        versions = {row[0] for row in rows.rows(_VERSIONS, since=since)} if "vault_change" in tables else set[str]()
        prefixes = {row[0]: (row[1], row[2]) for row in rows.rows(_PREFIXES)} if "vault_prefix" in tables else {}
    report = _FileReport()
    for root, files in known.items():
        if not Path(roots[root]).is_dir():
            report.missing += [f"{root}/{path}" for path in files]
            continue
        with open_root(roots[root]) as folder:
            if has_staged(folder):
                says = f"A restore into {roots[root]} was interrupted."
                yield Finding("files", "fail", says, "Repeat it: `tokonoma restore FILE`.")
            _compare_files(folder, root, files, report)
            if root == "vault":
                yield from _check_versions(folder, versions, prefixes)
    yield from _to_findings(report)


def _read_known(rows: Rows, sql: str) -> KnownFiles:
    return {path: (FileStamp(*stamp), hash.rpartition(" ")[2]) for path, *stamp, hash in rows.rows(sql)}


def _compare_files(folder: RootFolder, root: str, known: KnownFiles, report: _FileReport) -> None:
    for path, (stamp, version) in known.items():
        found = hash_file(folder, tuple(path.split("/")))
        if found is None:
            report.missing.append(f"{root}/{path}")
        elif found[0] == stamp and found[1] != version and len(version) == len(found[1]):
            report.damaged.append(f"{root}/{path}")  # a program that writes it leaves another time
        else:
            report.same += 1


def _check_versions(folder: RootFolder, needed: set[str], prefixes: Mapping[str, tuple[str, int]]) -> Iterator[Finding]:
    found = [parts for parts in list_tree(folder).files if parts[:2] == (".system", "versions")]
    whole = [parts for parts in found if not parts[-1].endswith(STEM_SUFFIX)]
    stems = {parts[-1] for parts in found if parts[-1].endswith(STEM_SUFFIX)}
    shared = {version: prefix for version, prefix in prefixes.items() if prefix[0] in stems}
    damaged = [parts[-1] for parts in whole if (hash_file(folder, parts) or (None, ""))[1] != parts[-1]]
    damaged += list_damaged(folder, shared)
    kept = {parts[-1] for parts in whole} | shared.keys()
    lost = sorted(needed - kept)
    if damaged:
        says = f"{pluralize(len(damaged), 'earlier version')} of files changed on the disk: {_list_names(damaged)}."
        yield Finding("versions", "fail", says, f"Check the disk. {_RESTORE}")
    if lost:
        says = f"{pluralize(len(lost), 'earlier version')} that the history names are not on the disk."
        yield Finding("versions", "warn", says, f"Unless you removed them: {_RESTORE}")
    if not damaged and not lost:
        yield Finding("versions", "ok", f"{pluralize(len(kept), 'earlier version')} of files, unchanged")


def _to_findings(report: _FileReport) -> Iterator[Finding]:
    if report.damaged:
        says = f"changed on the disk, although no program wrote them: {_list_names(report.damaged)}."
        yield Finding("files", "fail", says, f"Check the disk. {_RESTORE}")
    if report.missing:
        says = f"{pluralize(len(report.missing), 'file')} no longer there: {_list_names(report.missing)}."
        yield Finding("files", "warn", says, f"Unless you removed them: {_RESTORE}")
    if not report.damaged and not report.missing:
        yield Finding("files", "ok", f"{pluralize(report.same, 'file')} of the vault and the manuals, none damaged")


def _list_names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(repr, names[:_NAMED])) + more


def check_backups(folder: Path, roots: FileRoots) -> Iterator[Finding]:
    """Say how old the newest backup is, and whether one contains the files."""
    backups = sorted(folder.glob("*.backup"), key=lambda file: file.stat().st_mtime)
    if not backups:
        yield Finding("backups", "ok", f"none in {folder}", "To make one: `tokonoma backup`.")
        return
    complete = next((file for file in reversed(backups) if _contains_files(file)), None)
    newest = f"newest in {folder}: {_format_age(backups[-1])}"
    if complete is not None:
        yield Finding("backups", "ok", f"{newest}; newest with files: {_format_age(complete)}")
    elif any(Path(root).is_dir() and any(Path(root).iterdir()) for root in roots.values()):
        yield Finding("backups", "warn", f"{newest}; none contains files.", "To save them too: `tokonoma backup`.")
    else:
        yield Finding("backups", "ok", newest)


def _contains_files(backup: Path) -> bool:
    with read_files(backup) as found:
        return found is not None and found[0].included


def _format_age(backup: Path) -> str:
    return clock.format_time(backup.stat().st_mtime_ns // 1_000_000)
