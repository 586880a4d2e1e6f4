"""Apps whose memory is exported to files and imported again, as the commands do it."""

import io
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.cli import memo_files
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.memos import default_source_name
from tokonoma.transfer.importer import Importer, ImportTally, detect_format, find_reader, to_params
from tokonoma.transfer.markdown import ExportFolder
from tokonoma.transfer.model import ImportSource, MemoRecord, RelationRecord

Json = dict[str, Any]


@contextmanager
def open_app(folder: Path, url: str | None = None) -> Generator[App]:
    flags = {"home": str(folder), "durable": False, "log_level": "error", **({"database_url": url} if url else {})}
    app = App(flags, {})
    try:
        yield app
    finally:
        app.close()


def put(app: App, memos: list[MemoRecord], relations: list[RelationRecord] | None = None) -> Json:
    """Import records as they are, with the owner tool."""
    given = {"memos": list(map(to_params, memos)), "relations": list(map(to_params, relations or []))}
    return call_owner_tool(app, "memory", "import", given)


def lines(app: App, **asked: Any) -> list[Json]:
    """What an export holds, between its first and its last line."""
    file = io.BytesIO()
    memo_files.export_to_file(app, file, {"namespace": "/", "trash": True, **asked})
    return [json.loads(line) for line in file.getvalue().splitlines()][1:-1]


def to_file(app: App, path: Path, **asked: Any) -> Path:
    with path.open("wb") as file:
        memo_files.export_to_file(app, file, {"namespace": "/", "trash": True, **asked})
    return path


def to_folder(app: App, path: Path, **asked: Any) -> Path:
    memo_files.export_to_folder(app, ExportFolder(path), {"namespace": "/", "trash": True, **asked})
    return path


def take(app: App, path: Path, kind: str = "auto", **more: Any) -> ImportTally:
    """What `tokonoma import` does between its flags and its summary."""
    dry = more.pop("dry_run", False)
    origin = ImportSource(path, detect_format(path) if kind == "auto" else kind, name=default_source_name(path))
    origin = replace(origin, **more)
    shipment = Importer(partial(memo_files.send_batch, app, dry), lambda tally: None, rehearsal=dry)
    shipment.run(find_reader(origin)(origin))
    return shipment.tally
