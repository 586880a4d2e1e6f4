"""Settings: flags before TOKONOMA_* before tokonoma.toml before defaults. Pure: home.py reads the file."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tokonoma.core.errors import Invalid, find_nearest

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


def as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def as_names(value: Any) -> tuple[str, ...]:
    parts: list[Any] = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(each, str) for each in parts):
        raise ValueError("must be a list of names")
    return tuple(each.strip() for each in parts if each.strip())


def between(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return read


def as_seconds(value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number <= 86_400:
        raise ValueError("must be a number of seconds, more than 0 and at most 86400")
    return number


def as_bool(value: Any) -> bool:
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


def as_networks(value: Any) -> tuple[str, ...]:
    names = as_names(value)
    if names:
        from tokonoma.core.network import parse_network  # 3 ms to import, and hardly anybody has proxies

        for name in names:
            parse_network(name)
    return names


def as_rate(value: Any) -> str:
    if value != "" and not (isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,6}/(second|minute|hour)", value)):
        raise ValueError("must look like 120/minute (or be empty for no limit)")
    return str(value)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "database_url", "", "sqlite:///path or postgresql://…; empty: tokonoma.db in the home", as_text, secret=True
    ),
    Setting("durable", True, "false only for tests: a power cut may lose commits", as_bool),
    Setting("workspace", "", "folder of manuals/ and vault/; empty: workspace in the home", as_text),
    Setting("manuals_root", "", "folder of the manuals, if not in the workspace", as_text),
    Setting("vault_root", "", "folder of the vault, if not in the workspace", as_text),
    Setting("direct", (), "modules whose tools are listed beside the three meta-tools; `all` for all", as_names),
    Setting("modules_off", (), "modules switched off for the whole server", as_names),
    Setting("host", "127.0.0.1", "address that `serve` listens on", as_text),
    Setting("port", 8722, "port that `serve` listens on", between(0, 65_535)),
    Setting("allowed_hosts", (), "further Host names that HTTP requests may carry", as_names),
    Setting("allowed_origins", (), "further Origins that browsers may call from", as_names),
    Setting("trusted_proxies", (), "addresses or networks of proxies whose X-Forwarded-For counts", as_networks),
    Setting("metrics_public", False, "serve /metrics to callers without a key, too", as_bool),
    Setting("require_key", False, "require an API key over HTTP even if none exists", as_bool),
    Setting("tls_cert", "", "PEM file with the certificate of `serve` and its chain; with tls_key: HTTPS", as_text),
    Setting("tls_key", "", "PEM file with the private key of tls_cert, without a password", as_text),
    Setting(
        "max_connections",
        500,
        "HTTP connections at a time; fewer if the limit on open files requires it",
        between(1, 100_000),
    ),
    Setting("header_timeout", 10.0, "seconds for the headers of an HTTP request to arrive", as_seconds),
    Setting("body_timeout", 30.0, "seconds for the body of an HTTP request to arrive", as_seconds),
    Setting("idle_timeout", 75.0, "seconds that an HTTP connection may wait for its next request", as_seconds),
    Setting("body_memory", 64, "MiB for the bodies of all HTTP requests together", between(16, 65_536)),
    Setting("workers", 8, "worker threads for calls", between(1, 256)),
    Setting("max_answer_bytes", 524_288, "bytes that the answer of a batch may have", between(4_096, 16_777_216)),
    Setting("time_limit", 60.0, "seconds that one call may run", as_seconds),
    Setting("rate_limit", "", "calls per tool and credential, like 120/minute; empty: no limit", as_rate),
    Setting(
        "policy_signers",
        (),
        "approvers of policies as name:key (Ed25519 public key in base64); if set, policies must be signed",
        as_names,
    ),
    Setting(
        "policy_over_mcp",
        "tighten",
        "changes of the policy over MCP: tighten (a looser one waits for `tokonoma policy approve`), all or none",
        one_of("tighten", "all", "none"),
    ),
    Setting(
        "trash_days", 365, "days before `tokonoma purge` removes deleted, expired and replaced data", between(0, 36_500)
    ),
    Setting("log_level", "info", "debug, info, warning or error", one_of("debug", "info", "warning", "error")),
    Setting(
        "embed_provider",
        "builtin",
        "source of vectors: builtin, none (text search only), openai (any OpenAI-compatible endpoint), fastembed,"
        " sentence-transformers or model2vec",
        one_of("builtin", "none", "openai", "fastembed", "sentence-transformers", "model2vec"),
    ),
    Setting("embed_model", "", "name of the embedding model at its provider", as_text),
    Setting("embed_url", (), "URLs of that model, like https://host/v1; the next is used if one fails", as_names),
    Setting("embed_api_key", (), "API keys of these URLs, in the same order", as_names, secret=True),
    Setting(
        "embed_dimension", 0, "vector dimension, for models with a choice; 0: the model's default", between(0, 16_000)
    ),
    Setting("embed_query_prefix", "", "prefix that the model needs before a query", as_text),
    Setting("embed_document_prefix", "", "prefix that the model needs before a stored text", as_text),
    Setting("embed_folder", "", "folder of a local model's files; empty: its library finds or downloads them", as_text),
    Setting("embed_batch", 64, "texts per embedding request", between(1, 2_048)),
    Setting("embed_reach", 2_000, "characters per vector; longer texts are split", between(100, 100_000)),
    Setting("embed_timeout", 30.0, "seconds before an embedding request times out", as_seconds),
    Setting("telemetry", False, "send OpenTelemetry spans (extra `otel`; configured by OTEL_* variables)", as_bool),
)
# The data folder, the key that clients send, and two variables of the tests of this project.
_OTHER_VARIABLES = ("TOKONOMA_HOME", "TOKONOMA_KEY", "TOKONOMA_SOAK", "TOKONOMA_RECORD")
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
        return as_names(self.values[name])


def unknown_name(message: str, name: str, known: Collection[str], setting: str = "") -> Invalid:
    """A name that has no effect is an error: it was meant to have one."""
    nearest = find_nearest(name, known, 1)
    hint = f"Did you mean {nearest[0]!r}?" if nearest else f"There are: {', '.join(sorted(known))}."
    details: dict[str, Any] = {"setting": setting} if setting else {"settings": sorted(known)}
    return Invalid(f"{message} {hint}", **details)


def check_module_names(settings: Settings, known: Collection[str]) -> None:
    """Refuse a setting that names a module which does not exist: it would have no effect."""
    for setting, names in (("direct", [*known, "all"]), ("modules_off", [*known])):
        for name in settings.get_names(setting):
            if name not in names:
                place = settings.origins[setting]
                raise unknown_name(f"{place}: there is no module called {name!r}.", name, names, setting)


def resolve_settings(flags: Mapping[str, Any], environ: Mapping[str, str], file: Mapping[str, Any]) -> Settings:
    """Every setting from the first source that has it; Invalid names the source and the problem."""
    for name in file:
        if name not in _BY_NAME:
            raise unknown_name(f"tokonoma.toml: there is no setting called {name!r}.", name, _BY_NAME)
    variables = {*(setting.variable for setting in SETTINGS), *_OTHER_VARIABLES}
    for name in sorted(environ):
        if name.startswith("TOKONOMA_") and name not in variables:
            raise unknown_name(f"environment: there is no setting called {name!r}.", name, variables)
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
