"""The MCP servers of a process, opened by the first call that needs one."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.services.http import OutgoingHttp
    from tokonoma.services.refresh import TokenRefresher
    from tokonoma.upstream.hub import UpstreamHub
    from tokonoma.upstream.opening import TransportOpener


def open_upstreams(app: "App") -> "UpstreamHub":
    from tokonoma.upstream.hub import UpstreamHub

    return UpstreamHub(app.database, open_opener(app))


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
