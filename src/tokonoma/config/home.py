"""Where the home is, the settings that lie in it, and where spans go."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokonoma import __version__
from tokonoma.config.settings import Settings, resolve_settings
from tokonoma.core.errors import Invalid, Unready
from tokonoma.core.tracing import Tracer


def find_home(flag: str | None, environ: Mapping[str, str]) -> Path:
    """TOKONOMA_HOME, or the platform's user data folder."""
    told = flag or environ.get("TOKONOMA_HOME")
    if told:
        return Path(told).expanduser().absolute()
    if sys.platform.startswith("linux"):  # as platformdirs has it, which costs a fifth of the whole start to ask
        return Path(environ.get("XDG_DATA_HOME", "").strip() or Path.home() / ".local" / "share") / "tokonoma"
    from platformdirs import user_data_path

    return user_data_path("tokonoma", appauthor=False)


def load_settings(home: Path, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    file = home / "tokonoma.toml"
    told: dict[str, Any] = {}
    if file.exists():
        import tomllib  # only who has a file pays for it

        try:
            told = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"{file} cannot be read: {error}.") from error
    return resolve_settings(flags, environ, told)


def open_tracer(settings: Settings) -> Tracer | None:
    """Where spans go, if anybody collects them."""
    if not settings.get_flag("telemetry"):
        return None
    try:
        from tokonoma.telemetry.otel import OtelSpans
    except ImportError as error:
        raise Unready(
            "Telemetry needs packages that are not installed. Install them with: pip install 'tokonoma[otel]'",
            reason="driver",
        ) from error
    return OtelSpans(__version__)
