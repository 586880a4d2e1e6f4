"""trace: give the call its ids, continuing the caller's W3C trace if there is one, and a span if anybody collects."""

import re
from collections.abc import Callable, Iterator

from tokonoma.core.call import Call
from tokonoma.core.ids import trace_ids, uuid7
from tokonoma.core.tracing import Spans, timed

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")


def trace(spans: Spans | None) -> Callable[[Call], Iterator[None] | None]:
    def stage(call: Call) -> Iterator[None] | None:
        call.request_id = call.request_id or uuid7()
        found = None if call.trace_parent is None else _PARENT.fullmatch(call.trace_parent)
        known = found is not None and found[1] != "ff" and found[2].strip("0") and found[3].strip("0")
        call.trace_id, call.span_id = trace_ids()
        if found is not None and known:
            call.trace_id = found[2]
        return None if spans is None else _traced(call, spans, call.trace_parent if known else None)

    return stage


def _traced(call: Call, spans: Spans, parent: str | None) -> Iterator[None]:
    with timed(spans, "call unknown", parent) as span:
        call.trace_id, call.span_id = span.trace_id, span.span_id
        span.set("tokonoma.request_id", call.request_id)
        try:
            yield
        finally:
            if call.entry is not None:
                span.rename(f"call {call.entry.path}")
