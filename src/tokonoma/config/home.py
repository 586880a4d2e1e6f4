"""The home folder, the settings in it, and the tracer that they ask for."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokonoma import __version__
from tokonoma.config.settings import Settings, resolve_settings
from tokonoma.core.errors import Invalid, Unready
from tokonoma.core.os_errors import describe_os_error
from tokonoma.core.tracing import Tracer


def find_home(flag: str | None, environ: Mapping[str, str]) -> Path:
    """TOKONOMA_HOME, or the platform's user data folder."""
    if given := flag or environ.get("TOKONOMA_HOME"):
        return Path(given).expanduser().absolute()
    if sys.platform.startswith("linux"):  # the same as platformdirs, whose import costs a fifth of the start
        return Path(environ.get("XDG_DATA_HOME", "").strip() or Path.home() / ".local" / "share") / "tokonoma"
    from platformdirs import user_data_path

    return user_data_path("tokonoma", appauthor=False)


def load_settings(home: Path, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    file = home / "tokonoma.toml"
    values: dict[str, Any] = {}
    if file.exists():
        import tomllib

        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"{file} cannot be read: {error}.") from error
        except OSError as error:
            raise Invalid(f"The settings cannot be read. {describe_os_error(error)}") from error
    return resolve_settings(flags, environ, values)


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
