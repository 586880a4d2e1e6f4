"""Joins the pages about the whole server with it: journal, jobs, settings, health, backups, policy, keyring."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from tokonoma.app.keyring import open_keyring
from tokonoma.app.places import (
    build_backup_name,
    ensure_backup_folder,
    find_file_roots,
    find_places,
    find_sqlite_file,
    show_value,
)
from tokonoma.app.rotation import move_all_secrets
from tokonoma.config.settings import SETTINGS
from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.clock import format_time
from tokonoma.core.errors import Missing
from tokonoma.core.ids import uuid7
from tokonoma.journal.verify import list_recent, verify
from tokonoma.keyring.rotate import is_rotating, start_rotation
from tokonoma.keyring.status import check_keyring
from tokonoma.policy.active import ActivePolicy, ClosedPolicy
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.proposals import drop_proposal, find_proposal, list_proposals
from tokonoma.policy.rules import decide, find_tags
from tokonoma.server.web.system_parts import (
    BackupLine,
    HealthFinding,
    JournalCheck,
    JournalPage,
    PendingPolicyLine,
    SettingLine,
    SystemParts,
    TextVerdict,
)
from tokonoma.store.backup import create_backup, verify_backup

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tokonoma.app import App
    from tokonoma.core.desk import Statements

_SUFFIX = ".backup"
_RECLASSIFY_SECONDS = 5.0  # that a page waits; the rest is done in the background


def build_system_parts(app: "App") -> SystemParts:
    return SystemParts(
        list_entries=partial(_list_entries, app),
        verify_journal=partial(_verify_journal, app),
        list_jobs=lambda: app.jobs.status(),
        wake_job=partial(_wake_job, app),
        list_settings=partial(_list_settings, app),
        find_places=partial(find_places, app),
        run_checks=partial(_run_checks, app),
        list_backups=partial(_list_backups, app),
        create_backup=partial(_create_backup, app),
        verify_backup=partial(_verify_backup, app),
        find_backup=partial(_download_backup, app),
        list_pending=partial(_list_pending, app),
        decide_pending=partial(_decide_pending, app),
        try_text=partial(_try_text, app),
        keyring_status=partial(_read_keyring, app),
        rotate_keyring=partial(_rotate_keyring, app),
    )


def _write(app: "App", caller: Caller, what: str) -> "AbstractContextManager[Statements]":
    """A transaction of the owner on a page; the journal holds it like any call."""
    return app.journal.write(Call("admin", what, {}, caller, request_id=uuid7(), identified=OWNER))


def _note(app: "App", caller: Caller, what: str) -> None:
    """An entry in the journal for what is no transaction of its own."""
    with _write(app, caller, what):
        pass


def _list_entries(app: "App", filters: Mapping[str, str], limit: int, after: Sequence[Any] | None) -> JournalPage:
    app.journal.flush()
    with app.database.reading() as rows:
        return list_recent(rows, None, limit, after, filters)


def _verify_journal(app: "App") -> JournalCheck:
    with app.database.reading() as rows:
        found = verify(rows)
    return JournalCheck(found.chains, found.entries, list(found.problems))


def _wake_job(app: "App", caller: Caller, name: str) -> bool:
    _note(app, caller, "jobs.run")
    return app.jobs.wake(name)


def _list_settings(app: "App") -> list[SettingLine]:
    origins = app.settings.origins
    return [
        SettingLine(
            each.name, orjson.dumps(show_value(app, each)).decode(), origins[each.name], each.description, each.variable
        )
        for each in SETTINGS
    ]


def _run_checks(app: "App", thorough: bool) -> list[HealthFinding]:
    from tokonoma.app.doctor.checks import check_app  # it knows every room: only the page that shows it pays for that

    findings = check_app(app, find_sqlite_file(app), thorough=thorough)
    return [HealthFinding(each.name, each.state, each.says, each.do) for each in findings]


def _list_backups(app: "App") -> list[BackupLine]:
    folder = app.home / "backups"
    files = [file for file in folder.glob(f"*{_SUFFIX}") if file.is_file()] if folder.is_dir() else []
    found = [BackupLine(file.name, file.stat().st_size, int(file.stat().st_mtime * 1000)) for file in files]
    return sorted(found, key=lambda line: line.at, reverse=True)


def _create_backup(app: "App", caller: Caller, with_files: bool) -> str:
    path = ensure_backup_folder(app) / build_backup_name()
    contents = create_backup(app.database, path.absolute(), find_file_roots(app) if with_files else None)
    _note(app, caller, "backup.create")
    return contents.path.name


def _find_backup(app: "App", name: str) -> Path:
    """Only what stands in the folder: a name is no path."""
    if name not in {line.name for line in _list_backups(app)}:
        raise Missing("There is no such backup.", name=name[:200])
    return app.home / "backups" / name


def _download_backup(app: "App", caller: Caller, name: str) -> Path:
    found = _find_backup(app, name)
    _note(app, caller, "backup.download")
    return found


def _verify_backup(app: "App", name: str) -> dict[str, Any]:
    contents = verify_backup(_find_backup(app, name))
    files = contents.files
    return {
        "kind": contents.kind,
        "created_at": format_time(contents.created_at),
        "size": contents.size,
        "tables": len(contents.tables),
        "rows": sum(contents.tables.values()),
        "secrets": contents.tables.get("account_secret", 0),
        "files": None if files is None or not files.included else files.count,
        "left_out": [] if files is None else list(files.left_out),
    }


def _list_pending(app: "App") -> list[PendingPolicyLine]:
    with app.policies.reading() as rows:
        found = list_proposals(rows)
        return [
            PendingPolicyLine(
                each.id,
                each.version,
                each.follows,
                each.proposed_at,
                each.proposed_by,
                each.loosens,
                find_proposal(rows, each.id).yaml,
            )
            for each in found
        ]


def _decide_pending(app: "App", caller: Caller, id: str, approved: bool) -> str:
    if approved:
        app.policies.prepare()
        with _write(app, caller, "policy.approve") as statements:
            version = app.policies.approve(statements, id, OWNER.name).version
        app.reclassifier.run_until_done(_RECLASSIFY_SECONDS)
        return version
    with _write(app, caller, "policy.reject") as statements:
        find_proposal(statements, id)
        drop_proposal(statements, id)
    return ""


def _try_text(app: "App", text: str, name: str, yaml: str) -> TextVerdict:
    active = ActivePolicy(parse_policy(yaml)) if yaml else app.policies.get_active()
    if isinstance(active, ClosedPolicy):
        raise active.build_refusal()
    redacted, found, classification = active.redact(text)
    tags = find_tags(active.rules, OWNER if name in ("", "owner") else Principal(name, "key"))
    return TextVerdict(redacted, found, classification, decide(active.rules, tags, classification).verdict)


def _read_keyring(app: "App") -> dict[str, Any]:
    with app.database.reading() as rows:
        return check_keyring(rows, open_keyring(app)).to_response()


def _rotate_keyring(app: "App", caller: Caller) -> int:
    keys = open_keyring(app)
    with app.database.reading() as rows:
        resumed = is_rotating(rows)
    if not resumed:
        with _write(app, caller, "keyring.rotate") as statements:
            start_rotation(statements, keys)
    return sum(step.moved for step in move_all_secrets(app, keys))
