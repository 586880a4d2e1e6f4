"""claims: what an agent may recall, for which purpose, and with what removed (specs/003, `pce.memory.*`)."""

from collections.abc import Callable
from typing import Any

from tokonoma.core.errors import ErrorCodes
from tokonoma.core.module import Module, Tool
from tokonoma.modules.claims.activate import activate, context_get, search
from tokonoma.modules.claims.contexts import list_contexts
from tokonoma.modules.claims.graph import search_entities, walk_relations
from tokonoma.modules.claims.hooks import (
    count_documents,
    list_documents,
    list_unindexed,
    purge,
    read,
    read_document,
    reclassify,
)
from tokonoma.modules.claims.links import list_links, list_search_filters
from tokonoma.modules.claims.manage import forget, forget_address, get, history, list_claims, supersede
from tokonoma.modules.claims.policies import policy_apply, policy_get, policy_history, policy_rollback, validate
from tokonoma.modules.claims.prompt import TASK
from tokonoma.modules.claims.sync import read_for_sync, sync_claims, sync_links
from tokonoma.modules.claims.tables import RECORDS, TABLES
from tokonoma.modules.claims.transfer import export_claims, import_claims, import_links
from tokonoma.modules.claims.upsert import feedback, upsert

# The error codes of the specification with their HTTP status.
_HTTP = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    403: "BOUNDARY_DENIED",
    404: "UNKNOWN_CLAIM NOT_FOUND",
    409: "CONFLICT DUPLICATE",
    410: "CONTEXT_EXPIRED",
    422: "INVALID_SCOPE INVALID_BOUNDARY INVALID_POLICY",
    424: "POLICY_MISSING",
    429: "RATE_LIMIT",
    499: "CANCELLED",
    500: "INTERNAL UPSERT_FAILED ACTIVATE_FAILED FEEDBACK_FAILED BOUNDARY_ERROR",
    503: "UNAVAILABLE",
    504: "TIMEOUT",
}

CODES: ErrorCodes = {
    "invalid": "VALIDATION_ERROR",
    "invalid.scope": "INVALID_SCOPE",
    "invalid.boundary": "INVALID_BOUNDARY",
    "invalid.policy": "INVALID_POLICY",
    "unauthenticated": "UNAUTHORIZED",
    "denied": "BOUNDARY_DENIED",
    "denied.owner": "UNAUTHORIZED",
    "denied.signature": "UNAUTHORIZED",
    "denied.secret": "INVALID_BOUNDARY",
    "missing": "UNKNOWN_CLAIM",
    "missing.tool": "NOT_FOUND",
    "missing.context": "NOT_FOUND",
    "missing.entity": "NOT_FOUND",
    "missing.policy_version": "NOT_FOUND",
    "missing.policy_proposal": "NOT_FOUND",
    "missing.policy": "POLICY_MISSING",
    "conflict": "CONFLICT",
    "conflict.duplicate": "DUPLICATE",
    "expired": "CONTEXT_EXPIRED",
    "limited": "RATE_LIMIT",
    "unready": "POLICY_MISSING",
    "unavailable": "UNAVAILABLE",
    "internal": "INTERNAL",
    "internal.upsert": "UPSERT_FAILED",
    "internal.activate": "ACTIVATE_FAILED",
    "internal.feedback": "FEEDBACK_FAILED",
    "internal.boundary.validate": "BOUNDARY_ERROR",
    **{f"http.{code}": status for status, codes in _HTTP.items() for code in codes.split()},
}


def _define_tool(name: str, run: Callable[..., Any], title: str, seconds: float, kilobytes: int, **more: Any) -> Tool:
    """`more` are fields of `Tool`."""
    listed = "pce_memory_" + name.replace(".", "_")
    return Tool(name, run, title, listed=listed, time_limit=seconds, payload=kilobytes * 1024, **more)


MODULE = Module(
    name="claims",
    summary="Facts and preferences with their source: recall those allowed for a task, give feedback; the policy.",
    tools=(
        _define_tool("activate", activate, "Activate a context", 15, 16, keeps_log=True),
        _define_tool("search", search, "Search claims", 10, 32),
        _define_tool("upsert", upsert, "Store a claim", 10, 64, effect="write", idempotent=True),
        _define_tool("feedback", feedback, "Give feedback on a claim", 3, 4, effect="write", idempotent=True),
        _define_tool("boundary.validate", validate, "Check a text before sending", 5, 32, sees_secrets=True),
        _define_tool("policy.apply", policy_apply, "Apply a policy", 10, 128, effect="destroy"),
        _define_tool("context.get", context_get, "Read an active context", 10, 4),
        _define_tool("context.list", list_contexts, "List active contexts", 10, 4),
        _define_tool("get", get, "Read a claim", 10, 4),
        _define_tool("list", list_claims, "List claims", 10, 4),
        _define_tool("entities", search_entities, "Search entities", 10, 4),
        _define_tool("related", walk_relations, "Follow relations", 10, 4),
        _define_tool("history", history, "History of a claim", 10, 4),
        _define_tool("supersede", supersede, "Supersede a claim", 10, 4, effect="write", idempotent=True),
        _define_tool("forget", forget, "Forget claims", 30, 16, effect="destroy"),
        _define_tool("policy.get", policy_get, "Read a policy", 5, 4),
        _define_tool("policy.history", policy_history, "List policy versions", 5, 4),
        _define_tool("policy.rollback", policy_rollback, "Roll back the policy", 10, 4, effect="destroy"),
    ),
    tables=TABLES,
    address="{id}",
    record_tables=RECORDS,
    read=read,
    read_document=read_document,
    documents=list_documents,
    count_documents=count_documents,
    reclassify=reclassify,
    unindexed_documents=list_unindexed,
    search_tool="search",
    read_tool="get",
    search_filters=list_search_filters,
    list_links=list_links,
    prompts=(TASK,),
    codes=CODES,
    envelope=True,
    owner_tools=(
        Tool("purge", purge, "Delete forgotten claims", effect="destroy", time_limit=600),
        Tool("forget", forget_address, "Forget a claim by its address", effect="destroy"),
        Tool("export", export_claims, "Export claims", time_limit=600),
        Tool("import", import_claims, "Import claims", effect="write", time_limit=600),
        Tool("import.links", import_links, "Import relations", effect="write", time_limit=600),
        Tool("sync.read", read_for_sync, "Read claims for a sync", time_limit=600),
        Tool("sync", sync_claims, "Store merged claims", effect="write", time_limit=600),
        Tool("sync.links", sync_links, "Store merged relations", effect="write", time_limit=600),
    ),
)
