"""All checks of a server whose settings are valid, in the order in which people read them."""

from pathlib import Path
from typing import TYPE_CHECKING

from tokonoma.app.doctor import database, machine
from tokonoma.app.doctor.machine import Finding, run_check

if TYPE_CHECKING:
    from tokonoma.app import App


def check_app(app: "App", file: Path | None, *, thorough: bool = True) -> list[Finding]:
    """`file`: that of the database, if it is SQLite. `thorough`: also what reads every page, entry and file."""
    changed = [name for name, origin in app.settings.origins.items() if origin != "default"]
    says = f"valid; not at their defaults: {', '.join(changed)}" if changed else "valid; all at their defaults"
    findings = [Finding("settings", "ok", says)]
    findings += run_check("home", lambda: machine.check_home(app.home, file))
    folder = app.home if file is None else file.parent
    findings += run_check("file system", lambda: machine.check_disk(folder, sqlite_there=file is not None))
    findings += run_check("plugins", lambda: database.check_plugins(app.home))
    findings += run_check(
        "port", lambda: machine.check_port(app.settings.get_text("host"), app.settings.get_int("port"))
    )
    findings += run_check("embedding", lambda: database.check_embedding(app.settings))
    findings += run_check("readings", database.check_readings)
    return findings + run_check("database", lambda: database.check_database(app, thorough=thorough))
