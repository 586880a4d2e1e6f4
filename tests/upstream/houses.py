"""A house with MCP servers behind it, and the hostile one to put there."""

import json
import sys
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.app.servers import NO_SECRETS, ServerSecrets, approve_tools, check_name, look_at, store_server
from tokonoma.upstream.servers import NewServer, UpstreamServer, read_server

HOSTILE = Path(__file__).with_name("hostile.py")
Json = dict[str, Any]


def tool(name: str, description: str = "A tool.", schema: Json | None = None, **annotations: Any) -> Json:
    made: Json = {"name": name, "description": description, "inputSchema": schema or {"type": "object"}}
    return {**made, "annotations": annotations} if annotations else made


class Plan:
    """What a hostile server is told to do, and what it has done."""

    def __init__(self, folder: Path, name: str = "plan", **plan: Any) -> None:
        self.file = folder / f"{name}.json"
        self.set(**plan)

    def set(self, **plan: Any) -> None:
        self.plan = plan
        self.file.write_text(json.dumps(plan))

    @property
    def command(self) -> tuple[str, ...]:
        return sys.executable, "-S", str(HOSTILE), str(self.file)

    @property
    def events(self) -> list[str]:
        file = self.file.with_suffix(".events")
        return file.read_text().splitlines() if file.exists() else []

    @property
    def pids(self) -> list[int]:
        return [int(each.split()[1]) for each in self.events if each.startswith("start")]

    def forget(self) -> None:
        self.file.with_suffix(".events").unlink(missing_ok=True)


def add(
    app: App, name: str, plan: Plan, secrets: ServerSecrets = NO_SECRETS, *, approve: bool = True, **more: Any
) -> UpstreamServer:
    """As `tokonoma servers add` does it."""
    new = NewServer(check_name(app, name), plan.command)
    server = store_server(app, new, secrets, look_at(app, new, secrets), **more)
    plan.forget()
    return approve_tools(app, name) if approve else server


def read(app: App, name: str) -> UpstreamServer:
    with app.database.reading() as rows:
        return read_server(rows, name)
