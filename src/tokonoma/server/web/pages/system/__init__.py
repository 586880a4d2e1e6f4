"""Pages about the whole server: policy, journal, jobs, backups, settings, health. They are the owner's alone."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import Respond
from tokonoma.server.web.pages.system import backups, journal, overview, policy


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.system

    def route(path: str, get: Respond | None, post: Respond | None = None) -> Route:
        return Route(f"/admin/{path}", PageHandler(pages, get, post, owner_only=True))

    return [
        route("policy", partial(policy.show_policy, parts), partial(policy.change_policy, parts)),
        route("policy/try", partial(policy.show_trial, parts), partial(policy.try_text, parts)),
        route("policy/history", policy.show_history, policy.roll_back),
        route("policy/pending", partial(policy.show_pending, parts), partial(policy.decide, parts)),
        route("journal", partial(journal.show_journal, parts)),
        route("journal/verify", partial(journal.show_verification, parts)),
        route("journal/export", partial(journal.export_journal, parts)),
        route("jobs", partial(overview.show_jobs, parts), partial(overview.wake_job, parts)),
        route("backups", partial(backups.show_backups, parts), partial(backups.create_backup, parts)),
        route("backups/verify", partial(backups.show_contents, parts)),
        route("backups/download", None, partial(backups.download, parts)),
        route("settings", partial(overview.show_settings, parts), partial(overview.rotate_keyring, parts)),
        route("health", partial(overview.show_health, parts)),
    ]
