"""The MCP servers of a process, opened by the first call that needs one."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.services.http import OutgoingHttp
    from tokonoma.services.refresh import TokenRefresher
    from tokonoma.upstream.hub import UpstreamHub
    from tokonoma.upstream.opening import TransportOpener
    from tokonoma.upstream.servers import UpstreamServer

_MAX_LOG = 65536  # bytes


def open_upstreams(app: "App") -> "UpstreamHub":
    from tokonoma.upstream.hub import UpstreamHub

    return UpstreamHub(app.database, open_opener(app), app.feed.note_write)


def open_opener(app: "App") -> "TransportOpener":
    from tokonoma.app import read_environment
    from tokonoma.app.keyring import open_keyring
    from tokonoma.upstream.opening import TransportOpener

    def get_outgoing() -> "tuple[OutgoingHttp, TokenRefresher]":
        return app.services.http, app.services.refresher

    logs = find_logs(app)
    return TransportOpener(app.database, open_keyring(app), read_environment(), get_outgoing, logs)


def find_logs(app: "App") -> Path:
    """The folder with what server processes wrote last to standard error."""
    return app.home / "servers"


def read_logs(app: "App", server: "UpstreamServer", account: str | None = None) -> dict[str, str]:
    """What its processes wrote last to standard error on this machine, by account: of one account, or of all."""
    from tokonoma.upstream.opening import find_log

    names = [each.name for each in server.accounts if account in (None, each.name)]
    files = {each: find_log(find_logs(app), server.name, each) for each in names}
    return {
        each: file.read_bytes()[-_MAX_LOG:].decode("utf-8", "replace") for each, file in files.items() if file.exists()
    }
