"""Settings: flags before TOKONOMA_* before tokonoma.toml before defaults. Pure: home.py reads the file."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.config.values import (
    SettingValue,
    as_bool,
    as_names,
    as_networks,
    as_origin,
    as_rate,
    as_seconds,
    as_text,
    between,
    one_of,
)
from tokonoma.core.errors import Invalid, find_nearest


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


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "database_url", "", "sqlite:///path or postgresql://…; empty: tokonoma.db in the home", as_text, secret=True
    ),
    Setting("durable", True, "false only for tests: a power cut may lose commits", as_bool),
    Setting("workspace", "", "folder of manuals/ and vault/; empty: workspace in the home", as_text),
    Setting("manuals_root", "", "folder of the manuals, if not in the workspace", as_text),
    Setting("vault_root", "", "folder of the vault, if not in the workspace", as_text),
    Setting("direct", (), "modules whose tools are listed beside the meta-tools; `all` for all", as_names),
    Setting(
        "language",
        "auto",
        "of instructions and prompts: en, ja, or auto (ja where LC_ALL, LC_MESSAGES or LANG says Japanese, else en)",
        one_of("auto", "en", "ja"),
    ),
    Setting(
        "surface",
        "default",
        "which meta-tools are listed: default (all), or gateway (get_module_schema, call and batch alone)",
        one_of("default", "gateway"),
    ),
    Setting("modules_off", (), "modules switched off for the whole server", as_names),
    Setting("host", "127.0.0.1", "address that `serve` listens on", as_text),
    Setting("port", 8722, "port that `serve` listens on", between(0, 65_535)),
    Setting("allowed_hosts", (), "further Host names that HTTP requests may carry", as_names),
    Setting("allowed_origins", (), "further Origins that browsers may call from", as_names),
    Setting("trusted_proxies", (), "addresses or networks of proxies whose X-Forwarded-For counts", as_networks),
    Setting(
        "public_url",
        "",
        "where browsers reach this server, like https://tokonoma.example.com: services send consents back there",
        as_origin,
    ),
    Setting(
        "connect_port",
        0,
        "port on this machine to which a service sends a consent back without public_url; 0: any free one",
        between(0, 65_535),
    ),
    Setting(
        "oauth",
        "auto",
        "let clients sign in with OAuth: on, off, or auto (on with public_url, or once a person has a password)",
        one_of("auto", "on", "off"),
    ),
    Setting("oauth_registration", True, "let OAuth clients register themselves", as_bool),
    Setting(
        "oauth_documents",
        "auto",
        "accept clients that are named by the URL of their metadata: on, off, or auto (once one could be fetched)",
        one_of("auto", "on", "off"),
    ),
    Setting("access_minutes", 60, "minutes that an access token of an OAuth client is good for", between(1, 1_440)),
    Setting("refresh_days", 60, "days after which an OAuth client that was not used signs in again", between(1, 3_650)),
    Setting(
        "reuse_minutes",
        30,
        "minutes in which a refresh token may be used again, by clients that share one",
        between(0, 1_440),
    ),
    Setting("session_days", 14, "days that a person stays signed in to the pages", between(1, 365)),
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
        "log_format",
        "auto",
        "lines of the log: json, text, or auto (text where stderr is a terminal, else json)",
        one_of("auto", "json", "text"),
    ),
    Setting(
        "embed_provider",
        "builtin",
        "source of vectors: builtin, none (text search only), openai (any OpenAI-compatible endpoint), fastembed,"
        " sentence-transformers or model2vec",
        one_of("builtin", "none", "openai", "fastembed", "sentence-transformers", "model2vec"),
    ),
    Setting(
        "keyring_key", "", "master key of the keyring; empty: keyring_key_file or keyring_source", as_text, secret=True
    ),
    Setting(
        "keyring_key_file",
        "",
        "file with the master key of the keyring; empty: the systemd credential tokonoma-keyring, else keyring_source",
        as_text,
    ),
    Setting(
        "keyring_source",
        "file",
        "where Tokonoma keeps the master key itself: file (keyring.key in the home) or os (extra `oskeyring`)",
        one_of("file", "os"),
    ),
    Setting("sync_key", "", "API key for `tokonoma sync URL`, of the server there", as_text, secret=True),
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
    Setting(
        "index_memory",
        512,
        "MB of memory in which PostgreSQL may build its index of vectors; a million built-in vectors take 2 000",
        between(64, 65_536),
    ),
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


def choose_language(settings: Settings, environ: Mapping[str, str]) -> Literal["en", "ja"]:
    """The language of the house: as set, else that of the locale. The first variable that is set decides."""
    asked = settings.get_text("language")
    if asked == "auto":
        names = ("LC_ALL", "LC_MESSAGES", "LANG")
        asked = next((environ[name] for name in names if environ.get(name)), "")[:2].lower()
    return "ja" if asked == "ja" else "en"


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
