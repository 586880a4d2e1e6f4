"""`recover`: what can still be read of a damaged database, as a backup and as an export."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import orjson

from tokonoma.app import App
from tokonoma.app.places import find_sqlite_file, load_known_tables
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.items.files import export_to_items_folder
from tokonoma.cli.memo_files import export_to_file
from tokonoma.cli.output import print_json, print_line, print_note
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.core.printable import pluralize
from tokonoma.store.backup import create_backup
from tokonoma.store.database import format_sqlite_url, open_database
from tokonoma.store.migrate import migrate
from tokonoma.store.sqlite.recover import RecoveredTable, copy_damaged, recover_database, repair_header
from tokonoma.transfer.files import create_file
from tokonoma.transfer.items import ItemFolder

# Rebuilt from the records and the files. A part of it would be worse than nothing: a file whose row is there and whose
# passages are lost would count as classified.
_DERIVED = frozenset(
    {"document", "terms", "fact", "successor", "corpus", "progress", "words", "frequency"}
    | {"embedding_model", "embedding", "embedding_change", "embedding_block", "embedding_queue", "embedding_state"}
    | {"vault_file", "vault_part", "manual_stamp", "manual_file", "manual_section", "manual_state", "manual_past"}
    | {"job_lease", "rate", "memo_count"}
)


@command("recover", "database_url")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--from", "file", type=click.Path(path_type=Path), help="The damaged file; default: the database in use.")
@json_option
@pass_app
def recover(app: App, folder: Path, file: Path | None, as_json: bool) -> None:
    """Read what is left of a damaged SQLite database into the new FOLDER. The damaged file is not changed.

    FOLDER gets `recovered.backup` for `tokonoma restore`, `memos.jsonl` for `tokonoma import`, `items` for `tokonoma
    items import`, and `report.json` with what was lost. The exit code is 1 if something was lost. Stop running servers
    before.
    """
    source = file or find_sqlite_file(app)
    if source is None:
        raise Invalid("Only SQLite files can be recovered. For PostgreSQL, use the tools of its server.")
    if not source.is_file():
        raise Missing(f"There is no database at {source}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} already exists and is not empty. Choose another name.", reason="exists")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    print_note(f"Reading {source} …")
    with TemporaryDirectory(prefix=".tokonoma-", dir=folder) as scratch:
        tables = _recover(app, source, folder, Path(scratch))
    report = {"source": str(source), "tables": [asdict(table) for table in tables]}
    with create_file(folder / "report.json") as out:
        out.write(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    if as_json:
        print_json(report)
    else:
        _print_report(tables, folder)
    sys.exit(0 if all(_is_complete(table) for table in tables) else 1)


def _recover(app: App, source: Path, folder: Path, scratch: Path) -> list[RecoveredTable]:
    copy, url = scratch / "damaged.db", format_sqlite_url(scratch / "home" / "tokonoma.db")
    copy_damaged(source, copy)
    database = open_database(url)
    try:
        for name, steps in load_known_tables(app.home).items():
            migrate(database, name, steps, lambda reason: None)
    finally:
        database.close()
    repair_header(copy, scratch / "home" / "tokonoma.db")
    database = open_database(url)
    try:
        tables = recover_database(copy, database, _DERIVED)
        create_backup(database, (folder / "recovered.backup").absolute())
    finally:
        database.close()
    with _open_recovered(scratch / "home") as recovered:
        with create_file(folder / "memos.jsonl") as out:
            export_to_file(recovered, out, {"namespace": "/", "trash": True})
        export_to_items_folder(recovered, ItemFolder(folder / "items"), "", trash=True)
    return tables


@contextmanager
def _open_recovered(home: Path) -> Generator[App]:
    app = App({"home": str(home), "embed_provider": "none", "log_level": "error"}, {})
    try:
        yield app
    finally:
        app.close()


def _is_complete(table: RecoveredTable) -> bool:
    return table.whole and not table.lost and not table.refused


def _print_report(tables: Sequence[RecoveredTable], folder: Path) -> None:
    for table in tables:
        if not _is_complete(table):
            lost = f"{table.lost} lost" if table.lost else "others may be lost"
            names = f" ({', '.join(table.keys[:5])}{', …' if table.lost > 5 else ''})" if table.keys else ""
            print_line(f"{table.name}: {pluralize(table.rows, 'row')} read, {lost}{names}, {table.refused} unusable")
    whole = sum(_is_complete(table) for table in tables)
    rows = sum(table.rows for table in tables)
    print_line(f"{pluralize(rows, 'row')} read; {whole} of {len(tables)} tables are whole")
    print_note(
        f"Everything that was read is in {folder}. To use it: `tokonoma restore {folder / 'recovered.backup'}`, then"
        " `tokonoma reindex`."
    )
