"""Houses whose memory is filled, emptied into files and filled again, as the commands do it."""

import io
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.cli import transfer
from tokonoma.cli.owner_tools import call_owner_tool
from tokonoma.transfer.carried import ImportSource, TransferMemo, TransferRelation
from tokonoma.transfer.detect import detect_format, find_reader
from tokonoma.transfer.ship import Importer, ImportTally, to_params
from tokonoma.transfer.write import ExportFolder

Json = dict[str, Any]


@contextmanager
def house(folder: Path, url: str | None = None) -> Generator[App]:
    flags = {"home": str(folder), "durable": False, "log_level": "error", **({"database_url": url} if url else {})}
    app = App(flags, {})
    try:
        yield app
    finally:
        app.close()


def put(app: App, memos: list[TransferMemo], relations: list[TransferRelation] | None = None) -> Json:
    """Through the owner's door, as they are."""
    given = {"memos": list(map(to_params, memos)), "relations": list(map(to_params, relations or []))}
    return call_owner_tool(app, "memory", "import", given)


def lines(app: App, **asked: Any) -> list[Json]:
    """What an export holds, between its first and its last line."""
    file = io.BytesIO()
    transfer._export_to_file(app, file, {"namespace": "/", "trash": True, **asked})
    return [json.loads(line) for line in file.getvalue().splitlines()][1:-1]


def to_file(app: App, path: Path, **asked: Any) -> Path:
    with path.open("wb") as file:
        transfer._export_to_file(app, file, {"namespace": "/", "trash": True, **asked})
    return path


def to_folder(app: App, path: Path, **asked: Any) -> Path:
    transfer._export_to_folder(app, ExportFolder(path), {"namespace": "/", "trash": True, **asked})
    return path


def take(app: App, path: Path, kind: str = "auto", **more: Any) -> ImportTally:
    """What `tokonoma import` does between its flags and its summary."""
    dry = more.pop("dry_run", False)
    origin = ImportSource(
        path, detect_format(path) if kind == "auto" else kind, name=transfer._default_source_name(path)
    )
    origin = replace(origin, **more)
    shipment = Importer(partial(transfer._send_batch, app, dry), lambda tally: None, rehearsal=dry)
    shipment.run(find_reader(origin)(origin))
    return shipment.tally
