"""Metrics and spans, as somebody who watches the server sees them."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from talk import Lines

from tokonoma.app import App
from tokonoma.telemetry.metrics import Metrics
from tokonoma.telemetry.otel import OtelSpans


@pytest.fixture
def home(tmp_path):
    return {"home": str(tmp_path / "home"), "durable": False}


def test_calls_are_counted_by_tool_and_outcome_and_unknown_names_are_not_labels(home):
    app = App(home, {})
    metrics = Metrics(app.dispatcher.version)
    app.observers.append(metrics.observe)
    talk = Lines(app)
    talk.call("system", "status")
    talk.call("system", "status")
    talk.refused("system", "recent", limit=0)
    talk.refused("made up name", "x")
    app.close()
    text = metrics.render().decode()
    assert 'tokonoma_calls_total{module="system",outcome="ok",tool="status"} 2.0' in text
    assert 'tokonoma_calls_total{module="system",outcome="refused",tool="recent"} 1.0' in text
    assert 'module="unknown",outcome="refused",tool="unknown"' in text
    assert "made up name" not in text
    assert "tokonoma_call_seconds_bucket" in text


def test_spans_run_from_the_wire_down_to_the_database(home):
    exporter = InMemorySpanExporter()
    app = App(home, {}, spans=OtelSpans("1", exporter))
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    Lines(app).ask(
        "tools/call", name="call", arguments={"module": "guest", "tool_name": "x"}, _meta={"traceparent": parent}
    )
    Lines(app).ask(
        "tools/call", name="batch", _meta={"traceparent": parent},
        arguments={"jsonl": '{"id":"a","module":"system","tool":"status"}'},
    )  # fmt: skip
    app.close()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {
        "tools/call call", "call unknown", "tools/call batch", "call gateway.batch", "call system.status"
    }  # fmt: skip
    assert {f"{span.context.trace_id:032x}" for span in spans.values()} == {parent.split("-")[1]}
    assert spans["call unknown"].parent.span_id == spans["tools/call call"].context.span_id
    assert f"{spans['tools/call call'].parent.span_id:016x}" == parent.split("-")[2]
    assert spans["call system.status"].parent.span_id == spans["call gateway.batch"].context.span_id
    assert not spans["call unknown"].status.is_ok


def test_what_opentelemetry_says_is_a_json_line(capsys):
    import json
    import logging

    spans = OtelSpans("1", InMemorySpanExporter())
    logging.getLogger("opentelemetry.exporter").warning("the collector is away")
    spans.close()
    assert json.loads(capsys.readouterr().err)["says"] == "the collector is away"
