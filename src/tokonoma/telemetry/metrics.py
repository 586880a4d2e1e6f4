"""Prometheus metrics of the calls, for the HTTP server only: a stdio process has no port to read them from.

Calls are counted in plain dictionaries, which costs one microsecond per call; the client library's counters cost ten.
They become metrics when `/metrics` is read.
"""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from tokonoma.core.call import Call

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_BOUNDS = tuple(round(each * 1e6) for each in _BUCKETS)  # in microseconds
_NAMES = (*(str(float(each)) for each in _BUCKETS), "+Inf")

_OWN_LABELS = ("gateway", "unknown")  # no modules: every caller may see them


class _MetricList:
    """What the client library's registry asks for metrics."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


class Metrics:
    def __init__(self, version: str) -> None:
        self._version = version
        self._lock = threading.Lock()
        self._calls: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        self._durations: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(_NAMES))  # of a module, by bucket
        self._totals: defaultdict[str, int] = defaultdict(int)  # microseconds of a module
        self._refusals: defaultdict[str, int] = defaultdict(int)  # by reason
        self._bytes_in = self._bytes_out = 0

    def observe(self, call: Call, outcome: str, duration_us: int) -> None:
        # An unknown name is the caller's text: as a label it could take any number of values.
        entry = call.tool_info
        module, tool = ("unknown", "unknown") if entry is None else (entry.module, entry.name)
        place = bisect_left(_BOUNDS, duration_us)
        with self._lock:
            self._calls[module, tool, outcome] += 1
            self._durations[module][place] += 1
            self._totals[module] += duration_us
            self._bytes_in += call.bytes_in
            self._bytes_out += call.bytes_out

    def observe_refusal(self, code: str) -> None:
        # Reasons are our own words. The address of the caller is in the journal: as a label it could take any value.
        with self._lock:
            self._refusals[code.rpartition(".")[2]] += 1

    def render(self, modules: Collection[str] | None = None) -> bytes:
        """The Prometheus text; with `modules` without the calls of any other module."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_MetricList(list(self._collect(modules))))
        return generate_latest(registry)

    def _collect(self, modules: Collection[str] | None) -> Iterator[Metric]:
        shown = None if modules is None else {*modules, *_OWN_LABELS}
        with self._lock:
            calls = {key: count for key, count in self._calls.items() if shown is None or key[0] in shown}
            times = {
                name: (list(accumulate(each)), self._totals[name])
                for name, each in self._durations.items()
                if shown is None or name in shown
            }
            directions = {"in": self._bytes_in, "out": self._bytes_out}
            refusals = dict(self._refusals)
        family = CounterMetricFamily(
            "tokonoma_calls", "Calls by tool and outcome.", labels=["module", "tool", "outcome"]
        )
        for labels, count in calls.items():
            family.add_metric(labels, count)
        yield family
        seconds = HistogramMetricFamily("tokonoma_call_seconds", "How long calls took.", labels=["module"])
        for module, (counts, total) in times.items():
            seconds.add_metric([module], list(zip(_NAMES, counts, strict=True)), total / 1e6)
        yield seconds
        sizes = CounterMetricFamily("tokonoma_call_bytes", "Bytes of calls.", labels=["direction"])
        for direction, size in directions.items() if calls else ():
            sizes.add_metric([direction], size)
        yield sizes
        refused = CounterMetricFamily("tokonoma_refused", "Callers that were turned away.", labels=["reason"])
        for reason, count in refusals.items():
            refused.add_metric([reason], count)
        yield refused
        info = GaugeMetricFamily("tokonoma_info", "The running version.", labels=["version"])
        info.add_metric([self._version], 1)
        yield info
