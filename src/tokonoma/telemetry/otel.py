"""OpenTelemetry spans, from the request to the database. The extra `otel` installs the packages."""

import logging
import threading

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tokonoma.core.log import log


class _JsonLines(logging.Handler):
    """Writes the messages of OpenTelemetry as JSON lines, like every other message."""

    def emit(self, record: logging.LogRecord) -> None:
        log("warning", "telemetry", says=record.getMessage()[:300])


class OtelSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span
        context = span.get_span_context()
        self.trace_id, self.span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"

    def set(self, key: str, value: str | int) -> None:
        self._span.set_attribute(key, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def end(self, error: BaseException | None = None) -> None:
        if error is not None:
            # The text of an exception may contain what a user wrote, so only its class is recorded.
            self._span.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))
        self._span.end()


class OtelSpans:
    """`exporter` receives the spans; by default OTLP over HTTP, configured by the usual OTEL_* variables."""

    def __init__(self, version: str, exporter: SpanExporter | None = None) -> None:
        if exporter is None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter()
        logger = logging.getLogger("opentelemetry")
        logger.handlers, logger.propagate = [_JsonLines()], False
        resource = Resource.create({"service.name": "tokonoma", "service.version": version})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("tokonoma", version)
        self._propagator = TraceContextTextMapPropagator()

    def start(self, name: str, parent: str | None = None) -> OtelSpan:
        context = self._propagator.extract({"traceparent": parent}, Context()) if parent else Context()
        return OtelSpan(self._tracer.start_span(name, context=context))

    def close(self) -> None:
        """Send the remaining spans, for at most one second: an unreachable collector must not delay the end."""
        ending = threading.Thread(target=self._provider.shutdown, name="telemetry", daemon=True)
        ending.start()
        ending.join(1.0)
