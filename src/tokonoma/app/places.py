"""Where a server stores its data, and its settings as people may see them. No database is opened or created."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tokonoma import catalogue
from tokonoma.app.store import TABLES
from tokonoma.catalogue.plugins import read_plugins
from tokonoma.config.settings import Setting
from tokonoma.core.clock import format_time, now
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.module import Migration
from tokonoma.core.urls import hide_credentials
from tokonoma.store.database import parse_sqlite_url

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.store.file_archive import FileRoots


def find_places(app: "App") -> dict[str, str]:
    text, home = app.settings.get_text, app.home
    workspace = text("workspace") or str(home / "workspace")
    return {
        "home": str(home),
        "settings": str(home / "tokonoma.toml"),
        "database": redact_database_url(app.database_url()),
        "backups": str(home / "backups"),
        "plugins": str(home / "plugins.json"),
        "workspace": workspace,
        "manuals": text("manuals_root") or f"{workspace}/manuals",
        "vault": text("vault_root") or f"{workspace}/vault",
    }


def redact_database_url(url: str) -> str:
    """The address of a database without user, password and parameters."""
    if url.partition(":")[0].lower() == "sqlite":
        return str(parse_sqlite_url(url))
    return hide_credentials(url)


def find_sqlite_file(app: "App") -> Path | None:
    """The file of the database if it is SQLite."""
    url = app.database_url()
    return parse_sqlite_url(url) if url.partition(":")[0].lower() == "sqlite" else None


def database_exists(app: "App") -> bool:
    """Whether there is a database; a PostgreSQL server is assumed to have one."""
    file = find_sqlite_file(app)
    return file is None or file.exists()


def require_database(app: "App", purpose: str) -> None:
    if not database_exists(app):
        place = redact_database_url(app.database_url())
        raise Missing(f"There is nothing to {purpose}: {place} does not exist yet.")


def show_value(app: "App", setting: Setting) -> object:
    """The value without passwords."""
    value = app.settings.values[setting.name]
    if setting.name == "database_url" and value:
        return redact_database_url(str(value))
    if setting.secret and value:
        return "(set)"
    if setting.name == "embed_url" and isinstance(value, tuple):
        return [hide_credentials(each) for each in value]
    return list(value) if isinstance(value, tuple) else value


def find_file_roots(app: "App") -> "FileRoots":
    """The folders whose files belong to a backup."""
    places = find_places(app)
    return {name: places[name] for name in ("manuals", "vault")}


def ensure_backup_folder(app: "App") -> Path:
    folder = app.home / "backups"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unavailable(f"{folder} cannot be created. Name a FILE in another folder.", reason="path") from error
    return folder


def build_backup_name() -> str:
    return f"tokonoma-{format_time(now()).replace(':', '')}.backup"


def load_known_tables(home: Path) -> dict[str, Sequence[Migration]]:
    """The migrations of the server and of every module, by the names under which they are recorded."""
    known: dict[str, Sequence[Migration]] = dict(TABLES)
    for info in [*catalogue.read_catalogue(catalogue.CATALOGUE_FILE), *read_plugins(home)]:
        # The package of a plugin may be gone: then its tables are unknown, as those of a disabled plugin.
        with suppress(ImportError, AttributeError):
            known[info.name] = catalogue.load_module(info.source).tables
    return known
