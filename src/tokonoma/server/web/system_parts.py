"""What the pages about the whole server need of it: functions that `app/system_pages.py` joins. They block: pages run
in a thread. Only the owner reaches them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokonoma.core.call import Caller

JournalPage = tuple[list[dict[str, Any]], Sequence[Any] | None]


@dataclass(frozen=True, slots=True)
class JournalCheck:
    """What the verification of all chains has found."""

    chains: int
    entries: int
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class SettingLine:
    name: str
    value: str  # as it stands in tokonoma.toml, without passwords
    origin: str
    description: str
    variable: str


@dataclass(frozen=True, slots=True)
class HealthFinding:
    name: str
    state: str  # ok, warn or fail
    says: str
    do: str


@dataclass(frozen=True, slots=True)
class BackupLine:
    name: str
    size: int  # bytes
    at: int  # milliseconds


@dataclass(frozen=True, slots=True)
class PendingPolicyLine:
    id: str
    version: str
    follows: str
    proposed_at: int
    proposed_by: str
    loosens: Sequence[str]
    yaml: str


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """What the policy makes of a text for one caller."""

    redacted: str
    found: Mapping[str, int]
    classification: str
    verdict: str


@dataclass(frozen=True, slots=True)
class SystemParts:
    list_entries: Callable[[Mapping[str, str], int, Sequence[Any] | None], JournalPage]
    """filters (principal, module, tool, outcome, transport), how many, after which position → entries, next position"""
    verify_journal: Callable[[], JournalCheck]
    list_jobs: Callable[[], Mapping[str, Mapping[str, Any]]]
    wake_job: Callable[[Caller, str], bool]
    """Run a job that waits now. False if there is none of this name."""
    list_settings: Callable[[], Sequence[SettingLine]]
    find_places: Callable[[], Mapping[str, str]]
    run_checks: Callable[[bool], Sequence[HealthFinding]]  # True: also what reads every page, entry and file
    list_backups: Callable[[], Sequence[BackupLine]]
    create_backup: Callable[[Caller, bool], str]
    """who, whether files are included → its name"""
    verify_backup: Callable[[str], Mapping[str, Any]]
    """name → what it contains. Invalid if it is damaged, Missing if there is none."""
    find_backup: Callable[[Caller, str], Path]
    """name → the file, to download it"""
    list_pending: Callable[[], Sequence[PendingPolicyLine]]
    decide_pending: Callable[[Caller, str, bool], str]
    """who, id of a proposed policy, whether it is approved → the version in force, or empty"""
    try_text: Callable[[str, str, str], TextVerdict]
    """text, caller (owner or key:NAME), a policy as YAML or empty for the one in force"""
    keyring_status: Callable[[], Mapping[str, Any]]
    rotate_keyring: Callable[[Caller], int]
    """Encrypt all secrets with a new data key → how many."""
