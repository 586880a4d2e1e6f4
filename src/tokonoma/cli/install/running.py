"""The program that is running, as a client would have to start it."""

import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.cli.install.clients import ServerAddress
from tokonoma.config.home import find_home

_SECRET = frozenset({"database_url"})


def find_program() -> list[str]:
    """`tokonoma` by its full path; clients are started from places that know no PATH of ours."""
    asked = Path(sys.argv[0])
    if asked.stem == "tokonoma" and asked.exists():
        return [str(asked.absolute())]  # not resolved: a link such as pipx makes outlives what it points to
    beside = Path(sysconfig.get_path("scripts")) / ("tokonoma.exe" if sys.platform == "win32" else "tokonoma")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "tokonoma"]


def build_stdio_address(app: App, flags: Mapping[str, Any]) -> ServerAddress:
    """With the flags of this command, and the home if it is not where it would be looked for."""
    environ = {} if app.home == find_home(None, {}) else {"TOKONOMA_HOME": str(app.home)}
    words: list[str] = []
    for name, value in flags.items():
        flag = name.replace("_", "-")
        if name in _SECRET:
            environ[f"TOKONOMA_{name.upper()}"] = str(value)  # arguments can be seen by everybody on the machine
        elif isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif name != "home":
            words += [f"--{flag}", str(value)]
    return ServerAddress([*find_program(), "stdio", *words], environ)


def build_http_address(app: App, key: bool) -> ServerAddress:
    host, port = app.settings.get_text("host"), app.settings.get_int("port")
    near = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]", "::1": "[::1]"}.get(host, host)  # noqa: S104
    scheme = "https" if app.settings.get_text("tls_cert") else "http"
    return ServerAddress(find_program(), {}, url=f"{scheme}://{near}:{port}/mcp", key=key)


def list_shell_variables(app: App) -> list[str]:
    """Variables that are set here and that a client, started elsewhere, would not have."""
    origins = app.settings.origins.values()
    return [origin.removeprefix("environment ") for origin in origins if origin.startswith("environment ")]
