"""`reindex` and `purge`: rebuild what is derived from the records, and remove for good what was deleted."""

from collections.abc import Iterable

import click

from tokonoma.app import App
from tokonoma.app.places import database_exists, require_database
from tokonoma.catalogue.registry import GATEWAY
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.interrupt import Interrupted, cancel_on_interrupt, report_interrupt
from tokonoma.cli.modules import require_module
from tokonoma.cli.output import confirm_removal, print_line, print_note, rewrite_line
from tokonoma.cli.vectors import report_vectors
from tokonoma.core.call import OWNER
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Unavailable
from tokonoma.gateway.idempotency import shorten_answers
from tokonoma.search.reindex import ReindexProgress, reindex, restart_reindex


@command("reindex", "database_url")
@click.option("--module", "only", metavar="NAME", help="Only the records of this module.")
@click.option("--from-start", is_flag=True, help="Start again from the beginning instead of resuming.")
@click.option("--embedding", is_flag=True, help="Only change the embedding model, to the one of the settings.")
@click.option("--wait", is_flag=True, help="Wait until all vectors are made.")
@pass_app
def reindex_command(app: App, only: str | None, from_start: bool, embedding: bool, wait: bool) -> None:
    """Rebuild the search index from the stored records. Servers can keep running, and searches find the same as before.

    Ctrl-C interrupts it; the next run resumes there. `--embedding` makes the model of the settings the one of this
    database: all vectors are made again in the background, and searches use the old ones until then.
    """
    require_database(app, "index")
    if embedding:
        model = app.search.switch_model()
        print_line(f"The embedding model of this database is {model.name} ({model.dimension} numbers per vector).")
    else:
        _rebuild(app, only, from_start)
    report_vectors(app, wait)


def rebuild_index(app: App) -> None:
    """Make the whole index again, without a word: for a command that has replaced the records."""
    modules = [app.registry.get_module(info.name) for info in app.registry.visible_modules(OWNER)]
    restart_reindex(app.database, modules)
    scan = app.policies.get_active().scan_document
    for _ in reindex(app.database, app.search.index, modules, scan, CancelToken()):
        pass


def _rebuild(app: App, only: str | None, from_start: bool) -> None:
    infos = app.registry.visible_modules(OWNER) if only is None else [require_module(app, only)]
    modules = [app.registry.get_module(info.name) for info in infos]
    if from_start:
        restart_reindex(app.database, modules)
    with cancel_on_interrupt() as token:
        steps = reindex(app.database, app.search.index, modules, app.policies.get_active().scan_document, token)
        counts = _run_steps(steps, token)
    for module, count in counts.items():
        print_line(f"{module}: {count} records")
    if not counts:
        print_note("No module has records here.")


def _run_steps(steps: Iterable[ReindexProgress], token: CancelToken) -> dict[str, int]:
    """Print progress at a terminal; return the number of records of each module."""
    done: dict[str, int] = {}
    try:
        for step in steps:
            done[step.module] = step.done
            rewrite_line(f"{step.module}: {step.done} of {step.total}", finished=step.finished)
    except Unavailable as error:
        if not token.reason:
            raise
        at = ", ".join(f"{module} at {count}" for module, count in done.items()) or "the beginning"
        raise Interrupted(f"The index is rebuilt up to {at}. Run `tokonoma reindex` again to resume.") from error
    return done


@command("purge", "database_url", "trash_days")
@click.option("--dry-run", is_flag=True, help="Only count the records.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def purge(app: App, dry_run: bool, yes: bool) -> None:
    """Remove permanently what was deleted, forgotten, replaced or expired more than `trash_days` ago: memos with their
    relations, items with their links and history, claims with their sources, old versions of files.

    Until then `memory.restore`, `restore_item` and `vault_restore` can restore it. Servers can keep running.
    """
    if not database_exists(app):
        print_note("There is nothing to purge: nothing is stored yet.")
        return
    days = app.settings.get_int("trash_days")
    names = [info.name for info in app.registry.visible_modules(OWNER)]
    able = [name for name in names if any(tool.name == "purge" for tool in app.registry.get_module(name).owner_tools)]
    found = {name: call_owner_tool(app, name, "purge", {"days": days, "dry_run": True}) for name in able}
    text = f"{_format_counts(found)} of more than {days} days ago"
    if dry_run or not any(any(counts.values()) for counts in found.values()):
        print_line(text)
        return
    if not yes:
        confirm_removal(text)
    done: dict[str, dict[str, int]] = {}
    with report_interrupt(
        lambda: f"Removed until then: {_format_counts(done) or 'nothing'}. Run it again to continue."
    ):
        for name in able:
            done[name] = dict.fromkeys(found[name], 0)
            _purge_module(app, name, days, done[name])
        app.registry.get_module(GATEWAY)  # its table is there
        with app.write_as_owner("purge.answers") as statements:
            shorten_answers(statements)
    print_line(f"forgotten: {_format_counts(done)}")


def _purge_module(app: App, module: str, days: int, done: dict[str, int]) -> None:
    """Purge page by page until nothing is left, and count what was removed."""
    while True:
        page = call_owner_tool(app, module, "purge", {"days": days})
        for kind, count in page.items():
            done[kind] = done.get(kind, 0) + count
        if not any(page.values()):
            return


def _format_counts(counts: dict[str, dict[str, int]]) -> str:
    return ", ".join(
        f"{' and '.join(f'{count} {kind}' for kind, count in kinds.items())} in {module}"
        for module, kinds in counts.items()
    )
