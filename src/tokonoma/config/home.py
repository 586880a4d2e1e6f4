"""The home folder, the settings in it, and the tracer that they ask for."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokonoma import __version__
from tokonoma.config.settings import Settings, resolve_settings
from tokonoma.core.errors import Invalid, Unready
from tokonoma.core.os_errors import describe_os_error
from tokonoma.core.tracing import Tracer

_CREDENTIAL = "tokonoma-keyring"
_CHOOSE = "Choose another one with TOKONOMA_HOME or --home, or correct its permissions."


def find_home(flag: str | None, environ: Mapping[str, str]) -> Path:
    """TOKONOMA_HOME, or the platform's user data folder."""
    if given := flag or environ.get("TOKONOMA_HOME"):
        return Path(given).expanduser().absolute()
    if sys.platform.startswith("linux"):  # the same as platformdirs, whose import costs a fifth of the start
        return Path(environ.get("XDG_DATA_HOME", "").strip() or Path.home() / ".local" / "share") / "tokonoma"
    from platformdirs import user_data_path

    return user_data_path("tokonoma", appauthor=False)


def check_home(home: Path) -> None:
    """Unready, with what to do, if the folder cannot be used at all. One that can only be read is fine."""
    try:
        if not home.exists():
            return
        if not home.is_dir():
            raise Unready(f"{home} is a file, and the data folder must be a folder. {_CHOOSE}", reason="home")
        with os.scandir(home):
            pass
    except OSError as error:
        owner = _find_owner(home)
        whose = f" It belongs to {owner}." if owner else ""
        raise Unready(f"This user may not read the data folder {home}.{whose} {_CHOOSE}", reason="home") from error


def create_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unready(f"The data folder {home} cannot be created. {_CHOOSE}", reason="home") from error


def _find_owner(home: Path) -> str:
    try:
        return f"the user {home.owner()}"
    except (OSError, KeyError, NotImplementedError):
        return ""


def load_settings(home: Path, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    file = home / "tokonoma.toml"
    values: dict[str, Any] = {}
    check_home(home)
    if file.exists():
        import tomllib

        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except PermissionError as error:
            raise Unready(f"This user may not read {file}. {_CHOOSE}", reason="home") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"{file} cannot be read: {error}.") from error
        except OSError as error:
            raise Invalid(f"The settings cannot be read. {describe_os_error(error)}") from error
    return _use_credential(resolve_settings(flags, environ, values), environ)


def _use_credential(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The key of the keyring as systemd hands it to a service (LoadCredential=), unless a file is set."""
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if not folder or settings.get_text("keyring_key_file") or not (Path(folder) / _CREDENTIAL).exists():
        return settings
    values = {**settings.values, "keyring_key_file": str(Path(folder) / _CREDENTIAL)}
    return Settings(values, {**settings.origins, "keyring_key_file": "systemd credential"})


def write_setting(home: Path, name: str, value: str) -> Path:
    """Set one setting in tokonoma.toml, and leave its other lines as they are; returns the path of the file."""
    import tomllib

    file = home / "tokonoma.toml"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    # JSON writes a text as TOML does. At the start of the file it stands in no table.
    lines = [f"{name} = {json.dumps(value)}", *(line for line in lines if line.partition("=")[0].strip() != name)]
    text = "\n".join(lines) + "\n"
    if tomllib.loads(text).get(name) != value:
        raise Invalid(f"{file} cannot be changed safely. Set {name} there yourself.")
    draft = file.with_name(".tokonoma.toml.tmp")
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as written:
        written.write(text)
        written.flush()
        os.fsync(written.fileno())
    draft.chmod(mode)
    draft.replace(file)
    return file


def open_tracer(settings: Settings) -> Tracer | None:
    """The tracer, if telemetry is switched on."""
    if not settings.get_flag("telemetry"):
        return None
    try:
        from tokonoma.telemetry.otel import OtelSpans
    except ImportError as error:
        message = "Telemetry needs packages that are not installed. Install them with: pip install 'tokonoma[otel]'"
        raise Unready(message, reason="driver") from error
    return OtelSpans(__version__)
