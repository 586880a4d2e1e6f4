"""Spans for OpenTelemetry, if that extra is switched on; otherwise they cost nothing.

A span gets its parent as an argument and not from the thread: a call may end on another thread than it began.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Span(Protocol):
    trace_id: str
    span_id: str

    def set(self, key: str, value: str | int) -> None: ...

    def rename(self, name: str) -> None:
        """Set the final name. An unknown tool name is text of the caller, and must not appear in a trace."""

    def end(self, error: BaseException | None = None) -> None: ...


class Tracer(Protocol):
    def start(self, name: str, parent: str | None = None) -> Span:
        """`parent` is a W3C traceparent; without one the span begins a trace."""
        ...

    def close(self) -> None: ...  # sends the spans that are not yet sent


def format_traceparent(trace_id: str, span_id: str) -> str:
    return f"00-{trace_id}-{span_id}-01"


@contextmanager
def record_span(tracer: Tracer, name: str, parent: str | None) -> Generator[Span]:
    span = tracer.start(name, parent)
    try:
        yield span
    except BaseException as error:
        span.end(error)
        raise
    span.end()
