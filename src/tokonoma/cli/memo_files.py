"""Memos between the server and files: pages of an export, batches of an import, and where they come from."""

import shutil
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.output import ProgressPrinter, print_note
from tokonoma.core import clock
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.printable import pluralize
from tokonoma.transfer import jsonl
from tokonoma.transfer.importer import to_params
from tokonoma.transfer.markdown import ExportFolder
from tokonoma.transfer.model import MemoRecord, RelationRecord


def export_to_file(app: App, file: BinaryIO, params: dict[str, Any]) -> tuple[int, int]:
    """Return the number of memos and relations."""
    memos = relations = 0
    progress = ProgressPrinter()
    file.write(jsonl.format_header(version=__version__, exported_at=clock.format_time(clock.now()), **params))
    for page in _read_memo_pages(app, params):
        file.writelines(jsonl.format_record(each) for each in page)
        memos += len(page)
        progress.print_progress(pluralize(memos, "memo"))
    for related in _read_relation_pages(app, params):
        file.writelines(jsonl.format_record(each) for each, _ in related)
        relations += len(related)
        progress.print_progress(pluralize(relations, "relation"))
    file.write(jsonl.format_footer(memos, relations))
    progress.finish()
    return memos, relations


def export_to_folder(app: App, folder: ExportFolder, params: dict[str, Any]) -> tuple[int, int]:
    """Return the number of memos and relations."""
    memos = relations = 0
    progress = ProgressPrinter()
    try:
        for page in _read_memo_pages(app, params):
            by_source: dict[str, list[tuple[RelationRecord, str]]] = {}
            for related in _read_relation_pages(app, {**params, "sources": [memo.memo_id for memo in page]}):
                for relation, title in related:
                    by_source.setdefault(relation.source, []).append((relation, title))
                    relations += 1
            for memo in page:
                folder.write_memo(memo, by_source.get(memo.memo_id, ()))
            memos += len(page)
            progress.print_progress(pluralize(memos, "memo"))
        folder.close()
    except BaseException:
        print_note(f"{folder.root} contains only a part of the export: {pluralize(memos, 'memo')} or a few more.")
        raise
    progress.finish()
    return memos, relations


def _read_memo_pages(app: App, params: dict[str, Any]) -> Iterator[list[MemoRecord]]:
    after: str | None = ""
    while after is not None:
        page = call_owner_tool(app, "memory", "export", {**params, "after": after})
        if page["memos"]:
            yield [MemoRecord(**each) for each in page["memos"]]
        after = page.get("next")


def _read_relation_pages(app: App, params: dict[str, Any]) -> Iterator[list[tuple[RelationRecord, str]]]:
    """Yield pages of relations, each with the title of its target."""
    after: list[str] | None = ["", "", "", ""]
    while after is not None:
        page = call_owner_tool(app, "memory", "export.relations", {**params, "after": after})
        titles = [each.pop("target_title") for each in page["relations"]]
        yield [(RelationRecord(**each), title) for each, title in zip(page["relations"], titles, strict=True)]
        after = page.get("next")


def send_batch(
    app: App,
    dry_run: bool,
    memos: Sequence[MemoRecord],
    relations: Sequence[RelationRecord],
    coming: Sequence[str],
    *,
    seal: bool = False,
) -> dict[str, Any]:
    params = {
        "memos": [to_params(each) for each in memos],
        "relations": [to_params(each) for each in relations],
        "dry_run": dry_run,
        "coming": list(coming),
        "seal": seal,
    }
    return call_owner_tool(app, "memory", "import", params)


@contextmanager
def open_source(source: str) -> Generator[Path]:
    """The path of the source; standard input is copied to a file."""
    if source == "-":
        with TemporaryDirectory(prefix="tokonoma-") as folder:
            path = Path(folder) / "stdin"
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            yield path
        return
    path = Path(source)
    if not path.exists():
        raise Missing(f"There is no file or folder {source}.")
    if not path.is_dir() and not path.is_file():
        raise Invalid(f"{source} is neither a file nor a folder.")
    yield path
