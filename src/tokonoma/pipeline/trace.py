"""trace: give the call its ids, continuing the caller's W3C trace if there is one, and a span if anybody collects."""

import re
from collections.abc import Callable, Iterator

from tokonoma.core.call import Call
from tokonoma.core.ids import new_trace_ids, uuid7
from tokonoma.core.tracing import Tracer, record_span

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")


def trace(spans: Tracer | None) -> Callable[[Call], Iterator[None] | None]:
    def stage(call: Call) -> Iterator[None] | None:
        call.request_id = call.request_id or uuid7()
        found = None if call.trace_parent is None else _PARENT.fullmatch(call.trace_parent)
        known = found is not None and found[1] != "ff" and found[2].strip("0") and found[3].strip("0")
        call.trace_id, call.span_id = new_trace_ids()
        if found is not None and known:
            call.trace_id = found[2]
        return None if spans is None else _run_in_span(call, spans, call.trace_parent if known else None)

    return stage


def _run_in_span(call: Call, spans: Tracer, parent: str | None) -> Iterator[None]:
    with record_span(spans, "call unknown", parent) as span:
        call.trace_id, call.span_id = span.trace_id, span.span_id
        span.set("tokonoma.request_id", call.request_id)
        try:
            yield
        finally:
            if call.tool_info is not None:
                span.rename(f"call {call.tool_info.path}")
