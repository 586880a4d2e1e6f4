"""Settings: flags over TOKONOMA_* over tokonoma.toml over defaults. Pure: the composition root does the reading."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.core.suggestions import find_nearest

SettingValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in tokonoma.toml (`TOKONOMA_` + upper case in the environment), its default and meaning."""

    name: str
    default: SettingValue
    description: str
    parse: Callable[[Any], SettingValue]
    secret: bool = False

    @property
    def variable(self) -> str:
        return "TOKONOMA_" + self.name.upper()


def parse_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def parse_names(value: Any) -> tuple[str, ...]:
    parts: list[Any] = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(each, str) for each in parts):
        raise ValueError("must be a list of names")
    return tuple(each.strip() for each in parts if each.strip())


def integer_between(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return read


def parse_seconds(value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number <= 86_400:
        raise ValueError("must be a number of seconds, more than 0 and at most 86400")
    return number


def parse_bool(value: Any) -> bool:
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


def parse_rate(value: Any) -> str:
    if value != "" and not (isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,6}/(second|minute|hour)", value)):
        raise ValueError("must look like 120/minute (or be empty for no limit)")
    return str(value)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "database_url", "", "sqlite:///path or postgresql://…; empty: tokonoma.db in the home", parse_text, secret=True
    ),
    Setting("durable", True, "false only for tests: commits may be lost in a power cut", parse_bool),
    Setting("workspace", "", "folder of manuals/ and vault/; empty: workspace in the home", parse_text),
    Setting("manuals_root", "", "folder of the manuals, if not in the workspace", parse_text),
    Setting("vault_root", "", "folder of the vault, if not in the workspace", parse_text),
    Setting(
        "direct", (), "modules whose tools are listed beside the three meta-tools; `all` for every one", parse_names
    ),
    Setting("modules_off", (), "modules switched off for the whole server", parse_names),
    Setting("host", "127.0.0.1", "address that `serve` listens on", parse_text),
    Setting("port", 8722, "port that `serve` listens on", integer_between(0, 65_535)),
    Setting("allowed_hosts", (), "further Host names that HTTP requests may carry", parse_names),
    Setting("allowed_origins", (), "further Origins that browsers may call from", parse_names),
    Setting("require_key", False, "ask for an API key over HTTP even while none exists", parse_bool),
    Setting("tls_cert", "", "PEM file with the certificate of `serve` and its chain; with tls_key: HTTPS", parse_text),
    Setting("tls_key", "", "PEM file with the private key of tls_cert, without a password", parse_text),
    Setting("workers", 8, "worker threads for calls", integer_between(1, 256)),
    Setting("time_limit", 60.0, "seconds that one call may run", parse_seconds),
    Setting(
        "rate_limit", "", "calls of one tool that one credential may make, like 120/minute; empty: no limit", parse_rate
    ),
    Setting(
        "policy_signers",
        (),
        "who may approve a policy, as name:key (Ed25519 public key in base64); if set, policies must be signed",
        parse_names,
    ),
    Setting(
        "trash_days",
        365,
        "days that what was deleted, has expired or was replaced is kept before `tokonoma purge` forgets it",
        integer_between(0, 36_500),
    ),
    Setting("log_level", "info", "debug, info, warning or error", one_of("debug", "info", "warning", "error")),
    Setting(
        "embed_provider",
        "builtin",
        "who makes vectors: builtin, none (search by words alone), openai (any endpoint that speaks like OpenAI's),"
        " fastembed, sentence-transformers or model2vec",
        one_of("builtin", "none", "openai", "fastembed", "sentence-transformers", "model2vec"),
    ),
    Setting("embed_model", "", "the embedding model, as its provider calls it", parse_text),
    Setting(
        "embed_url", (), "addresses of that model, like https://host/v1; the next is for when one is away", parse_names
    ),
    Setting("embed_api_key", (), "keys of those addresses, in the same order", parse_names, secret=True),
    Setting(
        "embed_dimension",
        0,
        "numbers a vector, for models that let one choose; 0: the model's own",
        integer_between(0, 16_000),
    ),
    Setting("embed_query_prefix", "", "what the model wants before a question", parse_text),
    Setting("embed_document_prefix", "", "what the model wants before a text that is stored", parse_text),
    Setting(
        "embed_folder", "", "folder of a local model's files; empty: found or downloaded by its library", parse_text
    ),
    Setting("embed_batch", 64, "texts that are embedded at once", integer_between(1, 2_048)),
    Setting(
        "embed_reach",
        2_000,
        "characters that one vector speaks for; longer texts are cut",
        integer_between(100, 100_000),
    ),
    Setting("embed_timeout", 30.0, "seconds that an embedding endpoint may take", parse_seconds),
    Setting("telemetry", False, "send OpenTelemetry spans (extra `otel`; placed by OTEL_* variables)", parse_bool),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, and where each came from: flag, environment, file or default."""

    values: Mapping[str, SettingValue]
    origins: Mapping[str, str]

    def get_text(self, name: str) -> str:
        return str(self.values[name])

    def get_int(self, name: str) -> int:
        return int(self.values[name])  # type: ignore[arg-type]

    def get_seconds(self, name: str) -> float:
        return float(self.values[name])  # type: ignore[arg-type]

    def get_flag(self, name: str) -> bool:
        return bool(self.values[name])

    def get_names(self, name: str) -> tuple[str, ...]:
        return parse_names(self.values[name])


def resolve_settings(flags: Mapping[str, Any], environ: Mapping[str, str], file: Mapping[str, Any]) -> Settings:
    """Every setting from the first place that names it; Invalid tells which place is wrong, and how."""
    unknown = [name for name in file if name not in _BY_NAME]
    if unknown:
        meant = find_nearest(unknown[0], _BY_NAME)
        hint = f" Did you mean {meant[0]!r}?" if meant else ""
        raise Invalid(f"tokonoma.toml: there is no setting called {unknown[0]!r}.{hint}", settings=list(_BY_NAME))
    values: dict[str, SettingValue] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        raw, origin = _find_value(setting, flags, environ, file)
        try:
            values[setting.name] = setting.parse(raw)
        except ValueError as error:
            raise Invalid(f"{origin}: {setting.name} {error}.", setting=setting.name) from error
        origins[setting.name] = origin
    return Settings(values, origins)


def _find_value(
    setting: Setting, flags: Mapping[str, Any], environ: Mapping[str, str], file: Mapping[str, Any]
) -> tuple[Any, str]:
    if flags.get(setting.name) is not None:
        return flags[setting.name], f"flag --{setting.name.replace('_', '-')}"
    if setting.variable in environ:
        return environ[setting.variable], f"environment {setting.variable}"
    if setting.name in file:
        return file[setting.name], "tokonoma.toml"
    return setting.default, "default"
