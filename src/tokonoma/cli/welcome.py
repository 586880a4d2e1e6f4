"""What a person at a terminal sees when the server has started: where data lies, where it is reached, what to do."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokonoma import __version__
from tokonoma.app import App, read_environment
from tokonoma.app.places import find_places
from tokonoma.cli.install import find_program
from tokonoma.cli.install.clients import Machine
from tokonoma.cli.install.found import FoundClient, find_clients
from tokonoma.config.settings import SETTINGS, choose_language
from tokonoma.core.printable import measure_width

_WORDS = {
    "en": {
        "running": "Tokonoma {version} is running. Ctrl-C stops it.",
        "data": "Data",
        "mcp": "MCP",
        "pages": "Pages",
        "clients": "Clients",
        "open": "callers on this machine need no key",
        "key": "every caller needs a key",
        "oauth": "clients sign in with OAuth at {oauth}, or send a key",
        "connected": "connected: {names}",
        "connect": "connect {title}: {command}",
        "setup": "none found; {command} helps to connect one",
        "opens": "{command} opens them in a browser",
    },
    "ja": {
        "running": "Tokonoma {version} を起動しました。Ctrl-C で終了します。",
        "data": "データ",
        "mcp": "MCP",
        "pages": "ページ",
        "clients": "クライアント",
        "open": "このマシンからはキー不要",
        "key": "すべての呼び出しにキーが必要",
        "oauth": "{oauth} で OAuth によりサインイン、またはキーを送信",
        "connected": "接続済み: {names}",
        "connect": "{title} を接続: {command}",
        "setup": "見つかりません。{command} で接続できます",
        "opens": "{command} でブラウザーに表示",
    },
}
_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Welcome:
    """What is told, before it is put into words."""

    data: str
    url: str
    access: str  # open, key or oauth
    oauth: str
    program: str  # what starts this program from here
    options: str  # that `open` needs to find this server
    found: Sequence[FoundClient]


def format_welcome(welcome: Welcome, language: str) -> list[str]:
    words = _WORDS[language]
    waiting = [each.client for each in welcome.found if not each.connected]
    connected = [each.client.title for each in welcome.found if each.connected]
    clients = [words["connected"].format(names=", ".join(connected))] if connected else []
    clients += [
        words["connect"].format(title=each.title, command=f"{welcome.program} install {each.name}") for each in waiting
    ]
    clients = clients or [words["setup"].format(command=f"{welcome.program} setup")]
    rows = [
        (words["data"], welcome.data),
        (words["mcp"], f"{welcome.url} ({words[welcome.access].format(oauth=welcome.oauth)})"),
        (words["pages"], words["opens"].format(command=f"{welcome.program} open{welcome.options}")),
        *((words["clients"] if number == 0 else "", each) for number, each in enumerate(clients)),
    ]
    widest = max(measure_width(name) for name, _ in rows)
    lines = [f"  {name}{' ' * (widest - measure_width(name))}  {says}" for name, says in rows]
    return [words["running"].format(version=__version__), *lines]


def build_welcome(app: App, url: str, oauth: str | None) -> Welcome:
    settings = app.settings
    access = "oauth" if oauth else "key" if app.authenticator.requires_key() else "open"
    # A port that was given as a flag is one that another command does not know of.
    options = "".join(
        f" --{name} {settings.get_text(name)}"
        for name in ("host", "port")
        if settings.origins[name].startswith("flag") and settings.values[name] != _DEFAULTS[name]
    )
    machine = Machine(Path.home(), Path.cwd(), sys.platform, read_environment())
    data = shorten_home(app.home)
    if app.database.kind == "postgresql":
        data = f"{find_places(app)['database']}, {data}"
    return Welcome(data, url, access, oauth or "", name_program(), options, find_clients(machine))


def list_welcome(app: App, url: str, oauth: str | None) -> list[str]:
    """The lines, in the language of the settings or of the locale."""
    return format_welcome(build_welcome(app, url, oauth), choose_language(app.settings, read_environment()))


def name_program() -> str:
    """`tokonoma` where a shell finds this very program; else its path, as short as it is from here."""
    (program, *more) = find_program()
    if more:
        return " ".join([program, *more])
    on_path = shutil.which("tokonoma")
    if on_path is not None and Path(on_path).resolve() == Path(program).resolve():
        return "tokonoma"
    path = Path(program)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else program


def shorten_home(path: Path) -> str:
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)
