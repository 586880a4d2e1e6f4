"""HTTP itself: gates, pages, both eras, broken requests, and what a key may see."""

import json

from golden.calls_claims import claim
from golden.calls_gateway import batch, line
from golden.calls_wire import HELLO, MODERN, VERSION, modern, request
from golden.steps import CommandStep, Json, KeyStep, MethodStep, SocketStep, Step, WebStep, call, direct

LIST, PING = request("tools/list"), request("ping")
STATUS = request("tools/call", {"name": "memory_namespaces", "arguments": {}})


def web(says: str, body: object = PING, **headers: str | None) -> WebStep:
    return WebStep(f"POST: {says}", headers={name.replace("_", "-"): text for name, text in headers.items()}, body=body)


def new(says: str, message: Json, **headers: str | None) -> WebStep:
    """A modern message with the headers that belong to it."""
    found: dict[str, str | None] = {"mcp_protocol_version": "2026-07-28", "mcp_method": message["method"]}
    if "name" in message["params"]:
        found["mcp_name"] = message["params"]["name"]
    return web(f"modern, {says}", message, **{**found, **headers})


def page(method: str, path: str, says: str = "", **headers: str | None) -> WebStep:
    return WebStep(f"{method} {path}{says and ': '}{says}", method, path, dict(headers))


def raw(says: str, *pieces: str) -> SocketStep:
    return SocketStep(f"socket: {says}", pieces)


def posted(body: str, *headers: str, close: bool = True) -> str:
    lines = [
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        *(["Connection: close"] if close else []),
        *headers,
    ]
    return "\r\n".join([*lines, "", body])


PINGED = json.dumps(PING)
SIZE = f"Content-Length: {len(PINGED)}"
CALLED = modern("tools/call", {"name": "memory_namespaces", "arguments": {}})

PAGES = [
    page("GET", "/health"),
    page("HEAD", "/health"),
    page("POST", "/health"),
    page("GET", "/health", "to another Host", host="evil.example"),
    page("GET", "/ready"),
    page("GET", "/ready", "to another Host", host="evil.example"),
    page("DELETE", "/ready"),
    page("HEAD", "/metrics"),
    WebStep("GET /metrics: its series", "GET", "/metrics", names_only=True),
    page("GET", "/"),
    page("GET", "/mcp"),
    page("GET", "/mcp", "as a stream", accept="text/event-stream"),
    page("DELETE", "/mcp"),
    page("PUT", "/mcp"),
    page("HEAD", "/mcp"),
    page("OPTIONS", "/mcp"),
    page("OPTIONS", "/mcp", "from its own page", origin="http://127.0.0.1", host="127.0.0.1"),
    page("OPTIONS", "/mcp", "from another page", origin="https://evil.example"),
    WebStep("POST /mcp/: with a slash", path="/mcp/", body=PING),
    WebStep("POST /mcp?x=1: with a query", path="/mcp?x=1", body=PING),
    WebStep("POST /nothing", path="/nothing", body=PING),
]

GATES = [
    web("a handshake", request("initialize", HELLO)),
    web("a handshake with a session", request("initialize", HELLO), mcp_session_id="a" * 32),
    web("initialized", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    web("ping"),
    web("a list", LIST, mcp_protocol_version="2025-11-25"),
    web("a call", STATUS, mcp_protocol_version="2025-11-25", mcp_session_id="b" * 32),
    web("a call, as a stream only", STATUS, accept="text/event-stream"),
    web("a list, as a stream only", LIST, accept="text/event-stream"),
    web("a call, as JSON only", STATUS, accept="application/json"),
    web("no Accept", accept=None),
    web("any Accept", accept="*/*"),
    web("another Accept", accept="text/html"),
    web("another Content-Type", content_type="text/plain"),
    web("a Content-Type with a charset", content_type="application/json; charset=utf-8"),
    web("no Content-Type", content_type=None),
    web("another Host", host="evil.example"),
    web("the Host localhost", host="localhost:1"),
    web("its own Origin", host="127.0.0.1", origin="http://127.0.0.1"),
    web("another Origin", origin="https://evil.example"),
    web("the Origin null", origin="null"),
    web("behind a proxy", x_forwarded_for="203.0.113.9"),
    web("a key that nobody made", authorization="Bearer tkn_000000000000_" + "x" * 43),
    web("another kind of credential", authorization="Basic eDp5"),
    web("an unknown method", request("tools/lst")),
    web("an unknown tool", request("tools/call", {"name": "memory_gte", "arguments": {}})),
    web("an unknown version", PING, mcp_protocol_version="2031-01-01"),
    web("no JSON", "{"),
    web("no body", ""),
    web("a number", "5"),
    web("a batch of JSON-RPC", [PING, PING]),
    web("an empty batch", []),
    web("no method", {"jsonrpc": "2.0", "id": 1}),
    web("cancelled, nobody knows what", {
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999},
    }, mcp_session_id="b" * 32),
    web("an answer that nobody waits for", {"jsonrpc": "2.0", "id": 7, "result": {}}),
    web("a notification of an unknown version", {"jsonrpc": "2.0", "method": "notifications/x"},
        mcp_protocol_version="2031-01-01"),
    new("a call", CALLED),
    new("a call with a trace", CALLED, traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    new("a call, as a stream only", CALLED, accept="text/event-stream"),
    new("a name in base64", CALLED, mcp_name="=?base64?bWVtb3J5X25hbWVzcGFjZXM=?="),
    new("another name", CALLED, mcp_name="memory_list"),
    new("no name", CALLED, mcp_name=None),
    new("another method", CALLED, mcp_method="tools/list"),
    new("no method", CALLED, mcp_method=None),
    new("another version", CALLED, mcp_protocol_version="2025-11-25"),
    new("no version", CALLED, mcp_protocol_version=None),
    new("an unknown version", modern("tools/list", {}, **{VERSION: "2031-01-01"}), mcp_protocol_version="2031-01-01"),
    new("no capabilities", request("tools/list", {"_meta": {VERSION: MODERN[VERSION]}})),
    new("initialize is gone", modern("initialize", HELLO)),
    new("an unknown tool", modern("tools/call", {"name": "memory_gte", "arguments": {}})),
]  # fmt: skip

SOCKETS = [
    raw("a body at once", posted(PINGED, SIZE)),
    raw("a body in pieces", posted("", SIZE), PINGED[:9], PINGED[9:]),
    raw("a body in chunks", posted(f"{len(PINGED):x}\r\n{PINGED}\r\n0\r\n\r\n", "Transfer-Encoding: chunked")),
    raw(
        "two requests at once",
        posted(PINGED, SIZE, close=False) + posted(json.dumps(STATUS), f"Content-Length: {len(json.dumps(STATUS))}"),
    ),
    raw("of an older HTTP", posted(PINGED, SIZE, close=False).replace("HTTP/1.1", "HTTP/1.0")),
    raw("asks before it sends", posted(PINGED, SIZE, "Expect: 100-continue")),
    raw("too large", posted("", "Content-Length: 17000000")),
    raw("a length twice", posted(PINGED, SIZE, SIZE)),
    raw("a Host twice", posted(PINGED, SIZE, "Host: 127.0.0.1")),
    raw("a Content-Type twice", posted(PINGED, SIZE, "Content-Type: application/json")),
    raw("no Host", posted(PINGED, SIZE).replace("Host: 127.0.0.1\r\n", "")),
    raw("no HTTP", "HELLO\r\n\r\n"),
    raw("a length that is none", posted(PINGED, "Content-Length: many")),
]

KEYS: list[Step] = [
    CommandStep("keys create: plain", ("keys", "create", "plain", "--json"), keep={"plain": "key"}),
    CommandStep(
        "keys create: masked",
        (
            "keys",
            "create",
            "masked",
            "--json",
            "--mask",
            "memory.delete,memory.relation.save,items,claims.policy.apply",
        ),
        keep={"masked": "key"},
    ),
    CommandStep(
        "keys create: narrow", ("keys", "create", "narrow", "--json", "--modules", "memory"), keep={"narrow": "key"}
    ),
    CommandStep(
        "keys create: rooted", ("keys", "create", "rooted", "--json", "--root", "/pupil"), keep={"rooted": "key"}
    ),
    WebStep("POST: no key, once there are keys", body=PING, until=401),
    page("GET", "/metrics", "no key"),
    page("GET", "/health", "no key"),
    page("GET", "/ready", "no key"),
    web("a wrong key", PING, authorization="Bearer tkn_000000000000_" + "x" * 43),
    web("no key at all", PING, authorization="Bearer"),
    new("no key", CALLED),
    KeyStep("key: plain", "<<plain>>"),
    web("a handshake with a key", request("initialize", HELLO)),
    MethodStep("tools/list: plain", "tools/list"),
    call("system.recent", "a new key has called nothing", {}),
    call("system.where", "only the owner is told"),
    claim("policy.apply", "only the owner may", {"yaml": "version: 1"}),
    claim("policy.rollback", "only the owner may", {"version": "0.1.0"}),
    call("memory.get", "what the owner saved", {"memo_id": "<<kettle>>"}),
    WebStep("GET /metrics: with a key", "GET", "/metrics", names_only=True),
    KeyStep("key: masked", "<<masked>>"),
    MethodStep("tools/list: masked", "tools/list"),
    direct("get_module_schema", "masked, a module with a hole", {"module": "memory"}),
    direct("get_module_schema", "masked, all modules", {"module": "*"}),
    direct("get_module_schema", "masked, a hidden module", {"module": "items"}),
    call("memory.delete", "masked", {"memo_id": "<<kettle>>"}),
    call("memory.relation.save", "masked", {}),
    call("items.get_stats", "masked", {}),
    direct("memory_delete", "masked", {"memo_id": "<<kettle>>"}),
    direct("get_stats", "masked", {}),
    claim("policy.apply", "masked", {"yaml": "version: 1"}),
    batch("masked", line("a", "items.get_stats"), line("b", "memory.delete", {"memo_id": "x"})),
    call("memory.get", "not masked", {"memo_id": "<<kettle>>"}),
    KeyStep("key: narrow", "<<narrow>>"),
    MethodStep("tools/list: narrow", "tools/list"),
    direct("get_module_schema", "narrow, all modules", {"module": "*"}),
    call("system.status", "narrow"),
    call("vault.ls", "narrow", {}),
    call("memory.namespaces", "narrow", {}),
    KeyStep("key: rooted", "<<rooted>>"),
    call("memory.save", "inside its root", {"content": "A pupil's kettle.", "namespace": "notes"}, mine="memo_id"),
    call("memory.save", "from its root", {"content": "A pupil's bowl.", "namespace": "/deep/down"}),
    call("memory.save", "outside its root", {"content": "x", "namespace": "../tea"}),
    call("memory.get", "outside its root", {"memo_id": "<<kettle>>"}),
    call("memory.get", "inside its root", {"memo_id": "<<mine>>"}),
    call("memory.search", "inside its root", {"query": "kettle", "mode": "text"}),
    call("memory.search", "why not what is outside", {"query": "kettle", "expect_memo_id": "<<kettle>>"}),
    call("memory.list", "inside its root", {}),
    call("memory.namespaces", "inside its root", {}),
    call("items.get_items", "inside its root", {}),
    call("items.create_item", "linked to what is outside", {"type": "x", "title": "x", "related": ["issue-<<oil>>"]}),
    claim("list", "inside its root", {}),
    claim("search", "inside its root", {"query": "集合"}),
    call("vault.ls", "inside its root", {}),
    call("manual.list", "inside its root", {}),
    CommandStep("keys revoke", ("keys", "revoke", "rooted")),
    WebStep("POST: a revoked key", body=PING, until=401),
    KeyStep("key: none", ""),
]

LIMITED: list[Step] = [
    call("memory.namespaces", "the first of two", {}),
    call("memory.namespaces", "the second of two", {}),
    call("memory.namespaces", "one too many", {}),
    direct("memory_namespaces", "one too many", {}),
    batch("one too many", line("a", "memory.namespaces", {}), line("b", "memory.list", {})),
    web("one too many", STATUS),
    MethodStep("tools/list: one module is off", "tools/list"),
    direct("get_module_schema", "a module that is off", {"module": "bridge"}),
    call("bridge.copy_file", "a module that is off", {}),
    web("a Host that is allowed", host="tea.example"),
    web("an Origin that is allowed", origin="https://tea.example"),
    page("OPTIONS", "/mcp", "from an Origin that is allowed", origin="https://tea.example"),
    web("a key is asked for by none", PING, authorization="Bearer x"),
]
