"""A journal entry: who called what, when, how it ended, how long it took and how large it was. Never a body."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from tokonoma.core.call import Call
from tokonoma.core.clock import now


@dataclass(frozen=True, slots=True)
class Entry:
    at: int  # milliseconds since the epoch
    kind: str  # call | open | close
    request_id: str = ""
    trace_id: str = ""
    parent: str | None = None
    principal: str = ""
    transport: str = ""
    remote: str | None = None
    module: str = ""
    tool: str = ""
    outcome: str = ""  # ok | committed | refused | failed
    code: str = ""
    duration_us: int | None = None  # a write is entered before its commit: its end is not known yet
    policy: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    anchors: str | None = None  # open and close: where the other strands stood, as JSON


COLUMNS = tuple(each.name for each in fields(Entry))


def of(call: Call, policy: str, outcome: str, code: str = "", duration_us: int | None = None) -> Entry:
    entry = call.entry
    return Entry(
        at=now(),
        kind="call",
        request_id=call.request_id,
        trace_id=call.trace_id,
        parent=call.parent,
        principal=call.principal.name if call.principal else "",
        transport=call.caller.transport,
        remote=call.caller.remote,
        # A name that nobody knows is a caller's text: it may be anything, so only its start is kept.
        module=entry.module if entry else call.module[:64],
        tool=entry.name if entry else call.tool[:64],
        outcome=outcome,
        code=code,
        duration_us=duration_us,
        policy=policy,
        bytes_in=call.bytes_in,
        bytes_out=call.bytes_out,
    )


def digest(before: bytes, strand: str, seq: int, values: Sequence[Any]) -> bytes:
    """The link of the chain: the hash of the entry before it, its place, and all that it says."""
    said = json.dumps([strand, seq, *values], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(before + said.encode("utf-8", "surrogatepass")).digest()


def values(entry: Entry) -> tuple[Any, ...]:
    return astuple(entry)
