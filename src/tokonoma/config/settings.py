"""Settings: flags over TOKONOMA_* over tokonoma.toml over defaults. Pure: the composition root does the reading."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.core.suggestions import nearest

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in tokonoma.toml (`TOKONOMA_` + upper case in the environment), its default and meaning."""

    name: str
    default: Value
    says: str
    read: Callable[[Any], Value]
    secret: bool = False

    @property
    def variable(self) -> str:
        return "TOKONOMA_" + self.name.upper()


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def names(value: Any) -> tuple[str, ...]:
    parts: list[Any] = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(each, str) for each in parts):
        raise ValueError("must be a list of names")
    return tuple(each.strip() for each in parts if each.strip())


def whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return read


def seconds(value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number <= 86_400:
        raise ValueError("must be a number of seconds, more than 0 and at most 86400")
    return number


def yes_or_no(value: Any) -> bool:
    known = {True: True, False: False, "1": True, "0": False, "true": True, "false": False, "yes": True, "no": False}
    key = value.lower() if isinstance(value, str) else value
    if not isinstance(key, bool | str) or key not in known:
        raise ValueError("must be true or false")
    return known[key]


def one_of(*allowed: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return str(value)

    return read


def rate(value: Any) -> str:
    if value != "" and not (isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,6}/(second|minute|hour)", value)):
        raise ValueError("must look like 120/minute (or be empty for no limit)")
    return str(value)


SETTINGS: tuple[Setting, ...] = (
    Setting("database_url", "", "sqlite:///path or postgresql://…; empty: tokonoma.db in the home", text, secret=True),
    Setting("durable", True, "false only for tests: commits may be lost in a power cut", yes_or_no),
    Setting("workspace", "", "folder of manuals/ and vault/; empty: workspace in the home", text),
    Setting("manuals_root", "", "folder of the manuals, if not in the workspace", text),
    Setting("vault_root", "", "folder of the vault, if not in the workspace", text),
    Setting("direct", (), "modules whose tools are listed beside the three meta-tools; `all` for every one", names),
    Setting("modules_off", (), "modules switched off for the whole server", names),
    Setting("host", "127.0.0.1", "address that `serve` listens on", text),
    Setting("port", 8722, "port that `serve` listens on", whole(0, 65_535)),
    Setting("allowed_hosts", (), "further Host names that HTTP requests may carry", names),
    Setting("allowed_origins", (), "further Origins that browsers may call from", names),
    Setting("require_key", False, "ask for an API key over HTTP even while none exists", yes_or_no),
    Setting("workers", 8, "worker threads for calls", whole(1, 256)),
    Setting("time_limit", 60.0, "seconds that one call may run", seconds),
    Setting("rate_limit", "", "calls of one tool that one credential may make, like 120/minute; empty: no limit", rate),
    Setting(
        "policy_signers",
        (),
        "who may approve a policy, as name:key (Ed25519 public key in base64); if set, policies must be signed",
        names,
    ),
    Setting(
        "trash_days",
        365,
        "days that what was deleted, has expired or was replaced is kept before `tokonoma purge` forgets it",
        whole(0, 36_500),
    ),
    Setting("log_level", "info", "debug, info, warning or error", one_of("debug", "info", "warning", "error")),
    Setting(
        "embed_provider",
        "builtin",
        "who makes vectors: builtin, none (search by words alone), openai (any endpoint that speaks like OpenAI's),"
        " fastembed, sentence-transformers or model2vec",
        one_of("builtin", "none", "openai", "fastembed", "sentence-transformers", "model2vec"),
    ),
    Setting("embed_model", "", "the embedding model, as its provider calls it", text),
    Setting("embed_url", (), "addresses of that model, like https://host/v1; the next is for when one is away", names),
    Setting("embed_api_key", (), "keys of those addresses, in the same order", names, secret=True),
    Setting(
        "embed_dimension", 0, "numbers a vector, for models that let one choose; 0: the model's own", whole(0, 16_000)
    ),
    Setting("embed_query_prefix", "", "what the model wants before a question", text),
    Setting("embed_document_prefix", "", "what the model wants before a text that is stored", text),
    Setting("embed_folder", "", "folder of a local model's files; empty: found or downloaded by its library", text),
    Setting("embed_batch", 64, "texts that are embedded at once", whole(1, 2_048)),
    Setting("embed_reach", 2_000, "characters that one vector speaks for; longer texts are cut", whole(100, 100_000)),
    Setting("embed_timeout", 30.0, "seconds that an embedding endpoint may take", seconds),
    Setting("telemetry", False, "send OpenTelemetry spans (extra `otel`; placed by OTEL_* variables)", yes_or_no),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, and where each came from: flag, environment, file or default."""

    values: Mapping[str, Value]
    origins: Mapping[str, str]

    def text(self, name: str) -> str:
        return str(self.values[name])

    def number(self, name: str) -> int:
        return int(self.values[name])  # type: ignore[arg-type]

    def seconds(self, name: str) -> float:
        return float(self.values[name])  # type: ignore[arg-type]

    def flag(self, name: str) -> bool:
        return bool(self.values[name])

    def names(self, name: str) -> tuple[str, ...]:
        return names(self.values[name])


def resolved(flags: Mapping[str, Any], environ: Mapping[str, str], file: Mapping[str, Any]) -> Settings:
    """Every setting from the first place that names it; Invalid tells which place is wrong, and how."""
    unknown = [name for name in file if name not in _BY_NAME]
    if unknown:
        meant = nearest(unknown[0], _BY_NAME)
        hint = f" Did you mean {meant[0]!r}?" if meant else ""
        raise Invalid(f"tokonoma.toml: there is no setting called {unknown[0]!r}.{hint}", settings=list(_BY_NAME))
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        raw, origin = _first(setting, flags, environ, file)
        try:
            values[setting.name] = setting.read(raw)
        except ValueError as error:
            raise Invalid(f"{origin}: {setting.name} {error}.", setting=setting.name) from error
        origins[setting.name] = origin
    return Settings(values, origins)


def _first(
    setting: Setting, flags: Mapping[str, Any], environ: Mapping[str, str], file: Mapping[str, Any]
) -> tuple[Any, str]:
    if flags.get(setting.name) is not None:
        return flags[setting.name], f"flag --{setting.name.replace('_', '-')}"
    if setting.variable in environ:
        return environ[setting.variable], f"environment {setting.variable}"
    if setting.name in file:
        return file[setting.name], "tokonoma.toml"
    return setting.default, "default"
