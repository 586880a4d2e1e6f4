"""Checks of the MCP servers behind modules: which are broken, and which have changed since they were approved."""

from collections.abc import Iterator

from tokonoma.app import App
from tokonoma.app.doctor.machine import Finding
from tokonoma.app.upstreams import find_logs
from tokonoma.core.printable import pluralize
from tokonoma.store.database import Database
from tokonoma.store.migrate import read_applied
from tokonoma.upstream.opening import find_log
from tokonoma.upstream.servers import UpstreamServer, read_servers
from tokonoma.upstream.stdio import KEPT_TEXT
from tokonoma.upstream.texts import clean_text

_SHOWN_LINES = 5


def check_servers(app: App, database: Database) -> Iterator[Finding]:
    """Nothing is said where there is none. No server is started."""
    with database.reading() as rows:
        if not read_applied(database, rows).get("upstream"):
            return
        servers = read_servers(rows)
    for server in servers:
        yield from _check(app, server)
    fine = sum(server.state == "ready" for server in servers)
    if servers and fine == len(servers):
        yield Finding("servers", "ok", f"{pluralize(fine, 'MCP server')}, none is broken")


def _check(app: App, server: UpstreamServer) -> Iterator[Finding]:
    if server.state == "broken":
        lines = server.output.splitlines() or _read_log(app, server)
        last = "".join(f"\n{'':<19}| {clean_text(line, 200)}" for line in lines[-_SHOWN_LINES:])
        remedy = f"Correct it, then: tokonoma servers restart {server.name}"
        yield Finding("servers", "warn", f"{server.name} is broken: {server.problem}{last}", remedy)
    changed = [tool.short for tool in server.tools if tool.state == "changed"]
    if changed:
        says = f"{server.name} has changed since it was approved, and holds back: {', '.join(changed[:5])}"
        yield Finding("servers", "warn", says, f"Look at it: tokonoma servers review {server.name}")


def _read_log(app: App, server: UpstreamServer) -> list[str]:
    files = [find_log(find_logs(app), server.name, each.name) for each in server.accounts]
    found = [file.read_bytes()[-KEPT_TEXT:].decode("utf-8", "replace") for file in files if file.exists()]
    return "\n".join(found).splitlines()
