"""Names that a plugin cannot take: those of the server's rooms and tables, now and later. Its own tables begin with its
name, so that two modules never share one."""

import re
from collections.abc import Iterable

from tokonoma.core.module import Module
from tokonoma.core.providers import PROVIDER_MODULES, SERVICE_NAMES

RESERVED = frozenset({
    # The rooms of the server, and the names under which migrations of its tables are recorded.
    "app", "auth", "catalogue", "cli", "config", "core", "embed", "files", "gateway", "jobs", "journal", "keyring",
    "modules", "pipeline", "policy", "rate", "search", "server", "services", "store", "sync", "telemetry", "transfer",
    "vectors",
    # Rooms to come.
    "accounts", "approvals", "connectors", "oauth", "people", "sessions", "upstream", "web",
    # Words with a meaning where modules are named, and the meta-tools.
    "all", "batch", "call", "get_module_schema", "namespaces", "none", "recent", "remember", "tokonoma",
})  # fmt: skip

FREE_FOR_SERVERS = frozenset({"files", "people", "store", "web"})
"""Rooms whose names are ordinary words. An MCP server has no tables that could be taken for theirs."""

SERVER_TABLES = frozenset(
    [
        "account",
        "account_default",
        "account_secret",
        "active_context",
        "api_key",
        "approval",
        "approval_lock",
        "batch_key",
        "claim",
        "claim_entity",
        "claim_event",
        "claim_evidence",
        "claim_feedback",
        "claim_relation",
        "corpus",
        "current_state",
        "document",
        "embedding",
        "embedding_block",
        "embedding_change",
        "embedding_model",
        "embedding_queue",
        "fact",
        "file_ledger",
        "file_lines",
        "http_access",
        "item",
        "item_alias",
        "item_change",
        "item_gate",
        "item_gram",
        "item_hint",
        "item_link",
        "item_mention",
        "item_reference",
        "item_tag",
        "job_lease",
        "journal",
        "keyring_key",
        "keyring_lock",
        "manual_file",
        "manual_past",
        "manual_run",
        "manual_section",
        "manual_stamp",
        "manual_state",
        "manual_trace",
        "memo",
        "memo_count",
        "memo_relation",
        "memo_version",
        "migration",
        "oauth_client",
        "oauth_code",
        "oauth_grant",
        "oauth_refresh",
        "person",
        "policy_head",
        "policy_proposal",
        "policy_relabel",
        "policy_scan",
        "policy_version",
        "profile",
        "progress",
        "rate",
        "remember_lock",
        "session_watch",
        "sign_in",
        "signing_key",
        "successor",
        "sync_base",
        "sync_conflict",
        "sync_mark",
        "sync_record",
        "terms",
        "upstream",
        "upstream_account",
        "upstream_tool",
        "vault_change",
        "vault_class",
        "vault_file",
        "vault_gain",
        "vault_part",
        "vault_prefix",
        "vault_trail",
        "web_session",
        "web_ticket",
        "words",
    ]
)
"""The tables of the server and of the built-in modules."""

_DEFINED = re.compile(
    r"\b(?:create|alter|drop)\s++(?:temp\s++|temporary\s++|unique\s++|virtual\s++|materialized\s++)*"
    r"(?:table|index|view|trigger|sequence)\s++(?:concurrently\s++)?(?:if\s++(?:not\s++)?exists\s++)?"
    r"[\"`\[]?([\w.]+)",
    re.IGNORECASE,
)


def find_name_problem(name: str) -> str:
    """Why no plugin can have this name; empty if one can."""
    if name in RESERVED or name in SERVICE_NAMES or name in PROVIDER_MODULES:
        return "the server reserves that name"
    taken = sorted(table for table in SERVER_TABLES if _owns(name, table))
    return f"the server has a table {taken[0]!r}, which would belong to that name" if taken else ""


def find_server_name_problem(name: str) -> str:
    """Why no MCP server can have this name; empty if one can."""
    return "" if name in FREE_FOR_SERVERS else find_name_problem(name)


def find_table_problem(module: Module, others: Iterable[str]) -> str:
    """Which table of a plugin could be another module's, or already is; empty if none."""
    names = {module.name, *others}
    for table in _list_tables(module):
        if table in SERVER_TABLES:
            return f"{table!r} is a table of the server"
        # note_book_page belongs to note_book, if both note and note_book are modules.
        owner = max((name for name in names if _owns(name, table)), key=len, default="")
        if owner != module.name:
            belongs = f"belongs to the module {owner!r}" if owner else f"does not begin with {module.name + '_'!r}"
            return f"the name of its table or index {table!r} {belongs}"
    return ""


def find_unclassified(module: Module) -> frozenset[str]:
    """The tables of a plugin whose texts follow no policy by themselves: all but the records that it reclassifies."""
    classified = module.record_tables if module.reclassify is not None else frozenset[str]()
    return module.unclassified_tables | (frozenset(_list_tables(module)) - classified)


def _owns(name: str, table: str) -> bool:
    return table == name or table.startswith(f"{name}_")


def _list_tables(module: Module) -> list[str]:
    """Every table, index and view that its migrations name, and those that it declares."""
    statements = [
        text for step in module.tables for text in (*step.statements, *step.sqlite, *step.postgresql)
    ]  # fmt: skip
    defined = [found[1].lower() for text in statements for found in _DEFINED.finditer(text)]
    return [*dict.fromkeys(defined), *sorted({*module.record_tables, *module.unclassified_tables})]
