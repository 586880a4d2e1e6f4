"""Which files of the vault may be changed, and how. Pure functions, called by every tool that reads or writes there."""

from datetime import date
from typing import Literal

from tokonoma.core.errors import Denied
from tokonoma.core.paths import PathParts, join_path, rule_keys

Action = Literal["create", "append", "overwrite", "replace", "move", "restore", "relink", "delete"]

ARTIFACTS = "artifacts"
DAILY = "daily"
_ARTIFACT_SUFFIXES = (".md", ".json")


def canonicalize_path(parts: PathParts) -> PathParts:
    """Return the parts with artifacts/ and artifacts/daily/ in their one spelling; Denied for a hidden name."""
    keys = rule_keys(parts)
    hidden = next((part for part, key in zip(parts, keys, strict=True) if key.startswith(".")), None)
    if hidden is not None:
        raise Denied(
            f"{hidden!r} is hidden: names that start with a dot (.system, .git, …) are not part of the vault.",
            path=join_path(parts),
        )
    if keys[:2] == (ARTIFACTS, DAILY):
        return (ARTIFACTS, DAILY, *parts[2:])
    return (ARTIFACTS, *parts[1:]) if keys[:1] == (ARTIFACTS,) else parts


def check_write(parts: PathParts, action: Action) -> None:
    """Fail with Denied, and what is allowed instead, if the rules forbid the action. `parts` are canonical."""
    keys = rule_keys(parts)
    if keys[0] != ARTIFACTS:
        return
    if len(parts) == 1 or not keys[-1].endswith(_ARTIFACT_SUFFIXES) or keys[-1] in _ARTIFACT_SUFFIXES:
        raise Denied(
            f"{ARTIFACTS}/ accepts .md and .json files only. Put other files elsewhere, like drafts/ or notes/.",
            path=join_path(parts),
            allowed=list(_ARTIFACT_SUFFIXES),
        )
    if keys[1] == DAILY:
        _check_daily(parts, action)


def _check_daily(parts: PathParts, action: Action) -> None:
    folder = f"{ARTIFACTS}/{DAILY}"
    if len(parts) != 3 or not _is_daily_name(parts[2]):
        raise Denied(
            f"{folder}/ accepts one file per day, named YYYY-MM-DD.md, and nothing else.", path=join_path(parts)
        )
    if action not in ("create", "append"):
        raise Denied(
            f"{folder}/ is append-only: create the day's file with vault_create, then append with"
            ' vault_write(mode="append").',
            path=join_path(parts),
            allowed=["vault_create", 'vault_write(mode="append")'],
        )


def _is_daily_name(name: str) -> bool:
    day, dot, suffix = name.partition(".")
    try:
        return dot == "." and suffix == "md" and date.fromisoformat(day).isoformat() == day
    except ValueError:
        return False
