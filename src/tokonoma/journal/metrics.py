"""Prometheus metrics of the calls. Only the HTTP server makes one: nobody could ask a stdio process for it."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from tokonoma.core.call import Call

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    def __init__(self, version: str) -> None:
        disable_created_metrics()  # they would double the series, and nobody asks when a counter was made
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "tokonoma_calls", "Calls by tool and outcome.", ["module", "tool", "outcome"], registry=self._registry
        )
        self._seconds = Histogram(
            "tokonoma_call_seconds", "How long calls took.", ["module"], buckets=_BUCKETS, registry=self._registry
        )
        self._bytes = Counter("tokonoma_call_bytes", "Bytes of calls.", ["direction"], registry=self._registry)
        Gauge("tokonoma_info", "The running version.", ["version"], registry=self._registry).labels(version).set(1)

    def observe(self, call: Call, outcome: str, duration_us: int) -> None:
        # An unknown name is a caller's text: as a label it would grow without end.
        module, tool = (call.entry.module, call.entry.name) if call.entry else ("unknown", "unknown")
        self._calls.labels(module, tool, outcome).inc()
        self._seconds.labels(module).observe(duration_us / 1e6)
        self._bytes.labels("in").inc(call.bytes_in)
        self._bytes.labels("out").inc(call.bytes_out)

    def text(self) -> bytes:
        return generate_latest(self._registry)
