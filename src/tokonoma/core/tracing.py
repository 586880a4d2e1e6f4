"""Spans: what is timed for OpenTelemetry when that extra is switched on. Without it nothing here costs anything.

A span names its parent outright instead of finding one on the thread: a call may end on another thread than it began.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Span(Protocol):
    @property
    def trace_id(self) -> str: ...
    @property
    def span_id(self) -> str: ...

    def set(self, key: str, value: str | int) -> None: ...

    def rename(self, name: str) -> None:
        """What it is called after all: a name that nobody knows is a caller's text, and stays out of a trace."""
        ...

    def end(self, error: BaseException | None = None) -> None: ...


class Tracer(Protocol):
    def start(self, name: str, parent: str | None = None) -> Span:
        """`parent` is a W3C traceparent; without one the span begins a trace."""
        ...

    def close(self) -> None:
        """Send what has not been sent."""
        ...


def format_traceparent(trace_id: str, span_id: str) -> str:
    return f"00-{trace_id}-{span_id}-01"


@contextmanager
def record_span(spans: Tracer, name: str, parent: str | None) -> Generator[Span]:
    span = spans.start(name, parent)
    try:
        yield span
    except BaseException as error:
        span.end(error)
        raise
    span.end()
