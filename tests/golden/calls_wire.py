"""Methods and messages besides tool calls: of both eras, and broken ones."""

import json

from golden.steps import CommandStep, EndStep, Json, LineStep, MethodStep, Step, ToolStep

VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
MODERN = {VERSION: "2026-07-28", CAPABILITIES: {}}
CLIENT = {"name": "golden", "version": "1"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


def line(says: str, message: Json | list[Json] | str, answers: int = 1) -> LineStep:
    text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    return LineStep(f"line: {says}", text, answers)


def request(method: str, params: Json | None = None, id: object = "x") -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def modern(method: str, params: Json | None = None, id: object = "x", **meta: object) -> Json:
    return request(method, {**(params or {}), "_meta": {**MODERN, **meta}}, id)


METHODS = [
    MethodStep("tools/list", "tools/list"),
    MethodStep("tools/list: a cursor that nobody made", "tools/list", {"cursor": "x"}),
    MethodStep("tools/list: a cursor that is a number", "tools/list", {"cursor": 5}),
    MethodStep("ping", "ping"),
    MethodStep("server/discover", "server/discover"),
    MethodStep("resources/list", "resources/list"),
    MethodStep("resources/templates/list", "resources/templates/list", {}),
    MethodStep("resources/read", "resources/read", {"uri": "test://nothing"}),
    MethodStep("prompts/list", "prompts/list"),
    MethodStep("prompts/get", "prompts/get", {"name": "nothing"}),
    MethodStep("prompts/get: no name", "prompts/get", {}),
    MethodStep("an unknown method", "tools/lst", {}),
    MethodStep("tools/call: no name", "tools/call", {"arguments": {}}),
    MethodStep("tools/call: a name that is a number", "tools/call", {"name": 5}),
    MethodStep("tools/call: arguments that are a list", "tools/call", {"name": "system_status", "arguments": [1]}),
    ToolStep("tools/call: a progress token that is none", "system_status", {}, more={"_meta": {"progressToken": True}}),
]

HANDSHAKE = [
    MethodStep("ping: before the handshake", "ping"),
    MethodStep("initialize: nothing said", "initialize", {}),
    MethodStep("initialize: no client", "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}),
    MethodStep("initialize: an older version", "initialize", {**HELLO, "protocolVersion": "2024-11-05"}),
    MethodStep("initialize: an unknown version", "initialize", {**HELLO, "protocolVersion": "1999-01-01"}),
    MethodStep("initialize", "initialize", HELLO),
    line("initialized", {"jsonrpc": "2.0", "method": "notifications/initialized"}, 0),
]

LINES = [
    line("no JSON", "{"),
    line("empty", "", 0),
    line("a number", "5"),
    line("a batch of JSON-RPC", [request("ping"), request("ping", id="y")]),
    line("an empty batch", "[]"),
    line("no version", {"id": 1, "method": "ping"}),
    line("another version", {"jsonrpc": "1.0", "id": 1, "method": "ping"}),
    line("no method", {"jsonrpc": "2.0", "id": 1}),
    line("a method that is a number", {"jsonrpc": "2.0", "id": 1, "method": 5}),
    line("an id that is a list", {"jsonrpc": "2.0", "id": [], "method": "ping"}),
    line("an id that is null", {"jsonrpc": "2.0", "id": None, "method": "ping"}),
    line("an id with a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'),
    line("an id that is a text", request("ping", id="床の間")),
    line("parameters that are a list", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}),
    line("a name twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'),
    line("too deep", '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '{"a":' * 80 + "1" + "}" * 80 + "}"),
    line("half a character", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}'),
    line("cancelled, nobody knows what", {
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999},
    }, 0),
    line("an unknown notification", {"jsonrpc": "2.0", "method": "notifications/nothing"}, 0),
    line("an answer that nobody waits for", {"jsonrpc": "2.0", "id": 7, "result": {}}, 0),
]  # fmt: skip

# An id is free again only a moment after its call was answered: no two calls have the same.
MODERN_LINES = [
    line("modern: server/discover", modern("server/discover")),
    line("modern: tools/list", modern("tools/list")),
    line("modern: ping is gone", modern("ping")),
    line("modern: initialize is gone", modern("initialize", HELLO)),
    line("modern: an unknown method", modern("tools/lst")),
    line(
        "modern: a call", modern("tools/call", {"name": "call", "arguments": {"module": "memory", "tool_name": "get"}})
    ),
    line(
        "modern: a call that succeeds",
        modern("tools/call", {"name": "memory_namespaces", "arguments": {}}, id="call 2"),
    ),
    line("modern: an unknown tool", modern("tools/call", {"name": "memory_gte", "arguments": {}}, id="call 3")),
    line("modern: no resource", modern("resources/read", {"uri": "test://nothing"})),
    line("modern: an unknown version", modern("tools/list", {}, **{VERSION: "2031-01-01"})),
    line("modern: no capabilities", request("tools/list", {"_meta": {VERSION: "2026-07-28"}})),
    line("modern: capabilities that are a list", modern("tools/list", {}, **{CAPABILITIES: []})),
    line("modern: a version that is a number", modern("tools/list", {}, **{VERSION: 5})),
    line("modern: with a client", modern("tools/list", {}, **{"io.modelcontextprotocol/clientInfo": CLIENT})),
]

DIRECT: list[Step] = [
    MethodStep("initialize", "initialize", HELLO),
    ToolStep("system_recent: before any call", "system_recent", {}),
    MethodStep("tools/list", "tools/list"),
    ToolStep("memory_save", "memory_save", {"content": "A kettle hums."}, {"memo": "memo_id"}),
    ToolStep("memory_get", "memory_get", {"memo_id": "<<memo>>"}),
    ToolStep("memory.get: with a dot", "memory.get", {"memo_id": "<<memo>>"}),
    ToolStep("memory_get: several problems", "memory_get", {"id": 5, "offset": -1}),
    ToolStep("create_item", "create_item", {"type": "issue", "title": "x"}),
    ToolStep("create_item: several problems", "create_item", {"type": "X Y", "title": "", "status": "z"}),
    ToolStep("pce_memory_search", "pce_memory_search", {"query": "kettle"}),
    ToolStep("vault_read: not there", "vault_read", {"path": "none.md", "full": True}),
    ToolStep("memory_gte: an unknown tool", "memory_gte", {}),
    line("modern: tools/list", modern("tools/list")),
    EndStep("end"),  # which writes the last entries of the journal
    CommandStep("recent calls", ("call", "system", "recent", "{}")),
    CommandStep("recent calls, a page", ("call", "system", "recent", '{"limit": 1}')),
]
