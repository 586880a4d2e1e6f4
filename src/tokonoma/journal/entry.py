"""A journal entry: who called what, when, how it ended, how long it took and how large it was. Never a body."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from tokonoma.core.call import Call
from tokonoma.core.clock import now


class JournalEntry(NamedTuple):
    at: int  # milliseconds since the epoch
    kind: str  # call | open | close | prune
    request_id: str = ""
    trace_id: str = ""
    parent: str | None = None
    principal: str = ""
    transport: str = ""
    remote: str | None = None
    module: str = ""
    tool: str = ""
    outcome: str = ""  # ok | committed | sent | refused | failed
    code: str = ""
    duration_us: int | None = None  # a write is entered before its commit: its end is not known yet
    policy: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    anchors: str | None = None  # as JSON; open and close: where the other strands stood; prune: where strands were cut


COLUMNS = JournalEntry._fields
_MAX_FINDS = 20  # named in an entry; of more only the count


def build_entry(call: Call, policy: str, outcome: str, code: str = "", duration_us: int | None = None) -> JournalEntry:
    entry, caller = call.tool_info, call.caller
    return JournalEntry(  # in their order: by name it would take twice as long, and every call comes through here
        now(),
        "call",
        call.request_id,
        call.trace_id,
        call.parent,
        call.identified.name if call.identified else "",
        caller.transport,
        caller.remote,
        # A name that nobody knows is a caller's text: it may be anything, so only its start is kept.
        entry.module if entry else _shorten(call.module),
        entry.name if entry else _shorten(call.tool),
        outcome,
        code,
        duration_us,
        _format_policy(policy, call.detections),
        call.bytes_in,
        call.bytes_out,
    )


def _format_policy(version: str, found: Sequence[str]) -> str:
    """The version, and what its detectors found: kinds and salted hashes, never the text."""
    more = f" +{len(found) - _MAX_FINDS}" if len(found) > _MAX_FINDS else ""
    return f"{version} {' '.join(found[:_MAX_FINDS])}{more}" if found else version


def _shorten(name: str) -> str:
    return name[:64].encode("utf-8", "replace").decode()


def digest(before: bytes, strand: str, seq: int, values: Sequence[Any]) -> bytes:
    """The link of the chain: the hash of the entry before it, its place, and all that it says."""
    return hashlib.sha256(before + orjson.dumps([strand, seq, *values])).digest()
