"""`move-store`: copies a whole home into another database, and says which setting to change."""

import click

from tokonoma.app import App
from tokonoma.app.places import load_known_tables, redact_database_url, require_database
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.maintenance import rebuild_index
from tokonoma.cli.output import ProgressPrinter, print_line
from tokonoma.config.home import write_setting
from tokonoma.core.errors import Invalid
from tokonoma.core.printable import pluralize
from tokonoma.store.database import open_database
from tokonoma.store.move import MovedTable, move_database


@command("move-store", "database_url")
@click.argument("target", metavar="URL")
@click.option("--switch", is_flag=True, help="Write the new database_url into tokonoma.toml when all is copied.")
@pass_app
def move_store(app: App, target: str, switch: bool) -> None:
    """Copy everything that is stored into the empty database at URL: postgresql://… or sqlite:///….

    The present database is only read. Stop the servers first: what they write after the copy has begun is not in it.
    Each table is compared row by row. Ctrl-C interrupts it; the next run resumes there. Files of the vault and the
    manuals stay where they are.
    """
    require_database(app, "move")
    source = app.database_url()
    if source == target:
        raise Invalid("This is the database that is in use. Name another one.")
    moved = _copy(app, source, target)
    with_target = App({"home": str(app.home), "database_url": target, "log_level": "error"})
    try:
        rebuild_index(with_target)
    finally:
        with_target.close()
    rows = sum(each.rows for each in moved)
    print_line(f"Copied and compared {pluralize(rows, 'row')} of {pluralize(len(moved), 'table')}.")
    if switch:
        path = write_setting(app.home, "database_url", target)
        print_line(f"{path} now names {redact_database_url(target)}. Start the servers again.")
        if (origin := app.settings.origins["database_url"]) not in ("default", "tokonoma.toml"):
            print_line(f"But database_url is also set by the {origin}, which comes before the file: change it there.")
    else:
        print_line("Now set database_url (or TOKONOMA_DATABASE_URL) to the new URL, and start the servers again.")
    print_line(f"The data before is still in {redact_database_url(source)}.")


def _copy(app: App, source: str, target: str) -> list[MovedTable]:
    progress = ProgressPrinter()
    count = 0

    def print_rows(_: str, rows: int) -> None:
        nonlocal count
        count += rows
        progress.print_progress(pluralize(count, "row"))

    durable = app.settings.get_flag("durable")
    old = open_database(source, durable=durable)
    try:
        new = open_database(target, durable=durable)
        try:
            with report_interrupt(lambda: "Run it again to continue. The present database is unchanged."):
                moved = move_database(old, new, load_known_tables(app.home), print_rows)
        finally:
            new.close()
    finally:
        old.close()
    progress.finish()
    return moved
