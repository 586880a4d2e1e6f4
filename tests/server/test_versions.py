"""The envelope, the headers that repeat it, and trace context."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.hostile import MODERN, modern, request
from server.memory import Talk

from tokonoma.server.mcp.versions import decode_header, parse_trace_parent

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def without(key):
    return {name: value for name, value in MODERN.items() if not name.endswith(key)}


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        (without("clientCapabilities"), -32602),
        ({**MODERN, "io.modelcontextprotocol/clientCapabilities": []}, -32602),
        ({**MODERN, "io.modelcontextprotocol/clientInfo": {"name": "x"}}, -32602),
        ({**MODERN, "io.modelcontextprotocol/protocolVersion": 20260728}, -32602),
        ({**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}, -32022),
        ({**MODERN, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}, -32022),
    ],
)
def test_an_envelope_with_a_fault_is_refused(meta, code):
    answer = Talk().ask(request("tools/list", {"_meta": meta}))
    assert answer["error"]["code"] == code
    if code == -32022:
        version = meta["io.modelcontextprotocol/protocolVersion"]
        assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": version}


def test_who_the_client_is_need_not_be_said():
    assert "tools" in Talk().ask(request("tools/list", {"_meta": without("clientInfo")}))["result"]


def test_the_era_is_told_by_each_message():
    talk = Talk()
    assert "resultType" not in talk.ask(request("tools/list"))["result"]
    assert talk.ask(modern("tools/list"))["result"]["resultType"] == "complete"


@pytest.mark.parametrize("method", ["initialize", "ping", "server/discover"])
def test_methods_belong_to_their_era(method):
    talk = Talk()
    answer = talk.ask(request(method) if method == "server/discover" else modern(method))
    # A stream that opens with `initialize` is of the handshake era, whatever else it carries.
    assert answer["error"]["code"] == (-32602 if method == "initialize" else -32601)


@pytest.mark.parametrize(
    "value",
    [
        None, 5, "", "00", TRACE[:-1], TRACE.upper(), TRACE + "-00", TRACE.replace("-", "_"), "ff" + TRACE[2:],
        "00-" + "0" * 32 + TRACE[35:], TRACE[:36] + "0" * 16 + "-01", TRACE.replace("a", "g"),
    ],
)  # fmt: skip
def test_a_malformed_traceparent_is_ignored(value):
    assert parse_trace_parent(value) is None


def test_a_traceparent_is_kept():
    assert parse_trace_parent(TRACE) == TRACE
    assert parse_trace_parent("01" + TRACE[2:] + "-more") == "01" + TRACE[2:]


@given(st.text())
def test_header_values_come_out_of_base64(value):
    assert decode_header(f"=?base64?{base64.b64encode(value.encode()).decode()}?=") == value


@pytest.mark.parametrize(
    "value", ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG9=?=", "=?base64?/w==?="]
)
def test_malformed_base64_matches_nothing(value):
    assert decode_header(value) is None


@pytest.mark.parametrize("value", ["echo", "=?base64?SGVsbG8=", "SGVsbG8=", "=?base64?="])
def test_anything_else_is_literal(value):
    assert decode_header(value) == value
